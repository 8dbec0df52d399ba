// SPDX-License-Identifier: MIT
#include "soak.h"

#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul
#define LOOPERS_MAX 3
#define PEERS 4
#define HELD 6
#define TAKEN 8
#define SIZE_MAX_SENT 50000

/* What an actor understands beside CODE_ECHO. */
enum {
	CODE_TAKE = CODE_OWN, /* objects: keep them for a while */
	CODE_BACK,	      /* an object: call it before answering */
	CODE_SINK,	      /* one way: nothing */
};

/**
 * struct part - what one thread of an actor has at hand
 * @taken: handles that others gave it; a strong reference each; 0: none
 */
struct part {
	struct bt t;
	uint32_t taken[TAKEN];
	unsigned int next_taken;
};

/**
 * struct actor - an actor's main thread, which is no looper
 * @peer: handles of others' objects, a strong reference each, by peer_id; 0: none
 * @mourned: there is a death request for it
 * @held: replies that are not freed yet
 */
struct actor {
	struct bc b;
	struct part part;
	unsigned int id;
	unsigned int seed;
	uint32_t peer[PEERS];
	bool mourned[PEERS];
	uint64_t held[HELD];
	uint8_t data[SIZE_MAX_SENT];
};

static unsigned int below(struct actor *a, unsigned int n)
{
	return rand_r(&a->seed) % n;
}

/* ---- serving ------------------------------------------------------------------------ */

/* The oldest goes for it. The buffer keeps the object until it is ours. */
static void take(struct part *p, uint32_t handle)
{
	uint32_t *slot = &p->taken[p->next_taken++ % TAKEN];

	if (*slot)
		bt_ref(&p->t, BC_RELEASE, *slot);
	bt_ref(&p->t, BC_ACQUIRE, handle);
	*slot = handle;
}

static void take_objects(struct part *p, const struct binder_transaction_data *tr)
{
	for (size_t i = 0; i < tr->offsets_size / sizeof(binder_size_t); i++) {
		const struct flat_binder_object *fbo = tr_object(tr, i);

		if (fbo->hdr.type == BINDER_TYPE_HANDLE)
			take(p, fbo->handle);
	}
}

/* Calls back into whoever called, whose thread serves it while it waits for us. */
static void call_back(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	const struct flat_binder_object *fbo = tr_object(tr, 0);
	struct binder_transaction_data inner;
	uint32_t got;

	/* its own object came home: it has called itself */
	if (fbo->hdr.type != BINDER_TYPE_HANDLE)
		return;
	got = bt_call(t, fbo->handle, CODE_ECHO, 0, NULL, &inner);
	msg_u32(reply, got);
	if (got == BR_REPLY)
		bt_free(t, inner.data.ptr.buffer);
}

static void serve(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	switch (tr->code) {
	case CODE_ECHO:
		msg_ext(reply, tr_data(tr), tr->data_size);
		break;
	case CODE_TAKE:
		take_objects(t->priv, tr);
		break;
	case CODE_BACK:
		call_back(t, tr, reply);
		break;
	case CODE_SINK:
		break;
	default:
		FAIL("an actor got the unknown code %u", tr->code);
	}
}

static void *looper(void *arg)
{
	struct part *p = calloc(1, sizeof(*p));
	struct bt_ret ret;

	bt_init(&p->t, arg);
	p->t.handler = serve;
	p->t.priv = p;
	bt_enter(&p->t);
	for (;;) {
		if (bt_event(&p->t, &ret) == BR_TRANSACTION) {
			bt_serve(&p->t, &ret.tr);
		} else if (ret.cmd == BR_DEAD_BINDER) {
			bt_cookie(&p->t, BC_DEAD_BINDER_DONE, ret.cookie);
			soak_count(SOAK_DEATHS, 1);
		}
	}
	return NULL;
}

/* ---- calling ------------------------------------------------------------------------- */

/* Return: whether it was answered. What else may come is that the other is dead, or full. */
static bool call(struct actor *a, uint32_t handle, uint32_t code, const struct msg *m,
		 struct binder_transaction_data *reply)
{
	uint32_t got = bt_call(&a->part.t, handle, code, 0, m, reply);

	soak_count(SOAK_CALLS, 1);
	if (got == BR_REPLY)
		return true;
	if (got != BR_DEAD_REPLY && got != BR_FAILED_REPLY)
		FAIL("a call got %s", br_name(got));
	soak_count(SOAK_REFUSED, 1);
	return false;
}

static void reply_done(struct actor *a, const struct binder_transaction_data *reply)
{
	bt_free(&a->part.t, reply->data.ptr.buffer);
	bt_flush(&a->part.t);
}

/* Now and then it is kept for a while. */
static void reply_hold(struct actor *a, const struct binder_transaction_data *reply)
{
	uint64_t *slot = &a->held[below(a, HELD)];

	if (below(a, 4)) {
		reply_done(a, reply);
		return;
	}
	if (*slot) {
		bt_free(&a->part.t, *slot);
		bt_flush(&a->part.t);
	}
	*slot = reply->data.ptr.buffer;
}

static void enroll(struct actor *a)
{
	struct binder_transaction_data reply;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, a->id);
	if (call(a, 0, CODE_DROP, &m, &reply))
		reply_done(a, &reply);
	msg_u32(&m, 0);
	msg_binder(&m, SERVER_PTR(a->id), SERVER_COOKIE(a->id));
	if (call(a, 0, CODE_PUT, &m, &reply))
		reply_done(a, &reply);
}

static void peer_forget(struct actor *a, unsigned int i)
{
	if (!a->peer[i])
		return;
	if (a->mourned[i])
		bt_death(&a->part.t, BC_CLEAR_DEATH_NOTIFICATION, a->peer[i], i + 1);
	bt_ref(&a->part.t, BC_RELEASE, a->peer[i]);
	bt_flush(&a->part.t);
	a->peer[i] = 0;
	a->mourned[i] = false;
}

/* No two peers are the same object: a death request is for one handle. */
static bool peer_known(struct actor *a, uint32_t handle)
{
	for (int i = 0; i < PEERS; i++)
		if (a->peer[i] == handle)
			return true;
	return false;
}

/* Return: an index into @peer, or -1 when nobody was found. */
static int peer_find(struct actor *a)
{
	unsigned int i = below(a, PEERS);
	struct binder_transaction_data reply;
	struct msg m;

	if (a->peer[i] && below(a, 16))
		return i;
	peer_forget(a, i);
	msg_init(&m);
	msg_u32(&m, 1 + below(a, SOAK_ACTORS));
	if (!call(a, 0, CODE_GET, &m, &reply))
		return -1;
	/* nothing, or our own object come home */
	if (reply.offsets_size && tr_object(&reply, 0)->hdr.type == BINDER_TYPE_HANDLE &&
	    !peer_known(a, tr_object(&reply, 0)->handle)) {
		a->peer[i] = tr_object(&reply, 0)->handle;
		bt_ref(&a->part.t, BC_ACQUIRE, a->peer[i]);
	}
	reply_done(a, &reply);
	return a->peer[i] ? (int)i : -1;
}

/* ---- what an actor does ------------------------------------------------------------------ */

static void do_echo(struct actor *a)
{
	int i = peer_find(a);
	size_t n = below(a, SIZE_MAX_SENT) >> below(a, 14);
	struct binder_transaction_data reply;
	struct msg m;

	memset(a->data, a->id * 31 + a->seed, n);
	msg_init(&m);
	msg_ext(&m, a->data, n);
	if (i < 0 || !call(a, a->peer[i], CODE_ECHO, &m, &reply)) {
		if (i >= 0)
			peer_forget(a, i);
		return;
	}
	CHECK_EQ(reply.data_size, n);
	CHECK_MEM(tr_data(&reply), a->data, n);
	reply_hold(a, &reply);
}

/* By way of the manager, which calls it and answers what it answers. */
static void do_nested(struct actor *a)
{
	struct binder_transaction_data reply;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 1 + below(a, SOAK_ACTORS));
	msg_u32(&m, CODE_ECHO);
	if (call(a, 0, CODE_CALL, &m, &reply))
		reply_done(a, &reply);
}

static void do_call_back(struct actor *a)
{
	int i = peer_find(a);
	struct binder_transaction_data reply;
	struct msg m;

	msg_init(&m);
	msg_binder(&m, SERVER_PTR(a->id), SERVER_COOKIE(a->id));
	if (i >= 0 && call(a, a->peer[i], CODE_BACK, &m, &reply))
		reply_done(a, &reply);
}

static void do_oneways(struct actor *a)
{
	int i = peer_find(a);
	struct msg m;

	msg_init(&m);
	msg_ext(&m, a->data, below(a, 2000));
	for (unsigned int n = below(a, 10); i >= 0 && n; n--) {
		uint32_t got = bt_call(&a->part.t, a->peer[i], CODE_SINK, TF_ONE_WAY, &m, NULL);

		if (got == BR_TRANSACTION_COMPLETE)
			soak_count(SOAK_ONEWAYS, 1);
		else if (got == BR_DEAD_REPLY || got == BR_FAILED_REPLY)
			soak_count(SOAK_REFUSED, 1);
		else
			FAIL("a one-way call got %s", br_name(got));
	}
}

/* Objects of its own, and others' that it knows. */
static void do_objects(struct actor *a)
{
	int i = peer_find(a);
	unsigned int n = 1 + below(a, 4);
	struct binder_transaction_data reply;
	struct msg m;

	msg_init(&m);
	for (unsigned int k = 0; k < n; k++) {
		uint32_t other = a->peer[below(a, PEERS)];
		uint64_t own = 100 * a->id + below(a, 10);

		if (other && below(a, 2))
			msg_handle(&m, other);
		else
			msg_binder(&m, 0x1000000 + own * 16, own);
	}
	if (i < 0 || !call(a, a->peer[i], CODE_TAKE, &m, &reply))
		return;
	soak_count(SOAK_OBJECTS, n);
	reply_done(a, &reply);
}

static void do_mourn(struct actor *a)
{
	int i = peer_find(a);

	if (i < 0)
		return;
	bt_death(&a->part.t, a->mourned[i] ? BC_CLEAR_DEATH_NOTIFICATION :
					      BC_REQUEST_DEATH_NOTIFICATION,
		 a->peer[i], i + 1);
	bt_flush(&a->part.t);
	a->mourned[i] = !a->mourned[i];
	/* what is noticed while it waits for a reply */
	if (a->part.t.dead) {
		a->part.t.dead = 0;
		soak_count(SOAK_DEATHS, 1);
	}
}

/* Another open of the device, with what a client may do to its mapping. */
static void do_open(struct actor *a)
{
	struct bt *t = malloc(sizeof(*t));
	uint8_t *own;
	struct bc b;

	bc_open(&b, PAGE << below(a, 11));
	bt_init(t, &b);
	soak_count(SOAK_OPENS, 1);
	if (below(a, 2)) {
		struct binder_transaction_data reply;

		if (bt_call(t, 0, CODE_NULL, 0, NULL, &reply) == BR_REPLY && below(a, 2))
			bt_free(t, reply.data.ptr.buffer);
	}
	own = below(a, 2) ? mmap(NULL, b.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, 0) :
			    MAP_FAILED;
	if (own != MAP_FAILED) {
		own[below(a, b.map_size)] = 1;
		munmap(own, b.map_size);
	}
	if (below(a, 2))
		bt_flush(t);
	bc_close(&b);
	free(t);
}

static void do_read_logs(struct actor *a)
{
	static const char *const names[] = { "state", "stats", "transactions", "transaction_log" };

	free(driver_read(names[below(a, ARRAY_SIZE(names))]));
}

/* Return: false when it has had enough. */
static bool step(struct actor *a)
{
	switch (below(a, 100)) {
	case 0 ... 34:
		do_echo(a);
		break;
	case 35 ... 44:
		do_nested(a);
		break;
	case 45 ... 54:
		do_call_back(a);
		break;
	case 55 ... 69:
		do_oneways(a);
		break;
	case 70 ... 79:
		do_objects(a);
		break;
	case 80 ... 89:
		do_mourn(a);
		break;
	case 90 ... 96:
		do_open(a);
		break;
	case 97:
		do_read_logs(a);
		break;
	default:
		return below(a, 40);
	}
	return true;
}

/** soak_actor_main() - live until told to stop, or tired of it; @arg is a struct soak_actor. */
void soak_actor_main(void *arg)
{
	const struct soak_actor *role = arg;
	struct actor *a = calloc(1, sizeof(*a));

	a->id = role->id;
	a->seed = role->seed;
	bc_open(&a->b, (256 * 1024) << below(a, 5));
	bt_init(&a->part.t, &a->b);
	a->part.t.handler = serve;
	a->part.t.priv = &a->part;
	for (unsigned int i = 1 + below(a, LOOPERS_MAX); i; i--)
		test_thread(looper, &a->b);
	enroll(a);
	while (!atomic_load(&soak->stop) && step(a))
		;
}
