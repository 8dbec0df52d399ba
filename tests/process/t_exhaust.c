// SPDX-License-Identifier: MIT
/* A receiver's buffer runs full: who is told, in which words, and the way back. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MAP 65536

static const uint8_t zero[2 * MAP];

/* c sends @size bytes to s, which receives and answers but does not free. */
static uint32_t hold(struct pair *p, size_t size, uint64_t *addr)
{
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_ext(&m, zero, size);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, &m);
	bt_flush(&p->c);
	if (bt_try(&p->c, &ret))
		return ret.cmd;
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	*addr = ret.tr.data.ptr.buffer;
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&p->s);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	bt_free(&p->c, ret.tr.data.ptr.buffer);
	bt_flush(&p->c);
	return BR_REPLY;
}

static void release(struct pair *p, uint64_t addr)
{
	struct bt_ret ret;

	CHECK(!bt_try(&p->s, &ret));
	bt_free(&p->s, addr);
	bt_flush(&p->s);
}

static void test_requests_not_freed_fill_the_buffer_and_it_recovers(void)
{
	struct pair *p = pair_open_sized(MAP, 0);
	uint64_t addr[17];

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 16; i++)
			CHECK_EQ(hold(p, 4096, &addr[i]), BR_REPLY);
		CHECK_EQ(hold(p, 1, &addr[16]), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, -ENOSPC);
		CHECK_EQ(hold(p, 4096, &addr[16]), BR_FAILED_REPLY);
		for (int i = 0; i < 16; i++)
			release(p, addr[(i * 7 + round) % 16]);
		CHECK_EQ(hold(p, MAP, &addr[0]), BR_REPLY);
		release(p, addr[0]);
	}
	pair_close(p);
}

static void test_replies_not_freed_fail_at_the_caller(void)
{
	struct pair *p = pair_open_sized(0, MAP);
	uint64_t addr[64];
	struct bt_ret ret;
	struct msg m;
	int n = 0;

	for (int round = 0; round < 3; round++) {
		for (n = 0; n < 64; n++) {
			bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, NULL);
			bt_flush(&p->c);
			CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
			msg_init(&m);
			msg_ext(&m, zero, 2048);
			bt_send(&p->s, BC_REPLY, 0, 0, 0, &m);
			bt_flush(&p->s);
			bt_expect(&p->s, BR_TRANSACTION_COMPLETE, NULL);
			bt_free(&p->s, ret.tr.data.ptr.buffer);
			bt_flush(&p->s);
			if (bt_event(&p->c, &ret) != BR_REPLY)
				break;
			addr[n] = ret.tr.data.ptr.buffer;
		}
		CHECK_EQ(ret.cmd, BR_FAILED_REPLY);
		CHECK_EQ(n, 32);
		bt_expect_error(&p->c, BR_FAILED_REPLY, -ENOSPC);
		while (n--)
			bt_free(&p->c, addr[n]);
		bt_flush(&p->c);
	}
	pair_close(p);
}

/* Enough space in all, but no hole that is large enough. */
static void test_fragmented_buffer_fails_only_what_no_hole_holds(void)
{
	struct pair *p = pair_open_sized(MAP, 0);
	uint64_t addr[16], extra;

	for (int i = 0; i < 16; i++)
		CHECK_EQ(hold(p, 4096, &addr[i]), BR_REPLY);
	for (int i = 0; i < 16; i += 2)
		release(p, addr[i]);
	CHECK_EQ(hold(p, 4097, &extra), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, -ENOSPC);
	for (int i = 0; i < 16; i += 2)
		CHECK_EQ(hold(p, 4096, &addr[i]), BR_REPLY);
	CHECK_EQ(hold(p, 1, &extra), BR_FAILED_REPLY);
	for (int i = 0; i < 16; i++)
		release(p, addr[i]);
	CHECK_EQ(hold(p, MAP, &extra), BR_REPLY);
	pair_close(p);
}

/* The smallest hole that fits is used. */
static void test_best_fit_is_chosen(void)
{
	struct pair *p = pair_open_sized(MAP, 0);
	uint64_t a, keep1, b, keep2, c, keep3, got;

	CHECK_EQ(hold(p, 12288, &a), BR_REPLY);
	CHECK_EQ(hold(p, 8, &keep1), BR_REPLY);
	CHECK_EQ(hold(p, 4096, &b), BR_REPLY);
	CHECK_EQ(hold(p, 8, &keep2), BR_REPLY);
	CHECK_EQ(hold(p, 8192, &c), BR_REPLY);
	CHECK_EQ(hold(p, 8, &keep3), BR_REPLY);
	release(p, a);
	release(p, b);
	release(p, c);
	CHECK_EQ(hold(p, 8000, &got), BR_REPLY);
	CHECK_EQ(got, c);
	CHECK_EQ(hold(p, 3000, &got), BR_REPLY);
	CHECK_EQ(got, b);
	CHECK_EQ(hold(p, 9000, &got), BR_REPLY);
	CHECK_EQ(got, a);
	pair_close(p);
}

/* The log of failed transactions, and the daemon's own words. */
static void test_exhaustion_is_explained_in_numbers(void)
{
	struct pair *p = pair_open_sized(MAP, 0);
	uint64_t addr[16], extra;
	char *text;

	for (int i = 0; i < 16; i++)
		CHECK_EQ(hold(p, 4096, &addr[i]), BR_REPLY);
	release(p, addr[3]);
	release(p, addr[9]);
	CHECK_EQ(hold(p, 6664, &extra), BR_FAILED_REPLY);
	text = driver_read("failed_transaction_log");
	if (!text && !driver_is_own())
		test_skip("the driver has no failed_transaction_log");
	CHECK(text);
	if (!strstr(text, "6664"))
		FAIL("failed_transaction_log does not name the size 6664:\n%s", text);
	if (driver_is_own()) {
		char *log = driver_own_log();

		/* what was asked, what is free, the largest hole */
		if (!strstr(log, "6664") || !strstr(log, "8192") || !strstr(log, "4096") ||
		    !strstr(log, "largest"))
			FAIL("the log does not name 6664 (wanted), 8192 (free), "
			     "4096 (largest hole):\n%s", log);
	}
	pair_close(p);
}

static void leak_client(void *arg)
{
	struct client *c = client_open();
	uint32_t got;
	struct msg m;

	msg_init(&m);
	msg_ext(&m, zero, 1000);
	do
		got = bt_call(&c->t, 0, CODE_LEAK, 0, &m, NULL);
	while (got == BR_REPLY);
	/* ours are not freed either, but they are small and the map is larger */
	CHECK_EQ(got, BR_FAILED_REPLY);
	bt_expect_error(&c->t, BR_FAILED_REPLY, -ENOSPC);
	bt_ping(&c->t, 0, CODE_NULL);
}

/* A leaking server that is replaced serves again. */
static void test_exhausted_server_restarted_serves_again(void)
{
	for (int i = 0; i < 3; i++) {
		struct server s = { .map_size = MAP };

		server_start(&s);
		test_join(test_spawn(leak_client, NULL));
		server_stop(&s);
	}
}

/* Sizes, order and holding times at random, with a printed seed. */
static void test_random_holds_and_frees_end_empty(void)
{
	struct pair *p = pair_open_sized(MAP, 0);
	unsigned int seed = 20240611;
	uint64_t addr[64], whole;
	int n = 0, full = 0;

	for (int i = 0; i < 1500; i++) {
		if (n && (rand_r(&seed) % 2 || n == 64)) {
			int k = rand_r(&seed) % n;

			release(p, addr[k]);
			addr[k] = addr[--n];
			continue;
		}
		if (hold(p, rand_r(&seed) % 9000, &addr[n]) == BR_REPLY)
			n++;
		else
			full++;
	}
	while (n)
		release(p, addr[--n]);
	CHECK_GE(full, 1);
	CHECK_EQ(hold(p, MAP, &whole), BR_REPLY);
	pair_close(p);
}

static const struct test_case cases[] = {
	QUICK(test_requests_not_freed_fill_the_buffer_and_it_recovers),
	QUICK(test_replies_not_freed_fail_at_the_caller),
	QUICK(test_fragmented_buffer_fails_only_what_no_hole_holds),
	QUICK(test_best_fit_is_chosen),
	QUICK(test_exhaustion_is_explained_in_numbers),
	QUICK(test_exhausted_server_restarted_serves_again),
	CASE(test_random_holds_and_frees_end_empty),
};

TEST_MAIN(cases)
