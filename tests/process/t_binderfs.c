// SPDX-License-Identifier: MIT
/* The directory: binder-control, names, removal, features, permissions. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"
#include "uapi/binderfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static const char *path_of(const char *name)
{
	static char path[2][PATH_MAX + 512];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", driver_dir(), name);
	return path[turn];
}

static int control_open(void)
{
	int fd = open(path_of("binder-control"), O_RDONLY | O_CLOEXEC);

	if (fd < 0 && !driver_is_own())
		test_skip("no binder-control: not a binderfs");
	CHECK_GE(fd, 0);
	return fd;
}

/* Adds a device; Return: 0 or the errno. */
static int add(int control, const char *name, struct binderfs_device *device)
{
	struct binderfs_device own;

	if (!device)
		device = &own;
	memset(device, 0, sizeof(*device));
	memcpy(device->name, name, strnlen(name, sizeof(device->name)));
	return ioctl(control, BINDER_CTL_ADD, device) ? errno : 0;
}

static bool listed(const char *name)
{
	DIR *dir = opendir(driver_dir());
	struct dirent *de;
	bool found = false;

	CHECK(dir);
	while ((de = readdir(dir)))
		found = found || !strcmp(de->d_name, name);
	closedir(dir);
	return found;
}

/* A device is good if it can have a manager and be called. */
static void device_works(const char *name)
{
	struct server s = { .device = name };
	struct bc b;
	struct bt t;

	server_start(&s);
	bc_open_device(&b, name, BC_MAP_SIZE);
	bt_init(&t, &b);
	bt_ping(&t, 0, CODE_NULL);
	bc_close(&b);
	server_stop(&s);
}

static void test_default_devices_are_there(void)
{
	static const char *const names[] = { "binder", "hwbinder", "vndbinder" };

	close(control_open());
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CHECK(listed(names[i]));
		device_works(names[i]);
	}
	CHECK(listed("binder-control"));
	CHECK(listed("features"));
}

static void test_added_device_is_listed_and_works(void)
{
	struct binderfs_device first, second;
	int control = control_open();

	CHECK_EQ(add(control, "one", &first), 0);
	CHECK_EQ(add(control, "two", &second), 0);
	CHECK(first.major != second.major || first.minor != second.minor);
	CHECK(listed("one") && listed("two"));
	device_works("one");
	CHECK_EQ(unlink(path_of("one")), 0);
	CHECK_EQ(unlink(path_of("two")), 0);
	CHECK(!listed("one") && !listed("two"));
}

static void test_name_that_exists_says_eexist(void)
{
	static const char *const names[] = {
		"binder", "hwbinder", "binder-control", "features", "dup",
	};
	int control = control_open();

	CHECK_EQ(add(control, "dup", NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CHECK_EQ(add(control, names[i], NULL), EEXIST);
	CHECK_EQ(unlink(path_of("dup")), 0);
	CHECK_EQ(add(control, "dup", NULL), 0);
	CHECK_EQ(unlink(path_of("dup")), 0);
}

static void test_bad_names_are_refused(void)
{
	static const char *const names[] = { "", ".", "..", "a/b", "/", "/abs", "a/../b" };
	int control = control_open();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!add(control, names[i], NULL))
			FAIL("a device with the name \"%s\" was made", names[i]);
	bc_works(&client_open()->b);
}

static void test_name_of_255_bytes_is_taken(void)
{
	char name[256];
	int control = control_open();

	memset(name, 'x', 255);
	name[255] = '\0';
	CHECK_EQ(add(control, name, NULL), 0);
	CHECK(listed(name));
	device_works(name);
	CHECK_EQ(unlink(path_of(name)), 0);
}

/* Not terminated: cut or refused, not overrun. */
static void test_name_without_end_does_no_harm(void)
{
	struct binderfs_device device;
	int control = control_open();

	memset(&device, 'y', sizeof(device));
	if (!ioctl(control, BINDER_CTL_ADD, &device)) {
		char name[256];

		memset(name, 'y', 255);
		name[255] = '\0';
		CHECK_EQ(unlink(path_of(name)), 0);
	}
}

static void test_control_bad_calls_are_refused(void)
{
	struct binder_write_read bwr = { 0 };
	struct client *c = client_open();
	int control = control_open();
	void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct binderfs_device device = { .name = "no" };

	CHECK(ioctl(control, BINDER_CTL_ADD, hole) < 0 && errno == EFAULT);
	CHECK(ioctl(control, BINDER_WRITE_READ, &bwr) < 0 && errno == EINVAL);
	CHECK(ioctl(control, BINDER_VERSION, &bwr) < 0 && errno == EINVAL);
	CHECK(ioctl(c->b.fd, BINDER_CTL_ADD, &device) < 0 && errno == EINVAL);
	CHECK(!listed("no"));
}

/* Who has it open goes on; the name is free for a new one. */
static void test_unlinked_device_serves_who_has_it_open(void)
{
	struct server s = { .device = "gone" };
	int control = control_open();
	struct bc old, new;
	struct bt t;

	CHECK_EQ(add(control, "gone", NULL), 0);
	server_start(&s);
	bc_open_device(&old, "gone", BC_MAP_SIZE);
	CHECK_EQ(unlink(path_of("gone")), 0);
	CHECK(!listed("gone"));
	bt_init(&t, &old);
	for (int i = 0; i < 5; i++)
		bt_ping(&t, 0, CODE_NULL);
	CHECK_EQ(bc_try_open(&new, "gone", 0, 0), -ENOENT);
	CHECK_EQ(add(control, "gone", NULL), 0);
	/* the new one is another: nobody is its manager */
	bc_open_device(&new, "gone", BC_MAP_SIZE);
	CHECK_EQ(bc_become_manager(&new), 0);
	bt_ping(&t, 0, CODE_NULL);
	CHECK_EQ(unlink(path_of("gone")), 0);
}

static void test_control_cannot_be_removed_or_renamed(void)
{
	close(control_open());
	CHECK(unlink(path_of("binder-control")) < 0 && errno == EPERM);
	CHECK(rename(path_of("binder-control"), path_of("other")) < 0 && errno == EPERM);
	CHECK(rename(path_of("hwbinder"), path_of("binder-control")) < 0);
	CHECK(listed("binder-control") && listed("hwbinder") && !listed("other"));
	close(control_open());
}

/* The tree has no place for anything else. */
static void test_other_changes_are_refused(void)
{
	close(control_open());
	CHECK(mkdir(path_of("dir"), 0755) < 0);
	CHECK(open(path_of("file"), O_CREAT | O_RDWR, 0644) < 0);
	CHECK(symlink("binder", path_of("link")) < 0);
	CHECK(mknod(path_of("node"), S_IFIFO | 0644, 0) < 0);
	CHECK(unlink(path_of("features/extended_error")) < 0);
	CHECK(rmdir(path_of("features")) < 0);
	CHECK(open(path_of("features/extended_error"), O_WRONLY) < 0 ||
	      write(open(path_of("features/extended_error"), O_WRONLY), "0", 1) < 0);
	CHECK(listed("features") && !listed("dir") && !listed("file"));
}

static void test_features_say_1(void)
{
	DIR *dir;
	struct dirent *de;
	int n = 0;

	close(control_open());
	dir = opendir(path_of("features"));
	CHECK(dir);
	while ((de = readdir(dir))) {
		char path[PATH_MAX + 512], *text;
		struct stat st;

		if (de->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/features/%s", driver_dir(), de->d_name);
		text = test_read_file(path);
		CHECK(text && !strcmp(text, "1\n"));
		CHECK_EQ(stat(path, &st), 0);
		CHECK_EQ(st.st_mode & 07777, 0444);
		free(text);
		n++;
	}
	closedir(dir);
	CHECK_GE(n, 1);
	CHECK_EQ(access(path_of("features/extended_error"), R_OK), 0);
}

static void test_many_devices_come_and_go(void)
{
	int control = control_open();
	char name[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 150; i++) {
			snprintf(name, sizeof(name), "many%d", i);
			CHECK_EQ(add(control, name, NULL), 0);
		}
		device_works("many77");
		for (int i = 0; i < 150; i++) {
			snprintf(name, sizeof(name), "many%d", i);
			CHECK(listed(name));
			CHECK_EQ(unlink(path_of(name)), 0);
		}
	}
}

static void add_and_remove(void *arg)
{
	unsigned int seed = (uintptr_t)arg;
	int control = control_open();

	for (int i = 0; i < 200; i++) {
		char name[32];
		int err;
		struct bc b;

		snprintf(name, sizeof(name), "race%d", rand_r(&seed) % 4);
		err = add(control, name, NULL);
		CHECK(!err || err == EEXIST);
		if (!bc_try_open(&b, name, 0, 8192)) {
			bc_works(&b);
			bc_close(&b);
		}
		CHECK(!unlink(path_of(name)) || errno == ENOENT);
	}
}

static void test_devices_added_and_removed_by_many_at_once(void)
{
	pid_t pids[6];

	close(control_open());
	for (uintptr_t i = 0; i < 6; i++)
		pids[i] = test_spawn(add_and_remove, (void *)(i + 1));
	for (int i = 0; i < 6; i++)
		test_join(pids[i]);
}

static void open_as_nobody(void *arg)
{
	bool *allowed = arg;
	struct bc b;

	CHECK_EQ(setresuid(NOBODY, NOBODY, NOBODY), 0);
	if (*allowed) {
		CHECK_EQ(bc_try_open(&b, "modes", 0, BC_MAP_SIZE), 0);
		bc_works(&b);
	} else {
		CHECK_EQ(bc_try_open(&b, "modes", 0, BC_MAP_SIZE), -EACCES);
	}
}

static void test_chmod_decides_who_may_open(void)
{
	int control = control_open();
	bool *allowed = test_share(sizeof(*allowed));
	struct stat st;

	if (geteuid())
		test_skip("needs root");
	CHECK_EQ(add(control, "modes", NULL), 0);
	CHECK_EQ(chmod(path_of("modes"), 0600), 0);
	CHECK_EQ(stat(path_of("modes"), &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	test_join(test_spawn(open_as_nobody, allowed));
	CHECK_EQ(chmod(path_of("modes"), 0666), 0);
	*allowed = true;
	test_join(test_spawn(open_as_nobody, allowed));
	CHECK_EQ(chmod(path_of("modes"), 0600), 0);
	CHECK_EQ(chown(path_of("modes"), NOBODY, NOBODY), 0);
	test_join(test_spawn(open_as_nobody, allowed));
	CHECK_EQ(unlink(path_of("modes")), 0);
}

static void add_as_nobody(void *arg)
{
	int fd;

	CHECK_EQ(setresuid(NOBODY, NOBODY, NOBODY), 0);
	fd = open(path_of("binder-control"), O_RDONLY);
	CHECK(fd < 0 && errno == EACCES);
	CHECK(unlink(path_of("hwbinder")) < 0);
}

static void test_control_is_for_its_owner_only(void)
{
	struct stat st;

	close(control_open());
	if (geteuid())
		test_skip("needs root");
	CHECK_EQ(stat(path_of("binder-control"), &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	test_join(test_spawn(add_as_nobody, NULL));
	CHECK(listed("hwbinder"));
}

static const struct test_case cases[] = {
	QUICK(test_default_devices_are_there),
	QUICK(test_added_device_is_listed_and_works),
	QUICK(test_name_that_exists_says_eexist),
	QUICK(test_bad_names_are_refused),
	QUICK(test_name_of_255_bytes_is_taken),
	QUICK(test_name_without_end_does_no_harm),
	QUICK(test_control_bad_calls_are_refused),
	QUICK(test_unlinked_device_serves_who_has_it_open),
	QUICK(test_control_cannot_be_removed_or_renamed),
	QUICK(test_other_changes_are_refused),
	QUICK(test_features_say_1),
	CASE(test_many_devices_come_and_go),
	CASE(test_devices_added_and_removed_by_many_at_once),
	QUICK(test_chmod_decides_who_may_open),
	QUICK(test_control_is_for_its_owner_only),
};

TEST_MAIN(cases)
