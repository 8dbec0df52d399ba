// SPDX-License-Identifier: GPL-2.0-only
/*
 * TF_DEFER_COMPLETE: a server that holds nothing but the completion of its
 * last reply waits for its next call, and gets both in one read.
 */
#include "core_test.h"

#include "core/proc.h"

static struct sim_proc *server_proc, *client_proc;
static struct sim_thread *server, *client, *other;

static void start(void)
{
	server_proc = open_proc(100);
	client_proc = open_proc(200);
	server = manager_of(server_proc, 101);
	client = thread_of(client_proc, 201);
	other = thread_of(client_proc, 202);
}

/* The server frees and answers @tr and goes on reading, in one ioctl. */
static int answer_deferred(const struct binder_transaction_data *tr, const char *text)
{
	put_u64(server, BC_FREE_BUFFER, tr->data.ptr.buffer);
	put_reply(server, TF_DEFER_COMPLETE, text);
	return sim_submit(server);
}

/* The server waits, holding a completion. */
static void start_deferred(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "first", &tr);
	EXPECT_EQ(answer_deferred(&tr, "answer"), BINDER_PARK);
	EXPECT_EQ(sim_run(), 1);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_text(client, BR_REPLY, "answer", NULL);
	EXPECT(server->parked);
}

static void test_defer_next_call_comes_to_the_thread(void)
{
	struct binder_transaction_data tr;

	start_deferred();
	for (int i = 0; i < 3; i++) {
		put_call(client, 0, 0, "next");
		submit_waits(client);
		/* To the server as the one who waits: the process queue is empty. */
		EXPECT(list_empty(&server_proc->proc->todo));
		EXPECT_EQ(sim_run(), 1);
		take(server, BR_TRANSACTION_COMPLETE, NULL);
		take_text(server, BR_TRANSACTION, "next", &tr);
		take_end(server);
		EXPECT_EQ(answer_deferred(&tr, "answer"), BINDER_PARK);
		EXPECT_EQ(sim_run(), 1);
		take(client, BR_TRANSACTION_COMPLETE, NULL);
		take_text(client, BR_REPLY, "answer", NULL);
	}
}

static void test_defer_next_call_is_in_the_process_queue(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "first", &tr);
	put_call(other, 0, 0, "second");
	submit_waits(other);
	EXPECT(!list_empty(&server_proc->proc->todo));
	EXPECT_EQ(answer_deferred(&tr, "answer"), 0);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_text(server, BR_TRANSACTION, "second", &tr);
	take_end(server);
	EXPECT_EQ(sim_run(), 1);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_text(client, BR_REPLY, "answer", NULL);
	answer(server, &tr, other, "answer");
}

static void test_defer_not_asked_returns_at_once(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "first", &tr);
	put_call(other, 0, 0, "second");
	submit_waits(other);
	put_u64(server, BC_FREE_BUFFER, tr.data.ptr.buffer);
	put_reply(server, 0, "answer");
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_end(server);
	submit(server);
	take_text(server, BR_TRANSACTION, "second", NULL);
}

static void test_defer_scatter_gather_reply_too(void)
{
	struct binder_transaction_data_sg sg = { .transaction_data.flags = TF_DEFER_COMPLETE };
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "first", &tr);
	sim_put(server, BC_REPLY_SG, &sg);
	submit_waits(server);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, &tr);
	put_call(client, 0, TF_ONE_WAY, "x");
	submit(client);
	sim_run();
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_text(server, BR_TRANSACTION, "x", NULL);
}

static void test_defer_waiting_thread_counts_as_waiting(void)
{
	struct sim_thread *second;
	u32 max = 5;

	start_deferred();
	EXPECT_EQ(sim_ioctl(sim_thread(server_proc, 150), BINDER_SET_MAX_THREADS, &max), 0);
	/* No thread is asked for while it waits. */
	second = looper_of(server_proc, 102);
	submit_waits(second);
	put_call(client, 0, TF_ONE_WAY, "x");
	submit(client);
	EXPECT_EQ(sim_run(), 1);
	take_text(second, BR_TRANSACTION, "x", NULL);
	EXPECT_EQ(server_proc->proc->requested_threads, 0);
	EXPECT(server->parked);
}

static void test_defer_completion_alone_is_nothing_to_read(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "first", &tr);
	put_reply(server, TF_DEFER_COMPLETE, "answer");
	send(server);
	EXPECT(!sim_poll(server));
	fetch_nothing(server);
	submit_waits(server);
	EXPECT(sim_interrupt(server));
	EXPECT_EQ(server->bwr.read_consumed, 0);
	EXPECT(!sim_poll(server));
	put_call(other, 0, TF_ONE_WAY, "x");
	send(other);
	EXPECT(sim_poll(server));
	fetch(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_text(server, BR_TRANSACTION, "x", NULL);
	take_end(server);
}

static void test_defer_completion_comes_with_whatever_comes(void)
{
	start_deferred();
	put_u32(client, BC_ACQUIRE, 0);
	send(client);
	EXPECT(server->parked);
	binder_proc_flush(server_proc->proc);
	EXPECT_EQ(sim_run(), 1);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_end(server);
	submit_waits(server);
}

/* Notices of references the reply made are deferred as well; they lead. */
static void test_defer_with_an_object_in_the_reply(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	call_taken(client, 0, server, "first", &tr);
	PARCEL_BINDER(&parcel, 0x10);
	put_u64(server, BC_FREE_BUFFER, tr.data.ptr.buffer);
	put_reply_parcel(server, TF_DEFER_COMPLETE, &parcel);
	submit_waits(server);
	EXPECT_EQ(sim_run(), 1);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, &tr);
	put_u64(client, BC_FREE_BUFFER, tr.data.ptr.buffer);
	send(client);
	EXPECT_EQ(sim_run(), 0);
	put_call(client, 0, TF_ONE_WAY, "x");
	submit(client);
	EXPECT_EQ(sim_run(), 1);
	/* The receiver gave it back meanwhile: there is nothing to tell any more. */
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_text(server, BR_TRANSACTION, "x", NULL);
}

static void test_defer_with_an_object_that_is_kept(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	call_taken(client, 0, server, "first", &tr);
	PARCEL_BINDER(&parcel, 0x10);
	put_reply_parcel(server, TF_DEFER_COMPLETE, &parcel);
	submit_waits(server);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, NULL);
	put_call(client, 0, TF_ONE_WAY, "x");
	submit(client);
	EXPECT_EQ(sim_run(), 1);
	take_node(server, BR_INCREFS, 0x10);
	take_node(server, BR_ACQUIRE, 0x10);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_text(server, BR_TRANSACTION, "x", NULL);
}

static void test_defer_of_a_reply_that_fails_is_not_deferred(void)
{
	struct binder_transaction_data tr, bad = { .data_size = 8, .flags = TF_DEFER_COMPLETE };

	start();
	call_taken(client, 0, server, "first", &tr);
	bad.data.ptr.buffer = 16;
	sim_put(server, BC_REPLY, &bad);
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_end(server);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_FAILED_REPLY, NULL);
}

static void test_defer_nested_reply_waits_for_the_outer_call(void)
{
	struct binder_transaction_data question, back, tr;
	u32 handle;

	start();
	handle = give(other, server, 0x10);
	call_taken(client, 0, server, "question", &question);
	/* The server calls back, and the waiting client answers that deferred. */
	put_call(server, handle, 0, "back");
	submit_waits(server);
	EXPECT_EQ(sim_run(), 1);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_text(client, BR_TRANSACTION, "back", &back);
	put_u64(client, BC_FREE_BUFFER, back.data.ptr.buffer);
	put_reply(client, TF_DEFER_COMPLETE, "forth");
	submit_waits(client);
	EXPECT_EQ(sim_run(), 1);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_text(server, BR_REPLY, "forth", &tr);
	free_buffer(server, &tr);
	answer(server, &question, client, "answer");
}

static void test_defer_thread_exits_with_a_completion(void)
{
	start_deferred();
	EXPECT(sim_interrupt(server));
	thread_exit(server);
	fetch(server);
	take_end(server);
}

/* A read with room for one return. */
static void read_one(struct sim_thread *thread, u32 cmd)
{
	struct binder_write_read bwr = {
		.read_size = 80, .read_buffer = (uintptr_t)thread->in,
	};

	EXPECT_EQ(sim_write_read(thread, &bwr, true), 0);
	take(thread, cmd, NULL);
	take_end(thread);
}

/*
 * News of a node waits behind a completion that ended the wait, and goes with the node: what is
 * left in the queue is nothing, and ends no wait.
 */
static void test_news_that_goes_with_its_node_ends_no_wait(void)
{
	struct sim_thread *manager = manager_of(open_proc(400), 401);
	struct sim_thread *sender = looper_of(open_proc(500), 501);
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	put_call(sender, 0, TF_ONE_WAY, "note");
	send(sender);
	PARCEL_BINDER(&parcel, 0x1000);
	put_parcel(sender, 0, 0, &parcel);
	send(sender);
	read_one(sender, BR_TRANSACTION_COMPLETE);
	read_one(sender, BR_TRANSACTION_COMPLETE);
	fetch(manager);
	take_text(manager, BR_TRANSACTION, "note", NULL);
	fetch(manager);
	take(manager, BR_TRANSACTION, &tr);
	free_buffer(manager, &tr);
	EXPECT(!sim_poll(sender));
}

static const struct core_case cases[] = {
	CASE(test_defer_next_call_comes_to_the_thread),
	CASE(test_defer_next_call_is_in_the_process_queue),
	CASE(test_defer_not_asked_returns_at_once),
	CASE(test_defer_scatter_gather_reply_too),
	CASE(test_defer_waiting_thread_counts_as_waiting),
	CASE(test_defer_completion_alone_is_nothing_to_read),
	CASE(test_defer_completion_comes_with_whatever_comes),
	CASE(test_defer_with_an_object_in_the_reply),
	CASE(test_defer_with_an_object_that_is_kept),
	CASE(test_defer_of_a_reply_that_fails_is_not_deferred),
	CASE(test_defer_nested_reply_waits_for_the_outer_call),
	CASE(test_defer_thread_exits_with_a_completion),
	CASE(test_news_that_goes_with_its_node_ends_no_wait),
};

GROUP(defer);
