/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The allocator of one mapping: hands out buffers for incoming transactions.
 *
 * Every byte of the mapping belongs to exactly one buffer, allocated or free;
 * buffers stand in address order, so a buffer ends where the next begins.
 * Free ones are also in a tree by size (best fit), allocated ones in a tree
 * by address.
 *
 * Two locks: alloc->lock (spinlock) for all metadata, install_mutex for
 * page-table work alone. See docs/locking.md.
 */
#ifndef CORE_ALLOC_H
#define CORE_ALLOC_H

#include "core/host.h"
#include "core/pages.h"

struct binder_node;
struct binder_objects;
struct binder_text;

/* The largest mapping; a larger one is cut to this without an error. */
#define BINDER_MAP_MAX (4 * 1024 * 1024)

/**
 * struct binder_buffer - a piece of a mapping, allocated or free
 * @entry: in alloc->buffers
 * @rb_node: in alloc->free_buffers or alloc->allocated_buffers
 * @offset: from the start of the mapping
 * @free: which of the two trees
 * @may_free: delivered to user space and not yet freed by it
 * @clear_on_free: zero the data before the pages can be reused
 * @oneway: counts against the asynchronous space
 * @debug_id: of the transaction it carries
 * @data_size, @offsets_size, @extra_size: bytes asked for
 * @target_node: node the buffer holds a local strong count on, or NULL
 * @objects: what the data refers to; owned by the buffer
 *
 * @entry to @may_free are guarded by alloc->lock, and @offset too, but it does
 * not change while the buffer is allocated. @clear_on_free to @extra_size are
 * set by binder_alloc_buffer() and then constant. The rest belongs to whoever
 * owns the allocated buffer: its sender until it is delivered, after that the
 * BC_FREE_BUFFER that found @may_free set.
 */
struct binder_buffer {
	struct list_head entry;
	struct rb_node rb_node;
	size_t offset;
	bool free;
	bool may_free;
	bool clear_on_free;
	bool oneway;
	int debug_id;
	size_t data_size;
	size_t offsets_size;
	size_t extra_size;
	struct binder_node *target_node;
	struct binder_objects *objects;
};

/**
 * struct binder_alloc - the allocator of one mapping
 * @refs: one for the process, one for a shrinker at work on one of its pages.
 *        It keeps this structure alive, and nothing else: pages, buffers and
 *        the host's part end with binder_alloc_release()
 */
struct binder_alloc {
	/* rank ALLOC; guards down to the next heading */
	spinlock_t lock;
	struct list_head buffers __guarded_by(&lock);
	struct rb_root free_buffers __guarded_by(&lock);
	struct rb_root allocated_buffers __guarded_by(&lock);
	struct binder_page *pages; /* array immutable once mapped; contents guarded */
	size_t free_async_space __guarded_by(&lock);
	size_t allocated_bytes __guarded_by(&lock);
	size_t nr_allocated __guarded_by(&lock);
	size_t nr_free __guarded_by(&lock); /* free buffers; they hold what is not allocated */
	size_t pages_high __guarded_by(&lock); /* highest page ever used + 1 */
	u64 no_space_next_ms __guarded_by(&lock); /* no report of no-space before that */
	bool mapped __guarded_by(&lock); /* gets true once and then false for ever */
	bool sealed __guarded_by(&lock); /* takes no mapping: there was one, or it is too late */

	/* rank INSTALL; lends its holder the priority of whoever waits for it */
	struct rt_mutex install_mutex;

	/* immutable once mapped: */
	u64 user_addr; /* of the mapping, in its process */
	size_t size; /* bytes, a multiple of the page size */

	/* immutable after alloc: */
	struct binder_proc *proc; /* not a reference: the process owns the allocator */
	pid_t pid;

	/* atomic: */
	refcount_t refs;

	/* the host's own */
	struct binder_host_map host;
};

/**
 * struct binder_alloc_request - what a transaction needs
 * @data_size, @offsets_size, @extra_size: bytes; each part is rounded up to 8
 * @oneway: charge the asynchronous budget
 * @clear_on_free: TF_CLEAR_BUF
 * @debug_id: of the transaction
 */
struct binder_alloc_request {
	size_t data_size;
	size_t offsets_size;
	size_t extra_size;
	bool oneway;
	bool clear_on_free;
	int debug_id;
};

/**
 * struct binder_alloc_space - the allocator in numbers, for logs and errors
 */
struct binder_alloc_space {
	size_t allocated_bytes, allocated_count, allocated_largest;
	size_t free_bytes, free_count, free_largest;
	size_t free_async;
	size_t pages_active, pages_lru, pages_free, pages_high;
};

struct binder_alloc *binder_alloc_new(struct binder_proc *proc, pid_t pid);
struct binder_alloc *binder_alloc_get(struct binder_alloc *alloc);
void binder_alloc_put(struct binder_alloc *alloc);
int binder_alloc_map(struct binder_alloc *alloc, u64 user_addr, size_t size);
void binder_alloc_unmap(struct binder_alloc *alloc);
bool binder_alloc_mapped(struct binder_alloc *alloc);
void binder_alloc_release(struct binder_alloc *alloc);

struct binder_buffer *binder_alloc_buffer(struct binder_alloc *alloc,
					  const struct binder_alloc_request *request);
void binder_alloc_allow_free(struct binder_alloc *alloc, struct binder_buffer *buffer);
struct binder_buffer *binder_alloc_prepare_to_free(struct binder_alloc *alloc, u64 user_addr);
struct binder_buffer *binder_alloc_first_buffer(struct binder_alloc *alloc);
void binder_alloc_free_buffer(struct binder_alloc *alloc, struct binder_buffer *buffer);

size_t binder_alloc_size_locked(struct binder_alloc *alloc, const struct binder_buffer *buffer)
	__must_hold(&alloc->lock);
size_t binder_alloc_buffer_count(struct binder_alloc *alloc);
void binder_alloc_space(struct binder_alloc *alloc, struct binder_alloc_space *space);
void binder_alloc_to_text(struct binder_text *text, struct binder_alloc *alloc);

#endif
