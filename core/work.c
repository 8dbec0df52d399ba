// SPDX-License-Identifier: GPL-2.0-only
#include "core/work.h"

#include "core/death.h"
#include "core/log.h"
#include "core/thread.h"
#include "core/transaction.h"

/**
 * binder_work_complete_new() - a BR_TRANSACTION_COMPLETE to queue
 * Context: may sleep.
 * Return: the work, or NULL when out of memory.
 */
struct binder_work *binder_work_complete_new(void)
{
	struct binder_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return NULL;
	binder_work_init(work, BINDER_WORK_COMPLETE);
	binder_obj_count(BINDER_OBJ_COMPLETE);
	return work;
}

/** binder_work_complete_free() - free a completion in no list; NULL is fine. Context: any. */
void binder_work_complete_free(struct binder_work *work)
{
	if (!work)
		return;
	kfree(work);
	binder_obj_uncount(BINDER_OBJ_COMPLETE);
}

/**
 * binder_work_owned() - does it belong to the queue it stands in, and to nobody else?
 *
 * A death request may still be its reference's, node work is its node's, an
 * error its thread's: once such an item is unlinked and the lock is dropped,
 * its owner may free it at any time.
 *
 * Context: any; the type of a death request changes under its proc->lock.
 */
bool binder_work_owned(const struct binder_work *work)
{
	switch (work->type) {
	case BINDER_WORK_TRANSACTION:
	case BINDER_WORK_COMPLETE:
	case BINDER_WORK_DEAD_BINDER_AND_CLEAR:
	case BINDER_WORK_CLEAR_DEATH:
		return true;
	default:
		return false;
	}
}

/**
 * binder_work_drop() - something that was queued to the dead
 * @work: binder_work_owned(), and in no list any more
 *
 * A call fails, a reply or one-way call vanishes with its buffer.
 *
 * Context: may sleep; no locks held.
 */
void binder_work_drop(struct binder_work *work)
{
	switch (work->type) {
	case BINDER_WORK_TRANSACTION:
		binder_transaction_discard(container_of(work, struct binder_transaction, work));
		break;
	case BINDER_WORK_COMPLETE:
		binder_work_complete_free(work);
		break;
	case BINDER_WORK_DEAD_BINDER_AND_CLEAR:
	case BINDER_WORK_CLEAR_DEATH:
		binder_death_free(container_of(work, struct binder_death, work));
		break;
	default:
		WARN_ON_ONCE(1); /* somebody else's: freeing it here would be once too often */
	}
}
