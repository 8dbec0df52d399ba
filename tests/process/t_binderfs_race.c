// SPDX-License-Identifier: MIT
/*
 * A binderfs of a kernel driver under many processes at once, some of them
 * killed, and with each of its allocations failing.
 */
#include "bc.h"
#include "child.h"
#include "harness.h"
#include "instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A short look at everything, by many, while processes come and go. */
static void look(void *arg)
{
	atomic_int *stop = arg;

	while (!atomic_load(stop)) {
		DIR *dir = opendir(instance_path("a", "binder_logs/proc"));
		struct dirent *de;

		CHECK(dir);
		while ((de = readdir(dir))) {
			char name[320], *text;

			snprintf(name, sizeof(name), "binder_logs/proc/%s", de->d_name);
			text = NULL;
			if (de->d_type == DT_REG)
				text = test_read_file(instance_path("a", name));
			CHECK(!text || !strncmp(text, "binder proc state:\n", 19));
			free(text);
		}
		closedir(dir);
		free(test_read_file(instance_path("a", "binder_logs/state")));
	}
}

static void open_and_die(void *arg)
{
	int n = 1 + *(int *)arg % 3;

	while (n--)
		CHECK(instance_opens("a", "binder") && instance_open("a", "binder") >= 0);
	if (*(int *)arg % 2)
		kill(getpid(), SIGKILL);
}

static void test_process_files_under_churn(void)
{
	atomic_int *stop = test_share(sizeof(*stop));
	pid_t looker[3];
	int status;

	instance_begin();
	instance_mount("a", "stats=global");
	for (size_t i = 0; i < ARRAY_SIZE(looker); i++)
		looker[i] = test_spawn(look, stop);
	for (int i = 0; i < 150; i++) {
		pid_t pid = test_spawn(open_and_die, &i);

		CHECK(test_reap(pid, &status, TEST_WAIT_S));
		CHECK(!WIFEXITED(status) || !WEXITSTATUS(status));
	}
	test_post(stop);
	for (size_t i = 0; i < ARRAY_SIZE(looker); i++)
		test_join(looker[i]);
	CHECK_EQ(umount2(instance_path("a", ""), 0), 0);
}

/* ---- many at once -------------------------------------------------------- */

struct race {
	atomic_int stop;
	atomic_int rounds;
	atomic_uint seed;
};

/* Any of it may fail, in ways that are right: all names are shared. */
static void race_step(unsigned int *seed)
{
	char one[16], two[16];
	int err, fd;

	snprintf(one, sizeof(one), "race%d", rand_r(seed) % 5);
	snprintf(two, sizeof(two), "race%d", rand_r(seed) % 5);
	switch (rand_r(seed) % 6) {
	case 0:
	case 1:
		err = instance_try_add("a", one, NULL);
		CHECK(!err || err == EEXIST || err == ENOSPC);
		break;
	case 2:
		CHECK(!unlink(instance_path("a", one)) || errno == ENOENT);
		break;
	case 3:
		CHECK(!rename(instance_path("a", one), instance_path("a", two)) || errno == ENOENT);
		break;
	case 4:
		err = instance_rename(one, two, RENAME_EXCHANGE);
		CHECK(!err || err == ENOENT);
		break;
	default:
		fd = instance_open("a", one);
		CHECK(fd >= 0 || errno == ENOENT);
		if (fd < 0)
			break;
		unlink(instance_path("a", one));
		CHECK(instance_fd_works(fd));
		close(fd);
	}
}

static void racing(void *arg)
{
	struct race *race = arg;
	unsigned int seed = atomic_fetch_add(&race->seed, 1);

	while (!atomic_load(&race->stop)) {
		race_step(&seed);
		test_post(&race->rounds);
	}
}

/* After a race: no name and no count is left over. */
static void check_room(unsigned int room)
{
	char name[16];

	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "race%d", i);
		CHECK(!unlink(instance_path("a", name)) || errno == ENOENT);
	}
	for (unsigned int i = 0; i < room; i++) {
		snprintf(name, sizeof(name), "room%u", i);
		CHECK_EQ(instance_try_add("a", name, NULL), 0);
	}
	CHECK_EQ(instance_try_add("a", "toomany", NULL), ENOSPC);
}

static void test_adding_removing_and_renaming_at_once(void)
{
	struct race *race = test_share(sizeof(*race));
	char options[32];
	pid_t pids[6];

	instance_begin();
	instance_mount("b", NULL);
	snprintf(options, sizeof(options), "max=%u", instance_devices("b") + 5);
	instance_mount("a", options);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		pids[i] = test_spawn(racing, race);
	test_await(&race->rounds, 6000);
	test_post(&race->stop);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		test_join(pids[i]);
	check_room(5);
	CHECK_EQ(umount2(instance_path("a", ""), 0), 0);
}

static void test_killed_while_adding_and_removing(void)
{
	struct race *race = test_share(sizeof(*race));
	unsigned int seed = 1;
	char options[32];
	pid_t pids[4];

	instance_begin();
	instance_mount("b", NULL);
	snprintf(options, sizeof(options), "max=%u", instance_devices("b") + 5);
	instance_mount("a", options);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		pids[i] = test_spawn(racing, race);
	for (int i = 0; i < 120; i++) {
		size_t victim = i % ARRAY_SIZE(pids);

		test_await(&race->rounds, atomic_load(&race->rounds) + rand_r(&seed) % 10);
		test_kill(pids[victim]);
		pids[victim] = test_spawn(racing, race);
	}
	test_post(&race->stop);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		test_join(pids[i]);
	check_room(5);
	CHECK_EQ(umount2(instance_path("a", ""), 0), 0);
}

/* Mounts that come and go, each with a user whom nobody waits for. */
static void mounting(void *arg)
{
	struct race *race = arg;
	unsigned int seed = atomic_fetch_add(&race->seed, 1);
	char instance[16];

	snprintf(instance, sizeof(instance), "m%u", seed);
	while (!atomic_load(&race->stop)) {
		int fd;

		instance_mount(instance, rand_r(&seed) % 2 ? "stats=global" : NULL);
		CHECK_EQ(instance_try_mount("full", "max=0"), ENOSPC);
		CHECK_EQ(instance_try_add(instance, "x", NULL), 0);
		fd = instance_open(instance, "x");
		CHECK_GE(fd, 0);
		CHECK_EQ(umount2(instance_path(instance, ""), MNT_DETACH), 0);
		CHECK(instance_fd_works(fd));
		close(fd);
		test_post(&race->rounds);
	}
}

static void test_mounting_and_unmounting_at_once(void)
{
	struct race *race = test_share(sizeof(*race));
	pid_t pids[4];

	instance_begin();
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		pids[i] = test_spawn(mounting, race);
	for (int i = 1; i <= 20; i++) {
		test_await(&race->rounds, i * 10);
		test_kill(pids[0]);
		pids[0] = test_spawn(mounting, race);
	}
	test_post(&race->stop);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		test_join(pids[i]);
}

/* ---- out of memory ------------------------------------------------------- */

static void set_fault(const char *name, const char *value)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		test_skip("no fault injection in this kernel: %s: %s", path, strerror(errno));
	CHECK_EQ(write(fd, value, strlen(value)), (ssize_t)strlen(value));
	close(fd);
}

static int step_mount(void)
{
	return mount("binder", instance_path("a", ""), instance_type(), 0,
		     "stats=global,max=9") ? errno : 0;
}

static int step_control; /* a descriptor of binder-control */

static int step_add(void)
{
	struct binderfs_device device = { .name = "step" };

	return ioctl(step_control, BINDER_CTL_ADD, &device) ? errno : 0;
}

static int step_read(const char *name)
{
	int fd = open(instance_path("a", name), O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : close(fd);
}

static int step_state(void)
{
	return step_read("binder_logs/state");
}

static int step_proc(void)
{
	char name[64];

	snprintf(name, sizeof(name), "binder_logs/proc/%d", getpid());
	return step_read(name);
}

static int step_open(void)
{
	int fd = instance_open("a", "binder");

	return fd < 0 ? errno : close(fd);
}

/*
 * Let the first allocation of a step fail, then the second, and so on, until it
 * makes fewer. Copies to and from users are among what fails, also those of the
 * file that says so. Return: in how many rounds the step failed.
 */
static int each_allocation_fails(int (*step)(void), void (*undo)(void))
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC), failed = 0;

	CHECK_GE(fd, 0);
	for (int n = 1; n < 3000; n++) {
		char text[16] = "";
		bool last;
		int err;

		snprintf(text, sizeof(text), "%d", n);
		CHECK_EQ(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
		err = step();
		memset(text, 0, sizeof(text));
		last = pread(fd, text, sizeof(text) - 1, 0) < 1 || atoi(text) > 0;
		while (pwrite(fd, "0", 1, 0) != 1)
			;
		if (err && err != ENOMEM && err != EFAULT)
			FAIL("with allocation %d failing: %s", n, strerror(err));
		failed += !!err;
		if (!err && undo)
			undo();
		if (last) {
			CHECK_EQ(err, 0);
			close(fd);
			return failed;
		}
	}
	FAIL("3000 allocations are not all");
}

static void undo_mount(void)
{
	CHECK_EQ(umount2(instance_path("a", ""), 0), 0);
}

static void undo_add(void)
{
	CHECK_EQ(unlink(instance_path("a", "step")), 0);
}

static void test_each_allocation_fails(void)
{
	int fd;

	instance_begin();
	set_fault("failslab/verbose", "0");
	set_fault("fail_usercopy/verbose", "0");
	set_fault("failslab/ignore-gfp-wait", "N");
	CHECK_EQ(mkdir(instance_path("a", ""), 0755), 0);
	CHECK_GE(each_allocation_fails(step_mount, undo_mount), 20);
	instance_mount("a", "stats=global,max=9");
	step_control = open(instance_path("a", "binder-control"), O_RDONLY | O_CLOEXEC);
	CHECK_GE(step_control, 0);
	CHECK_GE(each_allocation_fails(step_add, undo_add), 5);
	close(step_control);
	CHECK_GE(each_allocation_fails(step_state, NULL), 1);
	CHECK_GE(each_allocation_fails(step_open, NULL), 1);
	fd = instance_open("a", "binder");
	CHECK_GE(fd, 0);
	CHECK_GE(each_allocation_fails(step_proc, NULL), 3);
	close(fd);
	set_fault("failslab/ignore-gfp-wait", "Y");
	/* nothing that failed has taken up room */
	for (unsigned int n = instance_devices("a"); n < 9; n++) {
		char name[16];

		snprintf(name, sizeof(name), "room%u", n);
		CHECK_EQ(instance_try_add("a", name, NULL), 0);
	}
	CHECK_EQ(instance_try_add("a", "toomany", NULL), ENOSPC);
}

static const struct test_case cases[] = {
	CASE(test_process_files_under_churn),
	CASE(test_adding_removing_and_renaming_at_once),
	CASE(test_killed_while_adding_and_removing),
	CASE(test_mounting_and_unmounting_at_once),
	CASE(test_each_allocation_fails),
};

TEST_MAIN(cases)
