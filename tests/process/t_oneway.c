// SPDX-License-Identifier: MIT
/* One-way calls: order per node, one at a time, their half of the buffer. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t send_oneway(struct pair *p, uint32_t h, uint32_t code, size_t size)
{
	static uint8_t zero[BC_MAP_SIZE];
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_ext(&m, zero, size);
	bt_send(&p->c, BC_TRANSACTION, h, code, TF_ONE_WAY, &m);
	bt_flush(&p->c);
	bt_wait(&p->c, &ret);
	return ret.cmd;
}

static void free_buffer(struct bt *t, const struct bt_ret *ret)
{
	bt_free(t, ret->tr.data.ptr.buffer);
	bt_flush(t);
}

static void test_oneway_completes_at_once_and_names_no_pid(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 5, TF_ONE_WAY, NULL);
	CHECK_EQ(bt_ioctl(&p->c, true), 0);
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	CHECK_EQ(ret.tr.code, 5);
	CHECK_EQ(ret.tr.sender_pid, 0);
	CHECK_EQ(ret.tr.sender_euid, geteuid());
	CHECK_EQ(ret.tr.target.ptr, PAIR_PTR);
	CHECK_EQ(ret.tr.cookie, PAIR_COOKIE);
	CHECK_EQ(ret.tr.flags & TF_ONE_WAY, TF_ONE_WAY);
	bt_quiet(&p->c);
	pair_close(p);
}

/* The next comes when the buffer of the one before is freed. */
static void test_oneway_one_at_a_time_per_node(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret, next;

	for (uint32_t i = 0; i < 10; i++)
		CHECK_EQ(send_oneway(p, p->h, i, i), BR_TRANSACTION_COMPLETE);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	for (uint32_t i = 0; i < 10; i++) {
		CHECK_EQ(ret.tr.code, i);
		CHECK_EQ(ret.tr.data_size, i);
		bt_quiet(&p->s);
		free_buffer(&p->s, &ret);
		if (i < 9)
			bt_expect(&p->s, BR_TRANSACTION, &next);
		ret = next;
	}
	bt_quiet(&p->s);
	pair_close(p);
}

static void test_oneway_nodes_are_independent(void)
{
	struct pair *p = pair_open();
	struct bt_ret first, ret;
	uint32_t h2;

	pair_give(p, 0x6000, 0x6001, BINDER_TYPE_BINDER, &h2);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_EQ(send_oneway(p, p->h, 10 + i, 8), BR_TRANSACTION_COMPLETE);
		CHECK_EQ(send_oneway(p, h2, 20 + i, 8), BR_TRANSACTION_COMPLETE);
	}
	bt_expect(&p->s, BR_TRANSACTION, &first);
	CHECK_EQ(first.tr.code, 10);
	for (uint32_t i = 0; i < 3; i++) {
		bt_expect(&p->s, BR_TRANSACTION, &ret);
		CHECK_EQ(ret.tr.code, 20 + i);
		CHECK_EQ(ret.tr.target.ptr, 0x6000);
		free_buffer(&p->s, &ret);
	}
	bt_quiet(&p->s);
	for (uint32_t i = 1; i < 3; i++) {
		free_buffer(&p->s, &first);
		bt_expect(&p->s, BR_TRANSACTION, &first);
		CHECK_EQ(first.tr.code, 10 + i);
	}
	pair_close(p);
}

/* A synchronous call is not held back by one-way calls of its node. */
static void test_call_passes_waiting_oneways(void)
{
	struct pair *p = pair_open();
	struct bt_ret first, ret;

	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQ(send_oneway(p, p->h, i, 8), BR_TRANSACTION_COMPLETE);
	bt_expect(&p->s, BR_TRANSACTION, &first);
	bt_send(&p->c, BC_TRANSACTION, p->h, 99, 0, NULL);
	bt_flush(&p->c);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	CHECK_EQ(ret.tr.code, 99);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	free_buffer(&p->s, &ret);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	pair_close(p);
}

static void test_reply_to_a_oneway_fails(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	CHECK_EQ(send_oneway(p, p->h, 1, 8), BR_TRANSACTION_COMPLETE);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_flush(&p->s);
	bt_expect(&p->s, BR_FAILED_REPLY, NULL);
	bt_expect_error(&p->s, BR_FAILED_REPLY, -EPROTO);
	free_buffer(&p->s, &ret);
	bt_quiet(&p->c);
	pair_close(p);
}

/* A server that serves a one-way call may call others meanwhile. */
static void test_call_from_inside_a_oneway_works(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	CHECK_EQ(send_oneway(p, p->h, 1, 8), BR_TRANSACTION_COMPLETE);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	bt_ping(&p->s, 0, CODE_NULL);
	free_buffer(&p->s, &ret);
	pair_close(p);
}

/* Half of the mapping, and not a byte of the other half. */
static void test_oneway_budget_is_half_the_map(void)
{
	struct pair *p = pair_open_sized(65536, 0);
	struct bt_ret ret;
	unsigned int sent;

	for (int round = 0; round < 3; round++) {
		for (sent = 0; send_oneway(p, p->h, sent, 1024) == BR_TRANSACTION_COMPLETE; sent++)
			CHECK_LE(sent, 32);
		bt_expect_error(&p->c, BR_FAILED_REPLY, -ENOSPC);
		CHECK_LE(sent, 32);
		CHECK_GE(sent, 28);
		/* the other half serves calls */
		bt_send(&p->c, BC_TRANSACTION, p->h, 77, 0,
			&(struct msg){ .ext = calloc(1, 32768), .ext_size = 32768 });
		bt_flush(&p->c);
		for (unsigned int i = 0; i < sent + 1; i++) {
			CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
			if (ret.tr.code == 77)
				bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
			free_buffer(&p->s, &ret);
		}
		CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
		bt_free(&p->c, ret.tr.data.ptr.buffer);
		bt_flush(&p->c);
	}
	pair_close(p);
}

/* Space comes back one buffer at a time. */
static void test_oneway_budget_returns_with_each_free(void)
{
	struct pair *p = pair_open_sized(65536, 0);
	unsigned int sent = 0, got = 0;
	struct bt_ret ret;

	while (send_oneway(p, p->h, sent, 4096) == BR_TRANSACTION_COMPLETE)
		sent++;
	for (int i = 0; i < 50; i++) {
		bt_expect(&p->s, BR_TRANSACTION, &ret);
		CHECK_EQ(ret.tr.code, got++);
		free_buffer(&p->s, &ret);
		CHECK_EQ(send_oneway(p, p->h, sent++, 4096), BR_TRANSACTION_COMPLETE);
		CHECK_EQ(send_oneway(p, p->h, 9999, 4096), BR_FAILED_REPLY);
		CHECK(!bt_try(&p->c, &ret));
	}
	pair_close(p);
}

/* A thousand wait for a server that does not read yet. */
static void test_oneway_backlog_is_kept_in_order(void)
{
	struct pair *p = pair_open_sized(1 << 20, 0);
	struct bt_ret ret;

	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQ(send_oneway(p, p->h, i, i % 64), BR_TRANSACTION_COMPLETE);
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		CHECK_EQ(ret.tr.code, i);
		CHECK_EQ(ret.tr.data_size, i % 64);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
	}
	bt_flush(&p->s);
	CHECK(!bt_try(&p->s, &ret));
	pair_close(p);
}

/* What was sent arrives although the sender is gone. */
static void test_oneway_outlives_its_sender(void)
{
	struct pair *p = pair_open();
	struct bc b;
	struct bt t;
	struct bt_ret ret;

	registry_put(&p->s, 2, PAIR_PTR, PAIR_COOKIE);
	bt_settle(&p->s);
	end_open(&b, &t);
	CHECK_EQ(registry_get(&t, 2), 1);
	for (uint32_t i = 0; i < 5; i++)
		CHECK_EQ(bt_call(&t, 1, i, TF_ONE_WAY, NULL, NULL), BR_TRANSACTION_COMPLETE);
	bc_close(&b);
	for (uint32_t i = 0; i < 5; i++) {
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		CHECK_EQ(ret.tr.code, i);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
	}
	pair_close(p);
}

/*
 * The flood: senders in processes of their own send numbered calls to three
 * nodes of a server with four threads. Per sender and node the numbers must
 * arrive in order, each once.
 */
enum { NODES = 3, SENDERS = 6, EACH = 300, CODE_SEQ = CODE_OWN };

static struct flood {
	atomic_int seen[SENDERS][NODES];
	atomic_int inside[NODES];
} *flood;

static void flood_handler(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	uint32_t who = tr_u32(tr, 0), seq = tr_u32(tr, 1);
	uint32_t node = tr->target.ptr / 0x100 - 1;

	CHECK(who < SENDERS && node < NODES);
	CHECK_EQ(atomic_fetch_add(&flood->inside[node], 1), 0);
	CHECK_EQ(atomic_fetch_add(&flood->seen[who][node], 1), seq);
	atomic_fetch_sub(&flood->inside[node], 1);
}

static void *flood_thread(void *arg)
{
	struct bt *t = calloc(1, sizeof(*t));

	bt_init(t, arg);
	t->handler = flood_handler;
	bt_enter(t);
	bt_loop(t);
}

static void flood_server(void *arg)
{
	struct bc b;
	struct bt t;

	bc_open(&b, 256 * 1024);
	bt_init(&t, &b);
	for (int i = 0; i < NODES; i++)
		registry_put(&t, i + 1, 0x100 * (i + 1), i);
	for (int i = 0; i < 4; i++)
		test_thread(flood_thread, &b);
	test_post(arg);
	flood_thread(&b);
}

static void flood_sender(void *arg)
{
	unsigned int who = (uintptr_t)arg, seed = who, full = 0;
	struct client *c = client_open();
	uint32_t seq[NODES] = { 0 }, h[NODES];

	for (int i = 0; i < NODES; i++)
		h[i] = registry_get(&c->t, i + 1);
	for (int sent = 0; sent < EACH;) {
		uint32_t node = rand_r(&seed) % NODES, got;
		uint8_t pad[256] = { 0 };
		struct msg m;

		msg_init(&m);
		msg_u32(&m, who);
		msg_u32(&m, seq[node]);
		msg_bytes(&m, pad, rand_r(&seed) % sizeof(pad));
		got = bt_call(&c->t, h[node], CODE_SEQ, TF_ONE_WAY, &m, NULL);
		if (got == BR_FAILED_REPLY) {
			bt_expect_error(&c->t, BR_FAILED_REPLY, -ENOSPC);
			CHECK_LE(++full, 1000000);
			test_sleep_ms(1);
			continue;
		}
		CHECK_EQ(got, BR_TRANSACTION_COMPLETE);
		seq[node]++;
		sent++;
	}
}

static bool flood_arrived(void *arg)
{
	int sum = 0;

	for (int i = 0; i < SENDERS; i++)
		for (int j = 0; j < NODES; j++)
			sum += atomic_load(&flood->seen[i][j]);
	return sum == SENDERS * EACH;
}

static void test_oneway_flood_keeps_order_per_node_and_loses_nothing(void)
{
	struct server m = { 0 };
	atomic_int *ready = test_share(sizeof(*ready));
	pid_t senders[SENDERS];

	flood = test_share(sizeof(*flood));
	server_start(&m);
	test_spawn(flood_server, ready);
	test_await(ready, 1);
	for (uintptr_t i = 0; i < SENDERS; i++)
		senders[i] = test_spawn(flood_sender, (void *)i);
	for (int i = 0; i < SENDERS; i++)
		test_join(senders[i]);
	test_eventually(flood_arrived, NULL);
}

static const struct test_case cases[] = {
	QUICK(test_oneway_completes_at_once_and_names_no_pid),
	QUICK(test_oneway_one_at_a_time_per_node),
	QUICK(test_oneway_nodes_are_independent),
	QUICK(test_call_passes_waiting_oneways),
	QUICK(test_reply_to_a_oneway_fails),
	QUICK(test_call_from_inside_a_oneway_works),
	QUICK(test_oneway_budget_is_half_the_map),
	QUICK(test_oneway_budget_returns_with_each_free),
	QUICK(test_oneway_backlog_is_kept_in_order),
	QUICK(test_oneway_outlives_its_sender),
	QUICK(test_oneway_flood_keeps_order_per_node_and_loses_nothing),
};

TEST_MAIN(cases)
