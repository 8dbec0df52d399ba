// SPDX-License-Identifier: GPL-2.0-only
/* Command and return buffers: bad, small, cut off, full of nonsense. What is not supported. */
#include "core_test.h"

#include "core/alloc.h"
#include "core/proc.h"

static struct sim_proc *server_proc, *client_proc;
static struct sim_thread *server, *client;

static void start(void)
{
	server_proc = open_proc(100);
	client_proc = open_proc(200);
	server = manager_of(server_proc, 101);
	client = thread_of(client_proc, 201);
}

static u64 user(const void *ptr)
{
	return (uintptr_t)ptr;
}

/* ---- reading ------------------------------------------------------------------ */

static void test_read_into_bad_memory_loses_nothing(void)
{
	struct binder_write_read bad = { .read_buffer = 16, .read_size = 4096 };
	struct binder_transaction_data tr;

	start();
	put_call(client, 0, 0, "x");
	submit_waits(client);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(sim_write_read(server, &bad, true), -EFAULT);
		EXPECT_EQ(server->bwr.read_consumed, 0);
		EXPECT(sim_poll(server));
	}
	/* It counts as received: answering it is possible right away. */
	fetch(server);
	take_text(server, BR_TRANSACTION, "x", &tr);
	take_end(server);
	answer(server, &tr, client, "y");
	fetch_nothing(server);
}

static void test_read_into_half_bad_memory(void)
{
	struct binder_write_read half = { .read_size = 4096 };
	u8 *mem;

	start();
	mem = sim_user_alloc(server_proc, 20);
	half.read_buffer = user(mem);
	put_call(client, 0, TF_ONE_WAY, "x");
	send(client);
	EXPECT_EQ(sim_write_read(server, &half, true), -EFAULT);
	EXPECT_EQ(server->bwr.read_consumed, 0);
	fetch(server);
	take_text(server, BR_TRANSACTION, "x", NULL);
}

/* What was staged for a large buffer goes out in whole returns, as they fit. */
static void test_read_smaller_after_a_bad_one(void)
{
	struct binder_write_read bwr = { .read_buffer = 16, .read_size = 4096 };
	struct parcel parcel = {};

	start();
	PARCEL_BINDER(&parcel, 0x10);
	put_parcel(client, 0, TF_ONE_WAY, &parcel);
	send(client);
	EXPECT_EQ(sim_write_read(client, &bwr, true), -EFAULT);
	/* BR_NOOP, BR_INCREFS, BR_ACQUIRE, BR_TRANSACTION_COMPLETE. */
	bwr.read_buffer = user(client->in);
	bwr.read_size = 3;
	EXPECT_EQ(sim_write_read(client, &bwr, true), 0);
	EXPECT_EQ(client->bwr.read_consumed, 0);
	bwr.read_size = 4 + 20 + 19;
	EXPECT_EQ(sim_write_read(client, &bwr, true), 0);
	EXPECT_EQ(client->bwr.read_consumed, 24);
	take_node(client, BR_INCREFS, 0x10);
	take_end(client);
	bwr.read_size = 20;
	EXPECT_EQ(sim_write_read(client, &bwr, true), 0);
	take_node(client, BR_ACQUIRE, 0x10);
	take_end(client);
	fetch(client);
	EXPECT_EQ(client->bwr.read_consumed, 4);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_end(client);
	fetch_nothing(client);
}

static void test_read_too_small_leaves_the_work(void)
{
	struct binder_write_read bwr = {};
	u64 sizes[] = { 1, 3, 4, 8, 79 };

	start();
	put_call(client, 0, TF_ONE_WAY, "x");
	send(client);
	bwr.read_buffer = user(server->in);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		bwr.read_size = sizes[i];
		EXPECT_EQ(sim_write_read(server, &bwr, false), 0);
		EXPECT_EQ(server->bwr.read_consumed, sizes[i] < 4 ? 0 : 4);
	}
	bwr.read_size = 80;
	EXPECT_EQ(sim_write_read(server, &bwr, false), 0);
	EXPECT_EQ(server->bwr.read_consumed, 72);
	take_text(server, BR_TRANSACTION, "x", NULL);
	/* With nothing to read a small buffer waits like any other. */
	bwr.read_size = 1;
	EXPECT_EQ(sim_write_read(server, &bwr, false), BINDER_PARK);
}

static void test_read_goes_on_where_it_is_told(void)
{
	struct binder_write_read bwr = { .read_size = 4096, .read_consumed = 100 };

	start();
	put_call(client, 0, TF_ONE_WAY, "x");
	send(client);
	bwr.read_buffer = user(server->in);
	EXPECT_EQ(sim_write_read(server, &bwr, false), 0);
	EXPECT_EQ(server->bwr.read_consumed, 100 + 68);
	server->next_pos = 100;
	take_text(server, BR_TRANSACTION, "x", NULL);
	EXPECT_EQ(server->in[99], 0);
	/* Told nonsense, it writes nothing. */
	bwr.read_size = 8;
	put_call(client, 0, TF_ONE_WAY, "y");
	send(client);
	EXPECT_EQ(sim_write_read(server, &bwr, false), 0);
	EXPECT_EQ(server->bwr.read_consumed, 100);
}

static void test_read_is_not_done_when_the_write_fails(void)
{
	struct binder_write_read bwr = { .write_buffer = 16, .write_size = 4 };

	start();
	put_call(client, 0, TF_ONE_WAY, "x");
	send(client);
	bwr.read_buffer = user(server->in);
	bwr.read_size = 4096;
	bwr.read_consumed = 8;
	EXPECT_EQ(sim_write_read(server, &bwr, false), -EFAULT);
	EXPECT_EQ(server->bwr.read_consumed, 0);
	EXPECT_EQ(server->bwr.write_consumed, 0);
	fetch(server);
	take_text(server, BR_TRANSACTION, "x", NULL);
}

static void test_read_batches_what_does_not_end_it(void)
{
	struct parcel parcel = {};

	start();
	for (u64 i = 1; i <= 30; i++)
		PARCEL_BINDER(&parcel, i * 0x10);
	put_parcel(client, 0, TF_ONE_WAY, &parcel);
	send(client);
	/* More than one staging buffer holds: 1200 bytes in three reads. */
	for (u64 i = 1; i <= 30; ) {
		fetch(client);
		while (client->next_pos < client->bwr.read_consumed && i <= 30) {
			take_node(client, BR_INCREFS, i * 0x10);
			take_node(client, BR_ACQUIRE, i * 0x10);
			i++;
		}
	}
	if (client->next_pos == client->bwr.read_consumed)
		fetch(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_end(client);
}

/* ---- writing ------------------------------------------------------------------ */

static int write_bytes(const void *bytes, size_t size, size_t readable)
{
	struct binder_write_read bwr = { .write_size = size };

	bwr.write_buffer = user(sim_user_dup(client_proc, bytes, readable));
	return sim_write_read(client, &bwr, true);
}

static const u32 commands[] = {
	BC_TRANSACTION, BC_REPLY, BC_FREE_BUFFER, BC_INCREFS, BC_ACQUIRE, BC_RELEASE, BC_DECREFS,
	BC_INCREFS_DONE, BC_ACQUIRE_DONE, BC_REQUEST_DEATH_NOTIFICATION,
	BC_CLEAR_DEATH_NOTIFICATION, BC_DEAD_BINDER_DONE, BC_TRANSACTION_SG, BC_REPLY_SG,
};

static void test_write_cut_off_anywhere(void)
{
	start();
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		u32 cmd = commands[i], size = 4 + _IOC_SIZE(cmd);
		u8 bytes[128] = {};

		memcpy(bytes, &(u32){ BC_ENTER_LOOPER }, 4);
		memcpy(bytes + 4, &cmd, 4);
		for (u32 len = 1; len < size; len++) {
			/* The buffer ends; then, the memory does. */
			EXPECT_EQ(write_bytes(bytes, 4 + len, 4 + len), -EFAULT);
			EXPECT_EQ(client->bwr.write_consumed, 4);
			EXPECT_EQ(write_bytes(bytes, 4 + size, 4 + len), -EFAULT);
			EXPECT_EQ(client->bwr.write_consumed, 4);
		}
	}
	EXPECT(!logged());
	fetch_nothing(client);
}

static void test_write_unknown_command(void)
{
	static const u32 bad[] = {
		0, ~0u, BR_NOOP, BR_TRANSACTION, BINDER_WRITE_READ, BC_ACQUIRE_RESULT,
		BC_ATTEMPT_ACQUIRE, _IO('c', 22), _IO('c', 99), _IOW('c', 22, __u64),
		/* The number of one, and another size or direction. */
		_IO('c', 0), _IOW('c', 3, __u32), _IOR('c', 3, __u64), _IOW('c', 11, __u32),
		_IOWR('c', 0, struct binder_transaction_data), _IOW('c', 4, u8[2000]),
	};

	start();
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		u32 bytes[600] = { BC_ENTER_LOOPER, bad[i] };

		EXPECT_EQ(write_bytes(bytes, sizeof(bytes), sizeof(bytes)), -EINVAL);
		EXPECT_EQ(client->bwr.write_consumed, 4);
		/* Also when what should follow is missing. */
		EXPECT_EQ(write_bytes(bytes, 8, 8), -EINVAL);
		EXPECT_EQ(client->bwr.write_consumed, 4);
	}
	fetch_nothing(client);
}

static void test_write_freeze_commands_are_refused(void)
{
	static const u32 freeze[] = {
		BC_REQUEST_FREEZE_NOTIFICATION, BC_CLEAR_FREEZE_NOTIFICATION,
		BC_FREEZE_NOTIFICATION_DONE,
	};

	start();
	for (size_t i = 0; i < ARRAY_SIZE(freeze); i++) {
		u32 bytes[8] = { freeze[i] };

		EXPECT_EQ(write_bytes(bytes, sizeof(bytes), sizeof(bytes)), -EINVAL);
		EXPECT_EQ(client->bwr.write_consumed, 0);
		EXPECT(logged());
	}
}

static void test_write_more_than_a_window(void)
{
	struct binder_transaction_data tr;

	start();
	command(client, BC_ACQUIRE, 0);
	for (int i = 0; i < 200; i++) {
		put_u32(client, BC_ACQUIRE, 0);
		if (i % 7 == 0)
			sim_put(client, BC_ENTER_LOOPER, NULL);
	}
	put_call(client, 0, 0, "x");
	for (int i = 0; i < 200; i++)
		put_u32(client, BC_RELEASE, 0);
	submit_waits(client);
	fetch(server);
	take_text(server, BR_TRANSACTION, "x", &tr);
	answer(server, &tr, client, "y");
	EXPECT(!logged());
	command(client, BC_RELEASE, 0);
	EXPECT(!logged());
	command(client, BC_RELEASE, 0);
	EXPECT(logged());
}

static void test_write_of_nothing(void)
{
	struct binder_write_read bwr = { .write_size = 4, .write_consumed = 9 };

	start();
	EXPECT_EQ(sim_write_read(client, &bwr, true), 0);
	EXPECT_EQ(client->bwr.write_consumed, 9);
	bwr = (struct binder_write_read){};
	EXPECT_EQ(sim_write_read(client, &bwr, true), 0);
}

static void test_write_nonsense(void)
{
	u64 random = 0x1234567;

	start();
	for (int round = 0; round < 2000; round++) {
		u32 words[64];

		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			words[i] = (u32)random;
			/* Often a command, so that it gets further than the first word. */
			if (random >> 60 < 12)
				words[i] = commands[(random >> 32) % ARRAY_SIZE(commands)];
		}
		write_bytes(words, sizeof(words), sizeof(words));
		while (!sim_read(client))
			;
	}
	core_check();
}

/* ---- BC_FREE_BUFFER ---------------------------------------------------------------- */

static void test_free_buffer_misuse_is_without_effect(void)
{
	struct binder_transaction_data tr;
	u64 addr, undelivered;

	start();
	for (u64 i = 0; i < 4; i++)
		put_u64(server, BC_FREE_BUFFER, i ? ~0ULL << (i * 8) : 0);
	send(server);
	EXPECT(logged());
	call_taken(client, 0, server, "0123456", &tr);
	addr = tr.data.ptr.buffer;
	put_call(thread_of(client_proc, 202), 0, 0, "queued");
	submit_waits(sim_thread(client_proc, 202));
	undelivered = addr + 8;
	for (u64 i = 1; i < 32; i++)
		put_u64(server, BC_FREE_BUFFER, addr + i);
	put_u64(server, BC_FREE_BUFFER, addr - 8);
	put_u64(server, BC_FREE_BUFFER, addr + MAP_SIZE);
	send(server);
	EXPECT(logged());
	EXPECT_EQ(binder_alloc_buffer_count(server_proc->proc->alloc), 2);
	command(server, BC_FREE_BUFFER, undelivered);
	EXPECT(logged());
	/* Another process's. */
	command(thread_of(client_proc, 203), BC_FREE_BUFFER, addr);
	EXPECT(logged());
	EXPECT_EQ(binder_alloc_buffer_count(server_proc->proc->alloc), 2);
	command(server, BC_FREE_BUFFER, addr);
	EXPECT(!logged());
	command(server, BC_FREE_BUFFER, addr);
	EXPECT(logged());
	EXPECT_EQ(binder_alloc_buffer_count(server_proc->proc->alloc), 1);
}

static void test_free_buffer_without_a_mapping(void)
{
	struct sim_thread *bare = thread_of(open_on(device, 300, UID), 301);

	command(bare, BC_FREE_BUFFER, 0);
	EXPECT(logged());
}

/* ---- ioctls ------------------------------------------------------------------------- */

static void test_ioctl_version(void)
{
	struct binder_version version = {};

	start();
	EXPECT_EQ(sim_ioctl(client, BINDER_VERSION, &version), 0);
	EXPECT_EQ(version.protocol_version, 8);
}

static void test_ioctl_what_there_is_not(void)
{
	static const u32 refused[] = {
		BINDER_SET_IDLE_TIMEOUT, BINDER_SET_IDLE_PRIORITY,
		BINDER_ENABLE_ONEWAY_SPAM_DETECTION, BINDER_FREEZE, BINDER_GET_FROZEN_INFO,
		BINDER_WRITE_READ, 0, ~0u, _IO('b', 99), _IOW('b', 5, __u64),
	};
	u64 arg[32] = {};

	start();
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		EXPECT_EQ(sim_ioctl(client, refused[i], arg), -EINVAL);
}

static const struct core_case cases[] = {
	CASE(test_read_into_bad_memory_loses_nothing),
	CASE(test_read_into_half_bad_memory),
	CASE(test_read_smaller_after_a_bad_one),
	CASE(test_read_too_small_leaves_the_work),
	CASE(test_read_goes_on_where_it_is_told),
	CASE(test_read_is_not_done_when_the_write_fails),
	CASE(test_read_batches_what_does_not_end_it),
	CASE_PLAIN(test_write_cut_off_anywhere),
	CASE_PLAIN(test_write_unknown_command),
	CASE(test_write_freeze_commands_are_refused),
	CASE(test_write_more_than_a_window),
	CASE(test_write_of_nothing),
	CASE_PLAIN(test_write_nonsense),
	CASE(test_free_buffer_misuse_is_without_effect),
	CASE(test_free_buffer_without_a_mapping),
	CASE(test_ioctl_version),
	CASE(test_ioctl_what_there_is_not),
};

GROUP(stream);
