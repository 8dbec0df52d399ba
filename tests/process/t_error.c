// SPDX-License-Identifier: MIT
/* Every way a transaction can fail, what is returned, and the extended error. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A page that is not there. */
static uint64_t hole(void)
{
	void *p = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return (uintptr_t)p;
}

static void expect_failed(struct pair *p, int param)
{
	struct bt_ret ret;

	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, param);
	CHECK(!bt_try(&p->c, &ret));
}

static void test_unknown_handle_fails_with_einval(void)
{
	static const uint32_t handles[] = { 2, 1000, 0x7fffffff, 0x80000000, 0xffffffff };
	struct pair *p = pair_open();

	for (size_t i = 0; i < ARRAY_SIZE(handles); i++) {
		send_to(&p->c, handles[i], 1);
		expect_failed(p, -EINVAL);
		bt_send(&p->c, BC_TRANSACTION, handles[i], 1, TF_ONE_WAY, NULL);
		bt_flush(&p->c);
		expect_failed(p, -EINVAL);
	}
	pair_close(p);
}

static void test_dead_handle_says_dead(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	bc_close(&p->sb);
	/* until the release is through, a call may still be taken, and then dies */
	for (int i = 0; i < 20; i++) {
		send_to(&p->c, p->h, 1);
		CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	}
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, TF_ONE_WAY, NULL);
	bt_flush(&p->c);
	bt_expect(&p->c, BR_DEAD_REPLY, NULL);
	bt_expect_error(&p->c, BR_DEAD_REPLY, 1);
}

static void test_no_manager_says_dead(void)
{
	struct bc b;
	struct bt t;

	end_open(&b, &t);
	CHECK_EQ(bt_call(&t, 0, 1, 0, NULL, NULL), BR_DEAD_REPLY);
	bt_expect_error(&t, BR_DEAD_REPLY, 1);
	CHECK_EQ(bt_call(&t, 0, 1, TF_ONE_WAY, NULL, NULL), BR_DEAD_REPLY);
	bt_expect_error(&t, BR_DEAD_REPLY, 1);
}

static void test_callee_that_closes_says_dead(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK(!bt_try(&p->c, &ret));
	bc_close(&p->sb);
	CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	CHECK(!bt_try(&p->c, &ret));
}

static void test_callee_that_closes_before_reading_says_dead(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	send_to(&p->c, p->h, 1);
	bc_close(&p->sb);
	CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	CHECK(!bt_try(&p->c, &ret));
}

/* The replier gets on with its life. */
static void test_caller_that_closes_leaves_the_callee_working(void)
{
	struct pair *p = pair_open();
	struct third *x = third_open(p);
	struct bt_ret call, ret;

	send_to(&x->t, x->to_s, 1);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	bc_close(&x->b);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&p->s);
	do
		bt_wait(&p->s, &ret);
	while (ret.cmd == BR_RELEASE || ret.cmd == BR_DECREFS);
	CHECK(ret.cmd == BR_TRANSACTION_COMPLETE || ret.cmd == BR_DEAD_REPLY);
	bt_free(&p->s, call.tr.data.ptr.buffer);
	bt_flush(&p->s);
	send_to(&p->c, p->h, 2);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	CHECK_EQ(call.tr.code, 2);
	reply_to(&p->s, &call, 3, NULL);
	CHECK_EQ(take_reply(&p->c), 3);
	pair_close(p);
}

static void raw_call(struct pair *p, uint64_t data, size_t size, uint64_t offsets, size_t nr)
{
	struct binder_transaction_data tr = {
		.target.handle = p->h, .data_size = size, .offsets_size = nr * 8,
		.data.ptr.buffer = data, .data.ptr.offsets = offsets,
	};

	bt_raw(&p->c, BC_TRANSACTION, &tr);
	bt_flush(&p->c);
}

static void test_payload_not_readable_fails_with_efault(void)
{
	struct pair *p = pair_open();
	uint64_t zero = 0;
	struct bt_ret ret;

	raw_call(p, hole(), 8, 0, 0);
	expect_failed(p, -EFAULT);
	raw_call(p, 0, 8, 0, 0);
	expect_failed(p, -EFAULT);
	raw_call(p, UINT64_MAX - 7, 8, 0, 0);
	expect_failed(p, -EFAULT);
	raw_call(p, (uintptr_t)&zero, 8, hole(), 1);
	expect_failed(p, -EFAULT);
	raw_call(p, 0xffff800000000000ul, 4096, 0, 0);
	expect_failed(p, -EFAULT);
	CHECK(!bt_try(&p->s, &ret));
	pair_close(p);
}

static void test_error_is_taken_once(void)
{
	struct pair *p = pair_open();
	struct binder_extended_error ee;
	struct bt_ret ret;

	send_to(&p->c, 99, 1);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_error(&p->c, &ee);
	CHECK_NE(ee.id, 0);
	CHECK_EQ(ee.command, BR_FAILED_REPLY);
	CHECK_EQ(ee.param, -EINVAL);
	for (int i = 0; i < 2; i++) {
		bt_error(&p->c, &ee);
		CHECK_EQ(ee.id, 0);
		CHECK_EQ(ee.command, BR_OK);
		CHECK_EQ(ee.param, 0);
	}
	pair_close(p);
}

static void test_error_of_a_fresh_thread_is_ok(void)
{
	struct client *c = client_open();
	struct binder_extended_error ee;

	bt_error(&c->t, &ee);
	CHECK_EQ(ee.id, 0);
	CHECK_EQ(ee.command, BR_OK);
	CHECK_EQ(ee.param, 0);
}

static void test_error_ids_differ(void)
{
	struct pair *p = pair_open();
	struct binder_extended_error ee;
	uint32_t last = 0;
	struct bt_ret ret;

	for (int i = 0; i < 10; i++) {
		send_to(&p->c, 99, 1);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_error(&p->c, &ee);
		CHECK_NE(ee.id, last);
		last = ee.id;
	}
	pair_close(p);
}

/* A later call that goes well says so. */
static void test_error_is_replaced_by_a_good_call(void)
{
	struct pair *p = pair_open();
	struct binder_extended_error ee;
	struct bt_ret ret;

	send_to(&p->c, 99, 1);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	reply_to(&p->s, &ret, 0, NULL);
	take_reply(&p->c);
	bt_error(&p->c, &ee);
	CHECK_EQ(ee.command, BR_OK);
	CHECK_EQ(ee.param, 0);
	pair_close(p);
}

static void *fresh_error(void *arg)
{
	struct bt t;
	struct binder_extended_error ee;

	bt_init(&t, arg);
	bt_error(&t, &ee);
	CHECK_EQ(ee.command, BR_OK);
	return NULL;
}

static void test_error_is_per_thread(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	send_to(&p->c, 99, 1);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	test_thread_join(test_thread(fresh_error, &p->cb));
	bt_expect_error(&p->c, BR_FAILED_REPLY, -EINVAL);
	pair_close(p);
}

/* A reply that fails is told to the caller, unless it already has an error. */
static void test_error_of_a_reply_is_the_callers_if_it_has_none(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	struct msg m;

	for (int with = 0; with < 2; with++) {
		send_to(&p->c, p->h, 1);
		if (with) {
			send_to(&p->c, p->h, 2);
			CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		}
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		msg_init(&m);
		msg_handle(&m, 999);
		bt_send(&p->s, BC_REPLY, 0, 0, 0, &m);
		bt_flush(&p->s);
		bt_expect(&p->s, BR_TRANSACTION_COMPLETE, NULL);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, with ? -EPROTO : -EINVAL);
	}
	pair_close(p);
}

/* Commands behind one that failed wait until the error was read. */
static void test_commands_behind_a_failure_wait(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	size_t behind;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	reply_to(&p->s, &ret, 0, NULL);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	bt_send(&p->c, BC_TRANSACTION, 99, 1, 0, NULL);
	bt_free(&p->c, ret.tr.data.ptr.buffer);
	bt_send(&p->c, BC_TRANSACTION, p->h, 2, TF_ONE_WAY, NULL);
	behind = 12 + 4 + sizeof(struct binder_transaction_data);
	CHECK_EQ(bt_ioctl(&p->c, false), 0);
	CHECK_EQ(p->c.out_len, behind);
	/* nothing is done as long as the error waits */
	CHECK_EQ(bt_ioctl(&p->c, false), 0);
	CHECK_EQ(p->c.out_len, behind);
	CHECK(!bt_try(&p->s, &ret));
	/* the ioctl that reads does not do them either */
	CHECK_EQ(bt_ioctl(&p->c, true), 0);
	bt_expect(&p->c, BR_FAILED_REPLY, NULL);
	CHECK_EQ(p->c.out_len, behind);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.code, 2);
	pair_close(p);
}

static void test_failure_is_in_the_failed_log(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	char *text;

	send_to(&p->c, 77123, 1);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	text = driver_read("failed_transaction_log");
	if (!text && !driver_is_own())
		test_skip("the driver has no failed_transaction_log");
	CHECK(text && strstr(text, "77123"));
	pair_close(p);
}

static const struct test_case cases[] = {
	QUICK(test_unknown_handle_fails_with_einval),
	QUICK(test_dead_handle_says_dead),
	QUICK(test_no_manager_says_dead),
	QUICK(test_callee_that_closes_says_dead),
	QUICK(test_callee_that_closes_before_reading_says_dead),
	QUICK(test_caller_that_closes_leaves_the_callee_working),
	QUICK(test_payload_not_readable_fails_with_efault),
	QUICK(test_error_is_taken_once),
	QUICK(test_error_of_a_fresh_thread_is_ok),
	QUICK(test_error_ids_differ),
	QUICK(test_error_is_replaced_by_a_good_call),
	QUICK(test_error_is_per_thread),
	QUICK(test_error_of_a_reply_is_the_callers_if_it_has_none),
	QUICK(test_commands_behind_a_failure_wait),
	QUICK(test_failure_is_in_the_failed_log),
};

TEST_MAIN(cases)
