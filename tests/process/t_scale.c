// SPDX-License-Identifier: MIT
/*
 * A thousand processes at once: as clients, as services, as nothing but
 * connected; and what the daemon spends on each.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N 1000

/* What a client of libbinder maps. */
#define USUAL_MAP (1024 * 1024 - 2 * 4096)

static struct scale {
	atomic_int ready;
	atomic_int go;
	atomic_int done;
} *scale;

struct who {
	int number;
};

/* The kernel needs some for each; a small guest has not got it. */
#define NEEDS_KB (1024 * 1024L)

static void need_memory(void)
{
	char *text = test_read_file("/proc/meminfo"), *at;
	long kb = 0;

	at = text ? strstr(text, "MemAvailable:") : NULL;
	if (at && sscanf(at, "MemAvailable: %ld", &kb) == 1 && kb < NEEDS_KB)
		test_skip("%ld MiB of memory: too little for %d processes", kb / 1024, N);
	free(text);
}

static pid_t *crowd_start(void (*fn)(void *arg))
{
	pid_t *pids = calloc(N, sizeof(*pids));
	struct who *who = calloc(N, sizeof(*who));

	for (int i = 0; i < N; i++) {
		who[i].number = i + 1;
		pids[i] = test_spawn(fn, &who[i]);
	}
	free(who);
	return pids;
}

static void crowd_join(pid_t *pids)
{
	for (int i = 0; i < N; i++)
		test_join(pids[i]);
	free(pids);
}

static void crowd_kill(pid_t *pids)
{
	int status;

	for (int i = 0; i < N; i++)
		CHECK_EQ(kill(pids[i], SIGKILL), 0);
	for (int i = 0; i < N; i++)
		CHECK(test_reap(pids[i], &status, TEST_WAIT_S));
	free(pids);
}

static void echo_once(struct bt *t, uint32_t handle, uint32_t value)
{
	struct binder_transaction_data reply;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, value);
	bt_call_ok(t, handle, CODE_ECHO, &m, &reply);
	CHECK_EQ(reply.data_size, sizeof(value));
	CHECK_EQ(tr_u32(&reply, 0), value);
	bt_free(t, reply.data.ptr.buffer);
	bt_flush(t);
}

/* ---- clients ------------------------------------------------------------------ */

#define CALLS 20

static void call_when_all_are_there(void *arg)
{
	const struct who *who = arg;
	struct client *c = client_open();

	test_post(&scale->ready);
	test_await(&scale->go, 1);
	for (unsigned int i = 0; i < CALLS; i++)
		echo_once(&c->t, 0, who->number * CALLS + i);
}

static void test_1000_processes_call_one_server(void)
{
	struct server s = { .threads = 3, .map_size = BC_MAP_MAX };
	pid_t *pids;

	need_memory();
	scale = test_share(sizeof(*scale));
	server_start(&s);
	pids = crowd_start(call_when_all_are_there);
	test_await(&scale->ready, N);
	test_set(&scale->go, 1);
	crowd_join(pids);
	CHECK_EQ(atomic_load(&s.shared->served), N * CALLS);
	server_stop(&s);
}

/* ---- services ------------------------------------------------------------------- */

static void test_1000_services_are_found_and_called(void)
{
	struct server m = { .map_size = BC_MAP_MAX }, *s = calloc(N + 1, sizeof(*s));
	struct server_shared *shared = test_share((N + 1) * sizeof(*shared));
	struct client *c;

	need_memory();
	server_start(&m);
	for (int i = 1; i <= N; i++) {
		s[i].id = i;
		s[i].shared = &shared[i];
		server_start(&s[i]);
	}
	c = client_open();
	for (int i = 1; i <= N; i++) {
		struct binder_transaction_data reply;
		uint32_t handle = registry_get(&c->t, i);

		bt_call_ok(&c->t, handle, CODE_WHO, NULL, &reply);
		CHECK_EQ(tr_u32(&reply, 0), getpid());
		CHECK_EQ(tr_u32(&reply, 2), s[i].pid);
		bt_free(&c->t, reply.data.ptr.buffer);
		echo_once(&c->t, handle, i);
	}
	for (int i = 1; i <= N; i++)
		CHECK_EQ(atomic_load(&shared[i].served), 2);
	free(s);
}

/* ---- the daemon ends under load ----------------------------------------------------- */

#define CALLERS 100
#define SERVERS 4
#define GENERATIONS 4

static struct load {
	atomic_int served; /* servers that have begun, all generations */
	atomic_int called; /* callers that have got an answer, all generations */
	atomic_int failed; /* callers and servers that have got an error, all generations */
} *load;

static const struct daemon *under_load;

static void open_when_it_is_back(struct bc *b, struct bt *t)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;
	int err;

	while ((err = bc_try_open(b, under_load->device, 0, BC_MAP_SIZE)) && test_now_ms() < end)
		test_sleep_ms(5);
	CHECK_EQ(err, 0);
	bt_init(t, b);
}

/* One read, as a driver's end lets it be. Return: 0 or the error of the ioctl. */
static int wait_for(struct bt *t, struct bt_ret *ret)
{
	int err = 0;

	while (!bt_next(t, ret)) {
		err = bt_ioctl(t, true);
		if (err && err != -EINTR)
			return err;
	}
	return 0;
}

/* The first server is the manager, and takes the calls; the others only wait. */
static void serve_each_daemon(void *arg)
{
	bool first = ((const struct who *)arg)->number == 1;
	struct bt *t = malloc(sizeof(*t));

	for (int i = 0; i < GENERATIONS; i++) {
		struct bt_ret ret;
		struct bc b;

		open_when_it_is_back(&b, t);
		if (first)
			CHECK_EQ(bc_become_manager(&b), 0);
		bt_enter(t);
		test_post(&load->served);
		while (!wait_for(t, &ret)) {
			if (ret.cmd != BR_TRANSACTION)
				continue;
			bt_free(t, ret.tr.data.ptr.buffer);
			bt_send(t, BC_REPLY, 0, 0, 0, NULL);
		}
		test_post(&load->failed);
		bc_close(&b);
	}
	free(t);
}

/* Calls until the driver fails it. Return: calls answered. */
static int call_until_it_fails(struct bt *t)
{
	struct bt_ret ret;
	int answered = 0;

	for (;;) {
		bt_send(t, BC_TRANSACTION, 0, CODE_NULL, 0, NULL);
		do
			if (wait_for(t, &ret))
				return answered;
		while (ret.cmd == BR_TRANSACTION_COMPLETE || ret.cmd == BR_NOOP);
		/* dead: there is no manager yet */
		CHECK(ret.cmd == BR_REPLY || ret.cmd == BR_DEAD_REPLY);
		if (ret.cmd != BR_REPLY)
			continue;
		bt_free(t, ret.tr.data.ptr.buffer);
		if (!answered++)
			test_post(&load->called);
	}
}

static void call_each_daemon(void *arg)
{
	struct bt *t = malloc(sizeof(*t));

	for (int i = 0; i < GENERATIONS; i++) {
		struct bc b;

		open_when_it_is_back(&b, t);
		CHECK_GE(call_until_it_fails(t), 1);
		test_post(&load->failed);
		bc_close(&b);
	}
	free(t);
}

/* Without its unmounting, or with. Whoever waits is told at once, before the next one is up. */
static void daemon_ends_under_load(struct daemon *d, int sig)
{
	int status;

	CHECK_EQ(kill(d->pid, sig), 0);
	CHECK(test_reap(d->pid, &status, TEST_WAIT_S));
	d->pid = 0;
}

static void test_daemon_restarted_under_load_serves_all_again(void)
{
	struct who who[CALLERS + SERVERS];
	pid_t pids[CALLERS + SERVERS];
	struct daemon d = { 0 };

	load = test_share(sizeof(*load));
	CHECK(daemon_prepare(&d));
	CHECK(daemon_start(&d));
	under_load = &d;
	for (int i = 0; i < CALLERS + SERVERS; i++) {
		who[i].number = i + 1;
		pids[i] = test_spawn(i < SERVERS ? serve_each_daemon : call_each_daemon, &who[i]);
	}
	for (int i = 1; i <= GENERATIONS; i++) {
		test_await(&load->served, i * SERVERS);
		test_await(&load->called, i * CALLERS);
		CHECK_EQ(atomic_load(&load->failed), (i - 1) * (CALLERS + SERVERS));
		daemon_ends_under_load(&d, i % 2 ? SIGKILL : SIGTERM);
		test_await(&load->failed, i * (CALLERS + SERVERS));
		if (i < GENERATIONS)
			CHECK(daemon_start(&d));
	}
	for (int i = 0; i < CALLERS + SERVERS; i++)
		test_join(pids[i]);
	daemon_discard(&d);
	daemon_remove(&d);
}

/* ---- what one costs ---------------------------------------------------------------- */

/* Private memory and page tables of the daemon, in bytes. */
static long daemon_memory(void)
{
	pid_t pid = driver_own_pid();

	return 1024 * (test_status_kb(pid, "VmRSS") - test_status_kb(pid, "RssShmem") +
		       test_status_kb(pid, "VmPTE"));
}

static int daemon_descriptors(void)
{
	char path[64];
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", driver_own_pid());
	dir = opendir(path);
	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Has called, has received, and waits for work. */
static void connect_and_wait(void *arg)
{
	struct client *c = calloc(1, sizeof(*c));
	const struct who *who = arg;

	bc_open(&c->b, USUAL_MAP);
	bt_init(&c->t, &c->b);
	echo_once(&c->t, 0, who->number);
	bt_enter(&c->t);
	test_post(&scale->ready);
	bt_loop(&c->t);
}

/*
 * The bound is on all that the daemon has, itself included, for each process.
 * A sanitizer's daemon keeps shadows and what was freed: nothing to learn there.
 */
#define MEMORY_MAX (24 * 1024)
/* One for each process, and a few for all: of the daemon's own and for what passes. */
#define DESCRIPTORS_FOR_ALL 64

static void test_1000_idle_processes_cost_little_each(void)
{
	struct server s = { .map_size = BC_MAP_MAX };
	int descriptors = daemon_descriptors();
	long memory;
	pid_t *pids;

	need_memory();
	scale = test_share(sizeof(*scale));
	server_start(&s);
	pids = crowd_start(connect_and_wait);
	test_await(&scale->ready, N);
	CHECK_EQ(driver_reclaim("3"), 0);
	memory = daemon_memory();
	fprintf(stderr, "  %ld bytes for each of %d processes, %d descriptors for all\n",
		memory / N, N, daemon_descriptors() - descriptors);
	if (!driver_is_sanitized())
		CHECK_LE(memory / N, MEMORY_MAX);
	CHECK_LE(daemon_descriptors() - descriptors, N + DESCRIPTORS_FOR_ALL);
	crowd_kill(pids);
	server_stop(&s);
}

static const struct test_case cases[] = {
	CASE_FLAGS(test_1000_processes_call_one_server, TEST_OWN_DAEMON | TEST_LONG),
	CASE_FLAGS(test_1000_services_are_found_and_called, TEST_OWN_DAEMON | TEST_LONG),
	CASE_FLAGS(test_daemon_restarted_under_load_serves_all_again, TEST_OWN_DAEMON | TEST_LONG),
	CASE_FLAGS(test_1000_idle_processes_cost_little_each, TEST_OWN_DAEMON | TEST_LONG),
};

TEST_MAIN(cases)
