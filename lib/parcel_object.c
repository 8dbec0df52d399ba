// SPDX-License-Identifier: MIT
/*
 * Objects and file descriptors in parcels. One counts only where the driver, or
 * the writer, lists it. Behind an object lies a word with its stability, whose
 * layout is the variant's.
 */
#include "objects.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Levels of stability; 0 is undeclared. */
#define STABILITY_VENDOR 0x03
#define STABILITY_SYSTEM 0x0c
#define STABILITY_VINTF 0x3f
#define STABILITY_VERSION 1 /* first byte of the record that Android 12 writes */

static const struct ab_pin no_pin = { .fd = -1 };

/* ---- writing ------------------------------------------------------------------------------ */

static int write_stability(ab_parcel *parcel, uint32_t level)
{
	switch (ab_wire(parcel->variant)->stability) {
	case AB_STABILITY_WORD:
		return ab_write_uint32(parcel, level);
	case AB_STABILITY_RECORD:
		return ab_write_uint32(parcel, STABILITY_VERSION | level << 24);
	case AB_STABILITY_NONE:
		break;
	}
	return ab_parcel_error(parcel);
}

/* The null object is not listed: there is nothing in it for the driver. */
static int write_null(ab_parcel *parcel)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_BINDER };

	return ab_write_raw(parcel, &fbo, sizeof(fbo));
}

/* Return: 0 if it may go into this parcel. */
static int check_home(const ab_parcel *parcel, const ab_object *object)
{
	return parcel->home == object->conn ? 0 : -EXDEV;
}

int ab_write_object(ab_parcel *parcel, ab_object *object)
{
	struct ab_pin pin = no_pin;
	struct flat_binder_object fbo;
	uint32_t level;
	int ret;

	if (!parcel || parcel->error)
		return ab_parcel_error(parcel);
	if (!object) {
		write_null(parcel);
		return write_stability(parcel, 0);
	}
	ret = check_home(parcel, object);
	if (!ret)
		ret = ab_object_flatten(object, false, &fbo);
	if (ret)
		return ab_parcel_fail(parcel, ret);
	pin.object = object;
	ret = ab_parcel_add_object(parcel, &fbo, sizeof(fbo), &pin);
	if (ret)
		return ret;
	ab_object_get(object);
	level = atomic_load_explicit(&object->stability, memory_order_relaxed);
	return write_stability(parcel, level ? level : STABILITY_SYSTEM);
}

/* Why ab_weak_new() gave none. */
static int weak_error(const ab_conn *conn)
{
	int ret = ab_conn_usable(conn);

	return ret ? ret : -ENOMEM;
}

int ab_write_weak(ab_parcel *parcel, ab_object *object)
{
	struct ab_pin pin = no_pin;
	struct flat_binder_object fbo;
	int ret;

	if (!parcel || parcel->error)
		return ab_parcel_error(parcel);
	if (!object)
		return write_null(parcel);
	ret = check_home(parcel, object);
	if (!ret)
		ret = ab_object_flatten(object, true, &fbo);
	if (ret)
		return ab_parcel_fail(parcel, ret);
	pin.weak = ab_weak_new(object);
	if (!pin.weak)
		return ab_parcel_fail(parcel, weak_error(object->conn));
	ret = ab_parcel_add_object(parcel, &fbo, sizeof(fbo), &pin);
	if (ret)
		ab_weak_put(pin.weak);
	return ret;
}

int ab_write_fd(ab_parcel *parcel, int fd)
{
	struct binder_fd_object object = { .hdr.type = BINDER_TYPE_FD };
	struct ab_pin pin = no_pin;
	int ret;

	if (!parcel || parcel->error)
		return ab_parcel_error(parcel);
	pin.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (pin.fd < 0)
		return ab_parcel_fail(parcel, -errno);
	object.fd = (uint32_t)pin.fd;
	ret = ab_parcel_add_object(parcel, &object, sizeof(object), &pin);
	if (ret)
		close(pin.fd);
	return ret;
}

int ab_write_parcel_fd(ab_parcel *parcel, int fd)
{
	ab_write_int32(parcel, 1); /* there is one */
	ab_write_int32(parcel, 0); /* no channel beside it */
	return ab_write_fd(parcel, fd);
}

/* ---- reading ------------------------------------------------------------------------------ */

/*
 * The level behind an object: the word of most releases, or Android 12's record, whose
 * first byte is no level. Others' nonsense is as good as undeclared.
 */
static int read_stability(ab_parcel *parcel, uint32_t *level)
{
	uint32_t word;
	int ret;

	*level = 0;
	if (ab_wire(parcel->variant)->stability == AB_STABILITY_NONE)
		return 0;
	ret = ab_read_uint32(parcel, &word);
	if (ret)
		return ret;
	if ((word & 0xffffff) == STABILITY_VERSION)
		word >>= 24;
	if (word == STABILITY_VENDOR || word == STABILITY_SYSTEM || word == STABILITY_VINTF)
		*level = word;
	return 0;
}

/* Where no object is listed there may be the null object. */
static int read_null(ab_parcel *parcel)
{
	struct flat_binder_object fbo;
	size_t start = ab_parcel_position(parcel);
	const void *at;
	int ret = ab_read_raw(parcel, &at, sizeof(fbo));

	if (ret)
		return ret;
	memcpy(&fbo, at, sizeof(fbo));
	if (fbo.hdr.type == BINDER_TYPE_BINDER && !fbo.binder && !fbo.cookie)
		return 0;
	parcel->pos = start;
	return AB_BAD_TYPE;
}

/* The listed object at the place of reading, as it is. */
static int object_here(ab_parcel *parcel, struct flat_binder_object *fbo, size_t *index)
{
	const void *at;

	if (!parcel)
		return -ENOMEM;
	at = ab_parcel_peek_object(parcel, index);
	if (!at)
		return -ENOENT;
	memcpy(fbo, at, sizeof(*fbo));
	return 0;
}

/* From what the driver wrote, or in this process's own parcel from what that holds. */
static int take_strong(ab_parcel *parcel, const struct flat_binder_object *fbo, size_t index,
		       ab_object **object)
{
	if (parcel->received)
		return ab_object_unflatten(parcel->home, fbo, object);
	if (!parcel->pins[index].object)
		return AB_BAD_TYPE;
	*object = ab_object_get(parcel->pins[index].object);
	return 0;
}

int ab_read_nullable_object(ab_parcel *parcel, ab_object **object)
{
	size_t start = ab_parcel_position(parcel), index;
	struct flat_binder_object fbo;
	uint32_t level;
	int ret;

	*object = NULL;
	ret = object_here(parcel, &fbo, &index);
	if (ret == -ENOENT)
		ret = read_null(parcel);
	else if (!ret)
		ret = take_strong(parcel, &fbo, index, object);
	if (ret)
		return ret;
	if (*object)
		parcel->pos += sizeof(fbo);
	ret = read_stability(parcel, &level);
	if (ret) {
		parcel->pos = start;
		ab_object_put(*object);
		*object = NULL;
	} else if (*object && (*object)->remote) {
		atomic_store_explicit(&(*object)->stability, (unsigned char)level,
				      memory_order_relaxed);
	}
	return ret;
}

int ab_read_object(ab_parcel *parcel, ab_object **object)
{
	size_t start = ab_parcel_position(parcel);
	int ret = ab_read_nullable_object(parcel, object);

	if (ret || *object)
		return ret;
	parcel->pos = start;
	return AB_UNEXPECTED_NULL;
}

/* As take_strong(). */
static int take_weak(ab_parcel *parcel, const struct flat_binder_object *fbo, size_t index,
		     ab_weak **weak)
{
	if (parcel->received)
		return ab_weak_unflatten(parcel->home, fbo, weak);
	if (!parcel->pins[index].weak)
		return AB_BAD_TYPE;
	/* A weak reference is the object itself, counted apart. */
	*weak = ab_weak_new((ab_object *)parcel->pins[index].weak);
	return *weak ? 0 : weak_error(parcel->home);
}

int ab_read_nullable_weak(ab_parcel *parcel, ab_weak **weak)
{
	struct flat_binder_object fbo;
	size_t index;
	int ret;

	*weak = NULL;
	ret = object_here(parcel, &fbo, &index);
	if (ret == -ENOENT)
		return read_null(parcel);
	if (!ret)
		ret = take_weak(parcel, &fbo, index, weak);
	if (!ret)
		parcel->pos += sizeof(fbo);
	return ret;
}

int ab_read_weak(ab_parcel *parcel, ab_weak **weak)
{
	size_t start = ab_parcel_position(parcel);
	int ret = ab_read_nullable_weak(parcel, weak);

	if (ret || *weak)
		return ret;
	parcel->pos = start;
	return AB_UNEXPECTED_NULL;
}

int ab_read_fd(ab_parcel *parcel, int *fd)
{
	struct flat_binder_object object;
	size_t index;
	int ret;

	*fd = -1;
	ret = object_here(parcel, &object, &index);
	if (ret == -ENOENT)
		return ab_parcel_left(parcel) < sizeof(object) ? -ENODATA : AB_BAD_TYPE;
	if (ret)
		return ret;
	if (object.hdr.type != BINDER_TYPE_FD)
		return AB_BAD_TYPE;
	*fd = fcntl((int)object.handle, F_DUPFD_CLOEXEC, 0);
	if (*fd < 0)
		return -errno;
	parcel->pos += sizeof(struct binder_fd_object);
	return 0;
}

int ab_read_parcel_fd(ab_parcel *parcel, int *fd)
{
	size_t start = ab_parcel_position(parcel);
	int32_t there, channel = 0;
	int ret = ab_read_int32(parcel, &there);

	*fd = -1;
	if (!ret && !there)
		ret = AB_UNEXPECTED_NULL;
	if (!ret)
		ret = ab_read_int32(parcel, &channel);
	if (!ret && channel)
		ret = AB_BAD_TYPE; /* a second descriptor would follow: not the simple kind */
	if (!ret)
		ret = ab_read_fd(parcel, fd);
	if (ret && parcel)
		parcel->pos = start;
	return ret;
}

/* Those that the driver put into this process for a received parcel. */
void ab_parcel_close_fds(ab_parcel *parcel)
{
	for (size_t i = 0; i < parcel->nr_offsets; i++) {
		struct binder_fd_object object;

		memcpy(&object, parcel->data + parcel->offsets[i], sizeof(object));
		if (object.hdr.type == BINDER_TYPE_FD)
			close((int)object.fd);
	}
}
