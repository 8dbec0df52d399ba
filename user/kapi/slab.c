// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation on the C library. Differs from the kernel on purpose: no upper
 * limit on kmalloc(), so code must bound what a client can ask for; and with
 * overcommit NULL is rare, so failure paths are proven in sim/.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <binder_witness.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#define SMALL_MAX 1024

/* The kernel's answer to 0 bytes is not NULL either. */
static bool alloc_size(size_t n, size_t size, gfp_t flags, size_t *bytes, const char *site)
{
	if (flags & GFP_KERNEL)
		binder_might_sleep(site);
	if (check_mul_overflow(n, size, bytes))
		return false;
	if (!*bytes)
		*bytes = 1;
	return true;
}

void *binder_kapi_alloc(size_t n, size_t size, gfp_t flags, const char *site)
{
	size_t bytes;

	return alloc_size(n, size, flags, &bytes, site) ? malloc(bytes) : NULL;
}

void *binder_kapi_zalloc(size_t n, size_t size, gfp_t flags, const char *site)
{
	size_t bytes;
	void *mem;

	if (!alloc_size(n, size, flags, &bytes, site))
		return NULL;
	/* Large memory comes cleared from the system; small memory comes faster
	 * from the thread's cache, which this C library's calloc() passes by. */
	if (bytes > SMALL_MAX)
		return calloc(1, bytes);
	mem = malloc(bytes);
	return mem ? memset(mem, 0, bytes) : NULL;
}

void *binder_kapi_kvzalloc(size_t n, size_t size, gfp_t flags, const char *site)
{
	return binder_kapi_zalloc(n, size, flags, site);
}

void binder_kapi_free(const void *ptr, const char *site)
{
	void *mem = (void *)(uintptr_t)ptr;

	if (mem && binder_witness_depth())
		binder_witness_check_free(mem, malloc_usable_size(mem), site);
	free(mem);
}
