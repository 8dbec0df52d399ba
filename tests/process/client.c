// SPDX-License-Identifier: MIT
#include "client.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- objects whose end is counted ----------------------------------------------------- */

static atomic_int destroyed;

static void on_destroy(void *data)
{
	test_post(&destroyed);
}

/** client_destroyed() - how many objects of client_object() are no more, in this process */
int client_destroyed(void)
{
	return atomic_load(&destroyed);
}

/** client_await_destroyed() - until there are @count of them */
void client_await_destroyed(int count)
{
	test_await(&destroyed, count);
}

/**
 * client_object() - an object that serves all calls with @transact
 * For at most 64 different functions in a process.
 */
ab_object *client_object(ab_conn *conn, ab_transact_fn *transact, void *data)
{
	static struct ab_class classes[64];
	struct ab_class *cls = classes;
	ab_object *object;

	while (cls->transact && cls->transact != transact)
		cls++;
	CHECK(cls < classes + ARRAY_SIZE(classes));
	if (!cls->transact)
		*cls = (struct ab_class){ .transact = transact, .destroy = on_destroy,
					  .flags = AB_CLASS_RAW };
	object = ab_object_new(conn, cls, data);
	CHECK(object);
	return object;
}

/* ---- the manager ------------------------------------------------------------------------ */

struct manager {
	const char *device;
	atomic_int ready;
};

static ab_object *objects[CLIENT_OBJECTS];

static int on_call(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_object *object = NULL;
	int32_t number;
	int ret;

	if (info->code == AB_META_PING)
		return 0;
	ret = ab_read_int32(in, &number);
	if (ret || number < 0 || number >= CLIENT_OBJECTS)
		return ret ? ret : -ERANGE;
	switch (info->code) {
	case MANAGER_PUT:
		ret = ab_read_object(in, &object);
		if (ret)
			return ret;
		/* fall through */
	case MANAGER_DROP:
		ab_object_put(objects[number]);
		objects[number] = object;
		return 0;
	case MANAGER_GET:
		return ab_write_object(out, objects[number]);
	case MANAGER_PID:
		return ab_write_int32(out, getpid());
	default:
		return AB_UNKNOWN_TRANSACTION;
	}
}

static void manager_main(void *arg)
{
	struct manager *manager = arg;
	ab_conn *conn = client_open(manager->device, NULL);
	ab_object *object = client_object(conn, on_call, NULL);
	int ret;

	/* The one before may just have been killed. */
	while ((ret = ab_become_manager(conn, object)) == -EBUSY)
		test_sleep_ms(5);
	CHECK_AB(ret);
	test_set(&manager->ready, 1);
	ab_loop(conn);
}

/** client_manager() - start one, for @device, NULL for "binder". Return: its pid. */
pid_t client_manager(const char *device)
{
	struct manager *manager = test_share(sizeof(*manager));
	pid_t pid;

	manager->device = device;
	pid = test_spawn(manager_main, manager);
	test_await(&manager->ready, 1);
	return pid;
}

/* ---- its clients ------------------------------------------------------------------------- */

/** client_open() - a device by its name, NULL for "binder" */
ab_conn *client_open(const char *device, const struct ab_options *options)
{
	char path[PATH_MAX + 32];
	ab_conn *conn;

	snprintf(path, sizeof(path), "%s/%s", driver_dir(), device ? device : "binder");
	CHECK_AB(ab_open(&conn, path, options));
	return conn;
}

static ab_parcel *manager_call(ab_conn *conn, uint32_t code, int number, ab_object *object)
{
	ab_parcel *in = ab_parcel_new(conn), *out;
	ab_object *manager;

	CHECK_AB(ab_manager(conn, &manager));
	ab_write_int32(in, number);
	if (object)
		ab_write_object(in, object);
	CHECK_AB(ab_call(manager, code, in, &out));
	ab_parcel_free(in);
	ab_object_put(manager);
	return out;
}

/** client_put() - let others find @object by @number */
void client_put(ab_conn *conn, int number, ab_object *object)
{
	ab_parcel_free(manager_call(conn, MANAGER_PUT, number, object));
}

/** client_find() - the object of a number. Return: NULL if there is none. */
ab_object *client_find(ab_conn *conn, int number)
{
	ab_parcel *out = manager_call(conn, MANAGER_GET, number, NULL);
	ab_object *object;

	CHECK_AB(ab_read_nullable_object(out, &object));
	ab_parcel_free(out);
	return object;
}

/** client_get() - the object of a number; waits for it */
ab_object *client_get(ab_conn *conn, int number)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;
	ab_object *object;

	while (!(object = client_find(conn, number))) {
		if (test_now_ms() > end)
			FAIL("nobody offers object %d", number);
		test_sleep_ms(2);
	}
	return object;
}

/** client_drop() - have the manager forget a number */
void client_drop(ab_conn *conn, int number)
{
	ab_parcel_free(manager_call(conn, MANAGER_DROP, number, NULL));
}

/** client_ask() - call with a number. Return: the number that is the reply. */
int32_t client_ask(ab_object *object, uint32_t code, int32_t value)
{
	ab_parcel *in = ab_parcel_new(ab_object_conn(object)), *out;

	ab_write_int32(in, value);
	CHECK_AB(ab_call(object, code, in, &out));
	CHECK_AB(ab_read_int32(out, &value));
	ab_parcel_free(out);
	ab_parcel_free(in);
	return value;
}

/** client_no_complaints() - the driver, where we can read its log, found nothing wrong with us */
void client_no_complaints(void)
{
	char *log = driver_own_log();

	if (log && *log)
		FAIL("the driver says:\n%s", log);
	free(log);
}
