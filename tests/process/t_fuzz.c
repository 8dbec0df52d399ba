// SPDX-License-Identifier: MIT
/*
 * Garbage of several kinds, from several processes at once, while a bystander
 * makes checked calls. TEST_SEED=n repeats a run; the seed is printed.
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

enum { FUZZERS = 4 };

struct fuzz {
	atomic_int ready;
	atomic_int stop;
	unsigned int seed;
	unsigned int rounds;
	void (*round)(struct bt *t, unsigned int *seed);
};

static struct fuzz *fuzz;

static unsigned int base_seed(void)
{
	const char *given = getenv("TEST_SEED");
	unsigned int seed = given ? strtoul(given, NULL, 0) : 20260101;

	fprintf(stderr, "  TEST_SEED=%u\n", seed);
	return seed;
}

/* Few values, so that garbage meets garbage. */
static uint64_t number(struct bt *t, unsigned int *seed)
{
	switch (rand_r(seed) % 10) {
	case 0:
		return 0;
	case 1:
		return rand_r(seed) % 8;
	case 2:
		return 0x1000 * (rand_r(seed) % 8);
	case 3:
		return (uintptr_t)t->b->map + rand_r(seed) % t->b->map_size / 8 * 8;
	case 4:
		return (uintptr_t)t->b->map;
	case 5:
		return (uintptr_t)t->in + rand_r(seed) % 4096;
	case 6:
		return UINT64_MAX - rand_r(seed) % 64;
	case 7:
		return (uint64_t)rand_r(seed) << 32 | rand_r(seed);
	case 8:
		return 1ull << rand_r(seed) % 64;
	default:
		return rand_r(seed) % 4096;
	}
}

static uint32_t object_type(unsigned int *seed)
{
	static const uint32_t types[] = {
		BINDER_TYPE_BINDER, BINDER_TYPE_WEAK_BINDER, BINDER_TYPE_HANDLE,
		BINDER_TYPE_WEAK_HANDLE, BINDER_TYPE_FD, BINDER_TYPE_FDA, BINDER_TYPE_PTR, 0,
	};

	return types[rand_r(seed) % ARRAY_SIZE(types)];
}

/* A payload of objects and noise; offsets mostly right. */
static void random_payload(struct bt *t, struct msg *m, unsigned int *seed)
{
	unsigned int n = rand_r(seed) % 5;

	msg_init(m);
	while (n--) {
		if (rand_r(seed) % 4 == 0)
			msg_u32(m, rand_r(seed));
		msg_flat(m, object_type(seed), number(t, seed), number(t, seed), rand_r(seed));
	}
	if (rand_r(seed) % 8 == 0 && m->nr)
		m->offs[rand_r(seed) % m->nr] = number(t, seed);
	if (rand_r(seed) % 16 == 0)
		msg_ext(m, (void *)(uintptr_t)number(t, seed), number(t, seed));
}

static void put_transaction(struct bt *t, uint32_t cmd, unsigned int *seed)
{
	struct msg *m = &t->replies[rand_r(seed) % BT_DEPTH];
	struct binder_transaction_data_sg sg = { 0 };
	struct binder_transaction_data *tr = &sg.transaction_data;

	random_payload(t, m, seed);
	tr->target.handle = rand_r(seed) % 3 ? rand_r(seed) % 3u : number(t, seed);
	tr->code = CODE_OWN + rand_r(seed) % 100;
	tr->flags = rand_r(seed) & 0xff & ~(rand_r(seed) % 2 ? TF_ONE_WAY : 0);
	tr->data_size = m->ext ? m->ext_size : m->size;
	tr->data.ptr.buffer = m->ext ? (uintptr_t)m->ext : (uintptr_t)m->buf;
	tr->offsets_size = m->nr * 8;
	tr->data.ptr.offsets = (uintptr_t)m->offs;
	sg.buffers_size = number(t, seed);
	bt_cmd(t, cmd);
	bt_put(t, &sg, _IOC_SIZE(cmd));
}

/* One command with arguments of the right length. */
static void put_command(struct bt *t, unsigned int *seed)
{
	static const uint32_t cmds[] = {
		BC_TRANSACTION, BC_TRANSACTION, BC_REPLY, BC_TRANSACTION_SG, BC_REPLY_SG,
		BC_FREE_BUFFER, BC_FREE_BUFFER, BC_INCREFS, BC_ACQUIRE, BC_RELEASE, BC_DECREFS,
		BC_INCREFS_DONE, BC_ACQUIRE_DONE, BC_REGISTER_LOOPER, BC_ENTER_LOOPER,
		BC_EXIT_LOOPER, BC_REQUEST_DEATH_NOTIFICATION, BC_CLEAR_DEATH_NOTIFICATION,
		BC_DEAD_BINDER_DONE, BC_ATTEMPT_ACQUIRE, BC_ACQUIRE_RESULT,
		BC_REQUEST_FREEZE_NOTIFICATION, BC_CLEAR_FREEZE_NOTIFICATION,
		BC_FREEZE_NOTIFICATION_DONE,
	};
	uint32_t cmd = cmds[rand_r(seed) % ARRAY_SIZE(cmds)];
	uint64_t arg[4];

	if (cmd == BC_TRANSACTION || cmd == BC_REPLY || cmd == BC_TRANSACTION_SG ||
	    cmd == BC_REPLY_SG) {
		put_transaction(t, cmd, seed);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(arg); i++)
		arg[i] = number(t, seed);
	if (rand_r(seed) % 2) {
		/* a handle, then a cookie */
		uint32_t h = rand_r(seed) % 6;

		memcpy(arg, &h, sizeof(h));
	}
	bt_cmd(t, cmd);
	bt_put(t, arg, _IOC_SIZE(cmd));
}

/* Takes what is there; frees or leaks, answers or not. */
static void drain(struct bt *t, unsigned int *seed)
{
	struct bt_ret ret;

	while (bt_next(t, &ret)) {
		switch (ret.cmd) {
		case BR_TRANSACTION:
		case BR_REPLY:
			if (rand_r(seed) % 8)
				bt_free(t, ret.tr.data.ptr.buffer);
			if (ret.cmd == BR_TRANSACTION && rand_r(seed) % 4)
				bt_send(t, BC_REPLY, 0, 0, rand_r(seed) & 0xff, NULL);
			break;
		case BR_INCREFS:
		case BR_ACQUIRE:
			if (rand_r(seed) % 4)
				bt_done(t, ret.cmd == BR_INCREFS ? BC_INCREFS_DONE :
					BC_ACQUIRE_DONE, ret.ref.ptr, ret.ref.cookie);
			break;
		case BR_DEAD_BINDER:
			bt_cookie(t, BC_DEAD_BINDER_DONE, ret.cookie);
			break;
		}
	}
}

static void round_of_commands(struct bt *t, unsigned int *seed)
{
	unsigned int n = 1 + rand_r(seed) % 12;
	int err;

	while (n-- && t->out_len + 2048 < sizeof(t->out))
		put_command(t, seed);
	err = bt_ioctl(t, rand_r(seed) % 4);
	CHECK(!err || err == -EAGAIN || err == -EINVAL || err == -EFAULT);
	/* an error stops at a bad command: drop the rest now and then */
	if (err == -EINVAL || err == -EFAULT || t->out_len > 4096)
		t->out_len = 0;
	drain(t, seed);
}

static void round_of_bytes(struct bt *t, unsigned int *seed)
{
	size_t n = rand_r(seed) % 300;
	struct binder_write_read bwr = {
		.write_buffer = (uintptr_t)t->out, .read_buffer = (uintptr_t)t->in,
		.read_size = sizeof(t->in),
	};

	put_command(t, seed);
	put_command(t, seed);
	for (size_t i = 0; i < n; i++)
		t->out[rand_r(seed) % (t->out_len + 1)] = rand_r(seed);
	/* cut it anywhere; not by bt_ioctl(), as some drivers read beyond the cut */
	bwr.write_size = rand_r(seed) % (t->out_len + 1);
	ioctl(t->b->fd, BINDER_WRITE_READ, &bwr);
	t->out_len = 0;
	/* what came in is not garbage, but may be a call with any code */
	CHECK_LE(bwr.read_consumed, sizeof(t->in));
	t->in_pos = 0;
	t->in_len = bwr.read_consumed;
	drain(t, seed);
}

static void round_of_ioctls(struct bt *t, unsigned int *seed)
{
	uint64_t arg[40];
	unsigned int cmd;

	for (size_t i = 0; i < ARRAY_SIZE(arg); i++)
		arg[i] = number(t, seed);
	cmd = _IOC(rand_r(seed) % 4, 'b', rand_r(seed) % 24, rand_r(seed) % 3 ?
		   1u << rand_r(seed) % 9 : 4u * (rand_r(seed) % 20));
	/* one that would wait for ever is not garbage */
	if (cmd == BINDER_WRITE_READ)
		return;
	ioctl(t->b->fd, cmd, rand_r(seed) % 4 ? (uint64_t)(uintptr_t)arg : number(t, seed));
	{
		struct binder_write_read bwr = {
			.write_size = number(t, seed), .write_consumed = number(t, seed),
			.write_buffer = number(t, seed), .read_size = 0,
			.read_buffer = number(t, seed),
		};

		ioctl(t->b->fd, BINDER_WRITE_READ, &bwr);
	}
}

static void fuzzer(void *arg)
{
	unsigned int seed = fuzz->seed + (uintptr_t)arg * 7919;

	for (unsigned int life = 0; life < 5; life++) {
		struct bt *t = calloc(1, sizeof(*t));
		struct bc b;

		bc_open_nonblock(&b, 1 << 16);
		bt_init(t, &b);
		for (unsigned int i = 0; i < fuzz->rounds / 5; i++) {
			if (test_failed())
				_exit(1);
			fuzz->round(t, &seed);
		}
		bc_close(&b);
		free(t);
	}
}

/* A manager that answers whatever comes. */
static void patient_handler(struct bt *t, const struct binder_transaction_data *tr,
			    struct msg *reply)
{
	if (tr->code == CODE_ECHO)
		msg_ext(reply, tr_data(tr), tr->data_size);
}

static void *patient_thread(void *arg)
{
	struct bt *t = calloc(1, sizeof(*t));

	bt_init(t, arg);
	t->handler = patient_handler;
	bt_enter(t);
	bt_loop(t);
}

static void patient_server(void *arg)
{
	struct bc b;

	bc_open(&b, 1 << 20);
	CHECK_EQ(bc_become_manager(&b), 0);
	for (int i = 0; i < 2; i++)
		test_thread(patient_thread, &b);
	test_post(&fuzz->ready);
	patient_thread(&b);
}

static void bystander(void *arg)
{
	struct client *c = client_open();
	uint32_t n = 0;

	while (!atomic_load(&fuzz->stop) || !n) {
		struct binder_transaction_data reply;
		struct msg m;

		msg_init(&m);
		msg_u32(&m, n);
		msg_u32(&m, ~n);
		if (bt_call(&c->t, 0, CODE_ECHO, 0, &m, &reply) != BR_REPLY) {
			/* others may fill the server's buffer for a moment */
			bt_expect_error(&c->t, BR_FAILED_REPLY, -ENOSPC);
			continue;
		}
		CHECK_EQ(reply.data_size, 8);
		CHECK_EQ(tr_u32(&reply, 0), n);
		CHECK_EQ(tr_u32(&reply, 1), ~n);
		bt_free(&c->t, reply.data.ptr.buffer);
		n++;
	}
}

static void run(void (*round)(struct bt *t, unsigned int *seed), unsigned int rounds)
{
	pid_t pids[FUZZERS], stander;

	fuzz = test_share(sizeof(*fuzz));
	fuzz->seed = base_seed();
	fuzz->rounds = rounds;
	fuzz->round = round;
	test_spawn(patient_server, NULL);
	test_await(&fuzz->ready, 1);
	stander = test_spawn(bystander, NULL);
	for (uintptr_t i = 0; i < FUZZERS; i++)
		pids[i] = test_spawn(fuzzer, (void *)i);
	for (int i = 0; i < FUZZERS; i++)
		test_join(pids[i]);
	test_post(&fuzz->stop);
	test_join(stander);
}

static void test_fuzz_commands_short(void)
{
	run(round_of_commands, 600);
}

static void test_fuzz_bytes_short(void)
{
	run(round_of_bytes, 600);
}

static void test_fuzz_ioctls_short(void)
{
	run(round_of_ioctls, 600);
}

static void test_fuzz_commands_long(void)
{
	run(round_of_commands, 30000);
}

static void test_fuzz_bytes_long(void)
{
	run(round_of_bytes, 30000);
}

static void test_fuzz_ioctls_long(void)
{
	run(round_of_ioctls, 30000);
}

static const struct test_case cases[] = {
	QUICK(test_fuzz_commands_short),
	QUICK(test_fuzz_bytes_short),
	QUICK(test_fuzz_ioctls_short),
	CASE_FLAGS(test_fuzz_commands_long, TEST_LONG),
	CASE_FLAGS(test_fuzz_bytes_long, TEST_LONG),
	CASE_FLAGS(test_fuzz_ioctls_long, TEST_LONG),
};

TEST_MAIN(cases)
