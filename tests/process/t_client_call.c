// SPDX-License-Identifier: MIT
/* The client library over a real driver: calls, both ways, nested, one-way. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ECHO = 1, WHO, FAIL_WITH, NEST, NOTE, SEEN };

struct shared {
	atomic_int ready;
	atomic_int seen;
	atomic_int stop;
};

static struct shared *shared;

/* ---- a server ---------------------------------------------------------------------------- */

static int echo(ab_parcel *in, ab_parcel *out)
{
	const void *bytes;
	size_t size;
	int ret = ab_read_bytes(in, &bytes, &size);

	return ret ? ret : ab_write_bytes(out, bytes, size);
}

/* One-way calls to one object come one at a time and in their order. */
static int note(ab_parcel *in)
{
	static atomic_int inside;
	int32_t number;

	CHECK_EQ(atomic_fetch_add(&inside, 1), 0);
	CHECK_AB(ab_read_int32(in, &number));
	CHECK_EQ(number, atomic_load(&shared->seen));
	test_post(&shared->seen);
	CHECK_EQ(atomic_fetch_sub(&inside, 1), 1);
	return 0;
}

/* Calls the object that comes along until the number is 0; the same threads do all. */
static int nest(const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_parcel *request, *reply;
	ab_object *other;
	int32_t left, got;

	CHECK_AB(ab_read_int32(in, &left));
	CHECK_AB(ab_read_object(in, &other));
	if (!left) {
		ab_object_put(other);
		return ab_write_int32(out, 1000);
	}
	request = ab_parcel_new(ab_object_conn(info->object));
	ab_write_int32(request, left - 1);
	ab_write_object(request, info->object);
	CHECK_AB(ab_call(other, NEST, request, &reply));
	CHECK_AB(ab_read_int32(reply, &got));
	ab_parcel_free(reply);
	ab_parcel_free(request);
	ab_object_put(other);
	return ab_write_int32(out, got + left);
}

static int serve(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t value;

	switch (info->code) {
	case ECHO:
		return echo(in, out);
	case WHO:
		ab_write_int32(out, info->pid);
		return ab_write_int32(out, (int32_t)info->euid);
	case FAIL_WITH:
		ab_write_int32(out, 1);
		CHECK_AB(ab_read_int32(in, &value));
		return value;
	case NEST:
		return nest(info, in, out);
	case NOTE:
		CHECK(info->oneway);
		CHECK_EQ(info->pid, 0);
		CHECK_EQ(info->euid, geteuid());
		return note(in);
	case SEEN:
		return ab_write_int32(out, atomic_load(&shared->seen));
	default:
		return AB_UNKNOWN_TRANSACTION;
	}
}

static void server_main(void *arg)
{
	struct ab_options options = { .max_threads = 3, .map_size = 256 * 1024 };
	ab_conn *conn = client_open(NULL, &options);
	ab_object *object = client_object(conn, serve, NULL);

	CHECK_AB(ab_pool_start(conn));
	client_put(conn, 1, object);
	ab_object_put(object);
	test_await(&shared->stop, 1);
	ab_close(conn);
	CHECK_EQ(client_destroyed(), 1);
}

static pid_t server_start(void)
{
	shared = test_share(sizeof(*shared));
	client_manager(NULL);
	return test_spawn(server_main, NULL);
}

static void server_stop(pid_t pid)
{
	test_set(&shared->stop, 1);
	test_join(pid);
	client_no_complaints();
}

/* ---- cases ---------------------------------------------------------------------------------- */

static void test_payloads_of_all_sizes_come_back(void)
{
	static const size_t sizes[] = { 0, 1, 3, 4, 100, 4095, 4096, 70000 };
	static uint8_t bytes[70000];
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8));
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			ab_parcel *in = ab_parcel_new(conn), *out;
			const void *back;
			size_t size;

			ab_write_bytes(in, bytes, sizes[i]);
			CHECK_AB(ab_call(object, ECHO, in, &out));
			CHECK_AB(ab_read_bytes(out, &back, &size));
			CHECK_EQ(size, sizes[i]);
			CHECK_MEM(back, bytes, size);
			ab_parcel_free(in);
			ab_parcel_free(out);
		}
	}
	ab_object_put(object);
	ab_close(conn);
	server_stop(server);
}

static void test_a_plain_call_is_one_ioctl(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1);
	ab_parcel *in = ab_parcel_new(conn), *out;
	uint64_t before;

	ab_write_bytes(in, "abcd", 4);
	CHECK_AB(ab_flush(conn));
	before = ab_ioctls(conn);
	for (int i = 0; i < 100; i++) {
		CHECK_AB(ab_call(object, ECHO, in, &out));
		ab_parcel_free(out);
	}
	CHECK_EQ(ab_ioctls(conn) - before, 100);
	ab_parcel_free(in);
	ab_object_put(object);
	ab_close(conn);
	server_stop(server);
}

static void test_the_caller_is_who_the_driver_says(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1);
	int32_t pid, euid;
	ab_parcel *out;

	CHECK_AB(ab_call(object, WHO, NULL, &out));
	CHECK_AB(ab_read_int32(out, &pid));
	CHECK_AB(ab_read_int32(out, &euid));
	CHECK_EQ(pid, getpid());
	CHECK_EQ(euid, geteuid());
	ab_parcel_free(out);
	ab_object_put(object);
	ab_close(conn);
	server_stop(server);
}

static int fail_with(ab_object *object, int32_t value)
{
	ab_parcel *in = ab_parcel_new(ab_object_conn(object)), *out = in;
	int ret;

	ab_write_int32(in, value);
	ret = ab_call(object, FAIL_WITH, in, &out);
	CHECK(!out);
	ab_parcel_free(in);
	return ret;
}

static void test_an_error_comes_in_place_of_the_reply(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1);
	static const int32_t errors[] = { -1, -EPIPE, -EACCES, AB_BAD_TYPE, INT32_MIN };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		CHECK_EQ(fail_with(object, errors[i]), errors[i]);
	CHECK_EQ(fail_with(object, 5), AB_UNKNOWN_ERROR);
	CHECK_EQ(ab_call(object, 4711, NULL, NULL), AB_UNKNOWN_TRANSACTION);
	ab_object_put(object);
	ab_close(conn);
	server_stop(server);
}

/* "The receiver has no room" is told from "nobody is there". */
static void test_refusals_have_words(void)
{
	static uint8_t bytes[300000];
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1);
	ab_parcel *in = ab_parcel_new(conn);
	char text[256];

	ab_write_bytes(in, bytes, sizeof(bytes));
	CHECK_EQ(ab_call(object, ECHO, in, NULL), -ECOMM);
	ab_error_text(conn, -ECOMM, text, sizeof(text));
	/* A driver without extended errors says less. */
	if (strchr(text, ':') && !strstr(text, "no space"))
		FAIL("it says: %s", text);
	test_kill(server);
	while (ab_ping(object) != -EPIPE)
		test_sleep_ms(1);
	ab_error_text(conn, -EPIPE, text, sizeof(text));
	if (!strstr(text, "dead"))
		FAIL("it says: %s", text);
	ab_parcel_free(in);
	ab_object_put(object);
	ab_close(conn);
}

static void test_calls_nest_between_processes(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL); /* nobody serves on it but who calls */
	ab_object *object = client_get(conn, 1), *own = client_object(conn, serve, NULL);

	for (int depth = 0; depth < 12; depth++) {
		ab_parcel *in = ab_parcel_new(conn), *out;
		int32_t sum;

		ab_write_int32(in, depth);
		ab_write_object(in, own);
		CHECK_AB(ab_call(object, NEST, in, &out));
		CHECK_AB(ab_read_int32(out, &sum));
		CHECK_EQ(sum, 1000 + depth * (depth + 1) / 2);
		ab_parcel_free(in);
		ab_parcel_free(out);
	}
	ab_object_put(own);
	ab_object_put(object);
	ab_close(conn);
	CHECK_EQ(client_destroyed(), 1);
	server_stop(server);
}

static void test_oneway_calls_keep_their_order(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1);
	ab_parcel *in = ab_parcel_new(conn);

	for (int32_t i = 0; i < 1000; i++) {
		int ret;

		ab_parcel_reset(in);
		ab_write_int32(in, i);
		/* Half of the mapping is for these; who is too fast waits. */
		while ((ret = ab_call_oneway(object, NOTE, in)) == -ECOMM)
			test_sleep_ms(1);
		CHECK_AB(ret);
	}
	test_await(&shared->seen, 1000);
	ab_parcel_free(in);
	ab_object_put(object);
	ab_close(conn);
	test_set(&shared->stop, 1);
	test_join(server);
}

static void *call_many(void *arg)
{
	ab_object *object = arg;

	for (int i = 0; i < 200; i++)
		CHECK_EQ(client_ask(object, SEEN, i), 0);
	return NULL;
}

static void test_many_threads_call_over_one_connection(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1);
	pthread_t threads[6];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = test_thread(call_many, object);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		test_thread_join(threads[i]);
	ab_object_put(object);
	ab_close(conn);
	server_stop(server);
}

static void test_without_a_manager_calls_say_so(void)
{
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *manager;
	ab_parcel *in;

	CHECK_AB(ab_manager(conn, &manager));
	CHECK_EQ(ab_ping(manager), -EPIPE);
	in = ab_parcel_new(conn);
	CHECK_EQ(ab_write_object(in, manager), -EPIPE);
	ab_parcel_free(in);
	ab_object_put(manager);
	ab_close(conn);
	client_no_complaints();
}

static const struct test_case cases[] = {
	QUICK(test_payloads_of_all_sizes_come_back),
	QUICK(test_a_plain_call_is_one_ioctl),
	QUICK(test_the_caller_is_who_the_driver_says),
	QUICK(test_an_error_comes_in_place_of_the_reply),
	CASE(test_refusals_have_words),
	QUICK(test_calls_nest_between_processes),
	QUICK(test_oneway_calls_keep_their_order),
	CASE(test_many_threads_call_over_one_connection),
	QUICK(test_without_a_manager_calls_say_so),
};

TEST_MAIN(cases)
