// SPDX-License-Identifier: MIT
#include "server.h"

#include "child.h"
#include "driver.h"
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void handle_who(const struct binder_transaction_data *tr, struct msg *reply)
{
	msg_u32(reply, tr->sender_pid);
	msg_u32(reply, tr->sender_euid);
	msg_u32(reply, getpid());
	msg_u32(reply, test_gettid());
}

static void handle_put(struct bt *t, struct server *s, const struct binder_transaction_data *tr)
{
	uint32_t id = tr_u32(tr, 0);
	const struct flat_binder_object *fbo = tr_object(tr, 0);

	CHECK(id < SERVER_OBJECTS);
	CHECK_EQ(fbo->hdr.type, BINDER_TYPE_HANDLE);
	bt_ref(t, BC_ACQUIRE, fbo->handle);
	s->object[id] = fbo->handle;
}

static void handle_drop(struct bt *t, struct server *s, uint32_t id)
{
	CHECK(id < SERVER_OBJECTS);
	if (s->object[id])
		bt_ref(t, BC_RELEASE, s->object[id]);
	s->object[id] = 0;
}

static void handle_call(struct bt *t, struct server *s, const struct binder_transaction_data *tr,
			struct msg *reply)
{
	struct binder_transaction_data inner;
	uint32_t got;

	got = bt_call(t, s->object[tr_u32(tr, 0)], tr_u32(tr, 1), 0, NULL, &inner);
	msg_u32(reply, got);
	if (got == BR_REPLY) {
		msg_bytes(reply, tr_data(&inner), inner.data_size);
		bt_free(t, inner.data.ptr.buffer);
	}
}

/** server_handle() - the standard server's handler. */
void server_handle(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	struct server *s = t->priv;

	atomic_fetch_add(&s->shared->served, 1);
	atomic_store(&s->shared->last_euid, tr->sender_euid);
	switch (tr->code) {
	case CODE_ECHO:
		msg_ext(reply, tr_data(tr), tr->data_size);
		break;
	case CODE_NULL:
		break;
	case CODE_WHO:
		handle_who(tr, reply);
		break;
	case CODE_HOLD:
		test_set(&s->shared->tid, test_gettid());
		test_post(&s->shared->held);
		test_await(&s->shared->go, 1);
		break;
	case CODE_PUT:
		handle_put(t, s, tr);
		break;
	case CODE_GET:
		CHECK(tr_u32(tr, 0) < SERVER_OBJECTS);
		if (s->object[tr_u32(tr, 0)])
			msg_handle(reply, s->object[tr_u32(tr, 0)]);
		break;
	case CODE_DROP:
		handle_drop(t, s, tr_u32(tr, 0));
		break;
	case CODE_CALL:
		handle_call(t, s, tr, reply);
		break;
	case CODE_LEAK: /* see serve_one() */
		break;
	default:
		if (!s->own)
			FAIL("a server got the unknown code %u", tr->code);
		s->own(t, tr, reply);
	}
}

static void serve_forever(struct server *s, struct bt *t)
{
	struct bt_ret ret;

	t->handler = server_handle;
	t->priv = s;
	t->reply_flags = s->reply_flags;
	bt_enter(t);
	for (;;) {
		if (bt_event(t, &ret) == BR_TRANSACTION) {
			t->keep_buffers = ret.tr.code == CODE_LEAK;
			bt_serve(t, &ret.tr);
		} else if (ret.cmd == BR_DEAD_BINDER) {
			bt_cookie(t, BC_DEAD_BINDER_DONE, ret.cookie);
		}
	}
}

static void *server_thread(void *arg)
{
	struct server *s = arg;
	struct bt *t = malloc(sizeof(*t));

	bt_init(t, &s->b);
	serve_forever(s, t);
	return NULL;
}

/* The manager before us may be dead and not yet released. */
static void become_manager_after(struct bc *b)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;
	int err;

	while ((err = bc_become_manager(b)) == -EBUSY && test_now_ms() < end)
		test_sleep_ms(1);
	if (err)
		FAIL("cannot become context manager: %s", strerror(-err));
}

static void server_main(void *arg)
{
	struct server *s = arg;
	struct bt *t = malloc(sizeof(*t));

	bc_open_device(&s->b, s->device ? s->device : "binder",
		       s->map_size ? s->map_size : BC_MAP_SIZE);
	bt_init(t, &s->b);
	if (!s->id) {
		become_manager_after(&s->b);
	} else {
		registry_put(t, s->id, SERVER_PTR(s->id), SERVER_COOKIE(s->id));
	}
	for (unsigned int i = 0; i < s->threads; i++)
		test_thread(server_thread, s);
	test_post(&s->shared->ready);
	serve_forever(s, t);
}

/** server_start() - start the server process and wait until it can be called. */
void server_start(struct server *s)
{
	if (!s->shared)
		s->shared = test_share(sizeof(*s->shared));
	atomic_store(&s->shared->ready, 0);
	s->pid = test_spawn(server_main, s);
	test_await(&s->shared->ready, 1);
}

/** server_stop() - kill the server process. */
void server_stop(struct server *s)
{
	test_kill(s->pid);
	s->pid = 0;
}

/** registry_put() - register an object of this process under a number. */
void registry_put(struct bt *t, unsigned int id, uint64_t ptr, uint64_t cookie)
{
	struct binder_transaction_data reply;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, id);
	msg_u32(&m, 0);
	msg_binder(&m, ptr, cookie);
	bt_call_ok(t, 0, CODE_PUT, &m, &reply);
	bt_free(t, reply.data.ptr.buffer);
	bt_flush(t);
}

/**
 * registry_find() - ask for an object by number
 * Return: false if there is none; else *@handle is a strong reference.
 */
bool registry_find(struct bt *t, unsigned int id, uint32_t *handle)
{
	struct binder_transaction_data reply;
	struct msg m;
	bool found;

	msg_init(&m);
	msg_u32(&m, id);
	bt_call_ok(t, 0, CODE_GET, &m, &reply);
	found = reply.offsets_size;
	if (found) {
		*handle = tr_object(&reply, 0)->handle;
		bt_ref(t, BC_ACQUIRE, *handle);
	}
	bt_free(t, reply.data.ptr.buffer);
	bt_flush(t);
	return found;
}

/** registry_drop() - make the manager forget an object. */
void registry_drop(struct bt *t, unsigned int id)
{
	struct binder_transaction_data reply;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, id);
	bt_call_ok(t, 0, CODE_DROP, &m, &reply);
	bt_free(t, reply.data.ptr.buffer);
	bt_flush(t);
}

/** registry_get() - as registry_find(), and it must be there. */
uint32_t registry_get(struct bt *t, unsigned int id)
{
	uint32_t handle;

	CHECK(registry_find(t, id, &handle));
	return handle;
}

/** end_open() - an end without a role, past its first read. */
void end_open(struct bc *b, struct bt *t)
{
	bc_open_nonblock(b, 0);
	bt_init(t, b);
	bt_warm(t);
}

/** pair_open_sized() - a pair with mappings of these sizes; 0 means BC_MAP_SIZE. */
struct pair *pair_open_sized(size_t server_map, size_t client_map)
{
	struct pair *p = calloc(1, sizeof(*p));

	server_start(&p->manager);
	bc_open_nonblock(&p->sb, server_map);
	bc_open_nonblock(&p->cb, client_map);
	bt_init(&p->s, &p->sb);
	bt_init(&p->c, &p->cb);
	registry_put(&p->s, 1, PAIR_PTR, PAIR_COOKIE);
	p->h = registry_get(&p->c, 1);
	registry_drop(&p->c, 1);
	bt_enter(&p->s);
	bt_settle(&p->s);
	bt_settle(&p->c);
	memset(p->s.got, 0, sizeof(p->s.got));
	memset(p->c.got, 0, sizeof(p->c.got));
	p->s.ioctls = p->c.ioctls = 0;
	return p;
}

/** pair_open() - a pair. */
struct pair *pair_open(void)
{
	return pair_open_sized(0, 0);
}

/** pair_close() - close both ends, end the manager. */
void pair_close(struct pair *p)
{
	bc_close(&p->cb);
	bc_close(&p->sb);
	server_stop(&p->manager);
	free(p);
}

/**
 * pair_give() - the serving end answers a call with an object of its own
 * The client frees the reply; it keeps one count of the kind of @type.
 */
void pair_give(struct pair *p, uint64_t ptr, uint64_t cookie, uint32_t type, uint32_t *handle)
{
	bool strong = type == BINDER_TYPE_BINDER;
	struct bt_ret ret;
	struct msg m;

	bt_send(&p->c, BC_TRANSACTION, p->h, CODE_GET, 0, NULL);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	msg_init(&m);
	msg_flat(&m, type, ptr, cookie, 0);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, &m);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	bt_flush(&p->s);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	*handle = tr_object(&ret.tr, 0)->handle;
	bt_ref(&p->c, strong ? BC_ACQUIRE : BC_INCREFS, *handle);
	bt_free(&p->c, ret.tr.data.ptr.buffer);
	bt_flush(&p->c);
	bt_until(&p->s, BR_TRANSACTION_COMPLETE, NULL);
	bt_settle(&p->s);
}

/** third_open() - open a third end beside a pair. */
struct third *third_open(struct pair *p)
{
	struct third *x = calloc(1, sizeof(*x));

	bc_open_nonblock(&x->b, 0);
	bt_init(&x->t, &x->b);
	registry_put(&x->t, 3, THIRD_PTR, THIRD_COOKIE);
	registry_put(&p->s, 4, PAIR_PTR, PAIR_COOKIE);
	x->from_s = registry_get(&p->s, 3);
	x->from_c = registry_get(&p->c, 3);
	x->to_s = registry_get(&x->t, 4);
	registry_drop(&p->c, 3);
	registry_drop(&p->c, 4);
	bt_enter(&x->t);
	bt_settle(&x->t);
	bt_settle(&p->s);
	bt_settle(&p->c);
	return x;
}

/** send_to() - send an empty call, do not wait. */
void send_to(struct bt *t, uint32_t h, uint32_t code)
{
	bt_send(t, BC_TRANSACTION, h, code, 0, NULL);
	bt_flush(t);
}

/** reply_to() - answer a call with @m (or NULL), free its buffer. */
void reply_to(struct bt *t, const struct bt_ret *call, uint32_t code, const struct msg *m)
{
	bt_send(t, BC_REPLY, 0, code, 0, m);
	bt_flush(t);
	bt_free(t, call->tr.data.ptr.buffer);
	/* a reply that fails holds the rest back until it was read */
	bt_until(t, BR_TRANSACTION_COMPLETE, NULL);
	bt_flush(t);
}

/** take_reply() - wait for the reply, return its code, free its buffer. */
uint32_t take_reply(struct bt *t)
{
	struct bt_ret ret;
	uint32_t cmd = bt_event(t, &ret);

	if (cmd != BR_REPLY)
		FAIL("got %s, wanted BR_REPLY", br_name(cmd));
	bt_free(t, ret.tr.data.ptr.buffer);
	bt_flush(t);
	return ret.tr.code;
}

/**
 * driver_has_defer() - does this driver know TF_DEFER_COMPLETE?
 * A reply's completion that is not deferred is there at once.
 */
bool driver_has_defer(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	bool has;

	bt_send(&p->c, BC_TRANSACTION, p->h, CODE_NULL, 0, NULL);
	bt_flush(&p->c);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	bt_send(&p->s, BC_REPLY, 0, 0, TF_DEFER_COMPLETE, NULL);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	has = bt_ioctl(&p->s, true) == -EAGAIN;
	pair_close(p);
	return has;
}

/** need_defer() - skip the case on a driver without TF_DEFER_COMPLETE. */
void need_defer(void)
{
	if (!driver_is_own() && !driver_has_defer())
		test_skip("the driver completes replies at once: no TF_DEFER_COMPLETE");
}

/** need_logs() - skip the case if the driver shows no state. */
void need_logs(void)
{
	if (!driver_is_own() && !driver_has_logs())
		test_skip("the driver shows no binder_logs");
}

/** client_open() - an open device of this thread's. */
struct client *client_open(void)
{
	struct client *c = calloc(1, sizeof(*c));

	bc_open(&c->b, 0);
	bt_init(&c->t, &c->b);
	return c;
}
