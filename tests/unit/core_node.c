// SPDX-License-Identifier: GPL-2.0-only
/* Counts: what owners of nodes are told, and what holders of handles may do. */
#include "core_test.h"

#include "core/node.h"
#include "core/proc.h"

#define PTR 0x10

static struct sim_proc *manager_proc, *owner_proc, *client_proc;
static struct sim_thread *manager, *owner, *client;

static void start(void)
{
	manager_proc = open_proc(100);
	owner_proc = open_proc(200);
	client_proc = open_proc(300);
	manager = manager_of(manager_proc, 101);
	owner = thread_of(owner_proc, 201);
	client = thread_of(client_proc, 301);
}

/* The owner sends @object to the manager, one-way: what it is told is left to the caller. */
static u32 send_object(struct sim_thread *from, u32 type, u64 ptr,
		       struct binder_transaction_data *tr)
{
	struct parcel parcel = {};

	parcel_object(&parcel, type, ptr, COOKIE(ptr));
	put_parcel(from, 0, TF_ONE_WAY, &parcel);
	submit(from);
	fetch(manager);
	take(manager, BR_TRANSACTION, tr);
	return object_of(tr, 0)->handle;
}

static void done(struct sim_thread *thread, u64 ptr)
{
	put_node(thread, BC_INCREFS_DONE, ptr);
	put_node(thread, BC_ACQUIRE_DONE, ptr);
	send(thread);
	EXPECT(!logged());
}

static void told_gone(struct sim_thread *thread, u64 ptr)
{
	fetch(thread);
	take_node(thread, BR_RELEASE, ptr);
	take_node(thread, BR_DECREFS, ptr);
	take_end(thread);
	EXPECT(!rb_first(&thread->proc->proc->nodes));
}

static void test_node_life(void)
{
	struct binder_transaction_data tr;
	u32 handle;

	start();
	handle = send_object(owner, BINDER_TYPE_BINDER, PTR, &tr);
	EXPECT_EQ(handle, 1);
	take_node(owner, BR_INCREFS, PTR);
	take_node(owner, BR_ACQUIRE, PTR);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take_end(owner);
	done(owner, PTR);
	command(manager, BC_ACQUIRE, handle);
	free_buffer(manager, &tr);
	fetch_nothing(owner);
	command(manager, BC_RELEASE, handle);
	told_gone(owner, PTR);
	command(manager, BC_RELEASE, handle);
	EXPECT(logged());
}

static void test_node_that_nobody_keeps_goes_with_the_buffer(void)
{
	struct binder_transaction_data tr;

	start();
	send_object(owner, BINDER_TYPE_BINDER, PTR, &tr);
	done(owner, PTR);
	fetch_nothing(owner);
	free_buffer(manager, &tr);
	told_gone(owner, PTR);
}

static void test_node_waits_for_the_answers(void)
{
	struct binder_transaction_data tr;

	start();
	send_object(owner, BINDER_TYPE_BINDER, PTR, &tr);
	free_buffer(manager, &tr);
	/* The owner has not answered: its answers are what hold it. */
	fetch_nothing(owner);
	put_node(owner, BC_INCREFS_DONE, PTR);
	send(owner);
	fetch_nothing(owner);
	put_node(owner, BC_ACQUIRE_DONE, PTR);
	send(owner);
	told_gone(owner, PTR);
}

static void test_node_weak_count_outlives_the_strong(void)
{
	struct binder_transaction_data tr;
	u32 handle;

	start();
	handle = send_object(owner, BINDER_TYPE_BINDER, PTR, &tr);
	done(owner, PTR);
	command(manager, BC_INCREFS, handle);
	free_buffer(manager, &tr);
	fetch(owner);
	take_node(owner, BR_RELEASE, PTR);
	take_end(owner);
	/* A weak hold cannot make itself strong. */
	command(manager, BC_ACQUIRE, handle);
	EXPECT(logged());
	fetch_nothing(owner);
	command(manager, BC_DECREFS, handle);
	fetch(owner);
	take_node(owner, BR_DECREFS, PTR);
	take_end(owner);
}

static void test_node_sent_again_while_pending(void)
{
	struct binder_transaction_data a, b;

	start();
	send_object(owner, BINDER_TYPE_BINDER, PTR, &a);
	free_buffer(manager, &a);
	send_object(owner, BINDER_TYPE_BINDER, PTR, &b);
	/* It is told already. */
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take_end(owner);
	done(owner, PTR);
	fetch_nothing(owner);
	free_buffer(manager, &b);
	told_gone(owner, PTR);
}

static void test_node_released_and_sent_again_unread(void)
{
	struct binder_transaction_data tr;

	start();
	send_object(owner, BINDER_TYPE_BINDER, PTR, &tr);
	done(owner, PTR);
	free_buffer(manager, &tr);
	/* BR_RELEASE is queued; nothing of it is true when it is read. */
	send_object(owner, BINDER_TYPE_BINDER, PTR, &tr);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take_end(owner);
	fetch_nothing(owner);
	free_buffer(manager, &tr);
	told_gone(owner, PTR);
}

static void test_node_released_and_sent_again_read(void)
{
	struct binder_transaction_data tr;
	u32 handle;

	start();
	handle = send_object(owner, BINDER_TYPE_BINDER, PTR, &tr);
	done(owner, PTR);
	command(manager, BC_INCREFS, handle);
	free_buffer(manager, &tr);
	fetch(owner);
	take_node(owner, BR_RELEASE, PTR);
	take_end(owner);
	/* Weakly it is still known. */
	EXPECT_EQ(send_object(owner, BINDER_TYPE_BINDER, PTR, &tr), handle);
	take_node(owner, BR_ACQUIRE, PTR);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take_end(owner);
	put_node(owner, BC_ACQUIRE_DONE, PTR);
	send(owner);
	command(manager, BC_DECREFS, handle);
	fetch_nothing(owner);
	free_buffer(manager, &tr);
	told_gone(owner, PTR);
	EXPECT(!logged());
}

static void test_node_gone_before_it_was_told(void)
{
	struct parcel parcel = {};
	struct binder_transaction_data tr;

	start();
	PARCEL_BINDER(&parcel, PTR);
	put_parcel(owner, 0, TF_ONE_WAY, &parcel);
	send(owner);
	fetch(manager);
	take(manager, BR_TRANSACTION, &tr);
	free_buffer(manager, &tr);
	/* Nobody was told, nobody need be. */
	fetch(owner);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take_end(owner);
	EXPECT(!rb_first(&owner_proc->proc->nodes));
}

static void test_node_weak(void)
{
	struct binder_transaction_data tr;
	u32 handle;

	start();
	handle = send_object(owner, BINDER_TYPE_WEAK_BINDER, PTR, &tr);
	EXPECT_EQ(object_of(&tr, 0)->hdr.type, BINDER_TYPE_WEAK_HANDLE);
	take_node(owner, BR_INCREFS, PTR);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take_end(owner);
	put_node(owner, BC_INCREFS_DONE, PTR);
	send(owner);
	command(manager, BC_ACQUIRE, handle);
	EXPECT(logged());
	command(manager, BC_INCREFS, handle);
	EXPECT(!logged());
	free_buffer(manager, &tr);
	fetch_nothing(owner);
	command(manager, BC_DECREFS, handle);
	fetch(owner);
	take_node(owner, BR_DECREFS, PTR);
	take_end(owner);
}

static void test_node_weak_hold_may_follow_a_strong_one(void)
{
	struct binder_transaction_data weak;
	u32 handle, mine;

	start();
	mine = pass(manager, give(owner, manager, PTR), client);
	handle = send_object(owner, BINDER_TYPE_WEAK_BINDER, PTR, &weak);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take_end(owner);
	/* The manager's own strong hold goes; the client's is left. */
	command(manager, BC_RELEASE, handle);
	fetch_nothing(owner);
	command(manager, BC_ACQUIRE, handle);
	EXPECT(!logged());
	command(client, BC_RELEASE, mine);
	fetch_nothing(owner);
	command(manager, BC_RELEASE, handle);
	fetch(owner);
	take_node(owner, BR_RELEASE, PTR);
	take_end(owner);
	free_buffer(manager, &weak);
	fetch(owner);
	take_node(owner, BR_DECREFS, PTR);
	take_end(owner);
}

static void test_node_is_told_by_the_thread_that_sent_last(void)
{
	struct sim_thread *second;
	struct parcel parcel = {};

	start();
	second = thread_of(owner_proc, 202);
	PARCEL_BINDER(&parcel, PTR);
	put_parcel(owner, 0, TF_ONE_WAY, &parcel);
	send(owner);
	put_parcel(second, 0, TF_ONE_WAY, &parcel);
	submit(second);
	take_node(second, BR_INCREFS, PTR);
	take_node(second, BR_ACQUIRE, PTR);
	take(second, BR_TRANSACTION_COMPLETE, NULL);
	fetch(owner);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take_end(owner);
}

static void test_node_notice_outlives_the_thread(void)
{
	struct sim_thread *second;
	struct parcel parcel = {};

	start();
	second = thread_of(owner_proc, 202);
	PARCEL_BINDER(&parcel, PTR);
	put_parcel(owner, 0, TF_ONE_WAY, &parcel);
	send(owner);
	submit_waits(second);
	thread_exit(owner);
	EXPECT_EQ(sim_run(), 1);
	take_node(second, BR_INCREFS, PTR);
	take_node(second, BR_ACQUIRE, PTR);
	take_end(second);
	done(second, PTR);
}

static void test_node_done_misuse_is_without_effect(void)
{
	struct binder_ptr_cookie other = { .ptr = PTR, .cookie = 1 };
	struct binder_transaction_data tr;

	start();
	put_node(owner, BC_ACQUIRE_DONE, PTR);
	send(owner);
	EXPECT(logged());
	send_object(owner, BINDER_TYPE_BINDER, PTR, &tr);
	sim_put(owner, BC_ACQUIRE_DONE, &other);
	sim_put(owner, BC_INCREFS_DONE, &other);
	send(owner);
	EXPECT(logged());
	free_buffer(manager, &tr);
	fetch_nothing(owner);
	done(owner, PTR);
	put_node(owner, BC_ACQUIRE_DONE, PTR);
	put_node(owner, BC_INCREFS_DONE, PTR);
	send(owner);
	EXPECT(logged());
	told_gone(owner, PTR);
}

static void test_ref_commands_misuse_is_without_effect(void)
{
	static const u32 cmds[] = { BC_INCREFS, BC_ACQUIRE, BC_RELEASE, BC_DECREFS };
	struct binder_transaction_data tr;
	u32 handle;

	start();
	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		command(client, cmds[i], 9);
		EXPECT(logged());
	}
	handle = pass(manager, give(owner, manager, PTR), client);
	command(client, BC_DECREFS, handle);
	EXPECT(logged());
	call_taken(client, handle, owner, "still there", &tr);
	answer(owner, &tr, client, "yes");
	command(client, BC_RELEASE, handle);
	EXPECT(!logged());
	command(client, BC_RELEASE, handle);
	EXPECT(logged());
	command(client, BC_ACQUIRE, handle);
	EXPECT(logged());
}

static void test_ref_handles_are_the_lowest_free(void)
{
	struct binder_transaction_data tr;

	start();
	for (u64 i = 1; i <= 5; i++)
		EXPECT_EQ(give(owner, manager, i * 0x10), i);
	command(manager, BC_RELEASE, 2);
	command(manager, BC_RELEASE, 4);
	fetch(owner);
	EXPECT_EQ(give(owner, manager, 0x100), 2);
	EXPECT_EQ(give(owner, manager, 0x200), 4);
	EXPECT_EQ(give(owner, manager, 0x300), 6);
	/* The same node has one handle. */
	EXPECT_EQ(send_object(owner, BINDER_TYPE_BINDER, 0x300, &tr), 6);
	/* 0 is kept for the manager, also where there is no reference to it. */
	EXPECT_EQ(pass(manager, 6, client), 1);
	command(client, BC_ACQUIRE, 0);
	command(client, BC_RELEASE, 0);
	EXPECT(!logged());
}

static void test_ref_table_grows(void)
{
	start();
	for (u32 i = 1; i <= 70; i++)
		EXPECT_EQ(give(owner, manager, i * 0x10), i);
	EXPECT_EQ(manager_proc->proc->nr_handles, 2 * BITS_PER_LONG);
	for (u32 i = 1; i <= 70; i++)
		put_u32(manager, BC_RELEASE, i);
	send(manager);
	EXPECT(!logged());
	EXPECT_EQ(give(owner, manager, 0x5000), 1);
}

static void test_ref_over_released_under_a_buffer(void)
{
	struct binder_transaction_data tr;
	u32 handle;

	start();
	handle = send_object(owner, BINDER_TYPE_BINDER, PTR, &tr);
	done(owner, PTR);
	/* What it releases is the buffer's hold. */
	command(manager, BC_RELEASE, handle);
	EXPECT(!logged());
	told_gone(owner, PTR);
	/* Its number goes to another node, which the buffer leaves alone. */
	EXPECT_EQ(give(owner, manager, 0x20), handle);
	free_buffer(manager, &tr);
	fetch_nothing(owner);
	command(manager, BC_RELEASE, handle);
	EXPECT(!logged());
	told_gone(owner, 0x20);
}

static void test_ref_counts_add_up(void)
{
	u32 handle;

	start();
	handle = pass(manager, give(owner, manager, PTR), client);
	command(manager, BC_RELEASE, handle);
	for (int i = 0; i < 3; i++) {
		command(client, BC_ACQUIRE, handle);
		command(client, BC_INCREFS, handle);
	}
	for (int i = 0; i < 3; i++)
		command(client, BC_RELEASE, handle);
	fetch_nothing(owner);
	command(client, BC_RELEASE, handle);
	fetch(owner);
	take_node(owner, BR_RELEASE, PTR);
	take_end(owner);
	for (int i = 0; i < 3; i++)
		command(client, BC_DECREFS, handle);
	fetch(owner);
	take_node(owner, BR_DECREFS, PTR);
	EXPECT(!logged());
}

static void test_node_target_is_held_by_the_call(void)
{
	struct binder_transaction_data tr;
	u32 handle;

	start();
	handle = pass(manager, give(owner, manager, PTR), client);
	command(manager, BC_RELEASE, 1);
	put_call(client, handle, TF_ONE_WAY, "x");
	submit(client);
	command(client, BC_RELEASE, handle);
	fetch(owner);
	take_text(owner, BR_TRANSACTION, "x", &tr);
	fetch_nothing(owner);
	free_buffer(owner, &tr);
	told_gone(owner, PTR);
}

static const struct core_case cases[] = {
	CASE(test_node_life),
	CASE(test_node_that_nobody_keeps_goes_with_the_buffer),
	CASE(test_node_waits_for_the_answers),
	CASE(test_node_weak_count_outlives_the_strong),
	CASE(test_node_sent_again_while_pending),
	CASE(test_node_released_and_sent_again_unread),
	CASE(test_node_released_and_sent_again_read),
	CASE(test_node_gone_before_it_was_told),
	CASE(test_node_weak),
	CASE(test_node_weak_hold_may_follow_a_strong_one),
	CASE(test_node_is_told_by_the_thread_that_sent_last),
	CASE(test_node_notice_outlives_the_thread),
	CASE(test_node_done_misuse_is_without_effect),
	CASE(test_ref_commands_misuse_is_without_effect),
	CASE(test_ref_handles_are_the_lowest_free),
	CASE(test_ref_table_grows),
	CASE(test_ref_over_released_under_a_buffer),
	CASE(test_ref_counts_add_up),
	CASE(test_node_target_is_held_by_the_call),
};

GROUP(node);
