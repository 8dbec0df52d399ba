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
