// SPDX-License-Identifier: GPL-2.0-only
/* Calls and replies, whom they reach, and what is refused. */
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

/* The call in the thread's buffer fails. */
static void fails(struct sim_thread *thread, u32 cmd, int error)
{
	submit(thread);
	take(thread, cmd, NULL);
	take_end(thread);
	EXPECT_ERROR(thread, cmd, error);
	EXPECT(logged());
}

static void test_call_round_trip_tells_both_sides(void)
{
	struct binder_transaction_data tr;

	start();
	put_call(client, 0, TF_ACCEPT_FDS, "question");
	submit_waits(client);
	fetch(server);
	take_text(server, BR_TRANSACTION, "question", &tr);
	take_end(server);
	EXPECT(tr.target.ptr == 0 && tr.cookie == 0);
	EXPECT(tr.code == 42 && tr.flags == TF_ACCEPT_FDS);
	EXPECT(tr.sender_pid == 200 && tr.sender_euid == UID);
	EXPECT(tr.data_size == 12 && tr.offsets_size == 0);
	EXPECT_EQ(tr.data.ptr.buffer, server_proc->proc->alloc->user_addr);

	put_reply(server, TF_STATUS_CODE, "answer");
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_end(server);
	free_buffer(server, &tr);
	EXPECT_EQ(sim_run(), 1);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_text(client, BR_REPLY, "answer", &tr);
	take_end(client);
	EXPECT(tr.target.ptr == 0 && tr.cookie == 0 && tr.flags == TF_STATUS_CODE);
	EXPECT(tr.sender_pid == 0 && tr.sender_euid == UID && tr.data_size == 8);
	free_buffer(client, &tr);
	EXPECT(!logged());
	EXPECT_ERROR(client, BR_OK, 0);
}

static void test_call_first_word_is_noop(void)
{
	struct binder_transaction_data tr;
	u32 first;

	start();
	put_call(client, 0, 0, "x");
	submit_waits(client);
	fetch(server);
	memcpy(&first, server->in, sizeof(first));
	EXPECT_EQ(first, BR_NOOP);
	take(server, BR_TRANSACTION, &tr);
	answer(server, &tr, client, "y");
	memcpy(&first, client->in, sizeof(first));
	EXPECT_EQ(first, BR_NOOP);
}

static void test_call_of_no_bytes_has_a_buffer(void)
{
	struct binder_transaction_data tr, call = {};

	start();
	sim_put(client, BC_TRANSACTION, &call);
	submit_waits(client);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	EXPECT(tr.data_size == 0 && tr.data.ptr.buffer);
	free_buffer(server, &tr);
	sim_put(server, BC_REPLY, &call);
	submit(server);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, &tr);
	free_buffer(client, &tr);
	EXPECT(!logged());
}

static void test_call_wakes_the_thread_that_waited_least(void)
{
	struct sim_thread *second, *third;

	start();
	second = looper_of(server_proc, 102);
	third = looper_of(server_proc, 103);
	submit_waits(server);
	submit_waits(third);
	submit_waits(second);
	put_call(client, 0, 0, "a");
	submit_waits(client);
	EXPECT_EQ(sim_run(), 1);
	take_text(second, BR_TRANSACTION, "a", NULL);
	EXPECT(server->parked && third->parked);
}

static void test_call_waits_in_the_process_queue_in_order(void)
{
	struct sim_thread *other, *second;
	struct binder_transaction_data a, b;

	start();
	other = thread_of(open_proc(300), 301);
	put_call(client, 0, 0, "first");
	submit_waits(client);
	put_call(other, 0, 0, "second");
	submit_waits(other);
	fetch(server);
	take_text(server, BR_TRANSACTION, "first", &a);
	take_end(server);
	/* Busy with one, it does not take the other; a second thread does. */
	fetch_nothing(server);
	second = looper_of(server_proc, 102);
	fetch(second);
	take_text(second, BR_TRANSACTION, "second", &b);
	answer(second, &b, other, "done");
	answer(server, &a, client, "done");
}

static void test_call_that_remains_wakes_the_next_thread(void)
{
	struct sim_thread *other, *second;

	start();
	other = thread_of(open_proc(300), 301);
	second = looper_of(server_proc, 102);
	put_call(client, 0, 0, "first");
	submit_waits(client);
	put_call(other, 0, 0, "second");
	submit_waits(other);
	/* It is woken for nothing, and waits on. */
	fetch(server);
	take_text(server, BR_TRANSACTION, "first", NULL);
	submit(second);
	take_text(second, BR_TRANSACTION, "second", NULL);
}

static void test_call_of_a_waiting_thread_is_refused(void)
{
	struct binder_transaction_data tr;

	start();
	put_call(client, 0, 0, "first");
	submit_waits(client);
	EXPECT(sim_interrupt(client));
	put_call(client, 0, 0, "second");
	submit(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_FAILED_REPLY, NULL);
	EXPECT_ERROR(client, BR_FAILED_REPLY, -EPROTO);
	submit_waits(client);
	fetch(server);
	take_text(server, BR_TRANSACTION, "first", &tr);
	free_buffer(server, &tr);
	put_reply(server, 0, "answer");
	submit(server);
	EXPECT_EQ(sim_run(), 1);
	take_text(client, BR_REPLY, "answer", NULL);
	take_end(client);
}

static void test_call_with_an_unread_one_is_refused(void)
{
	struct binder_write_read small = { .read_size = 8 };
	struct binder_transaction_data tr;
	struct sim_thread *owner;
	u32 handle;

	start();
	owner = looper_of(open_proc(300), 301);
	handle = pass(server, give(owner, server, 0x10), client);
	/* Too small for the call, which stays in the thread's own queue. */
	small.read_buffer = (uintptr_t)owner->in;
	EXPECT_EQ(sim_write_read(owner, &small, false), BINDER_PARK);
	put_call(client, handle, 0, "unread");
	submit_waits(client);
	EXPECT_EQ(sim_run(), 1);
	EXPECT_EQ(owner->bwr.read_consumed, 4);
	put_call(owner, 0, 0, "mine");
	submit(owner);
	take_text(owner, BR_TRANSACTION, "unread", &tr);
	take_end(owner);
	fetch(owner);
	take(owner, BR_FAILED_REPLY, NULL);
	EXPECT_ERROR(owner, BR_FAILED_REPLY, -EPROTO);
	free_buffer(owner, &tr);
	/* Now it may, from within the call. */
	put_call(owner, 0, 0, "mine");
	submit_waits(owner);
	fetch(server);
	take_text(server, BR_TRANSACTION, "mine", NULL);
}

static void test_call_by_unknown_or_weak_handle_is_refused(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};
	u32 handle;

	start();
	put_call(client, 5, 0, "x");
	fails(client, BR_FAILED_REPLY, -EINVAL);
	put_call(client, 5, TF_ONE_WAY, "x");
	fails(client, BR_FAILED_REPLY, -EINVAL);

	parcel_object(&parcel, BINDER_TYPE_WEAK_BINDER, 0x10, COOKIE(0x10));
	put_parcel(client, 0, 0, &parcel);
	submit_waits(client);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	handle = object_of(&tr, 0)->handle;
	put_call(server, handle, TF_ONE_WAY, "x");
	fails(server, BR_FAILED_REPLY, -EINVAL);
	answer(server, &tr, client, "y");
}

static void test_call_sizes_that_cannot_be(void)
{
	struct binder_transaction_data tr = {};
	struct binder_transaction_data_sg sg = { .buffers_size = 4 };

	start();
	tr.offsets_size = 4;
	sim_put(client, BC_TRANSACTION, &tr);
	fails(client, BR_FAILED_REPLY, -EINVAL);
	sim_put(client, BC_TRANSACTION_SG, &sg);
	fails(client, BR_FAILED_REPLY, -EINVAL);
	tr = (struct binder_transaction_data){ .data_size = ~0ULL };
	sim_put(client, BC_TRANSACTION, &tr);
	fails(client, BR_FAILED_REPLY, -EINVAL);
	tr = (struct binder_transaction_data){ .data_size = 16, .offsets_size = ~7ULL };
	sim_put(client, BC_TRANSACTION, &tr);
	fails(client, BR_FAILED_REPLY, -EINVAL);
	tr = (struct binder_transaction_data){ .data_size = MAP_SIZE + 1 };
	sim_put(client, BC_TRANSACTION, &tr);
	fails(client, BR_FAILED_REPLY, -ENOSPC);
	EXPECT_EQ(binder_alloc_buffer_count(server_proc->proc->alloc), 0);
}

static void test_call_of_all_the_mapping(void)
{
	struct binder_transaction_data tr = { .data_size = MAP_SIZE };
	u8 *data;

	start();
	data = sim_user_alloc(client_proc, MAP_SIZE);
	memset(data, 0x5c, MAP_SIZE);
	tr.data.ptr.buffer = (uintptr_t)data;
	sim_put(client, BC_TRANSACTION, &tr);
	submit_waits(client);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	EXPECT_EQ(tr.data_size, MAP_SIZE);
	EXPECT(!memcmp(text_of(&tr), data, MAP_SIZE));
	answer(server, &tr, client, "got it");
}

static void test_call_data_that_cannot_be_read(void)
{
	struct binder_transaction_data tr = { .data_size = 100 };

	start();
	tr.data.ptr.buffer = 16;
	sim_put(client, BC_TRANSACTION, &tr);
	fails(client, BR_FAILED_REPLY, -EFAULT);
	/* All but the last byte. */
	tr.data.ptr.buffer = (uintptr_t)sim_user_alloc(client_proc, 99);
	sim_put(client, BC_TRANSACTION, &tr);
	fails(client, BR_FAILED_REPLY, -EFAULT);
	tr.offsets_size = 8;
	tr.data_size = 99;
	tr.data.ptr.offsets = 16;
	sim_put(client, BC_TRANSACTION, &tr);
	fails(client, BR_FAILED_REPLY, -EFAULT);
	EXPECT_EQ(binder_alloc_buffer_count(server_proc->proc->alloc), 0);
}

static void test_call_with_scatter_gather_space(void)
{
	struct binder_transaction_data_sg sg = { .buffers_size = 64 };
	struct binder_transaction_data tr;

	start();
	sim_put(client, BC_TRANSACTION_SG, &sg);
	submit_waits(client);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	free_buffer(server, &tr);
	sim_put(server, BC_REPLY_SG, &sg);
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, &tr);
	free_buffer(client, &tr);
}

static void test_call_error_stops_the_write(void)
{
	size_t first = sizeof(u32) + sizeof(struct binder_transaction_data);

	start();
	put_call(client, 7, 0, "fails");
	put_call(client, 0, TF_ONE_WAY, "later");
	submit(client);
	EXPECT_EQ(client->bwr.write_consumed, first);
	EXPECT_EQ(client->bwr.write_size, 2 * first);
	take(client, BR_FAILED_REPLY, NULL);
	take_end(client);
	fetch_nothing(server);
}

static void test_call_clear_buf_zeroes_what_was_there(void)
{
	struct binder_transaction_data tr;
	const char *seen;

	start();
	put_call(client, 0, TF_CLEAR_BUF, "secret");
	submit_waits(client);
	fetch(server);
	take_text(server, BR_TRANSACTION, "secret", &tr);
	seen = text_of(&tr);
	EXPECT(seen[0] == 's');
	free_buffer(server, &tr);
	EXPECT(!seen[0] && !seen[1] && !seen[5]);
}

static void test_call_without_a_mapping(void)
{
	struct binder_transaction_data tr;
	struct sim_thread *bare;

	start();
	bare = thread_of(open_on(device, 300, UID), 301);
	/* It can call, but nothing can be returned. */
	call_taken(bare, 0, server, "x", &tr);
	put_u64(server, BC_FREE_BUFFER, tr.data.ptr.buffer);
	put_reply(server, 0, "y");
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_end(server);
	sim_run();
	take(bare, BR_TRANSACTION_COMPLETE, NULL);
	take(bare, BR_DEAD_REPLY, NULL);
	EXPECT_ERROR(bare, BR_DEAD_REPLY, -ESRCH);
	EXPECT_ERROR(server, BR_OK, 0);

	sim_munmap(server_proc);
	put_call(client, 0, 0, "x");
	fails(client, BR_DEAD_REPLY, -ESRCH);
}

static void test_call_finds_a_mapping_nobody_told_of(void)
{
	struct sim_proc *lazy = open_on(device, 300, UID);
	struct binder_transaction_data tr;
	struct sim_thread *thread;

	start();
	sim_mmap_lazy(lazy, MAP_SIZE);
	thread = thread_of(lazy, 301);
	call_taken(thread, 0, server, "x", &tr);
	answer(server, &tr, thread, "y");
}

static void test_reply_without_a_call_is_refused(void)
{
	struct binder_transaction_data tr;

	start();
	put_reply(server, 0, "to whom?");
	fails(server, BR_FAILED_REPLY, -EPROTO);
	/* Nor to a call of its own. */
	put_call(client, 0, 0, "x");
	submit_waits(client);
	EXPECT(sim_interrupt(client));
	put_reply(client, 0, "to myself");
	submit(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_FAILED_REPLY, NULL);
	EXPECT_ERROR(client, BR_FAILED_REPLY, -EPROTO);
	submit_waits(client);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	free_buffer(server, &tr);
	put_reply(server, 0, "y");
	put_reply(server, 0, "again");
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take(server, BR_FAILED_REPLY, NULL);
	sim_run();
	take_text(client, BR_REPLY, "y", NULL);
}

/* @put_bad puts a reply that cannot be delivered. */
static void reply_fails(void (*put_bad)(void), int error)
{
	struct binder_transaction_data tr;

	call_taken(client, 0, server, "x", &tr);
	put_u64(server, BC_FREE_BUFFER, tr.data.ptr.buffer);
	put_bad();
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_end(server);
	EXPECT_ERROR(server, BR_OK, 0);
	EXPECT_EQ(sim_run(), 1);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_FAILED_REPLY, NULL);
	take_end(client);
	EXPECT_ERROR(client, BR_FAILED_REPLY, error);
	EXPECT(logged());
}

static void put_unreadable(void)
{
	struct binder_transaction_data tr = { .data_size = 8 };

	tr.data.ptr.buffer = 16;
	sim_put(server, BC_REPLY, &tr);
}

static void put_too_large(void)
{
	struct binder_transaction_data tr = { .data_size = MAP_SIZE + 8 };

	sim_put(server, BC_REPLY, &tr);
}

static void put_bad_handle(void)
{
	struct parcel parcel = {};

	PARCEL_HANDLE(&parcel, 77);
	put_reply_parcel(server, 0, &parcel);
}

static void test_reply_failure_is_told_to_the_caller(void)
{
	start();
	reply_fails(put_unreadable, -EFAULT);
	reply_fails(put_too_large, -ENOSPC);
	reply_fails(put_bad_handle, -EINVAL);
}

static void test_reply_error_does_not_overwrite_an_unread_one(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "x", &tr);
	EXPECT(sim_interrupt(client));
	put_call(client, 9, TF_ONE_WAY, "fails");
	send(client);
	put_u64(server, BC_FREE_BUFFER, tr.data.ptr.buffer);
	put_unreadable();
	submit(server);
	submit(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_FAILED_REPLY, NULL);
	take(client, BR_FAILED_REPLY, NULL);
	take_end(client);
	EXPECT_ERROR(client, BR_FAILED_REPLY, -EINVAL);
	EXPECT_ERROR(client, BR_OK, 0);
}

static void test_call_buffers_exhausted_and_back(void)
{
	struct binder_transaction_data tr[4], big = { .data_size = 5 * PAGE_SIZE };
	struct sim_thread *callers[4];

	start();
	for (int i = 0; i < 4; i++) {
		callers[i] = thread_of(client_proc, 210 + i);
		big.data.ptr.buffer = (uintptr_t)sim_user_alloc(client_proc, big.data_size);
		sim_put(callers[i], BC_TRANSACTION, &big);
		if (i < 3) {
			submit_waits(callers[i]);
			fetch(looper_of(server_proc, 110 + i));
			take(sim_thread(server_proc, 110 + i), BR_TRANSACTION, &tr[i]);
		} else {
			fails(callers[i], BR_FAILED_REPLY, -ENOSPC);
		}
	}
	answer(sim_thread(server_proc, 111), &tr[1], callers[1], "freed");
	sim_put(callers[3], BC_TRANSACTION, &big);
	submit_waits(callers[3]);
	fetch(server);
	take(server, BR_TRANSACTION, &tr[3]);
	EXPECT_EQ(tr[3].data.ptr.buffer, tr[1].data.ptr.buffer);
}

static const struct core_case cases[] = {
	CASE(test_call_round_trip_tells_both_sides),
	CASE(test_call_first_word_is_noop),
	CASE(test_call_of_no_bytes_has_a_buffer),
	CASE(test_call_wakes_the_thread_that_waited_least),
	CASE(test_call_waits_in_the_process_queue_in_order),
	CASE(test_call_that_remains_wakes_the_next_thread),
	CASE(test_call_of_a_waiting_thread_is_refused),
	CASE(test_call_with_an_unread_one_is_refused),
	CASE(test_call_by_unknown_or_weak_handle_is_refused),
	CASE(test_call_sizes_that_cannot_be),
	CASE(test_call_of_all_the_mapping),
	CASE(test_call_data_that_cannot_be_read),
	CASE(test_call_with_scatter_gather_space),
	CASE(test_call_error_stops_the_write),
	CASE(test_call_clear_buf_zeroes_what_was_there),
	CASE(test_call_without_a_mapping),
	CASE(test_call_finds_a_mapping_nobody_told_of),
	CASE(test_reply_without_a_call_is_refused),
	CASE(test_reply_failure_is_told_to_the_caller),
	CASE(test_reply_error_does_not_overwrite_an_unread_one),
	CASE(test_call_buffers_exhausted_and_back),
};

GROUP(call);
