/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_OVERFLOW_H
#define USER_KAPI_OVERFLOW_H

#include <linux/compiler.h>
#include <linux/types.h>

/* Functions of their own so that an ignored answer is a warning. */
static inline bool __attribute__((__warn_unused_result__)) binder_must_check(bool overflowed)
{
	return unlikely(overflowed);
}

/* The types are the compiler's business: true when *result cannot hold it. */
#define check_add_overflow(a, b, result) \
	binder_must_check(__builtin_add_overflow(a, b, result))
#define check_mul_overflow(a, b, result) \
	binder_must_check(__builtin_mul_overflow(a, b, result))

#endif
