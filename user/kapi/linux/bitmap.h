/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_BITMAP_H
#define USER_KAPI_BITMAP_H

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#define BITS_PER_LONG ((int)(sizeof(long) * CHAR_BIT))
#define BITS_TO_LONGS(nbits) DIV_ROUND_UP((size_t)(nbits), (size_t)BITS_PER_LONG)

/* Not atomic, as in the kernel: the caller has a lock. */
static inline void __set_bit(unsigned long nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] |= 1UL << (nr % BITS_PER_LONG);
}

static inline void __clear_bit(unsigned long nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] &= ~(1UL << (nr % BITS_PER_LONG));
}

static inline bool test_bit(unsigned long nr, const unsigned long *map)
{
	return map[nr / BITS_PER_LONG] >> (nr % BITS_PER_LONG) & 1;
}

/* Whole words, as in the kernel. */
static inline void bitmap_copy(unsigned long *dst, const unsigned long *src, unsigned int nbits)
{
	memcpy(dst, src, BITS_TO_LONGS(nbits) * sizeof(long));
}

/** find_next_zero_bit() - first clear bit at or after @start, @nbits if none */
unsigned long find_next_zero_bit(const unsigned long *map, unsigned long nbits,
				 unsigned long start);

#endif
