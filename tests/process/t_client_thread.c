// SPDX-License-Identifier: MIT
/* The client library over a real driver: pools, event loops, closing, several devices, fork(). */
#include "client.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ADD = 1, MEET, CLOSE, CALL_BACK, COUNT };

#define POOL 5

struct shared {
	atomic_int stop;
	atomic_int met;
	atomic_int closed;
	atomic_int calls;
};

static struct shared *shared;

static int call_back(ab_parcel *in, ab_parcel *out)
{
	ab_object *object;

	CHECK_AB(ab_read_object(in, &object));
	ab_write_int32(out, client_ask(object, ADD, 10));
	ab_object_put(object);
	return 0;
}

static int serve(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t value;

	test_post(&shared->calls);
	switch (info->code) {
	case ADD:
		CHECK_AB(ab_read_int32(in, &value));
		return ab_write_int32(out, value + 1);
	case MEET:
		/* Until as many are inside as there are threads, or may be. */
		test_post(&shared->met);
		test_await(&shared->met, POOL);
		return 0;
	case CLOSE:
		ab_close(ab_object_conn(info->object));
		test_post(&shared->closed);
		return 0;
	case CALL_BACK:
		return call_back(in, out);
	case COUNT:
		return 0;
	default:
		return AB_UNKNOWN_TRANSACTION;
	}
}

static void prepare(void)
{
	shared = test_share(sizeof(*shared));
	client_manager(NULL);
}

/* ---- the pool ---------------------------------------------------------------------------- */

static void pool_main(void *arg)
{
	struct ab_options options = { .max_threads = POOL - 1 };
	ab_conn *conn = client_open(NULL, &options);
	ab_object *object = client_object(conn, serve, NULL);

	CHECK_AB(ab_pool_start(conn));
	client_put(conn, 1, object);
	ab_object_put(object);
	test_await(&shared->stop, 1);
	ab_close(conn);
	CHECK_EQ(client_destroyed(), 1);
}

static void *meet(void *arg)
{
	CHECK_AB(ab_call(arg, MEET, NULL, NULL));
	return NULL;
}

static void test_the_pool_grows_while_its_threads_are_busy(void)
{
	pthread_t threads[POOL];
	ab_object *object;
	ab_conn *conn;
	pid_t server;

	prepare();
	server = test_spawn(pool_main, NULL);
	conn = client_open(NULL, NULL);
	object = client_get(conn, 1);
	for (int i = 0; i < POOL; i++)
		threads[i] = test_thread(meet, object);
	for (int i = 0; i < POOL; i++)
		test_thread_join(threads[i]);
	CHECK_EQ(client_ask(object, ADD, 1), 2);
	ab_object_put(object);
	ab_close(conn);
	test_set(&shared->stop, 1);
	test_join(server);
	client_no_complaints();
}

/* ---- closing ----------------------------------------------------------------------------- */

static void closing_main(void *arg)
{
	for (int i = 1; i <= 3; i++) {
		ab_conn *conn = client_open(NULL, &(struct ab_options){ .max_threads = 2 });
		ab_object *object = client_object(conn, serve, NULL);

		client_put(conn, i, object);
		CHECK_AB(ab_pool_start(conn));
		if (i == 2)
			CHECK_AB(ab_loop(conn)); /* until it is closed under it */
		test_await(&shared->closed, i);
		CHECK_EQ(ab_ping(object), -EBADF);
		ab_object_put(object);
		client_await_destroyed(i); /* it is still on its way out of the call */
	}
}

static void test_a_call_may_close_its_connection(void)
{
	ab_conn *conn;
	pid_t server;

	prepare();
	server = test_spawn(closing_main, NULL);
	conn = client_open(NULL, NULL);
	for (int i = 1; i <= 3; i++) {
		ab_object *object = client_get(conn, i);

		/* Who closes does not answer. */
		CHECK_EQ(ab_call(object, CLOSE, NULL, NULL), -EPIPE);
		test_await(&shared->closed, i);
		ab_object_put(object);
		client_drop(conn, i);
	}
	test_join(server);
	ab_close(conn);
}

static void *stop_soon(void *arg)
{
	test_await_blocked((pid_t)atomic_load(&shared->met));
	ab_stop(arg);
	return NULL;
}

static void test_stop_ends_a_loop_that_sleeps(void)
{
	pthread_t thread;
	ab_conn *conn;

	prepare();
	for (int i = 0; i < 20; i++) {
		conn = client_open(NULL, NULL);
		CHECK_AB(ab_pool_start(conn));
		test_set(&shared->met, test_gettid());
		thread = test_thread(stop_soon, conn);
		CHECK_AB(ab_loop(conn));
		test_thread_join(thread);
		ab_close(conn);
	}
	client_no_complaints();
}

/* ---- event loops ------------------------------------------------------------------------- */

static bool is_readable(ab_conn *conn)
{
	struct pollfd fd = { .fd = ab_fd(conn), .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static void polling_main(void *arg)
{
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_object(conn, serve, NULL);
	struct pollfd fd = { .fd = ab_fd(conn), .events = POLLIN };
	uint64_t before = 0;
	int served = 0;

	client_put(conn, 1, object);
	CHECK_AB(ab_dispatch(conn));
	while (!atomic_load(&shared->stop)) {
		if (poll(&fd, 1, 20) > 0)
			CHECK_AB(ab_dispatch(conn));
		/* Also when there is nothing: it must not wait. */
		CHECK_AB(ab_dispatch(conn));
		if (!before && atomic_load(&shared->calls) >= 100) {
			before = ab_ioctls(conn);
			served = atomic_load(&shared->calls);
		}
	}
	/* Of one call: what is read, and what is answered. */
	served = atomic_load(&shared->calls) - served;
	CHECK_GE(served, 100);
	CHECK_LE(ab_ioctls(conn) - before, (uint64_t)served * 2 + 10);
	CHECK(!is_readable(conn));
	ab_object_put(object);
	ab_close(conn);
}

static void test_a_program_may_poll(void)
{
	ab_object *object, *own;
	ab_parcel *in, *out;
	ab_conn *conn;
	pid_t server;

	prepare();
	server = test_spawn(polling_main, NULL);
	conn = client_open(NULL, NULL);
	object = client_get(conn, 1);
	own = client_object(conn, serve, NULL);
	for (int i = 0; i < 50; i++) {
		CHECK_EQ(client_ask(object, ADD, i), i + 1);
		CHECK_AB(ab_call_oneway(object, COUNT, NULL));
	}
	/* It calls while it serves, and is called back. */
	for (int i = 0; i < 10; i++) {
		int32_t value;

		in = ab_parcel_new(conn);
		ab_write_object(in, own);
		CHECK_AB(ab_call(object, CALL_BACK, in, &out));
		CHECK_AB(ab_read_int32(out, &value));
		CHECK_EQ(value, 11);
		ab_parcel_free(in);
		ab_parcel_free(out);
	}
	for (int i = 0; i < 200; i++)
		CHECK_EQ(client_ask(object, ADD, i), i + 1);
	test_set(&shared->stop, 1);
	test_join(server);
	ab_object_put(own);
	ab_object_put(object);
	ab_close(conn);
	client_no_complaints();
}

/* ---- several devices, several processes -------------------------------------------------- */

static void two_main(void *arg)
{
	static const char *const devices[] = { "binder", "hwbinder" };
	ab_conn *conns[2];
	ab_object *object;

	for (int i = 0; i < 2; i++) {
		conns[i] = client_open(devices[i], NULL);
		CHECK_AB(ab_pool_start(conns[i]));
		object = client_object(conns[i], serve, NULL);
		client_put(conns[i], 1, object);
		ab_object_put(object);
	}
	test_await(&shared->stop, 1);
	for (int i = 0; i < 2; i++)
		ab_close(conns[i]);
	CHECK_EQ(client_destroyed(), 2);
}

static void test_two_devices_keep_apart(void)
{
	ab_object *a, *b;
	ab_conn *conn_a, *conn_b;
	ab_parcel *in;
	pid_t server;

	prepare();
	client_manager("hwbinder");
	server = test_spawn(two_main, NULL);
	conn_a = client_open("binder", NULL);
	conn_b = client_open("hwbinder", NULL);
	a = client_get(conn_a, 1);
	b = client_get(conn_b, 1);
	CHECK(a != b);
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(client_ask(a, ADD, i), i + 1);
		CHECK_EQ(client_ask(b, ADD, -i), 1 - i);
	}
	in = ab_parcel_new(conn_a);
	CHECK_EQ(ab_write_object(in, b), -EXDEV);
	ab_parcel_free(in);
	ab_close(conn_a);
	CHECK_EQ(client_ask(b, ADD, 5), 6);
	CHECK_EQ(ab_ping(a), -EBADF);
	ab_object_put(a);
	ab_object_put(b);
	ab_close(conn_b);
	test_set(&shared->stop, 1);
	test_join(server);
	client_no_complaints();
}

struct inherited {
	ab_conn *conn;
	ab_object *object;
};

static void child_main(void *arg)
{
	struct inherited *parent = arg;
	ab_object *object;
	ab_conn *conn;

	CHECK_EQ(ab_ping(parent->object), -EBADF);
	CHECK_EQ(ab_pool_start(parent->conn), -EBADF);
	ab_object_put(parent->object);
	conn = client_open(NULL, NULL);
	object = client_get(conn, 1);
	CHECK_EQ(client_ask(object, ADD, 3), 4);
	ab_object_put(object);
	ab_close(conn);
	ab_close(parent->conn);
}

static void test_a_child_opens_its_own(void)
{
	struct inherited own;
	pid_t server;

	prepare();
	server = test_spawn(pool_main, NULL);
	own.conn = client_open(NULL, NULL);
	own.object = client_get(own.conn, 1);
	CHECK_EQ(client_ask(own.object, ADD, 1), 2);
	for (int i = 0; i < 3; i++)
		test_join(test_spawn(child_main, &own));
	CHECK_EQ(client_ask(own.object, ADD, 1), 2);
	ab_object_put(own.object);
	ab_close(own.conn);
	test_set(&shared->stop, 1);
	test_join(server);
	client_no_complaints();
}

static struct daemon second;

static void *kill_daemon(void *arg)
{
	test_await_blocked((pid_t)atomic_load(&shared->met));
	CHECK_EQ(kill(second.pid, SIGKILL), 0);
	return NULL;
}

static void test_a_loop_ends_when_the_daemon_does(void)
{
	ab_object *manager;
	pthread_t thread;
	char path[256];
	ab_conn *conn;
	int ret;

	shared = test_share(sizeof(*shared));
	CHECK(daemon_prepare(&second));
	CHECK(daemon_start(&second));
	snprintf(path, sizeof(path), "%s/binder", second.mount);
	CHECK_AB(ab_open(&conn, path, NULL));
	CHECK_AB(ab_pool_start(conn));
	test_set(&shared->met, test_gettid());
	thread = test_thread(kill_daemon, NULL);
	ret = ab_loop(conn);
	test_thread_join(thread);
	CHECK_EQ(ret, -ENOTCONN);
	CHECK_AB(ab_manager(conn, &manager));
	CHECK_EQ(ab_ping(manager), -ENOTCONN);
	ab_object_put(manager);
	ab_close(conn);
	daemon_discard(&second);
	daemon_remove(&second);
}

static const struct test_case cases[] = {
	QUICK(test_the_pool_grows_while_its_threads_are_busy),
	QUICK(test_a_call_may_close_its_connection),
	QUICK(test_stop_ends_a_loop_that_sleeps),
	QUICK(test_a_program_may_poll),
	QUICK(test_two_devices_keep_apart),
	QUICK(test_a_child_opens_its_own),
	CASE_FLAGS(test_a_loop_ends_when_the_daemon_does, TEST_OWN_DAEMON),
};

TEST_MAIN(cases)
