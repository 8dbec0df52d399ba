/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the allocator: the buffers of one mapping, how they are found, split
 * and joined. For alloc.c; all under alloc->lock, so nothing here sleeps,
 * allocates or frees.
 */
#ifndef CORE_BUFFER_H
#define CORE_BUFFER_H

#include "core/kapi.h"

struct binder_alloc;
struct binder_buffer;

/** struct binder_walk - a walk over the allocated buffers; zeroed to begin one */
struct binder_walk {
	size_t offset;
	unsigned int held;
};

void binder_buffer_add_first_locked(struct binder_alloc *alloc, struct binder_buffer *buffer)
	__must_hold(&alloc->lock);
struct binder_buffer *binder_buffer_take_locked(struct binder_alloc *alloc, size_t size,
						bool oneway, struct binder_buffer **spare)
	__must_hold(&alloc->lock);
void binder_buffer_free_locked(struct binder_alloc *alloc, struct binder_buffer *buffer,
			       struct list_head *spare)
	__must_hold(&alloc->lock);
struct binder_buffer *binder_buffer_from_locked(struct binder_alloc *alloc, u64 offset)
	__must_hold(&alloc->lock);
struct binder_buffer *binder_buffer_next_locked(struct binder_alloc *alloc,
						struct binder_walk *walk)
	__must_hold(&alloc->lock);
size_t binder_buffer_largest_free_locked(struct binder_alloc *alloc) __must_hold(&alloc->lock);

#endif
