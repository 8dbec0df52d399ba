// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending. A call and a reply are built alike (send_build): record, buffer in
 * the receiver's mapping, objects, payload, translation. They differ in whom
 * they find, where they are queued, and who hears of a failure.
 *
 * Once queued a transaction belongs to the receiver, who may have taken,
 * answered and freed it before the sender's next statement: nothing below
 * touches it after that but through a reference of its own.
 *
 * Stacks and failures of waiting callers are in stack.c.
 */
#include "core/transaction.h"

#include "core/alloc.h"
#include "core/context.h"
#include "core/nice.h"
#include "core/node.h"
#include "core/ref.h"
#include "core/thread.h"
#include "core/trace.h"

/* One transaction being sent. */
struct send {
	struct binder_thread *thread;
	const struct binder_transaction_data *tr;
	u64 buffers_size;
	struct binder_node *node; /* target of a call; holds a local strong count for the buffer */
	struct binder_proc *to;	  /* entered: binder_proc_leave() at the end */
	struct binder_transaction *t;
	struct binder_work *complete; /* that returns at once; NULL if it is deferred */
	bool reply;
	bool completed; /* the replier's completion is queued */
	struct binder_failure failure;
	struct binder_log_entry log;
};

static int send_fail(struct send *s, u32 cmd, int error, u32 line, const char *why)
{
	s->failure = (struct binder_failure){
		.cmd = cmd, .error = error, .line = line, .why = why,
	};
	return error;
}

#define SEND_FAIL(s, cmd, error, why) send_fail(s, cmd, error, __LINE__, why)

static struct binder_transaction *transaction_alloc(struct send *s)
{
	struct binder_transaction *t = kzalloc(sizeof(*t), GFP_KERNEL);
	const struct binder_transaction_data *tr = s->tr;

	if (!t)
		return NULL;
	binder_work_init(&t->work, BINDER_WORK_TRANSACTION);
	refcount_set(&t->refs, 1);
	t->verdict.command = BR_OK;
	t->reply = s->reply;
	if (!s->reply && !(tr->flags & TF_ONE_WAY))
		t->from = binder_thread_get(s->thread);
	t->to_proc = binder_proc_get(s->to);
	t->sender_euid = binder_host_uid(s->thread);
	t->nice = binder_nice_wanted(s->thread, s->node, t->from != NULL);
	t->from_pid = s->thread->proc->pid;
	t->from_tid = s->thread->tid;
	t->debug_id = s->log.debug_id;
	t->node_id = s->log.node_id;
	t->code = tr->code;
	t->flags = tr->flags;
	t->data_size = tr->data_size;
	t->offsets_size = tr->offsets_size;
	t->start_ms = binder_host_now_ms();
	binder_obj_count(BINDER_OBJ_TRANSACTION);
	return t;
}

static int send_alloc_buffer(struct send *s)
{
	struct binder_transaction *t = s->t;
	struct binder_alloc_request request = {
		.data_size = s->tr->data_size,
		.offsets_size = s->tr->offsets_size,
		.extra_size = s->buffers_size,
		.oneway = !s->reply && (s->tr->flags & TF_ONE_WAY),
		.clear_on_free = s->tr->flags & TF_CLEAR_BUF,
		.debug_id = t->debug_id,
	};
	struct binder_buffer *buffer;

	buffer = binder_alloc_buffer(s->to->alloc, &request);
	if (buffer == ERR_PTR(-ESRCH)) {
		/* No mapping; or none that the host has heard of yet. */
		binder_host_map_find(s->to);
		buffer = binder_alloc_buffer(s->to->alloc, &request);
	}
	if (IS_ERR(buffer)) {
		int error = PTR_ERR(buffer);

		if (error == -ESRCH)
			return SEND_FAIL(s, BR_DEAD_REPLY, error, "the target has no mapping");
		return SEND_FAIL(s, BR_FAILED_REPLY, error,
				 error == -ENOSPC ? "no space in the target's mapping" :
				 error == -ENOMEM ? "out of memory for the buffer" :
				 error == -EINVAL ? "the sizes are not possible" :
				 "a page could not be put into the target's mapping");
	}
	buffer->target_node = s->node;
	s->node = NULL;
	t->buffer = buffer;
	trace_binder_transaction_alloc_buf(buffer);
	return 0;
}

/* Does the sender go on to wait, and hear with what comes next that it has sent? */
static bool send_defers(const struct send *s)
{
	return s->reply ? s->tr->flags & TF_DEFER_COMPLETE : !(s->tr->flags & TF_ONE_WAY);
}

/* The data and, behind it, the offsets are what was written. */
static void send_ready(const struct binder_buffer *buffer, struct binder_alloc *alloc)
{
	size_t len = buffer->data_size;

	if (buffer->offsets_size)
		len = ALIGN(len, sizeof(u64)) + buffer->offsets_size;
	binder_host_buffer_ready(alloc, buffer->offset, len);
}

/* Everything up to queueing. On failure send_unbuild() takes back what was done. */
static int send_build(struct send *s)
{
	int ret;

	if (!IS_ALIGNED(s->tr->offsets_size, sizeof(binder_size_t)))
		return SEND_FAIL(s, BR_FAILED_REPLY, -EINVAL, "offsets_size is not a multiple of 8");
	if (!IS_ALIGNED(s->buffers_size, sizeof(u64)))
		return SEND_FAIL(s, BR_FAILED_REPLY, -EINVAL, "buffers_size is not a multiple of 8");
	s->t = transaction_alloc(s);
	if (!send_defers(s))
		s->complete = binder_work_complete_new();
	if (!s->t || (!s->complete && !send_defers(s)))
		return SEND_FAIL(s, BR_FAILED_REPLY, -ENOMEM, "out of memory for the transaction");
	ret = send_alloc_buffer(s);
	if (!ret)
		ret = binder_objects_fetch(s->thread, s->tr, &s->t->buffer->objects, &s->failure);
	if (!ret)
		ret = binder_objects_copy(s->t, s->thread, s->tr, &s->failure);
	if (!ret)
		ret = binder_objects_translate(s->t, s->thread, &s->failure);
	if (!ret)
		send_ready(s->t->buffer, s->to->alloc);
	if (!ret)
		trace_binder_transaction(s->t, s->log.node_id, s->log.to_tid);
	return ret;
}

static void send_unbuild(struct send *s)
{
	if (s->t && s->t->buffer) {
		trace_binder_transaction_failed_buffer_release(s->t->buffer);
		binder_buffer_release(s->to, s->t->buffer);
		s->t->buffer = NULL;
	}
	if (s->node)
		binder_node_dec_local(s->node, true);
	if (s->t)
		binder_transaction_put(s->t);
	binder_work_complete_free(s->complete);
}

static void send_begin(struct send *s)
{
	struct binder_thread *thread = s->thread;

	s->log.debug_id = binder_next_debug_id();
	s->log.kind = s->reply ? BINDER_LOG_REPLY :
		      s->tr->flags & TF_ONE_WAY ? BINDER_LOG_ONEWAY : BINDER_LOG_CALL;
	s->log.from_pid = thread->proc->pid;
	s->log.from_tid = thread->tid;
	s->log.handle = s->reply ? 0 : s->tr->target.handle;
	s->log.code = s->tr->code;
	s->log.flags = s->tr->flags;
	s->log.data_size = s->tr->data_size;
	s->log.offsets_size = s->tr->offsets_size;
	s->log.return_error = BR_OK;
	strscpy(s->log.context, thread->proc->context->name, sizeof(s->log.context));
}

static void send_end(struct send *s, int ret)
{
	if (ret) {
		s->log.return_error = s->failure.cmd;
		s->log.error = s->failure.error;
		s->log.line = s->failure.line;
		s->log.why = s->failure.why;
		binder_log_failure(&s->log);
		binder_host_report_failure(&s->log);
	}
	binder_log_add(&s->log);
	if (s->to)
		binder_proc_leave(s->to);
}

/* ---- calls ------------------------------------------------------------ */

static struct binder_node *call_lookup_node(struct send *s)
{
	u32 handle = s->tr->target.handle;
	struct binder_proc *proc = s->thread->proc;
	struct binder_node *node;

	if (handle) {
		node = binder_ref_lookup_node(proc, handle, true);
		if (!node)
			SEND_FAIL(s, BR_FAILED_REPLY, -EINVAL, "the sender holds no such handle");
		return node;
	}
	node = binder_context_lookup_manager(proc->context);
	if (!node)
		SEND_FAIL(s, BR_DEAD_REPLY, -EINVAL, "nobody is context manager");
	return node;
}

/* s->node has the strong count that the buffer will hold; send_unbuild() drops it. */
static int call_find_target(struct send *s)
{
	struct binder_node *node = call_lookup_node(s);

	if (!node)
		return s->failure.error;
	s->log.node_id = node->debug_id;
	s->log.to_pid = node->proc->pid;
	s->node = node;
	if (node->proc == s->thread->proc)
		return SEND_FAIL(s, BR_FAILED_REPLY, -EINVAL, "the target is the sender's own");
	if (!binder_node_enter_target(node))
		return SEND_FAIL(s, BR_DEAD_REPLY, -EINVAL, "the target is dead");
	s->to = node->proc;
	if (binder_host_may_call(s->thread->proc, s->to))
		return SEND_FAIL(s, BR_FAILED_REPLY, -EPERM, "a security module forbids the call");
	if (node->flags & FLAT_BINDER_FLAG_TXN_SECURITY_CTX)
		return SEND_FAIL(s, BR_FAILED_REPLY, -EOPNOTSUPP,
				 "the target wants a security context, and there are none");
	return 0;
}

/* A call may not be made from the middle of another's business (uapi 2.4). */
static int call_check_nesting(struct send *s)
{
	struct binder_thread *thread = s->thread;
	struct binder_work *head;
	int ret = 0;

	if (s->tr->flags & TF_ONE_WAY)
		return 0;
	spin_lock(&thread->proc->lock);
	head = list_first_entry_or_null(&thread->todo, struct binder_work, entry);
	if (thread->stack && thread->stack->from == thread)
		ret = SEND_FAIL(s, BR_FAILED_REPLY, -EPROTO, "the sender already waits for a reply");
	else if (thread->calls || (head && head->type == BINDER_WORK_TRANSACTION))
		ret = SEND_FAIL(s, BR_FAILED_REPLY, -EPROTO, "the sender has an unread transaction");
	spin_unlock(&thread->proc->lock);
	return ret;
}

/*
 * The thread of @to that waits, directly or through others, for the caller:
 * a nested call goes to it, not to the pool (uapi 2.3). The chain of callers
 * never changes and is pinned; who still waits is guarded by @to->lock.
 */
static struct binder_thread *ancestor_find_locked(struct binder_proc *to,
						  struct binder_transaction *caller)
	__must_hold(&to->lock)
{
	lockdep_assert_held(&to->lock);
	for (; caller; caller = caller->from_parent)
		if (caller->from && caller->from->proc == to && !caller->settled)
			return caller->from;
	return NULL;
}

static void call_queue_to_locked(struct binder_proc *to, struct binder_transaction *t)
	__must_hold(&to->lock)
{
	struct binder_thread *thread = ancestor_find_locked(to, t->from_parent);

	lockdep_assert_held(&to->lock);
	if (!thread)
		thread = list_first_entry_or_null(&to->waiting_threads, struct binder_thread,
						  waiting_entry);
	if (!thread) {
		binder_proc_queue_locked(to, &t->work);
		return;
	}
	if (!t->from) {
		binder_thread_queue_locked(thread, &t->work);
		return;
	}
	t->direct = true;
	thread->calls++;
	binder_thread_queue_sync_locked(thread, &t->work);
}

static int call_queue_sync(struct send *s)
{
	struct binder_thread *thread = s->thread;
	struct binder_transaction *t = s->t;
	bool dead;

	binder_transaction_push(thread, t);
	spin_lock(&s->to->lock);
	dead = s->to->dead;
	if (!dead)
		call_queue_to_locked(s->to, t);
	spin_unlock(&s->to->lock);
	if (dead) {
		binder_transaction_pop_unsent(thread, t);
		return SEND_FAIL(s, BR_DEAD_REPLY, -ESRCH, "the target died");
	}
	return 0;
}

/* One at a time per node; the others wait their turn at the node (uapi 2.7). */
static int call_queue_oneway(struct send *s)
{
	struct binder_node *node = s->t->buffer->target_node;
	struct binder_thread *thread = s->thread;
	bool dead;

	spin_lock(&s->to->lock);
	dead = s->to->dead;
	if (!dead && node->has_async) {
		list_add_tail(&s->t->work.entry, &node->async_todo);
	} else if (!dead) {
		node->has_async = true;
		call_queue_to_locked(s->to, s->t);
	}
	spin_unlock(&s->to->lock);
	if (dead)
		return SEND_FAIL(s, BR_DEAD_REPLY, -ESRCH, "the target died");
	spin_lock(&thread->proc->lock);
	binder_thread_queue_locked(thread, s->complete);
	binder_thread_set_ee_locked(thread, s->log.debug_id, BR_OK, 0);
	spin_unlock(&thread->proc->lock);
	return 0;
}

/**
 * binder_transaction_call() - BC_TRANSACTION, BC_TRANSACTION_SG
 * @thread: the caller
 * @tr: what to send to tr->target.handle
 * @buffers_size: bytes of scatter-gather space, 0 for BC_TRANSACTION
 *
 * Never fails as a command: what becomes of it is queued to the thread as
 * BR_TRANSACTION_COMPLETE, BR_DEAD_REPLY or BR_FAILED_REPLY.
 *
 * Context: may sleep; no locks held.
 */
void binder_transaction_call(struct binder_thread *thread,
			     const struct binder_transaction_data *tr, u64 buffers_size)
{
	struct send s = { .thread = thread, .tr = tr, .buffers_size = buffers_size };
	int ret;

	send_begin(&s);
	ret = call_find_target(&s);
	if (!ret)
		ret = call_check_nesting(&s);
	if (!ret)
		ret = send_build(&s);
	if (!ret)
		ret = tr->flags & TF_ONE_WAY ? call_queue_oneway(&s) : call_queue_sync(&s);
	if (ret) {
		send_unbuild(&s);
		spin_lock(&thread->proc->lock);
		binder_thread_set_ee_locked(thread, s.log.debug_id, s.failure.cmd, ret);
		binder_thread_set_error_locked(thread, s.failure.cmd);
		spin_unlock(&thread->proc->lock);
	}
	send_end(&s, ret);
}

/* ---- replies ---------------------------------------------------------- */

/* Whom to: the caller must still wait, and stays reachable until we leave. */
static int reply_find_target(struct send *s, struct binder_transaction *call)
{
	struct binder_proc *proc = call->from->proc;
	bool waits;

	s->log.to_pid = proc->pid;
	s->log.to_tid = call->from->tid;
	s->log.node_id = call->node_id;
	spin_lock(&proc->lock);
	waits = !call->settled && !proc->dead;
	if (waits)
		proc->users++;
	spin_unlock(&proc->lock);
	if (!waits)
		return SEND_FAIL(s, BR_DEAD_REPLY, -ESRCH, "the caller is gone");
	s->to = proc;
	return 0;
}

/*
 * The replier's completion, before the reply is on its way. Deferred if it
 * asked so: the ioctl then goes on to wait for the next call.
 */
static void reply_complete(struct send *s, struct binder_transaction *call)
{
	struct binder_thread *thread = s->thread;
	struct binder_transaction *failed;

	spin_lock(&thread->proc->lock);
	if (s->complete)
		binder_thread_queue_locked(thread, s->complete);
	else
		thread->completes++;
	failed = binder_transaction_pop_call_locked(thread, call);
	spin_unlock(&thread->proc->lock);
	binder_transaction_put(failed);
	s->complete = NULL;
	s->completed = true;
}

/* The replier has done its part in any case; it is the caller who is told. */
static void reply_failed(struct send *s, struct binder_transaction *call)
{
	struct binder_thread *thread = s->thread;
	struct binder_transaction *failed;

	send_unbuild(s);
	if (!s->completed) {
		spin_lock(&thread->proc->lock);
		binder_thread_set_error_locked(thread, BR_TRANSACTION_COMPLETE);
		failed = binder_transaction_pop_call_locked(thread, call);
		spin_unlock(&thread->proc->lock);
		binder_transaction_put(failed);
	}
	binder_transaction_fail_caller(call, s->failure.cmd, s->log.debug_id, s->failure.error);
}

/**
 * binder_transaction_reply() - BC_REPLY, BC_REPLY_SG
 *
 * Answers the call on top of the thread's stack. The replier gets
 * BR_TRANSACTION_COMPLETE whatever becomes of the reply; if it fails, the
 * caller gets the error. With nothing to answer the replier gets
 * BR_FAILED_REPLY.
 *
 * Context: may sleep; no locks held.
 */
void binder_transaction_reply(struct binder_thread *thread,
			      const struct binder_transaction_data *tr, u64 buffers_size)
{
	struct send s = { .thread = thread, .tr = tr, .buffers_size = buffers_size, .reply = true };
	struct binder_transaction *call;
	int ret;

	send_begin(&s);
	call = binder_transaction_to_answer(thread);
	if (!call) {
		ret = SEND_FAIL(&s, BR_FAILED_REPLY, -EPROTO, "there is no call to reply to");
		spin_lock(&thread->proc->lock);
		binder_thread_set_ee_locked(thread, s.log.debug_id, s.failure.cmd, ret);
		binder_thread_set_error_locked(thread, s.failure.cmd);
		spin_unlock(&thread->proc->lock);
		send_end(&s, ret);
		return;
	}
	ret = reply_find_target(&s, call);
	if (!ret)
		ret = send_build(&s);
	if (!ret) {
		reply_complete(&s, call);
		if (!binder_transaction_answer(call, s.t))
			ret = SEND_FAIL(&s, BR_DEAD_REPLY, -ESRCH, "the caller died");
	}
	if (ret)
		reply_failed(&s, call);
	binder_nice_restore(thread, call);
	binder_transaction_put(call); /* the replier's stack's */
	send_end(&s, ret);
}
