// SPDX-License-Identifier: MIT
/*
 * At which nice value a call is served, and that nobody keeps what was lent:
 * each server says what its thread has while it serves, after it has answered,
 * and what it waits with.
 */
#include "bc.h"
#include "child.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CODE_NICE = CODE_OWN, /* answers the nice value */
	CODE_NICE_HOLD,       /* waits for go, then as CODE_NICE */
	CODE_NICE_ON,         /* id: calls that object with CODE_NICE, answers its and own */
	CODE_NICE_FAIL,       /* an answer that does not fit anywhere */
};

/**
 * struct nice_server - a server, and what it is asked to be
 * @least: what its object asks for
 * @nice: of the process when it opens the device
 * @thread_nice: of its thread before it serves
 * @limit: RLIMIT_NICE, for an unprivileged one
 * @after: nice value after the last answer
 */
struct nice_server {
	unsigned int id;
	unsigned int least;
	int nice;
	int thread_nice;
	bool unprivileged;
	unsigned int limit;
	atomic_int tid;
	atomic_int held;
	atomic_int go;
	atomic_int after;
	atomic_int served;
	pid_t pid;
};

static int nice_of(pid_t tid)
{
	int nice;

	errno = 0;
	nice = getpriority(PRIO_PROCESS, tid);
	CHECK_EQ(errno, 0);
	return nice;
}

static void be_nice(int nice)
{
	if (setpriority(PRIO_PROCESS, 0, nice))
		test_skip("nice values cannot be set: %s", strerror(errno));
}

static int32_t reply_i32(const struct binder_transaction_data *tr, size_t index)
{
	return (int32_t)tr_u32(tr, index);
}

static void handle_on(struct bt *t, uint32_t id, struct msg *reply)
{
	uint32_t handle = registry_get(t, id);
	struct binder_transaction_data inner;

	bt_call_ok(t, handle, CODE_NICE, NULL, &inner);
	msg_u32(reply, reply_i32(&inner, 0));
	msg_u32(reply, nice_of(0));
	bt_free(t, inner.data.ptr.buffer);
	bt_ref(t, BC_RELEASE, handle);
}

static void handle(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	static uint8_t large[1024 * 1024];
	struct nice_server *s = t->priv;

	switch (tr->code) {
	case CODE_NICE_HOLD:
		test_post(&s->held);
		test_await(&s->go, 1);
		/* fall through */
	case CODE_NICE:
		msg_u32(reply, nice_of(0));
		break;
	case CODE_NICE_ON:
		handle_on(t, tr_u32(tr, 0), reply);
		break;
	case CODE_NICE_FAIL:
		msg_ext(reply, large, sizeof(large));
		break;
	}
}

static void give_up_privilege(const struct nice_server *s)
{
	struct rlimit limit = { s->limit, s->limit };

	CHECK_EQ(setrlimit(RLIMIT_NICE, &limit), 0);
	CHECK_EQ(setresgid(65534, 65534, 65534), 0);
	CHECK_EQ(setresuid(65534, 65534, 65534), 0);
}

static void register_least(struct bt *t, const struct nice_server *s)
{
	struct binder_transaction_data reply;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, s->id);
	msg_u32(&m, 0);
	msg_flat(&m, BINDER_TYPE_BINDER, SERVER_PTR(s->id), SERVER_COOKIE(s->id), s->least);
	bt_call_ok(t, 0, CODE_PUT, &m, &reply);
	bt_free(t, reply.data.ptr.buffer);
	bt_flush(t);
}

static void nice_main(void *arg)
{
	struct nice_server *s = arg;
	struct client *c;
	struct bt_ret ret;

	be_nice(s->nice);
	c = client_open();
	register_least(&c->t, s);
	if (s->unprivileged)
		give_up_privilege(s);
	be_nice(s->thread_nice);
	c->t.handler = handle;
	c->t.priv = s;
	/* a reply that fails would hold the release back */
	c->t.keep_buffers = true;
	bt_enter(&c->t);
	test_set(&s->tid, test_gettid());
	for (;;) {
		if (bt_event(&c->t, &ret) != BR_TRANSACTION)
			continue;
		bt_serve(&c->t, &ret.tr);
		/* the answer goes out, the thread does not wait yet */
		bt_flush(&c->t);
		atomic_store(&s->after, nice_of(0));
		bt_free(&c->t, ret.tr.data.ptr.buffer);
		test_post(&s->served);
	}
}

static struct nice_server *nice_start(unsigned int least, int nice, int thread_nice)
{
	struct nice_server *s = test_share(sizeof(*s));
	static unsigned int id;

	s->id = ++id;
	s->least = least;
	s->nice = nice;
	s->thread_nice = thread_nice;
	return s;
}

static void nice_run(struct nice_server *s)
{
	s->pid = test_spawn(nice_main, s);
	test_await(&s->tid, 1);
	test_await_blocked(s->tid);
}

/* What the server's thread has when it waits for work again. */
static int idle_nice(struct nice_server *s)
{
	test_await_blocked(s->tid);
	return nice_of(s->tid);
}

static int nice_call(struct client *c, uint32_t h, uint32_t code)
{
	struct binder_transaction_data reply;
	int nice;

	bt_call_ok(&c->t, h, code, NULL, &reply);
	nice = reply_i32(&reply, 0);
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
	return nice;
}

/* ---- calls ----------------------------------------------------------------------- */

static void test_call_is_served_at_the_better_of_caller_and_node(void)
{
	static const struct {
		int caller, least, server, wanted;
	} rows[] = {
		{ -10, 0, 0, -10 }, { 0, 0, 0, 0 }, { 5, 0, 0, 0 }, { 5, 19, 0, 5 },
		{ 10, 5, 0, 5 }, { 19, 19, -3, 19 }, { 0, 19, 8, 0 }, { -20, 19, 19, -20 },
		{ 3, 127, 0, 3 }, { 12, 255, 0, 12 },
	};
	struct server m = { 0 };
	struct client *c;

	be_nice(0);
	server_start(&m);
	c = client_open();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nice_server *s = nice_start(rows[i].least, rows[i].server, rows[i].server);
		uint32_t h;

		nice_run(s);
		h = registry_get(&c->t, s->id);
		for (int j = 1; j <= 2; j++) {
			be_nice(rows[i].caller);
			CHECK_EQ(nice_call(c, h, CODE_NICE), rows[i].wanted);
			/* the caller has what it had */
			CHECK_EQ(nice_of(0), rows[i].caller);
			test_await(&s->served, j);
			CHECK_EQ(atomic_load(&s->after), rows[i].server);
			CHECK_EQ(idle_nice(s), rows[i].server);
		}
		be_nice(0);
		test_kill(s->pid);
	}
}

static void test_waiting_thread_has_its_process_default(void)
{
	struct nice_server *s = nice_start(19, 2, 7);
	struct server m = { 0 };
	struct client *c;
	uint32_t h;

	be_nice(0);
	server_start(&m);
	c = client_open();
	nice_run(s);
	/* whatever it was set to before */
	CHECK_EQ(nice_of(s->tid), 2);
	h = registry_get(&c->t, s->id);
	CHECK_EQ(nice_call(c, h, CODE_NICE), 0);
	CHECK_EQ(idle_nice(s), 2);
	CHECK_EQ(setpriority(PRIO_PROCESS, s->tid, 11), 0);
	CHECK_EQ(nice_call(c, h, CODE_NICE), 0);
	/* waiting already, it had been set by somebody else: it gets that back, then the default */
	test_await(&s->served, 2);
	CHECK_EQ(atomic_load(&s->after), 11);
	CHECK_EQ(idle_nice(s), 2);
}

struct holding_caller {
	struct nice_server *s;
	int nice;
	atomic_int tid;
	atomic_int got;
};

static void call_hold(void *arg)
{
	struct holding_caller *ca = arg;
	struct client *c = client_open();
	uint32_t h = registry_get(&c->t, ca->s->id);

	be_nice(ca->nice);
	test_set(&ca->tid, test_gettid());
	atomic_store(&ca->got, nice_call(c, h, CODE_NICE_HOLD));
	CHECK_EQ(nice_of(0), ca->nice);
}

static void test_thread_waiting_for_a_reply_keeps_its_own(void)
{
	struct nice_server *s = nice_start(0, 0, 0);
	struct holding_caller *ca = test_share(sizeof(*ca));
	struct server m = { 0 };
	pid_t pid;

	be_nice(0);
	server_start(&m);
	nice_run(s);
	*ca = (struct holding_caller){ .s = s, .nice = -7 };
	pid = test_spawn(call_hold, ca);
	test_await(&s->held, 1);
	test_await_blocked(ca->tid);
	CHECK_EQ(nice_of(ca->tid), -7);
	CHECK_EQ(nice_of(s->tid), -7);
	test_post(&s->go);
	test_join(pid);
	CHECK_EQ(atomic_load(&ca->got), -7);
}

static void test_caller_that_dies_leaves_nothing_of_its_own(void)
{
	struct nice_server *s = nice_start(0, 4, 4);
	struct holding_caller *ca = test_share(sizeof(*ca));
	struct server m = { 0 };
	pid_t pid;

	be_nice(0);
	server_start(&m);
	nice_run(s);
	*ca = (struct holding_caller){ .s = s, .nice = -12 };
	pid = test_spawn(call_hold, ca);
	test_await(&s->held, 1);
	CHECK_EQ(nice_of(s->tid), -12);
	test_kill(pid);
	test_post(&s->go);
	test_await(&s->served, 1);
	CHECK_EQ(atomic_load(&s->after), 4);
	CHECK_EQ(idle_nice(s), 4);
}

static void test_reply_that_fails_restores_too(void)
{
	struct nice_server *s = nice_start(0, 4, 4);
	struct server m = { 0 };
	struct client *c;
	uint32_t h;

	be_nice(0);
	server_start(&m);
	c = client_open();
	nice_run(s);
	h = registry_get(&c->t, s->id);
	be_nice(-9);
	CHECK_EQ(bt_call(&c->t, h, CODE_NICE_FAIL, 0, NULL, NULL), BR_FAILED_REPLY);
	test_await(&s->served, 1);
	CHECK_EQ(atomic_load(&s->after), 4);
	CHECK_EQ(idle_nice(s), 4);
}

/* ---- calls in calls ---------------------------------------------------------------- */

static void test_nested_call_is_served_at_the_first_callers(void)
{
	struct nice_server *outer = nice_start(0, 3, 3), *inner = nice_start(0, 6, 6);
	struct binder_transaction_data reply;
	struct server m = { 0 };
	struct client *c;
	struct msg msg;

	be_nice(0);
	server_start(&m);
	c = client_open();
	nice_run(outer);
	nice_run(inner);
	for (int i = 1; i <= 3; i++) {
		be_nice(-5 * i);
		msg_init(&msg);
		msg_u32(&msg, inner->id);
		bt_call_ok(&c->t, registry_get(&c->t, outer->id), CODE_NICE_ON, &msg, &reply);
		CHECK_EQ(reply_i32(&reply, 0), -5 * i);
		/* the inner answer took nothing from the outer */
		CHECK_EQ(reply_i32(&reply, 1), -5 * i);
		bt_free(&c->t, reply.data.ptr.buffer);
		bt_flush(&c->t);
		test_await(&outer->served, i);
		test_await(&inner->served, i);
		CHECK_EQ(atomic_load(&outer->after), 3);
		CHECK_EQ(atomic_load(&inner->after), 6);
		CHECK_EQ(idle_nice(outer), 3);
		CHECK_EQ(idle_nice(inner), 6);
	}
}

struct called_back {
	int during;
	int inner;
};

static void handle_back(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	struct called_back *cb = t->priv;

	cb->during = nice_of(0);
	msg_u32(reply, cb->during);
}

/* The thread that waits for the outer reply serves the inner call, and is itself again after it. */
static void test_call_back_is_served_at_the_callee_s(void)
{
	struct nice_server *s = nice_start(19, 0, 0);
	struct called_back cb = { 0 };
	struct nice_server back = { .id = 60, .least = 0 };
	struct binder_transaction_data reply;
	struct server m = { 0 };
	struct client *c;
	struct msg msg;

	be_nice(0);
	server_start(&m);
	c = client_open();
	nice_run(s);
	c->t.handler = handle_back;
	c->t.priv = &cb;
	register_least(&c->t, &back);
	be_nice(8);
	msg_init(&msg);
	msg_u32(&msg, back.id);
	bt_call_ok(&c->t, registry_get(&c->t, s->id), CODE_NICE_ON, &msg, &reply);
	/* served at 8, the server calls a node that asks for 0 */
	CHECK_EQ(cb.during, 0);
	CHECK_EQ(reply_i32(&reply, 0), 0);
	CHECK_EQ(reply_i32(&reply, 1), 8);
	CHECK_EQ(nice_of(0), 8);
	CHECK_EQ(idle_nice(s), 0);
}

/* ---- one-way ------------------------------------------------------------------------ */

static void take_note(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	test_set(t->priv, nice_of(0) + 100);
}

struct oneway_server {
	struct nice_server s;
	atomic_int during; /* and 100 */
};

static void oneway_main(void *arg)
{
	struct oneway_server *o = arg;
	struct client *c;

	be_nice(o->s.nice);
	c = client_open();
	register_least(&c->t, &o->s);
	c->t.handler = take_note;
	c->t.priv = &o->during;
	bt_enter(&c->t);
	test_set(&o->s.tid, test_gettid());
	bt_loop(&c->t);
}

static void test_oneway_call_is_only_raised_to_the_nodes(void)
{
	static const struct {
		int caller, least, server, wanted;
	} rows[] = {
		{ -10, 0, 0, 0 }, { -10, 0, 5, 0 }, { -10, 0, -5, -5 }, { 5, 19, 3, 3 },
		{ -10, 4, 9, 4 }, { -10, 255, 9, 9 },
	};
	struct server m = { 0 };
	struct client *c;

	be_nice(0);
	server_start(&m);
	c = client_open();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct oneway_server *o = test_share(sizeof(*o));
		uint32_t h;

		o->s.id = 40 + i;
		o->s.least = rows[i].least;
		o->s.nice = rows[i].server;
		o->s.pid = test_spawn(oneway_main, o);
		test_await(&o->s.tid, 1);
		test_await_blocked(o->s.tid);
		h = registry_get(&c->t, o->s.id);
		for (int j = 0; j < 2; j++) {
			be_nice(rows[i].caller);
			atomic_store(&o->during, 0);
			CHECK_EQ(bt_call(&c->t, h, 1, TF_ONE_WAY, NULL, NULL),
				 BR_TRANSACTION_COMPLETE);
			test_await(&o->during, 1);
			CHECK_EQ(atomic_load(&o->during) - 100, rows[i].wanted);
			CHECK_EQ(idle_nice(&o->s), rows[i].server);
		}
		be_nice(0);
		test_kill(o->s.pid);
	}
}

/* ---- limits --------------------------------------------------------------------------- */

/* 20 minus the limit is the best that an unprivileged process may have. */
static void test_unprivileged_server_is_raised_to_its_limit(void)
{
	static const struct {
		int caller, wanted;
		unsigned int limit;
	} rows[] = {
		{ -10, 0, 0 }, { -10, -5, 25 }, { -3, -3, 25 }, { -20, -20, 40 }, { -1, 0, 20 },
	};
	struct server m = { 0 };
	struct client *c;

	be_nice(0);
	server_start(&m);
	c = client_open();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nice_server *s = nice_start(0, 0, 0);
		uint32_t h;

		s->unprivileged = true;
		s->limit = rows[i].limit;
		nice_run(s);
		h = registry_get(&c->t, s->id);
		for (int j = 1; j <= 2; j++) {
			be_nice(rows[i].caller);
			CHECK_EQ(nice_call(c, h, CODE_NICE), rows[i].wanted);
			test_await(&s->served, j);
			CHECK_EQ(atomic_load(&s->after), 0);
			CHECK_EQ(idle_nice(s), 0);
		}
		be_nice(0);
		test_kill(s->pid);
	}
}

/* Lowered by a call, it may come back to where it was only as its limit allows. */
static void test_unprivileged_server_lowered_comes_back_within_its_limit(void)
{
	struct nice_server *s = nice_start(19, 0, 0);
	struct server m = { 0 };
	struct client *c;
	uint32_t h;

	be_nice(0);
	server_start(&m);
	c = client_open();
	s->unprivileged = true;
	s->limit = 20;
	nice_run(s);
	h = registry_get(&c->t, s->id);
	be_nice(15);
	CHECK_EQ(nice_call(c, h, CODE_NICE), 15);
	test_await(&s->served, 1);
	CHECK_EQ(atomic_load(&s->after), 0);
	CHECK_EQ(idle_nice(s), 0);
}

static const struct test_case cases[] = {
	QUICK(test_call_is_served_at_the_better_of_caller_and_node),
	QUICK(test_waiting_thread_has_its_process_default),
	QUICK(test_thread_waiting_for_a_reply_keeps_its_own),
	QUICK(test_caller_that_dies_leaves_nothing_of_its_own),
	QUICK(test_reply_that_fails_restores_too),
	QUICK(test_nested_call_is_served_at_the_first_callers),
	QUICK(test_call_back_is_served_at_the_callee_s),
	QUICK(test_oneway_call_is_only_raised_to_the_nodes),
	QUICK(test_unprivileged_server_is_raised_to_its_limit),
	QUICK(test_unprivileged_server_lowered_comes_back_within_its_limit),
};

TEST_MAIN(cases)
