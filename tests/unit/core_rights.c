// SPDX-License-Identifier: GPL-2.0-only
/* At which nice value a call is served, and what a security module can forbid. */
#include "core_test.h"

#include "core/log.h"
#include "core/proc.h"

/* The least that the manager's node asks for. */
#define LEAST 10

static struct sim_proc *server_proc, *client_proc;
static struct sim_thread *server, *client;

static int become_manager(struct sim_thread *thread)
{
	struct flat_binder_object node = { .flags = LEAST };

	return sim_ioctl(thread, BINDER_SET_CONTEXT_MGR_EXT, &node);
}

static void start(int server_nice, int client_nice)
{
	server_proc = open_proc(100);
	client_proc = open_proc(200);
	server = looper_of(server_proc, 101);
	EXPECT_EQ(become_manager(server), 0);
	client = thread_of(client_proc, 201);
	server->nice = server_nice;
	client->nice = client_nice;
}

static void served_at(int server_nice, int client_nice, int want)
{
	struct binder_transaction_data tr;

	start(server_nice, client_nice);
	call_taken(client, 0, server, "work", &tr);
	EXPECT_EQ(server->nice, want);
	answer(server, &tr, client, "done");
	EXPECT_EQ(server->nice, server_nice);
	EXPECT_EQ(client->nice, client_nice);
}

static void test_call_runs_at_its_callers_nice(void)
{
	served_at(5, -5, -5);
}

static void test_call_of_a_worse_caller_runs_at_the_nodes_least(void)
{
	served_at(15, 19, LEAST);
}

static void test_call_also_lowers(void)
{
	served_at(-10, 5, 5);
}

static void oneway_at(int server_nice, int want)
{
	struct binder_transaction_data tr;

	start(server_nice, -20);
	put_call(client, 0, TF_ONE_WAY, "note");
	submit(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	fetch(server);
	take_text(server, BR_TRANSACTION, "note", &tr);
	EXPECT_EQ(server->nice, want);
	free_buffer(server, &tr);
}

static void test_oneway_is_raised_to_the_nodes_least(void)
{
	oneway_at(15, LEAST);
}

static void test_oneway_is_never_lowered_nor_the_senders(void)
{
	oneway_at(3, 3);
}

/* Client calls server, which calls back, and each gets its own value again. */
static void test_nested_calls_give_back_in_order(void)
{
	struct binder_transaction_data tr, back;
	struct sim_proc *owner_proc;
	struct sim_thread *owner;
	u32 handle;

	start(15, -5);
	owner_proc = open_proc(300);
	owner = looper_of(owner_proc, 301);
	handle = give(owner, server, 0x1000);
	server->nice = 15;
	owner->nice = 12;
	call_taken(client, 0, server, "outer", &tr);
	EXPECT_EQ(server->nice, -5);
	put_call(server, handle, 0, "inner");
	submit_waits(server);
	fetch(owner);
	take_text(owner, BR_TRANSACTION, "inner", &back);
	EXPECT_EQ(owner->nice, -5);
	answer(owner, &back, server, "inner done");
	EXPECT_EQ(owner->nice, 12);
	EXPECT_EQ(server->nice, -5);
	answer(server, &tr, client, "outer done");
	EXPECT_EQ(server->nice, 15);
}

static void test_forbidden_call_fails_and_is_told_why(void)
{
	start(0, 0);
	client_proc->forbidden = -EACCES;
	put_call(client, 0, 0, "x");
	submit(client);
	take(client, BR_FAILED_REPLY, NULL);
	take_end(client);
	EXPECT_ERROR(client, BR_FAILED_REPLY, -EPERM);
	EXPECT(logged());
	fetch_nothing(server);
	client_proc->forbidden = 0;
}

static void test_forbidden_manager_is_refused(void)
{
	struct sim_proc *proc = open_proc(100);
	struct sim_thread *thread = looper_of(proc, 101);

	proc->forbidden = -EACCES;
	EXPECT_EQ(become_manager(thread), -EACCES);
	EXPECT(logged());
	proc->forbidden = 0;
	EXPECT_EQ(become_manager(thread), 0);
}

/* Between the call's own check and the object's: only the transfer is forbidden. */
static void forbid(void *arg)
{
	client_proc->forbidden = -EACCES;
}

static void test_forbidden_transfer_takes_the_call_with_it(void)
{
	struct parcel parcel = {};

	start(0, 0);
	PARCEL_BINDER(&parcel, 0x1000);
	put_parcel(client, 0, 0, &parcel);
	sim_at(SIM_COPY_PAYLOAD, 1, forbid, NULL);
	submit(client);
	EXPECT(!sim_at_pending());
	client_proc->forbidden = 0;
	take(client, BR_FAILED_REPLY, NULL);
	take_end(client);
	EXPECT_ERROR(client, BR_FAILED_REPLY, -EPERM);
	EXPECT(logged());
}

/* Those who watch for failures are told what the log is told. */
static void test_failure_is_reported_with_code_flags_and_names(void)
{
	const struct binder_log_entry *entry;

	start(0, 0);
	put_call(client, 4711, TF_ACCEPT_FDS, "x");
	submit(client);
	take(client, BR_FAILED_REPLY, NULL);
	EXPECT(logged());
	entry = sim_reported();
	EXPECT(entry->return_error == BR_FAILED_REPLY && entry->error == -EINVAL);
	EXPECT(entry->kind == BINDER_LOG_CALL && entry->handle == 4711);
	EXPECT(entry->code == 42 && entry->flags == TF_ACCEPT_FDS && entry->data_size == 4);
	EXPECT(entry->from_pid == 200 && entry->from_tid == 201 && !entry->to_pid);
}

static const struct core_case cases[] = {
	CASE(test_call_runs_at_its_callers_nice),
	CASE(test_call_of_a_worse_caller_runs_at_the_nodes_least),
	CASE(test_call_also_lowers),
	CASE(test_oneway_is_raised_to_the_nodes_least),
	CASE(test_oneway_is_never_lowered_nor_the_senders),
	CASE(test_nested_calls_give_back_in_order),
	CASE(test_forbidden_call_fails_and_is_told_why),
	CASE(test_forbidden_manager_is_refused),
	CASE(test_failure_is_reported_with_code_flags_and_names),
	CASE_PLAIN(test_forbidden_transfer_takes_the_call_with_it),
};

GROUP(rights);
