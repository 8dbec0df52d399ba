// SPDX-License-Identifier: GPL-2.0-only
/*
 * The read half: turn work into returns.
 *
 * Work is taken and turned into bytes in thread->out under the lock, and the
 * bytes are handed to user space in one write after it. From the moment they
 * are in thread->out they count as returned; if user space's buffer cannot be
 * written they stay there and the thread's next read delivers them first. So a
 * failed write loses nothing and undoes nothing.
 */
#include "core/return.h"

#include "core/death.h"
#include "core/host.h"
#include "core/alloc.h"
#include "core/nice.h"
#include "core/node.h"
#include "core/proc.h"
#include "core/thread.h"
#include "core/trace.h"
#include "core/transaction.h"

/* Room that must be left before an item is taken: the largest return with its
 * word, which will be BR_TRANSACTION_SEC_CTX (uapi 2.2). A node's two returns
 * fit as well. */
#define ITEM_MAX (sizeof(u32) + sizeof(struct binder_transaction_data_secctx))

/* One read under way. */
struct read {
	struct binder_thread *thread;
	u32 room;	/* bytes of thread->out that user space's buffer takes */
	bool available; /* may take work of the process, as of the start */
	bool noop;	/* the first word is a BR_NOOP, which BR_SPAWN_LOOPER may replace */
};

static void out_add(struct binder_thread *thread, const void *data, size_t len)
{
	if (len)
		memcpy(thread->out.buf + thread->out.len, data, len);
	thread->out.len += len;
}

static void out_cmd(struct binder_thread *thread, u32 cmd, const void *payload, size_t len)
{
	trace_binder_return(cmd);
	binder_stats_br(thread->proc, cmd);
	out_add(thread, &cmd, sizeof(cmd));
	out_add(thread, payload, len);
}

/* Bytes of whole returns at the start of thread->out that fit into @size. */
static u32 out_fitting(const struct binder_thread *thread, u64 size)
{
	u32 at = 0, next, cmd;

	while (at < thread->out.len) {
		memcpy(&cmd, thread->out.buf + at, sizeof(cmd));
		next = at + sizeof(cmd) + _IOC_SIZE(cmd);
		if (next > size)
			break;
		at = next;
	}
	return at;
}

/* What is left of user space's buffer: nothing, if it claims to have used more than all. */
static u64 read_room(const struct binder_write_read *bwr)
{
	return bwr->read_size > bwr->read_consumed ? bwr->read_size - bwr->read_consumed : 0;
}

static int out_flush(struct binder_thread *thread, struct binder_write_read *bwr)
{
	u32 len = out_fitting(thread, read_room(bwr));

	if (!len)
		return 0;
	if (binder_host_write_user(thread, bwr->read_buffer + bwr->read_consumed, thread->out.buf,
				   len))
		return -EFAULT;
	bwr->read_consumed += len;
	thread->out.len -= len;
	memmove(thread->out.buf, thread->out.buf + len, thread->out.len);
	return 0;
}

/* All that user space will see of @t, taken while the queue still owns it. */
static void transaction_describe(struct binder_thread *thread, const struct binder_transaction *t,
				 struct binder_transaction_data *tr)
{
	const struct binder_buffer *buffer = t->buffer;

	memset(tr, 0, sizeof(*tr));
	if (buffer->target_node) {
		tr->target.ptr = buffer->target_node->ptr;
		tr->cookie = buffer->target_node->cookie;
	}
	tr->code = t->code;
	tr->flags = t->flags;
	tr->data_size = t->data_size;
	tr->offsets_size = t->offsets_size;
	tr->data.ptr.buffer = thread->proc->alloc->user_addr + buffer->offset;
	tr->data.ptr.offsets = tr->data.ptr.buffer + ALIGN(t->data_size, sizeof(u64));
}

/*
 * Deliver a call or reply, in two phases. First it moves from its queue to the
 * thread's stack, in one step, so that at no time the thread looks idle; and
 * whatever takes time is done unlocked: names of the sender as the receiver's
 * namespaces see them (and, with them, installing files). Then its buffer
 * becomes user space's to free.
 */
static void take_transaction(struct binder_thread *thread, struct binder_transaction *t)
	__must_hold(&thread->proc->lock)
{
	struct binder_proc *proc = thread->proc;
	struct binder_transaction_data tr;
	bool pushed = t->from != NULL;

	lockdep_assert_held(&proc->lock);
	transaction_describe(thread, t, &tr);
	binder_transaction_take_locked(thread, t);
	spin_unlock(&proc->lock);
	tr.sender_pid = t->from ? binder_host_pid_seen(proc, t->from->proc) : 0;
	tr.sender_euid = binder_host_uid_seen(proc, t->sender_euid);
	if (!t->reply)
		binder_nice_inherit(thread, t);

	trace_binder_transaction_received(t);

	spin_lock(&proc->lock);
	binder_transaction_deliver_locked(thread, t);
	out_cmd(thread, t->reply ? BR_REPLY : BR_TRANSACTION, &tr, sizeof(tr));
	if (!pushed) {
		spin_unlock(&proc->lock);
		binder_transaction_put(t);
		spin_lock(&proc->lock);
	}
}

/* Tell the owner what is true of its node by now; may find nothing to tell. */
static void take_node(struct binder_thread *thread, struct binder_node *node)
	__must_hold(&thread->proc->lock)
{
	struct binder_ptr_cookie name = { .ptr = node->ptr, .cookie = node->cookie };
	struct binder_proc *proc = thread->proc;
	bool strong = binder_node_strong_locked(node);
	bool weak = binder_node_weak_locked(node);

	lockdep_assert_held(&proc->lock);
	if (weak && !node->has_weak) {
		node->has_weak = true;
		node->pending_weak = true;
		node->local_weak++;
		out_cmd(thread, BR_INCREFS, &name, sizeof(name));
	}
	if (strong && !node->has_strong) {
		node->has_strong = true;
		node->pending_strong = true;
		node->local_strong++;
		out_cmd(thread, BR_ACQUIRE, &name, sizeof(name));
	}
	if (!strong && node->has_strong) {
		node->has_strong = false;
		out_cmd(thread, BR_RELEASE, &name, sizeof(name));
	}
	if (!weak && node->has_weak) {
		node->has_weak = false;
		out_cmd(thread, BR_DECREFS, &name, sizeof(name));
	}
	if (binder_node_settle_locked(node)) {
		spin_unlock(&proc->lock);
		binder_node_free(node);
		spin_lock(&proc->lock);
	}
}

static void take_error(struct binder_thread *thread, struct binder_error *error)
{
	s32 param = -ENOMEM; /* the one reason there is for BR_ERROR */

	out_cmd(thread, error->cmd, &param, error->cmd == BR_ERROR ? sizeof(param) : 0);
	error->cmd = BR_OK;
}

static void take_death(struct binder_thread *thread, struct binder_death *death)
	__must_hold(&thread->proc->lock)
{
	lockdep_assert_held(&thread->proc->lock);
	if (death->work.type == BINDER_WORK_CLEAR_DEATH) {
		out_cmd(thread, BR_CLEAR_DEATH_NOTIFICATION_DONE, &death->cookie,
			sizeof(death->cookie));
		binder_death_free(death);
		return;
	}
	out_cmd(thread, BR_DEAD_BINDER, &death->cookie, sizeof(death->cookie));
	list_add_tail(&death->work.entry, &thread->proc->delivered_death);
}

/* Turn one item into returns. True when the read ends with it. */
static bool take(struct binder_thread *thread, struct binder_work *work)
	__must_hold(&thread->proc->lock)
{
	enum binder_work_type type = work->type;

	lockdep_assert_held(&thread->proc->lock);
	list_del_init(&work->entry);
	switch (type) {
	case BINDER_WORK_TRANSACTION:
		take_transaction(thread, container_of(work, struct binder_transaction, work));
		return true;
	case BINDER_WORK_COMPLETE:
		out_cmd(thread, BR_TRANSACTION_COMPLETE, NULL, 0);
		binder_work_complete_free(work);
		return false;
	case BINDER_WORK_ERROR:
		take_error(thread, container_of(work, struct binder_error, work));
		return false;
	case BINDER_WORK_NODE:
		take_node(thread, container_of(work, struct binder_node, work));
		return false;
	case BINDER_WORK_DEAD_BINDER:
	case BINDER_WORK_DEAD_BINDER_AND_CLEAR:
		take_death(thread, container_of(work, struct binder_death, work));
		return true;
	case BINDER_WORK_CLEAR_DEATH:
		take_death(thread, container_of(work, struct binder_death, work));
		return false;
	}
	return false;
}

static struct binder_work *next_work_locked(struct read *r)
	__must_hold(&r->thread->proc->lock)
{
	struct binder_thread *thread = r->thread;
	struct binder_work *work;

	lockdep_assert_held(&thread->proc->lock);
	work = list_first_entry_or_null(&thread->todo, struct binder_work, entry);
	if (work)
		return work;
	thread->flagged = false;
	if (!r->available)
		return NULL;
	return list_first_entry_or_null(&thread->proc->todo, struct binder_work, entry);
}

/*
 * Own work first, then the process's (uapi 2.2), until something ends the read.
 *
 * A deferred completion goes out with whatever comes next, and before it; but behind
 * news of nodes, which the sending of their objects queued before it completed.
 */
static void read_fill_locked(struct read *r) __must_hold(&r->thread->proc->lock)
{
	struct binder_thread *thread = r->thread;
	struct binder_work *work;

	lockdep_assert_held(&thread->proc->lock);
	while (thread->out.len + ITEM_MAX <= r->room) {
		work = next_work_locked(r);
		if (thread->completes && (!work || work->type != BINDER_WORK_NODE)) {
			thread->completes--;
			out_cmd(thread, BR_TRANSACTION_COMPLETE, NULL, 0);
		} else if (!work || take(thread, work)) {
			break;
		}
	}
	if (list_empty(&thread->todo))
		thread->flagged = false;
}

static void read_spawn_locked(struct read *r) __must_hold(&r->thread->proc->lock)
{
	struct binder_proc *proc = r->thread->proc;
	u32 cmd = BR_SPAWN_LOOPER;

	lockdep_assert_held(&proc->lock);
	if (!r->noop || proc->requested_threads || !list_empty(&proc->waiting_threads) ||
	    proc->requested_threads_started >= proc->max_threads ||
	    !(r->thread->looper & (BINDER_LOOPER_REGISTERED | BINDER_LOOPER_ENTERED)))
		return;
	proc->requested_threads++;
	trace_binder_return(cmd);
	binder_stats_br(proc, cmd);
	memcpy(r->thread->out.buf, &cmd, sizeof(cmd));
}

/* Fill thread->out, which is empty, or find out that there is nothing to. */
static int read_locked(struct read *r, bool nonblock) __must_hold(&r->thread->proc->lock)
{
	struct binder_thread *thread = r->thread;
	u32 start;

	lockdep_assert_held(&thread->proc->lock);
	while (binder_thread_has_work_locked(thread)) {
		r->available = binder_thread_available_locked(thread);
		if (r->noop)
			out_cmd(thread, BR_NOOP, NULL, 0);
		start = thread->out.len;
		read_fill_locked(r);
		/* A node may have had nothing to tell: then keep waiting, unless
		 * user space left no room to tell anything. */
		if (thread->out.len > start || thread->need_return || start + ITEM_MAX > r->room) {
			read_spawn_locked(r);
			if (!list_empty(&thread->proc->todo))
				binder_proc_wake_one_locked(thread->proc);
			return 0;
		}
		thread->out.len = 0;
	}
	if (nonblock)
		return -EAGAIN;
	binder_thread_park_locked(thread);
	return BINDER_PARK;
}

/**
 * binder_read() - the read half of BINDER_WRITE_READ
 * @thread: the caller; or a thread that was parked here and woken
 * @bwr: read_consumed moves past what was returned
 * @nonblock: do not park
 *
 * After BINDER_PARK the thread may already be running elsewhere: the caller
 * may touch neither it nor @bwr again, but through a new claim (see thread.h).
 *
 * Context: may sleep; no locks held.
 * Return: 0; BINDER_PARK; -EAGAIN; -EFAULT when the read buffer cannot be
 * written: what was to be returned waits for the next read.
 */
int binder_read(struct binder_thread *thread, struct binder_write_read *bwr, bool nonblock)
{
	struct read r = { .thread = thread };
	struct binder_proc *proc = thread->proc;
	int ret = 0;

	spin_lock(&proc->lock);
	thread->park = BINDER_RUNNING;
	if (!thread->out.len) {
		r.room = min_t(u64, read_room(bwr), sizeof(thread->out.buf));
		r.noop = !bwr->read_consumed && r.room >= sizeof(u32);
		ret = read_locked(&r, nonblock);
	}
	spin_unlock(&proc->lock);
	return ret ? ret : out_flush(thread, bwr);
}
