/* SPDX-License-Identifier: MIT */
/*
 * What the library's files share.
 *
 * Who owns what: a connection's memory is counted (ab_conn_get/put) by the
 * program's hold, by each of its objects and by each of its parcels; its
 * descriptor goes with ab_close(). A proxy is in its connection's table as long as
 * it has references, under conn->lock.
 */
#ifndef AB_INTERNAL_H
#define AB_INTERNAL_H

#include "anybinder.h"

#include <pthread.h>
#include <stdatomic.h>

#include "uapi/binder.h"

#define AB_PARCEL_MAX (4u << 20)
#define AB_PAD(n) (((n) + 3) & ~(size_t)3)
/* A received buffer of this part of the mapping is given back at once. */
#define AB_PARCEL_LARGE 4

/* ---- parcels: parcel*.c, string.c ---- */

/**
 * struct ab_pin - what a written parcel holds for the object at its n-th offset
 * @object: strong; NULL if it is something else
 * @weak: weak; NULL if it is something else
 * @fd: a duplicate to be closed; -1 if it is something else
 */
struct ab_pin {
	ab_object *object;
	ab_weak *weak;
	int fd;
};

/**
 * struct ab_parcel - a message
 * @data, @offsets: owned when written; in @home's mapping when @received
 * @pins: of a written one, one for each offset
 * @pos: of reading
 * @cursor: index of an object near @pos, to find the next one from
 * @error: sticky
 * @home: the connection it is for, or came from; counted; may be NULL when written
 * @received: the buffer is the driver's, to be freed there
 */
struct ab_parcel {
	uint8_t *data;
	size_t size, capacity;
	binder_size_t *offsets;
	struct ab_pin *pins;
	size_t nr_offsets, offsets_capacity;
	size_t pos, cursor;
	int error;
	ab_conn *home;
	enum ab_variant variant; /* never AB_VARIANT_DEFAULT */
	bool received, sensitive;
};

void ab_parcel_init(ab_parcel *parcel, ab_conn *conn);
void ab_parcel_received(ab_parcel *parcel, ab_conn *conn, const struct binder_transaction_data *tr);
void ab_parcel_fini(ab_parcel *parcel);
int ab_parcel_fail(ab_parcel *parcel, int error);
void *ab_parcel_extend(ab_parcel *parcel, size_t len);
int ab_parcel_add_object(ab_parcel *parcel, const void *object, size_t len,
			 const struct ab_pin *pin);
const void *ab_parcel_take(ab_parcel *parcel, size_t len, int *error);
const void *ab_parcel_peek_object(ab_parcel *parcel, size_t *index);
void ab_parcel_close_fds(ab_parcel *parcel);
bool ab_utf16_is(const uint16_t *units, size_t count, const char *utf8);

/* ---- the wire's variants: wire.c ---- */

enum ab_stability { AB_STABILITY_NONE, AB_STABILITY_WORD, AB_STABILITY_RECORD };

/** struct ab_wire - one row of the table of variants */
struct ab_wire {
	const char *name;
	unsigned int api_first, api_last; /* API levels */
	unsigned int token_words; /* before the interface's name */
	enum ab_stability stability;
	bool status;	    /* the service manager's replies have one */
	bool dump_priority; /* its add and list take one */
	uint8_t codes[AB_SM_NR];
};

const struct ab_wire *ab_wire(enum ab_variant variant);

/* ---- objects: object.c, proxy.c, weak.c ---- */

/* -EPIPE for a dead context manager's proxy: it has no handle any more. May ask the driver. */
int ab_object_flatten(ab_object *object, bool weak, struct flat_binder_object *fbo);
/* From what the driver wrote; a proxy is acquired before the buffer can be freed. */
int ab_object_unflatten(ab_conn *conn, const struct flat_binder_object *fbo, ab_object **object);
int ab_weak_unflatten(ab_conn *conn, const struct flat_binder_object *fbo, ab_weak **weak);

/* ---- connections, for parcels: conn.c ---- */

ab_conn *ab_conn_get(ab_conn *conn);
void ab_conn_put(ab_conn *conn);
/* Give back a received buffer: at once outside of loops and calls; else in the next ioctl. */
void ab_conn_free_buffer(ab_conn *conn, binder_uintptr_t buffer, bool at_once);

#endif
