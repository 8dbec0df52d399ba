// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>

unsigned long find_next_zero_bit(const unsigned long *map, unsigned long nbits,
				 unsigned long start)
{
	while (start < nbits) {
		unsigned long shift = start % BITS_PER_LONG;
		unsigned long clear = ~map[start / BITS_PER_LONG] >> shift;

		if (clear)
			return min(nbits, start + (unsigned long)__builtin_ctzl(clear));
		start += BITS_PER_LONG - shift;
	}
	return nbits;
}

unsigned long find_last_bit(const unsigned long *map, unsigned long nbits)
{
	unsigned long end = nbits;

	while (end) {
		unsigned long word = (end - 1) / BITS_PER_LONG;
		unsigned long below = end - word * BITS_PER_LONG;	/* 1 to BITS_PER_LONG */
		unsigned long set = map[word] & (~0UL >> (BITS_PER_LONG - below));

		if (set)
			return word * BITS_PER_LONG + (BITS_PER_LONG - 1) -
			       (unsigned long)__builtin_clzl(set);
		end = word * BITS_PER_LONG;
	}
	return nbits;
}
