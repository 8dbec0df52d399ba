// SPDX-License-Identifier: GPL-2.0-only
/* BINDER_GET_NODE_INFO_FOR_REF and BINDER_GET_NODE_DEBUG_INFO. */
#include "core_test.h"

#define PTR 0x10

static struct sim_proc *manager_proc, *owner_proc, *client_proc;
static struct sim_thread *manager, *owner, *client;
static u32 service; /* the manager's handle for the owner's PTR, when start_service() was used */

static void start(void)
{
	manager_proc = open_proc(100);
	owner_proc = open_proc(200);
	client_proc = open_proc(300);
	manager = manager_of(manager_proc, 101);
	owner = thread_of(owner_proc, 201);
	client = thread_of(client_proc, 301);
}

static void start_service(void)
{
	start();
	service = give(owner, manager, PTR);
}

/* A refusal changes nothing. */
static int ask_with(struct sim_thread *thread, struct binder_node_info_for_ref *info)
{
	struct binder_node_info_for_ref was = *info;
	int ret = sim_ioctl(thread, BINDER_GET_NODE_INFO_FOR_REF, info);

	EXPECT(!ret || !memcmp(info, &was, sizeof(was)));
	EXPECT_EQ(logged(), ret != 0);
	return ret;
}

static int ask(struct sim_thread *thread, u32 handle)
{
	struct binder_node_info_for_ref info = { .handle = handle };

	return ask_with(thread, &info);
}

#define EXPECT_COUNTS(handle_, strong, weak) do {				\
	struct binder_node_info_for_ref info_ = { .handle = handle_ };		\
	EXPECT_EQ(ask_with(manager, &info_), 0);				\
	EXPECT_EQ(info_.handle, handle_);					\
	EXPECT_EQ(info_.strong_count, strong);					\
	EXPECT_EQ(info_.weak_count, weak);					\
	EXPECT(!info_.reserved1 && !info_.reserved2 && !info_.reserved3);	\
} while (0)

/* ---- what is counted ------------------------------------------------------------- */

static void test_info_counts_processes_not_counts(void)
{
	struct sim_thread *other;
	u32 handle, again;

	start_service();
	EXPECT_COUNTS(service, 1, 0);
	command(manager, BC_ACQUIRE, service);
	EXPECT_COUNTS(service, 1, 0);
	handle = pass(manager, service, client);
	EXPECT_COUNTS(service, 2, 0);
	command(client, BC_ACQUIRE, handle);
	command(client, BC_INCREFS, handle);
	EXPECT_COUNTS(service, 2, 0);
	other = thread_of(open_proc(400), 401);
	again = pass(manager, service, other);
	EXPECT_COUNTS(service, 3, 0);
	command(client, BC_RELEASE, handle);
	EXPECT_COUNTS(service, 3, 0);
	command(client, BC_RELEASE, handle);
	EXPECT_COUNTS(service, 2, 0);
	command(other, BC_RELEASE, again);
	EXPECT_COUNTS(service, 1, 0);
	/* the client's weak count is no strong one, and none of the owner's */
	command(client, BC_DECREFS, handle);
	EXPECT_COUNTS(service, 1, 0);
}

static void test_info_forgets_who_died(void)
{
	start_service();
	pass(manager, service, client);
	EXPECT_COUNTS(service, 2, 0);
	sim_kill(client_proc);
	sim_run();
	EXPECT_COUNTS(service, 1, 0);
}

static void test_info_counts_what_is_on_its_way(void)
{
	struct binder_transaction_data call, reply;
	struct parcel parcel = {};

	start_service();
	call_taken(client, 0, manager, "pass it", &call);
	free_buffer(manager, &call);
	PARCEL_HANDLE(&parcel, service);
	put_reply_parcel(manager, 0, &parcel);
	submit(manager);
	take(manager, BR_TRANSACTION_COMPLETE, NULL);
	EXPECT_COUNTS(service, 2, 0);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, &reply);
	EXPECT_COUNTS(service, 2, 0);
	free_buffer(client, &reply);
	EXPECT_COUNTS(service, 1, 0);
}

static void test_info_forgets_what_was_never_read(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};
	u32 target;

	start_service();
	/* a way from the manager to the client */
	PARCEL_BINDER(&parcel, PTR);
	put_parcel(client, 0, TF_ONE_WAY, &parcel);
	submit(client);
	fetch(manager);
	take(manager, BR_TRANSACTION, &tr);
	target = object_of(&tr, 0)->handle;
	parcel = (struct parcel){};
	PARCEL_HANDLE(&parcel, service);
	put_parcel(manager, target, TF_ONE_WAY, &parcel);
	submit(manager);
	take(manager, BR_TRANSACTION_COMPLETE, NULL);
	EXPECT_COUNTS(service, 2, 0);
	sim_kill(client_proc);
	sim_run();
	EXPECT_COUNTS(service, 1, 0);
}

static void test_info_counts_calls_until_they_are_freed(void)
{
	struct binder_transaction_data tr;
	u32 handle;

	start_service();
	handle = pass(manager, service, client);
	call_taken(client, handle, owner, "x", &tr);
	EXPECT_COUNTS(service, 3, 0);
	put_reply(owner, 0, "y");
	submit(owner);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	EXPECT_COUNTS(service, 3, 0);
	free_buffer(owner, &tr);
	EXPECT_COUNTS(service, 2, 0);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_text(client, BR_REPLY, "y", NULL);
	put_call(client, handle, TF_ONE_WAY, "z");
	submit(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	EXPECT_COUNTS(service, 3, 0);
	fetch(owner);
	take_text(owner, BR_TRANSACTION, "z", &tr);
	free_buffer(owner, &tr);
	EXPECT_COUNTS(service, 2, 0);
}

static void object_comes_home(u32 type, u32 strong, u32 weak)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start_service();
	parcel_object(&parcel, type, service, 0);
	put_parcel(manager, service, TF_ONE_WAY, &parcel);
	submit(manager);
	take(manager, BR_TRANSACTION_COMPLETE, NULL);
	EXPECT_COUNTS(service, 2 + strong, weak);
	fetch(owner);
	take(owner, BR_TRANSACTION, &tr);
	EXPECT_COUNTS(service, 2 + strong, weak);
	free_buffer(owner, &tr);
	EXPECT_COUNTS(service, 1, 0);
}

static void test_info_counts_an_object_come_home(void)
{
	object_comes_home(BINDER_TYPE_HANDLE, 1, 0);
}

static void test_info_counts_a_weak_object_come_home(void)
{
	object_comes_home(BINDER_TYPE_WEAK_HANDLE, 0, 1);
}

static void test_info_counts_unanswered_notices(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	PARCEL_BINDER(&parcel, PTR);
	put_parcel(owner, 0, TF_ONE_WAY, &parcel);
	send(owner);
	fetch(manager);
	take(manager, BR_TRANSACTION, &tr);
	service = object_of(&tr, 0)->handle;
	EXPECT_COUNTS(service, 1, 0);
	fetch(owner);
	EXPECT_COUNTS(service, 2, 1);
	put_node(owner, BC_INCREFS_DONE, PTR);
	send(owner);
	EXPECT_COUNTS(service, 2, 0);
	put_node(owner, BC_ACQUIRE_DONE, PTR);
	send(owner);
	EXPECT_COUNTS(service, 1, 0);
	free_buffer(manager, &tr);
	EXPECT_EQ(ask(manager, service), -EINVAL);
}

static void test_info_of_the_dead_counts_their_holders(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};
	u32 handle;

	start_service();
	handle = pass(manager, service, client);
	/* One is delivered, the other waits for it; both come home with an object. */
	PARCEL_HANDLE(&parcel, handle);
	put_parcel(client, handle, TF_ONE_WAY, &parcel);
	put_parcel(client, handle, TF_ONE_WAY, &parcel);
	submit(client);
	fetch(owner);
	take(owner, BR_TRANSACTION, &tr);
	EXPECT_COUNTS(service, 6, 0);
	sim_kill(owner_proc);
	sim_run();
	EXPECT_COUNTS(service, 2, 0);
	command(client, BC_RELEASE, handle);
	EXPECT_COUNTS(service, 1, 0);
	command(manager, BC_RELEASE, service);
	EXPECT_EQ(ask(manager, service), -EINVAL);
}

/* ---- who may ask, and how ---------------------------------------------------------- */

static void test_info_is_for_the_manager(void)
{
	struct binder_context *other = sim_context("other");
	struct sim_thread *there;
	u32 handle;

	EXPECT(other);
	start_service();
	handle = pass(manager, service, client);
	EXPECT_EQ(ask(client, handle), -EPERM);
	EXPECT_EQ(ask(client, 99), -EPERM);
	EXPECT_EQ(ask(owner, handle), -EPERM);
	/* another open of the same process is none */
	EXPECT_EQ(ask(thread_of(open_proc(100), 102), handle), -EPERM);
	there = manager_of(open_on(other, 300, UID), 301);
	EXPECT_EQ(ask(there, 1), -EINVAL);
	EXPECT_EQ(ask(client, handle), -EPERM);

	sim_kill(manager_proc);
	EXPECT_EQ(ask(client, handle), -EPERM);
	EXPECT_EQ(sim_ioctl(client, BINDER_SET_CONTEXT_MGR, &(s32){ 0 }), 0);
	EXPECT_EQ(ask(client, handle), 0);
}

static void test_info_wants_a_strong_hold(void)
{
	start_service();
	EXPECT_EQ(ask(manager, 0), -EINVAL);
	EXPECT_EQ(ask(manager, service + 1), -EINVAL);
	EXPECT_EQ(ask(manager, 0xffffffff), -EINVAL);
	command(manager, BC_INCREFS, service);
	EXPECT_EQ(ask(manager, service), 0);
	command(manager, BC_RELEASE, service);
	EXPECT_EQ(ask(manager, service), -EINVAL);
}

static void test_info_wants_nothing_but_the_handle(void)
{
	start_service();
	for (int field = 1; field < 6; field++) {
		struct binder_node_info_for_ref info = { .handle = service };

		((u32 *)&info)[field] = 1u << (field * 5);
		EXPECT_EQ(ask_with(manager, &info), -EINVAL);
		EXPECT_EQ(ask_with(client, &info), -EINVAL);
	}
	EXPECT_COUNTS(service, 1, 0);
}

/* ---- one's own nodes ------------------------------------------------------------------ */

#define EXPECT_NODE(thread, from, ptr_, cookie_, strong, weak) do {		\
	struct binder_node_debug_info node_ = { from, ~0ull, 5, 6 };		\
	EXPECT_EQ(sim_ioctl(thread, BINDER_GET_NODE_DEBUG_INFO, &node_), 0);	\
	EXPECT_EQ(node_.ptr, ptr_);						\
	EXPECT_EQ(node_.cookie, cookie_);					\
	EXPECT_EQ(node_.has_strong_ref, strong);				\
	EXPECT_EQ(node_.has_weak_ref, weak);					\
} while (0)
#define EXPECT_NO_NODE(thread, from) EXPECT_NODE(thread, from, 0, 0, 0, 0)

static void test_debug_goes_by_ptr(void)
{
	static const u64 ptrs[] = { 0x30, 0x10, ~0ull, 0x20, 1ull << 63, 0x18 };
	static const u64 ordered[] = { 0x10, 0x18, 0x20, 0x30, 1ull << 63, ~0ull };

	start();
	EXPECT_NO_NODE(owner, 0);
	for (size_t i = 0; i < ARRAY_SIZE(ptrs); i++)
		give(owner, manager, ptrs[i]);
	give(client, manager, 0x28);
	for (size_t i = 0; i < ARRAY_SIZE(ordered); i++) {
		u64 before = i ? ordered[i - 1] : 0;

		EXPECT_NODE(owner, before, ordered[i], COOKIE(ordered[i]), 1, 1);
		EXPECT_NODE(owner, ordered[i] - 1, ordered[i], COOKIE(ordered[i]), 1, 1);
	}
	EXPECT_NO_NODE(owner, ~0ull);
	EXPECT_NODE(client, 0, 0x28, COOKIE(0x28), 1, 1);
	EXPECT_NO_NODE(client, 0x28);
	/* the manager's has no ptr */
	EXPECT_NO_NODE(manager, 0);
	EXPECT(!logged());
}

static void test_debug_shows_what_the_owner_was_told(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	PARCEL_BINDER(&parcel, PTR);
	put_parcel(owner, 0, TF_ONE_WAY, &parcel);
	send(owner);
	EXPECT_NODE(owner, 0, PTR, COOKIE(PTR), 0, 0);
	fetch(owner);
	EXPECT_NODE(owner, 0, PTR, COOKIE(PTR), 1, 1);
	put_node(owner, BC_INCREFS_DONE, PTR);
	put_node(owner, BC_ACQUIRE_DONE, PTR);
	send(owner);
	fetch(manager);
	take(manager, BR_TRANSACTION, &tr);
	command(manager, BC_INCREFS, object_of(&tr, 0)->handle);
	free_buffer(manager, &tr);
	EXPECT_NODE(owner, 0, PTR, COOKIE(PTR), 1, 1);
	fetch(owner);
	EXPECT_NODE(owner, 0, PTR, COOKIE(PTR), 0, 1);
	command(manager, BC_DECREFS, 1);
	EXPECT_NODE(owner, 0, PTR, COOKIE(PTR), 0, 1);
	fetch(owner);
	EXPECT_NO_NODE(owner, 0);
}

static const struct core_case cases[] = {
	CASE(test_info_counts_processes_not_counts),
	CASE(test_info_forgets_who_died),
	CASE(test_info_counts_what_is_on_its_way),
	CASE(test_info_forgets_what_was_never_read),
	CASE(test_info_counts_calls_until_they_are_freed),
	CASE(test_info_counts_an_object_come_home),
	CASE(test_info_counts_a_weak_object_come_home),
	CASE(test_info_counts_unanswered_notices),
	CASE(test_info_of_the_dead_counts_their_holders),
	CASE(test_info_is_for_the_manager),
	CASE(test_info_wants_a_strong_hold),
	CASE(test_info_wants_nothing_but_the_handle),
	CASE(test_debug_goes_by_ptr),
	CASE(test_debug_shows_what_the_owner_was_told),
};

GROUP(nodeinfo);
