// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <time.h>
#include <binder_kapi.h>

#include "fake_host.h"

void (*fake_pause)(struct binder_alloc *alloc, bool may_reclaim);

static struct page *table_get(struct binder_alloc *alloc, size_t index)
{
	return READ_ONCE(alloc->host.table[index]);
}

static void pause_here(struct binder_alloc *alloc, bool may_reclaim)
{
	if (fake_pause)
		fake_pause(alloc, may_reclaim);
}

int fake_mmap(struct binder_alloc *alloc, size_t size)
{
	int err;

	mutex_lock(&alloc->host.mm_lock);
	err = binder_alloc_map(alloc, 1 << 20, size);
	mutex_unlock(&alloc->host.mm_lock);
	return err;
}

void fake_munmap(struct binder_alloc *alloc)
{
	mutex_lock(&alloc->host.mm_lock);
	WRITE_ONCE(alloc->host.gone, true);
	/* The other locks a reclaim may come from under the address-space lock. */
	pause_here(alloc, true);
	binder_alloc_unmap(alloc);
	mutex_unlock(&alloc->host.mm_lock);
}

/* The page under @offset of a live buffer: inserted, and the one of that slot. */
static u8 *byte_at(struct binder_alloc *alloc, size_t offset)
{
	size_t index = offset / PAGE_SIZE;
	struct page *page = table_get(alloc, index);

	FAKE_CHECK(page);
	FAKE_CHECK(page->alloc == alloc && page->index == index);
	return page->mem + offset % PAGE_SIZE;
}

static size_t run_at(size_t offset, size_t len)
{
	return min_t(size_t, len, PAGE_SIZE - offset % PAGE_SIZE);
}

void fake_fill(struct binder_alloc *alloc, size_t offset, size_t len, u8 byte)
{
	while (len) {
		size_t run = run_at(offset, len);

		memset(byte_at(alloc, offset), byte, run);
		offset += run;
		len -= run;
	}
}

void fake_verify(struct binder_alloc *alloc, size_t offset, size_t len, u8 byte)
{
	while (len) {
		size_t run = run_at(offset, len);
		const u8 *mem = byte_at(alloc, offset);

		for (size_t i = 0; i < run; i++)
			FAKE_CHECK(mem[i] == byte);
		offset += run;
		len -= run;
	}
}

void binder_host_buffer_ready(struct binder_alloc *alloc, size_t offset, size_t len)
{
}

void binder_host_zero_buffer(struct binder_alloc *alloc, size_t offset, size_t len)
{
	binder_might_sleep(BINDER_SITE);
	pause_here(alloc, false);
	fake_fill(alloc, offset, len, 0);
}

struct page *binder_host_page_alloc(struct binder_alloc *alloc, size_t index)
{
	struct page *page;

	binder_witness_assert_none(BINDER_SITE);
	pause_here(alloc, true);
	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->alloc = alloc;
	page->index = index;
	__atomic_fetch_add(&alloc->host.live, 1, __ATOMIC_RELAXED);
	return page;
}

void binder_host_page_free(struct binder_alloc *alloc, size_t index, struct page *page)
{
	binder_might_sleep(BINDER_SITE);
	pause_here(alloc, false);
	FAKE_CHECK(!READ_ONCE(alloc->host.over));
	FAKE_CHECK(page->alloc == alloc && page->index == index);
	FAKE_CHECK(table_get(alloc, index) != page);
	__atomic_fetch_sub(&alloc->host.live, 1, __ATOMIC_RELAXED);
	free(page);
}

int binder_host_page_insert(struct binder_alloc *alloc, size_t index, struct page *page)
{
	int err = 0;

	lockdep_assert_held(&alloc->install_mutex);
	/* Page tables need memory, before the lock and under it. */
	pause_here(alloc, true);
	mutex_lock(&alloc->host.mm_lock);
	pause_here(alloc, true);
	FAKE_CHECK(page->alloc == alloc && page->index == index);
	if (READ_ONCE(alloc->host.gone))
		err = -ESRCH;
	else
		FAKE_CHECK(!__atomic_exchange_n(&alloc->host.table[index], page,
						__ATOMIC_RELAXED));
	mutex_unlock(&alloc->host.mm_lock);
	return err;
}

void binder_host_page_zap(struct binder_alloc *alloc, size_t index, struct page *page)
{
	lockdep_assert_held(&alloc->install_mutex);
	binder_might_sleep(BINDER_SITE);
	pause_here(alloc, false);
	FAKE_CHECK(!READ_ONCE(alloc->host.over));
	FAKE_CHECK(__atomic_exchange_n(&alloc->host.table[index], NULL, __ATOMIC_RELAXED) == page);
}

void binder_host_map_fini(struct binder_alloc *alloc)
{
	FAKE_CHECK(!__atomic_load_n(&alloc->host.live, __ATOMIC_RELAXED));
	FAKE_CHECK(!__atomic_exchange_n(&alloc->host.over, true, __ATOMIC_RELAXED));
}

u64 binder_host_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}
