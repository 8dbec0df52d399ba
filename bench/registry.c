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

static uint32_t handles[WORKERS_MAX];

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
	ab_object *local = NULL;
	int err = ab_read_object(in, &handles[index], &local);

	return err ? err : local ? -EINVAL : 0;
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
	if (info->code != CODE_GET || !out)
		return -EINVAL;
	return handles[index] ? ab_write_handle(out, handles[index]) : -ENOENT;
}

/** registry_main() - a member that is the registry; @arg is a struct registry. */
void registry_main(struct crew *crew, struct member *me, void *arg)
{
	const struct registry *registry = arg;
	ab_conn *conn = bench_open(me, registry->device, NULL);
	ab_object *object = ab_object_new(conn, on_call, NULL);
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

/** registry_put() - offer @object as number @index. */
void registry_put(struct member *me, ab_conn *conn, int index, ab_object *object)
{
	ab_parcel *in = ab_parcel_new();
	char text[256];
	int err;

	if (!in || !object)
		crew_fail(me, "out of memory");
	ab_write_int32(in, index);
	ab_write_object(in, object);
	err = ab_call(conn, 0, CODE_PUT, in, NULL);
	if (err)
		crew_fail(me, "register an object: %s",
			  ab_error_text(conn, err, text, sizeof(text)));
	ab_parcel_free(in);
}

/** registry_get() - Return: a handle of object @index, with a strong count. */
uint32_t registry_get(struct member *me, ab_conn *conn, int index)
{
	ab_parcel *in = ab_parcel_new(), *out = NULL;
	ab_object *local = NULL;
	uint32_t handle = 0;
	char text[256];
	int err;

	if (!in)
		crew_fail(me, "out of memory");
	ab_write_int32(in, index);
	err = ab_call(conn, 0, CODE_GET, in, &out);
	if (!err)
		err = ab_read_object(out, &handle, &local);
	if (err || local)
		crew_fail(me, "find object %d: %s", index,
			  local ? "it is our own" : ab_error_text(conn, err, text, sizeof(text)));
	ab_parcel_free(in);
	ab_parcel_free(out);
	return handle;
}
