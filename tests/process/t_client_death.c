// SPDX-License-Identifier: MIT
/* The client library over a real driver: deaths, and managers that come and go. */
#include "client.h"

#include <stdlib.h>
#include <unistd.h>

enum { WHO = 1, HANG };

struct shared {
	atomic_int stop;
	atomic_int hanging;
};

static struct shared *shared;
static atomic_int deaths;

static int serve(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	switch (info->code) {
	case AB_META_PING:
		return 0;
	case WHO:
		return ab_write_int32(out, getpid());
	case HANG:
		test_post(&shared->hanging);
		test_await(&shared->stop, 1);
		return 0;
	default:
		return AB_UNKNOWN_TRANSACTION;
	}
}

static void server_main(void *arg)
{
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_object(conn, serve, NULL);

	client_put(conn, 1, object);
	ab_loop(conn);
}

static pid_t server_start(void)
{
	return test_spawn(server_main, NULL);
}

static void prepare(void)
{
	shared = test_share(sizeof(*shared));
	client_manager(NULL);
}

static void on_death(void *data, ab_object *object)
{
	CHECK(ab_object_is_dead(object));
	CHECK(!data || *(ab_object **)data == object);
	test_post(&deaths);
}

/* ---- cases -------------------------------------------------------------------------------- */

static void test_a_death_is_told_to_each_link(void)
{
	ab_object *object;
	ab_death *links[3];
	uint64_t before;
	ab_conn *conn;
	pid_t server;

	prepare();
	server = server_start();
	conn = client_open(NULL, NULL);
	CHECK_AB(ab_pool_start(conn));
	object = client_get(conn, 1);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		CHECK_AB(ab_death_link(object, on_death, &object, &links[i]));
	CHECK_AB(ab_death_link(object, on_death, &object, NULL));
	CHECK_EQ(ab_death_unlink(links[1]), 0);
	CHECK_AB(ab_ping(object));
	test_kill(server);
	test_await(&deaths, 3);
	CHECK(ab_object_is_dead(object));
	before = ab_ioctls(conn);
	CHECK_EQ(ab_call(object, WHO, NULL, NULL), -EPIPE);
	CHECK_EQ(ab_death_link(object, on_death, NULL, NULL), -EPIPE);
	CHECK_EQ(ab_ioctls(conn), before);
	CHECK_EQ(ab_death_unlink(links[0]), -EALREADY);
	CHECK_EQ(ab_death_unlink(links[2]), -EALREADY);
	ab_object_put(object);
	client_drop(conn, 1);
	CHECK_EQ(atomic_load(&deaths), 3);
	ab_close(conn);
	client_no_complaints();
}

static void *call_hang(void *arg)
{
	CHECK_EQ(ab_call(arg, HANG, NULL, NULL), -EPIPE);
	return NULL;
}

static void test_who_waits_for_the_dead_is_told(void)
{
	ab_object *object;
	pthread_t thread;
	ab_conn *conn;
	pid_t server;

	prepare();
	server = server_start();
	conn = client_open(NULL, NULL);
	object = client_get(conn, 1);
	thread = test_thread(call_hang, object);
	test_await(&shared->hanging, 1);
	test_kill(server);
	test_thread_join(thread);
	CHECK_EQ(ab_ping(object), -EPIPE);
	ab_object_put(object);
	ab_close(conn);
}

/* Nobody has said yet that it is dead; the driver says it at once. */
static void test_a_link_to_the_dead_is_called(void)
{
	ab_object *object;
	ab_conn *conn;
	pid_t server;

	prepare();
	server = server_start();
	conn = client_open(NULL, NULL);
	CHECK_AB(ab_pool_start(conn));
	object = client_get(conn, 1);
	test_kill(server);
	while (ab_ping(object) != -EPIPE)
		test_sleep_ms(1);
	CHECK_AB(ab_death_link(object, on_death, &object, NULL));
	test_await(&deaths, 1);
	/* The dead can still be passed on, to who finds out himself. */
	client_put(conn, 2, object);
	client_drop(conn, 2);
	ab_object_put(object);
	ab_close(conn);
	client_no_complaints();
}

static ab_object *the_object;

static void *link_and_unlink(void *arg)
{
	for (int i = 0; i < 300; i++) {
		ab_death *link;

		CHECK_AB(ab_death_link(the_object, on_death, NULL, &link));
		CHECK_EQ(ab_death_unlink(link), 0);
	}
	return NULL;
}

static void test_links_come_and_go_in_many_threads(void)
{
	pthread_t threads[4];
	ab_death *link;
	ab_conn *conn;
	pid_t server;

	prepare();
	server = server_start();
	conn = client_open(NULL, NULL);
	CHECK_AB(ab_pool_start(conn));
	the_object = client_get(conn, 1);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = test_thread(link_and_unlink, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		test_thread_join(threads[i]);
	client_no_complaints();
	/* And none was in the way of this one. */
	CHECK_AB(ab_death_link(the_object, on_death, &the_object, &link));
	test_kill(server);
	test_await(&deaths, 1);
	CHECK_EQ(ab_death_unlink(link), -EALREADY);
	ab_object_put(the_object);
	ab_close(conn);
}

/* Each round finds the new manager, though all the old proxies are still held. */
static void test_managers_may_come_and_go(void)
{
	ab_object *managers[6], *object;
	ab_death *links[6];
	ab_conn *conn;

	conn = client_open(NULL, NULL);
	CHECK_AB(ab_pool_start(conn));
	for (size_t i = 0; i < ARRAY_SIZE(managers); i++) {
		pid_t pid = client_manager(NULL);

		CHECK_AB(ab_manager(conn, &managers[i]));
		for (size_t k = 0; k < i; k++)
			CHECK(managers[k] != managers[i]);
		CHECK_EQ(client_ask(managers[i], MANAGER_PID, 0), pid);
		CHECK_AB(ab_death_link(managers[i], on_death, &managers[i], &links[i]));
		/* A reference that can be sent is one to this one. */
		client_put(conn, 1, managers[i]);
		object = client_get(conn, 1);
		CHECK(object == managers[i]);
		ab_object_put(object);
		client_drop(conn, 1);
		test_kill(pid);
		test_await(&deaths, (int)i + 1);
		CHECK(ab_object_is_dead(managers[i]));
		CHECK_EQ(ab_ping(managers[i]), -EPIPE);
	}
	for (size_t i = 0; i < ARRAY_SIZE(managers); i++) {
		CHECK_EQ(ab_death_unlink(links[i]), -EALREADY);
		ab_object_put(managers[i]);
	}
	CHECK_EQ(atomic_load(&deaths), ARRAY_SIZE(managers));
	ab_close(conn);
	client_no_complaints();
}

static void find_next(void *data, ab_object *object)
{
	ab_object *next;
	int ret = -EPIPE;

	/* From here the next one is waited for: as programs do that register again. */
	CHECK_AB(ab_manager(ab_object_conn(object), &next));
	CHECK(next != object);
	while (ret == -EPIPE) {
		ret = ab_death_link(next, on_death, NULL, NULL);
		test_sleep_ms(1);
	}
	CHECK_AB(ret);
	atomic_store((_Atomic(ab_object *) *)data, next);
	test_post(&deaths);
}

static void test_the_next_manager_is_found_from_a_death(void)
{
	_Atomic(ab_object *) next = NULL;
	ab_object *manager;
	ab_conn *conn;
	pid_t pid;

	pid = client_manager(NULL);
	conn = client_open(NULL, &(struct ab_options){ .max_threads = 2 });
	CHECK_AB(ab_pool_start(conn));
	CHECK_AB(ab_manager(conn, &manager));
	CHECK_AB(ab_death_link(manager, find_next, &next, NULL));
	test_kill(pid);
	pid = client_manager(NULL);
	test_await(&deaths, 1);
	CHECK_EQ(client_ask(next, MANAGER_PID, 0), pid);
	test_kill(pid);
	test_await(&deaths, 2);
	ab_object_put(next);
	ab_object_put(manager);
	ab_close(conn);
}

static const struct test_case cases[] = {
	QUICK(test_a_death_is_told_to_each_link),
	QUICK(test_who_waits_for_the_dead_is_told),
	QUICK(test_a_link_to_the_dead_is_called),
	CASE(test_links_come_and_go_in_many_threads),
	QUICK(test_managers_may_come_and_go),
	QUICK(test_the_next_manager_is_found_from_a_death),
};

TEST_MAIN(cases)
