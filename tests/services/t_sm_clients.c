// SPDX-License-Identifier: MIT
/* Whether anybody uses a service, and taking its name back when nobody does. */
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "org.example.lazy"

/* Processes are started first, before there are threads, and wait for their turn. */
static struct shared {
	atomic_int begin, held, go;
} *shared;

/* What the owner heard. */
struct heard {
	ab_object *service;
	atomic_int yes, no;
};

static void on_clients(void *data, ab_object *object, bool has_clients)
{
	struct heard *heard = data;

	CHECK(object == heard->service);
	test_post(has_clients ? &heard->yes : &heard->no);
}

/* A client that holds the service until it is told to go. */
static void holder(void *arg)
{
	ab_object *service;
	ab_conn *conn;

	test_await(&shared->begin, 1);
	conn = connect_as(*(enum ab_variant *)arg);
	CHECK_OK(ab_service_check(conn, NAME, &service));
	CHECK_OK(echo_call(service, 1));
	test_post(&shared->held);
	test_await(&shared->go, 1);
	ab_object_put(service);
	test_post(&shared->held);
	for (;;)
		pause();
}

static void need_counting(int ret)
{
	if (ret == -EOPNOTSUPP)
		test_skip("this driver does not count references for the context manager");
	CHECK_OK(ret);
}

static void test_the_owner_hears_of_clients(void)
{
	enum ab_variant variant = AB_VARIANT_DEFAULT;
	struct manager m = { 0 };
	struct heard heard = { 0 };
	ab_conn *conn;
	pid_t pid;

	shared = test_share(sizeof(*shared));
	manager_start(&m);
	pid = test_spawn(holder, &variant);
	conn = connect_serving(variant);
	heard.service = echo_new(conn);
	CHECK_OK(ab_service_add(conn, NAME, heard.service, AB_DUMP_DEFAULT));
	need_counting(ab_service_watch_clients(conn, NAME, heard.service, on_clients, &heard));
	test_post(&shared->begin);
	test_await(&shared->held, 1);
	test_await(&heard.yes, 1);
	CHECK_EQ(ab_service_try_unregister(conn, NAME, heard.service), -EBUSY);
	/* Not as long as it is held. */
	test_sleep_ms(11000);
	CHECK_EQ(atomic_load(&heard.no), 0);
	test_post(&shared->go);
	test_await(&shared->held, 2);
	test_await(&heard.no, 1);
	CHECK_EQ(atomic_load(&heard.yes), 1);
	CHECK_OK(ab_service_try_unregister(conn, NAME, heard.service));
	CHECK_EQ(ab_service_try_unregister(conn, NAME, heard.service), -EINVAL);
	test_kill(pid);
	ab_object_put(heard.service);
	ab_close(conn);
	manager_stop(&m);
}

/* Killed in the middle: what it held does not count any more. */
static void test_the_owner_hears_that_clients_died(void)
{
	enum ab_variant variant = AB_VARIANT_DEFAULT;
	struct manager m = { 0 };
	struct heard heard = { 0 };
	ab_conn *conn;
	pid_t pid;

	shared = test_share(sizeof(*shared));
	manager_start(&m);
	pid = test_spawn(holder, &variant);
	conn = connect_serving(variant);
	heard.service = echo_new(conn);
	CHECK_OK(ab_service_add(conn, NAME, heard.service, AB_DUMP_DEFAULT));
	test_post(&shared->begin);
	test_await(&shared->held, 1);
	/* Clients that are there already are news at once. */
	need_counting(ab_service_watch_clients(conn, NAME, heard.service, on_clients, &heard));
	test_await(&heard.yes, 1);
	test_kill(pid);
	test_await(&heard.no, 1);
	ab_object_put(heard.service);
	ab_close(conn);
	manager_stop(&m);
}

static void test_clients_are_watched_in_each_variant_that_has_it(void)
{
	for (int v = AB_ANDROID_8; v <= AB_ANDROID_16; v++) {
		enum ab_variant variant = (enum ab_variant)v;
		struct manager m = { .android = ab_variant_name(variant) };
		struct heard heard = { 0 };
		ab_conn *conn;
		pid_t pid;

		shared = test_share(sizeof(*shared));
		manager_start(&m);
		pid = test_spawn(holder, &variant);
		conn = connect_serving(variant);
		heard.service = echo_new(conn);
		CHECK_OK(ab_service_add(conn, NAME, heard.service, AB_DUMP_DEFAULT));
		test_post(&shared->begin);
		test_await(&shared->held, 1);
		if (ab_variant_code(variant, AB_SM_REGISTER_CLIENT_CALLBACK)) {
			need_counting(ab_service_watch_clients(conn, NAME, heard.service,
							       on_clients, &heard));
			test_await(&heard.yes, 1);
			CHECK_EQ(ab_service_try_unregister(conn, NAME, heard.service), -EBUSY);
		} else {
			CHECK_EQ(ab_service_watch_clients(conn, NAME, heard.service, on_clients,
							  &heard), -EOPNOTSUPP);
			CHECK_EQ(ab_service_try_unregister(conn, NAME, heard.service),
				 -EOPNOTSUPP);
		}
		test_kill(pid);
		ab_object_put(heard.service);
		ab_close(conn);
		manager_stop(&m);
	}
}

/* ---- who may ---------------------------------------------------------------------------- */

static void stranger(void *arg)
{
	struct heard heard = { 0 };
	ab_object *service;
	ab_conn *conn;

	test_await(&shared->begin, 1);
	become_uid(54321);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	CHECK_OK(ab_service_check(conn, NAME, &service));
	CHECK_EQ(ab_service_watch_clients(conn, NAME, service, on_clients, &heard), -EACCES);
	CHECK_EQ(ab_service_try_unregister(conn, NAME, service), -EACCES);
	ab_object_put(service);
	ab_close(conn);
}

static void test_only_the_owner_may_ask_for_clients(void)
{
	struct manager m = { .policy = "allow all uid=*\n" };
	ab_object *object, *other;
	struct heard heard = { 0 };
	ab_conn *conn;
	pid_t pid;

	shared = test_share(sizeof(*shared));
	manager_start(&m);
	pid = test_spawn(stranger, NULL);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	object = echo_new(conn);
	other = echo_new(conn);
	CHECK_OK(ab_service_add(conn, NAME, object, AB_DUMP_DEFAULT));
	test_post(&shared->begin);
	test_join(pid);
	CHECK_EQ(manager_lines(&m, "watch clients of \"" NAME "\": uid 0 added it"), 1);
	CHECK_EQ(manager_lines(&m, "remove \"" NAME "\": uid 0 added it"), 1);
	/* Another object of the owner's does not have the name. */
	CHECK_EQ(ab_service_watch_clients(conn, NAME, other, on_clients, &heard), -EBUSY);
	/* Without a callback nobody would have been told in time. */
	CHECK_EQ(ab_service_try_unregister(conn, NAME, object), -EBUSY);
	ab_object_put(object);
	ab_object_put(other);
	ab_close(conn);
	manager_stop(&m);
}

/*
 * Symptom: an owner that is told "no clients" takes its name back, and hears
 * -EBUSY: there is a client.
 *
 *   manager                          owner
 *   1 tells it, with the service
 *     in the message
 *                                    2 asks to unregister, in the callback
 *                                      or in another thread
 *   3 counts the message's buffer
 *
 * A bad run: the answer is -EBUSY, and the service stays for ever.
 */
static void unregister_when_unused(void *data, ab_object *object, bool has_clients)
{
	if (!has_clients)
		CHECK_OK(ab_service_try_unregister(ab_object_conn(object), NAME, object));
	on_clients(data, object, has_clients);
}

/* Stays in the callback, while another thread asks. */
static void stay_in_callback(void *data, ab_object *object, bool has_clients)
{
	on_clients(data, object, has_clients);
	if (!has_clients)
		test_await(&shared->go, 2);
}

static void unregister_when_told(bool in_callback)
{
	enum ab_variant variant = AB_VARIANT_DEFAULT;
	struct manager m = { 0 };
	struct heard heard = { 0 };
	ab_conn *conn;
	pid_t pid;

	shared = test_share(sizeof(*shared));
	manager_start(&m);
	pid = test_spawn(holder, &variant);
	conn = connect_serving(variant);
	heard.service = echo_new(conn);
	CHECK_OK(ab_service_add(conn, NAME, heard.service, AB_DUMP_DEFAULT));
	need_counting(ab_service_watch_clients(conn, NAME, heard.service, in_callback ?
					       unregister_when_unused : stay_in_callback,
					       &heard));
	test_post(&shared->begin);
	test_await(&shared->held, 1);
	test_await(&heard.yes, 1);
	test_post(&shared->go);
	test_await(&heard.no, 1);
	if (!in_callback)
		CHECK_OK(ab_service_try_unregister(conn, NAME, heard.service));
	test_post(&shared->go);
	test_kill(pid);
	ab_object_put(heard.service);
	ab_close(conn);
	manager_stop(&m);
}

static void regress_owner_unregisters_in_the_callback(void)
{
	unregister_when_told(true);
}

static void regress_owner_unregisters_beside_the_callback(void)
{
	unregister_when_told(false);
}

static const struct test_case cases[] = {
	CASE_FLAGS(test_the_owner_hears_of_clients, TEST_LONG),
	CASE(test_the_owner_hears_that_clients_died),
	QUICK(test_clients_are_watched_in_each_variant_that_has_it),
	CASE(test_only_the_owner_may_ask_for_clients),
	CASE(regress_owner_unregisters_in_the_callback),
	CASE(regress_owner_unregisters_beside_the_callback),
};

TEST_MAIN(cases)
