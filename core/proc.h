/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process record: one open of a device. It owns threads (by tid), nodes (by
 * ptr), references (by handle and by node), a todo list and an allocator.
 *
 * Life: binder_proc_open() to binder_proc_release(), which marks it dead and
 * takes it apart; the memory stays until the last reference. A thread, a node
 * and a transaction each hold a reference to their process, so thread->proc,
 * node->proc and t->to_proc are always good to follow and to lock; whether
 * the process still lives is proc->dead, under its lock.
 */
#ifndef CORE_PROC_H
#define CORE_PROC_H

#include "core/host.h"
#include "core/log.h"

struct binder_context;
struct binder_text;
struct binder_thread;
struct binder_work;

struct binder_proc {
	/* rank REFS; guards the handle table (ref.c) */
	spinlock_t refs_lock;
	struct rb_root refs_by_handle __guarded_by(&refs_lock);
	struct rb_root refs_by_node __guarded_by(&refs_lock);
	unsigned long *handles __guarded_by(&refs_lock);
	unsigned int nr_handles __guarded_by(&refs_lock);

	/* rank PROC; guards all down to the next heading, and the fields of this
	 * process's threads and nodes that say so */
	spinlock_t lock;
	struct rb_root threads __guarded_by(&lock);
	struct rb_root nodes __guarded_by(&lock);
	struct list_head todo __guarded_by(&lock);
	struct list_head waiting_threads __guarded_by(&lock);
	struct list_head delivered_death __guarded_by(&lock);
	u32 max_threads __guarded_by(&lock);
	u32 requested_threads __guarded_by(&lock);
	u32 requested_threads_started __guarded_by(&lock);
	u32 users __guarded_by(&lock); /* senders and reapers at work, + 1 until released */
	bool polled __guarded_by(&lock);
	bool dead __guarded_by(&lock);

	/* in binder_procs, under the PROCS lock */
	struct list_head entry;

	/* atomic: */
	refcount_t refs;
	struct binder_stats stats;

	/* immutable after open: */
	struct binder_context *context;
	struct binder_alloc *alloc;
	int debug_id;
	pid_t pid;

	/* the host's own */
	struct binder_host_proc host;
};

struct binder_proc *binder_proc_open(struct binder_context *context, pid_t pid);
void binder_proc_flush(struct binder_proc *proc);
void binder_proc_release(struct binder_proc *proc);
struct binder_proc *binder_proc_get(struct binder_proc *proc);
void binder_proc_put(struct binder_proc *proc);

void binder_proc_leave(struct binder_proc *proc);

void binder_proc_queue_locked(struct binder_proc *proc, struct binder_work *work)
	__must_hold(&proc->lock);
void binder_proc_wake_one_locked(struct binder_proc *proc) __must_hold(&proc->lock);

void binder_procs_lock(void);
void binder_procs_unlock(void);
extern struct list_head binder_procs;

void binder_core_init(void);

#endif
