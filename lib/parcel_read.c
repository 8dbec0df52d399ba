// SPDX-License-Identifier: MIT
/*
 * Reading scalars, raw bytes and parcelables. The contents are another
 * process's: every length is checked against what is there.
 */
#include "internal.h"

#include <string.h>

static int read_plain(ab_parcel *parcel, void *value, size_t len)
{
	int error;
	const void *at = ab_parcel_take(parcel, len, &error);

	if (at)
		memcpy(value, at, len);
	else
		memset(value, 0, len);
	return error;
}

int ab_read_int32(ab_parcel *parcel, int32_t *value)
{
	return read_plain(parcel, value, sizeof(*value));
}

int ab_read_uint32(ab_parcel *parcel, uint32_t *value)
{
	return read_plain(parcel, value, sizeof(*value));
}

int ab_read_int64(ab_parcel *parcel, int64_t *value)
{
	return read_plain(parcel, value, sizeof(*value));
}

int ab_read_uint64(ab_parcel *parcel, uint64_t *value)
{
	return read_plain(parcel, value, sizeof(*value));
}

int ab_read_float(ab_parcel *parcel, float *value)
{
	return read_plain(parcel, value, sizeof(*value));
}

int ab_read_double(ab_parcel *parcel, double *value)
{
	return read_plain(parcel, value, sizeof(*value));
}

/* Any number but 0 is true: other writers are not asked to write 1. */
int ab_read_bool(ab_parcel *parcel, bool *value)
{
	int32_t word;
	int ret = ab_read_int32(parcel, &word);

	*value = word;
	return ret;
}

/* Smaller types take the low bits; what others write above them means nothing. */
int ab_read_byte(ab_parcel *parcel, int8_t *value)
{
	int32_t word;
	int ret = ab_read_int32(parcel, &word);

	*value = (int8_t)word;
	return ret;
}

int ab_read_char16(ab_parcel *parcel, uint16_t *value)
{
	int32_t word;
	int ret = ab_read_int32(parcel, &word);

	*value = (uint16_t)word;
	return ret;
}

bool ab_read_null(ab_parcel *parcel)
{
	size_t start = ab_parcel_position(parcel);
	int32_t count;

	if (!ab_read_int32(parcel, &count) && count == -1)
		return true;
	if (parcel)
		parcel->pos = start;
	return false;
}

int ab_read_raw(ab_parcel *parcel, const void **bytes, size_t count)
{
	int error;

	*bytes = ab_parcel_take(parcel, count, &error);
	return error;
}

/* ---- parcelables ------------------------------------------------------------------------- */

int ab_read_nullable_parcelable_begin(ab_parcel *parcel, size_t *end)
{
	size_t start = ab_parcel_position(parcel), body;
	int32_t there, size;
	int ret = ab_read_int32(parcel, &there);

	*end = 0;
	if (ret || !there)
		return ret;
	body = parcel->pos;
	ret = ab_read_int32(parcel, &size);
	if (!ret && (size < (int32_t)sizeof(size) || size % 4))
		ret = AB_BAD_TYPE;
	else if (!ret && (size_t)size > parcel->size - body)
		ret = -ENODATA;
	if (ret) {
		parcel->pos = start;
		return ret;
	}
	*end = body + (size_t)size;
	return 0;
}

int ab_read_parcelable_begin(ab_parcel *parcel, size_t *end)
{
	size_t start = ab_parcel_position(parcel);
	int ret = ab_read_nullable_parcelable_begin(parcel, end);

	if (ret || *end)
		return ret;
	parcel->pos = start;
	return AB_UNEXPECTED_NULL;
}

int ab_read_parcelable_end(ab_parcel *parcel, size_t end)
{
	if (!parcel)
		return -ENOMEM;
	/* Behind it already: its size was a lie, or too much was read. */
	return parcel->pos > end ? AB_BAD_TYPE : ab_parcel_seek(parcel, end) ? AB_BAD_TYPE : 0;
}
