// SPDX-License-Identifier: MIT
#include "bench/registry.h"

#include "bench/peer.h"

#include <errno.h>
#include <unistd.h>

#define CODE_PUT 1
#define CODE_GET 2

/* The manager before us was killed; the driver may still be at its funeral. */
#define MANAGER_TRIES 200
#define MANAGER_PAUSE_US 10000

static ab_object *objects[WORKERS_MAX];

/** bench_open() - ab_open(), or the end of this member. */
ab_conn *bench_open(struct member *me, const char *device, const struct ab_options *options)
{
	ab_conn *conn = NULL;
	int err = ab_open(&conn, device, options);

	if (err)
		crew_fail(me, "open %s: %s", device, ab_strerror(err));
	return conn;
}

static int put(ab_parcel *in, int32_t index)
{
	ab_object *object;
	int err = ab_read_object(in, &object);

	if (err)
		return err;
	ab_object_put(objects[index]);
	objects[index] = object;
	return 0;
}

static int on_call(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t index;
	int err = ab_read_int32(in, &index);

	if (err)
		return err;
	if (index < 0 || index >= WORKERS_MAX)
		return -ERANGE;
	if (info->code == CODE_PUT)
		return put(in, index);
	if (info->code != CODE_GET)
		return AB_UNKNOWN_TRANSACTION;
	return objects[index] ? ab_write_object(out, objects[index]) : -ENOENT;
}

static const struct ab_class registry_class = { .transact = on_call, .flags = AB_CLASS_RAW };

/** registry_main() - a member that is the registry; @arg is a struct registry. */
void registry_main(struct crew *crew, struct member *me, void *arg)
{
	const struct registry *registry = arg;
	ab_conn *conn = bench_open(me, registry->device, NULL);
	ab_object *object = ab_object_new(conn, &registry_class, NULL);
	int err = -ENOMEM;

	for (int i = 0; object && i < MANAGER_TRIES; i++) {
		err = ab_become_manager(conn, object);
		if (err != -EBUSY)
			break;
		usleep(MANAGER_PAUSE_US);
	}
	if (err == -EBUSY)
		crew_fail(me, "%s has a context manager, and the measurement needs to be it; "
			  "stop that one, or use another device", registry->device);
	if (err)
		crew_fail(me, "become context manager of %s: %s", registry->device,
			  ab_strerror(err));
	crew_meet(crew, MEET_REGISTRY, registry->parties);
	err = ab_loop(conn);
	crew_fail(me, "the registry stopped: %s", ab_strerror(err));
}

/* Call the registry; Return: its reply. */
static ab_parcel *call(struct member *me, ab_conn *conn, uint32_t code, ab_parcel *in,
		       const char *what)
{
	ab_object *manager;
	ab_parcel *out;
	char text[256];
	int err = ab_manager(conn, &manager);

	if (!err)
		err = ab_call(manager, code, in, &out);
	if (err)
		crew_fail(me, "%s: %s", what, ab_error_text(conn, err, text, sizeof(text)));
	ab_object_put(manager);
	ab_parcel_free(in);
	return out;
}

/** registry_put() - offer @object as number @index. */
void registry_put(struct member *me, ab_conn *conn, int index, ab_object *object)
{
	ab_parcel *in = ab_parcel_new(conn);

	if (!object)
		crew_fail(me, "out of memory");
	ab_write_int32(in, index);
	ab_write_object(in, object);
	ab_parcel_free(call(me, conn, CODE_PUT, in, "register an object"));
}

/** registry_get() - Return: a reference to object @index. */
ab_object *registry_get(struct member *me, ab_conn *conn, int index)
{
	ab_parcel *in = ab_parcel_new(conn), *out;
	ab_object *object;
	int err;

	ab_write_int32(in, index);
	out = call(me, conn, CODE_GET, in, "find an object");
	err = ab_read_object(out, &object);
	if (err || !ab_object_is_remote(object))
		crew_fail(me, "find object %d: %s", index,
			  err ? ab_strerror(err) : "it is our own");
	ab_parcel_free(out);
	return object;
}
