// SPDX-License-Identifier: MIT
/*
 * TF_DEFER_COMPLETE: a reply whose completion does not end the wait. Each case
 * is skipped on a driver that does not know the flag.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* s has received a call and now answers it, deferred, without an ioctl yet. */
static void queue_deferred_reply(struct bt *t, const struct bt_ret *call)
{
	bt_free(t, call->tr.data.ptr.buffer);
	bt_send(t, BC_REPLY, 0, 0, TF_DEFER_COMPLETE, NULL);
}

/* A call of c that s has answered with the flag; its completion is pending at s. */
static void deferred_call(struct pair *p)
{
	struct bt_ret call;

	send_to(&p->c, p->h, 1);
	bt_expect(&p->s, BR_TRANSACTION, &call);
	queue_deferred_reply(&p->s, &call);
	CHECK_EQ(bt_ioctl(&p->s, true), -EAGAIN);
	CHECK_EQ(p->s.out_len, 0);
	CHECK_EQ(take_reply(&p->c), 0);
}

static void test_defer_completion_alone_does_not_end_the_read(void)
{
	struct pair *p;
	struct bt_ret ret;

	need_defer();
	p = pair_open();
	deferred_call(p);
	for (int i = 0; i < 3; i++)
		CHECK(!bt_next(&p->s, &ret) && bt_ioctl(&p->s, true) == -EAGAIN);
	pair_close(p);
}

static void test_defer_completion_comes_before_the_next_call_in_one_read(void)
{
	struct pair *p;
	struct bt_ret ret;

	need_defer();
	p = pair_open();
	for (int i = 0; i < 20; i++) {
		deferred_call(p);
		send_to(&p->c, p->h, 2);
		CHECK(!bt_next(&p->s, &ret));
		CHECK_EQ(bt_ioctl(&p->s, true), 0);
		CHECK(bt_next(&p->s, &ret));
		CHECK_EQ(ret.cmd, BR_TRANSACTION_COMPLETE);
		CHECK(bt_next(&p->s, &ret));
		CHECK_EQ(ret.cmd, BR_TRANSACTION);
		CHECK_EQ(ret.tr.code, 2);
		CHECK(!bt_next(&p->s, &ret));
		reply_to(&p->s, &(struct bt_ret){ .tr = ret.tr }, 0, NULL);
		CHECK_EQ(take_reply(&p->c), 0);
	}
	pair_close(p);
}

/* The next call is in the process queue already when the reply is written. */
static void test_defer_call_already_queued_comes_in_the_same_ioctl(void)
{
	struct pair *p;
	struct bt_ret call, ret;
	unsigned int ioctls;
	struct bc b2;
	struct bt c2;

	need_defer();
	p = pair_open();
	registry_put(&p->s, 7, PAIR_PTR, PAIR_COOKIE);
	bt_settle(&p->s);
	end_open(&b2, &c2);
	CHECK_EQ(registry_get(&c2, 7), 1);
	send_to(&p->c, p->h, 1);
	bt_expect(&p->s, BR_TRANSACTION, &call);
	for (uint32_t i = 0; i < 20; i++) {
		send_to(i % 2 ? &p->c : &c2, i % 2 ? p->h : 1, 100 + i);
		queue_deferred_reply(&p->s, &call);
		ioctls = p->s.ioctls;
		bt_expect(&p->s, BR_TRANSACTION_COMPLETE, NULL);
		bt_expect(&p->s, BR_TRANSACTION, &ret);
		CHECK_EQ(p->s.ioctls, ioctls + 1);
		CHECK_EQ(ret.tr.code, 100 + i);
		take_reply(i % 2 ? &c2 : &p->c);
		call = ret;
	}
	pair_close(p);
}

static void test_without_flag_completion_ends_the_read(void)
{
	struct pair *p = pair_open();
	struct bt_ret call, ret;

	for (int i = 0; i < 5; i++) {
		send_to(&p->c, p->h, 1);
		bt_expect(&p->s, BR_TRANSACTION, &call);
		bt_free(&p->s, call.tr.data.ptr.buffer);
		bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
		CHECK_EQ(bt_ioctl(&p->s, true), 0);
		CHECK(bt_next(&p->s, &ret));
		CHECK_EQ(ret.cmd, BR_TRANSACTION_COMPLETE);
		CHECK(!bt_next(&p->s, &ret));
		take_reply(&p->c);
	}
	pair_close(p);
}

/* The flag means nothing on calls. */
static void test_flag_on_oneway_call_completes_at_once(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 1, TF_ONE_WAY | TF_DEFER_COMPLETE, NULL);
	CHECK_EQ(bt_ioctl(&p->c, true), 0);
	CHECK(bt_next(&p->c, &ret));
	CHECK_EQ(ret.cmd, BR_TRANSACTION_COMPLETE);
	pair_close(p);
}

/* A real server: after the first call exactly one ioctl for each call. */
struct counted {
	atomic_int ready;
	atomic_int ioctls[2];
};

enum { CALLS = 200 };

static struct counted *counted;

static void count_handler(struct bt *t, const struct binder_transaction_data *tr,
			  struct msg *reply)
{
	if (tr->code == 1)
		atomic_store(&counted->ioctls[0], t->ioctls);
	if (tr->code == CALLS)
		atomic_store(&counted->ioctls[1], t->ioctls);
}

static void counted_server(void *arg)
{
	struct client *c = client_open();

	CHECK_EQ(bc_become_manager(&c->b), 0);
	c->t.handler = count_handler;
	c->t.reply_flags = TF_DEFER_COMPLETE;
	bt_enter(&c->t);
	test_post(&counted->ready);
	bt_loop(&c->t);
}

static void test_defer_one_ioctl_per_served_call(void)
{
	struct client *c;

	need_defer();
	counted = test_share(sizeof(*counted));
	test_spawn(counted_server, NULL);
	test_await(&counted->ready, 1);
	c = client_open();
	for (uint32_t i = 0; i <= CALLS; i++) {
		struct binder_transaction_data reply;
		unsigned int before = c->t.ioctls;

		bt_call_ok(&c->t, 0, i, NULL, &reply);
		/* and one for the caller, after its very first */
		if (i > 0)
			CHECK_EQ(c->t.ioctls - before, 1);
		bt_free(&c->t, reply.data.ptr.buffer);
	}
	bt_flush(&c->t);
	CHECK_EQ(atomic_load(&counted->ioctls[1]) - atomic_load(&counted->ioctls[0]), CALLS - 1);
}

/* Several clients and threads: every call is served by a thread that deferred. */
static void many_calls(void *arg)
{
	struct client *c = client_open();

	for (int i = 0; i < 150; i++)
		bt_ping(&c->t, 0, CODE_NULL);
}

static void test_defer_threads_stay_eligible_under_load(void)
{
	struct server s = { .threads = 2, .reply_flags = TF_DEFER_COMPLETE };
	pid_t pids[8];

	need_defer();
	server_start(&s);
	for (int i = 0; i < 8; i++)
		pids[i] = test_spawn(many_calls, NULL);
	for (int i = 0; i < 8; i++)
		test_join(pids[i]);
	CHECK_EQ(atomic_load(&s.shared->served), 8 * 150);
}

struct deferrer {
	struct bc *b;
	atomic_int tid;
	atomic_int served;
};

/* Serves two calls; between them it waits with only a deferred completion. */
static void *defer_thread(void *arg)
{
	struct deferrer *d = arg;
	struct bt *t = calloc(1, sizeof(*t));
	struct bt_ret call;

	bt_init(t, d->b);
	bt_enter(t);
	test_set(&d->tid, test_gettid());
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(bt_event(t, &call), BR_TRANSACTION);
		atomic_fetch_add(&d->served, 1);
		queue_deferred_reply(t, &call);
	}
	bt_flush(t);
	return NULL;
}

/* Such a thread is a waiting thread: no other is asked for. */
static void test_defer_thread_counts_as_waiting_for_spawn(void)
{
	struct server m = { 0 };
	struct client *s, *c;
	struct deferrer d;
	pthread_t thread;
	uint32_t h, back, max = 2;

	need_defer();
	server_start(&m);
	s = client_open();
	c = client_open();
	registry_put(&s->t, 1, PAIR_PTR, PAIR_COOKIE);
	h = registry_get(&c->t, 1);
	registry_put(&c->t, 2, 0x100, 0x101);
	back = registry_get(&s->t, 2);
	bt_enter(&s->t);
	d = (struct deferrer){ .b = &s->b };
	thread = test_thread(defer_thread, &d);
	test_await(&d.tid, 1);
	bt_ping(&c->t, h, 1);
	test_await_blocked(d.tid);
	CHECK_EQ(ioctl(s->b.fd, BINDER_SET_MAX_THREADS, &max), 0);
	memset(s->t.got, 0, sizeof(s->t.got));
	CHECK_EQ(bt_call(&s->t, back, 1, TF_ONE_WAY, NULL, NULL), BR_TRANSACTION_COMPLETE);
	CHECK_EQ(BT_GOT(&s->t, BR_SPAWN_LOOPER), 0);
	bt_ping(&c->t, h, 2);
	test_thread_join(thread);
	CHECK_EQ(atomic_load(&d.served), 2);
}

static int ready(int ep, int timeout)
{
	struct epoll_event ev;

	return epoll_wait(ep, &ev, 1, timeout);
}

static void test_defer_completion_alone_is_not_readable(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct bt_ret call, ret;
	struct pair *p;
	int ep;

	need_defer();
	p = pair_open();
	ep = epoll_create1(EPOLL_CLOEXEC);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, p->sb.fd, &ev), 0);
	CHECK_EQ(ready(ep, 0), 0);
	for (int i = 0; i < 5; i++) {
		send_to(&p->c, p->h, 1);
		CHECK_EQ(ready(ep, TEST_WAIT_S * 1000), 1);
		CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
		CHECK_EQ(ready(ep, 0), 0);
		queue_deferred_reply(&p->s, &call);
		bt_flush(&p->s);
		take_reply(&p->c);
		CHECK_EQ(ready(ep, 0), 0);
		/* the next call makes it readable, with the completion first */
		send_to(&p->c, p->h, 2);
		CHECK_EQ(ready(ep, TEST_WAIT_S * 1000), 1);
		CHECK_EQ(bt_ioctl(&p->s, true), 0);
		CHECK(bt_next(&p->s, &ret));
		CHECK_EQ(ret.cmd, BR_TRANSACTION_COMPLETE);
		CHECK(bt_next(&p->s, &ret));
		CHECK_EQ(ret.cmd, BR_TRANSACTION);
		reply_to(&p->s, &ret, 0, NULL);
		take_reply(&p->c);
	}
	pair_close(p);
}

/* c calls s calls x calls s: s answers the inner call deferred while it waits. */
static void test_defer_in_a_nested_call_comes_with_the_outer_reply(void)
{
	struct bt_ret outer, at_x, inner, ret;
	struct third *x;
	struct pair *p;

	need_defer();
	p = pair_open();
	x = third_open(p);
	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &outer), BR_TRANSACTION);
	send_to(&p->s, x->from_s, 2);
	CHECK_EQ(bt_event(&x->t, &at_x), BR_TRANSACTION);
	send_to(&x->t, x->to_s, 3);
	CHECK_EQ(bt_event(&p->s, &inner), BR_TRANSACTION);
	queue_deferred_reply(&p->s, &inner);
	CHECK_EQ(bt_ioctl(&p->s, true), -EAGAIN);
	take_reply(&x->t);
	reply_to(&x->t, &at_x, 5, NULL);
	CHECK(!bt_next(&p->s, &ret));
	CHECK_EQ(bt_ioctl(&p->s, true), 0);
	CHECK(bt_next(&p->s, &ret));
	CHECK_EQ(ret.cmd, BR_TRANSACTION_COMPLETE);
	CHECK(bt_next(&p->s, &ret));
	CHECK_EQ(ret.cmd, BR_REPLY);
	CHECK_EQ(ret.tr.code, 5);
	reply_to(&p->s, &outer, 6, NULL);
	CHECK_EQ(take_reply(&p->c), 6);
	pair_close(p);
}

/* Other process work finds such a thread, too. */
static void test_defer_completion_comes_with_a_death_notification(void)
{
	struct bt_ret ret;
	struct third *x;
	struct pair *p;

	need_defer();
	p = pair_open();
	x = third_open(p);
	bt_death(&p->s, BC_REQUEST_DEATH_NOTIFICATION, x->from_s, 0x77);
	bt_flush(&p->s);
	deferred_call(p);
	bc_close(&x->b);
	bt_expect(&p->s, BR_TRANSACTION_COMPLETE, NULL);
	bt_expect(&p->s, BR_DEAD_BINDER, &ret);
	CHECK_EQ(ret.cookie, 0x77);
	pair_close(p);
}

/* An error of the thread's own next command brings it along. */
static void test_defer_completion_comes_with_an_error(void)
{
	struct pair *p;

	need_defer();
	p = pair_open();
	deferred_call(p);
	bt_send(&p->s, BC_TRANSACTION, 4711, 1, 0, NULL);
	bt_until(&p->s, BR_TRANSACTION_COMPLETE, NULL);
	bt_expect(&p->s, BR_FAILED_REPLY, NULL);
	pair_close(p);
}

/* The caller is gone: no wait for a completion that nobody queued. */
static void test_defer_to_a_dead_caller_leaves_the_thread_serving(void)
{
	struct bt_ret call, ret;
	struct third *x;
	struct pair *p;

	need_defer();
	p = pair_open();
	x = third_open(p);
	send_to(&x->t, x->to_s, 1);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	bc_close(&x->b);
	queue_deferred_reply(&p->s, &call);
	for (;;) {
		if (bt_next(&p->s, &ret))
			CHECK(ret.cmd == BR_TRANSACTION_COMPLETE || ret.cmd == BR_DEAD_REPLY ||
			      ret.cmd == BR_RELEASE || ret.cmd == BR_DECREFS);
		else if (bt_ioctl(&p->s, true) == -EAGAIN)
			break;
	}
	send_to(&p->c, p->h, 2);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	CHECK_EQ(call.tr.code, 2);
	pair_close(p);
}

/* A reply that fails: the caller is told, the replier is not left waiting. */
static void test_defer_reply_that_fails_tells_the_caller(void)
{
	struct bt_ret call, ret;
	struct pair *p;
	struct msg m;

	need_defer();
	p = pair_open();
	send_to(&p->c, p->h, 1);
	bt_expect(&p->s, BR_TRANSACTION, &call);
	msg_init(&m);
	msg_handle(&m, 999);
	bt_send(&p->s, BC_REPLY, 0, 0, TF_DEFER_COMPLETE, &m);
	bt_free(&p->s, call.tr.data.ptr.buffer);
	if (bt_try(&p->s, &ret))
		FAIL("the replier got %s", br_name(ret.cmd));
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	send_to(&p->c, p->h, 2);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	pair_close(p);
}

static void test_defer_completion_pending_at_exit_and_close_leaves_nothing(void)
{
	need_defer();
	for (int i = 0; i < 4; i++) {
		struct pair *p = pair_open();

		deferred_call(p);
		if (i % 2)
			CHECK_EQ(ioctl(p->sb.fd, BINDER_THREAD_EXIT, &(int32_t){ 0 }), 0);
		pair_close(p);
	}
}

static void on_signal(int sig)
{
}

/* Interrupted in such a wait: the completion is not lost. */
static void *interrupted_thread(void *arg)
{
	struct deferrer *d = arg;
	struct bt *t = calloc(1, sizeof(*t));
	struct bt_ret call;
	int err;

	bt_init(t, d->b);
	bt_enter(t);
	test_set(&d->tid, test_gettid());
	CHECK_EQ(bt_event(t, &call), BR_TRANSACTION);
	queue_deferred_reply(t, &call);
	err = bt_ioctl(t, true);
	CHECK_EQ(err, -EINTR);
	CHECK_EQ(t->out_len, 0);
	atomic_fetch_add(&d->served, 1);
	bt_expect(t, BR_TRANSACTION_COMPLETE, NULL);
	bt_expect(t, BR_TRANSACTION, &call);
	bt_send(t, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(t);
	return NULL;
}

static void test_defer_wait_interrupted_keeps_the_completion(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct server m = { 0 };
	struct client *s, *c;
	struct deferrer d;
	pthread_t thread;
	uint32_t h;

	need_defer();
	sigaction(SIGUSR1, &sa, NULL);
	server_start(&m);
	s = client_open();
	c = client_open();
	registry_put(&s->t, 1, PAIR_PTR, PAIR_COOKIE);
	h = registry_get(&c->t, 1);
	d = (struct deferrer){ .b = &s->b };
	thread = test_thread(interrupted_thread, &d);
	test_await(&d.tid, 1);
	bt_ping(&c->t, h, 1);
	test_await_blocked(d.tid);
	pthread_kill(thread, SIGUSR1);
	test_await(&d.served, 1);
	bt_ping(&c->t, h, 2);
	test_thread_join(thread);
}

static const struct test_case cases[] = {
	QUICK(test_defer_completion_alone_does_not_end_the_read),
	QUICK(test_defer_completion_comes_before_the_next_call_in_one_read),
	QUICK(test_defer_call_already_queued_comes_in_the_same_ioctl),
	QUICK(test_without_flag_completion_ends_the_read),
	QUICK(test_flag_on_oneway_call_completes_at_once),
	QUICK(test_defer_one_ioctl_per_served_call),
	QUICK(test_defer_threads_stay_eligible_under_load),
	QUICK(test_defer_thread_counts_as_waiting_for_spawn),
	QUICK(test_defer_completion_alone_is_not_readable),
	QUICK(test_defer_in_a_nested_call_comes_with_the_outer_reply),
	QUICK(test_defer_completion_comes_with_a_death_notification),
	QUICK(test_defer_completion_comes_with_an_error),
	QUICK(test_defer_to_a_dead_caller_leaves_the_thread_serving),
	QUICK(test_defer_reply_that_fails_tells_the_caller),
	QUICK(test_defer_completion_pending_at_exit_and_close_leaves_nothing),
	QUICK(test_defer_wait_interrupted_keeps_the_completion),
};

TEST_MAIN(cases)
