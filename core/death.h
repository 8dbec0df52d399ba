/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Death notifications: a process asks, per reference, to be told once when
 * the node's owner dies.
 */
#ifndef CORE_DEATH_H
#define CORE_DEATH_H

#include "core/work.h"
#include "uapi/binder.h"

struct binder_node;
struct binder_proc;
struct binder_thread;

/**
 * struct binder_death - one request
 * @work: guarded by the asking process's lock; its type says what is due
 * @cookie: immutable
 * @announced: BR_DEAD_BINDER was queued; guarded by the asker's refs_lock
 *
 * Owned by its reference until cleared; after that by the list @work is in
 * (a todo, or proc->delivered_death until BC_DEAD_BINDER_DONE).
 */
struct binder_death {
	struct binder_work work;
	binder_uintptr_t cookie;
	bool announced;
};

void binder_death_request(struct binder_thread *thread, u32 handle, binder_uintptr_t cookie);
void binder_death_clear(struct binder_thread *thread, u32 handle, binder_uintptr_t cookie);
void binder_death_done(struct binder_thread *thread, binder_uintptr_t cookie);
void binder_death_free(struct binder_death *death);
void binder_death_announce(struct binder_node *node);

#endif
