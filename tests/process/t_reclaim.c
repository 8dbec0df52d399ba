// SPDX-License-Identifier: MIT
/*
 * What nobody uses goes back to the system: when asked, when it was idle for a
 * while, when memory is short. What somebody uses stays, and stays right.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "mapping.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534

static void reclaim(const char *what)
{
	CHECK_EQ(driver_reclaim(what), 0);
}

/* ---- many idle processes ------------------------------------------------------ */

#define CROWD 100
#define USED_BYTES (1024 * 1024ul)
/* What the daemon may keep of each: 32 bytes for each page of the mapping, and a little. */
#define METADATA_KB (BC_MAP_MAX / PAGE * 32 / 1024 + 16)

static struct crowd {
	atomic_int used;
	atomic_int look;
	atomic_int looked;
	atomic_int turn;
	size_t resident[CROWD];
} *crowd;

static void echo_big(struct client *c, unsigned int seed)
{
	uint8_t *data = pattern_new(USED_BYTES, seed);
	struct binder_transaction_data reply;
	struct msg m;

	msg_init(&m);
	msg_ext(&m, data, USED_BYTES);
	bt_call_ok(&c->t, 0, CODE_ECHO, &m, &reply);
	CHECK_EQ(reply.data_size, USED_BYTES);
	pattern_check(tr_data(&reply), USED_BYTES, seed);
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
	free(data);
}

static void use_a_mebibyte_and_wait(void *arg)
{
	unsigned int who = *(int *)arg;
	struct client *c = calloc(1, sizeof(*c));

	bc_open(&c->b, BC_MAP_MAX);
	bt_init(&c->t, &c->b);
	/* one after the other: the server has room for a few */
	test_await(&crowd->used, who);
	echo_big(c, who);
	test_post(&crowd->used);
	for (int i = 1; i <= 2; i++) {
		test_await(&crowd->look, i);
		crowd->resident[who] = mapping_resident(c->b.map, BC_MAP_MAX);
		test_post(&crowd->looked);
	}
	test_await(&crowd->turn, 1 + who);
	echo_big(c, who + 1000);
	test_post(&crowd->turn);
}

/*
 * What the daemon has in memory, in kB. Its part of the mappings is shared
 * memory, or its own where clients map their page cache.
 */
static long daemon_kb(void)
{
	pid_t daemon = driver_own_pid();

	return test_status_kb(daemon, "RssShmem") + test_status_kb(daemon, "RssAnon");
}

/* All pages behind all mappings, whether or not somebody has them in a page table. */
static size_t crowd_resident(int look)
{
	size_t sum = 0;

	test_set(&crowd->look, look);
	test_await(&crowd->looked, look * CROWD);
	for (int i = 0; i < CROWD; i++)
		sum += crowd->resident[i];
	return sum;
}

static void test_100_idle_processes_shrink_to_their_metadata(void)
{
	struct server s = { .map_size = BC_MAP_MAX };
	long before;
	int who[CROWD];
	pid_t pids[CROWD];
	size_t used;

	crowd = test_share(sizeof(*crowd));
	server_start(&s);
	reclaim("3");
	before = daemon_kb();
	for (int i = 0; i < CROWD; i++) {
		who[i] = i;
		pids[i] = test_spawn(use_a_mebibyte_and_wait, &who[i]);
	}
	test_await(&crowd->used, CROWD);
	used = crowd_resident(1);
	CHECK_GE(used, CROWD * USED_BYTES / PAGE);
	CHECK_GE(daemon_kb() - before, CROWD * (long)USED_BYTES / 1024);
	/* the server frees a buffer with its next call */
	bt_ping(&client_open()->t, 0, CODE_NULL);
	reclaim("3");
	CHECK_EQ(crowd_resident(2), 0);
	if (!driver_is_sanitized())
		CHECK_LE(daemon_kb() - before, CROWD * (long)METADATA_KB);
	/* and nobody has lost anything by it */
	test_post(&crowd->turn);
	test_await(&crowd->turn, 1 + CROWD);
	for (int i = 0; i < CROWD; i++)
		test_join(pids[i]);
	server_stop(&s);
}

/* ---- what is used stays --------------------------------------------------------- */

static void test_received_and_not_freed_stays(void)
{
	struct pair *p = pair_open_sized(BC_MAP_MAX, BC_MAP_MAX);
	struct bt_ret held, ret;

	mapping_receive(p, 300000, 1, &held);
	mapping_answer(p, &held);
	mapping_receive(p, 300000, 2, &held);
	reclaim("3");
	CHECK_EQ(mapping_resident(p->sb.map, BC_MAP_MAX), (300000 + PAGE - 1) / PAGE);
	pattern_check(tr_data(&held.tr), 300000, 2);
	mapping_answer(p, &held);
	reclaim("1");
	CHECK_EQ(mapping_resident(p->sb.map, BC_MAP_MAX), 0);
	mapping_receive(p, 300000, 3, &ret);
	pattern_check(tr_data(&ret.tr), 300000, 3);
	mapping_answer(p, &ret);
	pair_close(p);
}

/* ---- stray pages ------------------------------------------------------------------ */

/* Return: the whole file, writable: what a kernel driver would refuse. */
static uint8_t *map_writable(struct bc *b)
{
	void *at = mmap(NULL, BC_MAP_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void test_what_a_client_stores_around_its_buffers_goes(void)
{
	struct pair *p = pair_open_sized(1024 * 1024, 0);
	size_t held_pages = (100000 + PAGE - 1) / PAGE;
	uint8_t *own = map_writable(&p->sb);
	struct bt_ret held;
	size_t first;

	mapping_receive(p, 100000, 1, &held);
	first = ((const uint8_t *)tr_data(&held.tr) - p->sb.map) / PAGE;
	/* within the mapping, and behind its end */
	for (size_t i = 0; i < BC_MAP_MAX / PAGE; i++)
		if (i < first || i >= first + held_pages)
			own[i * PAGE] = 1;
	CHECK_EQ(mapping_resident(own, BC_MAP_MAX), BC_MAP_MAX / PAGE);
	reclaim("2");
	CHECK_EQ(mapping_resident(own, BC_MAP_MAX), held_pages);
	pattern_check(tr_data(&held.tr), 100000, 1);
	mapping_answer(p, &held);
	CHECK_EQ(munmap(own, BC_MAP_MAX), 0);
	mapping_round_trip(p, 200000, 2);
	pair_close(p);
}

/* Nothing was ever sent to it, so the driver does not even know that it has mapped. */
static void test_what_a_client_stores_into_an_unused_device_goes(void)
{
	uint8_t *own;
	struct bc b;

	bc_open(&b, BC_MAP_SIZE);
	own = map_writable(&b);
	memset(own, 7, BC_MAP_SIZE);
	CHECK_EQ(mapping_resident(b.map, BC_MAP_SIZE), BC_MAP_SIZE / PAGE);
	reclaim("1");
	CHECK_EQ(mapping_resident(b.map, BC_MAP_SIZE), BC_MAP_SIZE / PAGE);
	reclaim("2");
	CHECK_EQ(mapping_resident(b.map, BC_MAP_SIZE), 0);
	CHECK_EQ(b.map[5 * PAGE], 0);
	munmap(own, BC_MAP_MAX);
	bc_close(&b);
}

/* ---- while much goes on ------------------------------------------------------------ */

#define STORM_CLIENTS 3
#define STORM_CALLS 400
#define STORM_BYTES 60000
#define STORM_ROUNDS 50

static struct storm {
	atomic_int rounds;
	atomic_int over;
} *storm;

static void reclaim_for_ever(void *arg)
{
	while (!atomic_load(&storm->over)) {
		reclaim("3");
		test_post(&storm->rounds);
	}
}

/* Makes strays all the time, in mappings of its own that come and go. */
static void scribble_for_ever(void *arg)
{
	while (!atomic_load(&storm->over)) {
		uint8_t *own;
		struct bc b;

		bc_open(&b, 0);
		own = map_writable(&b);
		for (int i = 0; i < 20; i++)
			for (size_t at = 0; at < BC_MAP_MAX; at += 16 * PAGE)
				own[at] = 1;
		munmap(own, BC_MAP_MAX);
		bc_close(&b);
	}
}

static void call_with_all_sizes(void *arg)
{
	unsigned int seed = *(int *)arg;
	uint8_t *data = malloc(STORM_BYTES);
	struct client *c = client_open();

	for (unsigned int i = 0; i < STORM_CALLS || atomic_load(&storm->rounds) < STORM_ROUNDS;
	     i++) {
		struct binder_transaction_data reply;
		size_t n = rand_r(&seed) % STORM_BYTES;
		struct msg m;

		pattern_fill(data, n, i);
		msg_init(&m);
		msg_ext(&m, data, n);
		bt_call_ok(&c->t, 0, CODE_ECHO, &m, &reply);
		CHECK_EQ(reply.data_size, n);
		pattern_check(tr_data(&reply), n, i);
		bt_free(&c->t, reply.data.ptr.buffer);
		bt_flush(&c->t);
	}
}

static void test_data_is_right_while_memory_is_reclaimed(void)
{
	struct server s = { .threads = 2, .map_size = 1024 * 1024 };
	pid_t pids[STORM_CLIENTS], reclaimer, scribbler;
	int number[STORM_CLIENTS];

	storm = test_share(sizeof(*storm));
	server_start(&s);
	reclaimer = test_spawn(reclaim_for_ever, NULL);
	scribbler = test_spawn(scribble_for_ever, NULL);
	for (int i = 0; i < STORM_CLIENTS; i++) {
		number[i] = i;
		pids[i] = test_spawn(call_with_all_sizes, &number[i]);
	}
	for (int i = 0; i < STORM_CLIENTS; i++)
		test_join(pids[i]);
	test_post(&storm->over);
	test_join(reclaimer);
	test_join(scribbler);
	server_stop(&s);
}

static void write_for_ever(void *arg)
{
	test_post(arg);
	for (;;)
		driver_reclaim("3");
}

/* Who waits for the answer may go at any moment. */
static void test_killed_while_it_reclaims_is_gone(void)
{
	for (int i = 0; i < 20; i++) {
		atomic_int *begun = test_share(sizeof(*begun));
		pid_t pid = test_spawn(write_for_ever, begun);

		test_await(begun, 1);
		test_sleep_ms(i % 5);
		test_kill(pid);
		reclaim("3");
	}
}

/* A page that nobody has touched, and that nobody will ever give. */
static uint8_t *absent_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	uint8_t *page;

	if (fd < 0)
		test_skip("no userfaultfd: %s", strerror(errno));
	CHECK_EQ(ioctl(fd, UFFDIO_API, &api), 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	reg.range.start = (uintptr_t)page;
	reg.range.len = PAGE;
	CHECK_EQ(ioctl(fd, UFFDIO_REGISTER, &reg), 0);
	return page;
}

static void write_what_never_comes(void *arg)
{
	uint8_t *page = absent_page();
	struct bc b;

	bc_open(&b, 0);
	test_set(arg, test_gettid());
	pwrite(b.fd, page, PAGE, 0);
	test_set(arg, -1);
}

static void reclaim_all(void *arg)
{
	reclaim("3");
}

/* In write() a file is locked while the bytes are fetched, and punching holes wants that lock. */
static void test_write_that_never_ends_does_not_stop_reclaim(void)
{
	atomic_int *tid = test_share(sizeof(*tid));
	pid_t pid = test_spawn(write_what_never_comes, tid);

	test_await(tid, 1);
	for (int asleep = 0; asleep < 20 && atomic_load(tid) > 0; test_sleep_ms(5))
		asleep = strchr("SD", test_state(*tid)) ? asleep + 1 : 0;
	for (int i = 0; i < 3; i++)
		test_join(test_spawn(reclaim_all, NULL));
	test_kill(pid);
}

static void test_devices_cannot_be_written(void)
{
	char data[100] = { 0 };
	struct bc b;

	bc_open(&b, 0);
	CHECK_EQ(write(b.fd, data, sizeof(data)), -1);
	CHECK_EQ(errno, EINVAL);
	bc_close(&b);
}

/* ---- who may, and what --------------------------------------------------------------- */

static void as_nobody(void *arg)
{
	int fd = *(int *)arg;

	CHECK_EQ(setresuid(NOBODY, NOBODY, NOBODY), 0);
	CHECK_EQ(driver_reclaim("1"), -EACCES);
	/* nor with a descriptor that it was given */
	CHECK_EQ(write(fd, "1", 1), -1);
	CHECK_EQ(errno, EPERM);
}

static void test_only_root_may_and_is_told_of_mistakes(void)
{
	static const char *const wrong[] = { "0", "4", "", "1 ", "11", "x", "1\n\n" };
	char path[512], *log;
	int fd;

	snprintf(path, sizeof(path), "%s/binder_logs/reclaim", driver_dir());
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	CHECK_GE(fd, 0);
	CHECK_EQ(write(fd, "1\n", 2), 2);
	CHECK_EQ(write(fd, "3", 1), 1);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CHECK(!*wrong[i] || (write(fd, wrong[i], strlen(wrong[i])) < 0 && errno == EINVAL));
	test_join(test_spawn(as_nobody, &fd));
	close(fd);
	CHECK(open(path, O_RDONLY | O_CLOEXEC) < 0 || test_read_file(path)[0] == '\0');
	log = driver_own_log();
	CHECK(strstr(log, "binder_logs/reclaim takes 1"));
	CHECK(strstr(log, "uid 65534) may not reclaim memory"));
	free(log);
}

/* ---- by itself ------------------------------------------------------------------------ */

/* Opens a device of this daemon, not the harness's. */
static void open_at(const struct daemon *d, struct bc *b, struct bt *t)
{
	CHECK_EQ(bc_try_open(b, d->device, 0, BC_MAP_SIZE), 0);
	bt_init(t, b);
}

static void echo(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	msg_ext(reply, tr_data(tr), tr->data_size);
}

struct echoer {
	const struct daemon *d;
	atomic_int *ready;
};

static void echo_for_ever(void *arg)
{
	struct echoer *e = arg;
	struct bt t;
	struct bc b;

	open_at(e->d, &b, &t);
	CHECK_EQ(bc_become_manager(&b), 0);
	t.handler = echo;
	test_post(e->ready);
	bt_loop(&t);
}

static bool three_resident(void *arg)
{
	struct bc *b = arg;

	return mapping_resident(b->map, b->map_size) == 3;
}

/* Of ten pages that were used, three still are; one more the client put there itself. */
static void test_idle_pages_go_after_a_while(void)
{
	struct daemon d = { .option = "--idle-reclaim=1" };
	struct echoer e = { &d, test_share(sizeof(atomic_int)) };
	struct binder_transaction_data used, held;
	uint8_t *own, *data = pattern_new(10 * PAGE, 1);
	struct msg m;
	struct bt t;
	struct bc b;
	pid_t pid;

	CHECK(daemon_prepare(&d));
	CHECK(daemon_start(&d));
	pid = test_spawn(echo_for_ever, &e);
	test_await(e.ready, 1);
	open_at(&d, &b, &t);
	msg_init(&m);
	msg_ext(&m, data, 3 * PAGE);
	bt_call_ok(&t, 0, 1, &m, &held);
	msg_ext(&m, data, 7 * PAGE);
	bt_call_ok(&t, 0, 1, &m, &used);
	own = map_writable(&b);
	own[20 * PAGE] = 1;
	CHECK_EQ(mapping_resident(b.map, b.map_size), 11);
	bt_free(&t, used.data.ptr.buffer);
	bt_flush(&t);
	test_eventually(three_resident, &b);
	/* a few times around the clock */
	test_sleep_ms(2500);
	CHECK(three_resident(&b));
	pattern_check(tr_data(&held), 3 * PAGE, 1);
	munmap(own, BC_MAP_MAX);
	bc_close(&b);
	test_kill(pid);
	CHECK(daemon_stop(&d));
	daemon_remove(&d);
}

/* ---- when memory is short ---------------------------------------------------------------- */

static void burn(void *arg)
{
	for (;;)
		;
}

static bool none_resident(void *arg)
{
	struct bc *b = arg;

	return !mapping_resident(b->map, b->map_size);
}

/*
 * To make memory short would hurt whoever else is on this machine. So the daemon
 * is shown how short CPU time is in its place, which is told in the same way.
 */
static void reclaimed_under_pressure_at(const char *place)
{
	struct daemon d = { .option = "--idle-reclaim=0" };
	int burners = 2 * sysconf(_SC_NPROCESSORS_ONLN);
	uint8_t *own;
	struct bt t;
	struct bc b;

	CHECK_EQ(unshare(CLONE_NEWNS), 0);
	if (access(place, F_OK) || mount("/proc/pressure/cpu", place, NULL, MS_BIND, NULL))
		test_skip("no %s: the kernel does not tell of pressure there", place);
	CHECK(daemon_prepare(&d));
	CHECK(daemon_start(&d));
	open_at(&d, &b, &t);
	own = map_writable(&b);
	memset(own, 7, 16 * PAGE);
	CHECK_EQ(mapping_resident(b.map, b.map_size), 16);
	for (int i = 0; i < burners; i++)
		test_spawn(burn, NULL);
	test_eventually(none_resident, &b);
	munmap(own, BC_MAP_MAX);
	bc_close(&b);
	CHECK(daemon_stop(&d));
	daemon_remove(&d);
}

static void test_idle_pages_go_when_the_machine_is_short_of_memory(void)
{
	reclaimed_under_pressure_at("/proc/pressure/memory");
}

/* Where the hierarchy is mounted differs; some mount it beside version 1. */
static void test_idle_pages_go_when_the_cgroup_is_short_of_memory(void)
{
	char *mounts = test_read_file("/proc/self/mountinfo"), *own, *at, path[512], point[256];

	at = mounts ? strstr(mounts, " - cgroup2 ") : NULL;
	while (at && at > mounts && at[-1] != '\n')
		at--;
	own = test_read_file("/proc/self/cgroup");
	if (!at || sscanf(at, "%*d %*d %*s / %255s", point) != 1 || !own ||
	    !(own = strstr(own, "0::")))
		test_skip("no cgroup of version 2 here");
	own[strcspn(own, "\n")] = '\0';
	snprintf(path, sizeof(path), "%s%s/memory.pressure", point, own + 3);
	reclaimed_under_pressure_at(path);
}

static const struct test_case cases[] = {
	CASE_FLAGS(test_100_idle_processes_shrink_to_their_metadata, TEST_OWN_DAEMON | TEST_LONG),
	CASE_FLAGS(test_received_and_not_freed_stays, TEST_OWN_DAEMON),
	CASE_FLAGS(test_what_a_client_stores_around_its_buffers_goes, TEST_OWN_DAEMON),
	CASE_FLAGS(test_what_a_client_stores_into_an_unused_device_goes, TEST_OWN_DAEMON),
	CASE_FLAGS(test_data_is_right_while_memory_is_reclaimed, TEST_OWN_DAEMON | TEST_LONG),
	CASE_FLAGS(test_killed_while_it_reclaims_is_gone, TEST_OWN_DAEMON),
	CASE_FLAGS(test_write_that_never_ends_does_not_stop_reclaim, TEST_OWN_DAEMON),
	CASE_FLAGS(test_devices_cannot_be_written, TEST_OWN_DAEMON),
	CASE_FLAGS(test_only_root_may_and_is_told_of_mistakes, TEST_OWN_DAEMON),
	CASE_FLAGS(test_idle_pages_go_after_a_while, TEST_OWN_DAEMON),
	CASE_FLAGS(test_idle_pages_go_when_the_machine_is_short_of_memory, TEST_OWN_DAEMON),
	CASE_FLAGS(test_idle_pages_go_when_the_cgroup_is_short_of_memory, TEST_OWN_DAEMON),
};

TEST_MAIN(cases)
