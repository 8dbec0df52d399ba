// SPDX-License-Identifier: MIT
/* The thread pool: when the driver asks for a thread, and misuse of the answer. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Bits of a thread as binder_logs show them. */
enum { REGISTERED = 1, ENTERED = 2, EXITED = 4, INVALID = 8, WAITING = 0x10 };

static void set_max(struct bc *b, uint32_t n)
{
	CHECK_EQ(ioctl(b->fd, BINDER_SET_MAX_THREADS, &n), 0);
}

/* One call from c to s; how many spawn requests came with it? */
static unsigned int spawns_of_call(struct pair *p)
{
	unsigned int before = BT_GOT(&p->s, BR_SPAWN_LOOPER);
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, NULL);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	bt_flush(&p->s);
	bt_expect(&p->s, BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	bt_free(&p->c, ret.tr.data.ptr.buffer);
	bt_flush(&p->c);
	return BT_GOT(&p->s, BR_SPAWN_LOOPER) - before;
}

static void test_spawn_without_limit_set_is_never_asked(void)
{
	struct pair *p = pair_open();

	for (int i = 0; i < 5; i++)
		CHECK_EQ(spawns_of_call(p), 0);
	pair_close(p);
}

/* Asked once, and not again before a thread has registered. */
static void test_spawn_is_asked_once_until_registered(void)
{
	struct pair *p = pair_open();

	set_max(&p->sb, 5);
	CHECK_EQ(spawns_of_call(p), 1);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(spawns_of_call(p), 0);
	pair_close(p);
}

/* The request takes the place of BR_NOOP. */
static void test_spawn_is_the_first_word(void)
{
	struct pair *p = pair_open();
	uint32_t word;

	set_max(&p->sb, 1);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, NULL);
	bt_flush(&p->c);
	CHECK_EQ(bt_ioctl(&p->s, true), 0);
	memcpy(&word, p->s.in, 4);
	CHECK_EQ(word, BR_SPAWN_LOOPER);
	memcpy(&word, p->s.in + 4, 4);
	CHECK_EQ(word, BR_TRANSACTION);
	pair_close(p);
}

struct pool_thread {
	struct bc *b;
	uint32_t cmd;
	atomic_int tid;
	atomic_int spawns;
	bool look;
	int bits;
};

static int looper_bits(pid_t tid, pid_t pid);

/* Says @cmd, has a look at its record if asked, and ends. */
static void *say_and_leave(void *arg)
{
	struct pool_thread *pt = arg;
	struct bt t;

	bt_init(&t, pt->b);
	bt_cmd(&t, pt->cmd);
	bt_flush(&t);
	if (pt->look)
		pt->bits = looper_bits(test_gettid(), getpid());
	test_set(&pt->tid, test_gettid());
	return NULL;
}

static void register_one(struct bc *b)
{
	struct pool_thread pt = { .b = b, .cmd = BC_REGISTER_LOOPER };

	test_thread_join(test_thread(say_and_leave, &pt));
}

/* Up to the limit, and "started" never goes down. */
static void test_spawn_stops_at_the_limit(void)
{
	struct pair *p = pair_open();

	set_max(&p->sb, 3);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(spawns_of_call(p), 1);
		CHECK_EQ(spawns_of_call(p), 0);
		register_one(&p->sb);
	}
	CHECK_EQ(spawns_of_call(p), 0);
	set_max(&p->sb, 4);
	CHECK_EQ(spawns_of_call(p), 1);
	register_one(&p->sb);
	set_max(&p->sb, 0xffffffff);
	CHECK_EQ(spawns_of_call(p), 1);
	pair_close(p);
}

/* Lets a call through the thread it waits for. */
static void *wait_registered(void *arg)
{
	struct pool_thread *pt = arg;
	struct bt *t = calloc(1, sizeof(*t));
	struct bt_ret ret;

	bt_init(t, pt->b);
	bt_cmd(t, pt->cmd);
	bt_flush(t);
	test_set(&pt->tid, test_gettid());
	CHECK_EQ(bt_event(t, &ret), BR_TRANSACTION);
	bt_send(t, BC_REPLY, 0, 0, 0, NULL);
	bt_free(t, ret.tr.data.ptr.buffer);
	bt_flush(t);
	atomic_store(&pt->spawns, BT_GOT(t, BR_SPAWN_LOOPER));
	return NULL;
}

/*
 * While another thread waits nobody is asked for: s, a looper, reads the
 * completion of a one-way call of its own. The other end has its own device,
 * opened blocking, because here a thread has to wait.
 */
static void test_spawn_is_not_asked_while_a_thread_waits(void)
{
	struct server m = { 0 };
	struct client *s, *c;
	struct pool_thread pt;
	pthread_t thread;
	uint32_t h, back;

	server_start(&m);
	s = client_open();
	c = client_open();
	registry_put(&s->t, 1, PAIR_PTR, PAIR_COOKIE);
	h = registry_get(&c->t, 1);
	registry_put(&c->t, 2, 0x100, 0x101);
	back = registry_get(&s->t, 2);
	bt_enter(&s->t);
	pt = (struct pool_thread){ .b = &s->b, .cmd = BC_ENTER_LOOPER };
	thread = test_thread(wait_registered, &pt);
	test_await(&pt.tid, 1);
	test_await_blocked(pt.tid);
	set_max(&s->b, 2);
	memset(s->t.got, 0, sizeof(s->t.got));
	CHECK_EQ(bt_call(&s->t, back, 1, TF_ONE_WAY, NULL, NULL), BR_TRANSACTION_COMPLETE);
	CHECK_EQ(BT_GOT(&s->t, BR_SPAWN_LOOPER), 0);
	bt_ping(&c->t, h, 1);
	test_thread_join(thread);
	/* it was the last that waited, so it was asked */
	CHECK_EQ(atomic_load(&pt.spawns), 1);
}

static void test_spawn_is_not_asked_of_a_thread_that_is_no_looper(void)
{
	struct pair *p = pair_open();

	set_max(&p->cb, 5);
	for (int i = 0; i < 5; i++)
		spawns_of_call(p);
	CHECK_EQ(BT_GOT(&p->c, BR_SPAWN_LOOPER), 0);
	pair_close(p);
}

/* A thread's bits; -1 if the driver does not list it. */
static int looper_bits(pid_t tid, pid_t pid)
{
	char name[32], *text, *line, *rest;
	int bits = -1;

	snprintf(name, sizeof(name), "proc/%d", pid);
	text = driver_read(name);
	for (rest = text; text && (line = strsep(&rest, "\n"));) {
		int got_tid, got;

		if (sscanf(line, " thread %d: l %x", &got_tid, &got) == 2 && got_tid == tid)
			bits = got;
	}
	free(text);
	return bits;
}

/* A thread of a device of its own says two words; what are its bits? */
static int bits_after(uint32_t first, uint32_t second)
{
	struct client *c = client_open();
	int bits;

	bt_cmd(&c->t, first);
	if (second)
		bt_cmd(&c->t, second);
	bt_flush(&c->t);
	bits = looper_bits(test_gettid(), getpid());
	bc_close(&c->b);
	return bits;
}

static void test_register_without_request_is_marked_invalid(void)
{
	need_logs();
	CHECK_EQ(bits_after(BC_REGISTER_LOOPER, 0) & INVALID, INVALID);
	CHECK_EQ(bits_after(BC_REGISTER_LOOPER, BC_REGISTER_LOOPER) & INVALID, INVALID);
}

static void test_register_after_enter_is_marked_invalid(void)
{
	need_logs();
	CHECK_EQ(bits_after(BC_ENTER_LOOPER, BC_REGISTER_LOOPER) & (INVALID | ENTERED),
		 INVALID | ENTERED);
}

static void test_enter_after_register_is_marked_invalid(void)
{
	need_logs();
	CHECK_EQ(bits_after(BC_REGISTER_LOOPER, BC_ENTER_LOOPER) & (INVALID | REGISTERED),
		 INVALID | REGISTERED);
}

static void test_enter_is_shown_as_entered(void)
{
	need_logs();
	CHECK_EQ(bits_after(BC_ENTER_LOOPER, 0), ENTERED);
	CHECK_EQ(bits_after(BC_ENTER_LOOPER, BC_EXIT_LOOPER), ENTERED | EXITED);
}

/* A request was out, so this one is in order. */
static void test_register_with_request_is_not_marked_invalid(void)
{
	struct pair *p = pair_open();
	struct pool_thread pt = { .b = &p->sb, .cmd = BC_REGISTER_LOOPER, .look = true };

	need_logs();
	set_max(&p->sb, 1);
	CHECK_EQ(spawns_of_call(p), 1);
	test_thread_join(test_thread(say_and_leave, &pt));
	CHECK_EQ(pt.bits, REGISTERED);
	pair_close(p);
}

/* Wrong words are logged; the thread goes on to serve. */
static void test_misuse_keeps_the_thread_working(void)
{
	static const uint32_t words[] = {
		BC_REGISTER_LOOPER, BC_ENTER_LOOPER, BC_ENTER_LOOPER, BC_REGISTER_LOOPER,
		BC_EXIT_LOOPER, BC_EXIT_LOOPER, BC_ENTER_LOOPER,
	};
	struct pair *p = pair_open();

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		bt_cmd(&p->s, words[i]);
		bt_flush(&p->s);
		spawns_of_call(p);
	}
	pair_close(p);
}

/* A real pool: threads are made when the driver asks, up to 6, and all work. */
struct pool {
	struct bc b;
	atomic_int threads;
	atomic_int inside;
};

static struct pool *pool;
static void *pool_main(void *arg);

static void pool_serve(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	/* the first calls are all held until every thread of the pool has one */
	test_post(&pool->inside);
	test_await(&pool->inside, 7);
	msg_u32(reply, test_gettid());
}

static void pool_loop(uint32_t word)
{
	struct bt *t = calloc(1, sizeof(*t));
	unsigned int started = 0;
	struct bt_ret ret;

	bt_init(t, &pool->b);
	t->handler = pool_serve;
	bt_cmd(t, word);
	for (;;) {
		CHECK_EQ(bt_event(t, &ret), BR_TRANSACTION);
		for (; started < BT_GOT(t, BR_SPAWN_LOOPER); started++) {
			atomic_fetch_add(&pool->threads, 1);
			test_thread(pool_main, NULL);
		}
		bt_serve(t, &ret.tr);
	}
}

static void *pool_main(void *arg)
{
	pool_loop(BC_REGISTER_LOOPER);
	return NULL;
}

static void pool_process(void *arg)
{
	atomic_int *ready = arg;

	bc_open(&pool->b, 1 << 20);
	set_max(&pool->b, 6);
	CHECK_EQ(bc_become_manager(&pool->b), 0);
	test_post(ready);
	pool_loop(BC_ENTER_LOOPER);
}

static void pool_client(void *arg)
{
	struct client *c = client_open();

	for (int i = 0; i < 40; i++)
		bt_ping(&c->t, 0, 1);
}

static void test_pool_grows_under_load_up_to_the_limit(void)
{
	atomic_int *ready = test_share(sizeof(*ready));
	pid_t clients[12];

	pool = test_share(sizeof(*pool));
	test_spawn(pool_process, ready);
	test_await(ready, 1);
	for (int i = 0; i < 12; i++)
		clients[i] = test_spawn(pool_client, NULL);
	for (int i = 0; i < 12; i++)
		test_join(clients[i]);
	CHECK_EQ(atomic_load(&pool->threads), 6);
}

static const struct test_case cases[] = {
	QUICK(test_spawn_without_limit_set_is_never_asked),
	QUICK(test_spawn_is_asked_once_until_registered),
	QUICK(test_spawn_is_the_first_word),
	QUICK(test_spawn_stops_at_the_limit),
	QUICK(test_spawn_is_not_asked_while_a_thread_waits),
	QUICK(test_spawn_is_not_asked_of_a_thread_that_is_no_looper),
	QUICK(test_register_without_request_is_marked_invalid),
	QUICK(test_register_after_enter_is_marked_invalid),
	QUICK(test_enter_after_register_is_marked_invalid),
	QUICK(test_enter_is_shown_as_entered),
	QUICK(test_register_with_request_is_not_marked_invalid),
	QUICK(test_misuse_keeps_the_thread_working),
	CASE(test_pool_grows_under_load_up_to_the_limit),
};

TEST_MAIN(cases)
