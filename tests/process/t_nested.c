// SPDX-License-Identifier: MIT
/* Calls inside calls: which thread gets them, and what the protocol forbids. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	CODE_CHAIN = CODE_OWN, /* n, ids: call the first with the rest; answer all tids */
	CODE_PINGPONG,	       /* n, id of the caller, own id: call back with n - 1 */
};

/* Handles by number, once per process. */
static uint32_t object_handle(struct bt *t, uint32_t id)
{
	static uint32_t known[SERVER_OBJECTS];

	CHECK(id < SERVER_OBJECTS);
	if (!known[id])
		known[id] = registry_get(t, id);
	return known[id];
}

static void append_payload(struct msg *m, const struct binder_transaction_data *tr)
{
	msg_bytes(m, tr_data(tr), tr->data_size);
}

static void handle_chain(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	uint32_t n = tr_u32(tr, 0);

	msg_u32(reply, test_gettid());
	if (n) {
		struct binder_transaction_data inner;
		struct msg m;

		msg_init(&m);
		msg_u32(&m, n - 1);
		for (uint32_t i = 1; i < n; i++)
			msg_u32(&m, tr_u32(tr, i + 1));
		bt_call_ok(t, object_handle(t, tr_u32(tr, 1)), CODE_CHAIN, &m, &inner);
		append_payload(reply, &inner);
		bt_free(t, inner.data.ptr.buffer);
	}
}

static void handle_pingpong(struct bt *t, const struct binder_transaction_data *tr,
			    struct msg *reply)
{
	uint32_t n = tr_u32(tr, 0);

	msg_u32(reply, test_gettid());
	if (n) {
		struct binder_transaction_data inner;
		struct msg m;

		msg_init(&m);
		msg_u32(&m, n - 1);
		msg_u32(&m, tr_u32(tr, 2));
		msg_u32(&m, tr_u32(tr, 1));
		bt_call_ok(t, object_handle(t, tr_u32(tr, 1)), CODE_PINGPONG, &m, &inner);
		append_payload(reply, &inner);
		bt_free(t, inner.data.ptr.buffer);
	}
}

static void nested_handler(struct bt *t, const struct binder_transaction_data *tr,
			   struct msg *reply)
{
	if (tr->code == CODE_CHAIN)
		handle_chain(t, tr, reply);
	else if (tr->code == CODE_PINGPONG)
		handle_pingpong(t, tr, reply);
	else
		FAIL("code %u", tr->code);
}

/* An idle looper of the caller's: nested calls must not go to it. */
static void *idle_looper(void *arg)
{
	struct client *c = arg;
	struct bt *t = calloc(1, sizeof(*t));
	struct bt_ret ret;

	bt_init(t, &c->b);
	bt_enter(t);
	bt_event(t, &ret);
	FAIL("the idle thread got %s", br_name(ret.cmd));
}

static struct client *caller_with_object(unsigned int id)
{
	struct client *c = client_open();

	c->t.handler = nested_handler;
	registry_put(&c->t, id, SERVER_PTR(id), SERVER_COOKIE(id));
	return c;
}

static void test_nested_three_deep_returns_to_waiting_thread(void)
{
	struct server m = { 0 }, b = { .id = 1, .own = nested_handler, .threads = 1 };
	struct server d = { .id = 2, .own = nested_handler, .threads = 1 };
	struct binder_transaction_data reply;
	struct client *c;
	struct msg msg;

	server_start(&m);
	server_start(&b);
	server_start(&d);
	c = caller_with_object(3);
	test_thread(idle_looper, c);
	msg_init(&msg);
	msg_u32(&msg, 2);
	msg_u32(&msg, 2); /* b calls d, */
	msg_u32(&msg, 3); /* d calls us */
	for (int i = 0; i < 50; i++) {
		bt_call_ok(&c->t, object_handle(&c->t, 1), CODE_CHAIN, &msg, &reply);
		CHECK_EQ(reply.data_size, 12);
		CHECK_EQ(tr_u32(&reply, 2), test_gettid());
		bt_free(&c->t, reply.data.ptr.buffer);
		bt_flush(&c->t);
	}
}

/* A calls B calls A calls B, each on the thread that waits. */
static void mutual(uint32_t depth)
{
	struct server m = { 0 }, b = { .id = 1, .own = nested_handler, .threads = 2 };
	struct binder_transaction_data reply;
	struct client *c;
	struct msg msg;

	server_start(&m);
	server_start(&b);
	c = caller_with_object(2);
	test_thread(idle_looper, c);
	msg_init(&msg);
	msg_u32(&msg, depth);
	msg_u32(&msg, 2);
	msg_u32(&msg, 1);
	bt_call_ok(&c->t, object_handle(&c->t, 1), CODE_PINGPONG, &msg, &reply);
	CHECK_EQ(reply.data_size, 4 * (depth + 1));
	for (uint32_t i = 0; i <= depth; i++)
		CHECK_EQ(tr_u32(&reply, i), i % 2 ? (uint32_t)test_gettid() : tr_u32(&reply, 0));
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
}

static void test_nested_mutual_calls_use_waiting_threads(void)
{
	mutual(3);
}

static void test_nested_mutual_twenty_deep_returns(void)
{
	mutual(20);
}

static void test_reply_without_call_fails(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	for (int i = 0; i < 3; i++) {
		bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
		bt_flush(&p->s);
		bt_expect(&p->s, BR_FAILED_REPLY, NULL);
		bt_expect_error(&p->s, BR_FAILED_REPLY, -EPROTO);
	}
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, NULL);
	bt_flush(&p->c);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&p->s);
	bt_expect(&p->s, BR_TRANSACTION_COMPLETE, NULL);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&p->s);
	bt_expect(&p->s, BR_FAILED_REPLY, NULL);
	bt_expect_error(&p->s, BR_FAILED_REPLY, -EPROTO);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	pair_close(p);
}

/* A thread waits for one reply at a time; the first call is not hurt. */
static void test_second_call_while_one_is_out_fails(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, NULL);
	bt_flush(&p->c);
	bt_send(&p->c, BC_TRANSACTION, p->h, 2, 0, NULL);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, -EPROTO);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	CHECK_EQ(ret.tr.code, 1);
	bt_send(&p->s, BC_REPLY, 0, 3, 0, NULL);
	bt_flush(&p->s);
	CHECK_EQ(take_reply(&p->c), 3);
	bt_quiet(&p->c);
	bt_expect(&p->s, BR_TRANSACTION_COMPLETE, NULL);
	bt_quiet(&p->s);
	pair_close(p);
}

static void test_reply_while_own_call_is_out_fails(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, NULL);
	bt_flush(&p->c);
	bt_send(&p->c, BC_REPLY, 0, 2, 0, NULL);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, -EPROTO);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	bt_send(&p->s, BC_REPLY, 0, 3, 0, NULL);
	bt_flush(&p->s);
	CHECK_EQ(take_reply(&p->c), 3);
	pair_close(p);
}

static void test_oneway_while_own_call_is_out_is_sent(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, NULL);
	bt_send(&p->c, BC_TRANSACTION, p->h, 2, TF_ONE_WAY, NULL);
	bt_flush(&p->c);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	bt_quiet(&p->c);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		if (!(ret.tr.flags & TF_ONE_WAY))
			bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
		bt_flush(&p->s);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
	}
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	pair_close(p);
}

/* s serves c and has called x; a call from elsewhere waits until s is done. */
static void test_stranger_waits_while_thread_is_in_nested_call(void)
{
	struct pair *p = pair_open();
	struct third *x = third_open(p);
	struct bt_ret from_c, from_s, ret;
	struct bc b2;
	struct bt c2;

	registry_put(&p->s, 4, PAIR_PTR, PAIR_COOKIE);
	end_open(&b2, &c2);
	CHECK_EQ(registry_get(&c2, 4), 1);
	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &from_c), BR_TRANSACTION);
	send_to(&p->s, x->from_s, 2);
	CHECK_EQ(bt_event(&x->t, &from_s), BR_TRANSACTION);
	send_to(&c2, 1, 3);
	CHECK(!bt_try(&p->s, &ret));
	reply_to(&x->t, &from_s, 4, NULL);
	CHECK_EQ(bt_event(&p->s, &ret), BR_REPLY);
	CHECK_EQ(ret.tr.code, 4);
	CHECK(!bt_try(&p->s, &ret));
	reply_to(&p->s, &from_c, 5, NULL);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.code, 3);
	reply_to(&p->s, &ret, 6, NULL);
	CHECK_EQ(take_reply(&p->c), 5);
	CHECK_EQ(take_reply(&c2), 6);
	pair_close(p);
}

/* c calls s calls x calls s: the innermost call reaches s's waiting thread. */
static void test_nested_back_into_the_chain_step_by_step(void)
{
	struct pair *p = pair_open();
	struct third *x = third_open(p);
	struct bt_ret c_to_s, s_to_x, x_to_s, ret;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &c_to_s), BR_TRANSACTION);
	send_to(&p->s, x->from_s, 2);
	CHECK_EQ(bt_event(&x->t, &s_to_x), BR_TRANSACTION);
	send_to(&x->t, x->to_s, 3);
	CHECK_EQ(bt_event(&p->s, &x_to_s), BR_TRANSACTION);
	CHECK_EQ(x_to_s.tr.code, 3);
	reply_to(&p->s, &x_to_s, 13, NULL);
	CHECK_EQ(bt_event(&x->t, &ret), BR_REPLY);
	CHECK_EQ(ret.tr.code, 13);
	CHECK(!bt_try(&p->c, &ret));
	reply_to(&x->t, &s_to_x, 12, NULL);
	CHECK_EQ(bt_event(&p->s, &ret), BR_REPLY);
	CHECK_EQ(ret.tr.code, 12);
	reply_to(&p->s, &c_to_s, 11, NULL);
	CHECK_EQ(take_reply(&p->c), 11);
	pair_close(p);
}

/* While s waits for x, a reply of s to c would be out of order. */
static void test_reply_out_of_order_fails_and_order_is_kept(void)
{
	struct pair *p = pair_open();
	struct third *x = third_open(p);
	struct bt_ret c_to_s, s_to_x, ret;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &c_to_s), BR_TRANSACTION);
	send_to(&p->s, x->from_s, 2);
	bt_send(&p->s, BC_REPLY, 0, 99, 0, NULL);
	bt_flush(&p->s);
	CHECK_EQ(bt_event(&p->s, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->s, BR_FAILED_REPLY, -EPROTO);
	CHECK(!bt_try(&p->c, &ret));
	CHECK_EQ(bt_event(&x->t, &s_to_x), BR_TRANSACTION);
	reply_to(&x->t, &s_to_x, 12, NULL);
	CHECK_EQ(bt_event(&p->s, &ret), BR_REPLY);
	reply_to(&p->s, &c_to_s, 11, NULL);
	CHECK_EQ(take_reply(&p->c), 11);
	pair_close(p);
}

/* A nested call that fails leaves the outer one to be answered. */
static void test_nested_call_that_fails_leaves_the_outer_one(void)
{
	struct pair *p = pair_open();
	struct bt_ret c_to_s, ret;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &c_to_s), BR_TRANSACTION);
	for (int i = 0; i < 3; i++) {
		send_to(&p->s, 4711, 2);
		CHECK_EQ(bt_event(&p->s, &ret), BR_FAILED_REPLY);
	}
	reply_to(&p->s, &c_to_s, 11, NULL);
	CHECK_EQ(take_reply(&p->c), 11);
	pair_close(p);
}

static const struct test_case cases[] = {
	QUICK(test_nested_three_deep_returns_to_waiting_thread),
	QUICK(test_nested_mutual_calls_use_waiting_threads),
	CASE(test_nested_mutual_twenty_deep_returns),
	QUICK(test_reply_without_call_fails),
	QUICK(test_second_call_while_one_is_out_fails),
	QUICK(test_reply_while_own_call_is_out_fails),
	QUICK(test_oneway_while_own_call_is_out_is_sent),
	QUICK(test_stranger_waits_while_thread_is_in_nested_call),
	QUICK(test_nested_back_into_the_chain_step_by_step),
	QUICK(test_reply_out_of_order_fails_and_order_is_kept),
	QUICK(test_nested_call_that_fails_leaves_the_outer_one),
};

TEST_MAIN(cases)
