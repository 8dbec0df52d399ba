/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A transaction: one call, one-way call or reply on its way.
 *
 * A synchronous call stands in two stacks until it is answered: the caller's
 * (linked by from_parent) and, once received, the receiver's (by to_parent).
 * Each stack or queue it stands in holds a reference, and so does every
 * transaction whose from_parent it is. from, from_parent and to_proc never
 * change and pin what they point to, so the chain of callers can be walked
 * without locks; whether a caller still waits is t->settled.
 */
#ifndef CORE_TRANSACTION_H
#define CORE_TRANSACTION_H

#include "core/host.h"
#include "core/object.h"
#include "core/work.h"
#include "uapi/binder.h"

struct binder_alloc;
struct binder_buffer;
struct binder_in;
struct binder_node;
struct binder_proc;
struct binder_text;
struct binder_thread;

struct binder_transaction {
	struct binder_work work; /* guarded by to_proc->lock */
	refcount_t refs;

	/* immutable once queued: */
	struct binder_thread *from; /* the waiting caller; NULL: one-way or reply */
	struct binder_transaction *from_parent;
	struct binder_proc *to_proc;
	binder_uid_t sender_euid;
	pid_t from_pid; /* for the logs */
	pid_t from_tid;
	int debug_id;
	u32 code;
	u32 flags;
	int nice; /* the receiver is to run at (nice.c) */
	bool reply;
	bool direct; /* a call that was queued to a thread, not to the process */
	int node_id;
	u64 start_ms;
	size_t data_size;
	size_t offsets_size;

	/* guarded by to_proc->lock: */
	struct binder_thread *to_thread;
	struct binder_transaction *to_parent;
	struct binder_buffer *buffer; /* until delivered; then the receiver's to free */
	pid_t to_tid; /* for the logs; may be read without the lock */

	/* of the thread that serves it: */
	int saved_nice; /* before it was delivered */

	/* guarded by from->proc->lock: */
	bool settled; /* off the caller's stack: answered, or the caller is gone */
	/* It came to its end while its caller was busy with a nested call: */
	struct binder_extended_error verdict; /* how it failed; BR_OK if it did not */
	struct binder_transaction *answer; /* the reply, in no queue yet; with its reference */
};

/* sending (transaction.c) */
void binder_transaction_call(struct binder_thread *thread,
			     const struct binder_transaction_data *tr, u64 buffers_size);
void binder_transaction_reply(struct binder_thread *thread,
			      const struct binder_transaction_data *tr, u64 buffers_size);

/* afterwards (stack.c) */
struct binder_transaction *binder_transaction_get(struct binder_transaction *t);
void binder_transaction_put(struct binder_transaction *t);
void binder_transaction_push(struct binder_thread *thread, struct binder_transaction *t);
void binder_transaction_pop_unsent(struct binder_thread *thread, struct binder_transaction *t);
struct binder_transaction *binder_transaction_to_answer(struct binder_thread *thread);
struct binder_transaction *binder_transaction_pop_call_locked(struct binder_thread *thread,
							      struct binder_transaction *call)
	__must_hold(&thread->proc->lock);
bool binder_transaction_answer(struct binder_transaction *call, struct binder_transaction *reply);
void binder_transaction_fail_caller(struct binder_transaction *t, u32 cmd, int debug_id, int error);
void binder_transaction_release_stack(struct binder_thread *thread,
				      struct binder_transaction *stack);
void binder_transaction_take_locked(struct binder_thread *thread, struct binder_transaction *t)
	__must_hold(&thread->proc->lock);
void binder_transaction_deliver_locked(struct binder_thread *thread, struct binder_transaction *t)
	__must_hold(&thread->proc->lock);
void binder_transaction_discard(struct binder_transaction *t);
void binder_transaction_free_buffer(struct binder_thread *thread, binder_uintptr_t addr);
void binder_buffer_release(struct binder_proc *proc, struct binder_buffer *buffer);
void binder_transaction_to_text(struct binder_text *text, const char *prefix,
				const struct binder_transaction *t, bool receiver);

#endif
