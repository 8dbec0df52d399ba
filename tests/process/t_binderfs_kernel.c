// SPDX-License-Identifier: MIT
/* A binderfs of a kernel driver: options, instances, limits, names, logs, user namespaces. */
#include "bc.h"
#include "child.h"
#include "harness.h"
#include "instance.h"
#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what a mount has --------------------------------------------------- */

static void test_inodes_are_as_documented(void)
{
	unsigned int control_major, n = 0;
	struct dirent *de;
	struct stat st;
	DIR *dir;

	instance_begin();
	instance_mount("a", NULL);
	CHECK_EQ(stat(instance_path("a", ""), &st), 0);
	CHECK_EQ(st.st_ino, 1);
	CHECK_EQ(st.st_mode, S_IFDIR | 0755);
	CHECK_EQ(stat(instance_path("a", "binder-control"), &st), 0);
	CHECK_EQ(st.st_ino, 2);
	CHECK_EQ(st.st_mode, S_IFCHR | 0600);
	CHECK_EQ(st.st_uid, 0);
	CHECK_EQ(st.st_gid, 0);
	control_major = major(st.st_rdev);
	dir = opendir(instance_path("a", ""));
	CHECK(dir);
	while ((de = readdir(dir))) {
		if (de->d_type != DT_CHR || !strcmp(de->d_name, "binder-control"))
			continue;
		CHECK_EQ(stat(instance_path("a", de->d_name), &st), 0);
		CHECK_EQ(st.st_mode, S_IFCHR | 0600);
		CHECK_EQ(st.st_uid, 0);
		CHECK_EQ(st.st_ino, minor(st.st_rdev) + 3);
		CHECK_EQ(st.st_ino, de->d_ino);
		CHECK_EQ(major(st.st_rdev), control_major);
		CHECK(instance_opens("a", de->d_name));
		n++;
	}
	closedir(dir);
	CHECK_GE(n, 1);
	CHECK_EQ(stat(instance_path("a", "features"), &st), 0);
	CHECK_EQ(st.st_mode, S_IFDIR | 0755);
	CHECK(!instance_has("a", "binder_logs"));
}

static void test_added_device_gets_the_numbers_it_is_told(void)
{
	struct binderfs_device one, two;
	struct stat st;

	instance_begin();
	instance_mount("a", NULL);
	instance_mount("b", NULL);
	CHECK_EQ(instance_try_add("a", "same", &one), 0);
	CHECK_EQ(instance_try_add("b", "same", &two), 0);
	/* one range of numbers for all instances */
	CHECK_EQ(one.major, two.major);
	CHECK_NE(one.minor, two.minor);
	CHECK_EQ(stat(instance_path("a", "same"), &st), 0);
	CHECK_EQ(major(st.st_rdev), one.major);
	CHECK_EQ(minor(st.st_rdev), one.minor);
	CHECK_EQ(st.st_ino, one.minor + 3);
	CHECK_EQ(stat(instance_path("b", "same"), &st), 0);
	CHECK_EQ(minor(st.st_rdev), two.minor);
}

/* Only the binderfs knows what a number means. */
static void test_number_on_another_filesystem_opens_nothing(void)
{
	struct stat st;
	int fd;

	instance_begin();
	instance_mount("a", NULL);
	CHECK_EQ(stat(instance_path("a", "binder"), &st), 0);
	CHECK_EQ(mknod(instance_path(".", "copy"), S_IFCHR | 0600, st.st_rdev), 0);
	fd = instance_open(".", "copy");
	CHECK(fd < 0 && errno == ENXIO);
}

static void test_instances_with_equal_names_are_apart(void)
{
	struct server sa = { .device = "a/binder" }, sb = { .device = "b/binder" };
	struct bc a, b, other;
	struct bt ta, tb;

	instance_begin();
	instance_mount("a", NULL);
	instance_mount("b", NULL);
	server_start(&sa);
	bc_open_device(&a, "a/binder", BC_MAP_SIZE);
	bc_open_device(&b, "b/binder", BC_MAP_SIZE);
	bt_init(&ta, &a);
	bt_init(&tb, &b);
	bt_ping(&ta, 0, CODE_NULL);
	/* nobody is manager there */
	CHECK_EQ(bt_call(&tb, 0, CODE_NULL, 0, NULL, NULL), BR_DEAD_REPLY);
	server_start(&sb);
	bt_ping(&tb, 0, CODE_NULL);
	CHECK_EQ(sb.shared->served, 1);
	CHECK_EQ(sa.shared->served, 1);
	bc_open_device(&other, "b/binder", 0);
	CHECK_EQ(bc_become_manager(&other), -EBUSY);
	bc_close(&other);
	server_stop(&sb);
	bt_ping(&ta, 0, CODE_NULL);
	bc_close(&a);
	bc_close(&b);
	server_stop(&sa);
}

static void test_nothing_on_it_runs(void)
{
	char *const argv[] = { "x", NULL };

	instance_begin();
	instance_mount("a", NULL);
	CHECK_EQ(chmod(instance_path("a", "features/extended_error"), 0755), 0);
	execv(instance_path("a", "features/extended_error"), argv);
	CHECK_EQ(errno, EACCES);
}

static void test_watchers_are_told(void)
{
	char buf[4096] __attribute__((aligned(8)));
	const struct inotify_event *event = (void *)buf;
	struct pollfd p = { .events = POLLIN };

	instance_begin();
	instance_mount("a", NULL);
	p.fd = inotify_init1(IN_CLOEXEC);
	if (p.fd < 0)
		test_skip("no inotify: %s", strerror(errno));
	CHECK_GE(inotify_add_watch(p.fd, instance_path("a", ""), IN_CREATE | IN_DELETE), 0);
	CHECK_EQ(instance_try_add("a", "new", NULL), 0);
	CHECK_EQ(poll(&p, 1, TEST_WAIT_S * 1000), 1);
	CHECK_GE(read(p.fd, buf, sizeof(buf)), 1);
	CHECK_EQ(event->mask, IN_CREATE);
	CHECK(!strcmp(event->name, "new"));
	CHECK_EQ(unlink(instance_path("a", "new")), 0);
	CHECK_EQ(poll(&p, 1, TEST_WAIT_S * 1000), 1);
	CHECK_GE(read(p.fd, buf, sizeof(buf)), 1);
	CHECK_EQ(event->mask, IN_DELETE);
	CHECK(!strcmp(event->name, "new"));
}

/* ---- options ------------------------------------------------------------ */

static void test_max_bounds(void)
{
	instance_begin();
	instance_mount("most", "max=1048576");
	CHECK_EQ(instance_try_mount("a", "max=1048577"), EINVAL);
	CHECK_EQ(instance_try_mount("a", "max=4294967295"), EINVAL);
	CHECK_EQ(instance_try_mount("a", "max=4294967296"), EINVAL);
	CHECK_EQ(instance_try_mount("a", "max=-1"), EINVAL);
	CHECK_EQ(instance_try_mount("a", "max=many"), EINVAL);
	CHECK_EQ(instance_try_mount("a", "max="), EINVAL);
	CHECK_EQ(instance_try_mount("a", "stats=local"), EINVAL);
	CHECK_EQ(instance_try_mount("a", "stats"), EINVAL);
	CHECK_EQ(instance_try_mount("a", "color=blue"), EINVAL);
	CHECK(!instance_has("a", "binder-control"));
}

static void test_max_counts_all_devices_but_control(void)
{
	unsigned int defaults;
	char options[32], name[16];

	instance_begin();
	instance_mount("a", NULL);
	defaults = instance_devices("a");
	snprintf(options, sizeof(options), "max=%u", defaults + 2);
	instance_mount("b", options);
	CHECK_EQ(instance_devices("b"), defaults);
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "more%d", i);
		CHECK_EQ(instance_try_add("b", name, NULL), 0);
	}
	CHECK_EQ(instance_try_add("b", "toomany", NULL), ENOSPC);
	CHECK(!instance_has("b", "toomany"));
	/* another instance has a count of its own */
	CHECK_EQ(instance_try_add("a", "toomany", NULL), 0);
	CHECK_EQ(unlink(instance_path("b", "more0")), 0);
	CHECK_EQ(instance_try_add("b", "room", NULL), 0);
	CHECK_EQ(instance_try_add("b", "toomany", NULL), ENOSPC);
}

static void test_max_below_the_defaults_fails_the_mount(void)
{
	unsigned int defaults;
	char options[32];

	instance_begin();
	instance_mount("a", NULL);
	defaults = instance_devices("a");
	for (unsigned int max = 0; max < defaults; max++) {
		snprintf(options, sizeof(options), "max=%u", max);
		CHECK_EQ(instance_try_mount("b", options), ENOSPC);
		CHECK(!instance_has("b", "binder-control"));
	}
	snprintf(options, sizeof(options), "max=%u", defaults);
	instance_mount("b", options);
	CHECK_EQ(instance_try_add("b", "toomany", NULL), ENOSPC);
	/* the failed ones have given back what they had */
	CHECK_EQ(instance_devices("b"), defaults);
}

static void test_failed_add_does_not_count(void)
{
	struct binderfs_device *fixed;
	char options[32];
	int fd;

	instance_begin();
	instance_mount("a", NULL);
	snprintf(options, sizeof(options), "max=%u", instance_devices("a") + 1);
	instance_mount("b", options);
	fixed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(fixed != MAP_FAILED);
	strcpy(fixed->name, "unanswered");
	CHECK_EQ(mprotect(fixed, 4096, PROT_READ), 0);
	fd = open(instance_path("b", "binder-control"), O_RDONLY | O_CLOEXEC);
	CHECK_GE(fd, 0);
	for (int i = 0; i < 10; i++) {
		/* the numbers cannot be told */
		CHECK(ioctl(fd, BINDER_CTL_ADD, fixed) < 0 && errno == EFAULT);
		CHECK_EQ(instance_try_add("b", "binder-control", NULL), EEXIST);
		CHECK_EQ(instance_try_add("b", "features", NULL), EEXIST);
		CHECK_EQ(instance_try_add("b", "binder", NULL), EEXIST);
	}
	close(fd);
	CHECK(!instance_has("b", "unanswered"));
	CHECK_EQ(instance_try_add("b", "last", NULL), 0);
	CHECK_EQ(instance_try_add("b", "toomany", NULL), ENOSPC);
}

static void test_options_are_shown_and_max_is_remounted(void)
{
	unsigned int defaults;
	char options[64], want[64];

	instance_begin();
	instance_mount("a", NULL);
	CHECK(!strstr(instance_options("a"), "max=") && !strstr(instance_options("a"), "stats="));
	defaults = instance_devices("a");
	snprintf(options, sizeof(options), "max=%u,stats=global", defaults + 1);
	instance_mount("b", options);
	snprintf(want, sizeof(want), ",max=%u", defaults + 1);
	CHECK(strstr(instance_options("b"), want));
	CHECK(strstr(instance_options("b"), ",stats=global"));
	CHECK_EQ(instance_try_add("b", "one", NULL), 0);
	CHECK_EQ(instance_try_add("b", "two", NULL), ENOSPC);
	snprintf(options, sizeof(options), "max=%u,stats=global", defaults + 2);
	CHECK_EQ(mount(NULL, instance_path("b", ""), NULL, MS_REMOUNT, options), 0);
	CHECK_EQ(instance_try_add("b", "two", NULL), 0);
	/* fewer than there are: they stay, no more come */
	CHECK_EQ(mount(NULL, instance_path("b", ""), NULL, MS_REMOUNT, "max=1,stats=global"), 0);
	CHECK(instance_opens("b", "one") && instance_opens("b", "two"));
	CHECK_EQ(unlink(instance_path("b", "two")), 0);
	CHECK_EQ(instance_try_add("b", "two", NULL), ENOSPC);
	CHECK(mount(NULL, instance_path("b", ""), NULL, MS_REMOUNT, "max=1048577") < 0 &&
	      errno == EINVAL);
}

static void test_stats_cannot_be_changed_by_a_remount(void)
{
	instance_begin();
	instance_mount("a", NULL);
	CHECK(mount(NULL, instance_path("a", ""), NULL, MS_REMOUNT, "stats=global") < 0 &&
	      errno == EINVAL);
	CHECK(!instance_has("a", "binder_logs"));
	CHECK_EQ(mount(NULL, instance_path("a", ""), NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	CHECK(instance_opens("a", "binder"));
}

/* ---- names -------------------------------------------------------------- */

static void test_devices_are_renamed_and_replaced(void)
{
	struct binderfs_device one;
	struct stat st;
	int fd;

	instance_begin();
	instance_mount("a", NULL);
	CHECK_EQ(instance_try_add("a", "one", &one), 0);
	CHECK_EQ(instance_try_add("a", "two", NULL), 0);
	fd = instance_open("a", "two");
	CHECK_GE(fd, 0);
	CHECK_EQ(rename(instance_path("a", "one"), instance_path("a", "two")), 0);
	CHECK(!instance_has("a", "one"));
	CHECK_EQ(stat(instance_path("a", "two"), &st), 0);
	CHECK_EQ(minor(st.st_rdev), one.minor);
	CHECK(instance_opens("a", "two"));
	CHECK(instance_fd_works(fd));
	close(fd);
	CHECK_EQ(instance_try_add("a", "one", NULL), 0);
	CHECK_EQ(renameat2(AT_FDCWD, instance_path("a", "one"), AT_FDCWD, instance_path("a", "two"),
			   RENAME_EXCHANGE), 0);
	CHECK_EQ(stat(instance_path("a", "one"), &st), 0);
	CHECK_EQ(minor(st.st_rdev), one.minor);
	CHECK(renameat2(AT_FDCWD, instance_path("a", "one"), AT_FDCWD, instance_path("a", "two"),
			RENAME_NOREPLACE) < 0 && errno == EEXIST);
}

static void test_what_is_no_device_keeps_name_and_place(void)
{
	static const char *const fixed[] = { "binder-control", "features", "binder_logs" };

	instance_begin();
	instance_mount("a", "stats=global");
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		CHECK_EQ(instance_rename(fixed[i], "other", 0), EPERM);
		CHECK_EQ(instance_rename(fixed[i], "binder", RENAME_EXCHANGE), EPERM);
		CHECK_EQ(instance_rename("binder", fixed[i], RENAME_EXCHANGE), EPERM);
		CHECK_NE(instance_rename("binder", fixed[i], 0), 0);
		CHECK_EQ(unlink(instance_path("a", fixed[i])) ? errno : 0, i ? EISDIR : EPERM);
		CHECK_EQ(rmdir(instance_path("a", fixed[i])) ? errno : 0, i ? EPERM : ENOTDIR);
	}
	CHECK_EQ(instance_rename("binder", "features/binder", 0), EPERM);
	CHECK_EQ(instance_rename("binder", "binder_logs/binder", 0), EPERM);
	CHECK_NE(instance_rename("binder", "binder_logs/proc/1", 0), 0);
	CHECK_EQ(instance_rename("features/extended_error", "features/x", 0), EPERM);
	CHECK_EQ(instance_rename("binder_logs/state", "state", 0), EPERM);
	CHECK(link(instance_path("a", "binder"), instance_path("a", "link")) < 0 && errno == EPERM);
	CHECK(unlink(instance_path("a", "binder_logs/state")) < 0 && errno == EPERM);
	CHECK(mkdir(instance_path("a", "binder_logs/proc/1"), 0755) < 0);
	CHECK(mknod(instance_path("a", "zero"), S_IFCHR | 0666, makedev(1, 5)) < 0 && errno == EPERM);
	CHECK(instance_opens("a", "binder"));
	CHECK(instance_has("a", "binder_logs/state") && instance_has("a", "features/extended_error"));
}

/* ---- removed, and still open -------------------------------------------- */

static void test_removed_device_keeps_its_number_while_open(void)
{
	struct binderfs_device first, next;
	char options[32];
	int fd;

	instance_begin();
	instance_mount("b", NULL);
	snprintf(options, sizeof(options), "max=%u", instance_devices("b") + 2);
	instance_mount("a", options);
	CHECK_EQ(instance_try_add("a", "gone", &first), 0);
	fd = instance_open("a", "gone");
	CHECK_GE(fd, 0);
	CHECK_EQ(unlink(instance_path("a", "gone")), 0);
	CHECK_EQ(instance_try_add("a", "gone", &next), 0);
	CHECK_NE(first.minor, next.minor);
	/* it counts as long as it is there for somebody */
	CHECK_EQ(instance_try_add("a", "more", NULL), ENOSPC);
	CHECK(instance_fd_works(fd));
	close(fd);
	CHECK_EQ(instance_try_add("a", "more", NULL), 0);
}

static void test_open_device_outlives_its_mount(void)
{
	struct server s = { .device = "a/late" };
	struct bc b;
	struct bt t;

	instance_begin();
	instance_mount("a", NULL);
	CHECK_EQ(instance_try_add("a", "late", NULL), 0);
	server_start(&s);
	bc_open_device(&b, "a/late", BC_MAP_SIZE);
	bt_init(&t, &b);
	bt_ping(&t, 0, CODE_NULL);
	CHECK(umount2(instance_path("a", ""), 0) < 0 && errno == EBUSY);
	CHECK_EQ(unlink(instance_path("a", "late")), 0);
	CHECK_EQ(umount2(instance_path("a", ""), MNT_DETACH), 0);
	CHECK(!instance_has("a", "binder-control"));
	for (int i = 0; i < 10; i++)
		bt_ping(&t, 0, CODE_NULL);
	server_stop(&s);
	CHECK_EQ(bt_call(&t, 0, CODE_NULL, 0, NULL, NULL), BR_DEAD_REPLY);
	bc_close(&b);
	instance_mount("a", NULL);
	CHECK(!instance_has("a", "late"));
}

/* A descriptor of binder-control is a mount's for as long as it is open. */
static void test_control_of_a_detached_mount_still_adds(void)
{
	struct binderfs_device device = { .name = "unseen" };
	int fd, dir;

	instance_begin();
	instance_mount("a", NULL);
	fd = open(instance_path("a", "binder-control"), O_RDONLY | O_CLOEXEC);
	dir = open(instance_path("a", ""), O_PATH | O_CLOEXEC);
	CHECK(fd >= 0 && dir >= 0);
	CHECK_EQ(umount2(instance_path("a", ""), MNT_DETACH), 0);
	CHECK_EQ(ioctl(fd, BINDER_CTL_ADD, &device), 0);
	CHECK_EQ(faccessat(dir, "unseen", F_OK, 0), 0);
	close(fd);
	close(dir);
}

/* ---- binder_logs -------------------------------------------------------- */

static bool proc_file_exists(void *pid)
{
	char name[64];

	snprintf(name, sizeof(name), "binder_logs/proc/%d", *(pid_t *)pid);
	return instance_has("a", name);
}

static bool proc_file_is_gone(void *pid)
{
	return !proc_file_exists(pid);
}

static int times_listed(pid_t pid)
{
	DIR *dir = opendir(instance_path("a", "binder_logs/proc"));
	struct dirent *de;
	int n = 0;

	CHECK(dir);
	while ((de = readdir(dir)))
		n += atoi(de->d_name) == pid;
	closedir(dir);
	return n;
}

static void test_logs_have_all_files(void)
{
	static const char *const files[] = {
		"state", "stats", "transactions", "transaction_log", "failed_transaction_log",
	};
	struct stat st;

	instance_begin();
	instance_mount("a", "stats=global");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *text, name[64];

		snprintf(name, sizeof(name), "binder_logs/%s", files[i]);
		CHECK_EQ(stat(instance_path("a", name), &st), 0);
		CHECK_EQ(st.st_mode, S_IFREG | 0444);
		text = test_read_file(instance_path("a", name));
		CHECK(text && (i > 2 || strlen(text) > 5));
		free(text);
		CHECK_EQ(instance_try_add("a", "binder_logs", NULL), EEXIST);
	}
	CHECK_EQ(stat(instance_path("a", "binder_logs/proc"), &st), 0);
	CHECK_EQ(st.st_mode, S_IFDIR | 0755);
}

static void test_process_files_come_and_go(void)
{
	static const char *const wrong[] = { "0", "-1", "01", "+1", "1 ", "x", "4294967297", "" };
	pid_t pid = getpid();
	int fd, fd2, log;
	char name[64], *text;

	instance_begin();
	instance_mount("a", "stats=global");
	CHECK(!proc_file_exists(&pid));
	fd = instance_open("a", "binder");
	CHECK_GE(fd, 0);
	fd2 = instance_open("a", "hwbinder");
	CHECK_GE(fd2, 0);
	CHECK(proc_file_exists(&pid));
	CHECK_EQ(times_listed(pid), 1);
	for (size_t i = 0; i + 1 < ARRAY_SIZE(wrong); i++) {
		snprintf(name, sizeof(name), "binder_logs/proc/%s", wrong[i]);
		CHECK(!instance_has("a", name));
	}
	snprintf(name, sizeof(name), "binder_logs/proc/%d", pid);
	text = test_read_file(instance_path("a", name));
	CHECK(text && strstr(text, "context binder\n") && strstr(text, "context hwbinder\n"));
	free(text);
	log = open(instance_path("a", name), O_RDONLY | O_CLOEXEC);
	CHECK_GE(log, 0);
	close(fd);
	CHECK(proc_file_exists(&pid));
	close(fd2);
	test_eventually(proc_file_is_gone, &pid);
	CHECK_EQ(times_listed(pid), 0);
	/* who has it open reads what was */
	CHECK_EQ(read(log, name, 4), 4);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", log);
	CHECK(open(name, O_RDONLY | O_CLOEXEC) < 0 && errno == ENOENT);
	close(log);
}

/* ---- user namespaces ----------------------------------------------------- */

static void test_user_namespace_has_instances_of_its_own(void)
{
	struct server s = { .device = "a/binder" };
	struct stat st;
	struct bc b;
	struct bt t;
	int fd;

	instance_begin();
	instance_enter_user_ns();
	instance_mount("a", "max=50");
	CHECK_EQ(stat(instance_path("a", ""), &st), 0);
	CHECK_EQ(st.st_uid, 0);
	CHECK_EQ(st.st_gid, 0);
	CHECK_EQ(stat(instance_path("a", "binder"), &st), 0);
	CHECK_EQ(st.st_uid, 0);
	CHECK_EQ(st.st_gid, 0);
	CHECK_EQ(st.st_mode, S_IFCHR | 0600);
	CHECK_EQ(instance_try_add("a", "mine", NULL), 0);
	CHECK(instance_opens("a", "mine"));
	server_start(&s);
	bc_open_device(&b, "a/binder", BC_MAP_SIZE);
	bt_init(&t, &b);
	bt_ping(&t, 0, CODE_NULL);
	bc_close(&b);
	server_stop(&s);
	/* no other devices by this way */
	CHECK(mknod(instance_path("a", "null"), S_IFCHR | 0666, makedev(1, 3)) < 0 && errno == EPERM);
	CHECK_EQ(chmod(instance_path("a", "mine"), 0666), 0);
	CHECK_EQ(stat(instance_path("a", "mine"), &st), 0);
	CHECK_EQ(st.st_mode, S_IFCHR | 0666);
	fd = instance_open("a", "mine");
	CHECK_GE(fd, 0);
	CHECK_EQ(unlink(instance_path("a", "mine")), 0);
	CHECK(instance_fd_works(fd));
	close(fd);
	CHECK_EQ(umount2(instance_path("a", ""), 0), 0);
}

static void test_user_namespace_has_no_global_stats(void)
{
	instance_begin();
	instance_enter_user_ns();
	CHECK_EQ(instance_try_mount("a", "stats=global"), EPERM);
	CHECK_EQ(instance_try_mount("a", "max=8,stats=global"), EPERM);
	instance_mount("a", NULL);
	CHECK(mount(NULL, instance_path("a", ""), NULL, MS_REMOUNT, "stats=global") < 0 &&
	      errno == EPERM);
	CHECK(!instance_has("a", "binder_logs"));
}

/* Another ipc namespace: numbers from the same range, but not its last. */
static void test_ipc_namespace_mounts_too(void)
{
	instance_begin();
	if (unshare(CLONE_NEWIPC))
		test_skip("no ipc namespaces here: %s", strerror(errno));
	instance_mount("a", NULL);
	CHECK_EQ(instance_try_add("a", "one", NULL), 0);
	CHECK(instance_opens("a", "one"));
}

static void be_nobody(void *arg)
{
	CHECK_EQ(setresgid(65534, 65534, 65534), 0);
	CHECK_EQ(setresuid(65534, 65534, 65534), 0);
	CHECK(open(instance_path("a", "binder"), O_RDWR) < 0 && errno == EACCES);
	CHECK(open(instance_path("a", "binder-control"), O_RDONLY) < 0 && errno == EACCES);
	CHECK(unlink(instance_path("a", "hwbinder")) < 0 && errno == EACCES);
	CHECK(rename(instance_path("a", "hwbinder"), instance_path("a", "x")) < 0 && errno == EACCES);
	CHECK(access(instance_path("a", "features/extended_error"), R_OK) == 0);
	CHECK_EQ(instance_try_mount("a", NULL), EPERM);
}

static void test_others_may_look_but_not_touch(void)
{
	instance_begin();
	instance_mount("a", NULL);
	test_join(test_spawn(be_nobody, NULL));
}

static const struct test_case cases[] = {
	QUICK(test_inodes_are_as_documented),
	QUICK(test_added_device_gets_the_numbers_it_is_told),
	QUICK(test_number_on_another_filesystem_opens_nothing),
	QUICK(test_instances_with_equal_names_are_apart),
	QUICK(test_nothing_on_it_runs),
	QUICK(test_watchers_are_told),
	QUICK(test_max_bounds),
	QUICK(test_max_counts_all_devices_but_control),
	QUICK(test_max_below_the_defaults_fails_the_mount),
	QUICK(test_failed_add_does_not_count),
	QUICK(test_options_are_shown_and_max_is_remounted),
	QUICK(test_stats_cannot_be_changed_by_a_remount),
	QUICK(test_devices_are_renamed_and_replaced),
	QUICK(test_what_is_no_device_keeps_name_and_place),
	QUICK(test_removed_device_keeps_its_number_while_open),
	QUICK(test_open_device_outlives_its_mount),
	QUICK(test_control_of_a_detached_mount_still_adds),
	QUICK(test_logs_have_all_files),
	QUICK(test_process_files_come_and_go),
	QUICK(test_user_namespace_has_instances_of_its_own),
	QUICK(test_user_namespace_has_no_global_stats),
	QUICK(test_ipc_namespace_mounts_too),
	QUICK(test_others_may_look_but_not_touch),
};

TEST_MAIN(cases)
