/* SPDX-License-Identifier: MIT */
/*
 * A program as a user of the installed library writes it, in the C that is C++,
 * too: an object that doubles a number, called through a proxy of itself.
 *
 *   consumer DEVICE
 */
#include <anybinder.h>

#include <stdio.h>

#define INTERFACE "org.example.IDouble"

static int transact(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t number;
	int ret = ab_read_int32(in, &number);

	(void)data;
	if (info->code != AB_CALL_FIRST)
		return AB_UNKNOWN_TRANSACTION;
	return ret ? ret : ab_write_int32(out, 2 * number);
}

static int call(ab_conn *conn)
{
	static struct ab_class cls; /* outlives the object, which the connection holds */
	ab_object *object, *manager;
	ab_parcel *in = ab_parcel_new(conn), *out = NULL;
	int32_t number = 0;
	int ret;

	cls.interface = INTERFACE;
	cls.transact = transact;
	object = ab_object_new(conn, &cls, NULL);
	ret = object ? ab_become_manager(conn, object) : -ENOMEM;
	if (!ret)
		ret = ab_pool_start(conn);
	if (!ret)
		ret = ab_manager(conn, &manager);
	if (!ret) {
		ab_write_token(in, INTERFACE);
		ab_write_int32(in, 21);
		ret = ab_call(manager, AB_CALL_FIRST, in, &out);
		if (!ret)
			ret = ab_read_int32(out, &number);
		ab_object_put(manager);
	}
	ab_parcel_free(in);
	ab_parcel_free(out);
	ab_object_put(object);
	if (!ret && number != 42)
		ret = -EINVAL;
	return ret;
}

int main(int argc, char **argv)
{
	ab_conn *conn;
	int ret;

	if (argc != 2) {
		fprintf(stderr, "usage: consumer DEVICE\n");
		return 2;
	}
	ret = ab_open(&conn, argv[1], NULL);
	if (!ret) {
		ret = call(conn);
		ab_close(conn);
	}
	if (ret) {
		fprintf(stderr, "%s: %s\n", argv[1], ab_strerror(ret));
		return 1;
	}
	printf("42\n");
	return 0;
}
