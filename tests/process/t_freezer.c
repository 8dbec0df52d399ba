// SPDX-License-Identifier: MIT
/*
 * The waits of a kernel's driver under the cgroup freezer, SIGKILL, SIGSTOP and
 * the end of threads: a frozen task stays frozen, whatever comes for it; thawed,
 * it goes on as if nothing had been. See t_signal.c for signals in general.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a cgroup ------------------------------------------------------------------- */

struct cgroup {
	char dir[128];
};

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[192];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		FAIL("write \"%s\" to %s: %s", text, path, strerror(errno));
	close(fd);
}

static void cgroup_make(struct cgroup *g)
{
	static int nr;
	char path[192];

	snprintf(g->dir, sizeof(g->dir), "/sys/fs/cgroup/%sbinder-test-%d-%d",
		 access("/sys/fs/cgroup/unified/cgroup.procs", F_OK) ? "" : "unified/", getpid(),
		 nr++);
	if (mkdir(g->dir, 0755))
		test_skip("no writable cgroup2 at /sys/fs/cgroup");
	snprintf(path, sizeof(path), "%s/cgroup.freeze", g->dir);
	if (access(path, W_OK)) {
		rmdir(g->dir);
		test_skip("no cgroup freezer");
	}
}

static void cgroup_add(struct cgroup *g, pid_t pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", pid);
	write_file(g->dir, "cgroup.procs", text);
}

static bool has_line(struct cgroup *g, const char *line)
{
	char path[192], *text;
	bool has;

	snprintf(path, sizeof(path), "%s/cgroup.events", g->dir);
	text = test_read_file(path);
	has = text && strstr(text, line);
	free(text);
	return has;
}

static bool is_frozen(void *g)
{
	return has_line(g, "frozen 1");
}

static bool is_thawed(void *g)
{
	return has_line(g, "frozen 0");
}

static bool is_empty(void *g)
{
	return has_line(g, "populated 0");
}

static void freeze(struct cgroup *g)
{
	write_file(g->dir, "cgroup.freeze", "1");
	test_eventually(is_frozen, g);
}

static void thaw(struct cgroup *g)
{
	write_file(g->dir, "cgroup.freeze", "0");
	test_eventually(is_thawed, g);
}

/* Its processes have ended. */
static void cgroup_remove(struct cgroup *g)
{
	test_eventually(is_empty, g);
	CHECK_EQ(rmdir(g->dir), 0);
}

/* ---- servers and clients in it ----------------------------------------------------- */

struct caller {
	uint32_t code;
	unsigned int calls;
	atomic_int tid;
	atomic_int answered;
};

static void call_main(void *arg)
{
	struct caller *ca = arg;
	struct client *c = client_open();

	test_set(&ca->tid, test_gettid());
	for (unsigned int i = 0; i < ca->calls; i++) {
		bt_ping(&c->t, 0, ca->code);
		test_post(&ca->answered);
	}
}

static struct caller *caller_new(uint32_t code, unsigned int calls)
{
	struct caller *ca = test_share(sizeof(*ca));

	ca->code = code;
	ca->calls = calls;
	return ca;
}

static void test_frozen_server_serves_when_thawed(void)
{
	struct server s = { .threads = 2 };
	struct cgroup g;

	cgroup_make(&g);
	server_start(&s);
	cgroup_add(&g, s.pid);
	for (int i = 1; i <= 4; i++) {
		struct caller *ca = caller_new(CODE_NULL, 1);
		pid_t pid;

		test_await_blocked(s.pid);
		freeze(&g);
		pid = test_spawn(call_main, ca);
		test_await(&ca->tid, 1);
		test_await_blocked(ca->tid);
		/* the call is there, and wakes nobody */
		CHECK(is_frozen(&g));
		CHECK_EQ(atomic_load(&ca->answered), 0);
		thaw(&g);
		test_join(pid);
		CHECK_EQ(atomic_load(&s.shared->served), i);
	}
	server_stop(&s);
	cgroup_remove(&g);
}

static void test_frozen_client_gets_its_reply_when_thawed(void)
{
	struct server s = { 0 };
	struct cgroup g;

	cgroup_make(&g);
	server_start(&s);
	for (int i = 1; i <= 4; i++) {
		struct caller *ca = caller_new(CODE_HOLD, 1);
		pid_t pid = test_spawn(call_main, ca);

		cgroup_add(&g, pid);
		test_await(&s.shared->held, i);
		test_await_blocked(ca->tid);
		freeze(&g);
		/* the reply comes while it is frozen */
		test_post(&s.shared->go);
		test_await_blocked(s.pid);
		CHECK(is_frozen(&g));
		CHECK_EQ(atomic_load(&ca->answered), 0);
		thaw(&g);
		test_join(pid);
		CHECK_EQ(atomic_load(&ca->answered), 1);
		atomic_store(&s.shared->go, 0);
	}
	CHECK_EQ(atomic_load(&s.shared->served), 4);
	server_stop(&s);
	cgroup_remove(&g);
}

/* A frozen process can be killed, and who waits for it is told. */
static void test_frozen_server_killed_callers_get_dead(void)
{
	struct server s = { .threads = 1 };
	struct client *c;
	struct bt_ret ret;
	struct bc b;
	struct cgroup g;

	cgroup_make(&g);
	server_start(&s);
	cgroup_add(&g, s.pid);
	test_await_blocked(s.pid);
	freeze(&g);
	bc_open_nonblock(&b, 0);
	c = calloc(1, sizeof(*c));
	bt_init(&c->t, &b);
	bt_send(&c->t, BC_TRANSACTION, 0, CODE_NULL, 0, NULL);
	bt_flush(&c->t);
	bt_warm(&c->t);
	bt_quiet(&c->t);
	server_stop(&s);
	CHECK_EQ(bt_event(&c->t, &ret), BR_DEAD_REPLY);
	CHECK_EQ(atomic_load(&s.shared->served), 0);
	thaw(&g);
	bc_close(&b);
	cgroup_remove(&g);
}

static void test_frozen_client_killed_server_goes_on(void)
{
	struct caller *ca = caller_new(CODE_HOLD, 1);
	struct server s = { .threads = 1 };
	struct client *c;
	struct cgroup g;
	pid_t pid;

	cgroup_make(&g);
	server_start(&s);
	c = client_open();
	pid = test_spawn(call_main, ca);
	cgroup_add(&g, pid);
	test_await(&s.shared->held, 1);
	test_await_blocked(ca->tid);
	freeze(&g);
	test_kill(pid);
	test_post(&s.shared->go);
	for (int i = 0; i < 3; i++)
		bt_ping(&c->t, 0, CODE_NULL);
	thaw(&g);
	cgroup_remove(&g);
}

struct polling {
	atomic_int ready;
	atomic_int served;
};

static void poll_and_serve(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct polling *po = arg;
	struct bt *t = calloc(1, sizeof(*t));
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct bt_ret ret;
	struct bc b;

	bc_open_nonblock(&b, 0);
	CHECK_EQ(bc_become_manager(&b), 0);
	bt_init(t, &b);
	bt_enter(t);
	bt_settle(t);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, b.fd, &event), 0);
	test_post(&po->ready);
	for (;;) {
		if (epoll_wait(ep, &event, 1, -1) != 1) {
			CHECK_EQ(errno, EINTR);
			continue;
		}
		while (bt_try(t, &ret)) {
			CHECK_EQ(ret.cmd, BR_TRANSACTION);
			reply_to(t, &ret, 0, NULL);
			test_post(&po->served);
		}
	}
}

static void test_frozen_poller_serves_when_thawed(void)
{
	struct polling *po = test_share(sizeof(*po));
	pid_t pid = test_spawn(poll_and_serve, po);
	struct cgroup g;

	cgroup_make(&g);
	test_await(&po->ready, 1);
	cgroup_add(&g, pid);
	for (int i = 1; i <= 3; i++) {
		struct caller *ca = caller_new(CODE_NULL, 1);
		pid_t caller;

		freeze(&g);
		caller = test_spawn(call_main, ca);
		test_await(&ca->tid, 1);
		test_await_blocked(ca->tid);
		CHECK(is_frozen(&g));
		thaw(&g);
		test_join(caller);
		test_await(&po->served, i);
		CHECK_EQ(atomic_load(&po->served), i);
	}
	test_kill(pid);
	cgroup_remove(&g);
}

/* Both ends in one group, all the time. */
static void test_freezer_storm_loses_and_doubles_nothing(void)
{
	struct caller *ca[2] = { caller_new(CODE_NULL, 250), caller_new(CODE_NULL, 250) };
	struct server s = { .threads = 1 };
	pid_t pids[2];
	struct cgroup g;
	int frozen = 0;

	cgroup_make(&g);
	server_start(&s);
	cgroup_add(&g, s.pid);
	for (int i = 0; i < 2; i++) {
		pids[i] = test_spawn(call_main, ca[i]);
		cgroup_add(&g, pids[i]);
	}
	while (atomic_load(&ca[0]->answered) + atomic_load(&ca[1]->answered) < 500) {
		int before;

		CHECK(!test_failed());
		freeze(&g);
		before = atomic_load(&s.shared->served);
		test_sleep_ms(2);
		CHECK_EQ(atomic_load(&s.shared->served), before);
		thaw(&g);
		frozen++;
		test_sleep_ms(frozen % 5);
	}
	for (int i = 0; i < 2; i++)
		test_join(pids[i]);
	CHECK_EQ(atomic_load(&s.shared->served), 500);
	CHECK_GE(frozen, 2);
	server_stop(&s);
	cgroup_remove(&g);
}

/* A stop is as a freeze, but a parent sees it; both at once end when both have ended. */
static void test_stopped_and_frozen_goes_on_after_both(void)
{
	struct server s = { 0 };
	struct cgroup g;

	cgroup_make(&g);
	server_start(&s);
	cgroup_add(&g, s.pid);
	for (int i = 1; i <= 4; i++) {
		struct caller *ca = caller_new(CODE_NULL, 1);
		int status;
		pid_t pid;

		test_await_blocked(s.pid);
		CHECK_EQ(kill(s.pid, SIGSTOP), 0);
		CHECK_EQ(waitpid(s.pid, &status, WUNTRACED), s.pid);
		CHECK(WIFSTOPPED(status));
		freeze(&g);
		pid = test_spawn(call_main, ca);
		test_await(&ca->tid, 1);
		test_await_blocked(ca->tid);
		if (i & 1) {
			CHECK_EQ(kill(s.pid, SIGCONT), 0);
			CHECK_EQ(atomic_load(&ca->answered), 0);
			thaw(&g);
		} else {
			thaw(&g);
			CHECK_EQ(atomic_load(&ca->answered), 0);
			CHECK_EQ(kill(s.pid, SIGCONT), 0);
		}
		test_join(pid);
		CHECK_EQ(atomic_load(&s.shared->served), i);
	}
	server_stop(&s);
	cgroup_remove(&g);
}

/* ---- kill -9 in every wait ----------------------------------------------------------- */

struct waiter {
	int (*wait)(struct client *c);
	atomic_int tid;
};

static int wait_for_work(struct client *c)
{
	bt_enter(&c->t);
	return bt_ioctl(&c->t, true);
}

static int wait_for_reply(struct client *c)
{
	bt_send(&c->t, BC_TRANSACTION, 0, CODE_HOLD, 0, NULL);
	return bt_ioctl(&c->t, true);
}

static int wait_without_role(struct client *c)
{
	return bt_ioctl(&c->t, true);
}

static int wait_in_poll(struct client *c)
{
	struct pollfd p = { c->b.fd, POLLIN, 0 };

	return poll(&p, 1, -1);
}

static int wait_in_epoll(struct client *c)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, c->b.fd, &event), 0);
	return epoll_wait(ep, &event, 1, -1);
}

static void wait_main(void *arg)
{
	struct waiter *w = arg;
	struct client *c = client_open();

	bt_warm(&c->t);
	test_set(&w->tid, test_gettid());
	FAIL("the wait ended with %d", w->wait(c));
}

static bool sleeps(void *arg)
{
	return test_state(atomic_load((atomic_int *)arg)) == 'S';
}

static void test_kill_ends_every_wait(void)
{
	static int (*const waits[])(struct client *c) = {
		wait_for_work, wait_for_reply, wait_without_role, wait_in_poll, wait_in_epoll,
	};
	/* three will be held for good */
	struct server s = { .threads = 3 };
	struct client *c;
	struct cgroup g;

	cgroup_make(&g);
	server_start(&s);
	c = client_open();
	for (size_t i = 0; i < 3 * ARRAY_SIZE(waits); i++) {
		struct waiter *w = test_share(sizeof(*w));
		int how = i / ARRAY_SIZE(waits), status;
		pid_t pid;

		w->wait = waits[i % ARRAY_SIZE(waits)];
		pid = test_spawn(wait_main, w);
		test_await(&w->tid, 1);
		for (int j = 0; j < 4; j++)
			test_eventually(sleeps, &w->tid);
		/* as it is, stopped, frozen */
		if (how == 1) {
			CHECK_EQ(kill(pid, SIGSTOP), 0);
			CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
		} else if (how == 2) {
			cgroup_add(&g, pid);
			freeze(&g);
		}
		test_kill(pid);
		if (how == 2)
			thaw(&g);
		bt_ping(&c->t, 0, CODE_NULL);
	}
	cgroup_remove(&g);
}

/* ---- threads that end ------------------------------------------------------------------ */

struct polled {
	struct bc b;
	int ep;
	bool leaves;
	atomic_int waits;
	atomic_int woken;
};

/* Adds the device, as its own thread, then is gone. */
static void *add_and_end(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct polled *po = arg;
	struct bt *t = calloc(1, sizeof(*t));

	bt_init(t, &po->b);
	bt_enter(t);
	bt_settle(t);
	CHECK_EQ(epoll_ctl(po->ep, EPOLL_CTL_ADD, po->b.fd, &event), 0);
	if (po->leaves)
		CHECK_EQ(ioctl(po->b.fd, BINDER_THREAD_EXIT, &(int32_t){ 0 }), 0);
	free(t);
	return NULL;
}

static void *wait_on(void *arg)
{
	struct polled *po = arg;
	struct epoll_event event = { 0 };
	struct bt *t = calloc(1, sizeof(*t));
	struct bt_ret ret = { 0 };

	bt_init(t, &po->b);
	bt_enter(t);
	bt_settle(t);
	test_post(&po->waits);
	/* the other's end may be a false alarm */
	while (!bt_try(t, &ret) && epoll_wait(po->ep, &event, 1, 10000) > 0)
		;
	if (ret.cmd == BR_TRANSACTION) {
		test_post(&po->woken);
		reply_to(t, &ret, 9, NULL);
	}
	free(t);
	return NULL;
}

/*
 * Threads share an epoll that one of them has filled. It ends; another waits,
 * and calls must still wake it.
 */
static void test_epoll_outlives_the_thread_that_added_the_device(void)
{
	bool ours = driver_has_defer();
	struct server m = { 0 };
	struct client *s, *c;
	uint32_t h;

	server_start(&m);
	for (int i = 0; i < 6; i++) {
		struct polled po = { .leaves = i & 1 };
		pthread_t thread;

		s = calloc(1, sizeof(*s));
		c = client_open();
		bc_open_nonblock(&po.b, 0);
		bt_init(&s->t, &po.b);
		registry_drop(&s->t, 1);
		registry_put(&s->t, 1, PAIR_PTR, PAIR_COOKIE);
		h = registry_get(&c->t, 1);
		po.ep = epoll_create1(EPOLL_CLOEXEC);
		test_thread_join(test_thread(add_and_end, &po));
		thread = test_thread(wait_on, &po);
		test_await(&po.waits, 1);
		test_sleep_ms(20);
		bt_send(&c->t, BC_TRANSACTION, h, 1, 0, NULL);
		bt_flush(&c->t);
		test_thread_join(thread);
		if (!atomic_load(&po.woken)) {
			CHECK(!ours);
			test_skip("the driver polls a thread, not a process");
		}
		CHECK_EQ(take_reply(&c->t), 9);
		close(po.ep);
		bc_close(&po.b);
		bc_close(&c->b);
		free(s);
		free(c);
	}
}

static const struct test_case cases[] = {
	QUICK(test_frozen_server_serves_when_thawed),
	QUICK(test_frozen_client_gets_its_reply_when_thawed),
	QUICK(test_frozen_server_killed_callers_get_dead),
	QUICK(test_frozen_client_killed_server_goes_on),
	QUICK(test_frozen_poller_serves_when_thawed),
	CASE(test_freezer_storm_loses_and_doubles_nothing),
	QUICK(test_stopped_and_frozen_goes_on_after_both),
	QUICK(test_kill_ends_every_wait),
	QUICK(test_epoll_outlives_the_thread_that_added_the_device),
};

TEST_MAIN(cases)
