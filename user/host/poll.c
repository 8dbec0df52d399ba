// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/poll.h"

#include <sys/epoll.h>

#include "core/proc.h"
#include "core/thread.h"
#include "user/fuse/connection.h"
#include "user/host/call.h"
#include "user/host/worker.h"

static u32 poll_events(struct binder_proc *proc, pid_t tid)
{
	struct binder_thread *thread = binder_call_thread(proc, tid);
	bool readable;

	if (IS_ERR(thread))
		return EPOLLERR;
	readable = binder_thread_poll(thread);
	binder_thread_done(thread);
	return readable ? EPOLLIN : 0;
}

/** binder_poll_serve() - FUSE_POLL. Context: may sleep; answers the request. */
void binder_poll_serve(const struct binder_request *rq)
{
	const struct fuse_poll_in *arg = rq->arg;
	struct fuse_poll_out out = { 0 };
	struct binder_proc *proc;

	if (rq->len < sizeof(*arg)) {
		binder_fuse_error(rq->channel, rq->in->unique, -EINVAL);
		return;
	}
	proc = (struct binder_proc *)(uintptr_t)arg->fh;
	if (arg->flags & FUSE_POLL_SCHEDULE_NOTIFY) {
		__atomic_store_n(&proc->host.poll_kh, arg->kh, __ATOMIC_RELAXED);
		/* Release: pairs with the exchange in binder_host_poll_wake(). */
		__atomic_store_n(&proc->host.poll_armed, 1, __ATOMIC_SEQ_CST);
	}
	out.revents = poll_events(proc, rq->in->pid);
	binder_fuse_reply(rq->channel, rq->in->unique, &out, sizeof(out));
}

void binder_host_poll_wake(struct binder_proc *proc)
{
	if (!__atomic_exchange_n(&proc->host.poll_armed, 0, __ATOMIC_SEQ_CST))
		return;
	/* Still in a list: that notice will be sent after this change, and covers it. */
	if (__atomic_exchange_n(&proc->host.poll_queued, 1, __ATOMIC_SEQ_CST))
		return;
	binder_worker_owe_notice(binder_proc_get(proc));
}

/**
 * binder_poll_notify() - send the notice that a worker's list owed
 * @proc: out of the list; its reference is consumed
 * Context: no locks held. Touches no client memory.
 */
void binder_poll_notify(struct binder_proc *proc)
{
	__atomic_store_n(&proc->host.poll_queued, 0, __ATOMIC_SEQ_CST);
	binder_fuse_notify_poll(__atomic_load_n(&proc->host.poll_kh, __ATOMIC_RELAXED));
	binder_proc_put(proc);
}
