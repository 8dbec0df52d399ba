// SPDX-License-Identifier: MIT
/* The ends of services, watchers and managers, and what comes after. */
#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "org.example.a"
#define OTHER "org.example.b"
#define MANY 100
#define PUBLICATIONS 1000

/*
 * What a case and its processes see of each other. Processes are started first,
 * before there are threads, and wait for their turn.
 */
struct shared {
	atomic_int ready, told, go, turn;
};

static struct shared *shared;

static void begin(void)
{
	shared = test_share(sizeof(*shared));
}

static int find(ab_conn *conn, const char *name)
{
	ab_object *object;
	int ret = ab_service_check(conn, name, &object);

	ab_object_put(object);
	return ret;
}

static void await_find(ab_conn *conn, const char *name, int wanted)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;

	while (find(conn, name) != wanted) {
		CHECK_OP(test_now_ms(), <, end);
		test_sleep_ms(1);
	}
}

/* The number behind @words in the manager's dump. */
static long dumped(ab_conn *conn, const char *words)
{
	static char text[1 << 16];
	ab_object *manager;
	long value = -1;
	char *found;
	int fd = memfd_create("dump", MFD_CLOEXEC);

	memset(text, 0, sizeof(text));
	CHECK_OK(ab_manager(conn, &manager));
	CHECK_OK(ab_dump(manager, fd, NULL, 0));
	CHECK_OP(pread(fd, text, sizeof(text) - 1, 0), >, 0);
	close(fd);
	ab_object_put(manager);
	found = strstr(text, words);
	if (!found || sscanf(found + strlen(words), "%ld", &value) != 1)
		FAIL("no number behind \"%s\" in: %s", words, text);
	return value;
}

static long watches(ab_conn *conn)
{
	return dumped(conn, " names, ");
}

static void serve_until_killed(void)
{
	test_post(&shared->ready);
	for (;;)
		pause();
}

/* ---- services --------------------------------------------------------------------------- */

/* @arg: it is the second, and waits for the second turn. */
static void owner(void *arg)
{
	ab_conn *conn;

	test_await(&shared->turn, arg ? 2 : 1);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	CHECK_OK(ab_service_add(conn, NAME, echo_new(conn), AB_DUMP_DEFAULT));
	CHECK_OK(ab_service_add(conn, OTHER, echo_new(conn), AB_DUMP_DEFAULT));
	serve_until_killed();
}

static void told(void *data, const char *name, ab_object *object)
{
	test_post(data);
}

static void test_names_end_with_their_process(void)
{
	struct manager m = { 0 };
	ab_object *service;
	pid_t pid, next;
	ab_watch *watch;
	ab_conn *conn;

	begin();
	manager_start(&m);
	pid = test_spawn(owner, NULL);
	next = test_spawn(owner, &m);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	test_post(&shared->turn);
	test_await(&shared->ready, 1);
	CHECK_OK(ab_service_watch(conn, NAME, told, &shared->told, &watch));
	test_await(&shared->told, 1);
	CHECK_OK(ab_service_check(conn, NAME, &service));
	CHECK_OK(echo_call(service, 5));
	test_kill(pid);
	await_find(conn, NAME, -ENOENT);
	await_find(conn, OTHER, -ENOENT);
	CHECK_EQ(echo_call(service, 6), -EPIPE);
	ab_object_put(service);
	/* Watchers hear of the next one only. */
	CHECK_EQ(atomic_load(&shared->told), 1);
	test_post(&shared->turn);
	test_await(&shared->told, 2);
	test_kill(next);
	ab_service_unwatch(watch);
	ab_close(conn);
	manager_stop(&m);
}

/* ---- watchers --------------------------------------------------------------------------- */

static void watcher(void *arg)
{
	ab_conn *conn = connect_serving(AB_VARIANT_DEFAULT);
	ab_watch *watch;
	char name[40];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "org.example.n%d", i);
		CHECK_OK(ab_service_watch(conn, name, told, &shared->told, &watch));
	}
	serve_until_killed();
}

static void test_watches_end_with_their_process(void)
{
	struct manager m = { 0 };
	ab_conn *conn;
	pid_t pid;

	begin();
	manager_start(&m);
	conn = connect_as(AB_VARIANT_DEFAULT);
	pid = test_spawn(watcher, NULL);
	test_await(&shared->ready, 1);
	CHECK_EQ(dumped(conn, "there are: "), 1);
	CHECK_EQ(watches(conn), MANY);
	test_kill(pid);
	while (watches(conn))
		test_sleep_ms(20);
	CHECK_OK(ab_service_add(conn, "org.example.n5", echo_new(conn), AB_DUMP_DEFAULT));
	ab_close(conn);
	manager_stop(&m);
}

/* One that does not read what it is sent: its share of space fills, others are served. */
static void deaf(void *arg)
{
	struct ab_options options = { .map_size = 16384 };
	ab_watch *watch;
	ab_conn *conn;

	CHECK_OK(ab_open(&conn, device_path(), &options));
	CHECK_OK(ab_service_watch(conn, NAME, told, &shared->told, &watch));
	serve_until_killed();
}

static void test_a_watcher_that_does_not_listen_stops_nobody(void)
{
	struct manager m = { 0 };
	ab_watch *watch;
	ab_conn *conn;
	pid_t pid;

	begin();
	manager_start(&m);
	pid = test_spawn(deaf, NULL);
	test_await(&shared->ready, 1);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	CHECK_OK(ab_service_watch(conn, NAME, told, &shared->told, &watch));
	for (int i = 0; i < 500; i++) {
		ab_object *object = echo_new(conn);

		CHECK_OK(ab_service_add(conn, NAME, object, AB_DUMP_DEFAULT));
		ab_object_put(object);
	}
	test_await(&shared->told, 500);
	manager_await_log(&m, "cannot tell it that \"" NAME "\" is there: ");
	CHECK_LE(manager_lines(&m, "cannot tell it"), 10);
	test_kill(pid);
	ab_service_unwatch(watch);
	ab_close(conn);
	manager_stop(&m);
}

/* ---- managers --------------------------------------------------------------------------- */

static void test_a_second_manager_is_refused_and_follows_at_once(void)
{
	struct manager first = { 0 }, second = { 0 };
	ab_conn *conn;

	manager_start(&first);
	CHECK_EQ(manager_try(&second), 1);
	CHECK_EQ(manager_lines(&second, "has a context manager already"), 1);
	conn = connect_as(AB_VARIANT_DEFAULT);
	CHECK_EQ(find(conn, NAME), -ENOENT);
	manager_kill(&first);
	manager_start(&second);
	CHECK_EQ(find(conn, NAME), -ENOENT);
	ab_close(conn);
	manager_stop(&second);
}

static void run_as_stranger(void *arg)
{
	const char *program = getenv("SERVICEMANAGER");
	char device[240];

	become_uid(54321);
	dup2(*(int *)arg, STDERR_FILENO);
	snprintf(device, sizeof(device), "--device=%s", device_path());
	execl(program, program, device, NULL);
	_exit(127);
}

/* So that nobody takes the device over while its manager is being restarted. */
static void test_a_manager_of_another_uid_is_refused(void)
{
	struct manager m = { 0 };
	int status;
	pid_t pid;

	manager_start(&m);
	manager_kill(&m);
	pid = test_spawn(run_as_stranger, &m.log);
	CHECK(test_reap(pid, &status, TEST_WAIT_S));
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 1);
	CHECK_EQ(manager_lines(&m, "had a context manager of another uid"), 1);
}

static void test_without_a_manager_waiting_costs_little(void)
{
	ab_conn *conn = connect_as(AB_VARIANT_DEFAULT);
	long long start = test_now_ms();
	ab_object *object;
	uint64_t before;

	CHECK_EQ(find(conn, NAME), -EPIPE);
	CHECK_EQ(ab_manager_wait(conn, 50), -ETIMEDOUT);
	before = ab_ioctls(conn);
	CHECK_EQ(ab_service_wait(conn, NAME, 1000, &object), -ETIMEDOUT);
	CHECK_GE(test_now_ms() - start, 1000);
	/* A few times a second, however long a try takes. */
	CHECK_LE(ab_ioctls(conn) - before, 50);
	ab_close(conn);
}

/* One asks again and again, the other (@arg) is told as well. */
static void find_later(void *arg)
{
	ab_conn *conn = arg ? connect_serving(AB_VARIANT_DEFAULT) : connect_as(AB_VARIANT_DEFAULT);
	ab_object *object;

	test_post(&shared->ready);
	CHECK_OK(ab_service_wait(conn, NAME, TEST_WAIT_S * 1000, &object));
	CHECK_OK(echo_call(object, 9));
	ab_object_put(object);
	ab_close(conn);
}

static void test_clients_may_come_before_manager_and_service(void)
{
	struct manager m = { 0 };
	pid_t asks, hears, pid;
	ab_conn *conn;

	begin();
	asks = test_spawn(find_later, NULL);
	hears = test_spawn(find_later, &m);
	test_await(&shared->ready, 2);
	test_sleep_ms(50);
	manager_start(&m);
	conn = connect_as(AB_VARIANT_DEFAULT);
	CHECK_OK(ab_manager_wait(conn, TEST_WAIT_S * 1000));
	test_sleep_ms(50);
	pid = test_spawn(owner, NULL);
	test_post(&shared->turn);
	test_join(asks);
	test_join(hears);
	test_kill(pid);
	ab_close(conn);
	manager_stop(&m);
}

/* Who has been told does not leave a watch behind. */
static void test_waiting_leaves_nothing_with_the_manager(void)
{
	ab_conn *conn = connect_serving(AB_VARIANT_DEFAULT);
	ab_object *object;
	struct manager m = { 0 };

	manager_start(&m);
	CHECK_EQ(ab_service_wait(conn, NAME, 100, &object), -ETIMEDOUT);
	CHECK_EQ(watches(conn), 0);
	CHECK_EQ(dumped(conn, "\n  registerForNotifications: "), 1);
	ab_close(conn);
	manager_stop(&m);
}

/* The next manager knows nothing of who waits. */
static void test_waiting_outlives_the_manager(void)
{
	ab_conn *conn = connect_as(AB_VARIANT_DEFAULT);
	struct manager m = { 0 };
	pid_t waits, pid;

	begin();
	manager_start(&m);
	waits = test_spawn(find_later, &m);
	while (watches(conn) != 1)
		test_sleep_ms(20);
	manager_kill(&m);
	manager_start(&m);
	pid = test_spawn(owner, NULL);
	test_post(&shared->turn);
	test_join(waits);
	test_kill(pid);
	ab_close(conn);
	manager_stop(&m);
}

/* ---- services and new managers ---------------------------------------------------------- */

static int threads(void)
{
	char *status = test_read_file("/proc/self/status");
	char *line = strstr(status, "\nThreads:");
	int nr = 0;

	CHECK(line && sscanf(line, "\nThreads: %d", &nr) == 1);
	free(status);
	return nr;
}

static void publisher(void *arg)
{
	ab_conn *conn = connect_serving(AB_VARIANT_DEFAULT);
	static ab_publication *publications[PUBLICATIONS];
	char name[40];

	for (int i = 0; i < PUBLICATIONS; i++) {
		snprintf(name, sizeof(name), "org.example.n%d", i);
		CHECK_OK(ab_service_publish(conn, name, echo_new(conn), AB_DUMP_DEFAULT,
					    &publications[i]));
	}
	/* Not one for each. */
	CHECK_LE(threads(), 5);
	test_post(&shared->ready);
	test_await(&shared->go, 1);
	for (int i = 0; i < PUBLICATIONS; i++)
		ab_service_unpublish(publications[i]);
	test_post(&shared->ready);
	for (;;)
		pause();
}

static void test_published_services_come_back_to_a_new_manager(void)
{
	struct manager m = { 0 };
	ab_object *service;
	ab_conn *conn;
	char **names;
	size_t nr;
	pid_t pid;

	begin();
	manager_start(&m);
	conn = connect_as(AB_VARIANT_DEFAULT);
	pid = test_spawn(publisher, NULL);
	test_await(&shared->ready, 1);
	CHECK_OK(ab_service_check(conn, "org.example.n7", &service));
	for (int round = 1; round <= 3; round++) {
		if (round == 2) {
			manager_stop(&m);
		} else {
			manager_kill(&m);
		}
		/* What clients hold goes on working. */
		CHECK_OK(echo_call(service, round));
		manager_start(&m);
		await_find(conn, "org.example.n7", 0);
		do {
			CHECK_OK(ab_service_list(conn, AB_DUMP_ALL, &names, &nr));
			ab_strings_free(names, nr);
			test_sleep_ms(1);
		} while (nr < PUBLICATIONS + 1);
		CHECK_OK(echo_call(service, round));
	}
	test_post(&shared->go);
	test_await(&shared->ready, 2);
	/* Not registered again. */
	manager_kill(&m);
	manager_start(&m);
	test_sleep_ms(200);
	CHECK_EQ(find(conn, "org.example.n7"), -ENOENT);
	ab_object_put(service);
	test_kill(pid);
	ab_close(conn);
	manager_stop(&m);
}

static void publish_refused(void *arg)
{
	ab_publication *publication;
	ab_conn *conn;

	become_uid(54321);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	CHECK_EQ(ab_service_publish(conn, NAME, echo_new(conn), AB_DUMP_DEFAULT, &publication),
		 -EACCES);
	CHECK(!publication);
	ab_close(conn);
}

static void test_publishing_says_what_stands_in_its_way(void)
{
	struct manager m = { 0 };
	ab_publication *publication;
	ab_conn *conn = connect_serving(AB_VARIANT_DEFAULT);

	CHECK_EQ(ab_service_publish(conn, NAME, echo_new(conn), AB_DUMP_DEFAULT, &publication),
		 -EPIPE);
	CHECK(!publication);
	ab_close(conn);
	manager_start(&m);
	test_join(test_spawn(publish_refused, NULL));
	manager_stop(&m);
}

/* Nobody has to unpublish first. */
static void test_a_connection_with_publications_may_close(void)
{
	struct manager m = { 0 };
	ab_publication *publication;
	ab_conn *conn;

	manager_start(&m);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	for (int i = 0; i < 20; i++) {
		ab_object *object = echo_new(conn);

		CHECK_OK(ab_service_publish(conn, NAME, object, AB_DUMP_DEFAULT, &publication));
		ab_object_put(object);
		if (i < 19)
			ab_service_unpublish(publication);
	}
	ab_close(conn);
	ab_service_unpublish(publication);
	conn = connect_as(AB_VARIANT_DEFAULT);
	await_find(conn, NAME, -ENOENT);
	ab_close(conn);
	manager_stop(&m);
}

static const struct test_case cases[] = {
	QUICK(test_names_end_with_their_process),
	QUICK(test_watches_end_with_their_process),
	CASE(test_a_watcher_that_does_not_listen_stops_nobody),
	QUICK(test_a_second_manager_is_refused_and_follows_at_once),
	CASE(test_a_manager_of_another_uid_is_refused),
	CASE(test_without_a_manager_waiting_costs_little),
	QUICK(test_clients_may_come_before_manager_and_service),
	CASE(test_waiting_leaves_nothing_with_the_manager),
	CASE(test_waiting_outlives_the_manager),
	QUICK(test_published_services_come_back_to_a_new_manager),
	CASE(test_publishing_says_what_stands_in_its_way),
	CASE(test_a_connection_with_publications_may_close),
};

TEST_MAIN(cases)
