// SPDX-License-Identifier: MIT
/*
 * BINDER_GET_NODE_INFO_FOR_REF: the manager asks who else holds a service.
 * BINDER_GET_NODE_DEBUG_INFO: a process walks over its own nodes.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the manager understands beside the standard. */
enum {
	CODE_INFO = CODE_OWN, /* struct info_request: the outcome, and the struct after it */
	CODE_KEEP,            /* number, reference command, object: remember it, held like this */
	CODE_DO,              /* number, reference command: do that to it */
};

/* @id: 0, or the number of the object whose handle it is about. */
struct info_request {
	uint32_t id;
	struct binder_node_info_for_ref info;
};

static void manager_code(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	struct server *s = t->priv;
	uint32_t id = tr_u32(tr, 0);
	struct info_request rq;
	int err;

	CHECK(id < SERVER_OBJECTS);
	switch (tr->code) {
	case CODE_INFO:
		memcpy(&rq, tr_data(tr), sizeof(rq));
		if (id)
			rq.info.handle = s->object[id];
		err = ioctl(t->b->fd, BINDER_GET_NODE_INFO_FOR_REF, &rq.info) ? errno : 0;
		msg_u32(reply, err);
		msg_bytes(reply, &rq.info, sizeof(rq.info));
		break;
	case CODE_KEEP:
		s->object[id] = tr_object(tr, 0)->handle;
		bt_ref(t, tr_u32(tr, 1), s->object[id]);
		break;
	case CODE_DO:
		bt_ref(t, tr_u32(tr, 1), s->object[id]);
		break;
	default:
		FAIL("the manager got the unknown code %u", tr->code);
	}
}

/* The manager is a process with one thread, so what is answered is also done. */
struct world {
	struct server manager;
	struct client owner; /* of OBJ, which the manager holds as number 1 */
	struct client a;
	struct client b;
	struct client ask;
};

#define OBJ 0x7100ul
#define OBJ_COOKIE 0x7200ul

static void to_manager(struct bt *t, uint32_t code, const struct msg *m)
{
	struct binder_transaction_data reply;

	bt_call_ok(t, 0, code, m, &reply);
	bt_free(t, reply.data.ptr.buffer);
	bt_flush(t);
}

static struct world *world_bare(void)
{
	struct world *w = calloc(1, sizeof(*w));

	w->manager.own = manager_code;
	server_start(&w->manager);
	end_open(&w->owner.b, &w->owner.t);
	end_open(&w->a.b, &w->a.t);
	end_open(&w->b.b, &w->b.t);
	end_open(&w->ask.b, &w->ask.t);
	bt_enter(&w->owner.t);
	return w;
}

static struct world *world_open(void)
{
	struct world *w = world_bare();

	registry_put(&w->owner.t, 1, OBJ, OBJ_COOKIE);
	bt_settle(&w->owner.t);
	return w;
}

/* Return: 0 or a positive errno. */
static int ask(struct world *w, struct info_request *rq)
{
	struct binder_transaction_data reply;
	struct msg m;
	int err;

	msg_init(&m);
	msg_bytes(&m, rq, sizeof(*rq));
	bt_call_ok(&w->ask.t, 0, CODE_INFO, &m, &reply);
	err = tr_u32(&reply, 0);
	memcpy(&rq->info, (const uint8_t *)tr_data(&reply) + sizeof(uint32_t), sizeof(rq->info));
	bt_free(&w->ask.t, reply.data.ptr.buffer);
	bt_flush(&w->ask.t);
	return err;
}

static uint32_t strong_count(struct world *w)
{
	struct info_request rq = { .id = 1 };

	CHECK_EQ(ask(w, &rq), 0);
	return rq.info.strong_count;
}

static void counts_at(int line, struct world *w, uint32_t strong, uint32_t weak)
{
	struct info_request rq = { .id = 1 };
	int err = ask(w, &rq);

	if (err || rq.info.strong_count != strong || rq.info.weak_count != weak)
		test_fail(__FILE__, line, "the manager sees strong %u weak %u (%s), wanted %u %u",
			  rq.info.strong_count, rq.info.weak_count, strerror(err), strong, weak);
	CHECK(!rq.info.reserved1 && !rq.info.reserved2 && !rq.info.reserved3);
}

#define counts(w, strong, weak) counts_at(__LINE__, w, strong, weak)

/* The end of a process takes its moment. */
static void counts_soon(struct world *w, uint32_t strong)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;

	while (strong_count(w) != strong && test_now_ms() < end)
		test_sleep_ms(1);
	counts(w, strong, 0);
}

static void manager_does(struct world *w, uint32_t cmd)
{
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 1);
	msg_u32(&m, cmd);
	to_manager(&w->ask.t, CODE_DO, &m);
}

static void command(struct bt *t, uint32_t cmd, uint32_t handle)
{
	bt_ref(t, cmd, handle);
	bt_flush(t);
}

/* ---- who holds --------------------------------------------------------------------- */

static void test_managers_own_reference_counts_one(void)
{
	struct world *w = world_open();

	counts(w, 1, 0);
	/* however often it is held */
	manager_does(w, BC_ACQUIRE);
	manager_does(w, BC_INCREFS);
	counts(w, 1, 0);
	manager_does(w, BC_RELEASE);
	manager_does(w, BC_DECREFS);
	counts(w, 1, 0);
}

static void test_each_client_counts_one(void)
{
	struct world *w = world_open();
	uint32_t a, b;

	a = registry_get(&w->a.t, 1);
	counts(w, 2, 0);
	CHECK_EQ(registry_get(&w->a.t, 1), a);
	command(&w->a.t, BC_ACQUIRE, a);
	counts(w, 2, 0);
	b = registry_get(&w->b.t, 1);
	counts(w, 3, 0);
	command(&w->a.t, BC_RELEASE, a);
	command(&w->a.t, BC_RELEASE, a);
	counts(w, 3, 0);
	command(&w->a.t, BC_RELEASE, a);
	counts(w, 2, 0);
	command(&w->b.t, BC_RELEASE, b);
	counts(w, 1, 0);
}

static void test_weak_holder_does_not_count(void)
{
	struct world *w = world_open();
	uint32_t a = registry_get(&w->a.t, 1);

	command(&w->a.t, BC_INCREFS, a);
	counts(w, 2, 0);
	command(&w->a.t, BC_RELEASE, a);
	counts(w, 1, 0);
}

static void test_client_that_closes_is_counted_no_more(void)
{
	struct world *w = world_open();

	registry_get(&w->a.t, 1);
	registry_get(&w->b.t, 1);
	counts(w, 3, 0);
	bc_close(&w->a.b);
	counts_soon(w, 2);
	bc_close(&w->b.b);
	counts_soon(w, 1);
}

static void holder_main(void *arg)
{
	struct client *c = client_open();

	registry_get(&c->t, 1);
	test_post(arg);
	for (;;)
		pause();
}

static void test_killed_clients_are_counted_no_more(void)
{
	struct world *w = world_open();
	atomic_int *ready = test_share(sizeof(*ready));
	pid_t pids[8];

	for (int i = 0; i < 8; i++)
		pids[i] = test_spawn(holder_main, ready);
	test_await(ready, 8);
	counts(w, 9, 0);
	for (int i = 0; i < 8; i++) {
		test_kill(pids[i]);
		counts_soon(w, 8 - i);
	}
}

/* ---- on the way -------------------------------------------------------------------- */

/* The reply with the object is on its way to the client, then read, then freed. */
static void test_reference_in_a_buffer_counts_as_the_receivers(void)
{
	struct world *w = world_open();
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 1);
	for (int keep = 0; keep < 2; keep++) {
		bt_send(&w->a.t, BC_TRANSACTION, 0, CODE_GET, 0, &m);
		bt_flush(&w->a.t);
		counts(w, 2, 0);
		CHECK_EQ(bt_event(&w->a.t, &ret), BR_REPLY);
		counts(w, 2, 0);
		if (keep)
			bt_ref(&w->a.t, BC_ACQUIRE, tr_object(&ret.tr, 0)->handle);
		bt_free(&w->a.t, ret.tr.data.ptr.buffer);
		bt_flush(&w->a.t);
		counts(w, 1 + keep, 0);
	}
}

static void test_reference_in_an_undelivered_buffer_goes_with_its_receiver(void)
{
	struct world *w = world_open();
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 1);
	bt_send(&w->a.t, BC_TRANSACTION, 0, CODE_GET, 0, &m);
	bt_flush(&w->a.t);
	counts(w, 2, 0);
	bc_close(&w->a.b);
	counts_soon(w, 1);
}

/* A call keeps what it is to, until its buffer is freed. */
static void call_counts(uint32_t flags)
{
	struct world *w = world_open();
	uint32_t h = registry_get(&w->a.t, 1);
	struct bt_ret ret;

	bt_send(&w->a.t, BC_TRANSACTION, h, 1, flags, NULL);
	bt_flush(&w->a.t);
	counts(w, 3, 0);
	command(&w->a.t, BC_RELEASE, h);
	counts(w, 2, 0);
	CHECK_EQ(bt_event(&w->owner.t, &ret), BR_TRANSACTION);
	counts(w, 2, 0);
	if (!(flags & TF_ONE_WAY)) {
		bt_send(&w->owner.t, BC_REPLY, 0, 0, 0, NULL);
		bt_flush(&w->owner.t);
		counts(w, 2, 0);
	}
	bt_free(&w->owner.t, ret.tr.data.ptr.buffer);
	bt_flush(&w->owner.t);
	counts(w, 1, 0);
}

static void test_call_to_it_counts_until_freed(void)
{
	call_counts(0);
}

static void test_oneway_call_to_it_counts_until_freed(void)
{
	call_counts(TF_ONE_WAY);
}

/* An object that comes home is the owner's own, and counted while the buffer is. */
static void home_counts(uint32_t type, uint32_t strong, uint32_t weak)
{
	struct world *w = world_open();
	uint32_t h = registry_get(&w->a.t, 1);
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_flat(&m, type, h, 0, 0);
	bt_send(&w->a.t, BC_TRANSACTION, h, 1, TF_ONE_WAY, &m);
	bt_flush(&w->a.t);
	counts(w, 3 + strong, weak);
	CHECK_EQ(bt_event(&w->owner.t, &ret), BR_TRANSACTION);
	counts(w, 3 + strong, weak);
	bt_free(&w->owner.t, ret.tr.data.ptr.buffer);
	bt_flush(&w->owner.t);
	counts(w, 2, 0);
}

static void test_object_come_home_counts_until_freed(void)
{
	home_counts(BINDER_TYPE_HANDLE, 1, 0);
}

static void test_weak_object_come_home_counts_as_weak(void)
{
	home_counts(BINDER_TYPE_WEAK_HANDLE, 0, 1);
}

static void test_unanswered_acquire_counts(void)
{
	struct world *w = world_bare();
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 1);
	msg_u32(&m, 0);
	msg_binder(&m, OBJ, OBJ_COOKIE);
	bt_send(&w->owner.t, BC_TRANSACTION, 0, CODE_PUT, 0, &m);
	bt_flush(&w->owner.t);
	counts(w, 1, 0);
	bt_expect(&w->owner.t, BR_INCREFS, &ret);
	bt_expect(&w->owner.t, BR_ACQUIRE, &ret);
	counts(w, 2, 1);
	bt_done(&w->owner.t, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
	bt_flush(&w->owner.t);
	counts(w, 2, 0);
	bt_done(&w->owner.t, BC_ACQUIRE_DONE, OBJ, OBJ_COOKIE);
	bt_flush(&w->owner.t);
	counts(w, 1, 0);
}

/* ---- after its owner --------------------------------------------------------------- */

static void test_dead_object_counts_its_holders(void)
{
	struct world *w = world_open();
	uint32_t a = registry_get(&w->a.t, 1);

	counts(w, 2, 0);
	bc_close(&w->owner.b);
	while (bt_call(&w->a.t, a, 1, TF_ONE_WAY, NULL, NULL) != BR_DEAD_REPLY)
		test_sleep_ms(1);
	counts_soon(w, 2); /* the calls that were still taken go last */
	command(&w->a.t, BC_RELEASE, a);
	counts(w, 1, 0);
}

/* What the owner had not read, not freed, or not answered goes with it. */
static void test_dead_object_counts_no_calls(void)
{
	struct world *w = world_open();
	uint32_t a = registry_get(&w->a.t, 1);
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_handle(&m, a);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(bt_call(&w->a.t, a, 1, TF_ONE_WAY, &m, NULL), BR_TRANSACTION_COMPLETE);
	bt_expect(&w->owner.t, BR_TRANSACTION, &ret);
	counts(w, 10, 0);
	bc_close(&w->owner.b);
	counts_soon(w, 2);
}

/* ---- who may ask, and how ---------------------------------------------------------- */

static int ask_on(int fd, uint32_t handle)
{
	struct binder_node_info_for_ref info = { .handle = handle }, was = info;
	int err = ioctl(fd, BINDER_GET_NODE_INFO_FOR_REF, &info) ? errno : 0;

	if (err)
		CHECK_MEM(&info, &was, sizeof(info));
	return err;
}

static void test_only_the_manager_may_ask(void)
{
	struct world *w = world_open();
	uint32_t a = registry_get(&w->a.t, 1);
	struct bc other;

	CHECK_EQ(ask_on(w->a.b.fd, a), EPERM);
	CHECK_EQ(ask_on(w->a.b.fd, 77), EPERM);
	CHECK_EQ(ask_on(w->a.b.fd, 0), EPERM);
	CHECK_EQ(ask_on(w->owner.b.fd, 1), EPERM);
	server_stop(&w->manager);
	CHECK_EQ(ask_on(w->a.b.fd, a), EPERM);
	if (bc_try_open(&other, "hwbinder", 0, BC_MAP_SIZE))
		return;
	/* the manager of one device is none of another */
	while (bc_become_manager(&other) == -EBUSY)
		test_sleep_ms(1);
	CHECK_EQ(ask_on(other.fd, 1), EINVAL);
	CHECK_EQ(ask_on(w->a.b.fd, a), EPERM);
}

/* It is the open file that manages, not the process. */
static void test_second_open_of_the_manager_may_not_ask(void)
{
	struct client *m = client_open(), *again = client_open();

	CHECK_EQ(bc_become_manager(&m->b), 0);
	CHECK_EQ(ask_on(m->b.fd, 1), EINVAL);
	CHECK_EQ(ask_on(again->b.fd, 1), EPERM);
}

static void test_handle_must_be_held(void)
{
	struct world *w = world_open();

	for (uint32_t h = 0; h < 80; h++) {
		struct info_request rq = { .info.handle = h };
		int err = ask(w, &rq);

		CHECK_EQ(err, h == 1 ? 0 : EINVAL);
		CHECK_EQ(rq.info.handle, h);
		CHECK_EQ(rq.info.strong_count, h == 1);
	}
	for (int i = 0; i < 3; i++) {
		struct info_request rq = { .info.handle = 0xffffffff >> i };

		CHECK_EQ(ask(w, &rq), EINVAL);
	}
}

static void test_handle_held_weakly_is_refused(void)
{
	struct world *w = world_bare();
	struct info_request rq = { .id = 1 };
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 1);
	msg_u32(&m, BC_INCREFS);
	msg_binder(&m, OBJ, OBJ_COOKIE);
	to_manager(&w->owner.t, CODE_KEEP, &m);
	bt_settle(&w->owner.t);
	CHECK_EQ(ask(w, &rq), EINVAL);
	CHECK(!rq.info.strong_count && !rq.info.weak_count);
	/* a strong hold beside the weak one, and back */
	registry_put(&w->owner.t, 1, OBJ, OBJ_COOKIE);
	bt_settle(&w->owner.t);
	counts(w, 1, 0);
	manager_does(w, BC_RELEASE);
	CHECK_EQ(ask(w, &rq), EINVAL);
}

static void test_field_that_is_not_zero_is_refused(void)
{
	static const uint32_t values[] = { 1, 0x100, 0x80000000, 0xffffffff };
	struct world *w = world_open();
	struct binder_node_info_for_ref info;

	for (size_t field = 1; field < 6; field++)
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			struct info_request rq = { .id = 1 };

			((uint32_t *)&rq.info)[field] = values[i];
			CHECK_EQ(ask(w, &rq), EINVAL);
			for (size_t other = 1; other < 6; other++)
				CHECK_EQ(((uint32_t *)&rq.info)[other],
					 other == field ? values[i] : 0);
			/* and from one who may not ask at all */
			memset(&info, 0, sizeof(info));
			((uint32_t *)&info)[field] = values[i];
			CHECK(ioctl(w->a.b.fd, BINDER_GET_NODE_INFO_FOR_REF, &info) < 0);
			CHECK_EQ(errno, EINVAL);
		}
	counts(w, 1, 0);
}

static void test_bad_pointer_is_efault(void)
{
	struct client *m = client_open();
	uint8_t *no = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const unsigned long cmds[] = { BINDER_GET_NODE_INFO_FOR_REF,
					      BINDER_GET_NODE_DEBUG_INFO };

	CHECK(no != MAP_FAILED);
	CHECK_EQ(munmap(no + 4096, 4096), 0);
	CHECK_EQ(bc_become_manager(&m->b), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		CHECK(ioctl(m->b.fd, cmds[i], NULL) < 0 && errno == EFAULT);
		CHECK(ioctl(m->b.fd, cmds[i], no + 4096) < 0 && errno == EFAULT);
		CHECK(ioctl(m->b.fd, cmds[i], no + 4096 - 8) < 0 && errno == EFAULT);
	}
	/* can be read, and not written */
	CHECK(ioctl(m->b.fd, BINDER_GET_NODE_DEBUG_INFO, no) < 0 && errno == EFAULT);
	bc_works(&m->b);
}

/* ---- while much goes on ------------------------------------------------------------ */

#define CHURNERS 3

static void churn_main(void *arg)
{
	struct client *c = client_open();

	for (int i = 0; i < 200; i++) {
		uint32_t h = registry_get(&c->t, 1);

		command(&c->t, BC_ACQUIRE, h);
		command(&c->t, BC_RELEASE, h);
		command(&c->t, BC_RELEASE, h);
	}
	test_post(arg);
}

static void test_counts_stay_true_while_others_come_and_go(void)
{
	struct world *w = world_open();
	atomic_int *ended = test_share(sizeof(*ended));
	pid_t pids[CHURNERS];

	for (int i = 0; i < CHURNERS; i++)
		pids[i] = test_spawn(churn_main, ended);
	while (atomic_load(ended) < CHURNERS && !test_failed()) {
		uint32_t n = strong_count(w);

		CHECK_GE(n, 1);
		CHECK_LE(n, 1 + CHURNERS);
	}
	for (int i = 0; i < CHURNERS; i++)
		test_join(pids[i]);
	counts_soon(w, 1);
}

/* ---- one's own nodes --------------------------------------------------------------- */

struct debug_want {
	uint64_t ptr;
	uint64_t cookie;
	uint32_t strong;
	uint32_t weak;
};

static void walk_at(int line, const struct bc *b, uint64_t from, const struct debug_want *want,
		    size_t nr)
{
	struct binder_node_debug_info info = { .ptr = from };

	for (size_t i = 0; i <= nr; i++) {
		struct debug_want w = { 0 };

		if (i < nr)
			w = want[i];
		/* what else comes in is of no interest */
		info.cookie = 0x1234;
		info.has_strong_ref = info.has_weak_ref = 7;
		CHECK_EQ(ioctl(b->fd, BINDER_GET_NODE_DEBUG_INFO, &info), 0);
		if (info.ptr != w.ptr || info.cookie != w.cookie ||
		    info.has_strong_ref != w.strong || info.has_weak_ref != w.weak)
			test_fail(__FILE__, line,
				  "node %zu is %llx %llx strong %u weak %u, wanted %llx %llx %u %u",
				  i, (unsigned long long)info.ptr, (unsigned long long)info.cookie,
				  info.has_strong_ref, info.has_weak_ref,
				  (unsigned long long)w.ptr, (unsigned long long)w.cookie,
				  w.strong, w.weak);
	}
}

#define walk(b, from, want, nr) walk_at(__LINE__, b, from, want, nr)

static void test_process_without_nodes_has_none(void)
{
	struct world *w = world_open();
	const uint64_t from[] = { 0, 1, OBJ - 1, OBJ, UINT64_MAX };

	registry_get(&w->a.t, 1);
	for (size_t i = 0; i < ARRAY_SIZE(from); i++)
		walk(&w->a.b, from[i], NULL, 0);
}

static void test_nodes_come_in_order_of_their_ptr(void)
{
	static const struct debug_want want[] = {
		{ 1, 0xc1, 1, 1 },
		{ 0x1000, 0xc3, 1, 1 },
		{ OBJ, OBJ_COOKIE, 1, 1 },
		{ 0x7fffffff0000, 0, 1, 1 },
		{ 0x8000000000000000, 0xc4, 1, 1 },
		{ UINT64_MAX, UINT64_MAX, 1, 1 },
	};
	struct world *w = world_open();

	registry_put(&w->owner.t, 2, UINT64_MAX, UINT64_MAX);
	registry_put(&w->owner.t, 3, 0x1000, 0xc3);
	registry_put(&w->owner.t, 4, 0x8000000000000000, 0xc4);
	registry_put(&w->owner.t, 5, 1, 0xc1);
	registry_put(&w->owner.t, 6, 0x7fffffff0000, 0);
	/* others' are not seen */
	registry_put(&w->a.t, 7, OBJ + 8, 0xaa);
	bt_settle(&w->owner.t);
	walk(&w->owner.b, 0, want, 6);
	walk(&w->owner.b, 0xfff, want + 1, 5);
	walk(&w->owner.b, 0x1000, want + 2, 4);
	walk(&w->owner.b, 0x1001, want + 2, 4);
	walk(&w->owner.b, UINT64_MAX, NULL, 0);
}

static void test_node_that_is_dropped_is_seen_no_more(void)
{
	static const struct debug_want want[] = { { OBJ, OBJ_COOKIE, 1, 1 } };
	struct world *w = world_open();

	registry_put(&w->owner.t, 2, OBJ - 8, 2);
	registry_put(&w->owner.t, 3, OBJ + 8, 3);
	registry_drop(&w->owner.t, 2);
	registry_drop(&w->owner.t, 3);
	bt_settle(&w->owner.t);
	walk(&w->owner.b, 0, want, 1);
	server_stop(&w->manager);
	for (int i = 0; i < 10000 && BT_GOT(&w->owner.t, BR_DECREFS) < 3; i++) {
		test_sleep_ms(1);
		bt_settle(&w->owner.t);
	}
	walk(&w->owner.b, 0, NULL, 0);
}

/* Strong and weak: what the owner has been told, not what is. */
static void test_node_says_what_its_owner_was_told(void)
{
	struct debug_want want = { OBJ, OBJ_COOKIE, 0, 0 };
	struct world *w = world_bare();
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 1);
	msg_u32(&m, BC_INCREFS);
	msg_flat(&m, BINDER_TYPE_WEAK_BINDER, OBJ, OBJ_COOKIE, 0);
	bt_send(&w->owner.t, BC_TRANSACTION, 0, CODE_KEEP, 0, &m);
	bt_flush(&w->owner.t);
	walk(&w->owner.b, 0, &want, 1);
	bt_expect(&w->owner.t, BR_INCREFS, &ret);
	want.weak = 1;
	walk(&w->owner.b, 0, &want, 1);
	bt_done(&w->owner.t, BC_INCREFS_DONE, OBJ, OBJ_COOKIE);
	CHECK_EQ(bt_event(&w->owner.t, &ret), BR_REPLY);
	bt_free(&w->owner.t, ret.tr.data.ptr.buffer);
	bt_settle(&w->owner.t);
	walk(&w->owner.b, 0, &want, 1);

	registry_put(&w->owner.t, 1, OBJ, OBJ_COOKIE);
	bt_settle(&w->owner.t);
	want.strong = 1;
	walk(&w->owner.b, 0, &want, 1);
	manager_does(w, BC_RELEASE);
	walk(&w->owner.b, 0, &want, 1);
	bt_expect(&w->owner.t, BR_RELEASE, &ret);
	want.strong = 0;
	walk(&w->owner.b, 0, &want, 1);
	manager_does(w, BC_DECREFS);
	walk(&w->owner.b, 0, &want, 1);
	bt_expect(&w->owner.t, BR_DECREFS, &ret);
	walk(&w->owner.b, 0, NULL, 0);
}

static void test_managers_node_is_seen_when_it_has_a_ptr(void)
{
	struct flat_binder_object fbo = { .binder = OBJ, .cookie = OBJ_COOKIE };
	static const struct debug_want want[] = { { OBJ, OBJ_COOKIE, 1, 1 } };
	struct client *plain = client_open(), *ext = client_open();

	fbo.hdr.type = BINDER_TYPE_BINDER;
	CHECK_EQ(bc_become_manager(&plain->b), 0);
	walk(&plain->b, 0, NULL, 0);
	bc_close(&plain->b);
	while (ioctl(ext->b.fd, BINDER_SET_CONTEXT_MGR_EXT, &fbo)) {
		CHECK_EQ(errno, EBUSY);
		test_sleep_ms(1);
	}
	walk(&ext->b, 0, want, 1);
	walk(&ext->b, OBJ, NULL, 0);
}

static const struct test_case cases[] = {
	QUICK(test_managers_own_reference_counts_one),
	QUICK(test_each_client_counts_one),
	QUICK(test_weak_holder_does_not_count),
	QUICK(test_client_that_closes_is_counted_no_more),
	QUICK(test_killed_clients_are_counted_no_more),
	QUICK(test_reference_in_a_buffer_counts_as_the_receivers),
	QUICK(test_reference_in_an_undelivered_buffer_goes_with_its_receiver),
	QUICK(test_call_to_it_counts_until_freed),
	QUICK(test_oneway_call_to_it_counts_until_freed),
	QUICK(test_object_come_home_counts_until_freed),
	QUICK(test_weak_object_come_home_counts_as_weak),
	QUICK(test_unanswered_acquire_counts),
	QUICK(test_dead_object_counts_its_holders),
	QUICK(test_dead_object_counts_no_calls),
	QUICK(test_only_the_manager_may_ask),
	QUICK(test_second_open_of_the_manager_may_not_ask),
	QUICK(test_handle_must_be_held),
	QUICK(test_handle_held_weakly_is_refused),
	QUICK(test_field_that_is_not_zero_is_refused),
	QUICK(test_bad_pointer_is_efault),
	CASE(test_counts_stay_true_while_others_come_and_go),
	QUICK(test_process_without_nodes_has_none),
	QUICK(test_nodes_come_in_order_of_their_ptr),
	QUICK(test_node_that_is_dropped_is_seen_no_more),
	QUICK(test_node_says_what_its_owner_was_told),
	QUICK(test_managers_node_is_seen_when_it_has_a_ptr),
};

TEST_MAIN(cases)
