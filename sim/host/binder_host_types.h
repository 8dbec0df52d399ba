/* SPDX-License-Identifier: GPL-2.0-only */
/* What the simulator embeds in the core's objects. */
#ifndef SIM_HOST_TYPES_H
#define SIM_HOST_TYPES_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/lock_ranks.h"

struct sim_proc;
struct sim_thread;

/* A struct, as in the kernel, so that the core cannot compare two with ==. */
typedef struct {
	u32 value;
} binder_uid_t;

struct binder_host_proc {
	struct sim_proc *sim;		/* outlives the process */
};

struct binder_host_thread {
	struct sim_thread *sim;		/* outlives the record */
};

/**
 * struct binder_host_map - a mapping: an arena, and which pages of it exist
 * @mm_lock: rank MM: stands for the lock of the address space
 * @arena: what the process sees; its address is the mapping's address
 * @size: bytes of @arena
 * @slots: by page index, the page inserted there, or NULL
 * @nr_pages: pages of this mapping that were allocated and not yet freed
 * @gone: unmapped: the process sees nothing any more
 */
struct binder_host_map {
	struct mutex mm_lock;
	u8 *arena;
	size_t size;
	struct page **slots;
	size_t nr_pages;
	bool gone;
};

#define binder_spin_init(lock, rank) binder_kapi_spin_init(lock, rank, #rank)
#define binder_mutex_init(mutex, rank) binder_kapi_mutex_init(mutex, rank, #rank)
#define binder_rt_mutex_init(mutex, rank) binder_kapi_mutex_init(mutex, rank, #rank)

#endif
