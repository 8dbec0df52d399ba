// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation that can be told to fail, and that knows what is live. Memory is
 * poisoned when it is handed out and when it comes back, so that reading
 * either gives the same wrong answer in every run. Not for several threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sim_fault.h>
#include <binder_kapi.h>
#include <binder_witness.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#define MAGIC_LIVE 0x5111aca110ca7edfULL
#define MAGIC_FREED 0x5111dead0ca7edffULL
#define POISON_NEW 0xa5
#define POISON_FREED 0x6b
/* Freed objects are kept this long to see who still writes to them; not under
 * AddressSanitizer, which sees more if they really go. */
#ifdef __SANITIZE_ADDRESS__
#define QUARANTINE_MAX 0
#else
#define QUARANTINE_MAX 256
#endif

/* In front of every allocation; keeps malloc()'s alignment. */
struct sim_object {
	struct list_head entry;
	const char *site;
	size_t bytes;
	u64 magic;
} __attribute__((__aligned__(16)));

static LIST_HEAD(live);
static LIST_HEAD(quarantine);
static unsigned int nr_quarantine;
static unsigned long nr_live;
static unsigned long nr_pages;
static unsigned long nr_tried;

void (*sim_alloc_hook)(void);

static unsigned long countdown;		/* 0: disarmed */
static bool fail_on;			/* keep failing after the first */
static bool fired;
static const char *fired_site;

void sim_fault_arm(unsigned long nth)
{
	countdown = nth;
	fail_on = false;
	fired = false;
	fired_site = NULL;
}

void sim_fault_arm_from(unsigned long nth)
{
	sim_fault_arm(nth);
	fail_on = true;
}

bool sim_fault_fired(void)
{
	return fired;
}

const char *sim_fault_site(void)
{
	return fired_site;
}

bool sim_fault_hit(const char *site)
{
	nr_tried++;
	if (!countdown)
		return false;
	if (countdown > 1) {
		countdown--;
		return false;
	}
	if (!fail_on)
		countdown = 0;
	fired = true;
	fired_site = site;
	return true;
}

void sim_page_count(int change)
{
	nr_pages += (unsigned long)change;
}

unsigned long sim_alloc_count(void)
{
	return nr_tried;
}

unsigned long sim_alloc_live(void)
{
	return nr_live + nr_pages;
}

void sim_alloc_dump(void)
{
	struct sim_object *object;

	list_for_each_entry(object, &live, entry)
		fprintf(stderr, "live: %zu bytes from %s\n", object->bytes, object->site);
	if (nr_pages)
		fprintf(stderr, "live: %lu pages\n", nr_pages);
}

static void *sim_alloc(size_t n, size_t size, gfp_t flags, int fill, const char *site)
{
	struct sim_object *object;
	size_t bytes, all;

	if (flags & GFP_KERNEL) {
		binder_might_sleep(site);
		if (sim_alloc_hook)
			sim_alloc_hook();
	}
	if (sim_fault_hit(site))
		return NULL;
	if (check_mul_overflow(n, size, &bytes) ||
	    check_add_overflow(bytes, sizeof(*object), &all))
		return NULL;
	object = malloc(all);
	if (!object)
		return NULL;
	object->site = site;
	object->bytes = bytes;
	object->magic = MAGIC_LIVE;
	list_add_tail(&object->entry, &live);
	nr_live++;
	return memset(object + 1, fill, bytes);
}

/*
 * Requirement R2: nothing needs memory that is contiguous beyond a page, which
 * a fragmented machine may not have. Here no machine ever has it.
 */
static void check_order(size_t n, size_t size, const char *site)
{
	size_t bytes;

	if (!check_mul_overflow(n, size, &bytes) && bytes > PAGE_SIZE)
		binder_kapi_fatal("%s: %zu bytes in one piece: use kvcalloc()", site, bytes);
}

void *binder_kapi_kvzalloc(size_t n, size_t size, gfp_t flags, const char *site)
{
	return sim_alloc(n, size, flags, 0, site);
}

void *binder_kapi_alloc(size_t n, size_t size, gfp_t flags, const char *site)
{
	check_order(n, size, site);
	return sim_alloc(n, size, flags, POISON_NEW, site);
}

void *binder_kapi_zalloc(size_t n, size_t size, gfp_t flags, const char *site)
{
	check_order(n, size, site);
	return sim_alloc(n, size, flags, 0, site);
}

static void quarantine_leave(struct sim_object *object)
{
	const u8 *bytes = (const u8 *)(object + 1);

	for (size_t i = 0; i < object->bytes; i++)
		if (bytes[i] != POISON_FREED)
			binder_kapi_fatal("byte %zu of the %zu allocated at %s: write after free",
					  i, object->bytes, object->site);
	list_del(&object->entry);
	nr_quarantine--;
	free(object);
}

void sim_alloc_check_freed(void)
{
	while (nr_quarantine)
		quarantine_leave(list_first_entry(&quarantine, struct sim_object, entry));
}

void binder_kapi_free(const void *ptr, const char *site)
{
	struct sim_object *object;

	if (!ptr)
		return;
	object = (struct sim_object *)(uintptr_t)ptr - 1;
	if (object->magic == MAGIC_FREED)
		binder_kapi_fatal("%s: freed twice: %p, allocated at %s", site, ptr, object->site);
	if (object->magic != MAGIC_LIVE)
		binder_kapi_fatal("%s: frees what was not allocated: %p", site, ptr);
	binder_witness_check_free(ptr, object->bytes, site);
	list_move_tail(&object->entry, &quarantine);
	nr_live--;
	memset(object + 1, POISON_FREED, object->bytes);
	object->magic = MAGIC_FREED;
	if (++nr_quarantine > QUARANTINE_MAX)
		quarantine_leave(list_first_entry(&quarantine, struct sim_object, entry));
}
