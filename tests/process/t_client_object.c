// SPDX-License-Identifier: MIT
/* The client library over a real driver: objects in messages, their identity and their end. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEEP = 1, GIVE, DROP, SWAP, KEEP_WEAK, WAKE, GIVE_WEAK, OWN_OBJECTS, RSS, DROP_ELSEWHERE };

/* Ten bytes for each of a hundred thousand. */
#define FLAT_KIB 1024

struct shared {
	atomic_int stop;
};

static struct shared *shared;

static int nothing(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t value;

	CHECK_AB(ab_read_int32(in, &value));
	return ab_write_int32(out, value + 1);
}

/* Resident memory in KiB. */
static int32_t rss(void)
{
	char *text = test_read_file("/proc/self/status"), *line = strstr(text, "VmRSS:");
	int32_t kib;

	CHECK(line);
	kib = atoi(line + strlen("VmRSS:"));
	free(text);
	return kib;
}

/* ---- a server that keeps one object and one weak reference ----------------------------------- */

static ab_object *kept;
static ab_weak *kept_weak;

static int keep_weak(ab_parcel *in)
{
	ab_weak_put(kept_weak);
	return ab_read_weak(in, &kept_weak);
}

/* Calls what the weak reference is of. */
static int wake(ab_parcel *out)
{
	ab_object *object;
	int ret = ab_weak_lock(kept_weak, &object);

	if (ret)
		return ret;
	ab_write_int32(out, client_ask(object, 1, 70));
	ab_object_put(object);
	return 0;
}

/* Takes one, gives a new one of its own. */
static int swap(const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_object *object, *own;

	CHECK_AB(ab_read_object(in, &object));
	CHECK(ab_object_is_remote(object));
	own = client_object(ab_object_conn(info->object), nothing, NULL);
	ab_write_object(out, own);
	ab_object_put(own);
	ab_object_put(object);
	return 0;
}

static void *put_kept(void *arg)
{
	ab_object_put(kept);
	return NULL;
}

static int give_weak(const struct ab_call_info *info, ab_parcel *out)
{
	ab_object *own = client_object(ab_object_conn(info->object), nothing, NULL);
	int ret = ab_write_weak(out, own);

	ab_object_put(own);
	return ret;
}

static int serve(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	switch (info->code) {
	case KEEP:
		ab_object_put(kept);
		return ab_read_object(in, &kept);
	case GIVE:
		return ab_write_object(out, kept);
	case DROP:
		ab_object_put(kept);
		kept = NULL;
		return 0;
	case DROP_ELSEWHERE:
		test_thread_join(test_thread(put_kept, NULL));
		kept = NULL;
		return 0;
	case SWAP:
		return swap(info, in, out);
	case KEEP_WEAK:
		return keep_weak(in);
	case WAKE:
		return wake(out);
	case GIVE_WEAK:
		return give_weak(info, out);
	case OWN_OBJECTS:
		return ab_write_int32(out, client_destroyed());
	case RSS:
		return ab_write_int32(out, rss());
	default:
		return AB_UNKNOWN_TRANSACTION;
	}
}

static void server_main(void *arg)
{
	struct ab_options options = { .max_threads = 2 };
	ab_conn *conn = client_open(NULL, &options);
	ab_object *object = client_object(conn, serve, NULL);

	CHECK_AB(ab_pool_start(conn));
	client_put(conn, 1, object);
	test_await(&shared->stop, 1);
	ab_close(conn);
	ab_object_put(object);
	ab_object_put(kept);
	ab_weak_put(kept_weak);
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

static void send_object(ab_object *to, uint32_t code, ab_object *object)
{
	ab_parcel *in = ab_parcel_new(ab_object_conn(to));

	ab_write_object(in, object);
	CHECK_AB(ab_call(to, code, in, NULL));
	ab_parcel_free(in);
}

static ab_object *fetch_object(ab_object *from, uint32_t code, ab_parcel *in)
{
	ab_object *object;
	ab_parcel *out;

	CHECK_AB(ab_call(from, code, in, &out));
	CHECK_AB(ab_read_object(out, &object));
	ab_parcel_free(out);
	return object;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Nobody serves here: what others still hold ends with the connection. */
static void test_an_object_keeps_its_identity(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1), *own = client_object(conn, nothing, NULL);
	ab_object *again, *back;

	again = client_get(conn, 1);
	CHECK(again == object);
	ab_object_put(again);
	send_object(object, KEEP, own);
	back = fetch_object(object, GIVE, NULL);
	CHECK(back == own);
	ab_object_put(back);
	/* The server's own, by way of the manager's hands and ours. */
	send_object(object, KEEP, object);
	back = fetch_object(object, GIVE, NULL);
	CHECK(back == object);
	ab_object_put(back);
	CHECK_AB(ab_call(object, DROP, NULL, NULL));
	ab_object_put(own);
	ab_object_put(object);
	ab_close(conn);
	CHECK_EQ(client_destroyed(), 1);
	server_stop(server);
}

static void test_an_object_ends_when_nobody_holds_it(void)
{
	static const uint32_t drops[] = { DROP, DROP_ELSEWHERE };
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1);

	CHECK_AB(ab_pool_start(conn));
	for (int i = 0; i < 20; i++) {
		ab_object *own = client_object(conn, nothing, NULL);

		send_object(object, KEEP, own);
		ab_object_put(own);
		CHECK_EQ(client_destroyed(), i);
		CHECK_AB(ab_call(object, drops[i % 2], NULL, NULL));
		client_await_destroyed(i + 1);
	}
	ab_object_put(object);
	ab_close(conn);
	CHECK_EQ(client_destroyed(), 20);
	server_stop(server);
}

/* The thread that received it sleeps when another drops it. */
static _Atomic(ab_object *) taken;

static void *drop_later(void *arg)
{
	ab_object_put(atomic_load(&taken));
	return NULL;
}

static int take(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_object *object;

	CHECK_AB(ab_read_object(in, &object));
	atomic_store(&taken, object);
	return 0;
}

static void test_a_drop_in_another_thread_is_heard(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *own, *taker, *given;

	/* Two connections of one process: what one serves the other calls. */
	CHECK_AB(ab_pool_start(conn));
	taker = client_object(conn, take, NULL);
	client_put(conn, 2, taker);
	ab_object_put(taker);
	for (int i = 0; i < 30; i++) {
		ab_conn *caller = client_open(NULL, NULL);

		CHECK_AB(ab_pool_start(caller));
		given = client_get(caller, 2);
		own = client_object(caller, nothing, NULL);
		send_object(given, 1, own);
		ab_object_put(own);
		test_thread_join(test_thread(drop_later, NULL));
		client_await_destroyed(i + 1);
		ab_object_put(given);
		ab_close(caller);
	}
	client_drop(conn, 2);
	ab_close(conn);
	server_stop(server);
}

static void test_a_weak_reference_keeps_nothing_alive(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1), *own = client_object(conn, nothing, NULL);
	ab_parcel *in = ab_parcel_new(conn), *out;
	int32_t value;

	CHECK_AB(ab_pool_start(conn));
	ab_write_weak(in, own);
	CHECK_AB(ab_call(object, KEEP_WEAK, in, NULL));
	/* Strong there, too: then it can be had. */
	send_object(object, KEEP, own);
	CHECK_AB(ab_call(object, WAKE, NULL, &out));
	CHECK_AB(ab_read_int32(out, &value));
	CHECK_EQ(value, 71);
	ab_parcel_free(out);
	CHECK_AB(ab_call(object, DROP, NULL, NULL));
	ab_parcel_free(in);
	ab_object_put(own);
	client_await_destroyed(1);
	CHECK_EQ(ab_call(object, WAKE, NULL, NULL), -ESTALE);
	ab_object_put(object);
	ab_close(conn);
	test_set(&shared->stop, 1);
	test_join(server);
}

/* Alive at its owner's, and nobody else has more than a weak reference. */
static void test_a_weak_reference_alone_can_wake_or_says_that_not(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1), *own = client_object(conn, nothing, NULL);
	ab_parcel *in = ab_parcel_new(conn), *out = NULL;
	int ret;

	CHECK_AB(ab_pool_start(conn));
	ab_write_weak(in, own);
	CHECK_AB(ab_call(object, KEEP_WEAK, in, NULL));
	ab_parcel_free(in);
	ret = ab_call(object, WAKE, NULL, &out);
	CHECK(!ret || ret == -ESTALE);
	ab_parcel_free(out);
	/* Either way the next one works as if nothing had been. */
	send_object(object, KEEP, own);
	CHECK_AB(ab_call(object, WAKE, NULL, NULL));
	CHECK_AB(ab_call(object, DROP, NULL, NULL));
	ab_object_put(own);
	client_await_destroyed(1);
	ab_object_put(object);
	ab_close(conn);
	test_set(&shared->stop, 1);
	test_join(server);
}

static void test_a_weak_reference_to_what_is_gone_is_stale(void)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1), *gone;
	ab_parcel *out;
	ab_weak *weak;

	for (int i = 0; i < 10; i++) {
		CHECK_AB(ab_call(object, GIVE_WEAK, NULL, &out));
		CHECK_AB(ab_read_weak(out, &weak));
		ab_parcel_free(out);
		CHECK_EQ(client_ask(object, OWN_OBJECTS, 0), i + 1);
		CHECK_EQ(ab_weak_lock(weak, &gone), -ESTALE);
		ab_weak_put(weak);
	}
	ab_object_put(object);
	ab_close(conn);
	test_set(&shared->stop, 1);
	test_join(server);
}

static int count_of(const char *kind)
{
	char want[64], *text = driver_read("stats"), *line;
	int active = 0;

	snprintf(want, sizeof(want), "\n%s: active ", kind);
	line = text ? strstr(text, want) : NULL;
	if (line)
		active = atoi(line + strlen(want));
	free(text);
	return active;
}

static bool counts_are_back(void *arg)
{
	int *counts = arg;

	return count_of("node") <= counts[0] && count_of("ref") <= counts[1];
}

/* One of ours there, one of theirs here, all let go of. */
static void swap_objects(ab_object *object, int count)
{
	ab_conn *conn = ab_object_conn(object);

	for (int i = 0; i < count; i++) {
		ab_object *own = client_object(conn, nothing, NULL);
		ab_parcel *in = ab_parcel_new(conn);

		ab_write_object(in, own);
		ab_object_put(own);
		ab_object_put(fetch_object(object, SWAP, in));
		ab_parcel_free(in);
	}
}

static void memory_is_flat(int warm_up, int count)
{
	pid_t server = server_start();
	ab_conn *conn = client_open(NULL, NULL);
	ab_object *object = client_get(conn, 1);
	int32_t mine, theirs;
	int counts[2];

	CHECK_AB(ab_pool_start(conn));
	swap_objects(object, 1);
	client_await_destroyed(1);
	counts[0] = count_of("node");
	counts[1] = count_of("ref");
	swap_objects(object, warm_up);
	mine = rss();
	theirs = client_ask(object, RSS, 0);
	swap_objects(object, count);
	client_await_destroyed(1 + warm_up + count);
	test_eventually(counts_are_back, counts);
	mine = rss() - mine;
	theirs = client_ask(object, RSS, 0) - theirs;
	fprintf(stderr, "  %d objects each way: %d KiB here, %d KiB there\n", count, mine, theirs);
	/* A thread that serves for the first time needs some; a sanitizer keeps what is freed. */
	if (!SANITIZED) {
		CHECK_LE(mine, FLAT_KIB);
		CHECK_LE(theirs, FLAT_KIB);
	}
	ab_object_put(object);
	ab_close(conn);
	server_stop(server);
}

static void test_passed_objects_leave_memory_flat(void)
{
	memory_is_flat(10000, 100000);
}

static void test_a_few_passed_objects_leave_memory_flat(void)
{
	memory_is_flat(500, 2000);
}

static const struct test_case cases[] = {
	QUICK(test_an_object_keeps_its_identity),
	QUICK(test_an_object_ends_when_nobody_holds_it),
	QUICK(test_a_drop_in_another_thread_is_heard),
	QUICK(test_a_weak_reference_keeps_nothing_alive),
	QUICK(test_a_weak_reference_alone_can_wake_or_says_that_not),
	QUICK(test_a_weak_reference_to_what_is_gone_is_stale),
	QUICK(test_a_few_passed_objects_leave_memory_flat),
	CASE_FLAGS(test_passed_objects_leave_memory_flat, TEST_LONG),
};

TEST_MAIN(cases)
