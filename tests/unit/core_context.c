// SPDX-License-Identifier: GPL-2.0-only
/* Contexts and their managers. */
#include "core_test.h"

#include "core/context.h"

static struct sim_proc *server_proc, *client_proc;
static struct sim_thread *server, *client;

static void start(void)
{
	server_proc = open_proc(100);
	client_proc = open_proc(200);
	server = manager_of(server_proc, 101);
	client = thread_of(client_proc, 201);
}

static int become_manager(struct sim_thread *thread)
{
	return sim_ioctl(thread, BINDER_SET_CONTEXT_MGR, &(s32){ 0 });
}

static int become_manager_as(struct sim_thread *thread, u64 ptr, u64 cookie, u32 flags)
{
	struct flat_binder_object node = { .flags = flags, .binder = ptr, .cookie = cookie };

	return sim_ioctl(thread, BINDER_SET_CONTEXT_MGR_EXT, &node);
}

static void test_manager_second_is_refused(void)
{
	start();
	EXPECT_EQ(become_manager(client), -EBUSY);
	EXPECT(logged());
	EXPECT_EQ(become_manager(server), -EBUSY);
	EXPECT_EQ(become_manager_as(client, 0x10, 0x20, 0), -EBUSY);
}

static void test_manager_uid_is_remembered(void)
{
	struct sim_thread *other;

	start();
	other = thread_of(open_on(device, 300, UID + 1), 301);
	sim_kill(server_proc);
	EXPECT_EQ(become_manager(other), -EPERM);
	EXPECT(logged());
	EXPECT_EQ(become_manager(client), 0);
	sim_kill(client_proc);
	EXPECT_EQ(become_manager(other), -EPERM);
}

static void test_manager_is_never_told_of_references(void)
{
	struct binder_transaction_data tr;

	start();
	put_u32(client, BC_INCREFS, 0);
	put_u32(client, BC_ACQUIRE, 0);
	send(client);
	EXPECT(!logged());
	fetch_nothing(server);
	call_taken(client, 0, server, "x", &tr);
	answer(server, &tr, client, "y");
	put_u32(client, BC_RELEASE, 0);
	put_u32(client, BC_DECREFS, 0);
	send(client);
	EXPECT(!logged());
	fetch_nothing(server);
	/* The reference is gone. */
	command(client, BC_RELEASE, 0);
	EXPECT(logged());
}

static void test_manager_missing_means_dead(void)
{
	client = thread_of(open_proc(200), 201);
	put_call(client, 0, 0, "anybody?");
	submit(client);
	take(client, BR_DEAD_REPLY, NULL);
	take_end(client);
	EXPECT_ERROR(client, BR_DEAD_REPLY, -EINVAL);
	EXPECT_ERROR(client, BR_OK, 0);
	put_call(client, 0, TF_ONE_WAY, "anybody?");
	submit(client);
	take(client, BR_DEAD_REPLY, NULL);
	command(client, BC_ACQUIRE, 0);
	EXPECT(logged());
}

static void test_manager_may_not_call_itself(void)
{
	start();
	put_call(server, 0, 0, "me");
	submit(server);
	take(server, BR_FAILED_REPLY, NULL);
	EXPECT_ERROR(server, BR_FAILED_REPLY, -EINVAL);
	put_call(server, 0, TF_ONE_WAY, "me");
	submit(server);
	take(server, BR_FAILED_REPLY, NULL);
	fetch_nothing(server);
}

static void test_manager_may_not_refer_to_itself(void)
{
	start();
	put_u32(server, BC_ENTER_LOOPER, 0);
	put_u32(server, BC_ACQUIRE, 0);
	EXPECT_EQ(sim_write(server), -EINVAL);
	put_u32(server, BC_INCREFS, 0);
	EXPECT_EQ(sim_write(server), -EINVAL);
	EXPECT_EQ(server->bwr.write_consumed, 0);
	/* Giving back what there is not is no crime. */
	command(server, BC_RELEASE, 0);
	command(server, BC_DECREFS, 0);
	EXPECT(logged());
}

static void test_manager_ext_names_its_node(void)
{
	struct binder_transaction_data tr;

	server_proc = open_proc(100);
	server = looper_of(server_proc, 101);
	client = thread_of(open_proc(200), 201);
	EXPECT_EQ(become_manager_as(server, 0x10, COOKIE(0x10), FLAT_BINDER_FLAG_ACCEPTS_FDS), 0);
	call_taken(client, 0, server, "x", &tr);
	EXPECT(tr.target.ptr == 0x10 && tr.cookie == COOKIE(0x10));
	answer(server, &tr, client, "y");
	fetch_nothing(server);
}

static void test_manager_of_a_node_others_know(void)
{
	struct binder_transaction_data tr;
	u32 handle;

	start();
	client = looper_of(client_proc, 201);
	handle = give(client, server, 0x10);
	EXPECT(handle != 0);
	EXPECT(sim_thread(server_proc, 101) == server);
	sim_kill(server_proc);
	/* Nobody holds it any more, and it is told so at the next read. */
	EXPECT_EQ(become_manager_as(client, 0x10, 0x99, 0), -EINVAL);
	EXPECT_EQ(become_manager_as(client, 0x10, COOKIE(0x10), 0), 0);
	fetch_nothing(client);
	server = thread_of(open_proc(300), 301);
	call_taken(server, 0, client, "x", &tr);
	EXPECT(tr.target.ptr == 0x10 && tr.cookie == COOKIE(0x10));
	answer(client, &tr, server, "y");
	command(server, BC_ACQUIRE, 0);
	command(server, BC_RELEASE, 0);
	EXPECT(!logged());
}

static void test_manager_that_wants_a_security_context(void)
{
	server = looper_of(open_proc(100), 101);
	client = thread_of(open_proc(200), 201);
	EXPECT_EQ(become_manager_as(server, 0, 0, FLAT_BINDER_FLAG_TXN_SECURITY_CTX), 0);
	put_call(client, 0, 0, "x");
	submit(client);
	take(client, BR_FAILED_REPLY, NULL);
	EXPECT_ERROR(client, BR_FAILED_REPLY, -EOPNOTSUPP);
	fetch_nothing(server);
}

static void test_manager_restarted_is_found(void)
{
	struct binder_transaction_data tr;
	struct sim_thread *second;

	start();
	command(client, BC_ACQUIRE, 0);
	sim_kill(server_proc);
	put_call(client, 0, 0, "x");
	submit(client);
	take(client, BR_DEAD_REPLY, NULL);
	second = manager_of(open_proc(300), 301);
	call_taken(client, 0, second, "x", &tr);
	answer(second, &tr, client, "y");
	/* Handle 0 is a reference to the dead one; giving it back is fine. */
	logged();
	command(client, BC_RELEASE, 0);
	EXPECT(!logged());
	command(client, BC_ACQUIRE, 0);
	command(client, BC_RELEASE, 0);
	EXPECT(!logged());
}

static void test_contexts_are_separate(void)
{
	struct binder_context *other = sim_context("other");
	struct binder_transaction_data tr;
	struct sim_proc *proc;
	struct sim_thread *there, *also;

	EXPECT(other);
	start();
	proc = open_on(other, 100, UID + 7);
	EXPECT_EQ(sim_mmap(proc, MAP_SIZE), 0);
	there = looper_of(proc, 101);
	/* The same process has opened both. */
	also = thread_of(open_on(other, 200, UID), 201);
	put_call(also, 0, 0, "x");
	submit(also);
	take(also, BR_DEAD_REPLY, NULL);
	EXPECT_EQ(become_manager(there), 0);
	call_taken(also, 0, there, "x", &tr);
	fetch_nothing(server);
	call_taken(client, 0, server, "x", &tr);
	answer(server, &tr, client, "y");
}

static void test_manager_leaves_calls_behind(void)
{
	start();
	put_call(client, 0, 0, "x");
	submit_waits(client);
	sim_close(server_proc);
	EXPECT_EQ(sim_run(), 1);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_DEAD_REPLY, NULL);
	take_end(client);
}

static const struct core_case cases[] = {
	CASE(test_manager_second_is_refused),
	CASE(test_manager_uid_is_remembered),
	CASE(test_manager_is_never_told_of_references),
	CASE(test_manager_missing_means_dead),
	CASE(test_manager_may_not_call_itself),
	CASE(test_manager_may_not_refer_to_itself),
	CASE(test_manager_ext_names_its_node),
	CASE(test_manager_of_a_node_others_know),
	CASE(test_manager_that_wants_a_security_context),
	CASE(test_manager_restarted_is_found),
	CASE(test_contexts_are_separate),
	CASE(test_manager_leaves_calls_behind),
};

GROUP(context);
