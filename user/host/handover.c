// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/handover.h"

#include <string.h>

#include "core/thread.h"
#include "user/fuse/connection.h"
#include "user/host/call.h"

/* Requests that may wait here; the client of one more is told to come again. */
#define REQUESTS_MAX 1024

static struct {
	spinlock_t lock; /* a leaf; guards the lists */
	struct list_head threads; /* by host.owed_entry */
	struct list_head requests;
	int nr; /* of both; atomic to read */
} queue;

/** binder_handover_init() - once, before there are workers */
void binder_handover_init(void)
{
	spin_lock_init(&queue.lock);
	INIT_LIST_HEAD(&queue.threads);
	INIT_LIST_HEAD(&queue.requests);
}

/** binder_handover_pending() - is there anything to take? Context: any. */
bool binder_handover_pending(void)
{
	return __atomic_load_n(&queue.nr, __ATOMIC_SEQ_CST);
}

/** binder_handover_threads() - hand over debts. Context: any; empties @owed. */
void binder_handover_threads(struct list_head *owed)
{
	struct binder_thread *thread;
	int nr = 0;

	list_for_each_entry(thread, owed, host.owed_entry)
		nr++;
	if (!nr)
		return;
	spin_lock(&queue.lock);
	list_splice_tail_init(owed, &queue.threads);
	__atomic_fetch_add(&queue.nr, nr, __ATOMIC_SEQ_CST);
	spin_unlock(&queue.lock);
}

/** binder_handover_request() - hand over a request; refuses it when too many wait. May sleep. */
void binder_handover_request(const struct binder_request *rq)
{
	struct binder_held_request *held = NULL;

	if (__atomic_load_n(&queue.nr, __ATOMIC_SEQ_CST) < REQUESTS_MAX)
		held = kmalloc(sizeof(*held) + rq->in->len, GFP_KERNEL);
	if (!held) {
		binder_fuse_error(rq->channel, rq->in->unique, -EBUSY);
		return;
	}
	held->channel = rq->channel;
	held->len = rq->in->len;
	memcpy(held->buf, rq->in, held->len);
	spin_lock(&queue.lock);
	list_add_tail(&held->entry, &queue.requests);
	__atomic_fetch_add(&queue.nr, 1, __ATOMIC_SEQ_CST);
	spin_unlock(&queue.lock);
}

/**
 * binder_handover_take() - take one piece of work
 * @thread: set to a thread that binder_call_continue() is owed to, or NULL
 * @held: set to a request, for the caller to kfree(), or NULL
 * Context: any. Return: was there any?
 */
bool binder_handover_take(struct binder_thread **thread, struct binder_held_request **held)
{
	*held = NULL;
	spin_lock(&queue.lock);
	*thread = list_first_entry_or_null(&queue.threads, struct binder_thread, host.owed_entry);
	if (*thread)
		list_del_init(&(*thread)->host.owed_entry);
	else
		*held = list_first_entry_or_null(&queue.requests, struct binder_held_request,
						 entry);
	if (*held)
		list_del(&(*held)->entry);
	if (*thread || *held)
		__atomic_fetch_sub(&queue.nr, 1, __ATOMIC_SEQ_CST);
	spin_unlock(&queue.lock);
	return *thread || *held;
}

static struct binder_held_request *request_remove(u64 unique)
{
	struct binder_held_request *held, *found = NULL;

	spin_lock(&queue.lock);
	list_for_each_entry(held, &queue.requests, entry) {
		const struct fuse_in_header *in = (const void *)held->buf;

		if (in->unique != unique)
			continue;
		found = held;
		list_del(&held->entry);
		__atomic_fetch_sub(&queue.nr, 1, __ATOMIC_SEQ_CST);
		break;
	}
	spin_unlock(&queue.lock);
	return found;
}

/**
 * binder_handover_cancel() - interrupt an ioctl that waits for a worker to begin it
 * Nothing of it has been done: it can start over.
 * Context: no locks held; touches no client memory.
 * Return: was it there?
 */
bool binder_handover_cancel(u64 unique)
{
	struct binder_held_request *held;

	if (!binder_handover_pending())
		return false;
	held = request_remove(unique);
	if (!held)
		return false;
	binder_call_restart(held->channel, unique);
	kfree(held);
	return true;
}
