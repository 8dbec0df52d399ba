/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work: what waits in a todo list to be returned to user space. An item is
 * embedded in the object it speaks of. All todo lists of a process (its own,
 * its threads', its nodes' async lists, delivered_death) are guarded by
 * proc->lock, and so is every item that may stand in one of them.
 */
#ifndef CORE_WORK_H
#define CORE_WORK_H

#include "core/kapi.h"

enum binder_work_type {
	/** a call, one-way call or reply; embedded in binder_transaction */
	BINDER_WORK_TRANSACTION = 1,
	/** BR_TRANSACTION_COMPLETE; an allocation of its own */
	BINDER_WORK_COMPLETE,
	/** an error for the thread; embedded in binder_thread */
	BINDER_WORK_ERROR,
	/** reference counts the owner must be told of; embedded in binder_node */
	BINDER_WORK_NODE,
	/** BR_DEAD_BINDER; embedded in binder_death, like the next two */
	BINDER_WORK_DEAD_BINDER,
	/** BR_DEAD_BINDER, then a clear that waits for its acknowledgement */
	BINDER_WORK_DEAD_BINDER_AND_CLEAR,
	/** BR_CLEAR_DEATH_NOTIFICATION_DONE */
	BINDER_WORK_CLEAR_DEATH,
};

struct binder_work {
	struct list_head entry;
	enum binder_work_type type;
};

static inline void binder_work_init(struct binder_work *work, enum binder_work_type type)
{
	INIT_LIST_HEAD(&work->entry);
	work->type = type;
}

/** binder_work_queued() - is it in some list? Context: the list's proc->lock held. */
static inline bool binder_work_queued(const struct binder_work *work)
{
	return !list_empty(&work->entry);
}

struct binder_work *binder_work_complete_new(void);
void binder_work_complete_free(struct binder_work *work);
bool binder_work_owned(const struct binder_work *work);
void binder_work_drop(struct binder_work *work);

#endif
