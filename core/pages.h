/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages behind a mapping: which slots have one, which of those are idle,
 * and how idle ones go back to the system.
 *
 * A slot is empty (page NULL), in use (page set, not on the LRU) or idle
 * (page set, on the LRU). Slot and LRU membership change together, under
 * alloc->lock.
 */
#ifndef CORE_PAGES_H
#define CORE_PAGES_H

#include "core/kapi.h"

struct binder_alloc;

/**
 * struct binder_page - one page slot of a mapping
 * @lru: in the list of idle pages. Being in it or not changes under both
 *       alloc->lock and the LRU's lock; read under the LRU's lock, because
 *       neighbours in the list are other allocators' slots
 * @page: guarded by alloc->lock. Taken out of the slot by the shrinker it is
 *        the shrinker's to zap and free, under install_mutex
 * @alloc: immutable
 */
struct binder_page {
	struct list_head lru;
	struct page *page;
	struct binder_alloc *alloc;
};

/** struct binder_page_count - the slots of an allocator by state */
struct binder_page_count {
	size_t in_use;
	size_t idle;
	size_t empty;
};

void binder_pages_init(void);
struct binder_page *binder_pages_alloc(struct binder_alloc *alloc, size_t nr);
void binder_pages_free(struct binder_alloc *alloc) __must_hold(&alloc->install_mutex);
bool binder_pages_use_locked(struct binder_alloc *alloc, size_t first, size_t end)
	__must_hold(&alloc->lock);
void binder_pages_idle_locked(struct binder_alloc *alloc, size_t first, size_t end)
	__must_hold(&alloc->lock);
void binder_pages_count_locked(struct binder_alloc *alloc, struct binder_page_count *count)
	__must_hold(&alloc->lock);
int binder_pages_install(struct binder_alloc *alloc, size_t first, size_t end);
struct page *binder_pages_hold(struct binder_alloc *alloc, size_t index);
struct page *binder_pages_held(struct binder_alloc *alloc, size_t index)
	__must_hold(&alloc->install_mutex);
size_t binder_pages_gap(struct binder_alloc *alloc, size_t first, size_t end)
	__must_hold(&alloc->install_mutex);
void binder_pages_unhold(struct binder_alloc *alloc);
unsigned long binder_pages_idle_count(void);
void binder_pages_mark(void);
unsigned long binder_pages_shrink(unsigned long nr);
unsigned long binder_pages_shrink_marked(unsigned long nr);

#endif
