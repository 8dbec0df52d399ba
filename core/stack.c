// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions after they were sent: the stacks they stand in, delivery, the
 * failure of a waiting caller, and the buffers they leave behind.
 */
#include "core/transaction.h"

#include "core/alloc.h"
#include "core/node.h"
#include "core/text.h"
#include "core/thread.h"
#include "core/trace.h"

/** binder_transaction_get() - one more reference. Context: any. Return: @t. */
struct binder_transaction *binder_transaction_get(struct binder_transaction *t)
{
	refcount_inc(&t->refs);
	return t;
}

/**
 * binder_transaction_put() - drop a reference, and those it held in turn
 * @t: may be NULL
 * Context: no spinlocks held.
 */
void binder_transaction_put(struct binder_transaction *t)
{
	while (t && refcount_dec_and_test(&t->refs)) {
		struct binder_transaction *parent = t->from_parent;

		WARN_ON_ONCE(t->buffer || t->answer);
		if (t->from)
			binder_thread_put(t->from);
		binder_proc_put(t->to_proc);
		kfree(t);
		binder_obj_uncount(BINDER_OBJ_TRANSACTION);
		t = parent;
	}
}

/**
 * binder_transaction_push() - a call goes on its caller's stack
 * An older extended error is over with it.
 * Its completion is deferred: it is delivered along with the reply (uapi 2.6).
 * Context: no locks held.
 */
void binder_transaction_push(struct binder_thread *thread, struct binder_transaction *t)
{
	spin_lock(&thread->proc->lock);
	thread->completes++;
	if (thread->stack)
		t->from_parent = binder_transaction_get(thread->stack);
	thread->stack = binder_transaction_get(t);
	binder_thread_set_ee_locked(thread, t->debug_id, BR_OK, 0);
	spin_unlock(&thread->proc->lock);
}

/**
 * binder_transaction_pop_unsent() - undo binder_transaction_push()
 * The completion is withdrawn. Context: no locks held.
 */
void binder_transaction_pop_unsent(struct binder_thread *thread, struct binder_transaction *t)
{
	spin_lock(&thread->proc->lock);
	thread->stack = t->from_parent;
	t->settled = true;
	thread->completes--;
	spin_unlock(&thread->proc->lock);
	binder_transaction_put(t);
}

/* Nested calls come first: one it is in, or one that is queued to it. */
static bool caller_busy_locked(const struct binder_transaction *t)
	__must_hold(&t->from->proc->lock)
{
	struct binder_thread *from = t->from;

	lockdep_assert_held(&from->proc->lock);
	return from->stack != t || from->calls;
}

/* Off the caller's stack, of which it is the top. The stack's reference is to be dropped. */
static void settle_locked(struct binder_transaction *t)
	__must_hold(&t->from->proc->lock)
{
	lockdep_assert_held(&t->from->proc->lock);
	t->from->stack = t->from_parent;
	t->settled = true;
}

static void caller_tell_locked(struct binder_thread *from, const struct binder_extended_error *why)
	__must_hold(&from->proc->lock)
{
	lockdep_assert_held(&from->proc->lock);
	if (from->ee.command == BR_OK)
		binder_thread_set_ee_locked(from, why->id, why->command, why->param);
	binder_thread_set_reply_error_locked(from, why->command);
}

/**
 * binder_transaction_fail_caller() - a synchronous call will not be answered
 * @cmd: BR_DEAD_REPLY or BR_FAILED_REPLY
 * @debug_id, @error: for the caller's extended error
 *
 * If the caller is busy with a nested call (its server called back and died),
 * it hears of it when it has answered that: see
 * binder_transaction_pop_call_locked().
 *
 * Context: may sleep; no locks held.
 */
void binder_transaction_fail_caller(struct binder_transaction *t, u32 cmd, int debug_id, int error)
{
	struct binder_extended_error why = { .id = debug_id, .command = cmd, .param = error };
	struct binder_thread *from = t->from;
	bool off = false;

	spin_lock(&from->proc->lock);
	if (!t->settled && caller_busy_locked(t)) {
		t->verdict = why;
	} else if (!t->settled) {
		settle_locked(t);
		caller_tell_locked(from, &why);
		off = true;
	}
	spin_unlock(&from->proc->lock);
	if (off)
		binder_transaction_put(t);
}

/**
 * binder_transaction_answer() - a reply goes to the caller that waits for it
 * @call: what it answers
 * @reply: complete; its reference becomes that of the caller's queue
 *
 * The caller may be busy with a nested call, though its server is not: the
 * one in between, who made that call, died, and the server knows. Then the
 * reply waits: see binder_transaction_pop_call_locked().
 *
 * Context: may sleep; no locks held.
 * Return: false when the caller is gone, and @reply not taken.
 */
bool binder_transaction_answer(struct binder_transaction *call, struct binder_transaction *reply)
{
	struct binder_thread *from = call->from;
	bool waits, off = false;

	spin_lock(&from->proc->lock);
	waits = !call->settled;
	if (waits && caller_busy_locked(call)) {
		call->answer = reply;
	} else if (waits) {
		settle_locked(call);
		binder_thread_queue_sync_locked(from, &reply->work);
		off = true;
	}
	spin_unlock(&from->proc->lock);
	if (off)
		binder_transaction_put(call);
	return waits;
}

/**
 * binder_transaction_to_answer() - the call a thread's reply is for
 * Context: no locks held.
 * Return: the call on top of its stack, which stays there and so stays alive;
 * NULL when that is one of its own, or nothing.
 */
struct binder_transaction *binder_transaction_to_answer(struct binder_thread *thread)
{
	struct binder_transaction *call;

	spin_lock(&thread->proc->lock);
	call = thread->stack;
	if (call && call->from == thread)
		call = NULL;
	spin_unlock(&thread->proc->lock);
	return call;
}

/**
 * binder_transaction_pop_call_locked() - a thread has answered
 * @call: top of its stack, whose reference is now the caller's
 *
 * What comes to light below may be a call of its own that came to its end
 * meanwhile: its turn to be told is now. So the completion of the answer must
 * be queued already: a client that waits for that in one place, and for its
 * own call's reply further out, would take one for the other.
 *
 * Context: thread->proc->lock held.
 * Return: a call whose reference is to be dropped, unlocked; or NULL.
 */
struct binder_transaction *binder_transaction_pop_call_locked(struct binder_thread *thread,
							      struct binder_transaction *call)
{
	struct binder_transaction *below = call->to_parent;

	lockdep_assert_held(&thread->proc->lock);
	call->to_thread = NULL;
	thread->stack = below;
	if (!below || below->from != thread || caller_busy_locked(below))
		return NULL;
	if (below->answer)
		binder_thread_queue_locked(thread, &below->answer->work);
	else if (below->verdict.command != BR_OK)
		caller_tell_locked(thread, &below->verdict);
	else
		return NULL;
	below->answer = NULL;
	settle_locked(below);
	return below;
}

/**
 * binder_transaction_release_stack() - a thread is gone: fail who waits for it
 * @thread: marked dead, its stack detached
 * @stack: what stood on it, with its references
 *
 * Context: may sleep; no locks held.
 */
void binder_transaction_release_stack(struct binder_thread *thread,
				      struct binder_transaction *stack)
{
	while (stack) {
		struct binder_transaction *t = stack;

		if (t->from == thread) {
			stack = t->from_parent;
			if (t->answer)
				binder_transaction_discard(t->answer);
			t->answer = NULL;
		} else {
			stack = t->to_parent;
			binder_transaction_fail_caller(t, BR_DEAD_REPLY, t->debug_id, -ESRCH);
		}
		binder_transaction_put(t);
	}
}

/**
 * binder_transaction_take_locked() - a thread takes a transaction
 *
 * A synchronous call goes on the thread's stack, with the queue's reference.
 * Otherwise that is the caller's.
 *
 * Context: thread->proc->lock held.
 */
void binder_transaction_take_locked(struct binder_thread *thread, struct binder_transaction *t)
{
	lockdep_assert_held(&thread->proc->lock);
	if (!t->from)
		return;
	if (t->direct)
		thread->calls--;
	t->to_thread = thread;
	WRITE_ONCE(t->to_tid, thread->tid);
	t->to_parent = thread->stack;
	thread->stack = t;
}

/**
 * binder_transaction_deliver_locked() - user space is about to see a transaction
 * Its buffer becomes user space's to free.
 * Context: thread->proc->lock held.
 */
void binder_transaction_deliver_locked(struct binder_thread *thread, struct binder_transaction *t)
{
	lockdep_assert_held(&thread->proc->lock);
	binder_alloc_allow_free(thread->proc->alloc, t->buffer);
	t->buffer = NULL;
}

/**
 * binder_transaction_discard() - a queued transaction will not be delivered
 * @t: in no list; the queue's reference is consumed
 * Context: may sleep; no locks held.
 */
void binder_transaction_discard(struct binder_transaction *t)
{
	struct binder_buffer *buffer = t->buffer;

	t->buffer = NULL;
	if (buffer->oneway)
		binder_node_async_done(buffer->target_node);
	binder_buffer_release(t->to_proc, buffer);
	if (t->from)
		binder_transaction_fail_caller(t, BR_DEAD_REPLY, t->debug_id, -ESRCH);
	binder_transaction_put(t);
}

/**
 * binder_buffer_release() - drop all a buffer holds, and the buffer
 * @proc: whose mapping it is of
 * @buffer: the caller's: not deliverable, not freeable by anyone else
 * Context: may sleep; no locks held.
 */
void binder_buffer_release(struct binder_proc *proc, struct binder_buffer *buffer)
{
	binder_objects_put(proc, buffer->objects);
	buffer->objects = NULL;
	if (buffer->target_node)
		binder_node_dec_local(buffer->target_node, true);
	buffer->target_node = NULL;
	binder_alloc_free_buffer(proc->alloc, buffer);
}

/**
 * binder_transaction_free_buffer() - BC_FREE_BUFFER
 * @addr: as delivered; anything else is logged and without effect (uapi 1.7)
 * Context: may sleep; no locks held.
 */
void binder_transaction_free_buffer(struct binder_thread *thread, binder_uintptr_t addr)
{
	struct binder_proc *proc = thread->proc;
	struct binder_buffer *buffer = binder_alloc_prepare_to_free(proc->alloc, addr);

	if (!buffer) {
		binder_user_error(thread, "BC_FREE_BUFFER %llx: no buffer to free starts there\n",
				  (u64)addr);
		return;
	}
	trace_binder_transaction_buffer_release(buffer);
	if (buffer->oneway && buffer->target_node)
		binder_node_async_done(buffer->target_node);
	binder_buffer_release(proc, buffer);
}

/**
 * binder_transaction_to_text() - one line of binder_logs
 * @receiver: to_proc->lock is held, so its side can be told as well
 * Context: a lock that keeps @t in its queue or stack.
 */
void binder_transaction_to_text(struct binder_text *text, const char *prefix,
				const struct binder_transaction *t, bool receiver)
{
	binder_text_add(text,
			"%s %d: from %d:%d to %d:%d code %x flags %x pri 0:%d r%d elapsed %llums",
			prefix, t->debug_id, t->from_pid, t->from_tid, t->to_proc->pid,
			READ_ONCE(t->to_tid), t->code, t->flags, t->nice, t->from != NULL,
			binder_host_now_ms() - t->start_ms);
	if (t->node_id)
		binder_text_add(text, " node %d", t->node_id);
	binder_text_add(text, " size %zu:%zu", t->data_size, t->offsets_size);
	if (receiver && t->buffer)
		binder_text_add(text, " offset %zx", t->buffer->offset);
	binder_text_add(text, "\n");
}
