// SPDX-License-Identifier: GPL-2.0-only
/* The steps that cases are made of; see core_test.h. */
#include "core_test.h"

#include "core/proc.h"

struct binder_context *device;

/* ---- processes and threads ----------------------------------------------- */

#define PROCS_MAX 64

static struct sim_proc *procs[PROCS_MAX];
static size_t nr_procs;

struct sim_proc *open_on(struct binder_context *context, pid_t pid, u32 uid)
{
	struct sim_proc *proc = sim_open(context, pid, uid);

	EXPECT(proc);
	if (nr_procs == PROCS_MAX)
		abort();
	procs[nr_procs++] = proc;
	return proc;
}

struct sim_proc *open_proc(pid_t pid)
{
	struct sim_proc *proc = open_on(device, pid, UID);

	EXPECT_EQ(sim_mmap(proc, MAP_SIZE), 0);
	return proc;
}

void close_all(void)
{
	for (size_t i = 0; i < nr_procs; i++)
		if (procs[i]->proc)
			sim_kill(procs[i]);
	nr_procs = 0;
}

struct sim_thread *thread_of(struct sim_proc *proc, pid_t tid)
{
	struct sim_thread *thread = sim_thread(proc, tid);
	struct binder_version version;

	EXPECT_EQ(sim_ioctl(thread, BINDER_VERSION, &version), 0);
	return thread;
}

struct sim_thread *looper_of(struct sim_proc *proc, pid_t tid)
{
	struct sim_thread *thread = thread_of(proc, tid);

	sim_put(thread, BC_ENTER_LOOPER, NULL);
	send(thread);
	return thread;
}

struct sim_thread *manager_of(struct sim_proc *proc, pid_t tid)
{
	struct sim_thread *thread = looper_of(proc, tid);

	EXPECT_EQ(sim_ioctl(thread, BINDER_SET_CONTEXT_MGR, &(s32){ 0 }), 0);
	return thread;
}

void thread_exit(struct sim_thread *thread)
{
	EXPECT_EQ(sim_ioctl(thread, BINDER_THREAD_EXIT, &(s32){ 0 }), 0);
}

struct binder_extended_error error_of(struct sim_thread *thread)
{
	struct binder_extended_error ee = { .param = 1 };

	EXPECT_EQ(sim_ioctl(thread, BINDER_GET_EXTENDED_ERROR, &ee), 0);
	return ee;
}

/* ---- commands -------------------------------------------------------------- */

void parcel_text(struct parcel *parcel, const char *text)
{
	memcpy(parcel->data + parcel->size, text, strlen(text) + 1);
	/* To where an object may stand. */
	parcel->size += ALIGN(strlen(text) + 1, sizeof(u32));
}

void parcel_raw(struct parcel *parcel, const void *object, size_t size)
{
	if (parcel->size + size > sizeof(parcel->data) || parcel->nr == ARRAY_SIZE(parcel->offsets))
		abort();
	parcel->offsets[parcel->nr++] = parcel->size;
	memcpy(parcel->data + parcel->size, object, size);
	parcel->size += size;
}

void parcel_object(struct parcel *parcel, u32 type, u64 name, u64 cookie)
{
	struct flat_binder_object object = { .hdr.type = type, .binder = name, .cookie = cookie };

	parcel_raw(parcel, &object, sizeof(object));
}

struct binder_transaction_data parcel_tr(struct sim_proc *proc, const struct parcel *parcel,
					 u32 handle, u32 flags)
{
	struct binder_transaction_data tr = {
		.target.handle = handle,
		.code = 42,
		.flags = flags,
		.data_size = parcel->size,
		.offsets_size = parcel->nr * sizeof(parcel->offsets[0]),
	};

	tr.data.ptr.buffer = (uintptr_t)sim_user_dup(proc, parcel->data, parcel->size);
	tr.data.ptr.offsets = (uintptr_t)sim_user_dup(proc, parcel->offsets, tr.offsets_size);
	return tr;
}

static void put_tr(struct sim_thread *thread, u32 cmd, u32 handle, u32 flags,
		   const struct parcel *parcel)
{
	struct binder_transaction_data tr = parcel_tr(thread->proc, parcel, handle, flags);

	sim_put(thread, cmd, &tr);
}

void put_call(struct sim_thread *thread, u32 handle, u32 flags, const char *text)
{
	struct parcel parcel = {};

	parcel_text(&parcel, text);
	put_tr(thread, BC_TRANSACTION, handle, flags, &parcel);
}

void put_parcel(struct sim_thread *thread, u32 handle, u32 flags, const struct parcel *parcel)
{
	put_tr(thread, BC_TRANSACTION, handle, flags, parcel);
}

void put_reply(struct sim_thread *thread, u32 flags, const char *text)
{
	struct parcel parcel = {};

	parcel_text(&parcel, text);
	put_tr(thread, BC_REPLY, 0, flags, &parcel);
}

void put_reply_parcel(struct sim_thread *thread, u32 flags, const struct parcel *parcel)
{
	put_tr(thread, BC_REPLY, 0, flags, parcel);
}

void put_u32(struct sim_thread *thread, u32 cmd, u32 value)
{
	sim_put(thread, cmd, &value);
}

void put_u64(struct sim_thread *thread, u32 cmd, u64 value)
{
	sim_put(thread, cmd, &value);
}

void put_node(struct sim_thread *thread, u32 cmd, u64 ptr)
{
	struct binder_ptr_cookie name = { .ptr = ptr, .cookie = COOKIE(ptr) };

	sim_put(thread, cmd, &name);
}

void put_death(struct sim_thread *thread, u32 cmd, u32 handle, u64 cookie)
{
	struct binder_handle_cookie death = { .handle = handle, .cookie = cookie };

	sim_put(thread, cmd, &death);
}

/* ---- running ---------------------------------------------------------------- */

void submit(struct sim_thread *thread)
{
	EXPECT_EQ(sim_submit(thread), 0);
}

void submit_waits(struct sim_thread *thread)
{
	EXPECT_EQ(sim_submit(thread), BINDER_PARK);
}

void send(struct sim_thread *thread)
{
	size_t size = thread->put_pos;

	EXPECT_EQ(sim_write(thread), 0);
	EXPECT_EQ(thread->bwr.write_consumed, size);
}

void fetch(struct sim_thread *thread)
{
	EXPECT_EQ(sim_read(thread), 0);
}

void fetch_nothing(struct sim_thread *thread)
{
	EXPECT_EQ(sim_read(thread), -EAGAIN);
	EXPECT_EQ(thread->bwr.read_consumed, 0);
}

void command(struct sim_thread *thread, u32 cmd, u64 value)
{
	sim_put(thread, cmd, &value);
	send(thread);
}

bool logged(void)
{
	static unsigned int seen;
	unsigned int count = sim_log_count();
	bool more = count > seen;

	seen = count;
	/* Past the interval of every rate limit. */
	sim_advance(10000);
	return more;
}

/* ---- returns ------------------------------------------------------------------ */

void core_take(struct sim_thread *thread, u32 cmd, void *payload, const char *file, int line)
{
	bool first = !thread->next_pos;
	u8 any[256];
	u32 got;

	if (thread->parked)
		core_expect(false, file, line, "it still waits");
	got = sim_next(thread, any);
	if (first && got == BR_NOOP)
		got = sim_next(thread, any);
	core_expect_eq(got, cmd, file, line, "return");
	if (payload)
		memcpy(payload, any, _IOC_SIZE(cmd));
}

void take_node(struct sim_thread *thread, u32 cmd, u64 ptr)
{
	struct binder_ptr_cookie name;

	take(thread, cmd, &name);
	EXPECT_EQ(name.ptr, ptr);
	EXPECT_EQ(name.cookie, COOKIE(ptr));
}

void take_cookie(struct sim_thread *thread, u32 cmd, u64 cookie)
{
	u64 got;

	take(thread, cmd, &got);
	EXPECT_EQ(got, cookie);
}

const char *text_of(const struct binder_transaction_data *tr)
{
	return (const char *)(uintptr_t)tr->data.ptr.buffer;
}

const struct flat_binder_object *object_of(const struct binder_transaction_data *tr, u32 i)
{
	const binder_size_t *offsets = (const void *)(uintptr_t)tr->data.ptr.offsets;

	EXPECT(i < tr->offsets_size / sizeof(*offsets));
	return (const void *)(uintptr_t)(tr->data.ptr.buffer + offsets[i]);
}

void free_buffer(struct sim_thread *thread, const struct binder_transaction_data *tr)
{
	command(thread, BC_FREE_BUFFER, tr->data.ptr.buffer);
}

void take_text(struct sim_thread *thread, u32 cmd, const char *text,
	       struct binder_transaction_data *tr)
{
	struct binder_transaction_data own;

	take(thread, cmd, &own);
	EXPECT(!strcmp(text_of(&own), text));
	if (tr)
		*tr = own;
	else
		free_buffer(thread, &own);
}

/* ---- whole steps ---------------------------------------------------------------- */

void call_taken(struct sim_thread *client, u32 handle, struct sim_thread *server, const char *text,
		struct binder_transaction_data *tr)
{
	put_call(client, handle, 0, text);
	submit_waits(client);
	if (server->parked)
		sim_run();
	else
		fetch(server);
	take_text(server, BR_TRANSACTION, text, tr);
	take_end(server);
}

void answer(struct sim_thread *server, const struct binder_transaction_data *tr,
	    struct sim_thread *client, const char *text)
{
	put_u64(server, BC_FREE_BUFFER, tr->data.ptr.buffer);
	put_reply(server, 0, text);
	submit(server);
	take(server, BR_TRANSACTION_COMPLETE, NULL);
	take_end(server);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_text(client, BR_REPLY, text, NULL);
}

u32 give(struct sim_thread *owner, struct sim_thread *manager, u64 ptr)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};
	u32 handle;

	PARCEL_BINDER(&parcel, ptr);
	put_parcel(owner, 0, 0, &parcel);
	submit_waits(owner);
	fetch(manager);
	take(manager, BR_TRANSACTION, &tr);
	EXPECT_EQ(object_of(&tr, 0)->hdr.type, BINDER_TYPE_HANDLE);
	handle = object_of(&tr, 0)->handle;
	put_u32(manager, BC_ACQUIRE, handle);
	put_u64(manager, BC_FREE_BUFFER, tr.data.ptr.buffer);
	put_reply(manager, 0, "given");
	submit(manager);
	take(manager, BR_TRANSACTION_COMPLETE, NULL);
	sim_run();
	take_node(owner, BR_INCREFS, ptr);
	take_node(owner, BR_ACQUIRE, ptr);
	take(owner, BR_TRANSACTION_COMPLETE, NULL);
	take_text(owner, BR_REPLY, "given", NULL);
	put_node(owner, BC_INCREFS_DONE, ptr);
	put_node(owner, BC_ACQUIRE_DONE, ptr);
	send(owner);
	return handle;
}

u32 pass(struct sim_thread *manager, u32 handle, struct sim_thread *client)
{
	struct binder_transaction_data tr;
	struct parcel parcel = {};
	u32 passed;

	call_taken(client, 0, manager, "pass it", &tr);
	put_u64(manager, BC_FREE_BUFFER, tr.data.ptr.buffer);
	PARCEL_HANDLE(&parcel, handle);
	put_reply_parcel(manager, 0, &parcel);
	submit(manager);
	take(manager, BR_TRANSACTION_COMPLETE, NULL);
	sim_run();
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take(client, BR_REPLY, &tr);
	EXPECT_EQ(object_of(&tr, 0)->hdr.type, BINDER_TYPE_HANDLE);
	passed = object_of(&tr, 0)->handle;
	put_u32(client, BC_ACQUIRE, passed);
	put_u64(client, BC_FREE_BUFFER, tr.data.ptr.buffer);
	send(client);
	return passed;
}
