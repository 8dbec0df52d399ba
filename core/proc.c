// SPDX-License-Identifier: GPL-2.0-only
#include "core/proc.h"

#include "core/alloc.h"
#include "core/context.h"
#include "core/node.h"
#include "core/ref.h"
#include "core/thread.h"
#include "core/transaction.h"
#include "core/work.h"

LIST_HEAD(binder_procs);
static struct mutex procs_mutex;

/** binder_core_init() - once, before anything else of the core. Context: may sleep. */
void binder_core_init(void)
{
	INIT_LIST_HEAD(&binder_procs);
	binder_mutex_init(&procs_mutex, BINDER_RANK_PROCS);
	binder_log_init();
	binder_pages_init();
}

/**
 * binder_procs_lock() - keep the list of processes, and each from being released
 * Context: may sleep; takes the PROCS lock, for binder_procs_unlock().
 */
void binder_procs_lock(void)
{
	mutex_lock(&procs_mutex);
}

/** binder_procs_unlock() - undo binder_procs_lock(). Context: PROCS held. */
void binder_procs_unlock(void)
{
	mutex_unlock(&procs_mutex);
}

/**
 * binder_proc_open() - a device was opened
 * @context: the device's; the process takes a reference
 * @pid: thread group id of the opener
 *
 * Context: may sleep; no locks held.
 * Return: the process, for binder_proc_release(); NULL when out of memory.
 */
struct binder_proc *binder_proc_open(struct binder_context *context, pid_t pid)
{
	struct binder_proc *proc = kzalloc(sizeof(*proc), GFP_KERNEL);

	if (!proc)
		return NULL;
	binder_spin_init(&proc->refs_lock, BINDER_RANK_REFS);
	proc->refs_by_handle = RB_ROOT;
	proc->refs_by_node = RB_ROOT;
	binder_spin_init(&proc->lock, BINDER_RANK_PROC);
	proc->threads = RB_ROOT;
	proc->nodes = RB_ROOT;
	INIT_LIST_HEAD(&proc->todo);
	INIT_LIST_HEAD(&proc->waiting_threads);
	INIT_LIST_HEAD(&proc->delivered_death);
	proc->users = 1;
	refcount_set(&proc->refs, 1);
	proc->debug_id = binder_next_debug_id();
	proc->pid = pid;
	proc->alloc = binder_alloc_new(proc, pid);
	if (!proc->alloc) {
		kfree(proc);
		return NULL;
	}
	proc->context = binder_context_get(context);
	binder_obj_count(BINDER_OBJ_PROC);

	mutex_lock(&procs_mutex);
	list_add_tail(&proc->entry, &binder_procs);
	mutex_unlock(&procs_mutex);
	return proc;
}

/** binder_proc_get() - one more reference. Context: any. Return: @proc. */
struct binder_proc *binder_proc_get(struct binder_proc *proc)
{
	refcount_inc(&proc->refs);
	return proc;
}

/** binder_proc_put() - drop a reference. Context: no spinlocks held. */
void binder_proc_put(struct binder_proc *proc)
{
	if (!refcount_dec_and_test(&proc->refs))
		return;
	binder_host_proc_fini(proc);
	binder_alloc_put(proc->alloc);
	binder_context_put(proc->context);
	kvfree(proc->handles);
	kfree(proc);
	binder_obj_uncount(BINDER_OBJ_PROC);
}

/**
 * binder_proc_leave() - stop using a process's mapping
 *
 * Undoes binder_node_enter_target(). The last to leave a released process
 * tears the mapping down: a sender may have been copying into it when the
 * process died.
 *
 * Context: may sleep; no locks held.
 */
void binder_proc_leave(struct binder_proc *proc)
{
	struct binder_buffer *buffer;
	bool last;

	spin_lock(&proc->lock);
	last = --proc->users == 0;
	spin_unlock(&proc->lock);
	if (!last)
		return;
	while ((buffer = binder_alloc_first_buffer(proc->alloc)))
		binder_buffer_release(proc, buffer);
	binder_ref_release_all(proc);
	binder_alloc_release(proc->alloc);
	binder_proc_put(proc);
}

/** binder_proc_wake_one_locked() - let a waiting thread look at the process queue */
void binder_proc_wake_one_locked(struct binder_proc *proc)
{
	struct binder_thread *thread;

	lockdep_assert_held(&proc->lock);
	thread = list_first_entry_or_null(&proc->waiting_threads, struct binder_thread,
					  waiting_entry);
	if (thread)
		binder_thread_wake_locked(thread);
	else if (proc->polled)
		binder_host_poll_wake(proc);
}

/** binder_proc_queue_locked() - work for any thread of the process */
void binder_proc_queue_locked(struct binder_proc *proc, struct binder_work *work)
{
	lockdep_assert_held(&proc->lock);
	list_add_tail(&work->entry, &proc->todo);
	binder_proc_wake_one_locked(proc);
}

/**
 * binder_proc_flush() - a descriptor of the device was closed
 * Every thread's next or present read returns (uapi 2.2).
 * Context: no locks held.
 */
void binder_proc_flush(struct binder_proc *proc)
{
	struct rb_node *n;

	spin_lock(&proc->lock);
	for (n = rb_first(&proc->threads); n; n = rb_next(n)) {
		struct binder_thread *thread = rb_entry(n, struct binder_thread, rb_node);

		thread->need_return = true;
		binder_thread_wake_locked(thread);
	}
	if (proc->polled)
		binder_host_poll_wake(proc);
	spin_unlock(&proc->lock);
}

/* With a reference: binder_thread_reap() may be at work on it. */
static struct binder_thread *first_thread(struct binder_proc *proc)
{
	struct binder_thread *thread = NULL;
	struct rb_node *n;

	spin_lock(&proc->lock);
	n = rb_first(&proc->threads);
	if (n)
		thread = binder_thread_get(rb_entry(n, struct binder_thread, rb_node));
	spin_unlock(&proc->lock);
	return thread;
}

/*
 * Unlink the next thing that the queues of the dead own. What others own is
 * unlinked here as well, under the lock, because they may still be at work: a
 * sender on its way out drops references, and with one its death request.
 */
static struct binder_work *owned_work_next(struct binder_proc *proc)
{
	struct list_head *queues[] = { &proc->todo, &proc->delivered_death };
	struct binder_work *work, *owned = NULL;
	size_t i;

	spin_lock(&proc->lock);
	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		while (!owned && !list_empty(queues[i])) {
			work = list_first_entry(queues[i], struct binder_work, entry);
			list_del_init(&work->entry);
			if (binder_work_owned(work))
				owned = work;
		}
	}
	spin_unlock(&proc->lock);
	return owned;
}

/**
 * binder_proc_release() - the last descriptor was closed
 * @proc: its reference is consumed
 *
 * Context: may sleep; no locks held; no call of the process is under way.
 */
void binder_proc_release(struct binder_proc *proc)
{
	struct binder_thread *thread;
	struct binder_work *work;

	mutex_lock(&procs_mutex);
	list_del_init(&proc->entry);
	mutex_unlock(&procs_mutex);

	binder_context_drop_manager(proc->context, proc);
	binder_alloc_unmap(proc->alloc);

	spin_lock(&proc->lock);
	proc->dead = true;
	spin_unlock(&proc->lock);

	while ((thread = first_thread(proc))) {
		binder_thread_release(thread);
		binder_thread_put(thread);
	}
	binder_node_release_all(proc);
	while ((work = owned_work_next(proc)))
		binder_work_drop(work);
	binder_ref_release_all(proc);
	binder_proc_leave(proc);
}
