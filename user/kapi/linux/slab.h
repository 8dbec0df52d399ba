/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation. Every call passes its source line down, so that "sleeps under a
 * spinlock", leaks and injected failures name the place. The functions are in
 * slab.c here and in sim/kapi/slab.c there: what is linked decides.
 */
#ifndef USER_KAPI_SLAB_H
#define USER_KAPI_SLAB_H

#include <linux/compiler.h>
#include <linux/types.h>

/* The bit means "may sleep", which is all a host needs to know of it. */
#define GFP_KERNEL ((gfp_t)1)

/**
 * binder_kapi_alloc() - @n objects of @size bytes, contents undefined
 * Context: may sleep if @flags has GFP_KERNEL.
 * Return: memory for binder_kapi_free(), NULL if there is none or n*size overflows.
 */
void *binder_kapi_alloc(size_t n, size_t size, gfp_t flags, const char *site)
	__attribute__((__malloc__, __alloc_size__(1, 2), __warn_unused_result__));

/** binder_kapi_zalloc() - as binder_kapi_alloc(), cleared */
void *binder_kapi_zalloc(size_t n, size_t size, gfp_t flags, const char *site)
	__attribute__((__malloc__, __alloc_size__(1, 2), __warn_unused_result__));

/**
 * binder_kapi_free() - give memory back; NULL is fine
 * Context: any; aborts when the memory contains a lock that the caller holds.
 */
void binder_kapi_free(const void *ptr, const char *site);

#define kmalloc(size, flags) binder_kapi_alloc(1, size, flags, BINDER_SITE)
#define kzalloc(size, flags) binder_kapi_zalloc(1, size, flags, BINDER_SITE)
#define kcalloc(n, size, flags) binder_kapi_zalloc(n, size, flags, BINDER_SITE)
#define kfree(ptr) binder_kapi_free(ptr, BINDER_SITE)

#endif
