/* SPDX-License-Identifier: GPL-2.0-only */
/* What core_threads.c, a host with real threads, embeds in the core's objects. */
#ifndef CORE_HOST_TYPES_H
#define CORE_HOST_TYPES_H

#include <semaphore.h>

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/lock_ranks.h"

#define HOST_MAP_PAGES 32

typedef struct {
	u32 value;
} binder_uid_t;

struct binder_host_proc {
	int unused;
};

struct binder_host_thread {
	sem_t wake;
};

/**
 * struct binder_host_map - memory that all see, and which pages of it exist
 * @mm_lock: rank MM
 * @arena: where the process has it
 * @table: atomic: the page in each slot
 * @live: atomic: pages allocated and not yet freed
 * @gone: under @mm_lock: unmapped
 */
struct binder_host_map {
	struct mutex mm_lock;
	u8 *arena;
	struct page *table[HOST_MAP_PAGES];
	unsigned long live;
	bool gone;
};

#define binder_spin_init(lock, rank) binder_kapi_spin_init(lock, rank, #rank)
#define binder_mutex_init(mutex, rank) binder_kapi_mutex_init(mutex, rank, #rank)
#define binder_rt_mutex_init(mutex, rank) binder_kapi_mutex_init(mutex, rank, #rank)

#endif
