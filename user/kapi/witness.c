// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lock checker, see binder_witness.h. Nothing here waits, and nothing is
 * shared between threads but each witness's owner, so it adds no ordering
 * that could hide a race from ThreadSanitizer.
 */
#include <binder_witness.h>
#include <binder_kapi.h>
#include <linux/kernel.h>

/* Deepest nesting; the rank list allows as many as it has ranks. */
#define HELD_MAX 16

struct held_lock {
	struct binder_witness *witness;
	const char *site;
};

/* The address is the thread's identity. */
static __thread struct held_stack {
	unsigned int nr;
	unsigned int spins;
	struct held_lock lock[HELD_MAX];
} held;

static const void *witness_owner(const struct binder_witness *w)
{
	return __atomic_load_n(&w->owner, __ATOMIC_RELAXED);
}

void binder_witness_init(struct binder_witness *w, int rank, const char *name, unsigned int flags)
{
	__atomic_store_n(&w->owner, NULL, __ATOMIC_RELAXED);
	w->name = name;
	w->rank = rank;
	w->flags = flags;
}

bool binder_witness_held(const struct binder_witness *w)
{
	return witness_owner(w) == &held;
}

unsigned int binder_witness_depth(void)
{
	return held.nr;
}

static const char *held_site(const struct binder_witness *w)
{
	for (unsigned int i = 0; i < held.nr; i++)
		if (held.lock[i].witness == w)
			return held.lock[i].site;
	return "?";
}

void binder_might_sleep(const char *site)
{
	if (likely(!held.spins))
		return;
	for (unsigned int i = held.nr; i-- > 0;)
		if (held.lock[i].witness->flags & BINDER_WITNESS_SPIN)
			binder_kapi_fatal("%s: sleeps while spinlock %s is held (taken at %s)",
					  site, held.lock[i].witness->name, held.lock[i].site);
}

void binder_witness_lock(struct binder_witness *w, const char *site)
{
	if (unlikely(binder_witness_held(w)))
		binder_kapi_fatal("%s: %s locked twice (first at %s)", site, w->name,
				  held_site(w));
	if (!(w->flags & BINDER_WITNESS_SPIN))
		binder_might_sleep(site);
	if (w->rank == BINDER_WITNESS_UNRANKED)
		return;
	for (unsigned int i = 0; i < held.nr; i++)
		if (unlikely(held.lock[i].witness->rank >= w->rank))
			binder_kapi_fatal("%s: wrong lock order: %s after %s (taken at %s)", site,
					  w->name, held.lock[i].witness->name, held.lock[i].site);
}

void binder_witness_locked(struct binder_witness *w, const char *site)
{
	__atomic_store_n(&w->owner, &held, __ATOMIC_RELAXED);
	if (unlikely(held.nr == HELD_MAX))
		binder_kapi_fatal("%s: %s is lock number %d held at once", site, w->name,
				  HELD_MAX + 1);
	held.lock[held.nr].witness = w;
	held.lock[held.nr].site = site;
	held.nr++;
	if (w->flags & BINDER_WITNESS_SPIN)
		held.spins++;
}

void binder_witness_unlock(struct binder_witness *w, const char *site)
{
	const void *owner = witness_owner(w);
	unsigned int i = held.nr;

	if (unlikely(!owner))
		binder_kapi_fatal("%s: %s unlocked but not held", site, w->name);
	if (unlikely(owner != &held))
		binder_kapi_fatal("%s: %s unlocked by a thread that does not hold it", site,
				  w->name);
	/* Usually the last one; locks need not be released in reverse order. */
	while (i-- > 0 && held.lock[i].witness != w)
		;
	for (held.nr--; i < held.nr; i++)
		held.lock[i] = held.lock[i + 1];
	if (w->flags & BINDER_WITNESS_SPIN)
		held.spins--;
	__atomic_store_n(&w->owner, NULL, __ATOMIC_RELAXED);
}

void binder_witness_assert_held(const struct binder_witness *w, const char *expr,
				const char *site)
{
	if (unlikely(!binder_witness_held(w)))
		binder_kapi_fatal("%s: lockdep_assert_held(%s): %s is not held by this thread",
				  site, expr, w->name);
}

void binder_witness_assert_none(const char *site)
{
	if (unlikely(held.nr))
		binder_kapi_fatal("%s: %s is held here (taken at %s), no lock may be", site,
				  held.lock[held.nr - 1].witness->name,
				  held.lock[held.nr - 1].site);
}

void binder_witness_check_free(const void *ptr, size_t len, const char *site)
{
	for (unsigned int i = 0; i < held.nr; i++) {
		uintptr_t lock = (uintptr_t)held.lock[i].witness;

		if (unlikely(lock >= (uintptr_t)ptr && lock - (uintptr_t)ptr < len))
			binder_kapi_fatal("%s: frees memory that contains %s, held (taken at %s)",
					  site, held.lock[i].witness->name, held.lock[i].site);
	}
}
