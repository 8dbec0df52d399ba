/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_KERNEL_H
#define USER_KAPI_KERNEL_H

#include_next <linux/kernel.h>
#include <limits.h>
#include <stdarg.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define U32_MAX ((u32)~0U)

#define container_of(ptr, type, member) ({					\
	const void *binder_member = (ptr);					\
	static_assert(__builtin_types_compatible_p(typeof(*(ptr)),		\
						   typeof(((type *)0)->member)) ||	\
		      __builtin_types_compatible_p(typeof(*(ptr)), void),	\
		      "container_of: not a pointer to that member");		\
	(type *)((char *)(uintptr_t)binder_member - offsetof(type, member)); })

#define BINDER_PASTE_(a, b) a##b
#define BINDER_PASTE(a, b) BINDER_PASTE_(a, b)

/*
 * As strict as Linux 6.1: both sides must have the same type, or the pointer
 * comparison warns. Unique names, so that min(a, min(b, c)) shadows nothing.
 */
#define BINDER_PICK(a, b, op, va, vb) ({	\
	typeof(a) va = (a);			\
	typeof(b) vb = (b);			\
	(void)(&va == &vb);			\
	va op vb ? va : vb; })
#define BINDER_PICK_UNIQUE(a, b, op, nr) \
	BINDER_PICK(a, b, op, BINDER_PASTE(binder_pick_a, nr), BINDER_PASTE(binder_pick_b, nr))

#define min(a, b) BINDER_PICK_UNIQUE(a, b, <, __COUNTER__)
#define max(a, b) BINDER_PICK_UNIQUE(a, b, >, __COUNTER__)
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))

/* @align must be a power of two. */
#define ALIGN(x, align) (((x) + ((typeof(x))(align) - 1)) & ~((typeof(x))(align) - 1))
#define IS_ALIGNED(x, align) (((x) & ((typeof(x))(align) - 1)) == 0)
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))

#define ARRAY_SIZE(array)							\
	(sizeof(array) / sizeof((array)[0]) +					\
	 sizeof(char[1 - 2 * __builtin_types_compatible_p(typeof(array), typeof(&(array)[0]))]) - 1)

/**
 * vscnprintf() - vsnprintf() that returns what was stored
 *
 * Return: characters stored without the final 0; 0 when @size is 0.
 */
int vscnprintf(char *buf, size_t size, const char *fmt, va_list args) __printf(3, 0);

#endif
