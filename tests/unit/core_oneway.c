// SPDX-License-Identifier: GPL-2.0-only
/* One-way calls: no reply, one at a time per node, half of the mapping. */
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

static void send_oneway(struct sim_thread *thread, u32 handle, const char *text)
{
	put_call(thread, handle, TF_ONE_WAY, text);
	submit(thread);
	take(thread, BR_TRANSACTION_COMPLETE, NULL);
	take_end(thread);
}

/* The next one is there, and none after it. */
static void receive(const char *text, struct binder_transaction_data *tr)
{
	fetch(server);
	take_text(server, BR_TRANSACTION, text, tr);
	take_end(server);
}

static void test_oneway_has_no_sender_and_no_reply(void)
{
	struct binder_transaction_data tr;

	start();
	send_oneway(client, 0, "news");
	receive("news", &tr);
	EXPECT(tr.sender_pid == 0 && tr.sender_euid == UID && tr.flags == TF_ONE_WAY);
	put_reply(server, 0, "thanks");
	submit(server);
	take(server, BR_FAILED_REPLY, NULL);
	EXPECT_ERROR(server, BR_FAILED_REPLY, -EPROTO);
	free_buffer(server, &tr);
	fetch_nothing(client);
	/* It stands on no stack: the thread takes other work. */
	send_oneway(client, 0, "more");
	receive("more", NULL);
}

static void test_oneway_next_comes_when_the_buffer_is_freed(void)
{
	struct binder_transaction_data tr;
	struct sim_thread *second;

	start();
	second = looper_of(server_proc, 102);
	send_oneway(client, 0, "1");
	send_oneway(client, 0, "2");
	send_oneway(client, 0, "3");
	receive("1", &tr);
	fetch_nothing(server);
	fetch_nothing(second);
	/* The one who waits is woken by another's BC_FREE_BUFFER. */
	submit_waits(second);
	free_buffer(server, &tr);
	EXPECT_EQ(sim_run(), 1);
	take_text(second, BR_TRANSACTION, "2", &tr);
	fetch_nothing(server);
	free_buffer(second, &tr);
	receive("3", &tr);
	free_buffer(server, &tr);
	fetch_nothing(server);
	send_oneway(client, 0, "4");
	receive("4", NULL);
}

static void test_oneway_of_several_senders_keep_their_order(void)
{
	struct binder_transaction_data tr;
	struct sim_thread *other;

	start();
	other = thread_of(open_proc(300), 301);
	send_oneway(client, 0, "a1");
	send_oneway(other, 0, "b1");
	send_oneway(client, 0, "a2");
	send_oneway(other, 0, "b2");
	receive("a1", &tr);
	free_buffer(server, &tr);
	receive("b1", &tr);
	free_buffer(server, &tr);
	receive("a2", &tr);
	free_buffer(server, &tr);
	receive("b2", NULL);
}

static void test_oneway_does_not_hold_up_calls(void)
{
	struct binder_transaction_data tr, oneway;

	start();
	send_oneway(client, 0, "1");
	send_oneway(client, 0, "2");
	receive("1", &oneway);
	call_taken(client, 0, server, "question", &tr);
	answer(server, &tr, client, "answer");
	free_buffer(server, &oneway);
	receive("2", NULL);
}

static void test_oneway_of_other_nodes_are_independent(void)
{
	struct binder_transaction_data tr;
	struct sim_thread *owner;
	u32 first, second;

	start();
	owner = looper_of(open_proc(300), 301);
	first = pass(server, give(owner, server, 0x10), client);
	second = pass(server, give(owner, server, 0x20), client);
	send_oneway(client, first, "a1");
	send_oneway(client, first, "a2");
	send_oneway(client, second, "b1");
	fetch(owner);
	take_text(owner, BR_TRANSACTION, "a1", &tr);
	EXPECT(tr.target.ptr == 0x10 && tr.cookie == COOKIE(0x10));
	fetch(owner);
	take_text(owner, BR_TRANSACTION, "b1", NULL);
	fetch_nothing(owner);
	free_buffer(owner, &tr);
	fetch(owner);
	take_text(owner, BR_TRANSACTION, "a2", NULL);
}

static void test_oneway_budget_is_half_the_mapping(void)
{
	struct binder_transaction_data tr, big = { .data_size = MAP_SIZE / 4, .flags = TF_ONE_WAY };

	start();
	big.data.ptr.buffer = (uintptr_t)sim_user_alloc(client_proc, big.data_size);
	for (int i = 0; i < 2; i++) {
		sim_put(client, BC_TRANSACTION, &big);
		submit(client);
		take(client, BR_TRANSACTION_COMPLETE, NULL);
	}
	EXPECT(!logged());
	sim_put(client, BC_TRANSACTION, &big);
	submit(client);
	take(client, BR_FAILED_REPLY, NULL);
	EXPECT_ERROR(client, BR_FAILED_REPLY, -ENOSPC);
	EXPECT(logged());
	/* Calls are not of that budget. */
	big.flags = 0;
	sim_put(client, BC_TRANSACTION, &big);
	submit_waits(client);
	EXPECT(sim_interrupt(client));
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	free_buffer(server, &tr);
	big.flags = TF_ONE_WAY;
	sim_put(client, BC_TRANSACTION, &big);
	submit(client);
	/* And that of the call that nobody has answered. */
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_end(client);
}

/* It goes to the pool, even if the sender's caller waits in that process. */
static void test_oneway_is_not_for_the_waiting_caller(void)
{
	struct binder_transaction_data call, tr;
	struct sim_thread *owner, *pool;
	u32 handle;

	start();
	owner = thread_of(client_proc, 202);
	pool = looper_of(client_proc, 203);
	handle = give(owner, server, 0x10);
	call_taken(client, 0, server, "question", &call);
	send_oneway(server, handle, "news");
	EXPECT_EQ(sim_run(), 0);
	EXPECT(client->parked);
	fetch(pool);
	take_text(pool, BR_TRANSACTION, "news", &tr);
	free_buffer(pool, &tr);
	answer(server, &call, client, "answer");
}

/* An object in it is held until it is freed, be it delivered or not. */
static void test_oneway_holds_its_objects(void)
{
	struct parcel parcel = {};
	struct binder_transaction_data tr;

	start();
	send_oneway(client, 0, "first");
	PARCEL_BINDER(&parcel, 0x10);
	put_parcel(client, 0, TF_ONE_WAY, &parcel);
	submit(client);
	take_node(client, BR_INCREFS, 0x10);
	take_node(client, BR_ACQUIRE, 0x10);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	put_node(client, BC_INCREFS_DONE, 0x10);
	put_node(client, BC_ACQUIRE_DONE, 0x10);
	send(client);
	fetch_nothing(client);
	receive("first", &tr);
	free_buffer(server, &tr);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	fetch_nothing(client);
	free_buffer(server, &tr);
	fetch(client);
	take_node(client, BR_RELEASE, 0x10);
	take_node(client, BR_DECREFS, 0x10);
	take_end(client);
}

static void test_oneway_defer_flag_is_of_replies_only(void)
{
	start();
	put_call(client, 0, TF_ONE_WAY | TF_DEFER_COMPLETE, "x");
	submit(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
}

static void test_oneway_in_the_own_queue_goes_with_the_thread(void)
{
	struct binder_write_read small = { .read_size = 8 };
	struct sim_thread *second;

	start();
	second = looper_of(server_proc, 102);
	small.read_buffer = (uintptr_t)second->in;
	EXPECT_EQ(sim_write_read(second, &small, false), BINDER_PARK);
	send_oneway(client, 0, "lost");
	send_oneway(client, 0, "next");
	EXPECT_EQ(sim_run(), 1);
	thread_exit(second);
	receive("next", NULL);
}

static const struct core_case cases[] = {
	CASE(test_oneway_has_no_sender_and_no_reply),
	CASE(test_oneway_next_comes_when_the_buffer_is_freed),
	CASE(test_oneway_of_several_senders_keep_their_order),
	CASE(test_oneway_does_not_hold_up_calls),
	CASE(test_oneway_of_other_nodes_are_independent),
	CASE(test_oneway_budget_is_half_the_mapping),
	CASE(test_oneway_is_not_for_the_waiting_caller),
	CASE(test_oneway_holds_its_objects),
	CASE(test_oneway_defer_flag_is_of_replies_only),
	CASE(test_oneway_in_the_own_queue_goes_with_the_thread),
};

GROUP(oneway);
