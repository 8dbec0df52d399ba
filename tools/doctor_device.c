// SPDX-License-Identifier: MIT
/* Checks of the device: is there one, does it open, speak our protocol, map, and serve calls? */
#include "tools/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys.h"
#include "uapi/binder.h"

/* What libraries map. */
#define MAP_BYTES (1024 * 1024 - 2 * 4096)
#define OTHER_DRIVER "umount /dev/binderfs; mkdir -p /dev/binderfs && anybinderd /dev/binderfs &  " \
	"# or another kernel"

/* ---- which there are ---------------------------------------------------------------- */

static const char *const places[] = {
	"/dev/binderfs/binder", "/dev/binder", "/dev/anbox-binder", "/dev/binderfs/hwbinder",
	"/dev/hwbinder", "/dev/binderfs/vndbinder", "/dev/vndbinder",
};

/** struct candidates - devices; the first becomes the patient's, the others are text for people */
struct candidates {
	struct doctor *doctor;
	char others[400];
};

/* What cannot be looked at may be there: a dead daemon's, or in a closed folder. */
static bool may_be_there(const struct doctor *d, const char *path)
{
	return doctor_exists(d, path) || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP);
}

static bool is_listed(const char *list, const char *path)
{
	size_t len = strlen(path);

	for (const char *at = list; (at = strstr(at, path)); at++) {
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ','))
			return true;
	}
	return false;
}

static void add_candidate(struct candidates *c, const char *path)
{
	size_t len = strlen(c->others);

	if (!may_be_there(c->doctor, path) || is_listed(c->others, path))
		return;
	if (!c->doctor->device) {
		snprintf(c->doctor->place, sizeof(c->doctor->place), "%s", path);
		c->doctor->device = c->doctor->place;
	}
	if (strcmp(c->doctor->device, path))
		snprintf(c->others + len, sizeof(c->others) - len, "%s%s", len ? ", " : "", path);
}

static bool is_device_name(const char *name)
{
	return name[0] != '.' && strcmp(name, "binder-control") && strcmp(name, "features") &&
	       strcmp(name, "binder_logs");
}

/* Of a binderfs that lies elsewhere. */
static void add_mounted(struct candidates *c, const char *point)
{
	char path[DOCTOR_PATH];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%.250s/binder", point);
	add_candidate(c, path);
	dir = opendir(doctor_path(c->doctor, point, path));
	while (dir && (entry = readdir(dir))) {
		if (!is_device_name(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%.250s/%.250s", point, entry->d_name);
		add_candidate(c, path);
	}
	if (dir)
		closedir(dir);
}

static void find_candidates(struct candidates *c)
{
	FILE *file = doctor_open_mounts(c->doctor);
	struct mount mount;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		add_candidate(c, places[i]);
	while (doctor_next_mount(file, &mount)) {
		if (doctor_is_binderfs(mount.type))
			add_mounted(c, mount.point);
	}
	if (file)
		fclose(file);
}

/* The mount that a path is on: the innermost, and of two at one place the later. */
static void find_mount(struct doctor *d)
{
	FILE *file = doctor_open_mounts(d);
	struct mount mount;
	size_t longest = 0;

	while (doctor_next_mount(file, &mount)) {
		size_t len = strlen(mount.point);
		const char *rest = d->device + len;

		if (len == 1)
			len = 0;
		else if (strncmp(d->device, mount.point, len) || (*rest && *rest != '/'))
			continue;
		if (len < longest)
			continue;
		longest = len;
		d->mount = mount;
	}
	if (file)
		fclose(file);
	d->server = !strcmp(d->mount.type, "fuse.binder") ? SERVER_DAEMON :
		    doctor_is_binderfs(d->mount.type) ? SERVER_BINDERFS :
		    d->mount.type[0] ? SERVER_NODE : SERVER_UNKNOWN;
}

/* Paths are compared with those of mountinfo, which has no symbolic links. */
static void follow_links(struct doctor *d)
{
	char whole[DOCTOR_PATH];

	if (!doctor_follow(d, d->device, whole))
		return;
	snprintf(d->place, sizeof(d->place), "%s", whole);
	d->device = d->place;
}

static void missing(struct doctor *d, struct finding *f, const char *others)
{
	char text[DOCTOR_LINE], target[DOCTOR_LINE];

	doctor_way(d, text);
	if (!d->device && doctor_bare(d, target)) {
		find(f, OUTCOME_PROBLEM, "the binderfs on %.256s has only its binder-control: nobody "
		     "made devices", target);
		mend(f, ADD_DEVICE, target);
		return;
	}
	if (!d->device) {
		find(f, OUTCOME_PROBLEM, "there is none at the usual places, and no binderfs");
		mend(f, "%s", text);
		return;
	}
	if (doctor_link(d, d->device, target))
		find(f, OUTCOME_PROBLEM, "%s is a symbolic link to %.200s, which is not there",
		     d->device, target);
	else
		find(f, OUTCOME_PROBLEM, "%s is not there%s%s", d->device,
		     others[0] ? "; there is " : "", others);
	if (others[0])
		mend(f, "anybinder doctor --device=%.*s", (int)strcspn(others, ","), others);
	else
		mend(f, "%s", text);
}

/* What is there in place of a device. Return: false, after saying so. */
static bool is_device(struct doctor *d, struct finding *f, const char *others)
{
	char buf[DOCTOR_PATH];
	struct stat st;

	if (!d->device || !may_be_there(d, d->device)) {
		missing(d, f, others);
		return false;
	}
	if (stat(doctor_path(d, d->device, buf), &st) || !S_ISDIR(st.st_mode))
		return true;
	find(f, OUTCOME_PROBLEM, "%s is a directory", d->device);
	mend(f, "anybinder doctor --device=%s/binder", d->device);
	return false;
}

/** check_device() - is there a device at all? */
void check_device(struct doctor *d, struct finding *f)
{
	struct candidates c = { .doctor = d };

	find_candidates(&c);
	if (!is_device(d, f, c.others)) {
		d->device = NULL;
		return;
	}
	find(f, OUTCOME_OK, "%s%s%s", d->device, c.others[0] ? "; there is also " : "", c.others);
	follow_links(d);
	find_mount(d);
}

/* ---- opening ---------------------------------------------------------------- */

/* Who is kept out, and by what: the mode of the device, of a folder above it, or neither. */
static void refused(struct doctor *d, struct finding *f)
{
	char buf[DOCTOR_PATH], line[DOCTOR_LINE];
	struct stat st = { 0 };
	uid_t uid = geteuid();

	if (stat(doctor_path(d, d->device, buf), &st)) {
		find(f, OUTCOME_PROBLEM, "uid %u may not even look at it: a folder above it is closed",
		     (unsigned int)uid);
		mend(f, "namei -l %s  # shows which; then, as root, chmod o+x FOLDER", d->device);
		return;
	}
	find(f, OUTCOME_PROBLEM, "uid %u may not open it: mode %04o, owner %u, group %u",
	     (unsigned int)uid, st.st_mode & 07777, (unsigned int)st.st_uid,
	     (unsigned int)st.st_gid);
	if ((st.st_mode & 0666) != 0666)
		mend(f, "chmod 666 %s  # as root, once a context manager that you trust has it: what "
		     "anybinder-servicemanager@.service does", d->device);
	else if (doctor_read(d, "/sys/fs/selinux/enforce", line) && line[0] == '1')
		mend(f, "ausearch -m avc -ts recent  # what SELinux refused; for containers: setsebool "
		     "-P container_use_devices on");
	else
		mend(f, "dmesg | grep -i denied  # what a security module refused");
}

static void parent_of(const char *path, char parent[DOCTOR_PATH])
{
	const char *slash = strrchr(path, '/');

	snprintf(parent, DOCTOR_PATH, "%.*s", slash && slash > path ? (int)(slash - path) : 1, path);
}

/* Return: false: no FUSE mount is there that could be dead. */
static bool dead_mount(const struct doctor *d, struct finding *f)
{
	if (strncmp(d->mount.type, "fuse", 4))
		return false;
	find(f, OUTCOME_PROBLEM, "the daemon that served it has gone, its mount is left");
	if (d->server == SERVER_DAEMON)
		mend(f, "anybinderd %s &  # it takes the dead mount away itself", d->mount.point);
	else
		mend(f, "umount -l %s  # of type %s, which is not anybinderd's", d->mount.point,
		     d->mount.type);
	return true;
}

static void open_failed(struct doctor *d, struct finding *f, int error)
{
	char text[DOCTOR_LINE];

	doctor_way(d, text);
	if ((error == -ENOTCONN || error == -ECONNABORTED) && dead_mount(d, f))
		return;
	switch (-error) {
	case EACCES:
		refused(d, f);
		break;
	case EPERM:
		find(f, OUTCOME_PROBLEM, "the device controller of the container's cgroup forbids it");
		mend(f, "# give the container --device=%s, or a binderfs of its own", d->device);
		break;
	case ESTALE:
		find(f, OUTCOME_PROBLEM, "it can be opened only once: the file alone was bind-mounted, "
		     "or a lookup of it is kept");
		mend(f, "umount %s  # then mount --bind its folder, or make a symbolic link", d->device);
		break;
	case ENODEV:
	case ENXIO:
		find(f, OUTCOME_PROBLEM, "a device node without a driver behind it");
		mend(f, "%s", text);
		break;
	case ESRCH:
		find(f, OUTCOME_PROBLEM, "its driver answers \"no such process\" to open(): a kernel "
		     "whose driver in Rust was built wrongly (bindgen 0.73.1)");
		mend(f, OTHER_DRIVER);
		break;
	default:
		if (error == -EINVAL && d->server == SERVER_DAEMON) {
			find(f, OUTCOME_PROBLEM, "anybinderd refuses this process, which is outside of "
			     "its pid namespace");
			mend(f, "anybinderd DIRECTORY &  # in the outer namespace, such as on the host");
			break;
		}
		find(f, OUTCOME_PROBLEM, "it does not open: %s", strerror(-error));
		mend(f, "%s", text);
	}
}

/** check_open() - does it open? */
void check_open(struct doctor *d, struct finding *f)
{
	char path[DOCTOR_PATH];

	if (!d->device)
		return find(f, OUTCOME_NONE, "there is no device");
	d->fd = ab_sys_open(doctor_path(d, d->device, path));
	if (d->fd >= 0)
		find(f, OUTCOME_OK, "it opens");
	else
		open_failed(d, f, d->fd);
}

/* ---- using it ---------------------------------------------------------------- */

static void version_failed(struct doctor *d, struct finding *f, int error)
{
	char text[DOCTOR_LINE];

	doctor_way(d, text);
	find(f, OUTCOME_PROBLEM, "it is no binder device: BINDER_VERSION says %s", strerror(-error));
	mend(f, "%s", d->given ? "anybinder doctor  # without --device it looks for one" : text);
}

/** check_protocol() - does it speak binder, and ours? */
void check_protocol(struct doctor *d, struct finding *f)
{
	struct binder_version version = { 0 };
	int ret;

	if (d->fd < 0)
		return find(f, OUTCOME_NONE, "it does not open");
	ret = ab_sys_ioctl(d->fd, BINDER_VERSION, &version);
	if (ret)
		return version_failed(d, f, ret);
	d->speaks = version.protocol_version == BINDER_CURRENT_PROTOCOL_VERSION;
	if (d->speaks) {
		find(f, OUTCOME_OK, "version %d, of 64-bit binder", version.protocol_version);
		return;
	}
	find(f, OUTCOME_PROBLEM, "it speaks version %d%s; programs since Android 9 speak %d",
	     version.protocol_version, version.protocol_version == 7 ?
	     ", for 32-bit programs up to Android 8" : "", BINDER_CURRENT_PROTOCOL_VERSION);
	mend(f, OTHER_DRIVER ", without CONFIG_ANDROID_BINDER_IPC_32BIT");
}

/* What to do against mmap()'s error. */
static void map_failed(struct doctor *d, struct finding *f, int error)
{
	char text[DOCTOR_LINE];

	find(f, OUTCOME_PROBLEM, "it cannot be mapped, so nothing can be received: %s",
	     strerror(-error));
	if (error == -ENOMEM)
		mend(f, "ulimit -v unlimited  # or free memory");
	else if (d->server == SERVER_DAEMON)
		mend(f, "journalctl -u anybinderd  # or what it printed; or try it with --mapping=store");
	else if (error == -EPERM || error == -EACCES)
		mend(f, "dmesg | grep -i denied  # what a security module refused");
	else
		mend(f, "%s", (doctor_way(d, text), text));
}

/* The daemon names its way among the features; one that does not has only one. */
static bool stores(const struct doctor *d)
{
	char parent[DOCTOR_PATH], path[DOCTOR_PATH + 40];

	parent_of(d->device, parent);
	snprintf(path, sizeof(path), "%s/features/mapping_store", parent);
	return doctor_exists(d, path);
}

/** check_mapping() - can messages be received, and how do they come? */
void check_mapping(struct doctor *d, struct finding *f)
{
	int error = 0;
	void *map;

	if (!d->speaks)
		return find(f, OUTCOME_NONE, "it does not speak our protocol");
	map = ab_sys_map(d->fd, MAP_BYTES, &error);
	if (!map)
		return map_failed(d, f, error);
	find(f, OUTCOME_OK, "%s", d->server != SERVER_DAEMON ? "mapped by the kernel" : stores(d) ?
	     "mapped without FUSE passthrough: the daemon stores each message in the page cache" :
	     "mapped by FUSE passthrough: memory of the daemon's, seen at once");
	ab_sys_unmap(map, MAP_BYTES);
	d->works = true;
}

/** check_self_test() - does the ioctl of all calls work? */
void check_self_test(struct doctor *d, struct finding *f)
{
	struct binder_write_read nothing = { 0 };
	int ret;

	if (!d->works)
		return find(f, OUTCOME_NONE, "it cannot be used");
	ret = ab_sys_ioctl(d->fd, BINDER_WRITE_READ, &nothing);
	if (!ret)
		return find(f, OUTCOME_OK, "an empty BINDER_WRITE_READ comes back");
	d->works = false;
	find(f, OUTCOME_PROBLEM, "an empty BINDER_WRITE_READ fails: %s", strerror(-ret));
	mend(f, "%s", d->server == SERVER_DAEMON ? "journalctl -u anybinderd  # or what it printed" :
	     "dmesg | grep -i binder");
}

/** check_errors() - can it say why a call failed? */
void check_errors(struct doctor *d, struct finding *f)
{
	struct binder_extended_error error;
	char parent[DOCTOR_PATH], path[DOCTOR_PATH + 40];
	bool named;

	if (!d->works || d->fd < 0)
		return find(f, OUTCOME_NONE, "it cannot be used");
	parent_of(d->device, parent);
	snprintf(path, sizeof(path), "%s/features/extended_error", parent);
	named = doctor_exists(d, path);
	if (!ab_sys_ioctl(d->fd, BINDER_GET_EXTENDED_ERROR, &error))
		return find(f, OUTCOME_OK, "the driver tells why a call failed%s", named ?
			    ", and features/ says so" : "");
	find(f, OUTCOME_WARNING, "the driver does not tell programs why a call failed%s", named ?
	     ", though features/ says so" : ": it is older than Linux 6.0");
	mend(f, "dmesg | anybinder decode -");
}
