// SPDX-License-Identifier: MIT
/* Checks of where the device lies: whose mount it is, who may open it, and other mounts. */
#include "tools/doctor.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/** check_driver() - which driver is it? */
void check_driver(struct doctor *d, struct finding *f)
{
	if (!d->device)
		return find(f, OUTCOME_NONE, "there is no device");
	switch (d->server) {
	case SERVER_DAEMON:
		find(f, OUTCOME_OK, "anybinderd, mounted on %s", d->mount.point);
		break;
	case SERVER_BINDERFS:
		find(f, OUTCOME_OK, "the %s binderfs (type %s), mounted on %s",
		     strcmp(d->mount.type, "anybinder") ? "kernel's" : "module anybinder's",
		     d->mount.type, d->mount.point);
		break;
	case SERVER_NODE:
		find(f, OUTCOME_OK, "a device node of a kernel's driver, on %s (%s)", d->mount.point,
		     d->mount.type);
		break;
	case SERVER_UNKNOWN:
		find(f, OUTCOME_WARNING, "/proc/self/mountinfo does not say what it is mounted from");
		mend(f, "mount -t proc proc /proc");
	}
}

/** check_bind_mount() - a single file of the daemon's cannot be mounted elsewhere */
void check_bind_mount(struct doctor *d, struct finding *f)
{
	if (!d->device || d->server != SERVER_DAEMON)
		return find(f, OUTCOME_NONE, "the device is not anybinderd's");
	if (strcmp(d->mount.point, d->device))
		return find(f, OUTCOME_OK, "the device is reached through its folder");
	find(f, OUTCOME_PROBLEM, "the device alone was bind-mounted on %s: then only the first open of "
	     "it works, later ones fail with \"stale file handle\"", d->device);
	mend(f, "umount %s  # then mount --bind the folder that the device is in, or ln -s to it",
	     d->device);
}

/* The first folder above the device that others cannot pass. */
static bool find_closed(struct doctor *d, char closed[DOCTOR_PATH])
{
	char path[DOCTOR_PATH];
	struct stat st;

	snprintf(closed, DOCTOR_PATH, "%s", d->device);
	for (char *slash; (slash = strrchr(closed, '/')) && slash > closed;) {
		*slash = '\0';
		if (!stat(doctor_path(d, closed, path), &st) && !(st.st_mode & 0001))
			return true;
	}
	return false;
}

/** check_permissions() - who else may open it? */
void check_permissions(struct doctor *d, struct finding *f)
{
	char path[DOCTOR_PATH], closed[DOCTOR_PATH];
	struct stat st;

	if (!d->device || stat(doctor_path(d, d->device, path), &st))
		return find(f, OUTCOME_NONE, "there is no device to look at");
	if ((st.st_mode & 0666) != 0666) {
		find(f, OUTCOME_WARNING, "mode %04o, owner %u, group %u: other users cannot open it",
		     st.st_mode & 07777, (unsigned int)st.st_uid, (unsigned int)st.st_gid);
		mend(f, "chmod 666 %s  # once a context manager that you trust has it: what "
		     "anybinder-servicemanager@.service does", d->device);
	} else if (find_closed(d, closed)) {
		find(f, OUTCOME_WARNING, "other users cannot pass %s", closed);
		mend(f, "chmod o+x %s", closed);
	} else {
		find(f, OUTCOME_OK, "all users may open it");
	}
}

/* Does a binderfs have a device, or only its control? */
static bool has_devices(const struct doctor *d, const char *point)
{
	char path[DOCTOR_PATH];
	DIR *dir = opendir(doctor_path(d, point, path));
	struct dirent *entry;
	bool control = false, device = false;

	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, "binder-control"))
			control = true;
		else if (entry->d_name[0] != '.' && strcmp(entry->d_name, "features") &&
			 strcmp(entry->d_name, "binder_logs"))
			device = true;
	}
	if (dir)
		closedir(dir);
	return device || !control;
}

bool doctor_bare(const struct doctor *d, char point[DOCTOR_LINE])
{
	FILE *file = doctor_open_mounts(d);
	struct mount mount;
	bool bare = false;

	while (!bare && doctor_next_mount(file, &mount)) {
		bare = doctor_is_binderfs(mount.type) && !has_devices(d, mount.point);
		snprintf(point, DOCTOR_LINE, "%s", mount.point);
	}
	if (file)
		fclose(file);
	return bare;
}

/** check_binderfs() - which are mounted, and do they have devices? */
void check_binderfs(struct doctor *d, struct finding *f)
{
	FILE *file = doctor_open_mounts(d);
	char all[400] = "", point[DOCTOR_LINE];
	struct mount mount;

	while (doctor_next_mount(file, &mount)) {
		size_t len = strlen(all);

		if (doctor_is_binderfs(mount.type))
			snprintf(all + len, sizeof(all) - len, "%s%s (%s)", len ? ", " : "",
				 mount.point, mount.type);
	}
	if (file)
		fclose(file);
	if (!all[0])
		return find(f, OUTCOME_NONE, "none is mounted");
	if (!doctor_bare(d, point))
		return find(f, OUTCOME_OK, "mounted: %s", all);
	find(f, d->works ? OUTCOME_WARNING : OUTCOME_PROBLEM, "the one on %.256s has only its "
	     "binder-control: nobody made devices", point);
	mend(f, ADD_DEVICE, point);
}

/** check_logs() - is there a place to look for what failed? */
void check_logs(struct doctor *d, struct finding *f)
{
	char path[DOCTOR_PATH + 40];

	if (!d->works)
		return find(f, OUTCOME_NONE, "it cannot be used");
	snprintf(path, sizeof(path), "%s/binder_logs", d->mount.point);
	if (d->server != SERVER_NODE && doctor_exists(d, path))
		find(f, OUTCOME_OK, "%s", path);
	else if (doctor_exists(d, "/sys/kernel/debug/anybinder"))
		find(f, OUTCOME_OK, "/sys/kernel/debug/anybinder");
	else if (doctor_exists(d, "/sys/kernel/debug/binder"))
		find(f, OUTCOME_OK, "/sys/kernel/debug/binder");
	else if (d->server == SERVER_BINDERFS) {
		find(f, OUTCOME_WARNING, "no binder_logs: mounted without stats=global");
		mend(f, "umount %s && mount -t %s -o stats=global binder %s  # as root of the host",
		     d->mount.point, d->mount.type, d->mount.point);
	} else {
		find(f, OUTCOME_WARNING, "no place for the driver's logs and counters is visible");
		mend(f, "mount -t debugfs none /sys/kernel/debug");
	}
}
