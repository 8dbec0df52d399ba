// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: an arena that the test reads at the very addresses the core gives
 * to the process, and a model of its pages that aborts at every step a real
 * host could not survive.
 */
#include <stdlib.h>

#include "sim.h"
#include "core/alloc.h"
#include "core/proc.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(addr, size) ((void)(addr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(addr, size) ((void)(addr), (void)(size))
#endif

/* What a process reads, wrongly, where no page is. */
#define POISON_ABSENT 0xee

struct page {
	struct binder_host_map *map;
	size_t index;
};

static u8 *page_mem(const struct binder_host_map *map, size_t index)
{
	return map->arena + index * PAGE_SIZE;
}

/* The process must not see these bytes: AddressSanitizer reports it, others read poison. */
static void arena_hide(struct binder_host_map *map, size_t first, size_t nr)
{
	ASAN_UNPOISON_MEMORY_REGION(page_mem(map, first), nr * PAGE_SIZE);
	memset(page_mem(map, first), POISON_ABSENT, nr * PAGE_SIZE);
	ASAN_POISON_MEMORY_REGION(page_mem(map, first), nr * PAGE_SIZE);
}

static void map_init(struct binder_host_map *map, size_t size)
{
	binder_mutex_init(&map->mm_lock, BINDER_RANK_MM);
	map->size = size;
	map->arena = aligned_alloc(PAGE_SIZE, max(PAGE_ALIGN(size), PAGE_SIZE));
	map->slots = calloc(DIV_ROUND_UP(size, PAGE_SIZE) + 1, sizeof(*map->slots));
	if (!map->arena || !map->slots)
		abort();
	arena_hide(map, 0, PAGE_ALIGN(size) / PAGE_SIZE);
}

static void map_free(struct binder_host_map *map)
{
	ASAN_UNPOISON_MEMORY_REGION(map->arena, map->size);
	free(map->arena);
	free(map->slots);
	map->arena = NULL;
	map->slots = NULL;
}

int sim_alloc_mmap(struct binder_alloc *alloc, size_t size)
{
	struct binder_host_map *map = &alloc->host;
	bool first = !map->arena;
	int ret;

	if (first)
		map_init(map, size);
	mutex_lock(&map->mm_lock);
	ret = binder_alloc_map(alloc, (u64)(uintptr_t)map->arena, size);
	mutex_unlock(&map->mm_lock);
	if (ret && first)
		map_free(map);
	if (!ret && !first)
		binder_kapi_fatal("binder_alloc_map: mapped a second time");
	return ret;
}

void sim_alloc_munmap(struct binder_alloc *alloc)
{
	struct binder_host_map *map = &alloc->host;

	if (!map->arena || map->gone)
		return;
	mutex_lock(&map->mm_lock);
	map->gone = true;
	arena_hide(map, 0, PAGE_ALIGN(map->size) / PAGE_SIZE);
	binder_alloc_unmap(alloc);
	mutex_unlock(&map->mm_lock);
}

int sim_mmap(struct sim_proc *proc, size_t size)
{
	return sim_alloc_mmap(proc->proc->alloc, size);
}

void sim_mmap_lazy(struct sim_proc *proc, size_t size)
{
	proc->lazy_size = size;
}

void sim_munmap(struct sim_proc *proc)
{
	sim_alloc_munmap(proc->proc->alloc);
}

bool sim_page_present(struct binder_alloc *alloc, size_t index)
{
	const struct binder_host_map *map = &alloc->host;

	return map->arena && !map->gone && index < map->size / PAGE_SIZE && map->slots[index];
}

size_t sim_pages_live(struct binder_alloc *alloc)
{
	return alloc->host.nr_pages;
}

bool sim_map_readable(struct binder_alloc *alloc, u64 addr)
{
	u64 start = (u64)(uintptr_t)alloc->host.arena;

	return addr >= start && sim_page_present(alloc, (size_t)(addr - start) / PAGE_SIZE);
}

/* The range must have its pages, whether the process still sees them or not. */
static void map_check_range(struct binder_host_map *map, size_t offset, size_t len,
			    const char *what)
{
	if (!len)
		return;
	if (!map->arena || offset > map->size || len > map->size - offset)
		binder_kapi_fatal("%s: [%zu, +%zu) is outside the mapping of %zu bytes", what,
				  offset, len, map->size);
	for (size_t i = offset / PAGE_SIZE; i <= (offset + len - 1) / PAGE_SIZE; i++)
		if (!map->slots[i])
			binder_kapi_fatal("%s: [%zu, +%zu): page %zu is not inserted", what, offset,
					  len, i);
}

void sim_map_write(struct binder_alloc *alloc, size_t offset, const void *src, size_t len)
{
	struct binder_host_map *map = &alloc->host;

	map_check_range(map, offset, len, "write to a buffer");
	if (!map->gone)
		memcpy(map->arena + offset, src, len);
}

void binder_host_write_buffer(struct binder_alloc *alloc, size_t offset, const void *src,
			      size_t len)
{
	binder_might_sleep(BINDER_SITE);
	sim_point(SIM_WRITE_BUFFER);
	sim_map_write(alloc, offset, src, len);
}

void binder_host_zero_buffer(struct binder_alloc *alloc, size_t offset, size_t len)
{
	struct binder_host_map *map = &alloc->host;

	binder_might_sleep(BINDER_SITE);
	sim_point(SIM_ZERO_BUFFER);
	map_check_range(map, offset, len, "zeroing a buffer");
	if (!map->gone)
		memset(map->arena + offset, 0, len);
}

void binder_host_buffer_ready(struct binder_alloc *alloc, size_t offset, size_t len)
{
	binder_witness_assert_none(BINDER_SITE);
	map_check_range(&alloc->host, offset, len, "a buffer that is ready");
}

void binder_host_map_find(struct binder_proc *proc)
{
	struct sim_proc *sim = proc->host.sim;

	binder_witness_assert_none(BINDER_SITE);
	if (sim && sim->lazy_size && !proc->alloc->host.arena)
		sim_alloc_mmap(proc->alloc, sim->lazy_size);
}

struct page *binder_host_page_alloc(struct binder_alloc *alloc, size_t index)
{
	struct page *page;

	binder_witness_assert_none(BINDER_SITE);
	sim_point(SIM_PAGE_ALLOC);
	if (sim_fault_hit(BINDER_SITE))
		return NULL;
	page = calloc(1, sizeof(*page));
	if (!page)
		abort();
	page->map = &alloc->host;
	page->index = index;
	alloc->host.nr_pages++;
	sim_page_count(1);
	return page;
}

static void page_check(struct binder_alloc *alloc, size_t index, const struct page *page,
		       const char *what)
{
	if (!page || page->map != &alloc->host || page->index != index)
		binder_kapi_fatal("%s: not the page that was allocated for slot %zu", what, index);
}

void binder_host_page_free(struct binder_alloc *alloc, size_t index, struct page *page)
{
	struct binder_host_map *map = &alloc->host;

	binder_might_sleep(BINDER_SITE);
	sim_point(SIM_PAGE_FREE);
	page_check(alloc, index, page, "page free");
	if (map->slots && map->slots[index] == page) {
		if (!map->gone)
			binder_kapi_fatal("page free: slot %zu still has it inserted", index);
		map->slots[index] = NULL;
	}
	map->nr_pages--;
	sim_page_count(-1);
	free(page);
}

int binder_host_page_insert(struct binder_alloc *alloc, size_t index, struct page *page)
{
	struct binder_host_map *map = &alloc->host;
	int ret = 0;

	lockdep_assert_held(&alloc->install_mutex);
	binder_might_sleep(BINDER_SITE);
	page_check(alloc, index, page, "page insert");
	if (!map->arena)
		return -ESRCH;
	/* Page tables need memory: that may reclaim, and it may fail. */
	sim_point(SIM_PAGE_INSERT);
	if (sim_fault_hit(BINDER_SITE))
		return -ENOMEM;
	mutex_lock(&map->mm_lock);
	if (map->gone) {
		ret = -ESRCH;
	} else {
		if (index >= map->size / PAGE_SIZE)
			binder_kapi_fatal("page insert: slot %zu is outside the mapping", index);
		if (map->slots[index])
			binder_kapi_fatal("page insert: slot %zu has a page", index);
		map->slots[index] = page;
		ASAN_UNPOISON_MEMORY_REGION(page_mem(map, index), PAGE_SIZE);
		memset(page_mem(map, index), 0, PAGE_SIZE);
	}
	mutex_unlock(&map->mm_lock);
	return ret;
}

void binder_host_page_zap(struct binder_alloc *alloc, size_t index, struct page *page)
{
	struct binder_host_map *map = &alloc->host;

	lockdep_assert_held(&alloc->install_mutex);
	binder_might_sleep(BINDER_SITE);
	sim_point(SIM_PAGE_ZAP);
	page_check(alloc, index, page, "page zap");
	if (!map->arena || map->slots[index] != page)
		binder_kapi_fatal("page zap: the page is not in slot %zu", index);
	map->slots[index] = NULL;
	if (!map->gone)
		arena_hide(map, index, 1);
}

void binder_host_map_fini(struct binder_alloc *alloc)
{
	struct binder_host_map *map = &alloc->host;

	if (map->nr_pages)
		binder_kapi_fatal("the allocator goes and leaves %zu pages", map->nr_pages);
	if (map->arena)
		map_free(map);
}
