// SPDX-License-Identifier: MIT
/* Parcels: memory and writing. Reading is parcel_read.c. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARCEL_FIRST 256

ab_parcel *ab_parcel_new(void)
{
	return calloc(1, sizeof(ab_parcel));
}

/* Free what it has, leave it empty. */
void ab_parcel_fini(ab_parcel *parcel)
{
	if (parcel->conn) {
		struct ab_thread *self = ab_thread_self(parcel->conn);
		binder_uintptr_t buffer = (uintptr_t)parcel->data;

		if (self)
			ab_thread_put(self, BC_FREE_BUFFER, &buffer, sizeof(buffer));
	} else {
		free(parcel->data);
		free(parcel->offsets);
	}
	memset(parcel, 0, sizeof(*parcel));
}

void ab_parcel_free(ab_parcel *parcel)
{
	if (!parcel)
		return;
	ab_parcel_fini(parcel);
	free(parcel);
}

void ab_parcel_reset(ab_parcel *parcel)
{
	if (parcel->conn) {
		ab_parcel_fini(parcel);
		return;
	}
	parcel->size = 0;
	parcel->nr_offsets = 0;
	parcel->pos = 0;
	parcel->error = 0;
}

/* A received parcel: in the mapping, the driver's numbers. */
void ab_parcel_received(ab_parcel *parcel, ab_conn *conn, const struct binder_transaction_data *tr)
{
	memset(parcel, 0, sizeof(*parcel));
	parcel->data = (void *)(uintptr_t)tr->data.ptr.buffer;
	parcel->size = tr->data_size;
	parcel->offsets = (void *)(uintptr_t)tr->data.ptr.offsets;
	parcel->nr_offsets = tr->offsets_size / sizeof(binder_size_t);
	parcel->conn = conn;
}

size_t ab_parcel_size(const ab_parcel *parcel)
{
	return parcel->size;
}

/* Remember the first error; that one is returned. */
int ab_parcel_fail(ab_parcel *parcel, int error)
{
	if (!parcel->error)
		parcel->error = error;
	return parcel->error;
}

static int parcel_reserve(ab_parcel *parcel, size_t len)
{
	size_t capacity = parcel->capacity ? parcel->capacity : PARCEL_FIRST;
	uint8_t *data;

	if (parcel->conn)
		return ab_parcel_fail(parcel, -EPERM);
	if (len > AB_PARCEL_MAX - parcel->size)
		return ab_parcel_fail(parcel, -E2BIG);
	if (parcel->size + len <= parcel->capacity)
		return 0;
	while (capacity < parcel->size + len)
		capacity *= 2;
	data = realloc(parcel->data, capacity);
	if (!data)
		return ab_parcel_fail(parcel, -ENOMEM);
	parcel->data = data;
	parcel->capacity = capacity;
	return 0;
}

/* Room for @len bytes at the end, padded with zeros to 4; NULL on error. */
void *ab_parcel_extend(ab_parcel *parcel, size_t len)
{
	uint8_t *at;

	if (parcel->error || len > AB_PARCEL_MAX || parcel_reserve(parcel, AB_PAD(len))) {
		ab_parcel_fail(parcel, -E2BIG);
		return NULL;
	}
	at = parcel->data + parcel->size;
	parcel->size += AB_PAD(len);
	memset(at + len, 0, AB_PAD(len) - len);
	return at;
}

static int write_raw(ab_parcel *parcel, const void *bytes, size_t len)
{
	void *at = ab_parcel_extend(parcel, len);

	if (!at)
		return parcel->error;
	if (len)
		memcpy(at, bytes, len);
	return 0;
}

int ab_write_int32(ab_parcel *parcel, int32_t value)
{
	return write_raw(parcel, &value, sizeof(value));
}

int ab_write_int64(ab_parcel *parcel, int64_t value)
{
	return write_raw(parcel, &value, sizeof(value));
}

int ab_write_bytes(ab_parcel *parcel, const void *bytes, size_t len)
{
	if (len > AB_PARCEL_MAX)
		return ab_parcel_fail(parcel, -E2BIG);
	if (!bytes)
		return ab_write_int32(parcel, -1);
	ab_write_int32(parcel, (int32_t)len);
	return write_raw(parcel, bytes, len);
}

/* An object at the end, listed in the offsets. */
int ab_parcel_add_object(ab_parcel *parcel, const struct flat_binder_object *fbo)
{
	/* Refuses a received parcel, whose offsets are not ours. */
	if (parcel->error || parcel_reserve(parcel, sizeof(*fbo)))
		return parcel->error;
	if (parcel->nr_offsets == parcel->offsets_capacity) {
		size_t capacity = parcel->offsets_capacity ? 2 * parcel->offsets_capacity : 4;
		binder_size_t *offsets = realloc(parcel->offsets, capacity * sizeof(*offsets));

		if (!offsets)
			return ab_parcel_fail(parcel, -ENOMEM);
		parcel->offsets = offsets;
		parcel->offsets_capacity = capacity;
	}
	parcel->offsets[parcel->nr_offsets++] = parcel->size;
	return write_raw(parcel, fbo, sizeof(*fbo));
}

int ab_write_object(ab_parcel *parcel, ab_object *object)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_BINDER,
					  .binder = (uintptr_t)object,
					  .cookie = (uintptr_t)object };

	return ab_parcel_add_object(parcel, &fbo);
}

int ab_write_handle(ab_parcel *parcel, uint32_t handle)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_HANDLE, .handle = handle };

	return ab_parcel_add_object(parcel, &fbo);
}
