// SPDX-License-Identifier: MIT
/* BINDER_THREAD_EXIT, threads that just end, and closes, in every state. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void thread_exit(struct bc *b)
{
	int32_t unused = 0;

	CHECK_EQ(ioctl(b->fd, BINDER_THREAD_EXIT, &unused), 0);
}

static void test_exit_idle_gives_a_fresh_record(void)
{
	struct client *c = client_open();

	for (int i = 0; i < 5; i++) {
		bt_warm(&c->t);
		thread_exit(&c->b);
	}
	bt_warm(&c->t);
}

static void test_exit_in_a_call_says_dead_to_the_caller(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret, call;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	thread_exit(&p->sb);
	CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	/* the process lives on: the buffer is its to free, the next call is served */
	bt_enter(&p->s);
	bt_free(&p->s, call.tr.data.ptr.buffer);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&p->s);
	bt_expect(&p->s, BR_FAILED_REPLY, NULL);
	send_to(&p->c, p->h, 2);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	reply_to(&p->s, &call, 3, NULL);
	CHECK_EQ(take_reply(&p->c), 3);
	pair_close(p);
}

static void test_exit_with_a_call_out_lets_the_callee_finish(void)
{
	struct pair *p = pair_open();
	struct bt_ret call, ret;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	thread_exit(&p->cb);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&p->s);
	bt_wait(&p->s, &ret);
	CHECK(ret.cmd == BR_TRANSACTION_COMPLETE || ret.cmd == BR_DEAD_REPLY);
	bt_free(&p->s, call.tr.data.ptr.buffer);
	bt_flush(&p->s);
	/* nothing of the old call reaches the new record */
	CHECK(!bt_try(&p->c, &ret));
	send_to(&p->c, p->h, 2);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	CHECK_EQ(call.tr.code, 2);
	reply_to(&p->s, &call, 3, NULL);
	CHECK_EQ(take_reply(&p->c), 3);
	pair_close(p);
}

/* The kernel's driver keeps the buffer of such a reply until the close. */
static void test_exit_with_an_unread_reply_frees_it(void)
{
	struct pair *p = pair_open_sized(0, 4096);
	struct bt_ret call, ret;
	static uint8_t big[4096];
	struct msg m;

	for (int i = 0; i < 3; i++) {
		send_to(&p->c, p->h, 1);
		CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
		msg_init(&m);
		msg_ext(&m, big, sizeof(big));
		reply_to(&p->s, &call, 0, &m);
		thread_exit(&p->cb);
	}
	/* the whole map is there again */
	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	reply_to(&p->s, &call, 0, &m);
	if (bt_event(&p->c, &ret) == BR_FAILED_REPLY && !driver_is_own())
		test_skip("the driver keeps the reply's buffer until the close");
	CHECK_EQ(ret.cmd, BR_REPLY);
	CHECK_EQ(ret.tr.data_size, sizeof(big));
	pair_close(p);
}

static void test_exit_with_an_unread_error_forgets_it(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	send_to(&p->c, 999, 1);
	thread_exit(&p->cb);
	CHECK(!bt_try(&p->c, &ret));
	pair_close(p);
}

/* c calls s calls x; s's thread exits in the middle. */
static void test_exit_in_the_middle_of_a_chain_unwinds_it(void)
{
	struct pair *p = pair_open();
	struct third *x = third_open(p);
	struct bt_ret at_s, at_x, ret;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &at_s), BR_TRANSACTION);
	send_to(&p->s, x->from_s, 2);
	CHECK_EQ(bt_event(&x->t, &at_x), BR_TRANSACTION);
	thread_exit(&p->sb);
	/* c learns of it at once, or when x's answer finds nobody */
	bt_send(&x->t, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&x->t);
	bt_wait(&x->t, &ret);
	CHECK(ret.cmd == BR_TRANSACTION_COMPLETE || ret.cmd == BR_DEAD_REPLY);
	CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	CHECK(!bt_try(&p->c, &ret));
	bt_enter(&p->s);
	CHECK(!bt_try(&p->s, &ret));
	pair_close(p);
}

/* c calls s calls x calls s (nested); x's thread exits: both sides of it learn. */
static void test_exit_between_nested_calls_unwinds_both_sides(void)
{
	struct pair *p = pair_open();
	struct third *x = third_open(p);
	struct bt_ret at_s, at_x, nested, ret;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &at_s), BR_TRANSACTION);
	send_to(&p->s, x->from_s, 2);
	CHECK_EQ(bt_event(&x->t, &at_x), BR_TRANSACTION);
	send_to(&x->t, x->to_s, 3);
	CHECK_EQ(bt_event(&p->s, &nested), BR_TRANSACTION);
	thread_exit(&x->b);
	/* s's answer to the nested call finds nobody; then its own call fails */
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&p->s);
	for (;;) {
		bt_wait(&p->s, &ret);
		if (ret.cmd == BR_DEAD_REPLY)
			break;
		CHECK_EQ(ret.cmd, BR_TRANSACTION_COMPLETE);
	}
	if (bt_try(&p->s, &ret))
		CHECK_EQ(ret.cmd, BR_DEAD_REPLY);
	bt_free(&p->s, nested.tr.data.ptr.buffer);
	bt_flush(&p->s);
	reply_to(&p->s, &at_s, 9, NULL);
	CHECK_EQ(take_reply(&p->c), 9);
	pair_close(p);
}

static void *exit_and_end(void *arg)
{
	struct bc *b = arg;
	struct bt t;

	bt_init(&t, b);
	bt_cmd(&t, BC_ENTER_LOOPER);
	bt_warm(&t);
	thread_exit(b);
	return NULL;
}

static int threads_listed(void)
{
	char name[32], *text, *p;
	int n = 0;

	snprintf(name, sizeof(name), "proc/%d", getpid());
	text = driver_read(name);
	for (p = text; p && (p = strstr(p, "\n  thread ")); p++)
		n++;
	free(text);
	return n;
}

static bool one_thread_listed(void *arg)
{
	return threads_listed() <= 1;
}

static void *exit_with_null(void *arg)
{
	struct bc *b = arg;
	struct bt t;

	bt_init(&t, b);
	bt_enter(&t);
	if (ioctl(b->fd, BINDER_THREAD_EXIT, NULL))
		CHECK(errno == EFAULT && driver_is_own());
	return NULL;
}

/*
 * The argument is ignored, and clients pass a null pointer. FUSE copies it
 * before it asks the daemon, and so refuses the call; the daemon finds out
 * by itself that the thread has ended.
 */
static void test_exit_with_null_argument_is_taken(void)
{
	struct client *c = client_open();

	need_logs();
	for (int i = 0; i < 20; i++)
		test_thread_join(test_thread(exit_with_null, &c->b));
	test_eventually(one_thread_listed, NULL);
}

static void test_exit_of_500_threads_leaves_no_record(void)
{
	struct client *c = client_open();

	for (int i = 0; i < 500; i++)
		test_thread_join(test_thread(exit_and_end, &c->b));
	if (driver_is_own() || driver_has_logs())
		CHECK_LE(threads_listed(), 1);
	bc_works(&c->b);
}

static void *just_end(void *arg)
{
	struct bt t;

	bt_init(&t, arg);
	bt_cmd(&t, BC_ENTER_LOOPER);
	bt_warm(&t);
	return NULL;
}

/* Without THREAD_EXIT the records go at the close, if not before. */
static void test_end_of_threads_without_exit_is_cleaned_at_close(void)
{
	for (int round = 0; round < 3; round++) {
		struct client *c = client_open();

		for (int i = 0; i < 50; i++)
			test_thread_join(test_thread(just_end, &c->b));
		bc_works(&c->b);
		bc_close(&c->b);
	}
}

struct taker {
	struct bc *b;
	atomic_int took;
};

static void *take_and_end(void *arg)
{
	struct taker *tk = arg;
	struct bt_ret ret;
	struct bt t;

	bt_init(&t, tk->b);
	bt_enter(&t);
	CHECK_EQ(bt_event(&t, &ret), BR_TRANSACTION);
	test_post(&tk->took);
	return NULL;
}

/*
 * A thread ends with a call in its hands. The kernel's driver says so at the
 * close; the daemon sees the thread end.
 */
static void test_end_of_thread_in_a_call_says_dead(void)
{
	struct pair *p = pair_open();
	struct taker tk = { .b = &p->sb };
	struct bt_ret ret;

	send_to(&p->c, p->h, 1);
	test_thread_join(test_thread(take_and_end, &tk));
	CHECK_EQ(atomic_load(&tk.took), 1);
	if (!driver_is_own()) {
		CHECK(!bt_try(&p->c, &ret));
		bc_close(&p->sb);
	}
	CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
}

/* The last close while threads of the process wait in the driver. */
struct waiter {
	struct bc *b;
	atomic_int tid;
};

static void *wait_for_ever(void *arg)
{
	struct waiter *w = arg;
	struct bt *t = calloc(1, sizeof(*t));

	bt_init(t, w->b);
	bt_enter(t);
	test_set(&w->tid, test_gettid());
	for (;;)
		if (bt_ioctl(t, true) == -EBADF)
			return NULL;
		else
			t->in_pos = t->in_len;
}

static void test_close_wakes_threads_that_wait(void)
{
	struct client *c = client_open();
	struct waiter w[4];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) {
		w[i] = (struct waiter){ .b = &c->b };
		threads[i] = test_thread(wait_for_ever, &w[i]);
	}
	for (int i = 0; i < 4; i++) {
		test_await(&w[i].tid, 1);
		test_await_blocked(w[i].tid);
	}
	/* the flush makes them return, and then there is no descriptor */
	close(c->b.fd);
	for (int i = 0; i < 4; i++)
		test_thread_join(threads[i]);
}

static void test_close_with_everything_open_leaves_nothing(void)
{
	for (int step = 0; step < 8; step++) {
		struct pair *p = pair_open();
		struct third *x = third_open(p);
		struct bt_ret a, b, c;
		struct msg m;

		msg_init(&m);
		msg_binder(&m, 0x100, 0x200);
		msg_handle(&m, p->h);
		bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, &m);
		bt_send(&p->c, BC_TRANSACTION, x->from_c, 1, TF_ONE_WAY, &m);
		m.nr = 1;
		bt_send(&p->c, BC_TRANSACTION, x->from_c, 2, TF_ONE_WAY, &m);
		if (step > 0)
			bt_flush(&p->c);
		if (step > 1)
			CHECK_EQ(bt_event(&p->s, &a), BR_TRANSACTION);
		if (step > 2)
			send_to(&p->s, x->from_s, 3);
		if (step > 3)
			CHECK_EQ(bt_event(&x->t, &b), BR_TRANSACTION);
		if (step > 4)
			send_to(&x->t, x->to_s, 4);
		if (step > 5)
			bt_try(&p->s, &c);
		if (step % 2) {
			bc_close(&p->cb);
			bc_close(&p->sb);
			bc_close(&x->b);
		} else {
			bc_close(&x->b);
			bc_close(&p->sb);
			bc_close(&p->cb);
		}
		server_stop(&p->manager);
	}
}

static const struct test_case cases[] = {
	QUICK(test_exit_with_null_argument_is_taken),
	QUICK(test_exit_idle_gives_a_fresh_record),
	QUICK(test_exit_in_a_call_says_dead_to_the_caller),
	QUICK(test_exit_with_a_call_out_lets_the_callee_finish),
	QUICK(test_exit_with_an_unread_reply_frees_it),
	QUICK(test_exit_with_an_unread_error_forgets_it),
	QUICK(test_exit_in_the_middle_of_a_chain_unwinds_it),
	QUICK(test_exit_between_nested_calls_unwinds_both_sides),
	CASE(test_exit_of_500_threads_leaves_no_record),
	QUICK(test_end_of_threads_without_exit_is_cleaned_at_close),
	QUICK(test_end_of_thread_in_a_call_says_dead),
	QUICK(test_close_wakes_threads_that_wait),
	QUICK(test_close_with_everything_open_leaves_nothing),
};

TEST_MAIN(cases)
