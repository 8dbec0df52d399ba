// SPDX-License-Identifier: MIT
/* String16: int32 length in UTF-16 units, the units, a zero unit, padding to 4. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One code point of UTF-8; moves *@s past it. -1 when it is none. */
static int32_t utf8_next(const unsigned char **s)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = *s;
	int more = p[0] < 0x80 ? 0 :
		   p[0] >> 5 == 0x06 ? 1 :
		   p[0] >> 4 == 0x0e ? 2 :
		   p[0] >> 3 == 0x1e ? 3 : -1;
	uint32_t c;

	if (more < 0)
		return -1;
	c = more ? p[0] & (0x3f >> more) : p[0];
	for (int i = 1; i <= more; i++) {
		if (p[i] >> 6 != 2)
			return -1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return -1;
	*s = p + more + 1;
	return (int32_t)c;
}

static size_t utf8_put(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* UTF-16 units of a UTF-8 string, or -1. */
static ssize_t utf16_length(const char *utf8)
{
	const unsigned char *s = (const unsigned char *)utf8;
	ssize_t units = 0;

	while (*s) {
		int32_t c = utf8_next(&s);

		if (c < 0)
			return -1;
		units += c >= 0x10000 ? 2 : 1;
	}
	return units;
}

int ab_write_string16(ab_parcel *parcel, const char *utf8)
{
	const unsigned char *s = (const unsigned char *)utf8;
	ssize_t units;
	uint16_t *to;

	if (!utf8)
		return ab_write_int32(parcel, -1);
	units = utf16_length(utf8);
	if (units < 0)
		return ab_parcel_fail(parcel, -EILSEQ);
	if ((size_t)units > AB_PARCEL_MAX / 2 - 4)
		return ab_parcel_fail(parcel, -E2BIG);
	ab_write_int32(parcel, (int32_t)units);
	to = ab_parcel_extend(parcel, ((size_t)units + 1) * sizeof(*to));
	if (!to)
		return parcel->error;
	while (*s) {
		uint32_t c = (uint32_t)utf8_next(&s);

		if (c >= 0x10000) {
			*to++ = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
			*to++ = (uint16_t)(0xdc00 + ((c - 0x10000) & 0x3ff));
		} else {
			*to++ = (uint16_t)c;
		}
	}
	*to = 0;
	return 0;
}

/* @units of UTF-16 at @from, which is 4-aligned; unpaired surrogates become U+FFFD. */
static char *utf8_from(const uint16_t *from, size_t units)
{
	char *utf8 = malloc(units * 3 + 1), *to = utf8;

	if (!utf8)
		return NULL;
	for (size_t i = 0; i < units; i++) {
		uint32_t c = from[i];

		if (c >= 0xd800 && c < 0xe000) {
			if (c < 0xdc00 && i + 1 < units && from[i + 1] >> 10 == 0x37)
				c = 0x10000 + ((c & 0x3ff) << 10) + (from[++i] & 0x3ff);
			else
				c = 0xfffd;
		}
		to += utf8_put(to, c);
	}
	*to = '\0';
	return utf8;
}

int ab_read_string16(ab_parcel *parcel, char **utf8)
{
	size_t start = parcel->pos;
	const uint16_t *from;
	int32_t units;
	int ret;

	*utf8 = NULL;
	ret = ab_read_int32(parcel, &units);
	if (ret || units == -1)
		return ret;
	/* Also keeps the multiplication from wrapping where size_t has 32 bits. */
	from = (size_t)units >= parcel->size ? NULL :
	       ab_parcel_take(parcel, ((size_t)units + 1) * sizeof(*from));
	if (!from || from[units]) {
		parcel->pos = start;
		return from || units < 0 ? -EBADMSG : -ENODATA;
	}
	*utf8 = utf8_from(from, (size_t)units);
	return *utf8 ? 0 : -ENOMEM;
}
