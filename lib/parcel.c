// SPDX-License-Identifier: MIT
/*
 * Parcels: their memory, what they hold, and the place of reading. Writing is
 * parcel_write.c, reading parcel_read.c, arrays parcel_array.c, objects and
 * descriptors parcel_object.c.
 */
#include "threads.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARCEL_FIRST 256
#define OFFSETS_FIRST 4

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "parcels are little-endian");

/* An empty parcel in @parcel, which is undefined. @conn may be NULL. */
void ab_parcel_init(ab_parcel *parcel, ab_conn *conn)
{
	memset(parcel, 0, sizeof(*parcel));
	parcel->variant = conn ? ab_conn_variant(conn) : AB_ANDROID_13;
	parcel->home = conn ? ab_conn_get(conn) : NULL;
}

ab_parcel *ab_parcel_new(ab_conn *conn)
{
	ab_parcel *parcel = malloc(sizeof(*parcel));

	if (parcel)
		ab_parcel_init(parcel, conn);
	return parcel;
}

static void pins_drop(ab_parcel *parcel)
{
	for (size_t i = 0; i < parcel->nr_offsets; i++) {
		struct ab_pin *pin = &parcel->pins[i];

		ab_object_put(pin->object);
		ab_weak_put(pin->weak);
		if (pin->fd >= 0)
			close(pin->fd);
	}
	parcel->nr_offsets = 0;
}

/*
 * The driver's buffer goes back. A parcel with objects must not keep them alive
 * unread, and a large one must not keep senders out.
 */
static void buffer_free(ab_parcel *parcel)
{
	bool at_once = parcel->nr_offsets ||
		       parcel->size >= parcel->home->map_size / AB_PARCEL_LARGE;

	ab_parcel_close_fds(parcel);
	ab_conn_free_buffer(parcel->home, (uintptr_t)parcel->data, at_once);
}

/* Free all it has. It is an empty one of no connection then. */
void ab_parcel_fini(ab_parcel *parcel)
{
	ab_conn *home = parcel->home;

	if (parcel->received) {
		buffer_free(parcel);
	} else {
		pins_drop(parcel);
		free(parcel->data);
		free(parcel->offsets);
		free(parcel->pins);
	}
	memset(parcel, 0, sizeof(*parcel));
	parcel->variant = AB_ANDROID_13;
	ab_conn_put(home);
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
	if (!parcel)
		return;
	if (parcel->received) {
		ab_conn *home = ab_conn_get(parcel->home);

		ab_parcel_fini(parcel);
		ab_parcel_init(parcel, home);
		ab_conn_put(home);
		return;
	}
	pins_drop(parcel);
	parcel->size = 0;
	parcel->pos = 0;
	parcel->cursor = 0;
	parcel->error = 0;
	parcel->sensitive = false;
}

/* What an object takes up that begins with @header. */
static size_t object_size(const void *header)
{
	struct binder_object_header head;

	memcpy(&head, header, sizeof(head));
	switch (head.type) {
	case BINDER_TYPE_PTR:
		return sizeof(struct binder_buffer_object);
	case BINDER_TYPE_FDA:
		return sizeof(struct binder_fd_array_object);
	default:
		return sizeof(struct flat_binder_object);
	}
}

/*
 * The offsets are the driver's, which has checked them. The mapping is this
 * process's own, so they are looked at once more: from the first on that is out of
 * order or range, or whose object overlaps the one before, there are none.
 */
static size_t offsets_valid(const ab_parcel *parcel, size_t nr)
{
	binder_size_t least = 0;

	for (size_t i = 0; i < nr; i++) {
		binder_size_t offset = parcel->offsets[i];
		size_t left, size;

		if (offset < least || offset % 4 || offset > parcel->size)
			return i;
		left = parcel->size - offset;
		if (left < sizeof(struct binder_object_header))
			return i;
		size = object_size(parcel->data + offset);
		if (left < size)
			return i;
		least = offset + size;
	}
	return nr;
}

/* A received parcel: in the mapping, the driver's numbers. */
void ab_parcel_received(ab_parcel *parcel, ab_conn *conn, const struct binder_transaction_data *tr)
{
	ab_parcel_init(parcel, conn);
	parcel->data = (void *)(uintptr_t)tr->data.ptr.buffer;
	parcel->size = tr->data_size;
	parcel->offsets = (void *)(uintptr_t)tr->data.ptr.offsets;
	parcel->nr_offsets = offsets_valid(parcel, tr->offsets_size / sizeof(binder_size_t));
	parcel->received = true;
}

int ab_parcel_error(const ab_parcel *parcel)
{
	return parcel ? parcel->error : -ENOMEM;
}

const void *ab_parcel_data(const ab_parcel *parcel)
{
	return parcel ? parcel->data : NULL;
}

size_t ab_parcel_size(const ab_parcel *parcel)
{
	return parcel ? parcel->size : 0;
}

size_t ab_parcel_position(const ab_parcel *parcel)
{
	return parcel ? parcel->pos : 0;
}

size_t ab_parcel_left(const ab_parcel *parcel)
{
	return parcel ? parcel->size - parcel->pos : 0;
}

int ab_parcel_seek(ab_parcel *parcel, size_t position)
{
	if (!parcel)
		return -ENOMEM;
	if (position > parcel->size || (position % 4 && position != parcel->size))
		return -EINVAL;
	parcel->pos = position;
	return 0;
}

void ab_parcel_mark_sensitive(ab_parcel *parcel)
{
	if (parcel)
		parcel->sensitive = true;
}

/* Remember the first error; that one is returned. */
int ab_parcel_fail(ab_parcel *parcel, int error)
{
	if (!parcel)
		return -ENOMEM;
	if (!parcel->error)
		parcel->error = error;
	return parcel->error;
}

static int parcel_reserve(ab_parcel *parcel, size_t len)
{
	size_t capacity = parcel->capacity ? parcel->capacity : PARCEL_FIRST;
	uint8_t *data;

	if (parcel->data && parcel->size + len <= parcel->capacity)
		return 0;
	while (capacity < parcel->size + len)
		capacity *= 2;
	data = realloc(parcel->data, capacity);
	if (!data)
		return -ENOMEM;
	parcel->data = data;
	parcel->capacity = capacity;
	return 0;
}

/* Room for @len bytes at the end, padded with zeros to 4; NULL, and the parcel failed. */
void *ab_parcel_extend(ab_parcel *parcel, size_t len)
{
	uint8_t *at;
	int ret;

	if (!parcel || parcel->error)
		return NULL;
	ret = parcel->received ? -EPERM :
	      len > AB_PARCEL_MAX || AB_PAD(len) > AB_PARCEL_MAX - parcel->size ? -E2BIG :
	      parcel_reserve(parcel, AB_PAD(len));
	if (ret) {
		ab_parcel_fail(parcel, ret);
		return NULL;
	}
	at = parcel->data + parcel->size;
	parcel->size += AB_PAD(len);
	memset(at + len, 0, AB_PAD(len) - len);
	return at;
}

static int offsets_reserve(ab_parcel *parcel)
{
	size_t capacity = parcel->offsets_capacity ? 2 * parcel->offsets_capacity : OFFSETS_FIRST;
	binder_size_t *offsets;
	struct ab_pin *pins;

	if (parcel->nr_offsets < parcel->offsets_capacity)
		return 0;
	offsets = realloc(parcel->offsets, capacity * sizeof(*offsets));
	if (!offsets)
		return -ENOMEM;
	parcel->offsets = offsets;
	pins = realloc(parcel->pins, capacity * sizeof(*pins));
	if (!pins)
		return -ENOMEM;
	parcel->pins = pins;
	parcel->offsets_capacity = capacity;
	return 0;
}

/* Append an object and list it. What @pin holds is the parcel's then, or still the caller's. */
int ab_parcel_add_object(ab_parcel *parcel, const void *object, size_t len,
			 const struct ab_pin *pin)
{
	void *at;

	if (!parcel || parcel->error)
		return ab_parcel_fail(parcel, 0);
	if (parcel->received)
		return ab_parcel_fail(parcel, -EPERM);
	if (offsets_reserve(parcel))
		return ab_parcel_fail(parcel, -ENOMEM);
	at = ab_parcel_extend(parcel, len);
	if (!at)
		return parcel->error;
	memcpy(at, object, len);
	parcel->offsets[parcel->nr_offsets] = (uint64_t)((uint8_t *)at - parcel->data);
	parcel->pins[parcel->nr_offsets++] = *pin;
	return 0;
}

/* ---- the place of reading --------------------------------------------------------------- */

/* The index of the first object that lies at @pos or behind. Reads go forward mostly. */
static size_t object_from(ab_parcel *parcel, size_t pos)
{
	size_t i = parcel->cursor;

	while (i > 0 && (i > parcel->nr_offsets || parcel->offsets[i - 1] >= pos))
		i--;
	while (i < parcel->nr_offsets && parcel->offsets[i] < pos)
		i++;
	parcel->cursor = i;
	return i;
}

/* Does plain data at @pos of @len bytes overlap an object? */
static bool hits_object(ab_parcel *parcel, size_t pos, size_t len)
{
	size_t i;

	if (!parcel->nr_offsets)
		return false;
	i = object_from(parcel, pos);
	if (i < parcel->nr_offsets && parcel->offsets[i] < pos + len)
		return true;
	return i && len &&
	       parcel->offsets[i - 1] + object_size(parcel->data + parcel->offsets[i - 1]) > pos;
}

/* The next @len bytes and their padding, for which @error is the reason if NULL. */
const void *ab_parcel_take(ab_parcel *parcel, size_t len, int *error)
{
	size_t left, start;

	*error = -ENOMEM;
	if (!parcel)
		return NULL;
	start = parcel->pos;
	left = parcel->size - start;
	*error = -ENODATA;
	if (len > left)
		return NULL;
	*error = AB_BAD_TYPE;
	if (hits_object(parcel, start, len))
		return NULL;
	*error = 0;
	/* The padding of the last thing may be missing. */
	parcel->pos += AB_PAD(len) < left ? AB_PAD(len) : left;
	return len ? parcel->data + start : (const void *)"";
}

/* The object at the place of reading, if the driver, or its writer, lists one there. */
const void *ab_parcel_peek_object(ab_parcel *parcel, size_t *index)
{
	size_t i = object_from(parcel, parcel->pos);

	if (i == parcel->nr_offsets || parcel->offsets[i] != parcel->pos)
		return NULL;
	*index = i;
	return parcel->data + parcel->pos;
}
