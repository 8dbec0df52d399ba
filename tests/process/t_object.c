// SPDX-License-Identifier: MIT
/* Objects in a payload: what the receiver sees, and what is refused. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Sends @m from one end to another, which gets it in *@ret. */
static void pass(struct bt *from, uint32_t h, const struct msg *m, struct bt *to,
		 struct bt_ret *ret)
{
	bt_send(from, BC_TRANSACTION, h, 1, 0, m);
	bt_flush(from);
	CHECK_EQ(bt_event(to, ret), BR_TRANSACTION);
}

static void finish(struct bt *to, struct bt_ret *ret, struct bt *from)
{
	reply_to(to, ret, 0, NULL);
	take_reply(from);
}

/* One object from one end to another; the receiver keeps a count of its kind. */
static struct flat_binder_object pass_one(struct bt *from, uint32_t h, struct bt *to,
					  uint32_t type, uint64_t what, uint64_t cookie)
{
	struct flat_binder_object got;
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_flat(&m, type, what, cookie, 0x17f);
	pass(from, h, &m, to, &ret);
	CHECK_EQ(ret.tr.data_size, sizeof(got));
	CHECK_EQ(ret.tr.offsets_size, 8);
	got = *tr_object(&ret.tr, 0);
	if (got.hdr.type == BINDER_TYPE_HANDLE)
		bt_ref(to, BC_ACQUIRE, got.handle);
	if (got.hdr.type == BINDER_TYPE_WEAK_HANDLE)
		bt_ref(to, BC_INCREFS, got.handle);
	finish(to, &ret, from);
	return got;
}

/* Sends what must be refused, with @param (1: any errno). */
static void refused_with(struct pair *p, const struct msg *m, int param)
{
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, m);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, param);
	CHECK(!bt_try(&p->s, &ret));
}

static void refused(struct pair *p, const struct msg *m)
{
	refused_with(p, m, -EINVAL);
}

static void test_binder_arrives_as_handle(void)
{
	struct pair *p = pair_open();
	struct flat_binder_object got;

	for (uint32_t i = 1; i < 5; i++) {
		got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_BINDER, 0x1000 * i, 0x77);
		CHECK_EQ(got.hdr.type, BINDER_TYPE_HANDLE);
		CHECK_EQ(got.handle, i);
		CHECK_EQ(got.cookie, 0);
		CHECK_EQ(got.flags, 0x17f);
	}
	/* the same object is the same handle */
	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_BINDER, 0x2000, 0x77);
	CHECK_EQ(got.handle, 2);
	pair_close(p);
}

static void test_weak_binder_arrives_as_weak_handle(void)
{
	struct pair *p = pair_open();
	struct flat_binder_object got;

	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_WEAK_BINDER, 0x1000, 0x77);
	CHECK_EQ(got.hdr.type, BINDER_TYPE_WEAK_HANDLE);
	CHECK_EQ(got.handle, 1);
	CHECK_EQ(got.cookie, 0);
	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_BINDER, 0x1000, 0x77);
	CHECK_EQ(got.hdr.type, BINDER_TYPE_HANDLE);
	CHECK_EQ(got.handle, 1);
	pair_close(p);
}

static void test_handle_sent_home_arrives_as_binder(void)
{
	struct pair *p = pair_open();
	struct flat_binder_object got;

	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_HANDLE, p->h, 0);
	CHECK_EQ(got.hdr.type, BINDER_TYPE_BINDER);
	CHECK_EQ(got.binder, PAIR_PTR);
	CHECK_EQ(got.cookie, PAIR_COOKIE);
	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_WEAK_HANDLE, p->h, 0);
	CHECK_EQ(got.hdr.type, BINDER_TYPE_WEAK_BINDER);
	CHECK_EQ(got.binder, PAIR_PTR);
	CHECK_EQ(got.cookie, PAIR_COOKIE);
	pair_close(p);
}

/* Home again in a reply. */
static void test_handle_in_reply_arrives_home_as_binder(void)
{
	struct pair *p = pair_open();
	struct flat_binder_object got;
	struct bt_ret ret;
	struct msg m;

	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_BINDER, 0xabc000, 0xdef);
	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	msg_init(&m);
	msg_handle(&m, got.handle);
	msg_handle(&m, got.handle);
	reply_to(&p->s, &ret, 0, &m);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(tr_object(&ret.tr, i)->hdr.type, BINDER_TYPE_BINDER);
		CHECK_EQ(tr_object(&ret.tr, i)->binder, 0xabc000);
		CHECK_EQ(tr_object(&ret.tr, i)->cookie, 0xdef);
	}
	pair_close(p);
}

static void test_handle_passed_on_reaches_the_same_object(void)
{
	struct pair *p = pair_open();
	struct third *x = third_open(p);
	struct flat_binder_object got;
	struct bt_ret ret;

	/* x has a handle for s only; c gives it one for itself by way of s */
	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_BINDER, 0xc0c0, 0x1);
	got = pass_one(&p->s, x->from_s, &x->t, BINDER_TYPE_HANDLE, got.handle, 0);
	CHECK_EQ(got.hdr.type, BINDER_TYPE_HANDLE);
	CHECK_EQ(got.cookie, 0);
	bt_enter(&p->c);
	send_to(&x->t, got.handle, 55);
	CHECK_EQ(bt_event(&p->c, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.target.ptr, 0xc0c0);
	CHECK_EQ(ret.tr.cookie, 0x1);
	reply_to(&p->c, &ret, 56, NULL);
	CHECK_EQ(take_reply(&x->t), 56);
	/* and x can pass it on weakly */
	got = pass_one(&x->t, x->to_s, &p->s, BINDER_TYPE_WEAK_HANDLE, got.handle, 0);
	CHECK_EQ(got.hdr.type, BINDER_TYPE_WEAK_HANDLE);
	pair_close(p);
}

static void test_weak_handle_is_not_good_for_strong_use(void)
{
	struct pair *p = pair_open();
	struct flat_binder_object got;
	struct bt_ret ret;
	struct msg m;
	uint32_t h;

	pair_give(p, 0x8000, 0x8001, BINDER_TYPE_WEAK_BINDER, &h);
	CHECK_NE(h, p->h);
	msg_init(&m);
	msg_handle(&m, h);
	refused(p, &m);
	/* a call needs a strong one too */
	send_to(&p->c, h, 1);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, -EINVAL);
	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_WEAK_HANDLE, h, 0);
	CHECK_EQ(got.hdr.type, BINDER_TYPE_WEAK_BINDER);
	CHECK_EQ(got.binder, 0x8000);
	pair_close(p);
}

static void test_manager_handle_is_0_everywhere(void)
{
	struct pair *p = pair_open();
	struct flat_binder_object got;

	bt_ref(&p->c, BC_ACQUIRE, 0);
	bt_flush(&p->c);
	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_HANDLE, 0, 0);
	CHECK_EQ(got.hdr.type, BINDER_TYPE_HANDLE);
	CHECK_EQ(got.handle, 0);
	/* the next handle is still the lowest free one */
	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_BINDER, 0x10, 0x20);
	CHECK_EQ(got.handle, 1);
	pair_close(p);
}

static void test_cookie_that_differs_is_refused(void)
{
	struct pair *p = pair_open();
	struct msg m;

	pass_one(&p->c, p->h, &p->s, BINDER_TYPE_BINDER, 0x1000, 0x77);
	msg_init(&m);
	msg_binder(&m, 0x1000, 0x78);
	refused(p, &m);
	msg_init(&m);
	msg_flat(&m, BINDER_TYPE_WEAK_BINDER, 0x1000, 0x78, 0);
	refused(p, &m);
	pass_one(&p->c, p->h, &p->s, BINDER_TYPE_BINDER, 0x1000, 0x77);
	pair_close(p);
}

static void test_handle_unknown_is_refused(void)
{
	static const uint32_t handles[] = { 2, 99, 0x7fffffff, 0x80000000, 0xffffffff };
	struct pair *p = pair_open();
	struct msg m;

	for (size_t i = 0; i < ARRAY_SIZE(handles); i++) {
		msg_init(&m);
		msg_handle(&m, handles[i]);
		refused(p, &m);
		msg_init(&m);
		msg_flat(&m, BINDER_TYPE_WEAK_HANDLE, handles[i], 0, 0);
		refused(p, &m);
	}
	pair_close(p);
}

static void test_type_unknown_is_refused(void)
{
	static const uint32_t types[] = { 0, 1, 0xffffffff, BINDER_TYPE_BINDER + 1, 0x12345678 };
	struct pair *p = pair_open();
	struct msg m;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		msg_init(&m);
		msg_flat(&m, types[i], 1, 2, 0);
		refused(p, &m);
	}
	pair_close(p);
}

/* A payload of 96 bytes full of valid objects, and these offsets. */
static void offsets(struct pair *p, size_t n, const uint64_t *offs, bool good)
{
	struct flat_binder_object fbo = {
		.hdr.type = BINDER_TYPE_BINDER, .binder = 0x4000, .cookie = 0x4001,
	};
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	for (int i = 0; i < 4; i++)
		msg_bytes(&m, &fbo, sizeof(fbo));
	memcpy(m.offs, offs, n * sizeof(*offs));
	m.nr = n;
	if (!good) {
		/* an offset far outside may be found out when data is copied up to it */
		refused_with(p, &m, 1);
		return;
	}
	pass(&p->c, p->h, &m, &p->s, &ret);
	finish(&p->s, &ret, &p->c);
}

static void test_offsets_outside_or_unaligned_are_refused(void)
{
	struct pair *p = pair_open();

	offsets(p, 1, (uint64_t[]){ 0 }, true);
	offsets(p, 1, (uint64_t[]){ 72 }, true);
	offsets(p, 1, (uint64_t[]){ 73 }, false);
	offsets(p, 1, (uint64_t[]){ 76 }, false);
	offsets(p, 1, (uint64_t[]){ 92 }, false);
	offsets(p, 1, (uint64_t[]){ 96 }, false);
	offsets(p, 1, (uint64_t[]){ 100 }, false);
	offsets(p, 1, (uint64_t[]){ 1 }, false);
	offsets(p, 1, (uint64_t[]){ 2 }, false);
	offsets(p, 1, (uint64_t[]){ UINT64_MAX }, false);
	offsets(p, 1, (uint64_t[]){ UINT64_MAX - 23 }, false);
	offsets(p, 1, (uint64_t[]){ 1ull << 32 }, false);
	pair_close(p);
}

static void test_offsets_overlapping_or_backwards_are_refused(void)
{
	struct pair *p = pair_open();

	offsets(p, 4, (uint64_t[]){ 0, 24, 48, 72 }, true);
	offsets(p, 2, (uint64_t[]){ 0, 72 }, true);
	offsets(p, 2, (uint64_t[]){ 0, 0 }, false);
	offsets(p, 2, (uint64_t[]){ 24, 0 }, false);
	offsets(p, 2, (uint64_t[]){ 0, 20 }, false);
	offsets(p, 2, (uint64_t[]){ 0, 8 }, false);
	offsets(p, 3, (uint64_t[]){ 0, 48, 24 }, false);
	offsets(p, 4, (uint64_t[]){ 0, 24, 48, 96 }, false);
	pair_close(p);
}

/* Every fourth byte will do. */
static void test_offset_aligned_to_4_is_taken(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 0xaaaaaaaa);
	msg_binder(&m, 0x4000, 0x4001);
	msg_u32(&m, 0xbbbbbbbb);
	pass(&p->c, p->h, &m, &p->s, &ret);
	CHECK_EQ(tr_u32(&ret.tr, 0), 0xaaaaaaaa);
	CHECK_EQ(tr_u32(&ret.tr, 1), BINDER_TYPE_HANDLE);
	CHECK_EQ(tr_u32(&ret.tr, 7), 0xbbbbbbbb);
	finish(&p->s, &ret, &p->c);
	pair_close(p);
}

/* An object that does not fit the payload at all. */
static void test_payload_smaller_than_object_is_refused(void)
{
	struct pair *p = pair_open();
	struct msg m;

	for (size_t size = 0; size < 24; size += 4) {
		msg_init(&m);
		msg_binder(&m, 0x4000, 0x4001);
		m.size = size;
		refused(p, &m);
	}
	pair_close(p);
}

/*
 * A bad object behind k good ones: the good ones are undone. That shows in the
 * handles, which would be taken, and in the sender's objects, which would stay.
 */
static void test_bad_object_behind_good_ones_undoes_them(void)
{
	struct pair *p = pair_open();
	struct flat_binder_object got;
	struct msg m;

	bt_enter(&p->c);
	for (int k = 0; k < 8; k++) {
		msg_init(&m);
		for (int i = 0; i < k; i++)
			msg_binder(&m, 0x1000 * (i + 1), i);
		msg_handle(&m, 12345);
		msg_binder(&m, 0x9000, 1);
		refused(p, &m);
		/* each told object is untold */
		bt_settle(&p->c);
		CHECK_EQ(BT_GOT(&p->c, BR_INCREFS), BT_GOT(&p->c, BR_DECREFS));
		CHECK_EQ(BT_GOT(&p->c, BR_ACQUIRE), BT_GOT(&p->c, BR_RELEASE));
	}
	got = pass_one(&p->c, p->h, &p->s, BINDER_TYPE_BINDER, 0x5000, 0x77);
	CHECK_EQ(got.handle, 1);
	pair_close(p);
}

/* Data around objects of both kinds stays in place. */
static void test_handle_and_binder_mix_between_data_arrives(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	for (uint32_t i = 0; i < 8; i++) {
		msg_u32(&m, 0x100 + i);
		if (i % 2)
			msg_binder(&m, 0x1000 * (i + 1), i);
		else
			msg_handle(&m, p->h);
		msg_u32(&m, 0x200 + i);
	}
	pass(&p->c, p->h, &m, &p->s, &ret);
	CHECK_EQ(ret.tr.offsets_size, 64);
	for (uint32_t i = 0; i < 8; i++) {
		CHECK_EQ(tr_u32(&ret.tr, i * 8), 0x100 + i);
		CHECK_EQ(tr_u32(&ret.tr, i * 8 + 7), 0x200 + i);
		if (i % 2) {
			CHECK_EQ(tr_object(&ret.tr, i)->hdr.type, BINDER_TYPE_HANDLE);
			CHECK_EQ(tr_object(&ret.tr, i)->handle, i / 2 + 1);
		} else {
			CHECK_EQ(tr_object(&ret.tr, i)->hdr.type, BINDER_TYPE_BINDER);
			CHECK_EQ(tr_object(&ret.tr, i)->binder, PAIR_PTR);
		}
	}
	finish(&p->s, &ret, &p->c);
	pair_close(p);
}

static void test_500_objects_in_one_payload_arrive(void)
{
	enum { N = 500 };
	struct pair *p = pair_open();
	struct flat_binder_object *fbo = calloc(N, sizeof(*fbo));
	uint64_t *offs = calloc(N, sizeof(*offs));
	struct binder_transaction_data tr = {
		.target.handle = p->h, .data_size = N * sizeof(*fbo),
		.offsets_size = N * sizeof(*offs), .data.ptr.buffer = (uintptr_t)fbo,
		.data.ptr.offsets = (uintptr_t)offs,
	};
	struct bt_ret ret;

	for (int i = 0; i < N; i++) {
		fbo[i].hdr.type = BINDER_TYPE_BINDER;
		fbo[i].binder = 0x1000 * (i + 1);
		offs[i] = i * sizeof(*fbo);
	}
	bt_enter(&p->c);
	for (int round = 0; round < 3; round++) {
		bt_raw(&p->c, BC_TRANSACTION, &tr);
		bt_flush(&p->c);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		for (uint32_t i = 0; i < N; i++)
			CHECK_EQ(tr_object(&ret.tr, i)->handle, i + 1);
		finish(&p->s, &ret, &p->c);
		bt_settle(&p->c);
	}
	CHECK_EQ(BT_GOT(&p->c, BR_ACQUIRE), BT_GOT(&p->c, BR_RELEASE));
	CHECK_EQ(BT_GOT(&p->c, BR_INCREFS), BT_GOT(&p->c, BR_DECREFS));
	pair_close(p);
}

static void test_object_in_oneway_arrives(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_binder(&m, 0x3000, 0x3001);
	CHECK_EQ(bt_call(&p->c, p->h, 1, TF_ONE_WAY, &m, NULL), BR_TRANSACTION_COMPLETE);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK_EQ(tr_object(&ret.tr, 0)->hdr.type, BINDER_TYPE_HANDLE);
	CHECK_EQ(tr_object(&ret.tr, 0)->handle, 1);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	bt_flush(&p->s);
	pair_close(p);
}

static void test_object_in_failing_reply_is_undone(void)
{
	struct pair *p = pair_open_sized(0, 4096);
	static uint8_t big[8192];
	struct bt_ret ret;
	uint32_t h;

	for (int i = 0; i < 3; i++) {
		struct binder_transaction_data tr = { .data_size = sizeof(big),
			.offsets_size = 8, .data.ptr.buffer = (uintptr_t)big,
			.data.ptr.offsets = (uintptr_t)&(uint64_t){ 0 } };
		struct flat_binder_object *fbo = (void *)big;

		fbo->hdr.type = BINDER_TYPE_BINDER;
		fbo->binder = 0x3000;
		send_to(&p->c, p->h, 1);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		bt_raw(&p->s, BC_REPLY, &tr);
		bt_flush(&p->s);
		bt_until(&p->s, BR_TRANSACTION_COMPLETE, NULL);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, -ENOSPC);
	}
	bt_settle(&p->s);
	pair_give(p, 0x3000, 0, BINDER_TYPE_BINDER, &h);
	CHECK_EQ(h, p->h + 1);
	pair_close(p);
}

static const struct test_case cases[] = {
	QUICK(test_binder_arrives_as_handle),
	QUICK(test_weak_binder_arrives_as_weak_handle),
	QUICK(test_handle_sent_home_arrives_as_binder),
	QUICK(test_handle_in_reply_arrives_home_as_binder),
	QUICK(test_handle_passed_on_reaches_the_same_object),
	QUICK(test_weak_handle_is_not_good_for_strong_use),
	QUICK(test_manager_handle_is_0_everywhere),
	QUICK(test_cookie_that_differs_is_refused),
	QUICK(test_handle_unknown_is_refused),
	QUICK(test_type_unknown_is_refused),
	QUICK(test_offsets_outside_or_unaligned_are_refused),
	QUICK(test_offsets_overlapping_or_backwards_are_refused),
	QUICK(test_offset_aligned_to_4_is_taken),
	QUICK(test_payload_smaller_than_object_is_refused),
	QUICK(test_bad_object_behind_good_ones_undoes_them),
	QUICK(test_handle_and_binder_mix_between_data_arrives),
	CASE(test_500_objects_in_one_payload_arrive),
	QUICK(test_object_in_oneway_arrives),
	QUICK(test_object_in_failing_reply_is_undone),
};

TEST_MAIN(cases)
