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

#define kvzalloc(size, flags) binder_kapi_zalloc(1, size, flags, BINDER_SITE)
#define kvcalloc(n, size, flags) binder_kapi_zalloc(n, size, flags, BINDER_SITE)

/* Unlike kfree() it may have to unmap, and that sleeps. */
#define kvfree(ptr) do {		\
	binder_might_sleep(BINDER_SITE);	\
	binder_kapi_free(ptr, BINDER_SITE);	\
} while (0)

#endif
