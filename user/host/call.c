// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/call.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "core/command.h"
#include "core/ioctl.h"
#include "core/proc.h"
#include "core/return.h"
#include "core/thread.h"
#include "user/fuse/connection.h"
#include "user/host/handover.h"
#include "user/host/identity.h"
#include "user/host/memory.h"
#include "user/host/open.h"
#include "user/host/reaper.h"
#include "user/host/worker.h"

/*
 * What makes the kernel restart the system call unless a handler ran, in which
 * case it fails with EINTR. The caller's struct is updated all the same, so
 * nothing it sent is sent again.
 */
#define RESTART_NO_HANDLER (-514)

/* The largest argument of an ioctl but BINDER_WRITE_READ. */
#define ARG_MAX_SIZE 64

#define CALL_BUCKETS 256

static struct call_bucket {
	/* Held while a park is claimed for an interrupt: before PROC. */
	spinlock_t lock;
	struct list_head calls; /* by thread->host.call_entry */
} buckets[CALL_BUCKETS];

/* Calls that were interrupted while they ran; atomic. Usually 0. */
static int interrupts_waiting;

/** binder_calls_init() - once, before requests are served */
void binder_calls_init(void)
{
	int i;

	for (i = 0; i < CALL_BUCKETS; i++) {
		spin_lock_init(&buckets[i].lock);
		INIT_LIST_HEAD(&buckets[i].calls);
	}
}

static struct call_bucket *bucket_of(u64 unique)
{
	/* The kernel counts in steps of two. */
	return &buckets[(unique >> 1) % CALL_BUCKETS];
}

/* ---- the calling thread ------------------------------------------------------ */

void binder_host_thread_init(struct binder_thread *thread)
{
	INIT_LIST_HEAD(&thread->host.owed_entry);
	INIT_LIST_HEAD(&thread->host.call_entry);
	INIT_LIST_HEAD(&thread->host.exit_entry);
	thread->host.exit_fd = -1;
}

void binder_host_thread_fini(struct binder_thread *thread)
{
	WARN_ON_ONCE(!list_empty(&thread->host.owed_entry));
	WARN_ON_ONCE(!list_empty(&thread->host.call_entry));
	binder_reaper_forget(thread);
}

/* A forked child has the descriptor, but not the memory that replies point into. */
static int thread_check(struct binder_thread *thread)
{
	pid_t tgid = binder_identity_tgid(thread->tid);

	binder_open_confirm(thread->proc);
	if (tgid == thread->proc->pid) {
		thread->host.known = true;
		binder_reaper_watch(thread);
		return 0;
	}
	pr_warn_ratelimited("thread %d of process %d uses a device that process %d opened: refused; each process must open its own\n",
			    thread->tid, tgid, thread->proc->pid);
	return -EINVAL;
}

/**
 * binder_call_thread() - the record of the thread that sent a request
 * @tid: as FUSE gives it
 * Context: may sleep.
 * Return: the thread, as of binder_thread_lookup(); ERR_PTR: -EINVAL for one that may not
 * use @proc, -ENOMEM.
 */
struct binder_thread *binder_call_thread(struct binder_proc *proc, pid_t tid)
{
	struct binder_thread *thread;

	if (unlikely(!tid)) {
		pr_warn_ratelimited("a client of a device of process %d is outside the daemon's pid namespace: refused; run anybinderd in a pid namespace that contains its clients'\n",
				    proc->pid);
		return ERR_PTR(-EINVAL);
	}
	thread = binder_thread_lookup(proc, tid);
	if (unlikely(!thread))
		return ERR_PTR(-ENOMEM);
	if (unlikely(!thread->host.known) && thread_check(thread)) {
		binder_thread_release(thread);
		binder_thread_done(thread);
		return ERR_PTR(-EINVAL);
	}
	return thread;
}

/* ---- the table of calls ------------------------------------------------------- */

static void call_register(struct binder_thread *thread)
{
	struct call_bucket *bucket = bucket_of(thread->host.unique);

	spin_lock(&bucket->lock);
	thread->host.interrupted = false;
	list_add_tail(&thread->host.call_entry, &bucket->calls);
	spin_unlock(&bucket->lock);
}

static void call_remove_locked(struct call_bucket *bucket, struct binder_thread *thread)
{
	lockdep_assert_held(&bucket->lock);
	list_del_init(&thread->host.call_entry);
	if (thread->host.interrupted)
		__atomic_fetch_sub(&interrupts_waiting, 1, __ATOMIC_SEQ_CST);
}

static void call_unregister(struct binder_thread *thread)
{
	struct call_bucket *bucket = bucket_of(thread->host.unique);

	spin_lock(&bucket->lock);
	call_remove_locked(bucket, thread);
	spin_unlock(&bucket->lock);
}

static struct binder_thread *call_find_locked(struct call_bucket *bucket, u64 unique)
{
	struct binder_thread *thread;

	lockdep_assert_held(&bucket->lock);
	list_for_each_entry(thread, &bucket->calls, host.call_entry)
		if (thread->host.unique == unique)
			return thread;
	return NULL;
}

/* ---- answering ------------------------------------------------------------------ */

/*
 * After the answer the thread runs, and its next call may be anywhere; so all
 * that the answer needs is taken out of the record first.
 */
static void call_answer(struct binder_thread *thread, int result)
{
	struct binder_write_read bwr = thread->host.bwr;
	u64 unique = thread->host.unique;
	int channel = thread->host.channel;

	binder_ioctl_end(thread);
	binder_fuse_reply_ioctl(channel, unique, result, &bwr, sizeof(bwr));
}

static void call_finish(struct binder_thread *thread, int result)
{
	call_unregister(thread);
	call_answer(thread, result);
}

/* ---- interrupts ------------------------------------------------------------------ */

enum interrupt { INTERRUPT_UNKNOWN, INTERRUPT_NOTED, INTERRUPT_DONE };

/*
 * Interrupt call @unique. @first: the kernel asks; otherwise the call has just
 * parked, and whether an interrupt came while it ran is to be found out.
 *
 * The bucket's lock is kept while the park is claimed, so that it is this call
 * that is claimed and not the thread's next one.
 */
static enum interrupt call_interrupt(u64 unique, bool first)
{
	struct call_bucket *bucket = bucket_of(unique);
	enum interrupt ret = INTERRUPT_UNKNOWN;
	struct binder_thread *thread;

	spin_lock(&bucket->lock);
	thread = call_find_locked(bucket, unique);
	if (thread) {
		ret = INTERRUPT_NOTED;
		if (first && !thread->host.interrupted) {
			/* Before the claim is tried: see call_parked(). */
			thread->host.interrupted = true;
			__atomic_fetch_add(&interrupts_waiting, 1, __ATOMIC_SEQ_CST);
		}
		if (thread->host.interrupted && binder_thread_unpark(thread)) {
			call_remove_locked(bucket, thread);
			ret = INTERRUPT_DONE;
		}
	}
	spin_unlock(&bucket->lock);
	if (ret == INTERRUPT_DONE)
		call_answer(thread, RESTART_NO_HANDLER);
	return ret;
}

/*
 * A call has parked. An interrupt that came before found it running and left
 * a note; one that comes after finds it parked. The lock of the process orders
 * the two, so the counter cannot be missed.
 */
static void call_parked(u64 unique)
{
	if (unlikely(__atomic_load_n(&interrupts_waiting, __ATOMIC_SEQ_CST)))
		call_interrupt(unique, false);
}

/**
 * binder_call_interrupt() - FUSE_INTERRUPT
 *
 * Needs no answer when the call is known: it ends soon or parks, and then ends.
 * An unknown one may be on its way from the device to the table; the kernel is
 * told to ask again. (Any other error would make it never ask again.)
 *
 * Context: may sleep. Touches no client memory.
 */
void binder_call_interrupt(const struct binder_request *rq)
{
	const struct fuse_interrupt_in *arg = rq->arg;
	int channel;

	if (rq->len < sizeof(*arg) || call_interrupt(arg->unique, true) != INTERRUPT_UNKNOWN)
		return;
	if (binder_handover_cancel(arg->unique))
		return;
	sched_yield();
	/* The answer counts on the channel that the call was read from. */
	for (channel = 0; channel < BINDER_CHANNELS; channel++)
		binder_fuse_error(channel, rq->in->unique, -EAGAIN);
}

/** binder_call_restart() - an ioctl of which nothing was done was interrupted: start it over */
void binder_call_restart(int channel, u64 unique)
{
	binder_fuse_reply_ioctl(channel, unique, RESTART_NO_HANDLER, NULL, 0);
}

/* ---- serving ---------------------------------------------------------------------- */

/**
 * binder_call_continue() - the read half, when it is owed
 * @thread: claimed by the caller; not touched any more after the return
 * Context: sleeps as the client's memory makes it; no locks held.
 */
void binder_call_continue(struct binder_thread *thread)
{
	struct binder_host_thread *host = &thread->host;
	u64 unique = host->unique;
	int ret = host->error;

	if (!ret && host->bwr.read_size) {
		if (binder_worker_refuses(host->uid, thread->proc->pid)) {
			binder_thread_decline(thread);
			ret = -EBUSY;
		} else {
			ret = binder_read(thread, &host->bwr, thread->proc->host.nonblock);
		}
	}
	if (ret == BINDER_PARK)
		call_parked(unique);
	else
		call_finish(thread, ret);
}

static void call_write_read(struct binder_thread *thread, const struct binder_request *rq,
			    const struct binder_write_read *bwr)
{
	struct binder_host_thread *host = &thread->host;

	host->bwr = *bwr;
	host->unique = rq->in->unique;
	host->channel = rq->channel;
	call_register(thread);
	host->error = 0;
	binder_guess_begin(&host->guess, bwr);
	if (bwr->write_size)
		host->error = binder_write(thread, &host->bwr);
	binder_guess_end(&host->guess);
	if (host->error)
		host->bwr.read_consumed = 0;
	binder_worker_owe(thread);
}

static void call_other(struct binder_thread *thread, const struct binder_request *rq,
		       const struct fuse_ioctl_in *arg)
{
	u8 data[ARG_MAX_SIZE] __attribute__((aligned(8))) = { 0 };
	u32 size = _IOC_SIZE(arg->cmd);
	u32 dir = _IOC_DIR(arg->cmd);
	int ret;

	/* The kernel sends what _IOC_DIR says the caller passes in. */
	if (dir & _IOC_WRITE)
		memcpy(data, arg + 1, size);
	ret = binder_ioctl(thread, arg->cmd, data);
	binder_ioctl_end(thread);
	binder_fuse_reply_ioctl(rq->channel, rq->in->unique, ret, data,
				dir & _IOC_READ ? size : 0);
}

static int call_check(const struct binder_request *rq, const struct fuse_ioctl_in *arg,
		      const struct binder_proc *proc)
{
	u32 size = _IOC_SIZE(arg->cmd);
	u32 in_size = _IOC_DIR(arg->cmd) & _IOC_WRITE ? size : 0;

	/* 32-bit programs are welcome: protocol 8 looks the same to them. */
	if (_IOC_TYPE(arg->cmd) != 'b' || size > ARG_MAX_SIZE ||
	    rq->len < sizeof(*arg) + in_size)
		return -EINVAL;
	if (binder_worker_refuses((binder_uid_t){ rq->in->uid }, proc->pid)) {
		pr_warn_ratelimited("process %d (uid %u): call refused: too many calls of it hang in memory that cannot be read; see what its files are mapped from\n",
				    proc->pid, rq->in->uid);
		return -EBUSY;
	}
	return 0;
}

/**
 * binder_call_serve() - FUSE_IOCTL on a device
 *
 * Answers it, or owes the answer (worker.h).
 *
 * Context: sleeps as the client's memory makes it; no locks held.
 */
void binder_call_serve(const struct binder_request *rq)
{
	const struct fuse_ioctl_in *arg = rq->arg;
	struct binder_thread *thread;
	struct binder_proc *proc;
	int ret;

	if (rq->len < sizeof(*arg)) {
		binder_fuse_error(rq->channel, rq->in->unique, -EINVAL);
		return;
	}
	proc = (struct binder_proc *)(uintptr_t)arg->fh;
	ret = call_check(rq, arg, proc);
	if (!ret) {
		thread = binder_call_thread(proc, rq->in->pid);
		ret = IS_ERR(thread) ? (int)PTR_ERR(thread) : 0;
	}
	if (ret) {
		binder_fuse_error(rq->channel, rq->in->unique, ret);
		return;
	}
	thread->host.uid = (binder_uid_t){ rq->in->uid };
	binder_worker_on_behalf(thread->host.uid, proc->pid);
	if (arg->cmd == BINDER_WRITE_READ)
		call_write_read(thread, rq, (const void *)(arg + 1));
	else
		call_other(thread, rq, arg);
}

u64 binder_host_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}
