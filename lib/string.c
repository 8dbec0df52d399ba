// SPDX-License-Identifier: MIT
/*
 * Strings. String16: int32 length in UTF-16 units, the units, a zero unit,
 * padding to 4. String8: int32 length in bytes, the bytes, a zero byte, padding.
 */
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

static size_t utf8_size(uint32_t c)
{
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
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

/* A length and room for @units and a zero; NULL, and the parcel failed. */
static uint16_t *string16_begin(ab_parcel *parcel, size_t units)
{
	uint16_t *to;

	if (units > AB_PARCEL_MAX / 2 - 4) {
		ab_parcel_fail(parcel, -E2BIG);
		return NULL;
	}
	ab_write_int32(parcel, (int32_t)units);
	to = ab_parcel_extend(parcel, (units + 1) * sizeof(*to));
	if (to)
		to[units] = 0;
	return to;
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
	to = string16_begin(parcel, (size_t)units);
	if (!to)
		return ab_parcel_error(parcel);
	while (*s) {
		uint32_t c = (uint32_t)utf8_next(&s);

		if (c >= 0x10000) {
			*to++ = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
			*to++ = (uint16_t)(0xdc00 + ((c - 0x10000) & 0x3ff));
		} else {
			*to++ = (uint16_t)c;
		}
	}
	return 0;
}

int ab_write_utf16(ab_parcel *parcel, const uint16_t *units, size_t count)
{
	uint16_t *to;

	if (!units)
		return ab_write_int32(parcel, -1);
	to = string16_begin(parcel, count);
	if (!to)
		return ab_parcel_error(parcel);
	if (count)
		memcpy(to, units, count * sizeof(*units));
	return 0;
}

int ab_write_string8(ab_parcel *parcel, const char *utf8)
{
	size_t len;
	char *to;

	if (!utf8)
		return ab_write_int32(parcel, -1);
	len = strnlen(utf8, AB_PARCEL_MAX);
	ab_write_int32(parcel, (int32_t)len);
	to = ab_parcel_extend(parcel, len + 1);
	if (!to)
		return ab_parcel_error(parcel);
	memcpy(to, utf8, len);
	to[len] = '\0';
	return 0;
}

#define REPLACEMENT 0xfffd

/* The next code point of @units; what is no text, and zero, is U+FFFD. */
static uint32_t utf16_next(const uint16_t *units, size_t count, size_t *i)
{
	uint32_t c = units[(*i)++];

	if (c >= 0xd800 && c < 0xe000) {
		if (c >= 0xdc00 || *i == count || units[*i] >> 10 != 0x37)
			return REPLACEMENT;
		return 0x10000 + ((c & 0x3ff) << 10) + (units[(*i)++] & 0x3ff);
	}
	return c ? c : REPLACEMENT;
}

/* Are these units the text @utf8? */
bool ab_utf16_is(const uint16_t *units, size_t count, const char *utf8)
{
	const unsigned char *s = (const unsigned char *)utf8;
	size_t i = 0;

	while (i < count && *s) {
		int32_t c = utf8_next(&s);

		if (c < 0 || (uint32_t)c != utf16_next(units, count, &i))
			return false;
	}
	return i == count && !*s;
}

static char *utf8_from(const uint16_t *units, size_t count)
{
	size_t size = 1;
	char *utf8, *to;

	for (size_t i = 0; i < count;)
		size += utf8_size(utf16_next(units, count, &i));
	utf8 = to = malloc(size);
	if (!utf8)
		return NULL;
	for (size_t i = 0; i < count;)
		to += utf8_put(to, utf16_next(units, count, &i));
	*to = '\0';
	return utf8;
}

/*
 * A length that is not negative, and that many elements and a zero one. NULL, with the
 * reason and the place where it was.
 */
static const void *string_take(ab_parcel *parcel, size_t element, size_t *count, int *error)
{
	size_t start = ab_parcel_position(parcel);
	const uint8_t *at = NULL;
	int32_t len;

	*count = 0;
	*error = ab_read_int32(parcel, &len);
	if (*error)
		return NULL;
	if (len < 0)
		*error = len == -1 ? AB_UNEXPECTED_NULL : AB_BAD_TYPE;
	else if ((size_t)len >= ab_parcel_left(parcel) / element)
		*error = -ENODATA; /* found out before the product could wrap */
	else
		at = ab_parcel_take(parcel, ((size_t)len + 1) * element, error);
	for (size_t i = 0; at && i < element; i++) {
		if (at[(size_t)len * element + i]) {
			*error = AB_BAD_TYPE;
			at = NULL;
		}
	}
	if (!at) {
		parcel->pos = start;
		return NULL;
	}
	*count = (size_t)len;
	return at;
}

int ab_read_utf16(ab_parcel *parcel, const uint16_t **units, size_t *count)
{
	int error;

	*units = string_take(parcel, sizeof(**units), count, &error);
	return error;
}

int ab_read_string16(ab_parcel *parcel, char **utf8)
{
	size_t start = ab_parcel_position(parcel), count;
	const uint16_t *units;
	int ret;

	*utf8 = NULL;
	ret = ab_read_utf16(parcel, &units, &count);
	if (ret)
		return ret;
	*utf8 = utf8_from(units, count);
	if (*utf8)
		return 0;
	parcel->pos = start;
	return -ENOMEM;
}

int ab_read_nullable_string16(ab_parcel *parcel, char **utf8)
{
	*utf8 = NULL;
	return ab_read_null(parcel) ? 0 : ab_read_string16(parcel, utf8);
}

/*
 * The next code point of bytes that may be no UTF-8: what is none, and zero, is U+FFFD.
 * Never reads beyond a zero byte, which lies behind the last: that continues nothing.
 */
static uint32_t utf8_next_lossy(const unsigned char **s)
{
	int32_t c = utf8_next(s);

	*s += c < 0;
	return c > 0 ? (uint32_t)c : REPLACEMENT;
}

static char *utf8_clean(const unsigned char *bytes, size_t count)
{
	const unsigned char *end = bytes + count;
	size_t size = 1;
	char *utf8, *to;

	for (const unsigned char *s = bytes; s < end;)
		size += utf8_size(utf8_next_lossy(&s));
	utf8 = to = malloc(size);
	if (!utf8)
		return NULL;
	while (bytes < end)
		to += utf8_put(to, utf8_next_lossy(&bytes));
	*to = '\0';
	return utf8;
}

int ab_read_string8(ab_parcel *parcel, char **utf8)
{
	size_t start = ab_parcel_position(parcel), count;
	const unsigned char *bytes;
	int error;

	*utf8 = NULL;
	bytes = string_take(parcel, 1, &count, &error);
	if (!bytes)
		return error;
	*utf8 = utf8_clean(bytes, count);
	if (*utf8)
		return 0;
	parcel->pos = start;
	return -ENOMEM;
}

int ab_read_nullable_string8(ab_parcel *parcel, char **utf8)
{
	*utf8 = NULL;
	return ab_read_null(parcel) ? 0 : ab_read_string8(parcel, utf8);
}
