// SPDX-License-Identifier: MIT
/* Many services, many watchers, many callers. */
#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SERVICES 10000
#define WATCHERS 40
#define ROUNDS 100
#define CALLERS 6

static struct shared {
	atomic_int ready, told, go, stop;
} *shared;

static void name_of(char name[40], int i)
{
	snprintf(name, 40, "org.example.service%05d", i);
}

static size_t count_list(ab_conn *conn)
{
	char **names;
	size_t nr;

	CHECK_OK(ab_service_list(conn, AB_DUMP_ALL, &names, &nr));
	for (size_t i = 1; i < nr; i++)
		CHECK_OP(strcmp(names[i - 1], names[i]), <, 0);
	ab_strings_free(names, nr);
	return nr;
}

static void await_count(ab_conn *conn, size_t wanted)
{
	long long end = test_now_ms() + 4 * TEST_WAIT_S * 1000LL;

	while (count_list(conn) != wanted) {
		CHECK_OP(test_now_ms(), <, end);
		test_sleep_ms(20);
	}
}

/* ---- services --------------------------------------------------------------------------- */

static void owner_of_many(void *arg)
{
	ab_conn *conn = connect_serving(*(enum ab_variant *)arg);
	char name[40];

	for (int i = 0; i < SERVICES; i++) {
		ab_object *object = echo_new(conn);

		name_of(name, i);
		CHECK_OK(ab_service_add(conn, name, object, AB_DUMP_DEFAULT));
		ab_object_put(object);
	}
	test_post(&shared->ready);
	for (;;)
		pause();
}

static void many(enum ab_variant variant)
{
	struct manager m = { .android = ab_variant_name(variant) };
	ab_conn *conn;
	char name[40];
	pid_t pid;

	shared = test_share(sizeof(*shared));
	manager_start(&m);
	conn = connect_as(variant);
	pid = test_spawn(owner_of_many, &variant);
	test_await(&shared->ready, 1);
	CHECK_EQ(count_list(conn), SERVICES + 1);
	for (int i = 0; i < SERVICES; i += 997) {
		ab_object *object;

		name_of(name, i);
		CHECK_OK(ab_service_check(conn, name, &object));
		CHECK_OK(echo_call(object, i));
		ab_object_put(object);
	}
	if (ab_variant_code(variant, AB_SM_GET_DEBUG_INFO)) {
		struct ab_service_info *infos;
		size_t nr;

		CHECK_OK(ab_service_infos(conn, &infos, &nr));
		CHECK_EQ(nr, SERVICES + 1);
		CHECK_EQ(infos[nr - 1].pid, pid);
		ab_service_info_free(infos, nr);
	}
	test_kill(pid);
	await_count(conn, 1);
	ab_close(conn);
	manager_stop(&m);
}

static void test_ten_thousand_services_are_registered_and_listed(void)
{
	many(AB_ANDROID_13);
}

/* One name a call: each call must not cost a whole list. */
static void test_ten_thousand_services_are_listed_one_by_one(void)
{
	many(AB_ANDROID_10);
}

static void test_ten_thousand_names_of_one_object_end_together(void)
{
	struct manager m = { 0 };
	ab_conn *conn, *client;
	ab_object *object;
	char name[40];

	manager_start(&m);
	client = connect_as(AB_VARIANT_DEFAULT);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	object = echo_new(conn);
	for (int i = 0; i < SERVICES; i++) {
		name_of(name, i);
		CHECK_OK(ab_service_add(conn, name, object, AB_DUMP_DEFAULT));
	}
	CHECK_EQ(count_list(client), SERVICES + 1);
	ab_object_put(object);
	ab_close(conn);
	await_count(client, 1);
	ab_close(client);
	manager_stop(&m);
}

/* A list that does not fit is refused by the driver, said by the manager, and harms nobody. */
static void test_a_list_that_is_too_long_is_said(void)
{
	struct ab_options small = { .map_size = 16384 };
	struct manager m = { 0 };
	ab_conn *conn, *client;
	char name[128], text[300];
	ab_object *object;
	char **names;
	size_t nr;

	manager_start(&m);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	object = echo_new(conn);
	memset(name, 'n', sizeof(name) - 1);
	for (int i = 0; i < 4200; i++) {
		snprintf(name + 100, sizeof(name) - 100, "%05d", i);
		name[105] = 'n';
		name[127] = '\0';
		CHECK_OK(ab_service_add(conn, name, object, AB_DUMP_DEFAULT));
	}
	CHECK_OK(ab_open(&client, device_path(), &small));
	CHECK_EQ(ab_service_list(client, AB_DUMP_ALL, &names, &nr), -ECOMM);
	CHECK(strstr(ab_error_text(client, -ECOMM, text, sizeof(text)), "no space"));
	manager_await_log(&m, "list: 4201 names make a reply of ");
	CHECK_EQ(ab_service_check(client, "none", &object), -ENOENT);
	ab_close(client);
	ab_close(conn);
	manager_stop(&m);
}

/* ---- watchers --------------------------------------------------------------------------- */

static void told(void *data, const char *name, ab_object *object)
{
	test_post(&shared->told);
}

static void watcher(void *arg)
{
	ab_conn *conn = connect_serving(AB_VARIANT_DEFAULT);
	ab_watch *watch;

	CHECK_OK(ab_service_watch(conn, "org.example.storm", told, NULL, &watch));
	test_post(&shared->ready);
	for (;;)
		pause();
}

static void test_every_watcher_is_told_of_every_registration(void)
{
	struct manager m = { 0 };
	ab_object *objects[2];
	pid_t pids[WATCHERS];
	ab_conn *conn;

	shared = test_share(sizeof(*shared));
	manager_start(&m);
	for (int i = 0; i < WATCHERS; i++)
		pids[i] = test_spawn(watcher, NULL);
	test_await(&shared->ready, WATCHERS);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	for (int i = 0; i < 2; i++)
		objects[i] = echo_new(conn);
	for (int i = 0; i < ROUNDS; i++)
		CHECK_OK(ab_service_add(conn, "org.example.storm", objects[i % 2],
					AB_DUMP_DEFAULT));
	test_await(&shared->told, WATCHERS * ROUNDS);
	CHECK_EQ(manager_lines(&m, "cannot tell it"), 0);
	for (int i = 0; i < WATCHERS; i++)
		test_kill(pids[i]);
	for (int i = 0; i < 2; i++)
		ab_object_put(objects[i]);
	ab_close(conn);
	manager_stop(&m);
}

/* ---- callers ---------------------------------------------------------------------------- */

static void caller(void *arg)
{
	ab_conn *conn = connect_serving(AB_VARIANT_DEFAULT);
	ab_object *object;

	test_post(&shared->ready);
	while (!atomic_load(&shared->stop)) {
		int ret = ab_service_check(conn, "manager", &object);

		if (ret == -EPIPE)
			break;
		CHECK_OK(ret);
		ab_object_put(object);
		atomic_fetch_add(&shared->told, 1);
	}
}

/* However busy it is, it hears signals. */
static void test_a_busy_manager_reloads_and_ends(void)
{
	struct manager m = { .policy = "allow all uid=0\n" };
	pid_t pids[CALLERS];

	shared = test_share(sizeof(*shared));
	manager_start(&m);
	for (int i = 0; i < CALLERS; i++)
		pids[i] = test_spawn(caller, NULL);
	test_await(&shared->told, 1000);
	CHECK_EQ(kill(m.pid, SIGHUP), 0);
	manager_await_log(&m, "read again: policy");
	manager_stop(&m);
	test_set(&shared->stop, 1);
	for (int i = 0; i < CALLERS; i++)
		test_join(pids[i]);
}

/* Processes that come, register and die: nothing of them stays. */
static void passer_by(void *arg)
{
	ab_conn *conn = connect_serving(AB_VARIANT_DEFAULT);
	ab_watch *watch;
	char name[40];

	snprintf(name, sizeof(name), "org.example.p%d", getpid());
	CHECK_OK(ab_service_add(conn, name, echo_new(conn), AB_DUMP_DEFAULT));
	CHECK_OK(ab_service_watch(conn, "org.example.never", told, NULL, &watch));
	kill(getpid(), SIGKILL);
}

static void test_nothing_stays_of_processes_that_die(void)
{
	struct manager m = { 0 };
	ab_conn *conn;
	int status;

	manager_start(&m);
	conn = connect_as(AB_VARIANT_DEFAULT);
	for (int i = 0; i < 200; i++)
		CHECK(test_reap(test_spawn(passer_by, NULL), &status, TEST_WAIT_S));
	await_count(conn, 1);
	ab_close(conn);
	manager_stop(&m);
}

static const struct test_case cases[] = {
	CASE_FLAGS(test_ten_thousand_services_are_registered_and_listed, TEST_LONG),
	CASE_FLAGS(test_ten_thousand_services_are_listed_one_by_one, TEST_LONG),
	CASE_FLAGS(test_ten_thousand_names_of_one_object_end_together, TEST_LONG),
	CASE(test_a_list_that_is_too_long_is_said),
	CASE(test_every_watcher_is_told_of_every_registration),
	QUICK(test_a_busy_manager_reloads_and_ends),
	CASE_FLAGS(test_nothing_stays_of_processes_that_die, TEST_LONG),
};

TEST_MAIN(cases)
