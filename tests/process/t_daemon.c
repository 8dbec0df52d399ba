// SPDX-License-Identifier: MIT
/*
 * The daemon itself: killed, stopped, restarted, misused. Each case starts
 * one of its own beside the harness's.
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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/resource.h>
#include <unistd.h>

static struct daemon *daemon_up(void)
{
	struct daemon *d = calloc(1, sizeof(*d));

	CHECK(daemon_prepare(d));
	CHECK(daemon_start(d));
	return d;
}

static void daemon_kill(struct daemon *d)
{
	int status;

	CHECK_EQ(kill(d->pid, SIGKILL), 0);
	CHECK(test_reap(d->pid, &status, TEST_WAIT_S));
	d->pid = 0;
}

static void daemon_done(struct daemon *d)
{
	CHECK(daemon_stop(d));
	daemon_remove(d);
}

/* Opens the device of this daemon, not the harness's. */
static int end_at(const struct daemon *d, struct bc *b, struct bt *t, int flags)
{
	int err = bc_try_open(b, d->device, flags, BC_MAP_SIZE);

	if (!err)
		bt_init(t, b);
	return err;
}

struct part {
	const struct daemon *d;
	atomic_int tid;
	atomic_int held;
	atomic_int go;
	atomic_int ended;
	atomic_int error;
};

static void serve(void *arg)
{
	struct part *p = arg;
	struct bt_ret ret;
	struct bc b;
	struct bt t;
	int err;

	CHECK_EQ(end_at(p->d, &b, &t, 0), 0);
	CHECK_EQ(bc_become_manager(&b), 0);
	bt_enter(&t);
	test_set(&p->tid, test_gettid());
	for (;;) {
		while (bt_next(&t, &ret)) {
			if (ret.cmd != BR_TRANSACTION)
				continue;
			if (ret.tr.code == CODE_HOLD) {
				test_post(&p->held);
				test_await(&p->go, 1);
			}
			bt_free(&t, ret.tr.data.ptr.buffer);
			bt_send(&t, BC_REPLY, 0, 0, 0, NULL);
		}
		err = bt_ioctl(&t, true);
		if (err && err != -EINTR)
			break;
	}
	atomic_store(&p->error, -err);
	test_post(&p->ended);
	/* and every later use fails as well, at once */
	for (int i = 0; i < 3; i++) {
		t.in_pos = t.in_len;
		CHECK(bt_ioctl(&t, true) < 0);
	}
}

static void call(void *arg)
{
	struct part *p = arg;
	struct bt_ret ret;
	struct bc b;
	struct bt t;
	int err = 0;

	CHECK_EQ(end_at(p->d, &b, &t, 0), 0);
	bt_warm(&t);
	bt_send(&t, BC_TRANSACTION, 0, CODE_HOLD, 0, NULL);
	test_set(&p->tid, test_gettid());
	while (!err || err == -EINTR) {
		while (bt_next(&t, &ret))
			if (ret.cmd != BR_TRANSACTION_COMPLETE)
				goto out;
		err = bt_ioctl(&t, true);
	}
out:
	atomic_store(&p->error, -err);
	test_post(&p->ended);
}

static struct part *part_new(const struct daemon *d)
{
	struct part *p = test_share(sizeof(*p));

	p->d = d;
	return p;
}

/* A server with a call in its hands, and the caller. */
static void start_both(const struct daemon *d, struct part **s, struct part **c, pid_t *pids)
{
	*s = part_new(d);
	*c = part_new(d);
	pids[0] = test_spawn(serve, *s);
	test_await(&(*s)->tid, 1);
	pids[1] = test_spawn(call, *c);
	test_await(&(*c)->tid, 1);
	test_await(&(*s)->held, 1);
	test_await_blocked((*c)->tid);
}

static void test_daemon_killed_waiting_processes_get_an_error(void)
{
	struct daemon *d = daemon_up();
	struct part *s, *c;
	pid_t pids[2];

	start_both(d, &s, &c, pids);
	daemon_kill(d);
	test_await(&c->ended, 1);
	CHECK_NE(atomic_load(&c->error), 0);
	test_post(&s->go);
	test_await(&s->ended, 1);
	CHECK_NE(atomic_load(&s->error), 0);
	test_join(pids[0]);
	test_join(pids[1]);
	daemon_discard(d);
	daemon_remove(d);
}

static void test_daemon_killed_idle_server_gets_an_error(void)
{
	struct daemon *d = daemon_up();
	struct part *s = part_new(d);
	pid_t pid = test_spawn(serve, s);

	test_await(&s->tid, 1);
	test_await_blocked(s->tid);
	daemon_kill(d);
	test_await(&s->ended, 1);
	test_join(pid);
	daemon_discard(d);
	daemon_remove(d);
}

static void poll_for_ever(void *arg)
{
	struct part *p = arg;
	struct pollfd pfd;
	struct bc b;
	struct bt t;

	CHECK_EQ(end_at(p->d, &b, &t, O_NONBLOCK), 0);
	bt_enter(&t);
	bt_warm(&t);
	pfd = (struct pollfd){ b.fd, POLLIN, 0 };
	test_set(&p->tid, test_gettid());
	/* in slices: a poll of a dead FUSE file is not woken by its death */
	while (poll(&pfd, 1, 50) == 0)
		;
	test_post(&p->ended);
}

static void test_daemon_killed_poll_reports_it(void)
{
	struct daemon *d = daemon_up();
	struct part *p = part_new(d);
	pid_t pid = test_spawn(poll_for_ever, p);

	test_await(&p->tid, 1);
	daemon_kill(d);
	test_await(&p->ended, 1);
	test_join(pid);
	daemon_discard(d);
	daemon_remove(d);
}

/* Opening, calling, unmapping after the death: errors, no hang. */
static void test_daemon_killed_later_use_fails_at_once(void)
{
	struct daemon *d = daemon_up();
	struct bc b, b2;
	struct bt t, t2;

	CHECK_EQ(end_at(d, &b, &t, 0), 0);
	bt_warm(&t);
	daemon_kill(d);
	CHECK(bt_ioctl(&t, true) < 0);
	CHECK(ioctl(b.fd, BINDER_VERSION, &(struct binder_version){ 0 }) < 0);
	CHECK(end_at(d, &b2, &t2, 0) < 0);
	bc_close(&b);
	daemon_discard(d);
	daemon_remove(d);
}

/* A new daemon on the dead mount point, clients of the old one still there. */
static void test_daemon_restarted_takes_over_the_mount_point(void)
{
	struct daemon *d = daemon_up();
	struct bc old, b;
	struct bt told, t;

	CHECK_EQ(end_at(d, &old, &told, O_NONBLOCK), 0);
	CHECK_EQ(bc_become_manager(&old), 0);
	for (int i = 0; i < 3; i++) {
		daemon_kill(d);
		CHECK(daemon_start(d));
		CHECK_EQ(end_at(d, &b, &t, O_NONBLOCK), 0);
		bc_works(&b);
		CHECK_EQ(bc_become_manager(&b), 0);
		CHECK(bt_ioctl(&told, false) < 0);
		bc_close(&b);
	}
	bc_close(&old);
	daemon_done(d);
}

#define CROWD 400

struct crowd {
	struct bc b;
	atomic_int in;
	atomic_int go;
};

static void *one_of_a_crowd(void *arg)
{
	struct crowd *crowd = arg;
	struct bt t;

	bt_init(&t, &crowd->b);
	bt_warm(&t);
	test_post(&crowd->in);
	test_await(&crowd->go, 1);
	return NULL;
}

/* The daemon watches each thread by a descriptor; others need some to open devices. */
static void test_daemon_with_few_descriptors_serves_others_beside_a_crowd(void)
{
	struct rlimit few = { 256, 256 };
	struct crowd *crowd = test_share(sizeof(*crowd));
	pthread_t threads[CROWD];
	struct daemon *d;
	struct bc b;
	struct bt t;

	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	d = daemon_up();
	CHECK_EQ(end_at(d, &crowd->b, &t, 0), 0);
	for (int i = 0; i < CROWD; i++)
		threads[i] = test_thread(one_of_a_crowd, crowd);
	test_await(&crowd->in, CROWD);
	for (int i = 0; i < 50; i++) {
		CHECK_EQ(end_at(d, &b, &t, 0), 0);
		bc_works(&b);
		bc_close(&b);
	}
	test_post(&crowd->go);
	for (int i = 0; i < CROWD; i++)
		test_thread_join(threads[i]);
	bc_close(&crowd->b);
	daemon_done(d);
}

static void stopped_by(int sig)
{
	struct daemon *d = daemon_up();
	struct part *s, *c;
	pid_t pids[2];
	int status;

	start_both(d, &s, &c, pids);
	CHECK_EQ(kill(d->pid, sig), 0);
	CHECK(test_reap(d->pid, &status, TEST_WAIT_S));
	d->pid = 0;
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(!daemon_mounted(d));
	test_await(&c->ended, 1);
	test_post(&s->go);
	test_await(&s->ended, 1);
	test_join(pids[0]);
	test_join(pids[1]);
	daemon_remove(d);
}

static void test_daemon_terminated_with_clients_ends_cleanly(void)
{
	stopped_by(SIGTERM);
}

static void test_daemon_interrupted_with_clients_ends_cleanly(void)
{
	stopped_by(SIGINT);
}

/* A client killed while the daemon does not run: gone when it runs again. */
static void test_client_killed_while_daemon_is_stopped_goes_later(void)
{
	struct daemon *d = daemon_up();
	struct part *s, *c;
	pid_t pids[2];
	int status;
	struct bc b;
	struct bt t;

	start_both(d, &s, &c, pids);
	CHECK_EQ(kill(d->pid, SIGSTOP), 0);
	while (test_state(d->pid) != 'T')
		test_sleep_ms(1);
	CHECK_EQ(kill(pids[1], SIGKILL), 0);
	test_sleep_ms(20);
	CHECK_EQ(kill(d->pid, SIGCONT), 0);
	CHECK(test_reap(pids[1], &status, TEST_WAIT_S));
	test_post(&s->go);
	CHECK_EQ(end_at(d, &b, &t, 0), 0);
	bt_ping(&t, 0, CODE_NULL);
	bc_close(&b);
	test_kill(pids[0]);
	daemon_done(d);
}

/* Two daemons: their worlds are apart. */
static void test_two_daemons_do_not_know_each_other(void)
{
	struct daemon *d = daemon_up();
	struct server s = { 0 };
	struct bc b;
	struct bt t;

	server_start(&s);
	CHECK_EQ(end_at(d, &b, &t, 0), 0);
	CHECK_EQ(bt_call(&t, 0, CODE_NULL, 0, NULL, NULL), BR_DEAD_REPLY);
	bc_close(&b);
	daemon_done(d);
	bt_ping(&client_open()->t, 0, CODE_NULL);
}

/* Runs it with these arguments to its end; Return: exit status, *@text its words. */
static int run_daemon(const char *a, const char *b, char **text)
{
	char log[200];
	int status, fd;
	pid_t pid;

	snprintf(log, sizeof(log), "%s/out-%d", getenv("TMPDIR"), getpid());
	fflush(NULL);
	pid = fork();
	if (!pid) {
		fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execl(getenv("ANYBINDERD"), "anybinderd", a, b, NULL);
		_exit(127);
	}
	if (!test_reap(pid, &status, TEST_WAIT_S)) {
		kill(pid, SIGTERM);
		FAIL("anybinderd %s %s does not end", a, b ? b : "");
	}
	CHECK(WIFEXITED(status));
	*text = test_read_file(log);
	CHECK(*text);
	unlink(log);
	return WEXITSTATUS(status);
}

static void test_wrong_use_is_explained(void)
{
	char *text, file[200];
	int fd;

	CHECK_EQ(run_daemon("--help", NULL, &text), 0);
	CHECK(strstr(text, "--ready-fd"));
	CHECK_EQ(run_daemon("--version", NULL, &text), 0);
	CHECK_NE(run_daemon("--no-such-option", "/tmp", &text), 0);
	CHECK(strstr(text, "no-such-option"));
	CHECK_NE(run_daemon("/no/such/directory", NULL, &text), 0);
	CHECK(strstr(text, "/no/such/directory"));
	snprintf(file, sizeof(file), "%s/file", getenv("TMPDIR"));
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	close(fd);
	CHECK_NE(run_daemon(file, NULL, &text), 0);
	CHECK(strstr(text, file));
	unlink(file);
}

/* On a directory that another daemon serves: refused, and that one goes on. */
static void test_second_daemon_on_a_live_mount_point_harms_nobody(void)
{
	struct daemon *d = daemon_up();
	struct bc b;
	struct bt t;
	char *text;

	CHECK_EQ(end_at(d, &b, &t, 0), 0);
	CHECK_NE(run_daemon(d->mount, NULL, &text), 0);
	CHECK(strstr(text, d->mount));
	bc_works(&b);
	bc_close(&b);
	CHECK_EQ(end_at(d, &b, &t, 0), 0);
	bc_works(&b);
	bc_close(&b);
	daemon_done(d);
}

static const struct test_case cases[] = {
	CASE_FLAGS(test_daemon_killed_waiting_processes_get_an_error, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_daemon_killed_idle_server_gets_an_error, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_daemon_killed_poll_reports_it, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_daemon_killed_later_use_fails_at_once, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_daemon_restarted_takes_over_the_mount_point, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_daemon_with_few_descriptors_serves_others_beside_a_crowd,
		   TEST_OWN_DAEMON),
	CASE_FLAGS(test_daemon_terminated_with_clients_ends_cleanly, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_daemon_interrupted_with_clients_ends_cleanly, TEST_OWN_DAEMON),
	CASE_FLAGS(test_client_killed_while_daemon_is_stopped_goes_later, TEST_OWN_DAEMON),
	CASE_FLAGS(test_two_daemons_do_not_know_each_other, TEST_OWN_DAEMON),
	CASE_FLAGS(test_wrong_use_is_explained, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_second_daemon_on_a_live_mount_point_harms_nobody, TEST_OWN_DAEMON),
};

TEST_MAIN(cases)
