// SPDX-License-Identifier: MIT
#include "instance.h"

#include "child.h"
#include "driver.h"
#include "harness.h"
#include "uapi/binder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char type[32]; /* the filesystem's name */

/** instance_path() - a name in an instance; "" for its root. Good for the next three calls. */
char *instance_path(const char *instance, const char *name)
{
	static char path[4][PATH_MAX + 512];
	static unsigned int turn;
	char *p = path[turn++ % ARRAY_SIZE(path)];

	snprintf(p, sizeof(path[0]), "%s/%s%s%s", driver_dir(), instance, *name ? "/" : "", name);
	return p;
}

/* The type of what is mounted at the driver's directory, if it is one of ours. */
static void find_type(void)
{
	char *text = test_read_file("/proc/self/mounts"), *rest = text, *line;
	char real[PATH_MAX], dir[256], name[32], best[32] = "nothing";

	CHECK(text && realpath(driver_dir(), real));
	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "%*s %255s %31s", dir, name) == 2 && !strcmp(dir, real))
			strcpy(best, name);
	free(text);
	if (strcmp(best, "binder") && strcmp(best, "anybinder"))
		test_skip("needs BINDER_DIR to be a binderfs of a kernel driver: it is %s", best);
	strcpy(type, best);
}

/**
 * instance_begin() - call first: a place for instances, which ends with the case
 * Skips the case when there is no binderfs to make them of.
 */
void instance_begin(void)
{
	find_type();
	if (geteuid())
		test_skip("mounting needs root");
	CHECK_EQ(unshare(CLONE_NEWNS), 0);
	CHECK_EQ(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	CHECK_EQ(mount("tmpfs", driver_dir(), "tmpfs", 0, NULL), 0);
}

/** instance_type() - the filesystem's name. */
const char *instance_type(void)
{
	return type;
}

/** instance_try_mount() - mount an instance. Return: 0 or the errno of mount(2). */
int instance_try_mount(const char *instance, const char *options)
{
	CHECK(!mkdir(instance_path(instance, ""), 0755) || errno == EEXIST);
	return mount("binder", instance_path(instance, ""), type, 0, options) ? errno : 0;
}

/** instance_mount() - as instance_try_mount(), and it must work. */
void instance_mount(const char *instance, const char *options)
{
	CHECK_EQ(instance_try_mount(instance, options), 0);
}

/** instance_try_add() - BINDER_CTL_ADD. @device may be NULL. Return: 0 or the errno. */
int instance_try_add(const char *instance, const char *name, struct binderfs_device *device)
{
	struct binderfs_device own;
	int fd = open(instance_path(instance, "binder-control"), O_RDONLY | O_CLOEXEC), err;

	CHECK_GE(fd, 0);
	if (!device)
		device = &own;
	memset(device, 0, sizeof(*device));
	snprintf(device->name, sizeof(device->name), "%s", name);
	err = ioctl(fd, BINDER_CTL_ADD, device) ? errno : 0;
	close(fd);
	return err;
}

/** instance_has() - is there such an entry? */
bool instance_has(const char *instance, const char *name)
{
	return !access(instance_path(instance, name), F_OK);
}

/** instance_devices() - how many devices it shows, binder-control not counted. */
unsigned int instance_devices(const char *instance)
{
	DIR *dir = opendir(instance_path(instance, ""));
	unsigned int n = 0;
	struct dirent *de;

	CHECK(dir);
	while ((de = readdir(dir)))
		n += de->d_type == DT_CHR && strcmp(de->d_name, "binder-control");
	closedir(dir);
	return n;
}

/** instance_open() - open a device. Return: descriptor or -1. */
int instance_open(const char *instance, const char *name)
{
	return open(instance_path(instance, name), O_RDWR | O_CLOEXEC);
}

/** instance_fd_works() - does it answer as a binder device? */
bool instance_fd_works(int fd)
{
	struct binder_version version = { 0 };

	return !ioctl(fd, BINDER_VERSION, &version) &&
	       version.protocol_version == BINDER_CURRENT_PROTOCOL_VERSION;
}

/** instance_opens() - can the device be opened, and does it answer? */
bool instance_opens(const char *instance, const char *name)
{
	int fd = instance_open(instance, name);
	bool works = fd >= 0 && instance_fd_works(fd);

	if (fd >= 0)
		close(fd);
	return works;
}

/** instance_options() - the options /proc/mounts shows; good until the next call. */
char *instance_options(const char *instance)
{
	char *text = test_read_file("/proc/self/mounts"), *rest = text, *line;
	static char options[512];
	char dir[256], real[PATH_MAX];

	CHECK(text && realpath(instance_path(instance, ""), real));
	options[0] = '\0';
	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "%*s %255s", dir) == 1 && !strcmp(dir, real))
			sscanf(line, "%*s %*s %*s %511s", options);
	free(text);
	return options;
}

/* Whoever writes the maps must be privileged outside. */
static void write_maps(pid_t pid)
{
	static const struct {
		const char *file, *text;
	} maps[] = {
		{ "setgroups", "deny" },
		{ "uid_map", "0 12345 1" },
		{ "gid_map", "0 12346 1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		ssize_t len = strlen(maps[i].text);
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/%s", pid, maps[i].file);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		CHECK_GE(fd, 0);
		CHECK_EQ(write(fd, maps[i].text, len), len);
		close(fd);
	}
}

/**
 * instance_enter_user_ns() - go on as root of a user namespace, with its own mounts and place
 * Call after instance_begin().
 */
void instance_enter_user_ns(void)
{
	int sync[2], status;
	pid_t writer;
	char go;

	CHECK_EQ(pipe(sync), 0);
	writer = fork();
	CHECK_GE(writer, 0);
	if (!writer) {
		CHECK_EQ(read(sync[0], &go, 1), 1);
		write_maps(getppid());
		_exit(0);
	}
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
		int err = errno;

		kill(writer, SIGKILL);
		waitpid(writer, &status, 0);
		test_skip("no user namespaces here: %s", strerror(err));
	}
	CHECK_EQ(write(sync[1], "", 1), 1);
	CHECK_EQ(waitpid(writer, &status, 0), writer);
	CHECK_EQ(status, 0);
	close(sync[0]);
	close(sync[1]);
	CHECK_EQ(setresgid(0, 0, 0), 0);
	CHECK_EQ(setresuid(0, 0, 0), 0);
	/* The tmpfs is not ours here. */
	CHECK_EQ(mount("tmpfs", driver_dir(), "tmpfs", 0, NULL), 0);
}

/** instance_rename() - renameat2(2) within instance "a". Return: 0 or the errno. */
int instance_rename(const char *from, const char *to, unsigned int flags)
{
	return renameat2(AT_FDCWD, instance_path("a", from), AT_FDCWD, instance_path("a", to),
			 flags) ? errno : 0;
}
