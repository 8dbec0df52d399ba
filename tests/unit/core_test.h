/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core's tests share. A case is written as if nothing could fail,
 * with EXPECT() for each step, and is used three times (core_main.c):
 *
 *   as it is: every EXPECT() must hold;
 *   with the N-th allocation failing, for every N;
 *   with the N-th copy from or to user memory failing, for every N.
 *
 * Once the fault has struck, the first EXPECT() that does not hold ends the
 * case: it came out differently, as it may. What is then checked is that the
 * world is sound (core_check.c), that all is given back when everybody dies,
 * and that the same case succeeds afterwards.
 */
#ifndef TESTS_UNIT_CORE_TEST_H
#define TESTS_UNIT_CORE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define MAP_SIZE (16 * PAGE_SIZE)
#define UID 1000

/* Cases that run something in the middle of a host call, which no case can be left from. */
#define CASE_NO_FAULTS 1u

struct core_case {
	const char *name;
	void (*run)(void);
	unsigned int flags;
};

struct core_group {
	const char *name;
	const struct core_case *cases;
	size_t nr;
};

#define CASE(fn) { #fn, fn, 0 }
#define CASE_PLAIN(fn) { #fn, fn, CASE_NO_FAULTS }
#define GROUP(group_name) \
	const struct core_group core_group_##group_name = { #group_name, cases, ARRAY_SIZE(cases) }

extern const struct core_group core_group_call;
extern const struct core_group core_group_oneway;
extern const struct core_group core_group_context;
extern const struct core_group core_group_looper;
extern const struct core_group core_group_defer;
extern const struct core_group core_group_node;
extern const struct core_group core_group_object;
extern const struct core_group core_group_death;
extern const struct core_group core_group_exit;
extern const struct core_group core_group_nested;
extern const struct core_group core_group_between;
extern const struct core_group core_group_stream;
extern const struct core_group core_group_report;
extern const struct core_group core_group_rights;
extern const struct core_group core_group_nodeinfo;

/* ---- expectations -------------------------------------------------------- */

#define EXPECT(cond) core_expect(!!(cond), __FILE__, __LINE__, #cond)
#define EXPECT_EQ(got, want) \
	core_expect_eq((long long)(got), (long long)(want), __FILE__, __LINE__, #got)

void core_expect(bool ok, const char *file, int line, const char *text);
void core_expect_eq(long long got, long long want, const char *file, int line, const char *text);

/** core_check() - everything in the core is as its headers say; nobody waits for nothing */
void core_check(void);

/* ---- processes and threads ----------------------------------------------- */

/* The device a case runs on. */
extern struct binder_context *device;

struct sim_proc *open_on(struct binder_context *context, pid_t pid, u32 uid);
/** open_proc() - a process with a mapping */
struct sim_proc *open_proc(pid_t pid);
/** close_all() - everybody dies */
void close_all(void);
/** thread_of() - a thread past its first call, which never waits */
struct sim_thread *thread_of(struct sim_proc *proc, pid_t tid);
/** looper_of() - the same, having entered the loop */
struct sim_thread *looper_of(struct sim_proc *proc, pid_t tid);
/** manager_of() - the same, being the context manager's */
struct sim_thread *manager_of(struct sim_proc *proc, pid_t tid);
void thread_exit(struct sim_thread *thread);
/** error_of() - the thread's last extended error, which is reset */
struct binder_extended_error error_of(struct sim_thread *thread);
#define EXPECT_ERROR(thread, cmd, errno_) do {				\
	struct binder_extended_error ee_ = error_of(thread);		\
	EXPECT_EQ(ee_.command, cmd);					\
	EXPECT_EQ(ee_.param, errno_);					\
} while (0)

/* ---- commands -------------------------------------------------------------- */

/* A payload with objects, or without. */
struct parcel {
	size_t size;
	u32 nr;
	u8 data[4096];
	binder_size_t offsets[128];
};

void parcel_text(struct parcel *parcel, const char *text);
void parcel_object(struct parcel *parcel, u32 type, u64 name, u64 cookie);
void parcel_raw(struct parcel *parcel, const void *object, size_t size);
#define PARCEL_BINDER(parcel, ptr) parcel_object(parcel, BINDER_TYPE_BINDER, ptr, COOKIE(ptr))
#define PARCEL_HANDLE(parcel, handle) parcel_object(parcel, BINDER_TYPE_HANDLE, handle, 0)
/* The cookie that goes with a node's ptr. */
#define COOKIE(ptr) ((u64)(ptr) + 0xc00)

/** parcel_tr() - a copy of the payload in the sender's memory */
struct binder_transaction_data parcel_tr(struct sim_proc *proc, const struct parcel *parcel,
					 u32 handle, u32 flags);
void put_call(struct sim_thread *thread, u32 handle, u32 flags, const char *text);
void put_parcel(struct sim_thread *thread, u32 handle, u32 flags, const struct parcel *parcel);
void put_reply(struct sim_thread *thread, u32 flags, const char *text);
void put_reply_parcel(struct sim_thread *thread, u32 flags, const struct parcel *parcel);
void put_u32(struct sim_thread *thread, u32 cmd, u32 value);
void put_u64(struct sim_thread *thread, u32 cmd, u64 value);
void put_node(struct sim_thread *thread, u32 cmd, u64 ptr);
void put_death(struct sim_thread *thread, u32 cmd, u32 handle, u64 cookie);

/* ---- running ---------------------------------------------------------------- */

/** submit() - write and read: returns */
void submit(struct sim_thread *thread);
/** submit_waits() - write and read: has to wait */
void submit_waits(struct sim_thread *thread);
/** send() - write only */
void send(struct sim_thread *thread);
/** fetch() - read, there is something */
void fetch(struct sim_thread *thread);
/** fetch_nothing() - read, there is nothing */
void fetch_nothing(struct sim_thread *thread);
/** command() - write one command whose payload is a number */
void command(struct sim_thread *thread, u32 cmd, u64 value);
/** logged() - has the core complained since the last time this was asked? */
bool logged(void);

/* ---- returns ------------------------------------------------------------------ */

/** take() - the next return, a first BR_NOOP aside, is @cmd; @payload may be NULL */
#define take(thread, cmd, payload) core_take(thread, cmd, payload, __FILE__, __LINE__)
/** take_end() - there is no other */
#define take_end(thread) core_take(thread, 0, NULL, __FILE__, __LINE__)
void core_take(struct sim_thread *thread, u32 cmd, void *payload, const char *file, int line);
/** take_node() - the next return is @cmd about the node named @ptr */
void take_node(struct sim_thread *thread, u32 cmd, u64 ptr);
/** take_cookie() - the next return is @cmd about a death request */
void take_cookie(struct sim_thread *thread, u32 cmd, u64 cookie);
/** take_text() - the next return is @cmd with this payload; freed at once if not @tr */
void take_text(struct sim_thread *thread, u32 cmd, const char *text,
	       struct binder_transaction_data *tr);

const char *text_of(const struct binder_transaction_data *tr);
const struct flat_binder_object *object_of(const struct binder_transaction_data *tr, u32 i);
void free_buffer(struct sim_thread *thread, const struct binder_transaction_data *tr);

/* ---- whole steps ---------------------------------------------------------------- */

/** call_taken() - @client calls handle @handle, @server waits and gets it */
void call_taken(struct sim_thread *client, u32 handle, struct sim_thread *server, const char *text,
		struct binder_transaction_data *tr);
/** answer() - @server frees the call and replies, @client gets the reply */
void answer(struct sim_thread *server, const struct binder_transaction_data *tr,
	    struct sim_thread *client, const char *text);
/**
 * give() - @owner, a thread of a process other than the manager's, sends the
 * manager its node @ptr, which keeps it
 * Return: the manager's handle for it. All notices are read and answered.
 */
u32 give(struct sim_thread *owner, struct sim_thread *manager, u64 ptr);
/** pass() - @manager passes a strong hold of its handle on to @client, which keeps it */
u32 pass(struct sim_thread *manager, u32 handle, struct sim_thread *client);

#endif
