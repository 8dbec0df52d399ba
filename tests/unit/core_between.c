// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can happen in the middle of sending: while the core copies from user
 * memory or gets a page it holds no lock, and anybody may die.
 */
#include "core_test.h"

#include "core/alloc.h"
#include "core/pages.h"
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

static void kill_proc(void *proc)
{
	sim_kill(proc);
}

static void close_proc(void *proc)
{
	sim_close(proc);
}

static void unmap_proc(void *proc)
{
	sim_munmap(proc);
}

static void exit_thread(void *thread)
{
	sim_interrupt(thread);
	sim_ioctl(thread, BINDER_THREAD_EXIT, &(s32){ 0 });
}

/* The points of a send where no lock is held; the first one also reads commands. */
static const struct {
	enum sim_point point;
	unsigned int nth;
} points[] = {
	{ SIM_READ_USER, 1 },	/* commands */
	{ SIM_READ_USER, 2 },	/* offsets */
	{ SIM_COPY_PAYLOAD, 1 },
	{ SIM_WRITE_BUFFER, 1 },
	{ SIM_WRITE_BUFFER, 2 },
	{ SIM_WRITE_BUFFER, 3 },
	{ SIM_PAGE_ALLOC, 1 },
};

/* Two objects, one of them new, so that there is something to undo. */
static void fill(struct parcel *parcel)
{
	*parcel = (struct parcel){};
	PARCEL_BINDER(parcel, 0x10);
	parcel_text(parcel, "between");
	parcel_object(parcel, BINDER_TYPE_WEAK_BINDER, 0x20, COOKIE(0x20));
}

static void send_while(u32 flags, void (*fn)(void *arg))
{
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		struct parcel parcel;

		start();
		fill(&parcel);
		put_parcel(client, 0, flags, &parcel);
		sim_at(points[i].point, points[i].nth, fn, server_proc);
		submit(client);
		EXPECT(!sim_at_pending());
		take(client, BR_DEAD_REPLY, NULL);
		take_end(client);
		EXPECT(!rb_first(&client_proc->proc->nodes));
		core_check();
		close_all();
	}
}

static void test_between_call_target_is_killed(void)
{
	send_while(0, kill_proc);
}

static void test_between_call_target_closes(void)
{
	send_while(0, close_proc);
}

static void test_between_oneway_target_is_killed(void)
{
	send_while(TF_ONE_WAY, kill_proc);
}

/* Its memory goes, not the process: some sends still arrive. */
static void test_between_call_target_unmaps(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		struct parcel parcel;

		start();
		fill(&parcel);
		put_parcel(client, 0, TF_ONE_WAY, &parcel);
		sim_at(points[i].point, points[i].nth, unmap_proc, server_proc);
		submit(client);
		EXPECT(!sim_at_pending());
		core_check();
		close_all();
	}
}

/* @fn happens to the caller, with @arg, while the server replies. */
static void reply_while(void (*fn)(void *arg), bool thread_only)
{
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		struct binder_transaction_data tr;
		struct parcel parcel;

		start();
		call_taken(client, 0, server, "x", &tr);
		free_buffer(server, &tr);
		fill(&parcel);
		put_reply_parcel(server, 0, &parcel);
		sim_at(points[i].point, points[i].nth, fn,
		       thread_only ? (void *)client : (void *)client_proc);
		submit(server);
		EXPECT(!sim_at_pending());
		take(server, BR_TRANSACTION_COMPLETE, NULL);
		take_end(server);
		EXPECT_ERROR(server, BR_OK, 0);
		core_check();
		close_all();
	}
}

static void test_between_reply_caller_is_killed(void)
{
	reply_while(kill_proc, false);
}

static void test_between_reply_caller_thread_exits(void)
{
	reply_while(exit_thread, true);
}

/*
 * The server called back; while the caller sends that reply the server dies.
 * Still the completion of the reply comes first, then the end of the call.
 */
static void test_between_nested_reply_server_is_killed(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		struct binder_transaction_data ab, ba;
		struct parcel parcel;
		u32 handle;

		start();
		handle = give(client, server, 0x100);
		call_taken(client, 0, server, "x", &ab);
		free_buffer(server, &ab);
		binder_pages_shrink(1000);
		put_call(server, handle, 0, "back");
		submit_waits(server);
		EXPECT_EQ(sim_run(), 1);
		take(client, BR_TRANSACTION_COMPLETE, NULL);
		take_text(client, BR_TRANSACTION, "back", &ba);
		free_buffer(client, &ba);
		fill(&parcel);
		put_reply_parcel(client, 0, &parcel);
		sim_at(points[i].point, points[i].nth, kill_proc, server_proc);
		submit(client);
		EXPECT(!sim_at_pending());
		take(client, BR_TRANSACTION_COMPLETE, NULL);
		take(client, BR_DEAD_REPLY, NULL);
		take_end(client);
		fetch(client);
		take_node(client, BR_RELEASE, 0x100);
		take_node(client, BR_DECREFS, 0x100);
		take_end(client);
		core_check();
		close_all();
	}
}

/* Between the turn of a call into bytes and their way to user space. */
static void test_between_delivery_caller_is_killed(void)
{
	struct binder_transaction_data tr;

	start();
	put_call(client, 0, 0, "x");
	submit_waits(client);
	sim_at(SIM_WRITE_USER, 1, kill_proc, client_proc);
	fetch(server);
	take_text(server, BR_TRANSACTION, "x", &tr);
	EXPECT_EQ(tr.sender_pid, 200);
	put_reply(server, 0, "to nobody");
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
}

static void shrink(void *arg)
{
	(void)arg;
	binder_pages_shrink(1000);
}

static void test_between_idle_pages_go(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		struct binder_transaction_data tr;
		struct parcel parcel;

		start();
		/* Leaves idle pages behind. */
		call_taken(client, 0, server, "x", &tr);
		answer(server, &tr, client, "y");
		if (points[i].point == SIM_PAGE_ALLOC)
			binder_pages_shrink(1000);
		fill(&parcel);
		put_parcel(client, 0, TF_ONE_WAY, &parcel);
		sim_at(points[i].point, points[i].nth, shrink, NULL);
		submit(client);
		EXPECT(!sim_at_pending());
		fetch(server);
		take(server, BR_TRANSACTION, &tr);
		EXPECT(!strcmp((const char *)(object_of(&tr, 0) + 1), "between"));
		core_check();
		close_all();
	}
}

/* The payload changes while it is looked at: it is read once, then or before. */
static struct flat_binder_object *changing;

static void change_type(void *arg)
{
	changing->hdr.type = *(u32 *)arg;
}

static void test_between_object_changes_its_type(void)
{
	u32 type = BINDER_TYPE_PTR;
	struct binder_transaction_data tr;
	struct parcel parcel = {};

	start();
	PARCEL_BINDER(&parcel, 0x10);
	tr = parcel_tr(client_proc, &parcel, 0, TF_ONE_WAY);
	changing = (struct flat_binder_object *)(uintptr_t)tr.data.ptr.buffer;
	sim_put(client, BC_TRANSACTION, &tr);
	sim_at(SIM_COPY_PAYLOAD, 1, change_type, &type);
	submit(client);
	take(client, BR_FAILED_REPLY, NULL);
	type = BINDER_TYPE_HANDLE;
	changing->hdr.type = BINDER_TYPE_BINDER;
	sim_put(client, BC_TRANSACTION, &tr);
	sim_at(SIM_WRITE_BUFFER, 1, change_type, &type);
	submit(client);
	take_node(client, BR_INCREFS, 0x10);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	EXPECT_EQ(object_of(&tr, 0)->hdr.type, BINDER_TYPE_HANDLE);
	EXPECT_EQ(object_of(&tr, 0)->handle, 1);
}

/* Two writes of one buffer: the second finds another command in the place. */
static u32 *changing_word;

static void change_word(void *arg)
{
	*changing_word = *(u32 *)arg;
}

static void test_between_command_changes(void)
{
	struct binder_write_read bwr = {};
	u32 other = BC_INCREFS_DONE;
	u8 *commands;
	size_t pos = 0;

	start();
	commands = sim_user_alloc(client_proc, 1024);
	/* The window of the core ends within a command, which is fetched again. */
	while (pos + 4 <= 508) {
		memcpy(commands + pos, &(u32){ BC_ENTER_LOOPER }, 4);
		pos += 4;
	}
	memcpy(commands + pos, &(u32){ BC_RELEASE }, 4);
	changing_word = (u32 *)(void *)(commands + pos);
	bwr.write_buffer = (uintptr_t)commands;
	bwr.write_size = pos + 8;
	sim_at(SIM_READ_USER, 2, change_word, &other);
	EXPECT_EQ(sim_write_read(client, &bwr, true), -EINVAL);
	EXPECT(!sim_at_pending());
	EXPECT_EQ(client->bwr.write_consumed, pos);
}

/* ---- while memory is got ------------------------------------------------------- */

/* It has fewer allocations than that: let it be. */
static bool not_met(void)
{
	bool pending = sim_at_pending();

	sim_at(SIM_ALLOC, 0, NULL, NULL);
	return pending;
}

static struct sim_thread *second;

/* The second thread of the client's process sends what the first is sending. */
static void send_the_same(void *arg)
{
	struct parcel parcel;

	(void)arg;
	fill(&parcel);
	put_parcel(second, 0, TF_ONE_WAY, &parcel);
	submit(second);
}

static void test_between_two_threads_make_the_same_node(void)
{
	/* However many allocations a send has: some are for nodes and references. */
	for (unsigned int nth = 1; nth <= 12; nth++) {
		struct binder_transaction_data tr;
		struct parcel parcel;

		start();
		second = thread_of(client_proc, 202);
		fill(&parcel);
		put_parcel(client, 0, TF_ONE_WAY, &parcel);
		sim_at(SIM_ALLOC, nth, send_the_same, NULL);
		submit(client);
		if (not_met())
			send_the_same(NULL);
		for (int i = 0; i < 2; i++) {
			fetch(server);
			take(server, BR_TRANSACTION, &tr);
			EXPECT_EQ(object_of(&tr, 0)->handle, 1);
			EXPECT_EQ(object_of(&tr, 1)->handle, 2);
			free_buffer(server, &tr);
		}
		core_check();
		close_all();
	}
}

static struct sim_thread *third;

static void send_another(void *arg)
{
	struct parcel parcel = {};

	(void)arg;
	PARCEL_BINDER(&parcel, 0x70);
	put_parcel(third, 0, TF_ONE_WAY, &parcel);
	submit(third);
}

/* Two processes send the server a node each: which handle they get is settled late. */
static void test_between_two_senders_give_handles(void)
{
	for (unsigned int nth = 1; nth <= 8; nth++) {
		struct binder_transaction_data tr;
		struct parcel parcel = {};
		u32 sum = 0;

		start();
		third = thread_of(open_proc(300), 301);
		PARCEL_BINDER(&parcel, 0x10);
		put_parcel(client, 0, TF_ONE_WAY, &parcel);
		sim_at(SIM_ALLOC, nth, send_another, NULL);
		submit(client);
		if (not_met())
			send_another(NULL);
		for (int i = 0; i < 2; i++) {
			fetch(server);
			take(server, BR_TRANSACTION, &tr);
			sum += object_of(&tr, 0)->handle;
			core_check();
			free_buffer(server, &tr);
		}
		EXPECT_EQ(sum, 1 + 2);
		core_check();
		close_all();
	}
}

static int second_manager;

static void become_manager(void *arg)
{
	second_manager = sim_ioctl(arg, BINDER_SET_CONTEXT_MGR, &(s32){ 0 });
}

static void test_between_two_become_manager(void)
{
	struct sim_thread *a = thread_of(open_proc(100), 101), *b = thread_of(open_proc(200), 201);

	sim_at(SIM_ALLOC, 1, become_manager, b);
	EXPECT_EQ(sim_ioctl(a, BINDER_SET_CONTEXT_MGR, &(s32){ 0 }), -EBUSY);
	EXPECT(!sim_at_pending());
	EXPECT_EQ(second_manager, 0);
}

static void release_handle(void *arg)
{
	command(second, BC_RELEASE, *(u32 *)arg);
}

static void test_between_death_request_reference_goes(void)
{
	struct sim_thread *owner;
	u32 handle;

	start();
	owner = thread_of(open_proc(300), 301);
	second = thread_of(client_proc, 202);
	handle = pass(server, give(owner, server, 0x10), client);
	put_death(client, BC_REQUEST_DEATH_NOTIFICATION, handle, 1);
	logged();
	sim_at(SIM_ALLOC, 1, release_handle, &handle);
	send(client);
	EXPECT(!sim_at_pending());
	EXPECT(logged());
	sim_kill(owner->proc);
	fetch_nothing(client);
}

/*
 * The sender's handle is given back while the call or object that needs it is
 * made: it stays what it was, and the owner hears of the end only afterwards.
 */
static void handle_goes_while(bool weak, bool home)
{
	for (unsigned int nth = 1; nth <= 8; nth++) {
		struct sim_thread *owner, *receiver;
		struct binder_transaction_data tr;
		struct parcel parcel = {};
		u32 handle;

		start();
		owner = looper_of(open_proc(300), 301);
		second = thread_of(client_proc, 202);
		handle = pass(server, give(owner, server, 0x10), client);
		command(server, BC_RELEASE, 1);
		parcel_object(&parcel, weak ? BINDER_TYPE_WEAK_HANDLE : BINDER_TYPE_HANDLE, handle,
			      0);
		receiver = home ? owner : server;
		put_parcel(client, home ? handle : 0, TF_ONE_WAY, &parcel);
		sim_at(SIM_ALLOC, nth, release_handle, &handle);
		send(client);
		if (not_met())
			release_handle(&handle);
		fetch(client);
		if (sim_next(client, NULL) && sim_next(client, NULL) == BR_TRANSACTION_COMPLETE) {
			fetch(receiver);
			/* Nothing is to be told before: it was held all the time. */
			take(receiver, BR_TRANSACTION, &tr);
			EXPECT_EQ(object_of(&tr, 0)->hdr.type,
				  home ? weak ? BINDER_TYPE_WEAK_BINDER : BINDER_TYPE_BINDER :
				  weak ? BINDER_TYPE_WEAK_HANDLE : BINDER_TYPE_HANDLE);
			free_buffer(receiver, &tr);
		}
		fetch(owner);
		take_node(owner, BR_RELEASE, 0x10);
		if (owner->next_pos == owner->bwr.read_consumed)
			fetch(owner);
		take_node(owner, BR_DECREFS, 0x10);
		core_check();
		close_all();
	}
}

static void test_between_handle_goes_while_it_is_passed_on(void)
{
	handle_goes_while(false, false);
	handle_goes_while(true, false);
}

static void test_between_handle_goes_while_it_is_called(void)
{
	handle_goes_while(false, true);
	handle_goes_while(true, true);
}

static const struct core_case cases[] = {
	CASE_PLAIN(test_between_call_target_is_killed),
	CASE_PLAIN(test_between_call_target_closes),
	CASE_PLAIN(test_between_oneway_target_is_killed),
	CASE_PLAIN(test_between_call_target_unmaps),
	CASE_PLAIN(test_between_reply_caller_is_killed),
	CASE_PLAIN(test_between_reply_caller_thread_exits),
	CASE_PLAIN(test_between_nested_reply_server_is_killed),
	CASE_PLAIN(test_between_delivery_caller_is_killed),
	CASE_PLAIN(test_between_idle_pages_go),
	CASE_PLAIN(test_between_object_changes_its_type),
	CASE_PLAIN(test_between_command_changes),
	CASE_PLAIN(test_between_two_threads_make_the_same_node),
	CASE_PLAIN(test_between_two_senders_give_handles),
	CASE_PLAIN(test_between_two_become_manager),
	CASE_PLAIN(test_between_death_request_reference_goes),
	CASE_PLAIN(test_between_handle_goes_while_it_is_passed_on),
	CASE_PLAIN(test_between_handle_goes_while_it_is_called),
};

GROUP(between);
