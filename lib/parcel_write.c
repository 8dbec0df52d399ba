// SPDX-License-Identifier: MIT
/* Writing scalars, raw bytes and parcelables. */
#include "internal.h"

#include <string.h>

static int write_plain(ab_parcel *parcel, const void *value, size_t len)
{
	void *to = ab_parcel_extend(parcel, len);

	if (!to)
		return ab_parcel_error(parcel);
	memcpy(to, value, len);
	return 0;
}

int ab_write_int32(ab_parcel *parcel, int32_t value)
{
	return write_plain(parcel, &value, sizeof(value));
}

int ab_write_uint32(ab_parcel *parcel, uint32_t value)
{
	return write_plain(parcel, &value, sizeof(value));
}

int ab_write_bool(ab_parcel *parcel, bool value)
{
	return ab_write_int32(parcel, value);
}

int ab_write_byte(ab_parcel *parcel, int8_t value)
{
	return ab_write_int32(parcel, value);
}

int ab_write_char16(ab_parcel *parcel, uint16_t value)
{
	return ab_write_int32(parcel, value);
}

int ab_write_int64(ab_parcel *parcel, int64_t value)
{
	return write_plain(parcel, &value, sizeof(value));
}

int ab_write_uint64(ab_parcel *parcel, uint64_t value)
{
	return write_plain(parcel, &value, sizeof(value));
}

int ab_write_float(ab_parcel *parcel, float value)
{
	return write_plain(parcel, &value, sizeof(value));
}

int ab_write_double(ab_parcel *parcel, double value)
{
	return write_plain(parcel, &value, sizeof(value));
}

int ab_write_raw(ab_parcel *parcel, const void *bytes, size_t count)
{
	void *to = ab_parcel_extend(parcel, count);

	if (!to)
		return ab_parcel_error(parcel);
	if (count)
		memcpy(to, bytes, count);
	return 0;
}

/* ---- parcelables: 1, then a size that counts itself, then the fields; or 0 ---------------- */

int ab_write_parcelable_begin(ab_parcel *parcel, size_t *mark)
{
	ab_write_int32(parcel, 1);
	*mark = ab_parcel_size(parcel);
	return ab_write_int32(parcel, 0);
}

int ab_write_parcelable_end(ab_parcel *parcel, size_t mark)
{
	int32_t size;

	if (!parcel || parcel->error)
		return ab_parcel_error(parcel);
	if (parcel->received)
		return ab_parcel_fail(parcel, -EPERM);
	if (mark % 4 || mark > parcel->size || parcel->size - mark < sizeof(size))
		return ab_parcel_fail(parcel, -EINVAL);
	size = (int32_t)(parcel->size - mark);
	memcpy(parcel->data + mark, &size, sizeof(size));
	return 0;
}

int ab_write_null_parcelable(ab_parcel *parcel)
{
	return ab_write_int32(parcel, 0);
}
