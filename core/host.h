/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seam: everything that names a task, an address space, a file, a
 * credential or a device. The core calls these functions; each host links its
 * own. Data structures, locks, memory and text are kapi.h's.
 *
 * <binder_host_types.h> comes from the host's include path and defines:
 *   struct binder_host_proc    what the host keeps per opened device
 *   struct binder_host_thread  what it keeps per thread record (the task)
 *   struct binder_host_map     what it keeps per allocator (the mapping)
 *   binder_uid_t               a uid as the host holds it
 *   binder_spin_init(lock, rank), binder_mutex_init(mutex, rank),
 *   binder_rt_mutex_init(mutex, rank)
 *                              spin_lock_init, mutex_init and rt_mutex_init that
 *                              also tell the host's lock checker the rank
 *
 * A struct binder_thread doubles as "the task that is calling": the host has
 * filled thread->host before it enters the core, and the core hands the
 * thread back to whatever touches the task's memory.
 */
#ifndef CORE_HOST_H
#define CORE_HOST_H

#include "core/kapi.h"
#include "core/lock_ranks.h"
#include <binder_host_types.h>

struct binder_alloc;
struct binder_log_entry;
struct binder_proc;
struct binder_thread;

/* ---- memory of the calling task -------------------------------------- */

/**
 * binder_host_read_user() - copy from the calling task into core memory
 * @thread: the calling task
 * @dst: where to
 * @uaddr: address in the task's address space
 * @len: bytes wanted
 *
 * Context: may sleep for as long as the task's memory makes it; no locks held.
 * Return: bytes copied from the start, 0 to @len; short when the memory after
 * them cannot be read.
 */
size_t binder_host_read_user(struct binder_thread *thread, void *dst, u64 uaddr, size_t len);

/**
 * binder_host_write_user() - copy from core memory to the calling task
 *
 * Context: as binder_host_read_user().
 * Return: 0, or -EFAULT when not all could be written (some may have been).
 */
int binder_host_write_user(struct binder_thread *thread, u64 uaddr, const void *src, size_t len);

/* ---- payload ---------------------------------------------------------- */

/**
 * struct binder_segment - where a piece of the sender's payload goes
 * @mem: core memory, or NULL for the receiver's buffer
 * @offset: byte offset in the receiver's mapping (when @mem is NULL)
 * @len: bytes
 */
struct binder_segment {
	void *mem;
	size_t offset;
	size_t len;
};

/**
 * binder_host_copy_payload() - the one copy of a transaction
 * @thread: the sending task
 * @uaddr: start of the payload; the segments are consecutive pieces of it
 * @alloc: the receiver's allocator; the pages of the range are in place and
 *         stay in place, because the buffer is allocated
 *
 * The pieces between objects go straight to the receiver, the objects to the
 * core, so a receiver never sees what the sender wrote in an object and the
 * core never has to read a receiver's buffer back.
 *
 * Context: as binder_host_read_user().
 * Return: 0 or -EFAULT.
 */
int binder_host_copy_payload(struct binder_thread *thread, u64 uaddr, struct binder_alloc *alloc,
			     const struct binder_segment *segs, unsigned int nr);

/** binder_host_write_buffer() - core memory to the receiver's buffer. Cannot fail. May sleep. */
void binder_host_write_buffer(struct binder_alloc *alloc, size_t offset, const void *src,
			      size_t len);

/** binder_host_zero_buffer() - clear a piece of the receiver's buffer. Cannot fail. May sleep. */
void binder_host_zero_buffer(struct binder_alloc *alloc, size_t offset, size_t len);

/**
 * binder_host_buffer_ready() - a buffer is complete; its receiver will soon be told of it
 * @offset, @len: what was written, in bytes from the start of the mapping; @len may be 0
 * For hosts whose receivers do not see writes at once: after this they must.
 * Cannot fail. Context: may sleep; no locks held.
 */
void binder_host_buffer_ready(struct binder_alloc *alloc, size_t offset, size_t len);

/* There is no function to read a buffer, and there must never be one: in the
 * user-space host every byte of it is writable by the receiver. */

/* ---- pages of a mapping ----------------------------------------------- */

/**
 * binder_host_map_find() - learn where the process mapped the device
 * @proc: the process
 *
 * For hosts that are not told of mmap. Calls binder_alloc_map() on success.
 *
 * Context: may sleep; no locks held. May be called by several threads at once.
 */
void binder_host_map_find(struct binder_proc *proc);

/**
 * binder_host_page_alloc() - a zeroed page for one slot of a mapping
 * Context: may sleep, may recurse into reclaim; no locks held.
 * Return: the page, owned by the caller, or NULL.
 */
struct page *binder_host_page_alloc(struct binder_alloc *alloc, size_t index);

/** binder_host_page_free() - give a page back. Context: any but under a spinlock. */
void binder_host_page_free(struct binder_alloc *alloc, size_t index, struct page *page);

/**
 * binder_host_page_insert() - make a page visible in the receiver's mapping
 * Does nothing in a host that fills a mapping by page faults (binder_pages_hold()).
 * Context: sleeps; install_mutex held; may take the address-space lock inside.
 * Return: 0; -ESRCH when the mapping or its address space is gone; other -errno.
 */
int binder_host_page_insert(struct binder_alloc *alloc, size_t index, struct page *page);

/**
 * binder_host_page_zap() - remove a page from the receiver's mapping
 * Must not block on the address-space lock (see docs/locking.md).
 * Context: install_mutex held, no spinlock.
 */
void binder_host_page_zap(struct binder_alloc *alloc, size_t index, struct page *page);

/* ---- waking ----------------------------------------------------------- */

/**
 * binder_host_wake() - a parked thread has something to return
 * @thread: was PARKED, is now READY: the caller of the wake owns the park, and
 *          somebody must call binder_read() for it, exactly once
 * @sync: a hint: who wakes is about to wait for the woken
 *
 * Context: proc->lock held: only mark, append, or wake; never run the thread.
 */
void binder_host_wake(struct binder_thread *thread, bool sync);

/** binder_host_poll_wake() - poll state of @proc may have changed. Context: proc->lock held. */
void binder_host_poll_wake(struct binder_proc *proc);

/* ---- identity and time ------------------------------------------------ */

/** binder_host_uid() - effective uid of the calling task. Context: any. */
binder_uid_t binder_host_uid(struct binder_thread *thread);

/** binder_host_uid_eq() - same user? Context: any. */
bool binder_host_uid_eq(binder_uid_t a, binder_uid_t b);

/** binder_host_uid_seen() - @uid as a number in @by's user namespace. May sleep. */
u32 binder_host_uid_seen(struct binder_proc *by, binder_uid_t uid);

/** binder_host_pid_seen() - thread group id of @of in @by's pid namespace, 0 if it has none. */
pid_t binder_host_pid_seen(struct binder_proc *by, struct binder_proc *of);

/** binder_host_now_ms() - monotonic milliseconds, perhaps coarse. Context: any. */
u64 binder_host_now_ms(void);

/* ---- priority ---------------------------------------------------------- */

/** binder_host_nice() - nice value of the calling task, 0 in a host that has none. Context: any. */
int binder_host_nice(struct binder_thread *thread);

/**
 * binder_host_set_nice() - run the calling task at @nice
 * @nice: beyond the task's rights it gets the best it may have; clamped to what there is
 * Context: no locks held.
 */
void binder_host_set_nice(struct binder_thread *thread, int nice);

/* ---- security modules -------------------------------------------------- */

/** binder_host_may_manage() - may @proc be manager? Context: may sleep. Return: 0, -errno. */
int binder_host_may_manage(struct binder_proc *proc);
/** binder_host_may_call() - may @from send to @to? Context: may sleep. Return: 0, -errno. */
int binder_host_may_call(struct binder_proc *from, struct binder_proc *to);
/** binder_host_may_transfer() - an object? Context: may sleep. Return: 0, -errno. */
int binder_host_may_transfer(struct binder_proc *from, struct binder_proc *to);

/* ---- reports ------------------------------------------------------------- */

/**
 * binder_host_report_failure() - a transaction failed, for those who watch for that
 * Beside the log, which has it already. @entry is the caller's.
 * Context: may sleep; no locks held.
 */
void binder_host_report_failure(const struct binder_log_entry *entry);

/* ---- life of the embedded host parts ---------------------------------- */

/** binder_host_thread_init() - a thread record was made; proc->lock not held. */
void binder_host_thread_init(struct binder_thread *thread);
/** binder_host_thread_fini() - its last reference went. Context: any but under a spinlock. */
void binder_host_thread_fini(struct binder_thread *thread);
/** binder_host_proc_fini() - the last reference to @proc went. */
void binder_host_proc_fini(struct binder_proc *proc);
/** binder_host_map_fini() - the allocator goes: undo the mapping's host part. */
void binder_host_map_fini(struct binder_alloc *alloc);

#endif
