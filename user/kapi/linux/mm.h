/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_MM_H
#define USER_KAPI_MM_H

#include <binder_witness.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/types.h>

/* A constant, so that core structures may be sized by it; a host on a machine
 * with other pages must refuse to start. Spelt as <sys/user.h> spells it. */
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE-1))
#define PAGE_ALIGN(addr) ALIGN(addr, PAGE_SIZE)
#define offset_in_page(addr) ((unsigned long)(addr) & ~PAGE_MASK)

/* Known to the host only. */
struct page;

/**
 * binder_kapi_kvzalloc() - as binder_kapi_zalloc(), for what may not fit into a page
 * Its own function, so that a host can tell who did not ask for one piece.
 */
void *binder_kapi_kvzalloc(size_t n, size_t size, gfp_t flags, const char *site)
	__attribute__((__malloc__, __alloc_size__(1, 2), __warn_unused_result__));

#define kvzalloc(size, flags) binder_kapi_kvzalloc(1, size, flags, BINDER_SITE)
#define kvcalloc(n, size, flags) binder_kapi_kvzalloc(n, size, flags, BINDER_SITE)

/* Unlike kfree() it may have to unmap, and that sleeps. */
#define kvfree(ptr) do {		\
	binder_might_sleep(BINDER_SITE);	\
	binder_kapi_free(ptr, BINDER_SITE);	\
} while (0)

#endif
