// SPDX-License-Identifier: GPL-2.0-only
/* Threads that exit and processes that die, in every state of their calls. */
#include "core_test.h"

#include "core/alloc.h"
#include "core/proc.h"
#include "core/thread.h"

static struct sim_proc *server_proc, *client_proc;
static struct sim_thread *server, *client;

static void start(void)
{
	server_proc = open_proc(100);
	client_proc = open_proc(200);
	server = manager_of(server_proc, 101);
	client = thread_of(client_proc, 201);
}

static void told_dead(void)
{
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_DEAD_REPLY, NULL);
	take_end(client);
	EXPECT_ERROR(client, BR_DEAD_REPLY, -ESRCH);
}

/* The server thread gets a call that stays in its own queue, unread. */
static void call_unread(void)
{
	struct binder_write_read small = { .read_size = 8 };

	small.read_buffer = (uintptr_t)server->in;
	EXPECT_EQ(sim_write_read(server, &small, false), BINDER_PARK);
	put_call(client, 0, 0, "unread");
	submit_waits(client);
	EXPECT_EQ(sim_run(), 1);
}

/* ---- the server's side -------------------------------------------------------- */

static void test_exit_of_the_thread_that_serves(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "x", &tr);
	thread_exit(server);
	told_dead();
	/* The buffer is the process's. */
	EXPECT_EQ(binder_alloc_buffer_count(server_proc->proc->alloc), 1);
	free_buffer(server, &tr);
	EXPECT(!logged());
	/* There is nothing left to answer. */
	put_reply(server, 0, "late");
	submit(server);
	take(server, BR_FAILED_REPLY, NULL);
}

static void test_exit_of_the_thread_that_has_it_unread(void)
{
	start();
	call_unread();
	thread_exit(server);
	told_dead();
	EXPECT_EQ(binder_alloc_buffer_count(server_proc->proc->alloc), 0);
}

static void test_exit_leaves_the_process_queue_to_others(void)
{
	struct sim_thread *second;
	struct binder_transaction_data tr;

	start();
	second = looper_of(server_proc, 102);
	put_call(client, 0, 0, "x");
	submit_waits(client);
	thread_exit(server);
	fetch(second);
	take_text(second, BR_TRANSACTION, "x", &tr);
	answer(second, &tr, client, "y");
}

static void test_exit_and_back(void)
{
	struct binder_transaction_data tr;

	start();
	put_reply(server, 0, "error unread");
	send(server);
	thread_exit(server);
	/* A fresh record, whose first read returns at once. */
	submit(server);
	take_end(server);
	thread_exit(server);
	thread_exit(server);
	call_taken(client, 0, server, "x", &tr);
	answer(server, &tr, client, "y");
}

/* ---- threads that end without a word ------------------------------------------- */

static struct binder_thread *record_of(struct sim_thread *thread)
{
	struct binder_thread *record = binder_thread_lookup(thread->proc->proc, thread->tid);

	EXPECT(record);
	binder_thread_get(record);
	binder_thread_done(record);
	return record;
}

static void test_reap_of_the_thread_that_serves(void)
{
	struct binder_transaction_data tr;
	struct binder_thread *record;

	start();
	call_taken(client, 0, server, "x", &tr);
	record = record_of(server);
	EXPECT(binder_thread_reap(record));
	told_dead();
	/* Once is enough. */
	binder_thread_reap(record);
	binder_thread_put(record);
	call_taken(client, 0, looper_of(server_proc, 102), "y", &tr);
}

/* A new task has the dead one's id, and has called in before we came. */
static void test_reap_leaves_a_record_in_use(void)
{
	struct binder_transaction_data tr;
	struct binder_thread *record;

	start();
	EXPECT_EQ(sim_write_read(server, &(struct binder_write_read){ .read_size = 0 }, false), 0);
	submit_waits(server);
	record = record_of(server);
	EXPECT(!binder_thread_reap(record));
	binder_thread_put(record);
	call_taken(client, 0, server, "x", &tr);
	answer(server, &tr, client, "y");
}

static void close_server(void *arg)
{
	(void)arg;
	sim_close(server_proc);
}

/* The process empties its queue while a confirmation is still in its thread's. */
static void test_reap_with_confirmation_while_the_process_goes(void)
{
	struct binder_write_read small = { .read_size = 8 };
	struct binder_thread *record;
	u32 handle;

	start();
	handle = give(client, server, 0x10);
	sim_put(server, BC_ENTER_LOOPER, NULL);
	send(server);
	small.read_buffer = (uintptr_t)server->in;
	EXPECT_EQ(sim_write_read(server, &small, false), BINDER_PARK);
	put_call(client, 0, TF_CLEAR_BUF, "unread");
	submit_waits(client);
	EXPECT_EQ(sim_run(), 1);
	put_death(server, BC_REQUEST_DEATH_NOTIFICATION, handle, 1);
	put_death(server, BC_CLEAR_DEATH_NOTIFICATION, handle, 1);
	send(server);
	record = record_of(server);
	sim_at(SIM_ZERO_BUFFER, 1, close_server, NULL);
	EXPECT(binder_thread_reap(record));
	EXPECT(!sim_at_pending());
	binder_thread_put(record);
}

static void test_reap_after_the_process(void)
{
	struct binder_thread *record;

	start();
	record = record_of(server);
	sim_kill(server_proc);
	binder_thread_reap(record);
	binder_thread_put(record);
}

/* The process is closed while the reaper clears the buffer of a call nobody read. */
static void test_reap_while_the_process_goes(void)
{
	struct binder_write_read small = { .read_size = 8 };
	struct binder_thread *record;

	start();
	small.read_buffer = (uintptr_t)server->in;
	EXPECT_EQ(sim_write_read(server, &small, false), BINDER_PARK);
	put_call(client, 0, TF_CLEAR_BUF, "unread");
	submit_waits(client);
	EXPECT_EQ(sim_run(), 1);
	record = record_of(server);
	sim_at(SIM_ZERO_BUFFER, 1, close_server, NULL);
	binder_thread_reap(record);
	EXPECT(!sim_at_pending());
	binder_thread_put(record);
	told_dead();
}

/* ---- the server's side, again ---------------------------------------------------- */

static void test_death_of_the_process_that_serves(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "x", &tr);
	sim_kill(server_proc);
	told_dead();
	put_call(client, 0, 0, "again");
	submit(client);
	take(client, BR_DEAD_REPLY, NULL);
}

static void test_death_of_the_process_that_waits(void)
{
	start();
	submit_waits(server);
	sim_kill(server_proc);
	EXPECT_EQ(server->ret, -EINTR);
}

static void test_death_with_calls_queued_everywhere(void)
{
	struct sim_thread *callers[3];

	start();
	call_unread();
	for (int i = 0; i < 3; i++) {
		callers[i] = thread_of(client_proc, 210 + i);
		put_call(callers[i], 0, 0, "x");
		submit_waits(callers[i]);
		put_call(thread_of(client_proc, 220 + i), 0, TF_ONE_WAY, "oneway");
		submit(sim_thread(client_proc, 220 + i));
	}
	sim_kill(server_proc);
	told_dead();
	for (int i = 0; i < 3; i++) {
		take(callers[i], BR_TRANSACTION_COMPLETE, NULL);
		take(callers[i], BR_DEAD_REPLY, NULL);
	}
}

static void test_death_of_a_woken_thread(void)
{
	start();
	submit_waits(server);
	put_call(client, 0, 0, "x");
	submit_waits(client);
	/* It is woken and has not run. */
	sim_kill(server_proc);
	told_dead();
}

static void test_death_with_buffers_unfreed(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	PARCEL_BINDER(&parcel, 0x10);
	put_parcel(client, 0, 0, &parcel);
	submit_waits(client);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	put_reply(server, 0, "y");
	submit(server);
	sim_run();
	take_node(client, BR_INCREFS, 0x10);
	take_node(client, BR_ACQUIRE, 0x10);
	put_node(client, BC_INCREFS_DONE, 0x10);
	put_node(client, BC_ACQUIRE_DONE, 0x10);
	send(client);
	sim_close(server_proc);
	fetch(client);
	take_node(client, BR_RELEASE, 0x10);
	take_node(client, BR_DECREFS, 0x10);
}

/* ---- the caller's side ----------------------------------------------------------- */

/* The server answers nobody, and is none the wiser. */
static void answer_nobody(const struct binder_transaction_data *tr)
{
	put_u64(server, BC_FREE_BUFFER, tr->data.ptr.buffer);
	put_reply(server, 0, "to nobody");
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_end(server);
	EXPECT_ERROR(server, BR_OK, 0);
	fetch_nothing(server);
}

static void test_exit_of_a_caller_being_served(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "x", &tr);
	EXPECT(sim_interrupt(client));
	thread_exit(client);
	answer_nobody(&tr);
	EXPECT_EQ(binder_alloc_buffer_count(client_proc->proc->alloc), 0);
	submit(client);
	take_end(client);
}

static void test_exit_of_a_caller_not_served_yet(void)
{
	struct binder_transaction_data tr;

	start();
	put_call(client, 0, 0, "x");
	submit_waits(client);
	EXPECT(sim_interrupt(client));
	thread_exit(client);
	/* What was sent arrives. */
	fetch(server);
	take_text(server, BR_TRANSACTION, "x", &tr);
	answer_nobody(&tr);
}

static void test_death_of_a_caller_being_served(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "x", &tr);
	sim_kill(client_proc);
	answer_nobody(&tr);
}

static void test_death_of_a_caller_not_served_yet(void)
{
	struct binder_transaction_data tr;

	start();
	put_call(client, 0, 0, "x");
	submit_waits(client);
	sim_kill(client_proc);
	fetch(server);
	take_text(server, BR_TRANSACTION, "x", &tr);
	answer_nobody(&tr);
}

static void test_death_of_a_caller_with_its_reply_unread(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	call_taken(client, 0, server, "x", &tr);
	EXPECT(sim_interrupt(client));
	PARCEL_BINDER(&parcel, 0x10);
	put_reply_parcel(server, 0, &parcel);
	submit(server);
	take_node(server, BR_INCREFS, 0x10);
	take_node(server, BR_ACQUIRE, 0x10);
	put_node(server, BC_INCREFS_DONE, 0x10);
	put_node(server, BC_ACQUIRE_DONE, 0x10);
	send(server);
	sim_kill(client_proc);
	fetch(server);
	take_node(server, BR_RELEASE, 0x10);
	take_node(server, BR_DECREFS, 0x10);
}

static void test_exit_of_a_caller_with_its_reply_unread(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "x", &tr);
	EXPECT(sim_interrupt(client));
	put_u64(server, BC_FREE_BUFFER, tr.data.ptr.buffer);
	put_reply(server, 0, "y");
	submit(server);
	thread_exit(client);
	EXPECT_EQ(binder_alloc_buffer_count(client_proc->proc->alloc), 0);
}

static void test_exit_with_an_error_unread(void)
{
	start();
	put_call(client, 0, 0, "x");
	submit_waits(client);
	EXPECT(sim_interrupt(client));
	sim_kill(server_proc);
	put_call(client, 0, TF_ONE_WAY, "x");
	send(client);
	thread_exit(client);
	fetch(client);
	take_end(client);
}

/*
 * The second call should not have been made before the first one's end was
 * read. The one error that there is room for stands for the first.
 */
static void test_error_unread_stands(void)
{
	struct binder_transaction_data tr;

	start();
	call_taken(client, 0, server, "first", &tr);
	EXPECT(sim_interrupt(client));
	thread_exit(server);
	put_call(client, 0, 0, "second");
	send(client);
	fetch(server);
	take_text(server, BR_TRANSACTION, "second", NULL);
	thread_exit(server);
	fetch(client);
	/* What was sent is told before how it ended, and both ended the same way. */
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_DEAD_REPLY, NULL);
	take_end(client);
}

/* ---- nodes and references ---------------------------------------------------------- */

static void test_death_of_an_owner_leaves_dead_references(void)
{
	struct sim_proc *owner_proc;
	struct sim_thread *owner;
	struct parcel parcel = {};
	u32 handle;

	start();
	owner_proc = open_proc(300);
	owner = thread_of(owner_proc, 301);
	handle = pass(server, give(owner, server, 0x10), client);
	sim_kill(owner_proc);
	core_check();
	put_call(client, handle, 0, "x");
	submit(client);
	take(client, BR_DEAD_REPLY, NULL);
	EXPECT_ERROR(client, BR_DEAD_REPLY, -EINVAL);
	put_call(client, handle, TF_ONE_WAY, "x");
	submit(client);
	take(client, BR_DEAD_REPLY, NULL);
	logged();
	/* They can still be counted, and passed on. */
	command(client, BC_ACQUIRE, handle);
	PARCEL_HANDLE(&parcel, handle);
	put_parcel(client, 0, TF_ONE_WAY, &parcel);
	submit(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	fetch(server);
	take(server, BR_TRANSACTION, NULL);
	command(client, BC_RELEASE, handle);
	command(client, BC_RELEASE, handle);
	command(server, BC_RELEASE, 1);
	EXPECT(!logged());
}

static void test_death_of_an_owner_half_told(void)
{
	struct sim_proc *owner_proc;
	struct sim_thread *owner;
	struct parcel parcel = {};
	struct binder_transaction_data tr;

	start();
	owner_proc = open_proc(300);
	owner = thread_of(owner_proc, 301);
	PARCEL_BINDER(&parcel, 0x10);
	put_parcel(owner, 0, TF_ONE_WAY, &parcel);
	submit(owner);
	/* A second, of which it is not even told. */
	parcel = (struct parcel){};
	PARCEL_BINDER(&parcel, 0x20);
	parcel_object(&parcel, BINDER_TYPE_WEAK_BINDER, 0x30, COOKIE(0x30));
	put_parcel(owner, 0, TF_ONE_WAY, &parcel);
	send(owner);
	sim_kill(owner_proc);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	free_buffer(server, &tr);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	free_buffer(server, &tr);
	EXPECT(!logged());
}

static void test_death_of_everybody_at_once(void)
{
	struct binder_transaction_data tr;
	struct sim_thread *third;
	u32 handle;

	start();
	third = looper_of(open_proc(300), 301);
	handle = pass(server, give(third, server, 0x10), client);
	call_taken(client, handle, third, "x", &tr);
	put_call(third, 0, 0, "y");
	submit_waits(third);
	put_call(server, 1, TF_ONE_WAY, "z");
	submit(server);
	sim_close(client_proc);
	sim_close(third->proc);
	sim_close(server_proc);
}

static const struct core_case cases[] = {
	CASE(test_exit_of_the_thread_that_serves),
	CASE(test_exit_of_the_thread_that_has_it_unread),
	CASE(test_exit_leaves_the_process_queue_to_others),
	CASE(test_exit_and_back),
	CASE_PLAIN(test_reap_of_the_thread_that_serves),
	CASE(test_reap_leaves_a_record_in_use),
	CASE_PLAIN(test_reap_after_the_process),
	CASE_PLAIN(test_reap_while_the_process_goes),
	CASE_PLAIN(test_reap_with_confirmation_while_the_process_goes),
	CASE(test_death_of_the_process_that_serves),
	CASE(test_death_of_the_process_that_waits),
	CASE(test_death_with_calls_queued_everywhere),
	CASE(test_death_of_a_woken_thread),
	CASE(test_death_with_buffers_unfreed),
	CASE(test_exit_of_a_caller_being_served),
	CASE(test_exit_of_a_caller_not_served_yet),
	CASE(test_death_of_a_caller_being_served),
	CASE(test_death_of_a_caller_not_served_yet),
	CASE(test_death_of_a_caller_with_its_reply_unread),
	CASE(test_exit_of_a_caller_with_its_reply_unread),
	CASE(test_exit_with_an_error_unread),
	CASE(test_error_unread_stands),
	CASE(test_death_of_an_owner_leaves_dead_references),
	CASE(test_death_of_an_owner_half_told),
	CASE(test_death_of_everybody_at_once),
};

GROUP(exit);
