/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_COMPILER_H
#define USER_KAPI_COMPILER_H

/* Read by people and by static checkers; the run-time check is the witness. */
#define __must_hold(lock)
#define __guarded_by(lock)

#define __printf(fmt, first) __attribute__((__format__(__printf__, fmt, first)))

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define fallthrough __attribute__((__fallthrough__))

/*
 * Relaxed atomics instead of the kernel's volatile accesses: as strong as the
 * kernel promises, and ThreadSanitizer knows that they are meant to race.
 * Scalars and pointers only, which is what the kernel accepts too.
 */
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELAXED)

#define BINDER_STRINGIFY_(x) #x
#define BINDER_STRINGIFY(x) BINDER_STRINGIFY_(x)
/** BINDER_SITE - the source line as one constant string, for messages */
#define BINDER_SITE __FILE__ ":" BINDER_STRINGIFY(__LINE__)

#endif
