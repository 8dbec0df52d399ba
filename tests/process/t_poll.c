// SPDX-License-Identifier: MIT
/* poll and epoll: when a device is readable, and that waiters are woken. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

#define LONG_MS (TEST_WAIT_S * 1000)

static int watch(int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	CHECK_GE(ep, 0);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	return ep;
}

static int ready(int ep, int timeout)
{
	struct epoll_event ev = { 0 };
	int n = epoll_wait(ep, &ev, 1, timeout);

	CHECK_GE(n, 0);
	return n ? (int)ev.events : 0;
}

static int poll_now(int fd)
{
	struct pollfd pfd = { fd, POLLIN, 0 };

	CHECK_GE(poll(&pfd, 1, 0), 0);
	return pfd.revents;
}

static void test_poll_idle_is_not_readable(void)
{
	struct pair *p = pair_open();

	for (int i = 0; i < 3; i++) {
		CHECK_EQ(poll_now(p->sb.fd) & POLLIN, 0);
		CHECK_EQ(poll_now(p->cb.fd) & POLLIN, 0);
	}
	pair_close(p);
}

/* The first read of a thread returns at once, so it is readable. */
static void test_poll_of_a_new_thread_is_readable(void)
{
	struct client *c = client_open();

	CHECK_EQ(poll_now(c->b.fd) & POLLIN, POLLIN);
	bt_warm(&c->t);
	CHECK_EQ(poll_now(c->b.fd) & POLLIN, 0);
}

static void test_poll_call_makes_server_readable_until_read(void)
{
	struct pair *p = pair_open();
	int ep = watch(p->sb.fd, EPOLLIN);
	struct bt_ret ret;

	for (int i = 0; i < 5; i++) {
		CHECK_EQ(ready(ep, 0), 0);
		send_to(&p->c, p->h, 1);
		CHECK_EQ(ready(ep, LONG_MS) & EPOLLIN, EPOLLIN);
		CHECK_EQ(poll_now(p->sb.fd) & POLLIN, POLLIN);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		CHECK_EQ(ready(ep, 0), 0);
		reply_to(&p->s, &ret, 0, NULL);
		take_reply(&p->c);
	}
	pair_close(p);
}

static void test_poll_reply_makes_caller_readable(void)
{
	struct pair *p = pair_open();
	int ep = watch(p->cb.fd, EPOLLIN);
	struct bt_ret ret;

	for (int i = 0; i < 5; i++) {
		send_to(&p->c, p->h, 1);
		/* the deferred completion of the call alone is nothing to read */
		CHECK_EQ(ready(ep, 0), 0);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		CHECK_EQ(ready(ep, 0), 0);
		reply_to(&p->s, &ret, 0, NULL);
		CHECK_EQ(ready(ep, LONG_MS) & EPOLLIN, EPOLLIN);
		take_reply(&p->c);
		CHECK_EQ(ready(ep, 0), 0);
	}
	pair_close(p);
}

/* Work that a thread queues for itself wakes its own epoll (CVE-2024-26606). */
static void test_poll_own_completion_wakes_own_epoll(void)
{
	struct pair *p = pair_open();
	int ep = watch(p->cb.fd, EPOLLIN);

	for (int i = 0; i < 5; i++) {
		CHECK_EQ(ready(ep, 0), 0);
		bt_send(&p->c, BC_TRANSACTION, p->h, 1, TF_ONE_WAY, NULL);
		bt_flush(&p->c);
		CHECK_EQ(ready(ep, LONG_MS) & EPOLLIN, EPOLLIN);
		bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	}
	pair_close(p);
}

static void test_poll_own_error_wakes_own_epoll(void)
{
	struct pair *p = pair_open();
	int ep = watch(p->cb.fd, EPOLLIN);

	for (int i = 0; i < 3; i++) {
		CHECK_EQ(ready(ep, 0), 0);
		send_to(&p->c, 4711, 1);
		CHECK_EQ(ready(ep, LONG_MS) & EPOLLIN, EPOLLIN);
		bt_expect(&p->c, BR_FAILED_REPLY, NULL);
	}
	pair_close(p);
}

static void test_poll_death_makes_readable(void)
{
	struct pair *p = pair_open();
	struct third *x = third_open(p);
	int ep = watch(p->sb.fd, EPOLLIN);
	struct bt_ret ret;

	bt_death(&p->s, BC_REQUEST_DEATH_NOTIFICATION, x->from_s, 0x5);
	bt_flush(&p->s);
	CHECK_EQ(ready(ep, 0), 0);
	bc_close(&x->b);
	CHECK_EQ(ready(ep, LONG_MS) & EPOLLIN, EPOLLIN);
	do
		bt_wait(&p->s, &ret);
	while (ret.cmd == BR_RELEASE || ret.cmd == BR_DECREFS);
	CHECK_EQ(ret.cmd, BR_DEAD_BINDER);
	pair_close(p);
}

/* While a thread has a call out, process work is not for it. */
static void test_poll_process_work_is_not_for_a_thread_with_a_call_out(void)
{
	struct pair *p = pair_open();
	struct third *x = third_open(p);
	struct bt_ret call;
	int ep = watch(p->sb.fd, EPOLLIN);

	send_to(&p->s, x->from_s, 1);
	CHECK_EQ(bt_event(&x->t, &call), BR_TRANSACTION);
	send_to(&p->c, p->h, 2);
	CHECK_EQ(ready(ep, 0), 0);
	reply_to(&x->t, &call, 0, NULL);
	CHECK_EQ(ready(ep, LONG_MS) & EPOLLIN, EPOLLIN);
	take_reply(&p->s);
	CHECK_EQ(ready(ep, LONG_MS) & EPOLLIN, EPOLLIN);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	CHECK_EQ(call.tr.code, 2);
	pair_close(p);
}

/* Each arrival is an edge. */
static void test_poll_edge_triggered_sees_every_call(void)
{
	struct pair *p = pair_open();
	int ep = watch(p->sb.fd, EPOLLIN | EPOLLET);
	struct bt_ret ret;

	ready(ep, 0);
	for (int i = 0; i < 50; i++) {
		send_to(&p->c, p->h, i);
		CHECK_EQ(ready(ep, LONG_MS) & EPOLLIN, EPOLLIN);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		CHECK_EQ(ret.tr.code, i);
		reply_to(&p->s, &ret, 0, NULL);
		take_reply(&p->c);
		CHECK(!bt_try(&p->s, &ret));
	}
	pair_close(p);
}

/* A server that only reads when epoll, poll or select tells it to. */
enum how { BY_EPOLL, BY_POLL, BY_SELECT, HOWS };

struct poll_server {
	enum how how;
	uint32_t flags;
	atomic_int ready;
};

static void wait_readable(enum how how, int fd, int ep)
{
	struct pollfd pfd = { fd, POLLIN, 0 };
	fd_set set;

	switch (how) {
	case BY_EPOLL:
		CHECK_EQ(ready(ep, -1) & EPOLLIN, EPOLLIN);
		break;
	case BY_POLL:
		CHECK_EQ(poll(&pfd, 1, -1), 1);
		break;
	default:
		FD_ZERO(&set);
		FD_SET(fd, &set);
		CHECK_EQ(select(fd + 1, &set, NULL, NULL, NULL), 1);
	}
}

static void poll_handler(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	msg_u32(reply, tr->code + 1);
}

static void poll_server(void *arg)
{
	struct poll_server *ps = arg;
	struct bt_ret ret;
	struct bc b;
	struct bt t;
	int ep;

	bc_open_nonblock(&b, 0);
	bt_init(&t, &b);
	t.handler = poll_handler;
	t.reply_flags = ps->flags;
	CHECK_EQ(bc_become_manager(&b), 0);
	bt_enter(&t);
	ep = watch(b.fd, EPOLLIN);
	test_post(&ps->ready);
	for (;;) {
		if (bt_try(&t, &ret)) {
			CHECK_EQ(ret.cmd, BR_TRANSACTION);
			bt_serve(&t, &ret.tr);
			continue;
		}
		wait_readable(ps->how, b.fd, ep);
	}
}

static void poll_client(void *arg)
{
	struct client *c = client_open();

	for (uint32_t i = 0; i < 150; i++) {
		struct binder_transaction_data reply;

		bt_call_ok(&c->t, 0, i, NULL, &reply);
		CHECK_EQ(tr_u32(&reply, 0), i + 1);
		bt_free(&c->t, reply.data.ptr.buffer);
	}
}

static void poll_serve_clients(uint32_t flags)
{
	for (int how = 0; how < HOWS; how++) {
		struct poll_server *ps = test_share(sizeof(*ps));
		pid_t server, pids[4];

		ps->how = how;
		ps->flags = flags;
		server = test_spawn(poll_server, ps);
		test_await(&ps->ready, 1);
		for (int i = 0; i < 4; i++)
			pids[i] = test_spawn(poll_client, NULL);
		for (int i = 0; i < 4; i++)
			test_join(pids[i]);
		test_kill(server);
	}
}

static void test_poll_servers_of_all_kinds_serve_every_call(void)
{
	poll_serve_clients(0);
}

static void test_poll_servers_that_defer_serve_every_call(void)
{
	need_defer();
	poll_serve_clients(TF_DEFER_COMPLETE);
}

/* Two threads of one process in epoll: each call is served once. */
struct twins {
	struct bc b;
	atomic_int served;
	atomic_int ready;
};

static struct twins *twins;

static void *twin_thread(void *arg)
{
	struct bt *t = calloc(1, sizeof(*t));
	int ep = watch(twins->b.fd, EPOLLIN);
	struct bt_ret ret;

	bt_init(t, &twins->b);
	t->handler = poll_handler;
	bt_enter(t);
	test_post(&twins->ready);
	for (;;) {
		if (bt_try(t, &ret)) {
			CHECK_EQ(ret.cmd, BR_TRANSACTION);
			atomic_fetch_add(&twins->served, 1);
			bt_serve(t, &ret.tr);
			continue;
		}
		CHECK_EQ(ready(ep, -1) & EPOLLIN, EPOLLIN);
	}
	return NULL;
}

static void twin_server(void *arg)
{
	bc_open_nonblock(&twins->b, 0);
	CHECK_EQ(bc_become_manager(&twins->b), 0);
	test_thread(twin_thread, NULL);
	test_thread(twin_thread, NULL);
	pause();
}

static void test_poll_two_threads_share_the_calls(void)
{
	pid_t pids[4];

	twins = test_share(sizeof(*twins));
	test_spawn(twin_server, NULL);
	test_await(&twins->ready, 2);
	for (int i = 0; i < 4; i++)
		pids[i] = test_spawn(poll_client, NULL);
	for (int i = 0; i < 4; i++)
		test_join(pids[i]);
	CHECK_EQ(atomic_load(&twins->served), 4 * 150);
}

/* THREAD_EXIT of a polled thread, then use of the epoll (CVE-2019-2215). */
static void test_poll_thread_exit_while_polled_is_safe(void)
{
	for (int i = 0; i < 20; i++) {
		struct pair *p = pair_open();
		int ep = watch(p->cb.fd, EPOLLIN);
		struct epoll_event ev;

		CHECK_EQ(ready(ep, 0), 0);
		CHECK_EQ(ioctl(p->cb.fd, BINDER_THREAD_EXIT, &(int32_t){ 0 }), 0);
		if (i % 3 == 0)
			epoll_ctl(ep, EPOLL_CTL_DEL, p->cb.fd, &ev);
		else
			epoll_wait(ep, &ev, 1, 0);
		close(ep);
		if (i % 3 == 1)
			bc_works(&p->cb);
		pair_close(p);
	}
}

struct sleeper {
	int ep;
	atomic_int tid;
	atomic_int woken;
};

static void *epoll_sleeper(void *arg)
{
	struct sleeper *s = arg;

	test_set(&s->tid, test_gettid());
	ready(s->ep, -1);
	test_post(&s->woken);
	return NULL;
}

/* The device is closed while a thread sleeps in epoll on it. */
static void test_poll_close_while_polled_is_safe(void)
{
	for (int i = 0; i < 10; i++) {
		struct client *c = client_open();
		struct sleeper s = { 0 };
		pthread_t thread;
		int pipes[2];
		struct epoll_event ev = { .events = EPOLLIN };

		bt_warm(&c->t);
		s.ep = watch(c->b.fd, EPOLLIN);
		CHECK_EQ(pipe(pipes), 0);
		CHECK_EQ(epoll_ctl(s.ep, EPOLL_CTL_ADD, pipes[0], &ev), 0);
		thread = test_thread(epoll_sleeper, &s);
		test_await(&s.tid, 1);
		while (test_state(s.tid) != 'S' && !atomic_load(&s.woken))
			test_sleep_ms(1);
		bc_close(&c->b);
		CHECK_EQ(write(pipes[1], "x", 1), 1);
		test_thread_join(thread);
		close(s.ep);
		close(pipes[0]);
		close(pipes[1]);
	}
}

/* A sleeper in epoll is woken by a call, every time. */
static void test_poll_sleeper_is_woken_by_each_call(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	for (int i = 0; i < 30; i++) {
		struct sleeper s = { .ep = watch(p->sb.fd, EPOLLIN) };
		pthread_t thread = test_thread(epoll_sleeper, &s);

		test_await(&s.tid, 1);
		while (test_state(s.tid) != 'S' && !atomic_load(&s.woken))
			test_sleep_ms(1);
		send_to(&p->c, p->h, i);
		test_await(&s.woken, 1);
		test_thread_join(thread);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		reply_to(&p->s, &ret, 0, NULL);
		take_reply(&p->c);
		close(s.ep);
	}
	pair_close(p);
}

/* A device in an epoll in an epoll. */
static void test_poll_nested_epoll_is_readable(void)
{
	struct pair *p = pair_open();
	int inner = watch(p->sb.fd, EPOLLIN), outer = watch(inner, EPOLLIN);
	struct bt_ret ret;

	CHECK_EQ(ready(outer, 0), 0);
	send_to(&p->c, p->h, 1);
	CHECK_EQ(ready(outer, LONG_MS) & EPOLLIN, EPOLLIN);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	reply_to(&p->s, &ret, 0, NULL);
	take_reply(&p->c);
	pair_close(p);
}

static const struct test_case cases[] = {
	QUICK(test_poll_idle_is_not_readable),
	QUICK(test_poll_of_a_new_thread_is_readable),
	QUICK(test_poll_call_makes_server_readable_until_read),
	QUICK(test_poll_reply_makes_caller_readable),
	QUICK(test_poll_own_completion_wakes_own_epoll),
	QUICK(test_poll_own_error_wakes_own_epoll),
	QUICK(test_poll_death_makes_readable),
	QUICK(test_poll_process_work_is_not_for_a_thread_with_a_call_out),
	QUICK(test_poll_edge_triggered_sees_every_call),
	CASE(test_poll_servers_of_all_kinds_serve_every_call),
	CASE(test_poll_servers_that_defer_serve_every_call),
	QUICK(test_poll_two_threads_share_the_calls),
	QUICK(test_poll_thread_exit_while_polled_is_safe),
	QUICK(test_poll_close_while_polled_is_safe),
	QUICK(test_poll_sleeper_is_woken_by_each_call),
	QUICK(test_poll_nested_epoll_is_readable),
};

TEST_MAIN(cases)
