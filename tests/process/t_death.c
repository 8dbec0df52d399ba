// SPDX-License-Identifier: MIT
/* Death notifications: c asks to be told of the death of x, in every order. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <stdlib.h>
#include <unistd.h>

#define COOKIE 0xdeadul

/* A pair, c a looper, and x, of whose object c has the handle x->from_c. */
static struct pair *mourners(struct third **x)
{
	struct pair *p = pair_open();

	*x = third_open(p);
	bt_enter(&p->c);
	return p;
}

static void request(struct bt *t, uint32_t h, uint64_t cookie)
{
	bt_death(t, BC_REQUEST_DEATH_NOTIFICATION, h, cookie);
	bt_flush(t);
}

static void clear(struct bt *t, uint32_t h, uint64_t cookie)
{
	bt_death(t, BC_CLEAR_DEATH_NOTIFICATION, h, cookie);
	bt_flush(t);
}

static void done(struct bt *t, uint64_t cookie)
{
	bt_cookie(t, BC_DEAD_BINDER_DONE, cookie);
	bt_flush(t);
}

static void expect_cookie(struct bt *t, uint32_t cmd, uint64_t cookie)
{
	struct bt_ret ret;

	bt_wait(t, &ret);
	if (ret.cmd != cmd)
		FAIL("got %s, wanted %s", br_name(ret.cmd), br_name(cmd));
	CHECK_EQ(ret.cookie, cookie);
}

#define expect_dead(t, cookie) expect_cookie(t, BR_DEAD_BINDER, cookie)
#define expect_cleared(t, cookie) expect_cookie(t, BR_CLEAR_DEATH_NOTIFICATION_DONE, cookie)

/* A call finds out that the owner of @h is gone; release is not instant. */
static bool is_dead(struct bt *t, uint32_t h)
{
	struct bt_ret ret;

	bt_send(t, BC_TRANSACTION, h, 1, TF_ONE_WAY, NULL);
	bt_flush(t);
	do
		bt_wait(t, &ret);
	while (ret.cmd == BR_DEAD_BINDER);
	return ret.cmd == BR_DEAD_REPLY;
}

static void die(struct pair *p, struct third *x, uint32_t h)
{
	bc_close(&x->b);
	for (int i = 0; !is_dead(&p->c, h); i++) {
		CHECK_LE(i, 10000);
		test_sleep_ms(1);
	}
}

static void test_death_is_announced_once(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, COOKIE);
	bt_quiet(&p->c);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE);
	bt_quiet(&p->c);
	done(&p->c, COOKIE);
	bt_quiet(&p->c);
	pair_close(p);
}

static void test_request_on_a_dead_object_is_announced_at_once(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	die(p, x, x->from_c);
	request(&p->c, x->from_c, COOKIE);
	expect_dead(&p->c, COOKIE);
	done(&p->c, COOKIE);
	bt_quiet(&p->c);
	clear(&p->c, x->from_c, COOKIE);
	expect_cleared(&p->c, COOKIE);
	request(&p->c, x->from_c, COOKIE + 1);
	expect_dead(&p->c, COOKIE + 1);
	pair_close(p);
}

static void test_clear_before_death_is_confirmed_and_silent(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, COOKIE);
	clear(&p->c, x->from_c, COOKIE);
	expect_cleared(&p->c, COOKIE);
	bc_close(&x->b);
	for (int i = 0; i < 10000 && !is_dead(&p->c, x->from_c); i++)
		test_sleep_ms(1);
	bt_quiet(&p->c);
	CHECK_EQ(BT_GOT(&p->c, BR_DEAD_BINDER), 0);
	pair_close(p);
}

static void test_clear_after_announcement_waits_for_done(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, COOKIE);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE);
	clear(&p->c, x->from_c, COOKIE);
	bt_quiet(&p->c);
	done(&p->c, COOKIE);
	expect_cleared(&p->c, COOKIE);
	bt_quiet(&p->c);
	pair_close(p);
}

static void test_clear_after_done_is_confirmed_at_once(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, COOKIE);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE);
	done(&p->c, COOKIE);
	clear(&p->c, x->from_c, COOKIE);
	expect_cleared(&p->c, COOKIE);
	bt_quiet(&p->c);
	pair_close(p);
}

/* The announcement is queued but unread: it still comes first. */
static void test_clear_while_announcement_waits_gives_both(void)
{
	struct third *x;
	struct pair *p = mourners(&x);
	struct bc b;
	struct bt probe;

	end_open(&b, &probe);
	registry_put(&x->t, 5, 0x777, 0);
	CHECK_EQ(registry_get(&probe, 5), 1);
	request(&p->c, x->from_c, COOKIE);
	bc_close(&x->b);
	for (int i = 0; i < 10000 && !is_dead(&probe, 1); i++)
		test_sleep_ms(1);
	/* the owner's nodes die one by one, so this may still be early */
	clear(&p->c, x->from_c, COOKIE);
	{
		struct bt_ret ret;

		bt_wait(&p->c, &ret);
		if (ret.cmd == BR_DEAD_BINDER) {
			bt_quiet(&p->c);
			done(&p->c, COOKIE);
			bt_wait(&p->c, &ret);
		}
		CHECK_EQ(ret.cmd, BR_CLEAR_DEATH_NOTIFICATION_DONE);
		CHECK_EQ(ret.cookie, COOKIE);
	}
	bt_quiet(&p->c);
	pair_close(p);
}

static void test_request_again_after_clear_announces(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	for (int i = 0; i < 5; i++) {
		request(&p->c, x->from_c, COOKIE + i);
		clear(&p->c, x->from_c, COOKIE + i);
		expect_cleared(&p->c, COOKIE + i);
	}
	request(&p->c, x->from_c, COOKIE + 9);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE + 9);
	pair_close(p);
}

static void test_request_twice_is_announced_once(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, COOKIE);
	request(&p->c, x->from_c, COOKIE);
	request(&p->c, x->from_c, COOKIE + 1);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE);
	done(&p->c, COOKIE);
	bt_quiet(&p->c);
	pair_close(p);
}

static void test_clear_with_wrong_cookie_is_skipped(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, COOKIE);
	clear(&p->c, x->from_c, COOKIE + 1);
	bt_quiet(&p->c);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE);
	clear(&p->c, x->from_c, COOKIE + 1);
	done(&p->c, COOKIE + 1);
	bt_quiet(&p->c);
	done(&p->c, COOKIE);
	bt_quiet(&p->c);
	pair_close(p);
}

static void test_misuse_without_request_is_skipped(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, 4711, COOKIE);
	clear(&p->c, 4711, COOKIE);
	clear(&p->c, x->from_c, COOKIE);
	done(&p->c, COOKIE);
	done(&p->c, 0);
	bt_quiet(&p->c);
	request(&p->c, x->from_c, COOKIE);
	done(&p->c, COOKIE);
	bt_quiet(&p->c);
	clear(&p->c, x->from_c, COOKIE);
	expect_cleared(&p->c, COOKIE);
	clear(&p->c, x->from_c, COOKIE);
	bt_quiet(&p->c);
	pair_close(p);
}

static void test_done_twice_is_skipped(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, COOKIE);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE);
	for (int i = 0; i < 3; i++)
		done(&p->c, COOKIE);
	bt_quiet(&p->c);
	clear(&p->c, x->from_c, COOKIE);
	expect_cleared(&p->c, COOKIE);
	pair_close(p);
}

/* A cookie of zero is a cookie. */
static void test_cookie_zero_is_announced(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, 0);
	bc_close(&x->b);
	expect_dead(&p->c, 0);
	done(&p->c, 0);
	bt_quiet(&p->c);
	pair_close(p);
}

static void test_release_of_the_handle_drops_the_request(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, COOKIE);
	bt_ref(&p->c, BC_RELEASE, x->from_c);
	bt_flush(&p->c);
	bc_close(&x->b);
	/* s still has a handle, so it can tell when x is gone */
	for (int i = 0; i < 10000 && !is_dead(&p->s, x->from_s); i++)
		test_sleep_ms(1);
	bt_quiet(&p->c);
	pair_close(p);
}

static void test_weak_handle_is_good_enough(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	bt_ref(&p->c, BC_INCREFS, x->from_c);
	bt_ref(&p->c, BC_RELEASE, x->from_c);
	request(&p->c, x->from_c, COOKIE);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE);
	pair_close(p);
}

/* A thread that waits for a reply is not told; it is when it has the reply. */
static void test_announcement_waits_while_a_call_is_out(void)
{
	struct third *x;
	struct pair *p = mourners(&x);
	struct bt_ret call;

	request(&p->c, x->from_c, COOKIE);
	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &call), BR_TRANSACTION);
	bc_close(&x->b);
	for (int i = 0; i < 10000 && !is_dead(&p->s, x->from_s); i++)
		test_sleep_ms(1);
	reply_to(&p->s, &call, 2, NULL);
	CHECK_EQ(take_reply(&p->c), 2);
	expect_dead(&p->c, COOKIE);
	pair_close(p);
}

/* Many objects of one owner: each is announced, one by each read. */
static void test_200_announcements_come_one_by_one(void)
{
	enum { N = 200 };
	struct third *x;
	struct pair *p = mourners(&x);
	struct flat_binder_object *fbo = calloc(N, sizeof(*fbo));
	uint64_t offs[N], seen[N] = { 0 };
	struct binder_transaction_data tr = {
		.target.handle = x->to_s, .data_size = N * sizeof(*fbo),
		.offsets_size = sizeof(offs), .data.ptr.buffer = (uintptr_t)fbo,
		.data.ptr.offsets = (uintptr_t)offs,
	};
	struct bt_ret ret;

	for (int i = 0; i < N; i++) {
		fbo[i].hdr.type = BINDER_TYPE_BINDER;
		fbo[i].binder = 0x200000 + i * 8;
		offs[i] = i * sizeof(*fbo);
	}
	bt_raw(&x->t, BC_TRANSACTION, &tr);
	bt_flush(&x->t);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	for (int i = 0; i < N; i++) {
		uint32_t h = tr_object(&ret.tr, i)->handle;

		bt_ref(&p->s, BC_ACQUIRE, h);
		bt_death(&p->s, BC_REQUEST_DEATH_NOTIFICATION, h, i);
		if (i % 50 == 49)
			bt_flush(&p->s);
	}
	reply_to(&p->s, &ret, 0, NULL);
	bc_close(&x->b);
	for (int i = 0; i < N; i++) {
		bt_wait(&p->s, &ret);
		CHECK_EQ(ret.cmd, BR_DEAD_BINDER);
		CHECK(ret.cookie < N);
		CHECK_EQ(seen[ret.cookie]++, 0);
		CHECK_EQ(p->s.in_pos, p->s.in_len);
		bt_cookie(&p->s, BC_DEAD_BINDER_DONE, ret.cookie);
	}
	bt_flush(&p->s);
	bt_quiet(&p->s);
	pair_close(p);
}

/* The holder goes with requests, announcements and acknowledgements open. */
static void test_holder_closes_with_everything_open(void)
{
	for (int round = 0; round < 4; round++) {
		struct third *x;
		struct pair *p = mourners(&x);

		request(&p->c, x->from_c, COOKIE);
		if (round > 0)
			bc_close(&x->b);
		if (round > 1)
			expect_dead(&p->c, COOKIE);
		if (round > 2)
			clear(&p->c, x->from_c, COOKIE);
		bc_close(&p->cb);
		if (!round)
			bc_close(&x->b);
		bc_close(&p->sb);
		server_stop(&p->manager);
	}
}

/*
 * The acknowledgement comes from a thread T2 that is no looper, with a clear
 * pending: the confirmation then goes to the process, and nobody deadlocks
 * (CVE-2026-23400).
 */
static void *acknowledge(void *arg)
{
	struct bc *b = arg;
	struct bt t;

	bt_init(&t, b);
	bt_cookie(&t, BC_DEAD_BINDER_DONE, COOKIE);
	bt_flush(&t);
	return NULL;
}

static void test_done_from_a_thread_that_is_no_looper(void)
{
	struct third *x;
	struct pair *p = mourners(&x);

	request(&p->c, x->from_c, COOKIE);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE);
	clear(&p->c, x->from_c, COOKIE);
	bt_quiet(&p->c);
	test_thread_join(test_thread(acknowledge, &p->cb));
	expect_cleared(&p->c, COOKIE);
	bt_quiet(&p->c);
	pair_close(p);
}

struct asked {
	struct bc *b;
	uint32_t h;
};

static void *ask_and_clear(void *arg)
{
	struct asked *a = arg;
	struct bt t;

	bt_init(&t, a->b);
	request(&t, a->h, COOKIE);
	clear(&t, a->h, COOKIE);
	request(&t, a->h, COOKIE + 1);
	return NULL;
}

/* Requests and clears of such a thread are answered to the process, too. */
static void test_request_and_clear_from_a_thread_that_is_no_looper(void)
{
	struct third *x;
	struct pair *p = mourners(&x);
	struct asked a = { &p->cb, x->from_c };

	test_thread_join(test_thread(ask_and_clear, &a));
	expect_cleared(&p->c, COOKIE);
	bc_close(&x->b);
	expect_dead(&p->c, COOKIE + 1);
	pair_close(p);
}

/* Requests and clears of many processes against a dying owner. */
static void mourn(void *arg)
{
	unsigned int seed = (uintptr_t)arg;
	struct client *c = client_open();
	struct bt_ret ret;
	bool asked = false;
	uint32_t h = registry_get(&c->t, 1);

	bt_enter(&c->t);
	for (int i = 0; i < 400; i++) {
		bt_death(&c->t, asked ? BC_CLEAR_DEATH_NOTIFICATION : BC_REQUEST_DEATH_NOTIFICATION,
			 h, COOKIE);
		bt_flush(&c->t);
		asked = !asked;
		if (rand_r(&seed) % 3)
			continue;
		bt_send(&c->t, BC_TRANSACTION, h, CODE_NULL, 0, NULL);
		if (bt_finish(&c->t, false, &ret.tr) != BR_REPLY)
			break;
		bt_free(&c->t, ret.tr.data.ptr.buffer);
	}
	/* all announcements that will come have a clear or a request before them */
	if (!asked)
		bt_death(&c->t, BC_REQUEST_DEATH_NOTIFICATION, h, COOKIE + 1);
	bt_flush(&c->t);
	while (c->t.dead == 0) {
		bt_wait(&c->t, &ret);
		if (ret.cmd == BR_DEAD_BINDER)
			c->t.dead = ret.cookie;
	}
}

static void test_many_ask_and_clear_while_the_owner_dies(void)
{
	for (int round = 0; round < 4; round++) {
		struct server m = { 0 }, s = { .id = 1, .threads = 2 };
		pid_t pids[8];

		server_start(&m);
		server_start(&s);
		for (uintptr_t i = 0; i < 8; i++)
			pids[i] = test_spawn(mourn, (void *)(i + 1 + 10 * round));
		while (atomic_load(&s.shared->served) < 40 + round * 60)
			test_sleep_ms(1);
		server_stop(&s);
		for (int i = 0; i < 8; i++)
			test_join(pids[i]);
		server_stop(&m);
	}
}

static const struct test_case cases[] = {
	QUICK(test_death_is_announced_once),
	QUICK(test_request_on_a_dead_object_is_announced_at_once),
	QUICK(test_clear_before_death_is_confirmed_and_silent),
	QUICK(test_clear_after_announcement_waits_for_done),
	QUICK(test_clear_after_done_is_confirmed_at_once),
	QUICK(test_clear_while_announcement_waits_gives_both),
	QUICK(test_request_again_after_clear_announces),
	QUICK(test_request_twice_is_announced_once),
	QUICK(test_clear_with_wrong_cookie_is_skipped),
	QUICK(test_misuse_without_request_is_skipped),
	QUICK(test_done_twice_is_skipped),
	QUICK(test_cookie_zero_is_announced),
	QUICK(test_release_of_the_handle_drops_the_request),
	QUICK(test_weak_handle_is_good_enough),
	QUICK(test_announcement_waits_while_a_call_is_out),
	QUICK(test_200_announcements_come_one_by_one),
	QUICK(test_holder_closes_with_everything_open),
	QUICK(test_done_from_a_thread_that_is_no_looper),
	QUICK(test_request_and_clear_from_a_thread_that_is_no_looper),
	CASE(test_many_ask_and_clear_while_the_owner_dies),
};

TEST_MAIN(cases)
