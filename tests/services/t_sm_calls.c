// SPDX-License-Identifier: MIT
/* Each call of android.os.IServiceManager, in each variant. */
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME "org.example.IFoo/default"

static const char declaring[] = "allow all uid=0\n"
				"declare org.example.IFoo/default org.example.IFoo/other\n"
				"declare org.example.IBar/default\n";

/* Run @fn with a manager of each variant, and two clients. */
static void each_variant(void (*fn)(ab_conn *server, ab_conn *client))
{
	for (int v = AB_ANDROID_8; v <= AB_ANDROID_16; v++) {
		struct manager m = { .android = ab_variant_name((enum ab_variant)v),
				     .policy = declaring };
		ab_conn *server, *client;

		manager_start(&m);
		server = connect_serving((enum ab_variant)v);
		client = connect_as((enum ab_variant)v);
		fn(server, client);
		ab_close(client);
		ab_close(server);
		manager_stop(&m);
	}
}

static bool has(ab_conn *conn, enum ab_manager_call call)
{
	return ab_variant_code(ab_conn_variant(conn), call);
}

/* ---- names ------------------------------------------------------------------------------ */

static void names(ab_conn *server, ab_conn *client)
{
	ab_object *object = echo_new(server), *found;
	char **list;
	size_t nr;

	CHECK_EQ(ab_service_check(client, NAME, &found), -ENOENT);
	CHECK_OK(ab_service_add(server, NAME, object, AB_DUMP_HIGH));
	CHECK_OK(ab_service_check(client, NAME, &found));
	CHECK(ab_object_is_remote(found));
	CHECK_OK(echo_call(found, 4711));
	ab_object_put(found);
	/* Its own process gets the object itself. */
	CHECK_OK(ab_service_check(server, NAME, &found));
	CHECK(found == object);
	ab_object_put(found);
	CHECK_OK(ab_service_list(client, AB_DUMP_ALL, &list, &nr));
	CHECK_EQ(nr, 2);
	CHECK(!strcmp(list[0], "manager") && !strcmp(list[1], NAME));
	ab_strings_free(list, nr);
	if (ab_conn_variant(client) >= AB_ANDROID_9) {
		CHECK_OK(ab_service_list(client, AB_DUMP_HIGH | AB_DUMP_CRITICAL, &list, &nr));
		CHECK_EQ(nr, 1);
		CHECK(!strcmp(list[0], NAME));
		ab_strings_free(list, nr);
	}
	ab_object_put(object);
}

static void test_names_are_added_found_and_listed_in_each_variant(void)
{
	each_variant(names);
}

/* ---- what the bytes are ----------------------------------------------------------------- */

/* A reply's object: 24 bytes, and from Android 11 on 4 more. */
static size_t object_bytes(ab_conn *conn)
{
	return ab_variant_has_status(ab_conn_variant(conn)) ? 28 : 24;
}

static size_t status_bytes(ab_conn *conn)
{
	return ab_variant_has_status(ab_conn_variant(conn)) ? 4 : 0;
}

static void check_status(ab_conn *conn, ab_parcel *out)
{
	if (ab_variant_has_status(ab_conn_variant(conn)))
		CHECK_OK(ab_read_status(out, NULL));
}

static void get_one(ab_conn *conn, enum ab_manager_call call, bool there)
{
	ab_object *object;
	ab_parcel *out;

	CHECK_OK(call_manager(conn, call, request(conn, NAME), &out));
	CHECK_EQ(ab_parcel_size(out), status_bytes(conn) + object_bytes(conn));
	check_status(conn, out);
	CHECK_OK(ab_read_nullable_object(out, &object));
	CHECK_EQ(object != NULL, there);
	CHECK_EQ(ab_parcel_left(out), 0);
	ab_object_put(object);
	ab_parcel_free(out);
}

/* Android 16: non-null, tag 0, non-null, size, object, bool. */
static void get_union(ab_conn *conn, enum ab_manager_call call, bool there)
{
	int32_t word[4];
	ab_object *object;
	ab_parcel *out;
	bool lazy;

	CHECK_OK(call_manager(conn, call, request(conn, NAME), &out));
	CHECK_OK(ab_read_status(out, NULL));
	for (int i = 0; i < 4; i++)
		CHECK_OK(ab_read_int32(out, &word[i]));
	CHECK_EQ(word[0], 1);
	CHECK_EQ(word[1], 0);
	CHECK_EQ(word[2], 1);
	CHECK_EQ(word[3], 4 + 28 + 4);
	CHECK_OK(ab_read_nullable_object(out, &object));
	CHECK_EQ(object != NULL, there);
	CHECK_OK(ab_read_bool(out, &lazy));
	CHECK(!lazy);
	CHECK_EQ(ab_parcel_left(out), 0);
	ab_object_put(object);
	ab_parcel_free(out);
}

static void refused(ab_conn *conn, enum ab_manager_call call, ab_parcel *in, int32_t exception,
		    int error)
{
	struct ab_status status = { 0 };
	ab_parcel *out = NULL;
	int ret = call_manager(conn, call, in, &out);

	if (!ab_variant_has_status(ab_conn_variant(conn))) {
		CHECK_EQ(ret, error);
		return;
	}
	CHECK_OK(ret);
	CHECK_EQ(ab_read_status(out, &status), -EREMOTEIO);
	CHECK_EQ(status.exception, exception);
	CHECK(status.message && *status.message);
	CHECK_EQ(ab_parcel_left(out), 0);
	ab_status_fini(&status);
	ab_parcel_free(out);
}

static ab_parcel *add_request(ab_conn *conn, const char *name, ab_object *object)
{
	ab_parcel *in = request(conn, name);

	ab_write_object(in, object);
	ab_write_bool(in, false);
	if (ab_conn_variant(conn) >= AB_ANDROID_9)
		ab_write_uint32(in, AB_DUMP_DEFAULT);
	return in;
}

static void gets(ab_conn *server, ab_conn *client)
{
	ab_object *object = echo_new(server);

	get_one(client, AB_SM_GET, false);
	get_one(client, AB_SM_CHECK, false);
	CHECK_OK(ab_service_add(server, NAME, object, AB_DUMP_DEFAULT));
	get_one(client, AB_SM_GET, true);
	get_one(client, AB_SM_CHECK, true);
	if (ab_conn_variant(client) == AB_ANDROID_15)
		refused(client, AB_SM_GET2, request(client, NAME), AB_EX_UNSUPPORTED_OPERATION, 0);
	if (ab_conn_variant(client) == AB_ANDROID_16) {
		get_union(client, AB_SM_GET2, true);
		get_union(client, AB_SM_CHECK2, true);
	}
	ab_object_put(object);
}

static void test_get_and_check_answer_as_the_variant_does(void)
{
	each_variant(gets);
}

static void adds(ab_conn *server, ab_conn *client)
{
	ab_object *object = echo_new(server);
	char name[200];
	ab_parcel *out;

	CHECK_OK(call_manager(server, AB_SM_ADD, add_request(server, NAME, object), &out));
	CHECK_EQ(ab_parcel_size(out), 4);
	CHECK_MEM(ab_parcel_data(out), "\0\0\0\0", 4);
	ab_parcel_free(out);
	refused(server, AB_SM_ADD, add_request(server, "", object), AB_EX_ILLEGAL_ARGUMENT,
		-EINVAL);
	refused(server, AB_SM_ADD, add_request(server, "a name", object), AB_EX_ILLEGAL_ARGUMENT,
		-EINVAL);
	refused(server, AB_SM_ADD, add_request(server, "n\xc3\xa4me", object),
		AB_EX_ILLEGAL_ARGUMENT, -EINVAL);
	refused(server, AB_SM_ADD, add_request(server, NAME, NULL), AB_EX_ILLEGAL_ARGUMENT,
		-EINVAL);
	refused(server, AB_SM_ADD, add_request(server, "manager", object), AB_EX_SECURITY, -EPERM);
	memset(name, 'n', sizeof(name));
	name[128] = '\0';
	refused(server, AB_SM_ADD, add_request(server, name, object), AB_EX_ILLEGAL_ARGUMENT,
		-EINVAL);
	name[127] = '\0';
	CHECK_OK(ab_service_add(server, name, object, AB_DUMP_DEFAULT));
	ab_object_put(object);
}

static void test_add_answers_as_the_variant_does_and_refuses_bad_names(void)
{
	each_variant(adds);
}

/* ---- what is declared, and what a phone has --------------------------------------------- */

static void check_bool(ab_conn *conn, const char *name, bool wanted)
{
	ab_parcel *out;
	bool value;

	CHECK_OK(call_manager(conn, AB_SM_IS_DECLARED, request(conn, name), &out));
	CHECK_OK(ab_read_status(out, NULL));
	CHECK_OK(ab_read_bool(out, &value));
	CHECK_EQ(value, wanted);
	CHECK_EQ(ab_parcel_left(out), 0);
	ab_parcel_free(out);
}

static void check_instances(ab_conn *conn, const char *interface, size_t wanted)
{
	char **list;
	ab_parcel *out;
	size_t nr;

	CHECK_OK(call_manager(conn, AB_SM_GET_DECLARED_INSTANCES, request(conn, interface), &out));
	CHECK_OK(ab_read_status(out, NULL));
	CHECK_OK(ab_read_string16_array(out, &list, &nr));
	CHECK_EQ(nr, wanted);
	if (nr == 2)
		CHECK(!strcmp(list[0], "default") && !strcmp(list[1], "other"));
	CHECK_EQ(ab_parcel_left(out), 0);
	ab_strings_free(list, nr);
	ab_parcel_free(out);
}

/* A reply of one word behind the status. */
static void check_word(ab_conn *conn, enum ab_manager_call call, int32_t wanted)
{
	int32_t word;
	ab_parcel *out;

	if (!has(conn, call))
		return;
	CHECK_OK(call_manager(conn, call, request(conn, NAME), &out));
	CHECK_OK(ab_read_status(out, NULL));
	CHECK_OK(ab_read_int32(out, &word));
	CHECK_EQ(word, wanted);
	CHECK_EQ(ab_parcel_left(out), 0);
	ab_parcel_free(out);
}

static void declared(ab_conn *server, ab_conn *client)
{
	if (has(client, AB_SM_IS_DECLARED)) {
		check_bool(client, NAME, true);
		check_bool(client, "org.example.IFoo", false);
		check_bool(client, "org.example.INone/default", false);
	}
	if (has(client, AB_SM_GET_DECLARED_INSTANCES)) {
		check_instances(client, "org.example.IFoo", 2);
		check_instances(client, "org.example.IBar", 1);
		check_instances(client, "org.example.IFo", 0);
	}
	check_word(client, AB_SM_UPDATABLE_VIA_APEX, -1); /* the null string */
	check_word(client, AB_SM_GET_UPDATABLE_NAMES, 0); /* an empty array */
	check_word(client, AB_SM_GET_CONNECTION_INFO, 0); /* a null parcelable */
}

static void test_what_is_declared_is_told_in_each_variant(void)
{
	each_variant(declared);
}

static void infos(ab_conn *server, ab_conn *client)
{
	ab_object *object = echo_new(server);
	struct ab_service_info *list;
	size_t nr;

	CHECK_OK(ab_service_add(server, NAME, object, AB_DUMP_NORMAL));
	if (has(client, AB_SM_GET_DEBUG_INFO)) {
		CHECK_OK(ab_service_infos(client, &list, &nr));
		CHECK_EQ(nr, 2);
		CHECK(!strcmp(list[0].name, "manager") && !strcmp(list[1].name, NAME));
		CHECK_NE(list[0].pid, getpid());
		CHECK_EQ(list[1].pid, getpid());
		ab_service_info_free(list, nr);
	} else {
		CHECK_EQ(ab_service_infos(client, &list, &nr), -EOPNOTSUPP);
	}
	ab_object_put(object);
}

static void test_processes_are_listed_from_android_12_on(void)
{
	each_variant(infos);
}

/* ---- watches ---------------------------------------------------------------------------- */

struct told {
	atomic_int count;
	ab_object *_Atomic object;
};

static void on_added(void *data, const char *name, ab_object *object)
{
	struct told *told = data;

	CHECK(!strcmp(name, NAME));
	told->object = object;
	test_post(&told->count);
}

static void watches(ab_conn *server, ab_conn *client)
{
	ab_object *first = echo_new(server), *second = echo_new(server), *found;
	struct told early = { 0 }, late = { 0 };
	ab_watch *watch, *other;

	if (!has(server, AB_SM_REGISTER_FOR_NOTIFICATIONS)) {
		CHECK_EQ(ab_service_watch(server, NAME, on_added, &early, &watch), -EOPNOTSUPP);
		goto out;
	}
	CHECK_OK(ab_service_watch(server, NAME, on_added, &early, &watch));
	CHECK_OK(ab_service_add(server, "org.example.other", first, AB_DUMP_DEFAULT));
	CHECK_OK(ab_service_add(server, NAME, first, AB_DUMP_DEFAULT));
	test_await(&early.count, 1);
	CHECK(early.object == first);
	/* Who comes when it is there is told at once, and nobody else again. */
	CHECK_OK(ab_service_watch(server, NAME, on_added, &late, &other));
	test_await(&late.count, 1);
	CHECK_OK(ab_service_add(server, NAME, second, AB_DUMP_DEFAULT));
	test_await(&early.count, 2);
	test_await(&late.count, 2);
	CHECK(late.object == second);
	CHECK_OK(ab_service_check(server, NAME, &found));
	CHECK(found == second);
	ab_object_put(found);
	ab_service_unwatch(watch);
	CHECK_OK(ab_service_add(server, NAME, first, AB_DUMP_DEFAULT));
	test_await(&late.count, 3);
	CHECK_EQ(atomic_load(&early.count), 2);
	ab_service_unwatch(other);
out:
	ab_object_put(first);
	ab_object_put(second);
}

static void test_watchers_are_told_from_android_11_on(void)
{
	each_variant(watches);
}

static void test_an_unknown_watch_cannot_be_ended(void)
{
	struct manager m = { 0 };
	ab_object *object;
	ab_parcel *in;
	ab_conn *conn;

	manager_start(&m);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	object = echo_new(conn);
	in = request(conn, NAME);
	ab_write_object(in, object);
	refused(conn, AB_SM_UNREGISTER_FOR_NOTIFICATIONS, in, AB_EX_ILLEGAL_STATE, 0);
	ab_object_put(object);
	ab_close(conn);
	manager_stop(&m);
}

/* ---- what makes no sense ---------------------------------------------------------------- */

static void nonsense(ab_conn *server, ab_conn *client)
{
	ab_object *manager, *found;
	ab_parcel *in;

	CHECK_OK(ab_manager(client, &manager));
	CHECK_EQ(ab_call(manager, 77, request(client, NAME), NULL), AB_UNKNOWN_TRANSACTION);
	in = ab_parcel_new(client);
	ab_write_token(in, "org.example.INotThis");
	CHECK_EQ(ab_call(manager, 1, in, NULL), AB_BAD_TYPE);
	ab_parcel_free(in);
	CHECK_EQ(ab_call(manager, ab_variant_code(ab_conn_variant(client), AB_SM_CHECK),
			 request(client, NULL), NULL), -ENODATA);
	/* It lives. */
	CHECK_EQ(ab_service_check(client, NAME, &found), -ENOENT);
	ab_object_put(manager);
}

static void test_calls_that_make_no_sense_are_refused(void)
{
	each_variant(nonsense);
}

static void test_the_manager_has_a_name_and_a_dump(void)
{
	struct manager m = { 0 };
	char text[4096] = "", *name;
	ab_object *manager;
	ab_conn *conn;
	int fd;

	manager_start(&m);
	conn = connect_as(AB_VARIANT_DEFAULT);
	CHECK_OK(ab_service_check(conn, "manager", &manager));
	CHECK_OK(ab_ping(manager));
	CHECK_OK(ab_interface(manager, &name));
	CHECK(!strcmp(name, AB_MANAGER_INTERFACE));
	free(name);
	fd = memfd_create("dump", MFD_CLOEXEC);
	CHECK_OK(ab_dump(manager, fd, NULL, 0));
	CHECK_OP(pread(fd, text, sizeof(text) - 1, 0), >, 0);
	CHECK(strstr(text, "service manager of "));
	CHECK(strstr(text, "\n  manager: uid 0, pid "));
	CHECK(strstr(text, "\n  checkService: 1\n"));
	close(fd);
	ab_object_put(manager);
	ab_close(conn);
	manager_stop(&m);
}

static const struct test_case cases[] = {
	QUICK(test_names_are_added_found_and_listed_in_each_variant),
	CASE(test_get_and_check_answer_as_the_variant_does),
	CASE(test_add_answers_as_the_variant_does_and_refuses_bad_names),
	CASE(test_what_is_declared_is_told_in_each_variant),
	CASE(test_processes_are_listed_from_android_12_on),
	QUICK(test_watchers_are_told_from_android_11_on),
	CASE(test_an_unknown_watch_cannot_be_ended),
	CASE(test_calls_that_make_no_sense_are_refused),
	QUICK(test_the_manager_has_a_name_and_a_dump),
};

TEST_MAIN(cases)
