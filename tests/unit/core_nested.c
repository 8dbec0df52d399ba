// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls from within calls. a, b and c are processes with a node each, ptrs
 * 0xa0, 0xb0 and 0xc0; handles_of[x][y] is x's handle for y's node.
 */
#include "core_test.h"

#include "core/proc.h"

enum { A, B, C, NR };

static struct sim_proc *procs[NR];
static struct sim_thread *main_of[NR], *pool_of[NR], *manager;
static u32 handles_of[NR][NR];

static u64 ptr_of(int i)
{
	return 0xa0 + 0x10 * i;
}

static void start(void)
{
	manager = manager_of(open_proc(100), 101);
	for (int i = 0; i < NR; i++) {
		procs[i] = open_proc(200 + 100 * i);
		main_of[i] = looper_of(procs[i], 201 + 100 * i);
		pool_of[i] = looper_of(procs[i], 202 + 100 * i);
	}
	for (int of = 0; of < NR; of++) {
		u32 handle = give(main_of[of], manager, ptr_of(of));

		for (int to = 0; to < NR; to++)
			if (to != of)
				handles_of[to][of] = pass(manager, handle, main_of[to]);
	}
}

/* @from's main thread calls @to; @thread, which waits for its own reply or reads, gets it. */
static void call(int from, int to, struct sim_thread *thread, struct binder_transaction_data *tr)
{
	put_call(main_of[from], handles_of[from][to], 0, "call");
	submit_waits(main_of[from]);
	if (thread->parked) {
		EXPECT_EQ(sim_run(), 1);
		/* It called itself before: that completion is due. */
		take(thread, BR_TRANSACTION_COMPLETE, NULL);
	} else {
		fetch(thread);
	}
	take_text(thread, BR_TRANSACTION, "call", tr);
	take_end(thread);
	EXPECT_EQ(tr->target.ptr, ptr_of(to));
}

/* @thread answers @tr; @caller has read its completion already if @nested. */
static void reply(struct sim_thread *thread, const struct binder_transaction_data *tr,
		  struct sim_thread *caller, bool nested)
{
	put_u64(thread, BC_FREE_BUFFER, tr->data.ptr.buffer);
	put_reply(thread, 0, "reply");
	submit(thread);
	take(thread, BR_TRANSACTION_COMPLETE, NULL);
	take_end(thread);
	EXPECT_EQ(sim_run(), 1);
	if (!nested)
		take(caller, BR_TRANSACTION_COMPLETE, NULL);
	take_text(caller, BR_REPLY, "reply", NULL);
	take_end(caller);
}

static void test_nested_three_deep(void)
{
	struct binder_transaction_data ab, bc, cm;
	struct binder_transaction_data tr;

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	call_taken(main_of[C], 0, manager, "deepest", &cm);
	/* While they wait, the rest of the pool works. */
	put_call(manager, 2, TF_ONE_WAY, "for b");
	submit(manager);
	take(manager, BR_TRANSACTION_COMPLETE, NULL);
	EXPECT(main_of[B]->parked);
	fetch(pool_of[B]);
	take_text(pool_of[B], BR_TRANSACTION, "for b", &tr);
	answer(manager, &cm, main_of[C], "found");
	reply(main_of[C], &bc, main_of[B], false);
	reply(main_of[B], &ab, main_of[A], false);
}

static void test_nested_call_comes_back_to_the_waiting_thread(void)
{
	struct binder_transaction_data ab, ba;

	start();
	/* A pool thread waits, and is not taken. */
	submit_waits(pool_of[A]);
	call(A, B, main_of[B], &ab);
	call(B, A, main_of[A], &ba);
	EXPECT(pool_of[A]->parked);
	reply(main_of[A], &ba, main_of[B], false);
	submit_waits(main_of[A]);
	reply(main_of[B], &ab, main_of[A], true);
}

static void test_nested_a_b_a_b(void)
{
	struct binder_transaction_data ab, ba, ab2;

	start();
	call(A, B, main_of[B], &ab);
	call(B, A, main_of[A], &ba);
	call(A, B, main_of[B], &ab2);
	reply(main_of[B], &ab2, main_of[A], false);
	submit_waits(main_of[B]);
	reply(main_of[A], &ba, main_of[B], true);
	submit_waits(main_of[A]);
	reply(main_of[B], &ab, main_of[A], true);
}

static void test_nested_call_skips_a_process(void)
{
	struct binder_transaction_data ab, bc, ca;

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	call(C, A, main_of[A], &ca);
	reply(main_of[A], &ca, main_of[C], false);
	submit_waits(main_of[A]);
	reply(main_of[C], &bc, main_of[B], false);
	reply(main_of[B], &ab, main_of[A], true);
}

static void test_nested_nearest_waiting_thread_is_taken(void)
{
	struct binder_transaction_data ab, ba, ac, ca;

	start();
	/* a's main thread waits twice: for b, and within b's call back for c. */
	call(A, B, main_of[B], &ab);
	call(B, A, main_of[A], &ba);
	call(A, C, main_of[C], &ac);
	call(C, A, main_of[A], &ca);
	reply(main_of[A], &ca, main_of[C], false);
	submit_waits(main_of[A]);
	reply(main_of[C], &ac, main_of[A], true);
	reply(main_of[A], &ba, main_of[B], false);
	submit_waits(main_of[A]);
	reply(main_of[B], &ab, main_of[A], true);
}

static void test_nested_caller_of_an_unrelated_chain_is_not_taken(void)
{
	struct binder_transaction_data ab, ca;

	start();
	call(A, B, main_of[B], &ab);
	/* c was not called by a's main thread. */
	call(C, A, pool_of[A], &ca);
	EXPECT(main_of[A]->parked);
	reply(pool_of[A], &ca, main_of[C], false);
	reply(main_of[B], &ab, main_of[A], false);
}

static void test_nested_reply_must_wait_for_the_inner_reply(void)
{
	struct binder_transaction_data ab, bc;

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	EXPECT(sim_interrupt(main_of[B]));
	put_reply(main_of[B], 0, "too early");
	submit(main_of[B]);
	take(main_of[B], BR_TRANSACTION_COMPLETE, NULL);
	take(main_of[B], BR_FAILED_REPLY, NULL);
	EXPECT_ERROR(main_of[B], BR_FAILED_REPLY, -EPROTO);
	submit_waits(main_of[B]);
	reply(main_of[C], &bc, main_of[B], true);
	reply(main_of[B], &ab, main_of[A], false);
}

/* ---- somebody in the chain dies ------------------------------------------------ */

static void dead_reply(struct sim_thread *thread)
{
	sim_run();
	take(thread, BR_TRANSACTION_COMPLETE, NULL);
	take(thread, BR_DEAD_REPLY, NULL);
	take_end(thread);
	EXPECT_ERROR(thread, BR_DEAD_REPLY, -ESRCH);
}

/*
 * The server called back and died. The caller, busy with the nested call,
 * hears of its own call's end when it has answered: first the completion of
 * that reply, then the error, as a client's two nested waits expect it.
 */
static void test_nested_server_dies_after_calling_back(void)
{
	struct binder_transaction_data ab, ba;

	start();
	call(A, B, main_of[B], &ab);
	call(B, A, main_of[A], &ba);
	sim_kill(procs[B]);
	EXPECT_EQ(sim_run(), 0);
	fetch_nothing(main_of[A]);
	put_u64(main_of[A], BC_FREE_BUFFER, ba.data.ptr.buffer);
	put_reply(main_of[A], 0, "to nobody");
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take(main_of[A], BR_DEAD_REPLY, NULL);
	take_end(main_of[A]);
	EXPECT_ERROR(main_of[A], BR_DEAD_REPLY, -ESRCH);
	fetch_nothing(main_of[A]);
}

static void test_nested_server_thread_exits_after_calling_back(void)
{
	struct binder_transaction_data ab, ba;

	start();
	call(A, B, main_of[B], &ab);
	call(B, A, main_of[A], &ba);
	EXPECT(sim_interrupt(main_of[B]));
	thread_exit(main_of[B]);
	put_u64(main_of[A], BC_FREE_BUFFER, ba.data.ptr.buffer);
	put_reply(main_of[A], TF_DEFER_COMPLETE, "to nobody");
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take(main_of[A], BR_DEAD_REPLY, NULL);
	take_end(main_of[A]);
}

/* The same, but the nested call has not been read yet: it still comes first. */
static void test_nested_server_dies_with_its_call_unread(void)
{
	struct binder_transaction_data ab, ba;

	start();
	call(A, B, main_of[B], &ab);
	EXPECT(sim_interrupt(main_of[A]));
	put_call(main_of[B], handles_of[B][A], 0, "call");
	submit_waits(main_of[B]);
	EXPECT_EQ(sim_run(), 0);
	sim_kill(procs[B]);
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take_text(main_of[A], BR_TRANSACTION, "call", &ba);
	take_end(main_of[A]);
	put_u64(main_of[A], BC_FREE_BUFFER, ba.data.ptr.buffer);
	put_reply(main_of[A], 0, "to nobody");
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take(main_of[A], BR_DEAD_REPLY, NULL);
	take_end(main_of[A]);
}

/* a waits for b, which died; meanwhile a serves c, whom b had called. */
static void kill_proc(void *proc)
{
	sim_kill(proc);
}

/* As before, but the server dies while the call is on its way to the thread. */
static void test_nested_server_dies_with_its_call_being_read(void)
{
	struct binder_transaction_data ab, ba;

	start();
	call(A, B, main_of[B], &ab);
	EXPECT(sim_interrupt(main_of[A]));
	put_call(main_of[B], handles_of[B][A], 0, "call");
	submit_waits(main_of[B]);
	EXPECT_EQ(sim_run(), 0);
	sim_at(SIM_UID_SEEN, 1, kill_proc, procs[B]);
	submit(main_of[A]);
	EXPECT(!sim_at_pending());
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take_text(main_of[A], BR_TRANSACTION, "call", &ba);
	take_end(main_of[A]);
	put_u64(main_of[A], BC_FREE_BUFFER, ba.data.ptr.buffer);
	put_reply(main_of[A], 0, "to nobody");
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take(main_of[A], BR_DEAD_REPLY, NULL);
	take_end(main_of[A]);
}

static void test_nested_middle_of_the_chain_dies(void)
{
	struct binder_transaction_data ab, bc, ca;

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	call(C, A, main_of[A], &ca);
	sim_kill(procs[B]);
	fetch_nothing(main_of[A]);
	put_u64(main_of[A], BC_FREE_BUFFER, ca.data.ptr.buffer);
	put_reply(main_of[A], 0, "reply");
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take(main_of[A], BR_DEAD_REPLY, NULL);
	take_end(main_of[A]);
	EXPECT_EQ(sim_run(), 1);
	take(main_of[C], BR_TRANSACTION_COMPLETE, NULL);
	take_text(main_of[C], BR_REPLY, "reply", NULL);
	/* c answers a dead caller. */
	put_u64(main_of[C], BC_FREE_BUFFER, bc.data.ptr.buffer);
	put_reply(main_of[C], 0, "reply");
	submit(main_of[C]);
	take(main_of[C], BR_TRANSACTION_COMPLETE, NULL);
	take_end(main_of[C]);
}

/*
 * c, who called back into a, died; b, whom a waits for, is told and answers.
 * a is still in c's call: b's reply waits until that is answered.
 */
static void test_nested_reply_waits_for_the_busy_caller(void)
{
	struct binder_transaction_data ab, bc, ca;

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	call(C, A, main_of[A], &ca);
	sim_kill(procs[C]);
	dead_reply(main_of[B]);
	put_u64(main_of[B], BC_FREE_BUFFER, ab.data.ptr.buffer);
	put_reply(main_of[B], 0, "reply");
	submit(main_of[B]);
	take(main_of[B], BR_TRANSACTION_COMPLETE, NULL);
	take_end(main_of[B]);
	core_check();
	fetch_nothing(main_of[A]);
	put_u64(main_of[A], BC_FREE_BUFFER, ca.data.ptr.buffer);
	put_reply(main_of[A], 0, "to nobody");
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take_text(main_of[A], BR_REPLY, "reply", NULL);
	take_end(main_of[A]);
	EXPECT(!error_of(main_of[A]).param);
}

static void test_nested_reply_waits_for_an_unread_call(void)
{
	struct binder_transaction_data ab, bc, ca;

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	EXPECT(sim_interrupt(main_of[A]));
	put_call(main_of[C], handles_of[C][A], 0, "call");
	submit_waits(main_of[C]);
	sim_kill(procs[C]);
	dead_reply(main_of[B]);
	put_u64(main_of[B], BC_FREE_BUFFER, ab.data.ptr.buffer);
	put_reply(main_of[B], 0, "reply");
	submit(main_of[B]);
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take_text(main_of[A], BR_TRANSACTION, "call", &ca);
	take_end(main_of[A]);
	put_u64(main_of[A], BC_FREE_BUFFER, ca.data.ptr.buffer);
	put_reply(main_of[A], 0, "to nobody");
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take_text(main_of[A], BR_REPLY, "reply", NULL);
	take_end(main_of[A]);
}

/* It is dropped, buffer and all, if the caller never comes back. */
static void reply_waits_and(void (*end)(void))
{
	struct binder_transaction_data ab, bc, ca;
	struct parcel parcel = {};

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	call(C, A, main_of[A], &ca);
	sim_kill(procs[C]);
	dead_reply(main_of[B]);
	PARCEL_BINDER(&parcel, 0xb8);
	put_reply_parcel(main_of[B], 0, &parcel);
	submit(main_of[B]);
	take_node(main_of[B], BR_INCREFS, 0xb8);
	take_node(main_of[B], BR_ACQUIRE, 0xb8);
	put_node(main_of[B], BC_INCREFS_DONE, 0xb8);
	put_node(main_of[B], BC_ACQUIRE_DONE, 0xb8);
	send(main_of[B]);
	core_check();
	end();
	fetch(main_of[B]);
	take_node(main_of[B], BR_RELEASE, 0xb8);
	take_node(main_of[B], BR_DECREFS, 0xb8);
}

static void exit_a(void)
{
	thread_exit(main_of[A]);
}

static void kill_a(void)
{
	sim_kill(procs[A]);
}

static void test_nested_reply_waits_and_the_caller_exits(void)
{
	reply_waits_and(exit_a);
}

static void test_nested_reply_waits_and_the_caller_dies(void)
{
	reply_waits_and(kill_a);
}

static void test_nested_middle_dies_with_nobody_above(void)
{
	struct binder_transaction_data ab, bc;

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	sim_kill(procs[B]);
	dead_reply(main_of[A]);
	put_u64(main_of[C], BC_FREE_BUFFER, bc.data.ptr.buffer);
	put_reply(main_of[C], 0, "to nobody");
	submit(main_of[C]);
	take(main_of[C], BR_TRANSACTION_COMPLETE, NULL);
	take_end(main_of[C]);
}

static void test_nested_last_dies(void)
{
	struct binder_transaction_data ab, bc;

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	sim_kill(procs[C]);
	dead_reply(main_of[B]);
	reply(main_of[B], &ab, main_of[A], false);
}

static void test_nested_first_dies(void)
{
	struct binder_transaction_data ab, bc;

	start();
	call(A, B, main_of[B], &ab);
	call(B, C, main_of[C], &bc);
	sim_kill(procs[A]);
	reply(main_of[C], &bc, main_of[B], false);
	put_u64(main_of[B], BC_FREE_BUFFER, ab.data.ptr.buffer);
	put_reply(main_of[B], 0, "to nobody");
	submit(main_of[B]);
	take(main_of[B], BR_TRANSACTION_COMPLETE, NULL);
	take_end(main_of[B]);
}

/* Two calls of a's to b on one stack, b dies: the inner is told now, the outer later. */
static void test_nested_server_dies_with_two_calls_of_ours(void)
{
	struct binder_transaction_data ab, ba, ab2;

	start();
	call(A, B, main_of[B], &ab);
	call(B, A, main_of[A], &ba);
	call(A, B, main_of[B], &ab2);
	sim_kill(procs[B]);
	dead_reply(main_of[A]);
	put_u64(main_of[A], BC_FREE_BUFFER, ba.data.ptr.buffer);
	put_reply(main_of[A], 0, "to nobody");
	submit(main_of[A]);
	take(main_of[A], BR_TRANSACTION_COMPLETE, NULL);
	take(main_of[A], BR_DEAD_REPLY, NULL);
	take_end(main_of[A]);
	fetch_nothing(main_of[A]);
}

/* The busy caller dies as well, without having been told. */
static void test_nested_both_die(void)
{
	struct binder_transaction_data ab, ba;

	start();
	call(A, B, main_of[B], &ab);
	call(B, A, main_of[A], &ba);
	sim_kill(procs[B]);
	sim_kill(procs[A]);
}

static void test_nested_busy_caller_dies(void)
{
	struct binder_transaction_data ab, ba;

	start();
	call(A, B, main_of[B], &ab);
	call(B, A, main_of[A], &ba);
	sim_kill(procs[A]);
	dead_reply(main_of[B]);
	put_u64(main_of[B], BC_FREE_BUFFER, ab.data.ptr.buffer);
	put_reply(main_of[B], 0, "to nobody");
	submit(main_of[B]);
	take(main_of[B], BR_TRANSACTION_COMPLETE, NULL);
	take_end(main_of[B]);
}

static void test_nested_busy_caller_thread_exits(void)
{
	struct binder_transaction_data ab, ba;

	start();
	call(A, B, main_of[B], &ab);
	call(B, A, main_of[A], &ba);
	thread_exit(main_of[A]);
	dead_reply(main_of[B]);
}

static const struct core_case cases[] = {
	CASE(test_nested_three_deep),
	CASE(test_nested_call_comes_back_to_the_waiting_thread),
	CASE(test_nested_a_b_a_b),
	CASE(test_nested_call_skips_a_process),
	CASE(test_nested_nearest_waiting_thread_is_taken),
	CASE(test_nested_caller_of_an_unrelated_chain_is_not_taken),
	CASE(test_nested_reply_must_wait_for_the_inner_reply),
	CASE(test_nested_server_dies_after_calling_back),
	CASE(test_nested_server_thread_exits_after_calling_back),
	CASE(test_nested_server_dies_with_its_call_unread),
	CASE(test_nested_server_dies_with_its_call_being_read),
	CASE(test_nested_middle_of_the_chain_dies),
	CASE(test_nested_reply_waits_for_the_busy_caller),
	CASE(test_nested_reply_waits_for_an_unread_call),
	CASE(test_nested_reply_waits_and_the_caller_exits),
	CASE(test_nested_reply_waits_and_the_caller_dies),
	CASE(test_nested_middle_dies_with_nobody_above),
	CASE(test_nested_last_dies),
	CASE(test_nested_first_dies),
	CASE(test_nested_server_dies_with_two_calls_of_ours),
	CASE(test_nested_both_die),
	CASE(test_nested_busy_caller_dies),
	CASE(test_nested_busy_caller_thread_exits),
};

GROUP(nested);
