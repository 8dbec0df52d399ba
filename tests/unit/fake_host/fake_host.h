/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a host that the allocator needs, for tests with real threads
 * over user/kapi: a page is 4 KiB of heap memory, a mapping is a table of
 * pointers. It adds no locking of its own to the core's, so that a mistake
 * there shows: as an aborted check here, as a race under ThreadSanitizer, as a
 * use of freed memory under either sanitizer.
 */
#ifndef TESTS_FAKE_HOST_H
#define TESTS_FAKE_HOST_H

#include "core/alloc.h"

struct page {
	u8 mem[4096];
	struct binder_alloc *alloc;
	size_t index;
};

/** fake_mmap() - the device is mapped, as mmap() does it: under the address-space lock */
int fake_mmap(struct binder_alloc *alloc, size_t size);
/** fake_munmap() - and unmapped; may be called more than once */
void fake_munmap(struct binder_alloc *alloc);
/** fake_fill() - the owner of a buffer writes it; aborts where a page is missing */
void fake_fill(struct binder_alloc *alloc, size_t offset, size_t len, u8 byte);
/** fake_verify() - all of it still has that byte */
void fake_verify(struct binder_alloc *alloc, size_t offset, size_t len, u8 byte);

/* Called where the host may be interrupted or recurse into reclaim; set before threads start. */
extern void (*fake_pause)(struct binder_alloc *alloc, bool may_reclaim);

#define FAKE_CHECK(cond) do {							\
	if (!(cond))								\
		binder_kapi_fatal("%s: check failed: %s", BINDER_SITE, #cond);	\
} while (0)

#endif
