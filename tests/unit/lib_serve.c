// SPDX-License-Identifier: MIT
/* Serving calls, nested ones, references and pool threads, over a scripted driver. */
#include "lib_fake.h"

#include <errno.h>

#include "lib/objects.h"

static ab_conn *conn;
static struct fake *fake;
static unsigned int served;

static void setup(const struct ab_options *options)
{
	fake = fake_at("a");
	CHECK_EQ(ab_open(&conn, "a", options), 0);
	served = 0;
}

/* An object whose calls are all @transact's. */
static ab_object *object_new(ab_transact_fn *transact, void *data)
{
	static struct ab_class classes[64];
	static size_t nr;
	struct ab_class *cls = &classes[nr++];
	ab_object *object;

	CHECK(nr < ARRAY_SIZE(classes));
	*cls = (struct ab_class){ .transact = transact, .flags = AB_CLASS_RAW };
	object = ab_object_new(conn, cls, data);
	CHECK(object);
	return object;
}

static void add_incoming(struct fake_step *step, uint32_t cmd, ab_object *object, uint32_t flags,
			 int32_t value)
{
	ab_parcel *parcel = fake_parcel(value);

	fake_incoming(step, cmd, object, flags, parcel);
	ab_parcel_free(parcel);
}

static struct fake_step *step_incoming(uint32_t cmd, ab_object *object, uint32_t flags,
				       int32_t value)
{
	struct fake_step *step = fake_step(fake);

	fake_return(step, BR_NOOP, NULL);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	add_incoming(step, cmd, object, flags, value);
	return step;
}

static void stop(void)
{
	ab_stop(conn);
}

static struct fake_step *step_stop(void)
{
	struct fake_step *step = fake_step(fake);

	step->hook = stop;
	return step;
}

/* Answers with one more. */
static int increment(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t value;

	CHECK_EQ(info->code, 7);
	CHECK_EQ(info->pid, 77);
	CHECK_EQ(info->euid, 1077);
	CHECK(info->object && !info->security_context);
	CHECK_EQ(ab_read_int32(in, &value), 0);
	served++;
	if (value < 0)
		return value;
	return ab_write_int32(out, value + 1);
}

static void test_a_served_call_is_one_ioctl(void)
{
	ab_object *object;
	uint64_t before;

	setup(NULL);
	object = object_new(increment, NULL);
	before = ab_ioctls(conn);
	step_incoming(BR_TRANSACTION, object, 0, 1);
	step_incoming(BR_TRANSACTION, object, TF_ONE_WAY, 2);
	step_incoming(BR_TRANSACTION, object, 0, -EDOM);
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\n"
			"rw:FREE(0) REPLY(4 2 defer)\n"
			"rw:FREE(1)\n"
			"rw:FREE(2) REPLY(status -33 defer)\n"
			"w:EXIT\n");
	CHECK_EQ(ab_ioctls(conn) - before, 5);
	CHECK_EQ(served, 3);
	ab_object_put(object);
	ab_close(conn);
}

static void test_no_defer_when_not_wanted(void)
{
	ab_object *object;

	setup(&(struct ab_options){ .flags = AB_OPEN_NO_DEFER });
	object = object_new(increment, NULL);
	step_incoming(BR_TRANSACTION, object, 0, 1);
	step_incoming(BR_TRANSACTION, object, 0, -EDOM);
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(0) REPLY(4 2)\nrw:FREE(1) REPLY(status -33)\nw:EXIT\n");
	ab_object_put(object);
	ab_close(conn);
}

/* Takes an object, answers with it and itself. */
static int give_objects(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_object *object;
	int32_t value;

	CHECK_EQ(ab_read_int32(in, &value), 0);
	CHECK_EQ(ab_read_object(in, &object), 0);
	CHECK(ab_object_is_remote(object));
	CHECK_EQ(ab_object_handle(object), 9);
	ab_write_int32(out, value);
	ab_write_object(out, info->object);
	ab_write_object(out, object);
	ab_object_put(object);
	return 0;
}

/* It is held until the driver has taken what it wants of the reply's objects. */
static void test_a_reply_with_objects_is_not_deferred(void)
{
	ab_parcel *sent = fake_parcel(1);
	struct fake_step *step;
	ab_object *object;

	setup(NULL);
	object = object_new(give_objects, NULL);
	fake_write_handle(sent, BINDER_TYPE_HANDLE, 9);
	step = fake_step(fake);
	fake_incoming(step, BR_TRANSACTION, object, 0, sent);
	fake_step(fake); /* of which the reply's completion is not part */
	fake_complete(fake);
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\n"
			"rw:ACQUIRE(9) FREE(0) REPLY(60 1 2 objects)\n"
			"rw:\n"
			"rw:RELEASE(9)\n"
			"w:EXIT\n");
	ab_object_put(object);
	ab_parcel_free(sent);
	ab_close(conn);
}

/* What it wrote could not be written: the caller must hear of it. */
static int write_nonsense(void *data, const struct ab_call_info *info, ab_parcel *in,
			  ab_parcel *out)
{
	ab_write_string16(out, "\xc0\x80");
	ab_write_int32(out, 1);
	return 0;
}

static void test_a_reply_that_failed_is_a_status(void)
{
	ab_object *object;

	setup(NULL);
	object = object_new(write_nonsense, NULL);
	step_incoming(BR_TRANSACTION, object, 0, 1);
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(0) REPLY(status -84 defer)\nw:EXIT\n");
	ab_object_put(object);
	ab_close(conn);
}

/*
 * Writes its number, calls out, and is called while it waits until the number
 * is 0. Its reply must not have been touched meanwhile.
 */
static int nest(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_parcel *request, *reply;
	int32_t value, got;

	CHECK_EQ(ab_read_int32(in, &value), 0);
	ab_write_int32(out, 100 + value);
	for (int i = 0; i < 200; i++)
		ab_write_int32(out, value);
	if (!value)
		return 0;
	request = fake_parcel(value);
	CHECK_EQ(ab_call(data, 7, request, &reply), 0);
	CHECK_EQ(ab_read_int32(reply, &got), 0);
	CHECK_EQ(got, value * 1000);
	for (size_t i = 1; i <= 200; i++)
		CHECK_EQ(((int32_t *)(void *)out->data)[i], value);
	ab_parcel_free(reply);
	ab_parcel_free(request);
	return 0;
}

static void test_a_nested_call_is_served_while_waiting(void)
{
	ab_object *object, *target;

	setup(NULL);
	target = fake_proxy(conn, FAKE_TARGET);
	object = object_new(nest, target);
	for (int round = 0; round < 2; round++) {
		step_incoming(BR_TRANSACTION, object, 0, 2);
		step_incoming(BR_TRANSACTION, object, 0, 1);
		step_incoming(BR_TRANSACTION, object, 0, 0);
		step_incoming(BR_REPLY, NULL, 0, 1000);
		step_incoming(BR_REPLY, NULL, 0, 2000);
	}
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\n"
			"rw:CALL(5 7: 4 2 fds)\n"
			"rw:CALL(5 7: 4 1 fds)\n"
			"rw:FREE(2) REPLY(804 100 defer)\n"
			"rw:FREE(3) FREE(1) REPLY(804 101 defer)\n"
			"rw:FREE(4) FREE(0) REPLY(804 102 defer)\n"
			"rw:CALL(5 7: 4 2 fds)\n"
			"rw:CALL(5 7: 4 1 fds)\n"
			"rw:FREE(7) REPLY(804 100 defer)\n"
			"rw:FREE(8) FREE(6) REPLY(804 101 defer)\n"
			"rw:FREE(9) FREE(5) REPLY(804 102 defer)\n"
			"w:EXIT\n");
	ab_object_put(object);
	ab_object_put(target);
	ab_close(conn);
}

static void test_a_short_write_is_continued(void)
{
	struct fake_step *step;
	ab_object *object;

	setup(NULL);
	object = object_new(increment, NULL);
	step_incoming(BR_TRANSACTION, object, 0, 1);
	step = fake_step(fake); /* takes nothing */
	step->take = 0;
	step = fake_step(fake); /* takes the first */
	step->take = 1;
	fake_return(step, BR_NOOP, NULL);
	/* And with a new call in the same ioctl, whose reply needs memory of its own. */
	step_incoming(BR_TRANSACTION, object, 0, 10);
	step_incoming(BR_TRANSACTION, object, 0, 20)->take = 1;
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\n"
			"rw:~FREE(-1) ~REPLY(4 2 defer)\n"
			"rw:FREE(0) ~REPLY(4 2 defer)\n"
			"rw:REPLY(4 2 defer)\n"
			"rw:FREE(1) ~REPLY(4 11 defer)\n"
			"w:REPLY(4 11 defer)\n"
			"rw:FREE(2) REPLY(4 21 defer)\n"
			"w:EXIT\n");
	ab_object_put(object);
	ab_close(conn);
}

static void test_references_are_answered_and_held(void)
{
	struct fake_step *step;
	ab_object *object;

	setup(NULL);
	object = object_new(increment, NULL);
	step = fake_step(fake);
	fake_return_reference(step, BR_INCREFS, object);
	fake_return_reference(step, BR_ACQUIRE, object);
	add_incoming(step, BR_TRANSACTION, object, 0, 1);
	step_incoming(BR_TRANSACTION, object, 0, 2);
	step = fake_step(fake);
	fake_return_reference(step, BR_RELEASE, object);
	fake_return_reference(step, BR_DECREFS, object);
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\n"
			"rw:INCREFS_DONE ACQUIRE_DONE FREE(0) REPLY(4 2 defer)\n"
			"rw:FREE(1) REPLY(4 3 defer)\n"
			"rw:\n"
			"w:EXIT\n");
	CHECK_EQ(atomic_load(&object->strong), 1);
	ab_object_put(object);
	ab_object_put(NULL);
	ab_close(conn);
}

/* Its own last reference goes in its own call. */
static int drop_self(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_object_put(*(ab_object **)data);
	return increment(NULL, info, in, out);
}

static void test_an_object_lives_while_the_driver_holds_it(void)
{
	struct fake_step *step;
	ab_object *object;

	setup(NULL);
	object = object_new(drop_self, &object);
	step = fake_step(fake);
	fake_return_reference(step, BR_ACQUIRE, object);
	add_incoming(step, BR_TRANSACTION, object, 0, 1);
	step = fake_step(fake);
	fake_return_reference(step, BR_RELEASE, object);
	step_stop();
	CHECK_EQ(ab_loop(conn), 0); /* the leak checker sees that it is gone */
	CHECK_EQ(served, 1);
	ab_close(conn);
}

static void test_the_manager_is_held_until_close(void)
{
	ab_object *object, *manager;

	setup(NULL);
	object = object_new(increment, NULL);
	fake->manager_error = -EBUSY;
	CHECK_EQ(ab_become_manager(conn, object), -EBUSY);
	CHECK_EQ(atomic_load(&object->strong), 1);
	fake->manager_error = 0;
	CHECK_EQ(ab_become_manager(conn, object), 0);
	/* To itself it is no proxy: the driver lets nobody call himself. */
	CHECK_EQ(ab_manager(conn, &manager), 0);
	CHECK(manager == object);
	ab_object_put(manager);
	ab_object_put(object);
	step_incoming(BR_TRANSACTION, object, 0, 1);
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_EQ(served, 1);
	ab_close(conn);
}

static void test_a_loop_outlives_signals_and_failed_replies(void)
{
	struct fake_step *step;
	ab_object *object;

	setup(NULL);
	object = object_new(increment, NULL);
	fake_step(fake)->ret = -EINTR;
	step = fake_step(fake);
	add_incoming(step, BR_TRANSACTION, object, 0, 1);
	step = fake_step(fake);
	step->ret = -EINTR; /* with the reply taken, which must not go twice */
	step = fake_step(fake);
	fake_return(step, BR_FAILED_REPLY, NULL);
	add_incoming(step, BR_TRANSACTION, object, 0, 2);
	fake_return(fake_step(fake), BR_DEAD_REPLY, NULL);
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\nrw:\nrw:FREE(0) REPLY(4 2 defer)\nrw:\n"
			"rw:FREE(1) REPLY(4 3 defer)\nrw:\nw:EXIT\n");
	ab_object_put(object);
	ab_close(conn);
	CHECK_EQ(served, 2);
}

static void test_a_loop_ends_with_the_connection(void)
{
	setup(NULL);
	fake_step(fake)->ret = -ENOTCONN;
	CHECK_EQ(ab_loop(conn), -ENOTCONN);
	ab_close(conn);
}

static void test_what_was_read_before_the_stop_is_served(void)
{
	ab_object *object;

	setup(NULL);
	object = object_new(increment, NULL);
	step_incoming(BR_TRANSACTION, object, 0, 1)->hook = stop;
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_EQ(served, 1);
	CHECK_LOG(fake, "rw:ENTER\nw:FREE(0) REPLY(4 2 defer) EXIT\n");
	ab_object_put(object);
	ab_close(conn);
}

/* ---- pool threads --------------------------------------------------------------- */

static void *loop_thread(void *data)
{
	CHECK_EQ(ab_loop(conn), 0);
	return NULL;
}

static void test_threads_start_when_asked_until_stop(void)
{
	struct fake_step *step;
	pthread_t loop;

	setup(&(struct ab_options){ .max_threads = 2 });
	step = fake_step(fake);
	fake_return(step, BR_SPAWN_LOOPER, NULL);
	fake_return(step, BR_SPAWN_LOOPER, NULL);
	CHECK_EQ(pthread_create(&loop, NULL, loop_thread, NULL), 0);
	fake_wait_registered(fake, 2);
	ab_stop(conn);
	CHECK_EQ(pthread_join(loop, NULL), 0);
	ab_close(conn);
	CHECK_EQ(fake->registered, 2);
	CHECK_EQ(fake->exited, 3);
	CHECK_EQ(fake->threads_gone, 3);
}

static void test_no_thread_starts_after_stop(void)
{
	setup(&(struct ab_options){ .max_threads = 2 });
	fake_return(step_stop(), BR_SPAWN_LOOPER, NULL);
	CHECK_EQ(ab_loop(conn), 0);
	ab_close(conn);
	CHECK_EQ(fake->registered, 0);
	CHECK_EQ(fake->exited, 1);
}

static void test_close_alone_ends_the_pool(void)
{
	struct fake_step *step;
	ab_object *target;

	setup(&(struct ab_options){ .max_threads = 20 });
	target = fake_proxy(conn, FAKE_TARGET);
	step = fake_step(fake);
	for (int i = 0; i < 20; i++)
		fake_return(step, BR_SPAWN_LOOPER, NULL);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	/* A thread that is no looper may be asked too. */
	CHECK_EQ(ab_call_oneway(target, 7, NULL), 0);
	fake_wait_registered(fake, 20);
	ab_close(conn);
	CHECK_EQ(fake->exited, 20);
	CHECK_EQ(fake->threads_gone, 20);
	ab_object_put(target);
}

static int call_other(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_parcel *request = fake_parcel(3), *reply;
	int32_t value;

	CHECK_EQ(ab_call(data, 8, request, &reply), 0);
	CHECK_EQ(ab_read_int32(reply, &value), 0);
	ab_parcel_free(reply);
	ab_parcel_free(request);
	CHECK_EQ(ab_flush(ab_object_conn(data)), 0);
	return ab_write_int32(out, value);
}

static void test_a_handler_may_call_on_another_connection(void)
{
	struct fake *other_fake = fake_at("b");
	ab_parcel *reply = fake_parcel(60);
	ab_conn *other;
	ab_object *object, *target;

	setup(NULL);
	CHECK_EQ(ab_open(&other, "b", NULL), 0);
	target = fake_proxy(other, 6);
	object = object_new(call_other, target);
	step_incoming(BR_TRANSACTION, object, 0, 1);
	fake_incoming(fake_step(other_fake), BR_REPLY, NULL, 0, reply);
	step_stop();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(0) REPLY(4 60 defer)\nw:EXIT\n");
	CHECK_LOG(other_fake, "rw:CALL(6 8: 4 3 fds)\nw:FREE(1)\n");
	ab_object_put(object);
	ab_object_put(target);
	ab_parcel_free(reply);
	ab_close(other);
	ab_close(conn);
}

static const struct fake_case tests[] = {
	FAKE_CASE(test_a_served_call_is_one_ioctl),
	FAKE_CASE(test_no_defer_when_not_wanted),
	FAKE_CASE(test_a_reply_with_objects_is_not_deferred),
	FAKE_CASE(test_a_reply_that_failed_is_a_status),
	FAKE_CASE(test_a_nested_call_is_served_while_waiting),
	FAKE_CASE(test_a_short_write_is_continued),
	FAKE_CASE(test_references_are_answered_and_held),
	FAKE_CASE(test_an_object_lives_while_the_driver_holds_it),
	FAKE_CASE(test_the_manager_is_held_until_close),
	FAKE_CASE(test_a_loop_outlives_signals_and_failed_replies),
	FAKE_CASE(test_a_loop_ends_with_the_connection),
	FAKE_CASE(test_what_was_read_before_the_stop_is_served),
	FAKE_CASE(test_threads_start_when_asked_until_stop),
	FAKE_CASE(test_no_thread_starts_after_stop),
	FAKE_CASE(test_close_alone_ends_the_pool),
	FAKE_CASE(test_a_handler_may_call_on_another_connection),
};

FAKE_MAIN(tests)
