// SPDX-License-Identifier: GPL-2.0-only
#include "core/thread.h"

#include "core/death.h"
#include "core/node.h"
#include "core/proc.h"
#include "core/transaction.h"

static struct binder_thread *thread_find_locked(struct binder_proc *proc, pid_t tid)
	__must_hold(&proc->lock)
{
	struct rb_node *n = proc->threads.rb_node;

	lockdep_assert_held(&proc->lock);
	while (n) {
		struct binder_thread *thread = rb_entry(n, struct binder_thread, rb_node);

		if (tid < thread->tid)
			n = n->rb_left;
		else if (tid > thread->tid)
			n = n->rb_right;
		else
			return thread;
	}
	return NULL;
}

static void thread_insert_locked(struct binder_proc *proc, struct binder_thread *thread)
	__must_hold(&proc->lock)
{
	struct rb_node **p = &proc->threads.rb_node;
	struct rb_node *parent = NULL;

	lockdep_assert_held(&proc->lock);
	while (*p) {
		parent = *p;
		if (thread->tid < rb_entry(parent, struct binder_thread, rb_node)->tid)
			p = &parent->rb_left;
		else
			p = &parent->rb_right;
	}
	rb_link_node(&thread->rb_node, parent, p);
	rb_insert_color(&thread->rb_node, &proc->threads);
}

static struct binder_thread *thread_alloc(struct binder_proc *proc, pid_t tid)
{
	struct binder_thread *thread = kzalloc(sizeof(*thread), GFP_KERNEL);

	if (!thread)
		return NULL;
	thread->proc = binder_proc_get(proc);
	thread->tid = tid;
	refcount_set(&thread->refs, 1);
	INIT_LIST_HEAD(&thread->waiting_entry);
	INIT_LIST_HEAD(&thread->todo);
	binder_work_init(&thread->return_error.work, BINDER_WORK_ERROR);
	binder_work_init(&thread->reply_error.work, BINDER_WORK_ERROR);
	thread->return_error.cmd = BR_OK;
	thread->reply_error.cmd = BR_OK;
	thread->ee.command = BR_OK;
	/* A new thread's first read never blocks (uapi 2.2). */
	thread->need_return = true;
	binder_host_thread_init(thread);
	binder_obj_count(BINDER_OBJ_THREAD);
	return thread;
}

/**
 * binder_thread_lookup() - the record of the calling task, made at first sight
 * @proc: the open it calls on
 * @tid: its thread id
 *
 * Context: may sleep; no locks held.
 * Return: the thread with a reference, in a call until binder_ioctl_end() or
 * binder_thread_done(); NULL when out of memory.
 */
struct binder_thread *binder_thread_lookup(struct binder_proc *proc, pid_t tid)
{
	struct binder_thread *thread, *new = NULL;

	spin_lock(&proc->lock);
	thread = thread_find_locked(proc, tid);
	if (!thread) {
		spin_unlock(&proc->lock);
		new = thread_alloc(proc, tid);
		if (!new)
			return NULL;
		spin_lock(&proc->lock);
		thread = thread_find_locked(proc, tid);
		if (!thread) {
			thread_insert_locked(proc, new);
			thread = new;
			new = NULL;
		}
	}
	refcount_inc(&thread->refs);
	thread->lookups++;
	spin_unlock(&proc->lock);
	if (new)
		binder_thread_put(new);
	return thread;
}

/**
 * binder_thread_done() - undo binder_thread_lookup(), for a call that was no ioctl
 * Context: no locks held.
 */
void binder_thread_done(struct binder_thread *thread)
{
	spin_lock(&thread->proc->lock);
	thread->lookups--;
	spin_unlock(&thread->proc->lock);
	binder_thread_put(thread);
}

/** binder_thread_get() - one more reference. Context: any. Return: @thread. */
struct binder_thread *binder_thread_get(struct binder_thread *thread)
{
	refcount_inc(&thread->refs);
	return thread;
}

/** binder_thread_put() - drop a reference. Context: no spinlocks held. */
void binder_thread_put(struct binder_thread *thread)
{
	struct binder_proc *proc = thread->proc;

	if (!refcount_dec_and_test(&thread->refs))
		return;
	binder_host_thread_fini(thread);
	kfree(thread);
	binder_obj_uncount(BINDER_OBJ_THREAD);
	binder_proc_put(proc);
}

/*
 * Does its queue hold something that ends a wait? The flag may outlive what it was set for: the
 * news of a node that stood behind it goes with the node.
 */
static bool flagged_locked(const struct binder_thread *thread) __must_hold(&thread->proc->lock)
{
	lockdep_assert_held(&thread->proc->lock);
	return thread->flagged && !list_empty(&thread->todo);
}

/**
 * binder_thread_available_locked() - may it take work of the process?
 *
 * Iff it has no transaction in progress and nothing flagged in its own queue.
 * A deferred completion does not count: a server whose reply asked for
 * TF_DEFER_COMPLETE holds one while it waits for its next call
 * (requirements R3).
 */
bool binder_thread_available_locked(const struct binder_thread *thread)
{
	lockdep_assert_held(&thread->proc->lock);
	return !thread->stack && !flagged_locked(thread);
}

/** binder_thread_has_work_locked() - would a read return? */
bool binder_thread_has_work_locked(const struct binder_thread *thread)
{
	lockdep_assert_held(&thread->proc->lock);
	return thread->need_return || flagged_locked(thread) || thread->out.len ||
	       (binder_thread_available_locked(thread) && !list_empty(&thread->proc->todo));
}

static void wake_locked(struct binder_thread *thread, bool sync) __must_hold(&thread->proc->lock)
{
	lockdep_assert_held(&thread->proc->lock);
	if (thread->park != BINDER_PARKED)
		return;
	thread->park = BINDER_READY;
	list_del_init(&thread->waiting_entry);
	thread->looper &= ~BINDER_LOOPER_WAITING;
	binder_host_wake(thread, sync);
}

/**
 * binder_thread_wake_locked() - end a park
 * Claims it if nobody has: the host then reads for the thread.
 */
void binder_thread_wake_locked(struct binder_thread *thread)
{
	lockdep_assert_held(&thread->proc->lock);
	wake_locked(thread, false);
}

static void queue_locked(struct binder_thread *thread, struct binder_work *work, bool sync)
	__must_hold(&thread->proc->lock)
{
	lockdep_assert_held(&thread->proc->lock);
	list_add_tail(&work->entry, &thread->todo);
	thread->flagged = true;
	wake_locked(thread, sync);
	if (thread->looper & BINDER_LOOPER_POLL)
		binder_host_poll_wake(thread->proc);
}

/** binder_thread_queue_locked() - give a thread work that ends its wait */
void binder_thread_queue_locked(struct binder_thread *thread, struct binder_work *work)
{
	lockdep_assert_held(&thread->proc->lock);
	queue_locked(thread, work, false);
}

/** binder_thread_queue_sync_locked() - the same by a thread that goes on to wait */
void binder_thread_queue_sync_locked(struct binder_thread *thread, struct binder_work *work)
{
	lockdep_assert_held(&thread->proc->lock);
	queue_locked(thread, work, true);
}

/** binder_thread_queue_deferred_locked() - give a thread work for its next return, whenever */
void binder_thread_queue_deferred_locked(struct binder_thread *thread, struct binder_work *work)
{
	lockdep_assert_held(&thread->proc->lock);
	list_add_tail(&work->entry, &thread->todo);
}

/**
 * binder_thread_park_locked() - nothing to return: wait
 * Last in first out: the thread that waited least is the warmest.
 */
void binder_thread_park_locked(struct binder_thread *thread)
{
	lockdep_assert_held(&thread->proc->lock);
	thread->park = BINDER_PARKED;
	if (binder_thread_available_locked(thread)) {
		list_add(&thread->waiting_entry, &thread->proc->waiting_threads);
		thread->looper |= BINDER_LOOPER_WAITING;
	}
}

/**
 * binder_thread_unpark() - take a thread out of its wait without work for it
 *
 * For interrupts. The thread must next make a call of its own.
 *
 * Context: takes the PROC lock.
 * Return: true when the park was claimed: the caller now owns it; false when
 * somebody else has, or the thread is not parked.
 */
bool binder_thread_unpark(struct binder_thread *thread)
{
	struct binder_proc *proc = thread->proc;
	bool claimed;

	spin_lock(&proc->lock);
	claimed = thread->park == BINDER_PARKED;
	if (claimed) {
		thread->park = BINDER_RUNNING;
		list_del_init(&thread->waiting_entry);
		thread->looper &= ~BINDER_LOOPER_WAITING;
	}
	spin_unlock(&proc->lock);
	return claimed;
}

/**
 * binder_thread_decline() - the host will not read for a thread after all
 *
 * For a host that refuses a call it may already have claimed. What the thread
 * was woken for stays in its queue; what is the process's goes to another.
 *
 * Context: takes the PROC lock.
 */
void binder_thread_decline(struct binder_thread *thread)
{
	struct binder_proc *proc = thread->proc;

	spin_lock(&proc->lock);
	thread->park = BINDER_RUNNING;
	if (!list_empty(&proc->todo))
		binder_proc_wake_one_locked(proc);
	spin_unlock(&proc->lock);
}

/**
 * binder_thread_poll() - would a read by this thread return?
 *
 * Makes the thread a poll user: from now on binder_host_poll_wake() is called
 * when that may have changed.
 *
 * Context: takes the PROC lock.
 */
bool binder_thread_poll(struct binder_thread *thread)
{
	struct binder_proc *proc = thread->proc;
	bool readable;

	spin_lock(&proc->lock);
	thread->looper |= BINDER_LOOPER_POLL;
	proc->polled = true;
	readable = binder_thread_has_work_locked(thread);
	spin_unlock(&proc->lock);
	return readable;
}

/** binder_thread_enter_looper() - BC_ENTER_LOOPER: its program made it. Context: no locks held. */
void binder_thread_enter_looper(struct binder_thread *thread)
{
	bool twice;

	spin_lock(&thread->proc->lock);
	twice = thread->looper & BINDER_LOOPER_REGISTERED;
	if (twice)
		thread->looper |= BINDER_LOOPER_INVALID;
	thread->looper |= BINDER_LOOPER_ENTERED;
	spin_unlock(&thread->proc->lock);
	if (twice)
		binder_user_error(thread, "BC_ENTER_LOOPER after BC_REGISTER_LOOPER\n");
}

/**
 * binder_thread_register_looper() - BC_REGISTER_LOOPER: made because of BR_SPAWN_LOOPER
 * Context: no locks held.
 */
void binder_thread_register_looper(struct binder_thread *thread)
{
	struct binder_proc *proc = thread->proc;
	const char *wrong = NULL;

	spin_lock(&proc->lock);
	if (thread->looper & BINDER_LOOPER_ENTERED) {
		wrong = "after BC_ENTER_LOOPER";
	} else if (!proc->requested_threads) {
		wrong = "though no thread was asked for";
	} else {
		proc->requested_threads--;
		proc->requested_threads_started++;
	}
	if (wrong)
		thread->looper |= BINDER_LOOPER_INVALID;
	thread->looper |= BINDER_LOOPER_REGISTERED;
	spin_unlock(&proc->lock);
	if (wrong)
		binder_user_error(thread, "BC_REGISTER_LOOPER %s\n", wrong);
}

/** binder_thread_exit_looper() - BC_EXIT_LOOPER. Context: no locks held. */
void binder_thread_exit_looper(struct binder_thread *thread)
{
	spin_lock(&thread->proc->lock);
	thread->looper |= BINDER_LOOPER_EXITED;
	spin_unlock(&thread->proc->lock);
}

/** binder_thread_set_ee_locked() - what BINDER_GET_EXTENDED_ERROR will say */
void binder_thread_set_ee_locked(struct binder_thread *thread, int debug_id, u32 cmd, int error)
{
	lockdep_assert_held(&thread->proc->lock);
	thread->ee.id = debug_id;
	thread->ee.command = cmd;
	thread->ee.param = error;
}

static void error_queue_locked(struct binder_thread *thread, struct binder_error *error, u32 cmd)
	__must_hold(&thread->proc->lock)
{
	lockdep_assert_held(&thread->proc->lock);
	if (error->cmd != BR_OK)
		return; /* still unread: the first one stands */
	error->cmd = cmd;
	binder_thread_queue_locked(thread, &error->work);
}

/** binder_thread_set_error_locked() - the thread's own command failed; stops its write loop */
void binder_thread_set_error_locked(struct binder_thread *thread, u32 cmd)
{
	lockdep_assert_held(&thread->proc->lock);
	error_queue_locked(thread, &thread->return_error, cmd);
}

/** binder_thread_set_reply_error_locked() - the call it waits for failed */
void binder_thread_set_reply_error_locked(struct binder_thread *thread, u32 cmd)
{
	lockdep_assert_held(&thread->proc->lock);
	error_queue_locked(thread, &thread->reply_error, cmd);
}

/* Whoever is on the stack will not be answered by this thread any more. */
static struct binder_transaction *stack_detach_locked(struct binder_thread *thread)
	__must_hold(&thread->proc->lock)
{
	struct binder_transaction *stack = thread->stack, *t = stack;

	lockdep_assert_held(&thread->proc->lock);
	while (t) {
		if (t->from == thread) {
			t->settled = true;
			t = t->from_parent;
		} else {
			t->to_thread = NULL;
			t = t->to_parent;
		}
	}
	thread->stack = NULL;
	return stack;
}

/*
 * Take one thing out of the queue of a dead thread: how many there are is up
 * to user space, so the lock is not held for all of them. Notices about the
 * living move on to the process, unless that is dead too: it may have emptied
 * its own queue already.
 * Return: false when it is empty; else *@work, if set, is the caller's to drop.
 */
static bool todo_take(struct binder_thread *thread, struct binder_work **work)
{
	struct binder_proc *proc = thread->proc;
	struct binder_work *first;

	*work = NULL;
	spin_lock(&proc->lock);
	first = list_first_entry_or_null(&thread->todo, struct binder_work, entry);
	if (first) {
		list_del_init(&first->entry);
		if (first->type == BINDER_WORK_TRANSACTION || first->type == BINDER_WORK_COMPLETE ||
		    (proc->dead && binder_work_owned(first)))
			*work = first;
		else if (first->type != BINDER_WORK_ERROR && !proc->dead)
			binder_proc_queue_locked(proc, first);
	}
	spin_unlock(&proc->lock);
	return first != NULL;
}

/*
 * Take a thread out of its process, once. @stack receives what stood on its
 * stack. Return: false when it is out already.
 */
static bool thread_detach_locked(struct binder_thread *thread, struct binder_transaction **stack)
	__must_hold(&thread->proc->lock)
{
	struct binder_proc *proc = thread->proc;

	lockdep_assert_held(&proc->lock);
	if (thread->dead)
		return false;
	thread->dead = true;
	rb_erase(&thread->rb_node, &proc->threads);
	list_del_init(&thread->waiting_entry);
	*stack = stack_detach_locked(thread);
	thread->flagged = false;
	if (thread->looper & BINDER_LOOPER_POLL)
		binder_host_poll_wake(proc);
	return true;
}

/* And settle what it leaves. The tree's reference is dropped. */
static void thread_dispose(struct binder_thread *thread, struct binder_transaction *stack)
{
	struct binder_work *work;

	binder_transaction_release_stack(thread, stack);
	while (todo_take(thread, &work))
		if (work)
			binder_work_drop(work);
	binder_thread_put(thread);
}

/**
 * binder_thread_release() - BINDER_THREAD_EXIT, or its process ends
 *
 * Callers it has not answered get BR_DEAD_REPLY. Reference and death notices
 * go to the process queue: another thread, or the process's own release,
 * takes care of them.
 *
 * Context: may sleep; no locks held; the thread is not parked.
 */
void binder_thread_release(struct binder_thread *thread)
{
	struct binder_transaction *stack;
	bool detached;

	spin_lock(&thread->proc->lock);
	detached = thread_detach_locked(thread, &stack);
	spin_unlock(&thread->proc->lock);
	if (detached)
		thread_dispose(thread, stack);
}

/**
 * binder_thread_reap() - a thread's task ended without BINDER_THREAD_EXIT
 * @thread: the caller has a reference that is not of a lookup
 *
 * For hosts that can tell. Unlike the task itself this may race with the
 * release of the process, which then sees to its threads on its own.
 *
 * Context: may sleep; no locks held.
 * Return: false when a new task with the same id has called in already: it has
 * taken over the record, as it does in hosts that cannot tell.
 */
bool binder_thread_reap(struct binder_thread *thread)
{
	struct binder_proc *proc = thread->proc;
	struct binder_transaction *stack;
	bool taken_over, detached = false;

	spin_lock(&proc->lock);
	taken_over = thread->lookups;
	if (!taken_over && !proc->dead)
		detached = thread_detach_locked(thread, &stack);
	if (detached)
		proc->users++;
	spin_unlock(&proc->lock);
	if (detached) {
		thread_dispose(thread, stack);
		binder_proc_leave(proc);
	}
	return !taken_over;
}
