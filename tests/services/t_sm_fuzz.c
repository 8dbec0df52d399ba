// SPDX-License-Identifier: MIT
/* Garbage to every call: the manager refuses it and lives. */
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS 20000
#define CALLS_QUICK 2000

static uint64_t state;

static uint32_t any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

static const char *any_name(char name[40])
{
	static const char *const names[] = { "", "a", "manager", "org.example.x/y", "\xc3\xa4",
					     "two words" };
	uint32_t i = any(10);

	if (i < 6)
		return names[i];
	snprintf(name, 40, "org.example.n%u", any(20));
	return name;
}

static void write_any(ab_parcel *in, ab_object *ours, ab_object *theirs)
{
	char name[40], bytes[64];

	switch (any(9)) {
	case 0:
	case 1:
		ab_write_string16(in, any_name(name));
		break;
	case 2:
		ab_write_string16(in, NULL);
		break;
	case 3:
		ab_write_object(in, any(2) ? ours : theirs);
		break;
	case 4:
		ab_write_object(in, NULL);
		break;
	case 5:
		ab_write_int32(in, (int32_t)any(UINT32_MAX));
		break;
	case 6:
		ab_write_int32(in, (int32_t)any(20) - 2);
		break;
	case 7:
		ab_write_weak(in, ours);
		break;
	default:
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (char)any(256);
		ab_write_raw(in, bytes, any(sizeof(bytes)));
		break;
	}
}

/* Most requests have a token, and half begin as most calls want them. */
static ab_parcel *any_request(ab_conn *conn, ab_object *ours, ab_object *theirs)
{
	ab_parcel *in = ab_parcel_new(conn);
	char name[40];

	if (any(10))
		ab_write_token(in, AB_MANAGER_INTERFACE);
	if (any(2)) {
		ab_write_string16(in, any_name(name));
		if (any(2))
			ab_write_object(in, any(2) ? ours : theirs);
	}
	for (uint32_t i = any(5); i; i--)
		write_any(in, ours, theirs);
	return in;
}

static void garbage(ab_conn *conn, int calls)
{
	ab_object *manager, *ours = echo_new(conn), *found;

	CHECK_OK(ab_manager(conn, &manager));
	for (int i = 0; i < calls; i++) {
		ab_parcel *in = any_request(conn, ours, manager);
		uint32_t code = any(20) ? any(20) : any(UINT32_MAX);

		/* Whatever it answers, but that there is nobody. */
		if (any(8))
			CHECK_NE(ab_call(manager, code, in, NULL), -EPIPE);
		else
			CHECK_OK(ab_call_oneway(manager, code, in));
		ab_parcel_free(in);
	}
	CHECK_OK(ab_service_check(conn, "manager", &found));
	ab_object_put(found);
	ab_object_put(ours);
	ab_object_put(manager);
}

static void fuzz(int calls)
{
	const char *seed = getenv("TEST_SEED");

	state = seed ? strtoull(seed, NULL, 0)
		     : ((uint64_t)getpid() << 32 | (uint64_t)test_now_ms());
	fprintf(stderr, "  TEST_SEED=%#llx\n", (unsigned long long)state);
	for (int v = AB_ANDROID_8; v <= AB_ANDROID_16; v++) {
		enum ab_variant variant = (enum ab_variant)v;
		struct manager m = { .android = ab_variant_name(variant),
				     .policy = "allow all uid=*\ndeclare a org.example.x/y\n" };
		ab_conn *conn;

		manager_start(&m);
		conn = connect_serving(variant);
		garbage(conn, calls);
		ab_close(conn);
		manager_stop(&m);
	}
}

static void test_a_little_garbage_is_refused(void)
{
	fuzz(CALLS_QUICK);
}

static void test_much_garbage_is_refused(void)
{
	fuzz(CALLS);
}

static const struct test_case cases[] = {
	QUICK(test_a_little_garbage_is_refused),
	CASE_FLAGS(test_much_garbage_is_refused, TEST_LONG),
};

TEST_MAIN(cases)
