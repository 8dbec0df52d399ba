// SPDX-License-Identifier: MIT
/*
 * Each allocation of the library fails once. Whatever it was for: nothing crashes or leaks, all
 * buffers and references go back to the driver, and who calls is answered.
 */
#include "lib_wrap.h"

#include <errno.h>

#include "lib/objects.h"

static ab_conn *conn;
static struct fake *fake;
static unsigned int served, destroyed, deaths;

/* ---- what is done ------------------------------------------------------------------------ */

static void on_destroy(void *data)
{
	destroyed++;
}

/* Answers with an object of ours, and with the one that came along. */
static int on_call(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_object *object;
	int ret;

	served++;
	ret = ab_read_object(in, &object);
	if (ret)
		return ret;
	ab_write_string16(out, "an answer");
	ab_write_object(out, info->object);
	ab_write_object(out, object);
	ab_object_put(object);
	return 0;
}

static const struct ab_class raw = { .transact = on_call, .destroy = on_destroy,
				     .flags = AB_CLASS_RAW };

static void on_death(void *data, ab_object *object)
{
	deaths++;
}

static void stop(void)
{
	ab_stop(conn);
}

static void with_weak(ab_object *object)
{
	ab_weak *weak = ab_weak_new(object);
	ab_object *again;

	if (weak && !ab_weak_lock(weak, &again))
		ab_object_put(again);
	ab_weak_put(weak);
}

static void with_link(ab_object *object)
{
	ab_death *link;

	if (ab_death_link(object, on_death, NULL, &link))
		CHECK(!link);
	else
		CHECK_EQ(ab_death_unlink(link), 0);
	ab_death_link(object, on_death, NULL, NULL);
}

static void with_call(ab_object *object)
{
	ab_parcel *in = ab_parcel_new(conn), *out = NULL;
	ab_object *got;
	int ret;

	ab_write_string16(in, "a question");
	ab_write_object(in, object);
	ret = ab_call(object, 7, in, &out);
	CHECK(!ret == !!out);
	if (!ab_read_object(out, &got))
		ab_object_put(got);
	ab_parcel_free(out);
	ab_parcel_free(in);
}

static void with_local(void)
{
	ab_object *object = ab_object_new(conn, &raw, NULL), *got;
	ab_parcel *in, *out = NULL;
	int ret;

	if (!object)
		return;
	in = ab_parcel_new(conn);
	ab_write_object(in, object);
	ret = ab_call(object, 1, in, &out);
	CHECK(!ret == !!out);
	if (!ret && !ab_read_object(out, &got))
		ab_object_put(got);
	ab_parcel_free(out);
	ab_parcel_free(in);
	ab_object_put(object);
}

/* ---- the script ---------------------------------------------------------------------------- */

static void script(ab_object *object)
{
	ab_parcel *sent = ab_parcel_new(NULL);
	struct fake_step *step;

	fake_write_handle(sent, BINDER_TYPE_HANDLE, 11);
	fake_step_reply(fake, sent);
	step = fake_step(fake);
	fake_return_reference(step, BR_INCREFS, object);
	fake_return_reference(step, BR_ACQUIRE, object);
	fake_incoming(step, BR_TRANSACTION, object, 0, sent);
	fake_complete(fake);
	step = fake_step(fake);
	fake_return_reference(step, BR_RELEASE, object);
	fake_return_reference(step, BR_DECREFS, object);
	fake_incoming(step, BR_TRANSACTION, object, TF_ONE_WAY, sent);
	fake_step(fake)->hook = stop;
	ab_parcel_free(sent);
}

static void unscript(void)
{
	fake_forget_buffers();
	fake->next_step = fake->nr_steps = 0;
	memset(fake->steps, 0, sizeof(fake->steps));
}

static void use(ab_object *object)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_HANDLE, .handle = 9 };
	ab_object *proxy = NULL;
	char *replies;
	int ret;

	wrap_armed = true;
	with_local();
	if (!ab_object_unflatten(conn, &fbo, &proxy)) {
		with_weak(proxy);
		with_link(proxy);
		with_call(proxy);
	}
	ab_object_put(proxy);
	ret = ab_loop(conn);
	ab_flush(conn);
	wrap_armed = false;
	if (ret == -ENOMEM)
		return; /* there was no thread for it; then nothing was served */
	CHECK_EQ(ret, 0);
	replies = strstr(fake->log, "REPLY(");
	CHECK(replies && !strstr(replies + 1, "REPLY("));
}

/* Return: whether everything was done without a failure. */
static bool run(void)
{
	ab_object *object;

	wrap_allocations = served = destroyed = deaths = 0;
	fake = fake_at("a");
	wrap_armed = true;
	if (ab_open(&conn, "a", NULL)) {
		wrap_armed = false;
		CHECK(!conn);
		return false;
	}
	object = ab_object_new(conn, &raw, NULL);
	wrap_armed = false;
	if (object) {
		script(object);
		use(object);
	}
	ab_object_put(object);
	ab_close(conn);
	CHECK(destroyed >= !!object);
	for (size_t i = 0; i < FAKE_HANDLES; i++) {
		if (fake->next_step != fake->nr_steps)
			break; /* it was not heard out */
		/* The link without a handle holds its own until the end. */
		CHECK(fake->strong[i] == 0 || i == 9);
		CHECK_EQ(fake->weak[i], 0);
	}
	unscript();
	return wrap_allocations < wrap_fail_at;
}

static void test_every_allocation_may_fail(void)
{
	bool all = false;

	for (wrap_fail_at = 1; !all; wrap_fail_at++) {
		all = run();
		fake_reset();
	}
	printf("%u allocations\n", wrap_fail_at - 2);
	CHECK(wrap_fail_at > 20);
	CHECK_EQ(served, 3);
}

/* ---- a thread that cannot be made ---------------------------------------------------------- */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *data),
			  void *data);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *data),
			  void *data);

static unsigned int threads_fail;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *data),
			  void *data)
{
	if (threads_fail) {
		threads_fail--;
		return EAGAIN;
	}
	return __real_pthread_create(thread, attr, fn, data);
}

static void registered_and_stop(void)
{
	fake_wait_registered(fake, 1);
	stop();
}

/* The driver asks once only. */
static void test_a_thread_that_the_driver_wants_is_made_later(void)
{
	fake = fake_at("a");
	CHECK_EQ(ab_open(&conn, "a", &(struct ab_options){ .max_threads = 1 }), 0);
	threads_fail = 1;
	CHECK_EQ(ab_pool_start(conn), -EAGAIN);
	threads_fail = 2;
	fake_return(fake_step(fake), BR_SPAWN_LOOPER, NULL);
	fake_return(fake_step(fake), BR_NOOP, NULL);
	fake_return(fake_step(fake), BR_NOOP, NULL);
	fake_step(fake)->hook = registered_and_stop;
	CHECK_EQ(ab_loop(conn), 0);
	ab_close(conn);
	CHECK_EQ(threads_fail, 0);
	CHECK_EQ(fake->registered, 1);
}

static const struct fake_case tests[] = {
	FAKE_CASE(test_a_thread_that_the_driver_wants_is_made_later),
	FAKE_CASE(test_every_allocation_may_fail),
};

FAKE_MAIN(tests)
