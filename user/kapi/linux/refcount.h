/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reference counts that saturate instead of wrapping: a count that went wrong
 * warns and then leaks its object for ever, rather than freeing it early.
 */
#ifndef USER_KAPI_REFCOUNT_H
#define USER_KAPI_REFCOUNT_H

#include <limits.h>
#include <binder_kapi.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

typedef struct refcount_struct {
	atomic_t refs;
} refcount_t;

/* Half way down the negative range: far from every real count on both sides. */
#define REFCOUNT_SATURATED (INT_MIN / 2)

/** binder_refcount_broken() - saturate @r and warn with @what */
void binder_refcount_broken(refcount_t *r, const char *what);

static inline void refcount_set(refcount_t *r, int n)
{
	atomic_set(&r->refs, n);
}

static inline unsigned int refcount_read(const refcount_t *r)
{
	return (unsigned int)atomic_read(&r->refs);
}

static inline void refcount_inc(refcount_t *r)
{
	int old = __atomic_fetch_add(&r->refs.counter, 1, __ATOMIC_RELAXED);

	if (unlikely(old == 0))
		binder_refcount_broken(r, "refcount_t: increment of 0, use after free");
	else if (unlikely(old < 0 || old == INT_MAX))
		binder_refcount_broken(r, "refcount_t: saturated");
}

/* Return: false, and nothing done, when the count is 0. */
static inline bool __attribute__((__warn_unused_result__)) refcount_inc_not_zero(refcount_t *r)
{
	int old = atomic_read(&r->refs);

	do {
		if (!old)
			return false;
	} while (!__atomic_compare_exchange_n(&r->refs.counter, &old, (int)((unsigned int)old + 1),
					      true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (unlikely(old < 0 || old == INT_MAX))
		binder_refcount_broken(r, "refcount_t: saturated");
	return true;
}

/*
 * Return: true for the one caller that brought the count to 0.
 * Release pairs with the acquire of the last one, both in this operation, so
 * that ThreadSanitizer needs no fence to see it.
 */
static inline bool __attribute__((__warn_unused_result__)) refcount_dec_and_test(refcount_t *r)
{
	int old = __atomic_fetch_sub(&r->refs.counter, 1, __ATOMIC_ACQ_REL);

	if (old == 1)
		return true;
	if (unlikely(old <= 0))
		binder_refcount_broken(r, "refcount_t: decrement below 0, use after free");
	return false;
}

#endif
