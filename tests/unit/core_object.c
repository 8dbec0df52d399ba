// SPDX-License-Identifier: GPL-2.0-only
/* Objects in payloads: what becomes of them, and undoing it half way. */
#include "core_test.h"

#include "core/alloc.h"
#include "core/proc.h"

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

static void expect_object(const struct binder_transaction_data *tr, u32 i, u32 type, u64 name,
			  u64 cookie)
{
	const struct flat_binder_object *object = object_of(tr, i);

	EXPECT_EQ(object->hdr.type, type);
	EXPECT_EQ(object->binder, name);
	EXPECT_EQ(object->cookie, cookie);
}

/* @from sends the parcel one-way to the manager, which gets it. */
static void deliver(struct sim_thread *from, const struct parcel *parcel,
		    struct binder_transaction_data *tr)
{
	put_parcel(from, 0, TF_ONE_WAY, parcel);
	submit(from);
	fetch(manager);
	take(manager, BR_TRANSACTION, tr);
}

static void test_object_owner_to_holder(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	PARCEL_BINDER(&parcel, 0x10);
	parcel_object(&parcel, BINDER_TYPE_WEAK_BINDER, 0x20, COOKIE(0x20));
	PARCEL_BINDER(&parcel, 0x10);
	deliver(owner, &parcel, &tr);
	EXPECT_EQ(tr.offsets_size, 3 * sizeof(binder_size_t));
	/* Nothing of what the sender calls them. */
	expect_object(&tr, 0, BINDER_TYPE_HANDLE, 1, 0);
	expect_object(&tr, 1, BINDER_TYPE_WEAK_HANDLE, 2, 0);
	expect_object(&tr, 2, BINDER_TYPE_HANDLE, 1, 0);
	free_buffer(manager, &tr);
	EXPECT(!rb_first(&manager_proc->proc->refs_by_handle));
}

static void test_object_holder_to_holder(void)
{
	struct binder_transaction_data call, tr;
	struct parcel parcel = {};
	u32 handle;

	start();
	give(owner, manager, 0x10);
	handle = give(owner, manager, 0x20);
	call_taken(client, 0, manager, "what have you?", &call);
	PARCEL_HANDLE(&parcel, handle);
	parcel_object(&parcel, BINDER_TYPE_WEAK_HANDLE, handle, 0);
	put_u64(manager, BC_FREE_BUFFER, call.data.ptr.buffer);
	put_reply_parcel(manager, 0, &parcel);
	submit(manager);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, &tr);
	expect_object(&tr, 0, BINDER_TYPE_HANDLE, 1, 0);
	expect_object(&tr, 1, BINDER_TYPE_WEAK_HANDLE, 1, 0);
	/* The owner need not hear of a second holder. */
	fetch_nothing(owner);
	free_buffer(client, &tr);
	EXPECT(!rb_first(&client_proc->proc->refs_by_handle));
	fetch_nothing(owner);
}

static void test_object_comes_home(void)
{
	struct binder_transaction_data call, tr;
	struct parcel parcel = {};
	u32 handle;

	start();
	handle = give(owner, manager, 0x10);
	call_taken(owner, 0, manager, "mine, please", &call);
	PARCEL_HANDLE(&parcel, handle);
	parcel_object(&parcel, BINDER_TYPE_WEAK_HANDLE, handle, 0);
	put_u64(manager, BC_FREE_BUFFER, call.data.ptr.buffer);
	put_reply_parcel(manager, 0, &parcel);
	submit(manager);
	sim_run();
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take(owner, BR_REPLY, &tr);
	expect_object(&tr, 0, BINDER_TYPE_BINDER, 0x10, COOKIE(0x10));
	expect_object(&tr, 1, BINDER_TYPE_WEAK_BINDER, 0x10, COOKIE(0x10));
	take_end(owner);
	/* The buffer holds it when nobody else does. */
	command(manager, BC_RELEASE, handle);
	fetch_nothing(owner);
	free_buffer(owner, &tr);
	fetch(owner);
	take_node(owner, BR_RELEASE, 0x10);
	take_node(owner, BR_DECREFS, 0x10);
	EXPECT(!logged());
}

static void test_object_weak_comes_home(void)
{
	struct binder_transaction_data tr, home;
	struct parcel parcel = {}, back = {};

	start();
	parcel_object(&parcel, BINDER_TYPE_WEAK_BINDER, 0x10, COOKIE(0x10));
	put_parcel(owner, 0, 0, &parcel);
	submit_waits(owner);
	fetch(manager);
	take(manager, BR_TRANSACTION, &tr);
	parcel_object(&back, BINDER_TYPE_WEAK_HANDLE, object_of(&tr, 0)->handle, 0);
	put_reply_parcel(manager, 0, &back);
	submit(manager);
	sim_run();
	take_node(owner, BR_INCREFS, 0x10);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take(owner, BR_REPLY, &home);
	expect_object(&home, 0, BINDER_TYPE_WEAK_BINDER, 0x10, COOKIE(0x10));
	put_node(owner, BC_INCREFS_DONE, 0x10);
	send(owner);
	free_buffer(manager, &tr);
	fetch_nothing(owner);
	free_buffer(owner, &home);
	fetch(owner);
	take_node(owner, BR_DECREFS, 0x10);
}

static void test_object_in_a_reply(void)
{
	struct binder_transaction_data call, tr;
	struct parcel parcel = {};
	u32 handle;

	start();
	call_taken(client, 0, manager, "give me one", &call);
	PARCEL_BINDER(&parcel, 0x10);
	put_u64(manager, BC_FREE_BUFFER, call.data.ptr.buffer);
	put_reply_parcel(manager, 0, &parcel);
	submit(manager);
	take_node(manager, BR_INCREFS, 0x10);
	take_node(manager, BR_ACQUIRE, 0x10);
	take(manager, BR_TRANSACTION_COMPLETE, NULL);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, &tr);
	handle = object_of(&tr, 0)->handle;
	EXPECT_EQ(handle, 1);
	/* It can be called from within the buffer's life. */
	call_taken(client, handle, manager, "x", &call);
	EXPECT(call.target.ptr == 0x10 && call.cookie == COOKIE(0x10));
	answer(manager, &call, client, "y");
	free_buffer(client, &tr);
}

/* The manager's own node, as handle 0 of whoever it is sent to. */
static void test_object_manager_is_handle_0_everywhere(void)
{
	struct binder_transaction_data call, tr;
	struct parcel parcel = {};

	start();
	call_taken(client, 0, manager, "x", &call);
	parcel_object(&parcel, BINDER_TYPE_BINDER, 0, 0);
	put_reply_parcel(manager, 0, &parcel);
	submit(manager);
	take(manager, BR_TRANSACTION_COMPLETE, NULL);
	take_end(manager);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, &tr);
	expect_object(&tr, 0, BINDER_TYPE_HANDLE, 0, 0);
	/* And back. */
	parcel = (struct parcel){};
	PARCEL_HANDLE(&parcel, 0);
	free_buffer(manager, &call);
	deliver(client, &parcel, &tr);
	expect_object(&tr, 0, BINDER_TYPE_BINDER, 0, 0);
	free_buffer(manager, &tr);
	fetch_nothing(manager);
}

/* Data around objects arrives; more objects than fit on the stack of the core. */
static void test_object_many_between_data(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	parcel_text(&parcel, "head");
	for (u64 i = 1; i <= 80; i++) {
		PARCEL_BINDER(&parcel, i * 0x10);
		if (i % 3)
			parcel_text(&parcel, "between");
	}
	put_parcel(owner, 0, TF_ONE_WAY, &parcel);
	send(owner);
	fetch(manager);
	take(manager, BR_TRANSACTION, &tr);
	EXPECT(!strcmp(text_of(&tr), "head"));
	EXPECT_EQ(tr.data_size, parcel.size);
	for (u32 i = 0; i < 80; i++) {
		const char *after = (const char *)(object_of(&tr, i) + 1);

		expect_object(&tr, i, BINDER_TYPE_HANDLE, i + 1, 0);
		EXPECT(!((i + 1) % 3) || !strcmp(after, "between"));
	}
	free_buffer(manager, &tr);
	EXPECT(!rb_first(&manager_proc->proc->refs_by_handle));
}

static void refused(struct sim_thread *thread, const struct parcel *parcel, u32 offsets_extra,
		    int error)
{
	struct binder_transaction_data tr = parcel_tr(thread->proc, parcel, 0, TF_ONE_WAY);

	tr.data_size -= offsets_extra;
	sim_put(thread, BC_TRANSACTION, &tr);
	submit(thread);
	take(thread, BR_FAILED_REPLY, NULL);
	take_end(thread);
	EXPECT_ERROR(thread, BR_FAILED_REPLY, error);
	fetch_nothing(manager);
	EXPECT_EQ(binder_alloc_buffer_count(manager_proc->proc->alloc), 0);
}

static void test_object_places_that_cannot_be(void)
{
	struct parcel two = {}, parcel;

	start();
	PARCEL_BINDER(&two, 0x10);
	PARCEL_BINDER(&two, 0x20);
	parcel = two;
	parcel.offsets[1] = 26;			/* not aligned */
	refused(owner, &parcel, 0, -EINVAL);
	parcel.offsets[1] = 20;			/* into the first */
	refused(owner, &parcel, 0, -EINVAL);
	parcel.offsets[1] = 0;			/* the first again */
	refused(owner, &parcel, 0, -EINVAL);
	parcel.offsets[0] = 24;			/* out of order */
	refused(owner, &parcel, 0, -EINVAL);
	parcel = two;
	parcel.offsets[1] = 48;			/* where the data ends */
	refused(owner, &parcel, 0, -EINVAL);
	parcel.offsets[1] = ~3ULL;
	refused(owner, &parcel, 0, -EINVAL);
	refused(owner, &two, 4, -EINVAL);	/* cut off */
	refused(owner, &two, 47, -EINVAL);
	refused(owner, &two, 48, -EINVAL);
	two.offsets[1] = 28;
	refused(owner, &two, 0, -EINVAL);
	/* A good object where none may stand. */
	parcel = (struct parcel){ .size = 2 };
	PARCEL_BINDER(&parcel, 0x10);
	refused(owner, &parcel, 0, -EINVAL);
	EXPECT(!rb_first(&owner_proc->proc->nodes));
}

static void test_object_types_that_are_refused(void)
{
	const struct binder_fd_object fd = { .hdr.type = BINDER_TYPE_FD, .fd = 1 };
	const struct binder_buffer_object ptr = { .hdr.type = BINDER_TYPE_PTR, .length = 8 };
	const struct binder_fd_array_object fda = { .hdr.type = BINDER_TYPE_FDA, .num_fds = 1 };
	const struct flat_binder_object unknown = { .hdr.type = 0x11111185 };
	struct parcel parcel = {};

	start();
	parcel_raw(&parcel, &fd, sizeof(fd));
	refused(owner, &parcel, 0, -EPERM);
	parcel = (struct parcel){};
	parcel_raw(&parcel, &ptr, sizeof(ptr));
	refused(owner, &parcel, 0, -EOPNOTSUPP);
	parcel = (struct parcel){};
	parcel_raw(&parcel, &fda, sizeof(fda));
	refused(owner, &parcel, 0, -EOPNOTSUPP);
	parcel = (struct parcel){};
	parcel_raw(&parcel, &unknown, sizeof(unknown));
	refused(owner, &parcel, 0, -EINVAL);
	EXPECT(logged());
}

static void test_object_names_that_are_wrong(void)
{
	struct parcel parcel = {};
	struct binder_transaction_data tr;

	start();
	PARCEL_HANDLE(&parcel, 99);
	refused(owner, &parcel, 0, -EINVAL);
	parcel = (struct parcel){};
	parcel_object(&parcel, BINDER_TYPE_WEAK_HANDLE, 99, 0);
	refused(owner, &parcel, 0, -EINVAL);
	/* No reference to the manager has been taken. */
	parcel = (struct parcel){};
	PARCEL_HANDLE(&parcel, 0);
	refused(owner, &parcel, 0, -EINVAL);
	/* Known by another cookie. */
	give(owner, manager, 0x10);
	parcel = (struct parcel){};
	parcel_object(&parcel, BINDER_TYPE_BINDER, 0x10, 1);
	refused(owner, &parcel, 0, -EINVAL);
	/* Strong for weak. */
	parcel = (struct parcel){};
	parcel_object(&parcel, BINDER_TYPE_WEAK_BINDER, 0x20, COOKIE(0x20));
	put_parcel(owner, 0, 0, &parcel);
	submit_waits(owner);
	fetch(manager);
	take(manager, BR_TRANSACTION, &tr);
	parcel = (struct parcel){};
	PARCEL_HANDLE(&parcel, object_of(&tr, 0)->handle);
	put_reply_parcel(manager, 0, &parcel);
	submit(manager);
	sim_run();
	take_node(owner, BR_INCREFS, 0x20);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take(owner, BR_FAILED_REPLY, NULL);
	EXPECT_ERROR(owner, BR_FAILED_REPLY, -EINVAL);
}

/* Objects of every kind, and in the k-th place one that is refused. */
static void fill_all_kinds(struct parcel *parcel, u32 k)
{
	static const u32 types[] = {
		BINDER_TYPE_BINDER, BINDER_TYPE_WEAK_BINDER, BINDER_TYPE_HANDLE,
		BINDER_TYPE_WEAK_HANDLE, BINDER_TYPE_HANDLE, BINDER_TYPE_BINDER,
	};
	/* Two new nodes; the owner's, twice; the manager's; one that is known. */
	static const u64 names[] = { 0x100, 0x200, 1, 1, 0, 0x20 };
	const struct binder_fd_object fd = { .hdr.type = BINDER_TYPE_FD, .fd = 1 };

	*parcel = (struct parcel){};
	for (u32 i = 0; i < ARRAY_SIZE(types); i++) {
		if (i == k)
			parcel_raw(parcel, &fd, sizeof(fd));
		parcel_object(parcel, types[i], names[i], COOKIE(names[i]));
	}
	if (k == ARRAY_SIZE(types))
		parcel_raw(parcel, &fd, sizeof(fd));
}

/*
 * What the objects before it had got is given back, nobody hears of it, and
 * what those after it would have got is left alone. To the manager, and to a
 * process that has the manager as its handle 0, where its own node comes home.
 */
static void test_object_failure_at_each_place_undoes_the_others(void)
{
	struct binder_transaction_data call;
	struct parcel parcel;
	u32 own;

	start();
	EXPECT_EQ(pass(manager, give(owner, manager, 0x10), client), 1);
	own = give(client, manager, 0x20);
	command(client, BC_ACQUIRE, 0);
	command(owner, BC_ACQUIRE, 0);
	command(owner, BC_INCREFS, 0);
	for (u32 k = 0; k <= 6; k++) {
		for (u32 to = 0; to <= 1; to++) {
			fill_all_kinds(&parcel, k);
			put_parcel(client, to, TF_ONE_WAY, &parcel);
			submit(client);
			take(client, BR_FAILED_REPLY, NULL);
			take_end(client);
			EXPECT_ERROR(client, BR_FAILED_REPLY, -EPERM);
			core_check();
			fetch_nothing(client);
			fetch_nothing(owner);
			fetch_nothing(manager);
		}
	}
	/* All is as before. */
	logged();
	command(owner, BC_RELEASE, 0);
	command(owner, BC_DECREFS, 0);
	EXPECT(!logged());
	call_taken(client, 1, owner, "x", &call);
	answer(owner, &call, client, "y");
	command(manager, BC_RELEASE, own);
	fetch(client);
	take_node(client, BR_RELEASE, 0x20);
	take_node(client, BR_DECREFS, 0x20);
	take_end(client);
}

static void test_object_buffer_of_the_dead_gives_all_back(void)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	PARCEL_BINDER(&parcel, 0x10);
	parcel_object(&parcel, BINDER_TYPE_WEAK_BINDER, 0x20, COOKIE(0x20));
	deliver(owner, &parcel, &tr);
	put_node(owner, BC_INCREFS_DONE, 0x10);
	put_node(owner, BC_ACQUIRE_DONE, 0x10);
	put_node(owner, BC_INCREFS_DONE, 0x20);
	send(owner);
	sim_kill(manager_proc);
	fetch(owner);
	take_node(owner, BR_RELEASE, 0x10);
	take_node(owner, BR_DECREFS, 0x10);
	take_node(owner, BR_DECREFS, 0x20);
	take_end(owner);
}

static const struct core_case cases[] = {
	CASE(test_object_owner_to_holder),
	CASE(test_object_holder_to_holder),
	CASE(test_object_comes_home),
	CASE(test_object_weak_comes_home),
	CASE(test_object_in_a_reply),
	CASE(test_object_manager_is_handle_0_everywhere),
	CASE(test_object_many_between_data),
	CASE(test_object_places_that_cannot_be),
	CASE(test_object_types_that_are_refused),
	CASE(test_object_names_that_are_wrong),
	CASE(test_object_failure_at_each_place_undoes_the_others),
	CASE(test_object_buffer_of_the_dead_gives_all_back),
};

GROUP(object);
