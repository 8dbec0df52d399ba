/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread record: one task (tid) that has used an open device. It has a todo
 * list and a transaction stack of its own, and is what the host parks and
 * wakes.
 *
 * Waiting. binder_read() either fills the caller's buffer or parks the thread
 * (PARKED) and returns. Whoever turns PARKED into something else has claimed
 * the park and owns its memory: binder_thread_wake_locked() (READY: the host
 * will call binder_read() again) or binder_thread_unpark() (an interrupt).
 *
 * Life: a reference each for the process's tree, for the host while it serves
 * a call of the thread (binder_thread_lookup() to binder_ioctl_end()), and for
 * every transaction it sent. thread->dead says whether it is still in the tree.
 */
#ifndef CORE_THREAD_H
#define CORE_THREAD_H

#include "core/host.h"
#include "core/work.h"
#include "uapi/binder.h"

struct binder_text;
struct binder_transaction;

/* thread->looper, as binder_logs print it */
enum {
	BINDER_LOOPER_REGISTERED = 0x01,
	BINDER_LOOPER_ENTERED = 0x02,
	BINDER_LOOPER_EXITED = 0x04,
	BINDER_LOOPER_INVALID = 0x08,
	BINDER_LOOPER_WAITING = 0x10,
	BINDER_LOOPER_POLL = 0x20,
};

enum binder_park {
	BINDER_RUNNING, /* in user space, or in the core on its own behalf */
	BINDER_PARKED,	/* in binder_read(), nothing to return */
	BINDER_READY,	/* woken; the host owes it a binder_read() */
};

/**
 * struct binder_error - an error return that waits in a thread's todo
 * @cmd: BR_OK when unused
 */
struct binder_error {
	struct binder_work work;
	u32 cmd;
};

#define BINDER_IN_SIZE 512
#define BINDER_OUT_SIZE 512

/**
 * struct binder_in - commands on their way in (command.c)
 * A window over the write buffer, so that a few commands cost one copy.
 */
struct binder_in {
	u32 len;
	u32 pos;
	u8 buf[BINDER_IN_SIZE] __attribute__((aligned(8)));
};

/**
 * struct binder_out - returns on their way out (return.c)
 * Commands stay here until user space has them: a read buffer that cannot be
 * written loses nothing, the next good one gets them first.
 */
struct binder_out {
	u32 len;
	u8 buf[BINDER_OUT_SIZE] __attribute__((aligned(8)));
};

struct binder_thread {
	/* immutable after alloc: */
	struct binder_proc *proc; /* holds a reference */
	pid_t tid;

	/* guarded by proc->lock: */
	struct rb_node rb_node; /* in proc->threads */
	struct list_head waiting_entry; /* in proc->waiting_threads */
	struct list_head todo;
	struct binder_transaction *stack;
	struct binder_error return_error; /* of its own last command */
	struct binder_error reply_error; /* in place of a reply it waits for */
	struct binder_extended_error ee;
	enum binder_park park;
	u32 looper;
	u32 calls; /* synchronous calls in todo */
	u32 completes; /* deferred BR_TRANSACTION_COMPLETEs: they end no wait (return.c) */
	u32 lookups; /* calls of its task under way */
	bool need_return; /* the next read returns at once */
	bool flagged; /* todo, if not empty, holds something that ends a wait */
	bool dead;

	/* atomic: */
	refcount_t refs;

	/* owned by the task while RUNNING, by the claimer after a wake: */
	struct binder_in in;
	struct binder_out out;

	/* the host's own */
	struct binder_host_thread host;
};

struct binder_thread *binder_thread_lookup(struct binder_proc *proc, pid_t tid);
void binder_thread_done(struct binder_thread *thread);
struct binder_thread *binder_thread_get(struct binder_thread *thread);
void binder_thread_put(struct binder_thread *thread);
void binder_thread_release(struct binder_thread *thread);
bool binder_thread_reap(struct binder_thread *thread);

void binder_thread_queue_locked(struct binder_thread *thread, struct binder_work *work)
	__must_hold(&thread->proc->lock);
void binder_thread_queue_sync_locked(struct binder_thread *thread, struct binder_work *work)
	__must_hold(&thread->proc->lock);
void binder_thread_queue_deferred_locked(struct binder_thread *thread, struct binder_work *work)
	__must_hold(&thread->proc->lock);
void binder_thread_wake_locked(struct binder_thread *thread) __must_hold(&thread->proc->lock);
bool binder_thread_available_locked(const struct binder_thread *thread)
	__must_hold(&thread->proc->lock);
bool binder_thread_has_work_locked(const struct binder_thread *thread)
	__must_hold(&thread->proc->lock);
void binder_thread_park_locked(struct binder_thread *thread) __must_hold(&thread->proc->lock);
bool binder_thread_unpark(struct binder_thread *thread);
void binder_thread_decline(struct binder_thread *thread);
bool binder_thread_poll(struct binder_thread *thread);

void binder_thread_enter_looper(struct binder_thread *thread);
void binder_thread_register_looper(struct binder_thread *thread);
void binder_thread_exit_looper(struct binder_thread *thread);

void binder_thread_set_ee_locked(struct binder_thread *thread, int debug_id, u32 cmd, int error)
	__must_hold(&thread->proc->lock);
void binder_thread_set_error_locked(struct binder_thread *thread, u32 cmd)
	__must_hold(&thread->proc->lock);
void binder_thread_set_reply_error_locked(struct binder_thread *thread, u32 cmd)
	__must_hold(&thread->proc->lock);

#endif
