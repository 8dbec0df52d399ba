/* SPDX-License-Identifier: GPL-2.0-only */
/* See fake_host.h. */
#ifndef FAKE_HOST_TYPES_H
#define FAKE_HOST_TYPES_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/lock_ranks.h"

typedef struct {
	u32 value;
} binder_uid_t;

struct binder_host_proc {
	int unused;
};

struct binder_host_thread {
	int unused;
};

/**
 * struct binder_host_map - a page table
 * @mm_lock: rank MM; set up by fake_mmap()
 * @table: atomic: the page in each slot. Inserts and zaps of one slot exclude
 *         each other only by what the core does about it
 * @live: pages allocated and not yet freed
 * @gone, @over: unmapped; binder_host_map_fini() was called
 */
struct binder_host_map {
	struct mutex mm_lock;
	struct page *table[1024];
	unsigned long live;
	bool gone;
	bool over;
};

#define binder_spin_init(lock, rank) binder_kapi_spin_init(lock, rank, #rank)
#define binder_mutex_init(mutex, rank) binder_kapi_mutex_init(mutex, rank, #rank)
#define binder_rt_mutex_init(mutex, rank) binder_kapi_mutex_init(mutex, rank, #rank)

#endif
