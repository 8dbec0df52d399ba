/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_ATOMIC_H
#define USER_KAPI_ATOMIC_H

#include <linux/types.h>

/*
 * Orders as the kernel documents them: an operation that returns a value is
 * fully ordered, one that returns nothing is relaxed. Arithmetic wraps.
 */
#define ATOMIC_INIT(value) { (value) }

static inline int atomic_read(const atomic_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

static inline void atomic_set(atomic_t *v, int value)
{
	__atomic_store_n(&v->counter, value, __ATOMIC_RELAXED);
}

static inline void atomic_add(int value, atomic_t *v)
{
	__atomic_fetch_add(&v->counter, value, __ATOMIC_RELAXED);
}

static inline void atomic_sub(int value, atomic_t *v)
{
	__atomic_fetch_sub(&v->counter, value, __ATOMIC_RELAXED);
}

static inline void atomic_inc(atomic_t *v)
{
	atomic_add(1, v);
}

static inline void atomic_dec(atomic_t *v)
{
	atomic_sub(1, v);
}

static inline int atomic_inc_return(atomic_t *v)
{
	return __atomic_add_fetch(&v->counter, 1, __ATOMIC_SEQ_CST);
}

#endif
