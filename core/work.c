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
 * binder_work_drop() - what was queued to the dead
 * @list: out of every lock's reach
 *
 * Calls fail, replies and one-way calls vanish with their buffers. A death
 * request still owned by its reference goes with that.
 *
 * Context: may sleep; no locks held.
 */
void binder_work_drop(struct list_head *list)
{
	struct binder_work *work, *next;

	list_for_each_entry_safe(work, next, list, entry) {
		list_del_init(&work->entry);
		switch (work->type) {
		case BINDER_WORK_TRANSACTION:
			binder_transaction_discard(container_of(work, struct binder_transaction,
								work));
			break;
		case BINDER_WORK_COMPLETE:
			binder_work_complete_free(work);
			break;
		case BINDER_WORK_DEAD_BINDER_AND_CLEAR:
		case BINDER_WORK_CLEAR_DEATH:
			binder_death_free(container_of(work, struct binder_death, work));
			break;
		case BINDER_WORK_DEAD_BINDER:
		case BINDER_WORK_NODE:
		case BINDER_WORK_ERROR:
			break;
		}
	}
}
