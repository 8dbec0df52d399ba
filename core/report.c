// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contents of binder_logs (uapi 1.10). Parsers in the field read these:
 * the words are theirs, not ours to improve.
 */
#include "core/report.h"

#include "core/alloc.h"
#include "core/context.h"
#include "core/death.h"
#include "core/node.h"
#include "core/proc.h"
#include "core/ref.h"
#include "core/text.h"
#include "core/thread.h"
#include "core/transaction.h"

static const char *const bc_names[BINDER_NR_BC] = {
	"BC_TRANSACTION", "BC_REPLY", "BC_ACQUIRE_RESULT", "BC_FREE_BUFFER", "BC_INCREFS",
	"BC_ACQUIRE", "BC_RELEASE", "BC_DECREFS", "BC_INCREFS_DONE", "BC_ACQUIRE_DONE",
	"BC_ATTEMPT_ACQUIRE", "BC_REGISTER_LOOPER", "BC_ENTER_LOOPER", "BC_EXIT_LOOPER",
	"BC_REQUEST_DEATH_NOTIFICATION", "BC_CLEAR_DEATH_NOTIFICATION", "BC_DEAD_BINDER_DONE",
	"BC_TRANSACTION_SG", "BC_REPLY_SG", "BC_REQUEST_FREEZE_NOTIFICATION",
	"BC_CLEAR_FREEZE_NOTIFICATION", "BC_FREEZE_NOTIFICATION_DONE",
};

static const char *const br_names[BINDER_NR_BR] = {
	"BR_ERROR", "BR_OK", "BR_TRANSACTION", "BR_REPLY", "BR_ACQUIRE_RESULT", "BR_DEAD_REPLY",
	"BR_TRANSACTION_COMPLETE", "BR_INCREFS", "BR_ACQUIRE", "BR_RELEASE", "BR_DECREFS",
	"BR_ATTEMPT_ACQUIRE", "BR_NOOP", "BR_SPAWN_LOOPER", "BR_FINISHED", "BR_DEAD_BINDER",
	"BR_CLEAR_DEATH_NOTIFICATION_DONE", "BR_FAILED_REPLY", "BR_FROZEN_REPLY",
	"BR_ONEWAY_SPAM_SUSPECT", "BR_TRANSACTION_PENDING_FROZEN", "BR_FROZEN_BINDER",
	"BR_CLEAR_FREEZE_NOTIFICATION_DONE",
};

static const char *const object_names[BINDER_OBJ_COUNT] = {
	[BINDER_OBJ_PROC] = "proc",
	[BINDER_OBJ_THREAD] = "thread",
	[BINDER_OBJ_NODE] = "node",
	[BINDER_OBJ_REF] = "ref",
	[BINDER_OBJ_DEATH] = "death",
	[BINDER_OBJ_TRANSACTION] = "transaction",
	[BINDER_OBJ_COMPLETE] = "transaction_complete",
};

static void commands_to_text(struct binder_text *text, const char *prefix,
			     const struct binder_stats *stats)
{
	int i, n;

	for (i = 0; i < BINDER_NR_BC; i++) {
		n = atomic_read(&stats->bc[i]);
		if (n)
			binder_text_add(text, "%s%s: %d\n", prefix, bc_names[i], n);
	}
	for (i = 0; i < BINDER_NR_BR; i++) {
		n = atomic_read(&stats->br[i]);
		if (n)
			binder_text_add(text, "%s%s: %d\n", prefix, br_names[i], n);
	}
}

static void work_to_text_locked(struct binder_text *text, struct binder_proc *proc,
				const char *prefix, const struct binder_work *work)
	__must_hold(&proc->lock)
{
	lockdep_assert_held(&proc->lock);
	switch (work->type) {
	case BINDER_WORK_TRANSACTION:
		binder_text_add(text, "%spending ", prefix);
		binder_transaction_to_text(text, "transaction",
					   container_of(work, struct binder_transaction, work),
					   true);
		break;
	case BINDER_WORK_COMPLETE:
		binder_text_add(text, "%stransaction complete\n", prefix);
		break;
	case BINDER_WORK_ERROR:
		binder_text_add(text, "%stransaction error: %u\n", prefix,
				container_of(work, struct binder_error, work)->cmd);
		break;
	case BINDER_WORK_NODE: {
		const struct binder_node *node = container_of(work, struct binder_node, work);

		binder_text_add(text, "%snode work %d: u%016llx c%016llx\n", prefix,
				node->debug_id, (u64)node->ptr, (u64)node->cookie);
		break;
	}
	case BINDER_WORK_DEAD_BINDER:
		binder_text_add(text, "%shas dead binder\n", prefix);
		break;
	case BINDER_WORK_DEAD_BINDER_AND_CLEAR:
		binder_text_add(text, "%shas cleared dead binder\n", prefix);
		break;
	case BINDER_WORK_CLEAR_DEATH:
		binder_text_add(text, "%shas cleared death notification\n", prefix);
		break;
	}
}

static void thread_to_text_locked(struct binder_text *text, struct binder_thread *thread, bool all)
	__must_hold(&thread->proc->lock)
{
	struct binder_transaction *t = thread->stack;
	size_t start = text->len, header;
	struct binder_work *work;
	u32 i;

	lockdep_assert_held(&thread->proc->lock);
	binder_text_add(text, "  thread %d: l %02x need_return %d tr %d\n", thread->tid,
			thread->looper, thread->need_return, (int)refcount_read(&thread->refs) - 1);
	header = text->len;
	while (t) {
		if (t->from == thread) {
			binder_transaction_to_text(text, "    outgoing transaction", t, false);
			t = t->from_parent;
		} else if (t->to_thread == thread) {
			binder_transaction_to_text(text, "    incoming transaction", t, true);
			t = t->to_parent;
		} else {
			binder_transaction_to_text(text, "    bad transaction", t, false);
			break;
		}
	}
	list_for_each_entry(work, &thread->todo, entry)
		work_to_text_locked(text, thread->proc, "    ", work);
	for (i = 0; i < thread->completes; i++)
		binder_text_add(text, "    transaction complete\n");
	if (!all && text->len == header) {
		text->len = start;
		if (text->size)
			text->buf[start < text->size ? start : text->size - 1] = '\0';
	}
}

static void queues_to_text_locked(struct binder_text *text, struct binder_proc *proc)
	__must_hold(&proc->lock)
{
	struct binder_work *work;

	lockdep_assert_held(&proc->lock);
	list_for_each_entry(work, &proc->todo, entry)
		work_to_text_locked(text, proc, "  ", work);
	if (!list_empty(&proc->delivered_death))
		binder_text_add(text, "  has delivered dead binder\n");
}

/* @all: state; else only what concerns transactions. */
static void proc_to_text(struct binder_text *text, struct binder_proc *proc, bool all)
{
	struct rb_node *n;

	binder_text_add(text, "proc %d\ncontext %s\n", proc->pid, proc->context->name);
	spin_lock(&proc->lock);
	for (n = rb_first(&proc->threads); n; n = rb_next(n))
		thread_to_text_locked(text, rb_entry(n, struct binder_thread, rb_node), all);
	for (n = rb_first(&proc->nodes); n; n = rb_next(n)) {
		const struct binder_node *node = rb_entry(n, struct binder_node, rb_node);

		if (all || node->has_async)
			binder_node_to_text(text, node);
	}
	spin_unlock(&proc->lock);
	if (all) {
		spin_lock(&proc->refs_lock);
		for (n = rb_first(&proc->refs_by_handle); n; n = rb_next(n))
			binder_ref_to_text(text, rb_entry(n, struct binder_ref, rb_handle));
		spin_unlock(&proc->refs_lock);
	}
	binder_alloc_to_text(text, proc->alloc);
	spin_lock(&proc->lock);
	queues_to_text_locked(text, proc);
	spin_unlock(&proc->lock);
}

struct proc_counts {
	int threads, ready, nodes, refs, strong, weak, pending;
	u32 requested, started, max;
};

static void proc_count(struct binder_proc *proc, struct proc_counts *c)
{
	struct binder_thread *thread;
	struct binder_work *work;
	struct rb_node *n;

	spin_lock(&proc->lock);
	for (n = rb_first(&proc->threads); n; n = rb_next(n))
		c->threads++;
	list_for_each_entry(thread, &proc->waiting_threads, waiting_entry)
		c->ready++;
	for (n = rb_first(&proc->nodes); n; n = rb_next(n))
		c->nodes++;
	list_for_each_entry(work, &proc->todo, entry)
		c->pending += work->type == BINDER_WORK_TRANSACTION;
	c->requested = proc->requested_threads;
	c->started = proc->requested_threads_started;
	c->max = proc->max_threads;
	spin_unlock(&proc->lock);

	spin_lock(&proc->refs_lock);
	for (n = rb_first(&proc->refs_by_handle); n; n = rb_next(n)) {
		const struct binder_ref *ref = rb_entry(n, struct binder_ref, rb_handle);

		c->refs++;
		c->strong += ref->strong;
		c->weak += ref->weak;
	}
	spin_unlock(&proc->refs_lock);
}

static void proc_stats_to_text(struct binder_text *text, struct binder_proc *proc)
{
	struct binder_alloc_space space;
	struct proc_counts c = {};

	proc_count(proc, &c);
	binder_alloc_space(proc->alloc, &space);
	binder_text_add(text, "proc %d\ncontext %s\n  threads: %d\n", proc->pid,
			proc->context->name, c.threads);
	binder_text_add(text, "  requested threads: %u+%u/%u\n  ready threads %d\n",
			c.requested, c.started, c.max, c.ready);
	binder_text_add(text, "  free async space %zu\n  nodes: %d\n  refs: %d s %d w %d\n",
			space.free_async, c.nodes, c.refs, c.strong, c.weak);
	binder_text_add(text, "  buffers: %zu\n  pages: %zu:%zu:%zu\n  pages high watermark: %zu\n",
			space.allocated_count, space.pages_active, space.pages_lru,
			space.pages_free, space.pages_high);
	binder_text_add(text, "  pending transactions: %d\n", c.pending);
	commands_to_text(text, "  ", &proc->stats);
}

/** binder_report_state() - binder_logs/state. Context: may sleep. */
void binder_report_state(struct binder_text *text)
{
	struct binder_proc *proc;

	binder_text_add(text, "binder state:\n");
	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry)
		proc_to_text(text, proc, true);
	binder_procs_unlock();
}

/** binder_report_transactions() - binder_logs/transactions. Context: may sleep. */
void binder_report_transactions(struct binder_text *text)
{
	struct binder_proc *proc;

	binder_text_add(text, "binder transactions:\n");
	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry)
		proc_to_text(text, proc, false);
	binder_procs_unlock();
}

/** binder_report_stats() - binder_logs/stats. Context: may sleep. */
void binder_report_stats(struct binder_text *text)
{
	struct binder_proc *proc;
	int i;

	binder_text_add(text, "binder stats:\n");
	commands_to_text(text, "", &binder_stats_all);
	for (i = 0; i < BINDER_OBJ_COUNT; i++) {
		int deleted = atomic_read(&binder_obj_deleted[i]);
		int created = atomic_read(&binder_obj_created[i]);

		binder_text_add(text, "%s: active %d total %d\n", object_names[i],
				created - deleted, created);
	}
	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry)
		proc_stats_to_text(text, proc);
	binder_procs_unlock();
}

/** binder_report_log() - binder_logs/transaction_log, failed_transaction_log. Context: any. */
void binder_report_log(struct binder_text *text, struct binder_log *log)
{
	u32 i;

	spin_lock(&log->lock);
	for (i = 0; i < BINDER_LOG_ENTRIES; i++) {
		const struct binder_log_entry *entry;

		entry = &log->entries[(log->next + i) % BINDER_LOG_ENTRIES];
		if (entry->debug_id)
			binder_log_entry_to_text(text, entry);
	}
	spin_unlock(&log->lock);
}

/** binder_report_proc() - binder_logs/proc/PID: every open of that process. Context: may sleep. */
void binder_report_proc(struct binder_text *text, pid_t pid)
{
	struct binder_proc *proc;

	binder_text_add(text, "binder proc state:\n");
	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry)
		if (proc->pid == pid)
			proc_to_text(text, proc, true);
	binder_procs_unlock();
}
