// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mount point. A daemon that was killed leaves a dead mount behind, on
 * which every call fails with ENOTCONN; it is detached before ours goes there.
 */
#include "user/fuse/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/kapi.h"
#include "user/fuse/connection.h"
#include "user/host/say.h"

#define MOUNT_TYPE "fuse.binder"

/* Daemons killed one after the other on the same mount point. */
#define DEAD_MOUNTS_MAX 16

static char mount_path[PATH_MAX];
static char mount_device[32]; /* "major:minor" in hex, as /proc/PID/maps spells it */

/** binder_mount_device() - device number of the filesystem, as /proc/PID/maps spells it */
const char *binder_mount_device(void)
{
	return mount_device;
}

static int timeout_check(const char *name)
{
	char path[64], text[32] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/fs/fuse/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* a kernel without the setting has no such timeout */
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0 || !strtoul(text, NULL, 10))
		return 0;
	binder_say("fs.fuse.%s is %lu: the kernel would abort the connection when a client waits longer than that for a call\n",
		   name, strtoul(text, NULL, 10));
	binder_say("  set it to 0 first: sysctl fs.fuse.%s=0\n", name);
	return -EINVAL;
}

/**
 * binder_mount_check_timeouts() - refuse settings that would break waiting calls
 * Return: 0, or -EINVAL after saying so.
 */
int binder_mount_check_timeouts(void)
{
	int ret = timeout_check("default_request_timeout");

	return ret ? ret : timeout_check("max_request_timeout");
}

/* Undo the octal escapes of mountinfo, in place. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] && s[3]) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/*
 * The topmost mount on @path: its type in @type, its device in hex in @device.
 * Return: 0 or -ENOENT.
 */
static int mount_find(const char *path, char type[64], char device[32])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	size_t size = 0;
	char *line = NULL;
	int ret = -ENOENT;

	if (!f)
		return -ENOENT;
	while (getline(&line, &size, f) > 0) {
		unsigned int major, minor;
		char *dash = strstr(line, " - ");
		char *point = NULL, found[64];

		if (!dash || sscanf(line, "%*d %*d %u:%u %*s %ms", &major, &minor, &point) != 3)
			continue;
		unescape(point);
		if (!strcmp(point, path) && sscanf(dash, " - %63s", found) == 1) {
			strcpy(type, found);
			snprintf(device, 32, "%02x:%02x", major, minor);
			ret = 0;
		}
		free(point);
	}
	free(line);
	fclose(f);
	return ret;
}

/* As realpath(3), for a last component that may be a dead mount. */
static int path_resolve(const char *path)
{
	char copy[PATH_MAX], parent[PATH_MAX];
	char *slash;
	size_t len;

	if (realpath(path, mount_path))
		return 0;
	if (errno != ENOTCONN)
		return -errno;
	len = strscpy(copy, path, sizeof(copy)) < 0 ? 0 : strlen(copy);
	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = '\0';
	slash = strrchr(copy, '/');
	if (slash == copy) {
		strcpy(mount_path, copy);
		return 0;
	}
	if (slash)
		*slash = '\0';
	if (!realpath(slash ? copy : ".", parent))
		return -errno;
	if (snprintf(mount_path, sizeof(mount_path), "%s/%s", parent, slash ? slash + 1 : copy) >=
	    (int)sizeof(mount_path))
		return -ENAMETOOLONG;
	return 0;
}

/* Detach dead mounts of ours. Return: 0 with @st filled, or -errno. */
static int dead_mounts_detach(struct stat *st)
{
	char type[64], device[32];
	struct statfs fs;
	int i;

	for (i = 0; i < DEAD_MOUNTS_MAX; i++) {
		/* Not stat() first: the kernel answers it for a dead mount too, from
		 * what it remembers. */
		if (!statfs(mount_path, &fs) && !stat(mount_path, st))
			return 0;
		if (errno != ENOTCONN && errno != ECONNABORTED)
			return -errno;
		if (mount_find(mount_path, type, device))
			return -ENOTCONN;
		if (strcmp(type, MOUNT_TYPE)) {
			binder_say("a dead mount of type %s is on %s\n  remove it first: umount -l %s\n",
				   type, mount_path, mount_path);
			return -ENOTCONN;
		}
		if (umount2(mount_path, MNT_DETACH))
			return -errno;
		binder_say("detached the dead mount of an earlier anybinderd on %s\n", mount_path);
	}
	return -ENOTCONN;
}

static int point_check(const char *path)
{
	char type[64], device[32];
	struct stat st;
	int ret = path_resolve(path);

	if (!ret)
		ret = dead_mounts_detach(&st);
	if (ret) {
		binder_say("cannot use the mount point %s: %s\n", path, strerror(-ret));
		if (ret == -ENOENT)
			binder_say("  create it first: mkdir -p %s\n", path);
		return ret;
	}
	if (!S_ISDIR(st.st_mode)) {
		binder_say("the mount point %s is not a directory\n", path);
		return -ENOTDIR;
	}
	if (!mount_find(mount_path, type, device) && !strcmp(type, MOUNT_TYPE)) {
		binder_say("an anybinderd already serves %s\n  stop it first, or use another directory\n",
			   mount_path);
		return -EBUSY;
	}
	return 0;
}

/**
 * binder_mount_attach() - mount the filesystem
 * @path: an existing directory
 *
 * The FUSE device must be open.
 *
 * Return: 0, or -errno after saying what is in the way and what to do.
 */
int binder_mount_attach(const char *path)
{
	char options[128], type[64];
	int ret = point_check(path);

	if (ret)
		return ret;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40755,user_id=%u,group_id=%u,allow_other,default_permissions",
		 binder_fuse_fd(), geteuid(), getegid());
	if (mount("anybinder", mount_path, MOUNT_TYPE, MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME,
		  options)) {
		ret = -errno;
		binder_say("mounting on %s refused: %s\n", mount_path, strerror(-ret));
		if (ret == -EPERM || ret == -EACCES)
			binder_say("  it needs CAP_SYS_ADMIN: run as root; in a container, start it with --privileged (AppArmor and seccomp may forbid mount as well)\n");
		else if (ret == -ENODEV)
			binder_say("  the kernel has no FUSE filesystem: modprobe fuse\n");
		return ret;
	}
	if (mount_find(mount_path, type, mount_device)) {
		binder_say("/proc/self/mountinfo does not show the mount on %s: mount /proc first\n",
			   mount_path);
		binder_mount_detach();
		return -ENOENT;
	}
	return 0;
}

/**
 * binder_mount_detach() - unmount, and end the connection
 *
 * MNT_FORCE aborts it: every waiting call fails with ECONNABORTED, every reader
 * of requests gets ENODEV. MNT_DETACH because clients still have files open.
 */
void binder_mount_detach(void)
{
	char type[64], device[32];

	/* Somebody may have unmounted ours, and mounted something else there. */
	if (mount_find(mount_path, type, device) || strcmp(type, MOUNT_TYPE) ||
	    (mount_device[0] && strcmp(device, mount_device)))
		return;
	if (umount2(mount_path, MNT_FORCE | MNT_DETACH))
		binder_say("cannot unmount %s: %s\n", mount_path, strerror(errno));
}
