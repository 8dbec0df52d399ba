// SPDX-License-Identifier: MIT
/*
 * Signals, stops and debuggers in every wait. Whatever interrupts it, a
 * transaction is sent once: the server counts.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_signal(int sig)
{
	handled = handled + 1;
}

static void catch_signal(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };

	CHECK_EQ(sigaction(sig, &sa, NULL), 0);
}

/**
 * struct caller - a process that makes one call and says how it went
 * @sa_flags: of its handler of SIGUSR1
 * @first: result of the ioctl that sent the call
 * @left: bytes of commands it left unsent
 */
struct caller {
	int sa_flags;
	atomic_int tid;
	atomic_int returned;
	atomic_int first;
	atomic_int left;
	atomic_int handled;
};

static void caller_main(void *arg)
{
	struct caller *ca = arg;
	struct client *c = client_open();

	catch_signal(SIGUSR1, ca->sa_flags);
	bt_warm(&c->t);
	bt_send(&c->t, BC_TRANSACTION, 0, CODE_HOLD, 0, NULL);
	test_set(&ca->tid, test_gettid());
	atomic_store(&ca->first, bt_ioctl(&c->t, true));
	atomic_store(&ca->left, c->t.out_len);
	atomic_store(&ca->handled, handled);
	test_post(&ca->returned);
	CHECK_EQ(bt_finish(&c->t, false, NULL), BR_REPLY);
}

static pid_t start_caller(struct caller *ca, struct server *s, int held)
{
	pid_t pid = test_spawn(caller_main, ca);

	test_await(&ca->tid, 1);
	test_await(&s->shared->held, held);
	test_await_blocked(ca->tid);
	return pid;
}

static void interrupted_caller(int sa_flags)
{
	struct caller *ca = test_share(sizeof(*ca));
	struct server s = { 0 };
	pid_t pid;

	ca->sa_flags = sa_flags;
	server_start(&s);
	pid = start_caller(ca, &s, 1);
	CHECK_EQ(kill(pid, SIGUSR1), 0);
	test_await(&ca->returned, 1);
	CHECK_EQ(atomic_load(&ca->first), -EINTR);
	CHECK_EQ(atomic_load(&ca->left), 0);
	CHECK_EQ(atomic_load(&ca->handled), 1);
	test_post(&s.shared->go);
	test_join(pid);
	CHECK_EQ(atomic_load(&s.shared->served), 1);
}

static void test_signal_in_call_says_eintr_and_keeps_it(void)
{
	interrupted_caller(0);
}

static void test_signal_with_sa_restart_in_call_says_eintr_and_keeps_it(void)
{
	interrupted_caller(SA_RESTART);
}

static void test_signal_ignored_does_not_end_the_wait(void)
{
	struct caller *ca = test_share(sizeof(*ca));
	struct server s = { 0 };
	pid_t pid;

	server_start(&s);
	pid = start_caller(ca, &s, 1);
	/* its default is to be ignored */
	for (int i = 0; i < 20; i++)
		CHECK_EQ(kill(pid, SIGWINCH), 0);
	test_await_blocked(ca->tid);
	CHECK_EQ(atomic_load(&ca->returned), 0);
	test_post(&s.shared->go);
	test_join(pid);
	CHECK_EQ(atomic_load(&ca->first), 0);
	CHECK_EQ(atomic_load(&s.shared->served), 1);
}

/* A server that waits idle, interrupted: it serves the next call as ever. */
static void idle_server(void *arg)
{
	struct caller *ca = arg;
	struct client *c = client_open();
	struct bt_ret ret;
	int eintr = 0;

	catch_signal(SIGUSR1, ca->sa_flags);
	CHECK_EQ(bc_become_manager(&c->b), 0);
	bt_enter(&c->t);
	test_set(&ca->tid, test_gettid());
	for (;;) {
		int err = bt_ioctl(&c->t, true);

		CHECK(!err || err == -EINTR);
		if (err)
			atomic_store(&ca->first, ++eintr);
		while (bt_next(&c->t, &ret))
			if (ret.cmd == BR_TRANSACTION) {
				bt_free(&c->t, ret.tr.data.ptr.buffer);
				bt_send(&c->t, BC_REPLY, 0, ret.tr.code, 0, NULL);
			}
	}
}

static bool eintr_seen(void *arg)
{
	struct caller *ca = arg;

	return atomic_load(&ca->first) >= atomic_load(&ca->left);
}

static void interrupted_server(int sa_flags)
{
	struct caller *ca = test_share(sizeof(*ca));
	struct client *c = client_open();
	pid_t pid;

	ca->sa_flags = sa_flags;
	pid = test_spawn(idle_server, ca);
	test_await(&ca->tid, 1);
	for (int i = 1; i < 20; i++) {
		test_await_blocked(ca->tid);
		CHECK_EQ(kill(pid, SIGUSR1), 0);
		atomic_store(&ca->left, i);
		test_eventually(eintr_seen, ca);
		bt_ping(&c->t, 0, i);
	}
	test_kill(pid);
}

static void test_signal_in_idle_server_says_eintr(void)
{
	interrupted_server(0);
}

static void test_signal_with_sa_restart_in_idle_server_says_eintr(void)
{
	interrupted_server(SA_RESTART);
}

/* An interval timer fires into everything: calls, waits, copies, one-way calls. */
static void start_timer(int us)
{
	struct itimerval it = { { 0, us }, { 0, us } };

	CHECK_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
}

enum { CODE_TICK = CODE_OWN, CODE_ONEWAY_TICK };

struct count {
	atomic_int ready;
	atomic_int calls;
	atomic_int oneways;
	atomic_int ordered;
	int sa_flags;
	int us;
	int n;
};

static struct count *count;

static void count_handler(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	if (tr->code == CODE_TICK)
		atomic_fetch_add(&count->calls, 1);
	else if (tr_u32(tr, 0) == (uint32_t)atomic_fetch_add(&count->oneways, 1))
		atomic_fetch_add(&count->ordered, 1);
	if (tr->data_size > 4)
		msg_u32(reply, tr_u32(tr, 1));
}

static void count_server(void *arg)
{
	struct client *c = client_open();

	CHECK_EQ(bc_become_manager(&c->b), 0);
	c->t.handler = count_handler;
	bt_enter(&c->t);
	if (count->us) {
		catch_signal(SIGALRM, count->sa_flags);
		start_timer(count->us);
	}
	test_post(&count->ready);
	bt_loop(&c->t);
}

static void count_client(void *arg)
{
	struct client *c = client_open();
	uint8_t pad[2000] = { 0 };

	if (count->us) {
		catch_signal(SIGALRM, count->sa_flags);
		start_timer(count->us + 100);
	}
	for (uint32_t i = 0; i < (uint32_t)count->n; i++) {
		struct binder_transaction_data reply;
		uint32_t data[500] = { i, i ^ 0x5a5a };
		struct msg m;

		msg_init(&m);
		msg_ext(&m, data, sizeof(data));
		bt_call_ok(&c->t, 0, CODE_TICK, &m, &reply);
		CHECK_EQ(tr_u32(&reply, 0), i ^ 0x5a5a);
		bt_free(&c->t, reply.data.ptr.buffer);
		msg_init(&m);
		msg_u32(&m, i);
		while (bt_call(&c->t, 0, CODE_ONEWAY_TICK, TF_ONE_WAY, &m, NULL) ==
		       BR_FAILED_REPLY)
			bt_expect_error(&c->t, BR_FAILED_REPLY, -ENOSPC);
	}
	(void)pad;
	bt_flush(&c->t);
}

static bool all_oneways(void *arg)
{
	return atomic_load(&count->oneways) >= count->n;
}

static void count_check(void)
{
	test_eventually(all_oneways, NULL);
	CHECK_EQ(atomic_load(&count->calls), count->n);
	CHECK_EQ(atomic_load(&count->oneways), count->n);
	CHECK_EQ(atomic_load(&count->ordered), count->n);
}

static void signal_storm(int sa_flags)
{
	count = test_share(sizeof(*count));
	count->sa_flags = sa_flags;
	count->us = 700;
	count->n = 1500;
	test_spawn(count_server, NULL);
	test_await(&count->ready, 1);
	test_join(test_spawn(count_client, NULL));
	count_check();
}

static void test_signal_storm_loses_and_doubles_nothing(void)
{
	signal_storm(0);
}

static void test_signal_storm_with_sa_restart_loses_and_doubles_nothing(void)
{
	signal_storm(SA_RESTART);
}

static void wait_for_state(pid_t pid, const char *states)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;

	while (!strchr(states, test_state(pid))) {
		if (test_now_ms() > end)
			FAIL("process %d stays in state %c, wanted one of %s", pid,
			     test_state(pid), states);
		test_sleep_ms(1);
	}
}

static void stop_and_go(pid_t pid)
{
	CHECK_EQ(kill(pid, SIGSTOP), 0);
	wait_for_state(pid, "T");
	CHECK_EQ(kill(pid, SIGCONT), 0);
}

static void test_stop_and_continue_in_call_keeps_it(void)
{
	struct caller *ca = test_share(sizeof(*ca));
	struct server s = { 0 };
	pid_t pid;

	server_start(&s);
	pid = start_caller(ca, &s, 1);
	for (int i = 0; i < 10; i++)
		stop_and_go(pid);
	test_post(&s.shared->go);
	test_join(pid);
	CHECK(atomic_load(&ca->first) == 0 || atomic_load(&ca->first) == -EINTR);
	CHECK_EQ(atomic_load(&ca->left), 0);
	CHECK_EQ(atomic_load(&s.shared->served), 1);
}

/* The reply comes while the caller is stopped. */
static void test_reply_to_a_stopped_caller_waits_for_it(void)
{
	struct caller *ca = test_share(sizeof(*ca));
	struct server s = { 0 };
	struct client *c = client_open();
	pid_t pid;

	server_start(&s);
	pid = start_caller(ca, &s, 1);
	CHECK_EQ(kill(pid, SIGSTOP), 0);
	wait_for_state(pid, "T");
	test_post(&s.shared->go);
	for (int i = 0; i < 10; i++)
		bt_ping(&c->t, 0, CODE_NULL);
	CHECK_EQ(kill(pid, SIGCONT), 0);
	test_join(pid);
	CHECK_EQ(atomic_load(&s.shared->served), 11);
}

/* A stopped server answers when it goes on. */
static void test_call_to_a_stopped_server_is_served_later(void)
{
	struct server s = { 0 };

	server_start(&s);
	for (int i = 0; i < 5; i++) {
		struct caller *ca = test_share(sizeof(*ca));
		pid_t pid;

		atomic_store(&s.shared->go, 1);
		CHECK_EQ(kill(s.pid, SIGSTOP), 0);
		wait_for_state(s.pid, "T");
		pid = test_spawn(caller_main, ca);
		test_await(&ca->tid, 1);
		test_await_blocked(ca->tid);
		CHECK_EQ(kill(s.pid, SIGCONT), 0);
		test_join(pid);
		CHECK_EQ(atomic_load(&s.shared->served), i + 1);
	}
}

/* Stops of both sides, at random times, under traffic. */
static void test_stop_storm_loses_and_doubles_nothing(void)
{
	unsigned int seed = 31;
	pid_t server, client;
	int status;

	count = test_share(sizeof(*count));
	count->n = 1500;
	server = test_spawn(count_server, NULL);
	test_await(&count->ready, 1);
	client = test_spawn(count_client, NULL);
	while (!waitpid(client, &status, WNOHANG)) {
		kill(rand_r(&seed) % 2 ? server : client, SIGSTOP);
		test_sleep_ms(rand_r(&seed) % 3);
		kill(server, SIGCONT);
		kill(client, SIGCONT);
		test_sleep_ms(rand_r(&seed) % 3);
	}
	CHECK_EQ(status, 0);
	count_check();
}

/* A debugger attaches, looks, and goes. */
static void debug_once(pid_t pid, bool seize)
{
	int status;

	if (seize) {
		CHECK_EQ(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
		CHECK_EQ(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
	} else {
		CHECK_EQ(ptrace(PTRACE_ATTACH, pid, 0, 0), 0);
	}
	for (;;) {
		CHECK_EQ(waitpid(pid, &status, __WALL), pid);
		CHECK(WIFSTOPPED(status));
		if (seize ? status >> 16 == PTRACE_EVENT_STOP : WSTOPSIG(status) == SIGSTOP)
			break;
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status));
	}
	CHECK_EQ(ptrace(PTRACE_DETACH, pid, 0, 0), 0);
}

static void debugged_caller(bool seize)
{
	struct caller *ca = test_share(sizeof(*ca));
	struct server s = { 0 };
	pid_t pid;

	server_start(&s);
	pid = start_caller(ca, &s, 1);
	for (int i = 0; i < 10; i++)
		debug_once(pid, seize);
	test_post(&s.shared->go);
	test_join(pid);
	CHECK(atomic_load(&ca->first) == 0 || atomic_load(&ca->first) == -EINTR);
	CHECK_EQ(atomic_load(&ca->left), 0);
	CHECK_EQ(atomic_load(&s.shared->served), 1);
}

static void test_debugger_attach_in_call_keeps_it(void)
{
	debugged_caller(false);
}

static void test_debugger_seize_in_call_keeps_it(void)
{
	debugged_caller(true);
}

static void test_debugger_storm_loses_and_doubles_nothing(void)
{
	pid_t server, client;
	int status;

	count = test_share(sizeof(*count));
	count->n = 1500;
	server = test_spawn(count_server, NULL);
	test_await(&count->ready, 1);
	client = test_spawn(count_client, NULL);
	for (int i = 0; !waitpid(client, &status, WNOHANG); i++) {
		debug_once(server, i % 2);
		test_sleep_ms(1);
		if (ptrace(PTRACE_SEIZE, client, 0, 0))
			continue; /* it has just ended */
		ptrace(PTRACE_INTERRUPT, client, 0, 0);
		if (waitpid(client, &status, __WALL) == client && !WIFSTOPPED(status))
			break;
		ptrace(PTRACE_DETACH, client, 0, 0);
	}
	CHECK_EQ(status, 0);
	count_check();
}

/* Interrupted while it waits for the inner reply of a nested call. */
static void nested_main(void *arg)
{
	struct caller *ca = arg;
	struct client *c = client_open();
	struct bt_ret ret;
	int err;

	catch_signal(SIGUSR1, ca->sa_flags);
	registry_put(&c->t, 5, 0x500, 0x501);
	bt_enter(&c->t);
	test_post(&ca->handled);
	CHECK_EQ(bt_event(&c->t, &ret), BR_TRANSACTION);
	bt_send(&c->t, BC_TRANSACTION, 0, CODE_HOLD, 0, NULL);
	test_set(&ca->tid, test_gettid());
	err = bt_ioctl(&c->t, true);
	atomic_store(&ca->first, err);
	test_post(&ca->returned);
	CHECK_EQ(bt_finish(&c->t, false, NULL), BR_REPLY);
	bt_send(&c->t, BC_REPLY, 0, 99, 0, NULL);
	bt_free(&c->t, ret.tr.data.ptr.buffer);
	bt_expect(&c->t, BR_TRANSACTION_COMPLETE, NULL);
	bt_flush(&c->t);
	pause();
}

static void nested_outer(void *arg)
{
	struct client *c = client_open();
	struct binder_transaction_data reply;

	bt_call_ok(&c->t, registry_get(&c->t, 5), 1, NULL, &reply);
	CHECK_EQ(reply.code, 99);
}

static void test_signal_in_nested_call_keeps_both(void)
{
	struct server s = { .threads = 1 };

	server_start(&s);
	for (int flags = 0; flags < 2; flags++) {
		struct caller *ca = test_share(sizeof(*ca));
		pid_t middle, outer;

		atomic_store(&s.shared->go, 0);
		ca->sa_flags = flags ? SA_RESTART : 0;
		middle = test_spawn(nested_main, ca);
		test_await(&ca->handled, 1);
		outer = test_spawn(nested_outer, NULL);
		test_await(&ca->tid, 1);
		test_await(&s.shared->held, flags + 1);
		test_await_blocked(ca->tid);
		CHECK_EQ(kill(middle, SIGUSR1), 0);
		test_await(&ca->returned, 1);
		CHECK_EQ(atomic_load(&ca->first), -EINTR);
		test_post(&s.shared->go);
		test_join(outer);
		test_kill(middle);
	}
}

/* The cgroup freezer must be able to stop a waiting process, and let it go. */
static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool cgroup_frozen(void *arg)
{
	char *text = test_read_file(arg);
	bool frozen = text && strstr(text, "frozen 1");

	free(text);
	return frozen;
}

static void test_frozen_cgroup_freezes_and_thaws_in_call(void)
{
	struct caller *ca = test_share(sizeof(*ca));
	struct server s = { 0 };
	char dir[128], path[192], text[32];
	pid_t pid;

	/* A machine with version 1 as well has version 2 one level down. */
	snprintf(dir, sizeof(dir), "/sys/fs/cgroup/%sbinder-test-%d",
		 access("/sys/fs/cgroup/unified/cgroup.procs", F_OK) ? "" : "unified/", getpid());
	if (mkdir(dir, 0755))
		test_skip("no writable cgroup2 at /sys/fs/cgroup");
	snprintf(path, sizeof(path), "%s/cgroup.freeze", dir);
	if (access(path, W_OK)) {
		rmdir(dir);
		test_skip("no cgroup freezer");
	}
	server_start(&s);
	pid = start_caller(ca, &s, 1);
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	snprintf(text, sizeof(text), "%d", pid);
	CHECK(write_file(path, text));
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/cgroup.freeze", dir);
		CHECK(write_file(path, "1"));
		snprintf(path, sizeof(path), "%s/cgroup.events", dir);
		test_eventually(cgroup_frozen, path);
		snprintf(path, sizeof(path), "%s/cgroup.freeze", dir);
		CHECK(write_file(path, "0"));
	}
	test_post(&s.shared->go);
	test_join(pid);
	CHECK_EQ(atomic_load(&s.shared->served), 1);
	rmdir(dir);
}

static const struct test_case cases[] = {
	QUICK(test_signal_in_call_says_eintr_and_keeps_it),
	QUICK(test_signal_with_sa_restart_in_call_says_eintr_and_keeps_it),
	QUICK(test_signal_ignored_does_not_end_the_wait),
	QUICK(test_signal_in_idle_server_says_eintr),
	QUICK(test_signal_with_sa_restart_in_idle_server_says_eintr),
	QUICK(test_signal_in_nested_call_keeps_both),
	CASE(test_signal_storm_loses_and_doubles_nothing),
	CASE(test_signal_storm_with_sa_restart_loses_and_doubles_nothing),
	QUICK(test_stop_and_continue_in_call_keeps_it),
	QUICK(test_reply_to_a_stopped_caller_waits_for_it),
	QUICK(test_call_to_a_stopped_server_is_served_later),
	CASE(test_stop_storm_loses_and_doubles_nothing),
	QUICK(test_debugger_attach_in_call_keeps_it),
	QUICK(test_debugger_seize_in_call_keeps_it),
	CASE(test_debugger_storm_loses_and_doubles_nothing),
	QUICK(test_frozen_cgroup_freezes_and_thaws_in_call),
};

TEST_MAIN(cases)
