// SPDX-License-Identifier: MIT
/*
 * The reference protocol. The owner is c, which hands its object OBJ to s; the
 * owner is told by BR_INCREFS, ACQUIRE, RELEASE, DECREFS.
 */
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

#define OBJ 0x40000ul
#define OBJ_COOKIE 0x50000ul

static struct pair *owner_pair(void)
{
	struct pair *p = pair_open();

	bt_enter(&p->c);
	return p;
}

/* c sends its object in a one-way call; s has received it in *@ret. */
static uint32_t hand_over(struct pair *p, uint32_t type, struct bt_ret *ret)
{
	struct msg m;

	msg_init(&m);
	msg_flat(&m, type, OBJ, OBJ_COOKIE, 0);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, TF_ONE_WAY, &m);
	bt_flush(&p->c);
	bt_expect(&p->s, BR_TRANSACTION, ret);
	return tr_object(&ret->tr, 0)->handle;
}

static void expect_ref(struct bt *t, uint32_t cmd)
{
	struct bt_ret ret;

	bt_wait(t, &ret);
	if (ret.cmd != cmd)
		FAIL("got %s, wanted %s", br_name(ret.cmd), br_name(cmd));
	CHECK_EQ(ret.ref.ptr, OBJ);
	CHECK_EQ(ret.ref.cookie, OBJ_COOKIE);
}

/* The owner learns of a first strong reference, and answers. */
static void expect_taken(struct bt *t)
{
	expect_ref(t, BR_INCREFS);
	expect_ref(t, BR_ACQUIRE);
	bt_done(t, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
	bt_done(t, BC_ACQUIRE_DONE, OBJ, OBJ_COOKIE);
	bt_expect(t, BR_TRANSACTION_COMPLETE, NULL);
	bt_flush(t);
	bt_quiet(t);
}

static void expect_dropped(struct bt *t)
{
	expect_ref(t, BR_RELEASE);
	expect_ref(t, BR_DECREFS);
	bt_quiet(t);
}

static void command(struct bt *t, uint32_t cmd, uint32_t handle)
{
	bt_ref(t, cmd, handle);
	bt_flush(t);
}

static void free_buffer(struct bt *t, const struct bt_ret *ret)
{
	bt_free(t, ret->tr.data.ptr.buffer);
	bt_flush(t);
}

static void test_first_reference_tells_increfs_then_acquire(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;

	hand_over(p, BINDER_TYPE_BINDER, &ret);
	expect_taken(&p->c);
	pair_close(p);
}

static void test_buffer_holds_references_until_freed(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;

	hand_over(p, BINDER_TYPE_BINDER, &ret);
	expect_taken(&p->c);
	free_buffer(&p->s, &ret);
	expect_dropped(&p->c);
	pair_close(p);
}

static void test_acquire_before_free_keeps_the_object(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;
	uint32_t h = hand_over(p, BINDER_TYPE_BINDER, &ret);

	expect_taken(&p->c);
	command(&p->s, BC_ACQUIRE, h);
	free_buffer(&p->s, &ret);
	bt_quiet(&p->c);
	command(&p->s, BC_RELEASE, h);
	expect_dropped(&p->c);
	pair_close(p);
}

static void test_only_the_last_release_tells(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;
	uint32_t h = hand_over(p, BINDER_TYPE_BINDER, &ret);

	expect_taken(&p->c);
	for (int i = 0; i < 3; i++)
		command(&p->s, BC_ACQUIRE, h);
	free_buffer(&p->s, &ret);
	for (int i = 0; i < 3; i++) {
		bt_quiet(&p->c);
		command(&p->s, BC_RELEASE, h);
	}
	expect_dropped(&p->c);
	pair_close(p);
}

/* A weak count outlives the strong ones. */
static void test_increfs_keeps_weak_only(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;
	uint32_t h = hand_over(p, BINDER_TYPE_BINDER, &ret);

	expect_taken(&p->c);
	command(&p->s, BC_INCREFS, h);
	free_buffer(&p->s, &ret);
	expect_ref(&p->c, BR_RELEASE);
	bt_quiet(&p->c);
	command(&p->s, BC_DECREFS, h);
	expect_ref(&p->c, BR_DECREFS);
	bt_quiet(&p->c);
	pair_close(p);
}

static void test_weak_object_tells_increfs_and_decrefs_only(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;

	hand_over(p, BINDER_TYPE_WEAK_BINDER, &ret);
	expect_ref(&p->c, BR_INCREFS);
	bt_done(&p->c, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	bt_flush(&p->c);
	bt_quiet(&p->c);
	free_buffer(&p->s, &ret);
	expect_ref(&p->c, BR_DECREFS);
	bt_quiet(&p->c);
	pair_close(p);
}

/* An object held weakly that is sent again, strongly. */
static void test_strong_after_weak_tells_acquire(void)
{
	struct pair *p = owner_pair();
	struct bt_ret weak, strong;
	uint32_t h = hand_over(p, BINDER_TYPE_WEAK_BINDER, &weak);

	command(&p->s, BC_INCREFS, h);
	free_buffer(&p->s, &weak);
	expect_ref(&p->c, BR_INCREFS);
	bt_done(&p->c, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(hand_over(p, BINDER_TYPE_BINDER, &strong), h);
	expect_ref(&p->c, BR_ACQUIRE);
	bt_done(&p->c, BC_ACQUIRE_DONE, OBJ, OBJ_COOKIE);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	bt_flush(&p->c);
	free_buffer(&p->s, &strong);
	expect_ref(&p->c, BR_RELEASE);
	bt_quiet(&p->c);
	command(&p->s, BC_DECREFS, h);
	expect_ref(&p->c, BR_DECREFS);
	pair_close(p);
}

/* Nothing is taken back before the owner has acknowledged it. */
static void test_release_waits_for_the_done(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;

	hand_over(p, BINDER_TYPE_BINDER, &ret);
	expect_ref(&p->c, BR_INCREFS);
	expect_ref(&p->c, BR_ACQUIRE);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	free_buffer(&p->s, &ret);
	bt_quiet(&p->c);
	bt_done(&p->c, BC_ACQUIRE_DONE, OBJ, OBJ_COOKIE);
	bt_flush(&p->c);
	expect_ref(&p->c, BR_RELEASE);
	bt_quiet(&p->c);
	bt_done(&p->c, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
	bt_flush(&p->c);
	expect_ref(&p->c, BR_DECREFS);
	bt_quiet(&p->c);
	pair_close(p);
}

/* Taken again while the answer was out: the answer finds it wanted. */
static void test_object_sent_again_before_done_stays(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret, again;

	hand_over(p, BINDER_TYPE_BINDER, &ret);
	expect_ref(&p->c, BR_INCREFS);
	expect_ref(&p->c, BR_ACQUIRE);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	free_buffer(&p->s, &ret);
	hand_over(p, BINDER_TYPE_BINDER, &again);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	bt_done(&p->c, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
	bt_done(&p->c, BC_ACQUIRE_DONE, OBJ, OBJ_COOKIE);
	bt_flush(&p->c);
	bt_quiet(&p->c);
	free_buffer(&p->s, &again);
	expect_dropped(&p->c);
	pair_close(p);
}

static void test_holder_that_closes_drops_all(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;
	uint32_t h = hand_over(p, BINDER_TYPE_BINDER, &ret);

	expect_taken(&p->c);
	for (int i = 0; i < 5; i++) {
		command(&p->s, BC_ACQUIRE, h);
		command(&p->s, BC_INCREFS, h);
	}
	bc_close(&p->sb);
	expect_ref(&p->c, BR_RELEASE);
	expect_ref(&p->c, BR_DECREFS);
	bt_quiet(&p->c);
}

static void test_two_holders_both_must_drop(void)
{
	struct pair *p = owner_pair();
	struct third *x = third_open(p);
	struct bt_ret ret, at_x;
	struct msg m;
	uint32_t h = hand_over(p, BINDER_TYPE_BINDER, &ret);

	expect_taken(&p->c);
	msg_init(&m);
	msg_handle(&m, h);
	bt_send(&p->s, BC_TRANSACTION, x->from_s, 1, TF_ONE_WAY, &m);
	bt_flush(&p->s);
	bt_expect(&x->t, BR_TRANSACTION, &at_x);
	free_buffer(&p->s, &ret);
	bt_quiet(&p->c);
	command(&x->t, BC_ACQUIRE, tr_object(&at_x.tr, 0)->handle);
	free_buffer(&x->t, &at_x);
	bt_quiet(&p->c);
	bc_close(&x->b);
	expect_ref(&p->c, BR_RELEASE);
	expect_ref(&p->c, BR_DECREFS);
	pair_close(p);
}

/* While it is on its way the object is held, whoever else lets go. */
static void test_object_in_flight_is_held(void)
{
	struct pair *p = owner_pair();
	struct third *x = third_open(p);
	struct bt_ret ret, at_x;
	struct msg m;
	uint32_t h = hand_over(p, BINDER_TYPE_BINDER, &ret);

	expect_taken(&p->c);
	msg_init(&m);
	msg_handle(&m, h);
	bt_send(&p->s, BC_TRANSACTION, x->from_s, 1, TF_ONE_WAY, &m);
	bt_flush(&p->s);
	free_buffer(&p->s, &ret);
	bc_close(&p->sb);
	bt_quiet(&p->c);
	bt_expect(&x->t, BR_TRANSACTION, &at_x);
	bt_quiet(&p->c);
	free_buffer(&x->t, &at_x);
	expect_dropped(&p->c);
}

/* A receiver that dies with the object unread lets go of it. */
static void test_undelivered_object_is_dropped_with_the_receiver(void)
{
	struct pair *p = owner_pair();
	struct msg m;

	msg_init(&m);
	msg_binder(&m, OBJ, OBJ_COOKIE);
	CHECK_EQ(bt_call(&p->c, p->h, 1, TF_ONE_WAY, &m, NULL), BR_TRANSACTION_COMPLETE);
	bc_close(&p->sb);
	/* told and untold, or never told at all */
	bt_flush(&p->c);
	bt_settle(&p->c);
	for (int i = 0; i < 2000 && BT_GOT(&p->c, BR_DECREFS) < BT_GOT(&p->c, BR_INCREFS); i++) {
		test_sleep_ms(1);
		bt_settle(&p->c);
	}
	CHECK_EQ(BT_GOT(&p->c, BR_INCREFS), BT_GOT(&p->c, BR_DECREFS));
	CHECK_EQ(BT_GOT(&p->c, BR_ACQUIRE), BT_GOT(&p->c, BR_RELEASE));
}

static uint32_t give_next(struct pair *p, uint64_t n)
{
	uint32_t h;

	pair_give(p, 0x1000000 + 0x1000 * n, n, BINDER_TYPE_BINDER, &h);
	return h;
}

static void test_handle_numbers_are_the_lowest_free(void)
{
	struct pair *p = pair_open();

	CHECK_EQ(p->h, 1);
	for (uint32_t i = 2; i <= 6; i++)
		CHECK_EQ(give_next(p, i), i);
	command(&p->c, BC_RELEASE, 4);
	command(&p->c, BC_RELEASE, 2);
	CHECK_EQ(give_next(p, 12), 2);
	CHECK_EQ(give_next(p, 14), 4);
	CHECK_EQ(give_next(p, 17), 7);
	pair_close(p);
}

static void test_handle_numbers_stay_low_over_thousands(void)
{
	struct pair *p = pair_open();

	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t h = give_next(p, i + 2);

		CHECK_EQ(h, 2);
		command(&p->c, BC_RELEASE, h);
		bt_settle(&p->s);
	}
	for (uint32_t i = 2; i < 600; i++)
		CHECK_EQ(give_next(p, i), i);
	pair_close(p);
}

/* The manager hears nothing of its node; clients may count on handle 0. */
static void test_manager_node_needs_no_commands(void)
{
	struct pair *p = pair_open();

	for (int i = 0; i < 3; i++) {
		command(&p->c, BC_INCREFS, 0);
		command(&p->c, BC_ACQUIRE, 0);
	}
	bt_ping(&p->c, 0, CODE_NULL);
	for (int i = 0; i < 3; i++) {
		command(&p->c, BC_RELEASE, 0);
		command(&p->c, BC_DECREFS, 0);
	}
	bt_ping(&p->c, 0, CODE_NULL);
	/* below zero: refused, and no harm */
	command(&p->c, BC_RELEASE, 0);
	command(&p->c, BC_DECREFS, 0);
	bt_ping(&p->c, 0, CODE_NULL);
	pair_close(p);
}

/* A wrong command is consumed, and what follows it in the buffer is done. */
static void goes_on(struct pair *p)
{
	static uint32_t code = 1000;
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, ++code, 0, NULL);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.code, code);
	reply_to(&p->s, &ret, code, NULL);
	CHECK_EQ(take_reply(&p->c), code);
}

static void test_reference_commands_on_unknown_handle_are_skipped(void)
{
	static const uint32_t cmds[] = { BC_INCREFS, BC_ACQUIRE, BC_RELEASE, BC_DECREFS };
	static const uint32_t handles[] = { 2, 77, 0x7fffffff, 0xffffffff };
	struct pair *p = pair_open();

	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++)
		for (size_t j = 0; j < ARRAY_SIZE(handles); j++) {
			bt_ref(&p->c, cmds[i], handles[j]);
			goes_on(p);
		}
	pair_close(p);
}

/* One release too many takes the handle; more do nothing. */
static void test_release_too_often_is_skipped(void)
{
	struct pair *p = pair_open();
	uint32_t h = give_next(p, 9);

	for (int i = 0; i < 4; i++) {
		bt_ref(&p->c, BC_RELEASE, h);
		goes_on(p);
	}
	h = give_next(p, 9);
	bt_ref(&p->c, BC_INCREFS, h);
	for (int i = 0; i < 3; i++) {
		bt_ref(&p->c, BC_RELEASE, h);
		goes_on(p);
	}
	for (int i = 0; i < 3; i++) {
		bt_ref(&p->c, BC_DECREFS, h);
		goes_on(p);
	}
	CHECK_EQ(give_next(p, 10), h);
	pair_close(p);
}

/* A buffer's own counts are not the holder's to give away. */
static void test_release_of_what_only_the_buffer_holds_is_harmless(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;
	uint32_t h = hand_over(p, BINDER_TYPE_BINDER, &ret);

	expect_taken(&p->c);
	for (int i = 0; i < 3; i++) {
		command(&p->s, BC_RELEASE, h);
		command(&p->s, BC_DECREFS, h);
	}
	free_buffer(&p->s, &ret);
	expect_ref(&p->c, BR_RELEASE);
	expect_ref(&p->c, BR_DECREFS);
	bt_quiet(&p->c);
	hand_over(p, BINDER_TYPE_BINDER, &ret);
	expect_taken(&p->c);
	pair_close(p);
}

static void test_done_that_nobody_waits_for_is_skipped(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;

	for (int i = 0; i < 3; i++) {
		bt_done(&p->c, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
		bt_done(&p->c, BC_ACQUIRE_DONE, OBJ, OBJ_COOKIE);
		bt_done(&p->c, BC_ACQUIRE_DONE, 0, 0);
		goes_on(p);
	}
	hand_over(p, BINDER_TYPE_BINDER, &ret);
	expect_taken(&p->c);
	/* a second answer */
	bt_done(&p->c, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
	bt_done(&p->c, BC_ACQUIRE_DONE, OBJ, OBJ_COOKIE);
	bt_flush(&p->c);
	bt_quiet(&p->c);
	free_buffer(&p->s, &ret);
	expect_dropped(&p->c);
	pair_close(p);
}

static void test_done_with_wrong_cookie_is_skipped(void)
{
	struct pair *p = owner_pair();
	struct bt_ret ret;

	hand_over(p, BINDER_TYPE_BINDER, &ret);
	expect_ref(&p->c, BR_INCREFS);
	expect_ref(&p->c, BR_ACQUIRE);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	bt_done(&p->c, BC_INCREFS_DONE, OBJ, OBJ_COOKIE + 1);
	bt_done(&p->c, BC_ACQUIRE_DONE, OBJ, OBJ_COOKIE + 1);
	bt_done(&p->c, BC_ACQUIRE_DONE, OBJ + 8, OBJ_COOKIE);
	bt_flush(&p->c);
	free_buffer(&p->s, &ret);
	bt_quiet(&p->c);
	bt_done(&p->c, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
	bt_done(&p->c, BC_ACQUIRE_DONE, OBJ, OBJ_COOKIE);
	bt_flush(&p->c);
	expect_dropped(&p->c);
	pair_close(p);
}

static void test_free_of_what_is_no_buffer_is_skipped(void)
{
	struct pair *p = pair_open();
	uint64_t map = (uintptr_t)p->cb.map, other = (uintptr_t)p->sb.map;
	const uint64_t bad[] = {
		0, 1, map, map + 8, map + 4096, map - 8, map + p->cb.map_size,
		map + p->cb.map_size - 8, other, other + 8, UINT64_MAX, UINT64_MAX - 7,
		1ull << 63, (uintptr_t)p,
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		bt_free(&p->c, bad[i]);
		goes_on(p);
	}
	pair_close(p);
}

static void test_free_twice_or_in_the_middle_is_skipped(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret, kept;
	uint64_t addr;
	struct msg m;

	msg_init(&m);
	msg_bytes(&m, "0123456789abcdef0123456789abcdef", 32);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, &m);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	addr = ret.tr.data.ptr.buffer;
	for (int d = 1; d < 40; d++) {
		bt_free(&p->s, addr + d);
		bt_free(&p->s, addr - d);
	}
	bt_flush(&p->s);
	CHECK_MEM(tr_data(&ret.tr), m.buf, 32);
	/* another's buffer is not ours */
	bt_free(&p->c, addr);
	bt_flush(&p->c);
	bt_free(&p->s, addr);
	bt_free(&p->s, addr);
	bt_free(&p->s, addr);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&p->s);
	take_reply(&p->c);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, &m);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &kept), BR_TRANSACTION);
	CHECK_MEM(tr_data(&kept.tr), m.buf, 32);
	pair_close(p);
}

/* An undelivered buffer cannot be freed by guessing its address. */
static void test_free_before_delivery_is_skipped(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	uint64_t addr;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	addr = ret.tr.data.ptr.buffer;
	reply_to(&p->s, &ret, 0, NULL);
	take_reply(&p->c);
	/* the next one is most likely placed there again */
	send_to(&p->c, p->h, 2);
	bt_free(&p->s, addr);
	bt_free(&p->s, (uintptr_t)p->sb.map);
	bt_flush(&p->s);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.code, 2);
	reply_to(&p->s, &ret, 3, NULL);
	CHECK_EQ(take_reply(&p->c), 3);
	pair_close(p);
}

static void test_attempt_acquire_and_acquire_result_are_refused(void)
{
	struct pair *p = pair_open();
	struct binder_write_read bwr = { 0 };
	struct {
		uint32_t cmd;
		uint64_t arg;
	} __attribute__((packed)) attempt = { BC_ATTEMPT_ACQUIRE, 0 };
	struct {
		uint32_t cmd;
		uint32_t arg;
	} result = { BC_ACQUIRE_RESULT, 0 };

	bwr.write_buffer = (uintptr_t)&attempt;
	bwr.write_size = sizeof(attempt);
	CHECK(ioctl(p->cb.fd, BINDER_WRITE_READ, &bwr) < 0 && errno == EINVAL);
	bwr.write_consumed = 0;
	bwr.write_buffer = (uintptr_t)&result;
	bwr.write_size = sizeof(result);
	CHECK(ioctl(p->cb.fd, BINDER_WRITE_READ, &bwr) < 0 && errno == EINVAL);
	goes_on(p);
	pair_close(p);
}

static void manager_refs_itself(void *arg)
{
	struct bc b;
	struct bt t;

	bc_open_nonblock(&b, 0);
	bt_init(&t, &b);
	CHECK_EQ(bc_become_manager(&b), 0);
	bt_ref(&t, BC_ACQUIRE, 0);
	CHECK_EQ(bt_ioctl(&t, false), -EINVAL);
	t.out_len = 0;
	bt_ref(&t, BC_INCREFS, 0);
	CHECK_EQ(bt_ioctl(&t, false), -EINVAL);
	t.out_len = 0;
	bc_works(&b);
}

static void test_manager_reference_on_itself_is_refused(void)
{
	test_join(test_spawn(manager_refs_itself, NULL));
}

/* What to do with a handle is up to a random walk; the end must be clean. */
static void test_random_reference_commands_end_clean(void)
{
	static const uint32_t cmds[] = { BC_INCREFS, BC_ACQUIRE, BC_RELEASE, BC_DECREFS };
	struct pair *p = pair_open();
	unsigned int seed = 4242;

	for (int round = 0; round < 100; round++) {
		give_next(p, round + 20);
		for (int i = 0; i < 20; i++)
			bt_ref(&p->c, cmds[rand_r(&seed) % 4], 2 + rand_r(&seed) % 8);
		goes_on(p);
		bt_settle(&p->s);
	}
	/* no strong reference without its weak one, nothing twice */
	CHECK_GE(BT_GOT(&p->s, BR_INCREFS), BT_GOT(&p->s, BR_DECREFS));
	CHECK_GE(BT_GOT(&p->s, BR_ACQUIRE), BT_GOT(&p->s, BR_RELEASE));
	bc_close(&p->cb);
	for (int i = 0; i < 2000 && BT_GOT(&p->s, BR_DECREFS) < BT_GOT(&p->s, BR_INCREFS); i++) {
		test_sleep_ms(1);
		bt_settle(&p->s);
	}
	CHECK_EQ(BT_GOT(&p->s, BR_ACQUIRE), BT_GOT(&p->s, BR_RELEASE) - 1);
	/* the pair's own object was told before we began to count */
	CHECK_EQ(BT_GOT(&p->s, BR_INCREFS), BT_GOT(&p->s, BR_DECREFS) - 1);
}

static const struct test_case cases[] = {
	QUICK(test_first_reference_tells_increfs_then_acquire),
	QUICK(test_buffer_holds_references_until_freed),
	QUICK(test_acquire_before_free_keeps_the_object),
	QUICK(test_only_the_last_release_tells),
	QUICK(test_increfs_keeps_weak_only),
	QUICK(test_weak_object_tells_increfs_and_decrefs_only),
	QUICK(test_strong_after_weak_tells_acquire),
	QUICK(test_release_waits_for_the_done),
	QUICK(test_object_sent_again_before_done_stays),
	QUICK(test_holder_that_closes_drops_all),
	QUICK(test_two_holders_both_must_drop),
	QUICK(test_object_in_flight_is_held),
	QUICK(test_undelivered_object_is_dropped_with_the_receiver),
	QUICK(test_handle_numbers_are_the_lowest_free),
	CASE(test_handle_numbers_stay_low_over_thousands),
	QUICK(test_manager_node_needs_no_commands),
	QUICK(test_reference_commands_on_unknown_handle_are_skipped),
	QUICK(test_release_too_often_is_skipped),
	QUICK(test_release_of_what_only_the_buffer_holds_is_harmless),
	QUICK(test_done_that_nobody_waits_for_is_skipped),
	QUICK(test_done_with_wrong_cookie_is_skipped),
	QUICK(test_free_of_what_is_no_buffer_is_skipped),
	QUICK(test_free_twice_or_in_the_middle_is_skipped),
	QUICK(test_free_before_delivery_is_skipped),
	QUICK(test_attempt_acquire_and_acquire_result_are_refused),
	QUICK(test_manager_reference_on_itself_is_refused),
	CASE(test_random_reference_commands_end_clean),
};

TEST_MAIN(cases)
