// SPDX-License-Identifier: MIT
/*
 * Reading parcels. The contents are another process's: every length is
 * checked against what is there, and an object counts only where the driver
 * lists one.
 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The next @len bytes and their padding; NULL when they are not there. */
const void *ab_parcel_take(ab_parcel *parcel, size_t len)
{
	const uint8_t *at = parcel->data + parcel->pos;
	size_t left = parcel->size - parcel->pos;

	if (len > left)
		return NULL;
	/* The padding of the last thing may be missing. */
	parcel->pos += AB_PAD(len) < left ? AB_PAD(len) : left;
	return at;
}

int ab_read_int32(ab_parcel *parcel, int32_t *value)
{
	const void *at = ab_parcel_take(parcel, sizeof(*value));

	if (!at)
		return -ENODATA;
	memcpy(value, at, sizeof(*value));
	return 0;
}

int ab_read_int64(ab_parcel *parcel, int64_t *value)
{
	const void *at = ab_parcel_take(parcel, sizeof(*value));

	if (!at)
		return -ENODATA;
	memcpy(value, at, sizeof(*value));
	return 0;
}

int ab_read_bytes(ab_parcel *parcel, const void **bytes, size_t *len)
{
	size_t start = parcel->pos;
	int32_t count;
	int ret = ab_read_int32(parcel, &count);

	*bytes = NULL;
	*len = 0;
	if (ret || count == -1)
		return ret;
	if (count >= 0)
		*bytes = ab_parcel_take(parcel, (size_t)count);
	if (!*bytes) {
		parcel->pos = start;
		return count < 0 ? -EBADMSG : -ENODATA;
	}
	*len = (size_t)count;
	return 0;
}

static bool is_listed(const ab_parcel *parcel, size_t offset)
{
	size_t low = 0, high = parcel->nr_offsets;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (parcel->offsets[mid] == offset)
			return true;
		if (parcel->offsets[mid] < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

int ab_read_object(ab_parcel *parcel, uint32_t *handle, ab_object **local)
{
	struct flat_binder_object fbo;
	size_t start = parcel->pos;
	const void *at;

	*local = NULL;
	if (!is_listed(parcel, start))
		return -EBADMSG;
	at = ab_parcel_take(parcel, sizeof(fbo));
	if (!at)
		return -ENODATA;
	memcpy(&fbo, at, sizeof(fbo));
	if (fbo.hdr.type == BINDER_TYPE_BINDER) {
		*local = (ab_object *)(uintptr_t)fbo.cookie;
		return 0;
	}
	if (fbo.hdr.type != BINDER_TYPE_HANDLE || !parcel->conn) {
		parcel->pos = start;
		return -EBADMSG;
	}
	*handle = fbo.handle;
	/* Goes out before the parcel's buffer, which holds it until then. */
	return ab_acquire(parcel->conn, fbo.handle);
}
