// SPDX-License-Identifier: MIT
/* What threads do to each other: loops, the pool, closing, races; over a scripted driver. */
#include "lib_fake.h"

#include <errno.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/objects.h"

#define ROUNDS 2000

static ab_conn *conn;
static struct fake *fake;
static atomic_uint served, destroyed;

static void setup(const struct ab_options *options)
{
	fake = fake_at("a");
	CHECK_EQ(ab_open(&conn, "a", options), 0);
	served = destroyed = 0;
}

static pthread_t start(void *(*fn)(void *data), void *data)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, fn, data), 0);
	return thread;
}

static void join(pthread_t thread)
{
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void on_destroy(void *data)
{
	destroyed++;
}

static int on_call(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	served++;
	return ab_write_int32(out, 1);
}

static const struct ab_class raw = { .transact = on_call, .destroy = on_destroy,
				     .flags = AB_CLASS_RAW };

static struct fake_step *step_call(ab_object *object, uint32_t flags)
{
	struct fake_step *step = fake_step(fake);

	fake_return(step, BR_NOOP, NULL);
	fake_incoming(step, BR_TRANSACTION, object, flags, NULL);
	return step;
}

/* ---- programs with an event loop ------------------------------------------------------- */

static void test_dispatch_serves_without_waiting(void)
{
	ab_object *object;

	setup(NULL);
	object = ab_object_new(conn, &raw, NULL);
	CHECK_EQ(ab_dispatch(conn), 0);
	CHECK_LOG(fake, "w:ENTER\n");
	CHECK_EQ(ab_dispatch(conn), 0);
	CHECK_LOG(fake, "");
	/* The reply's completion is read with it: it must not make the descriptor readable. */
	step_call(object, 0);
	fake_complete(fake);
	CHECK_EQ(ab_dispatch(conn), 0);
	CHECK_LOG(fake, "rw:\nrw:FREE(0) REPLY(4 1)\n");
	step_call(object, TF_ONE_WAY);
	CHECK_EQ(ab_dispatch(conn), 0);
	CHECK_LOG(fake, "rw:\nw:FREE(1)\n");
	CHECK_EQ(served, 2);
	/* A call that comes along with the completion, and another after that. */
	step_call(object, 0);
	fake_return(step_call(object, 0), BR_TRANSACTION_COMPLETE, NULL);
	fake_complete(fake);
	CHECK_EQ(ab_dispatch(conn), 0);
	CHECK_LOG(fake, "rw:\nrw:FREE(2) REPLY(4 1)\nrw:FREE(3) REPLY(4 1)\n");
	fake_step(fake)->ret = -EINTR;
	CHECK_EQ(ab_dispatch(conn), 0);
	fake_step(fake)->ret = -ENOTCONN;
	CHECK_EQ(ab_dispatch(conn), -ENOTCONN);
	CHECK_EQ(served, 4);
	ab_object_put(object);
	ab_close(conn);
}

/* ---- closing ------------------------------------------------------------------------------ */

static int close_it(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t value;

	ab_close(conn);
	CHECK_EQ(fake->closed, 1);
	/* The request is still there, and so is the object. */
	CHECK_EQ(fake->unmapped, 0);
	CHECK_EQ(ab_read_int32(in, &value), 0);
	CHECK_EQ(value, 5);
	CHECK_EQ(destroyed, 0);
	CHECK_EQ(ab_ping(info->object), -EBADF);
	served++;
	return ab_write_int32(out, 1);
}

static const struct ab_class closes = { .transact = close_it, .destroy = on_destroy,
					.flags = AB_CLASS_RAW };

/* Return: the object, held by the driver, too. */
static ab_object *step_close(void)
{
	ab_object *object = ab_object_new(conn, &closes, NULL);
	ab_parcel *in = fake_parcel(5);
	struct fake_step *step = fake_step(fake);

	fake_return_reference(step, BR_ACQUIRE, object);
	fake_incoming(step, BR_TRANSACTION, object, 0, in);
	ab_parcel_free(in);
	return object;
}

static void test_a_call_may_close_the_connection_it_came_from(void)
{
	ab_object *object;

	setup(NULL);
	object = step_close();
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\n");
	CHECK_EQ(served, 1);
	ab_object_put(object);
	CHECK_EQ(destroyed, 1);
	CHECK_EQ(fake->unmapped, 1);
	fake_forget_buffers();
}

static void test_a_dispatched_call_may_close_its_connection(void)
{
	ab_object *object;

	setup(NULL);
	CHECK_EQ(ab_dispatch(conn), 0);
	object = step_close();
	CHECK_EQ(ab_dispatch(conn), 0);
	CHECK_EQ(served, 1);
	ab_object_put(object);
	CHECK_EQ(destroyed, 1);
	fake_forget_buffers();
}

static void *wait_gone(void *data)
{
	while (!fake->unmapped)
		sched_yield();
	return NULL;
}

static void test_a_pool_thread_may_close_its_connection(void)
{
	ab_object *object;

	setup(NULL);
	object = step_close();
	CHECK_EQ(ab_pool_start(conn), 0);
	join(start(wait_gone, NULL));
	CHECK_EQ(served, 1);
	ab_object_put(object);
	CHECK_EQ(destroyed, 1);
	fake_forget_buffers();
}

static void *call_and_hold(void *data)
{
	ab_object *target = data;

	CHECK_EQ(ab_call_oneway(target, 1, NULL), 0);
	served++;
	while (!fake->unmapped)
		sched_yield();
	/* Its part of the connection is left over; it goes when this ends, or before. */
	CHECK_EQ(ab_call_oneway(target, 1, NULL), -EBADF);
	ab_object_put(target);
	return NULL;
}

static void test_a_thread_may_outlive_its_connection(void)
{
	pthread_t thread;

	setup(NULL);
	fake_complete(fake);
	thread = start(call_and_hold, fake_proxy(conn, FAKE_TARGET));
	while (!served)
		sched_yield();
	ab_close(conn);
	join(thread);
	CHECK_EQ(fake->threads_gone, 0);
}

static void *call_once(void *data)
{
	ab_call_oneway(data, 1, NULL);
	served++;
	return NULL;
}

/* The end of a thread that the program waits for in its own way, not by joining. */
static void test_a_thread_may_end_while_its_connection_closes(void)
{
	for (int round = 0; round < 50; round++) {
		ab_object *target;
		pthread_t thread;

		setup(NULL);
		fake->quiet = true;
		fake_complete(fake);
		fake->quiet = false;
		target = fake_proxy(conn, FAKE_TARGET);
		fake->quiet = true;
		thread = start(call_once, target);
		while (!served)
			sched_yield();
		ab_close(conn);
		ab_object_put(target);
		join(thread);
		fake_reset();
	}
}

static void test_many_connections_in_one_thread_leave_nothing(void)
{
	for (int i = 0; i < 3000; i++) {
		ab_object *target;

		setup(NULL);
		target = fake_proxy(conn, FAKE_TARGET);
		ab_close(conn);
		ab_object_put(target);
		fake_reset();
	}
}

static void test_a_child_is_kept_out(void)
{
	ab_object *target, *local;
	ab_parcel *out;
	int status;
	pid_t pid;

	setup(NULL);
	target = fake_proxy(conn, FAKE_TARGET);
	local = ab_object_new(conn, &raw, NULL);
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_call(target, 1, NULL, &out), 0);
	fake->log_len = 0;
	fake->log[0] = '\0';
	pid = fork();
	if (!pid) {
		struct ab_options small = { .map_size = 4096 };
		ab_conn *own;

		CHECK_EQ(ab_call(target, 1, NULL, NULL), -EBADF);
		CHECK_EQ(ab_flush(conn), -EBADF);
		CHECK_EQ(ab_call(local, 1, NULL, NULL), -EBADF);
		CHECK_EQ(ab_death_link(target, NULL, NULL, NULL), -EBADF);
		CHECK(!ab_weak_new(target));
		ab_stop(conn);
		ab_parcel_free(out);
		ab_object_put(target);
		CHECK_LOG(fake, "");
		CHECK_EQ(ab_open(&own, "b", &small), 0);
		ab_close(own);
		ab_close(conn);
		CHECK_EQ(fake->unmapped, 0);
		_exit(0);
	}
	CHECK(pid > 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	ab_parcel_free(out);
	CHECK_EQ(ab_flush(conn), 0);
	ab_object_put(local);
	ab_close(conn);
	ab_object_put(target);
}

/* ---- a proxy that one thread receives and another puts ------------------------------------ */

static ab_object *received;

static int receive(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	CHECK_EQ(ab_read_object(in, &received), 0);
	return 0;
}

static const struct ab_class receives = { .transact = receive, .flags = AB_CLASS_RAW };

static void *loop_thread(void *data)
{
	CHECK_EQ(ab_loop(conn), 0);
	return NULL;
}

/*
 * The thread that received it has said BC_ACQUIRE as far as it knows, and sleeps.
 * The other's BC_RELEASE could be faster than it; so the sleeper is woken and says it.
 */
static void test_a_release_does_not_overtake_the_acquisition(void)
{
	ab_parcel *sent = ab_parcel_new(NULL);
	ab_object *object;
	pthread_t thread;

	setup(NULL);
	object = ab_object_new(conn, &receives, NULL);
	fake_write_handle(sent, BINDER_TYPE_HANDLE, 9);
	fake_incoming(fake_step(fake), BR_TRANSACTION, object, 0, sent);
	thread = start(loop_thread, NULL);
	fake_wait_asleep(fake, 1);
	CHECK_LOG(fake, "rw:ENTER\nrw:ACQUIRE(9) FREE(0) REPLY(0 0 defer)\n");
	ab_object_put(received);
	fake_wait_log(fake, "rw:RELEASE(9)\n");
	ab_stop(conn);
	join(thread);
	ab_object_put(object);
	ab_parcel_free(sent);
	ab_close(conn);
}

/* Once it has been woken for anything, nothing is in the way. */
static void test_a_release_needs_no_waking_later(void)
{
	ab_parcel *sent = ab_parcel_new(NULL);
	ab_object *object;
	pthread_t thread;

	setup(NULL);
	object = ab_object_new(conn, &receives, NULL);
	fake_write_handle(sent, BINDER_TYPE_HANDLE, 9);
	fake_incoming(fake_step(fake), BR_TRANSACTION, object, 0, sent);
	fake_step(fake);
	thread = start(loop_thread, NULL);
	fake_wait_asleep(fake, 1);
	fake->log_len = 0;
	ab_object_put(received);
	CHECK_LOG(fake, "w:RELEASE(9)\n");
	CHECK_EQ(fake->kicks, 0);
	ab_stop(conn);
	join(thread);
	ab_object_put(object);
	ab_parcel_free(sent);
	ab_close(conn);
}

/* ---- races, for the thread sanitizer ------------------------------------------------------- */

static void *get_and_put(void *data)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_HANDLE };
	unsigned int seed = (unsigned int)(uintptr_t)data;

	for (int i = 0; i < ROUNDS; i++) {
		ab_object *object, *again;
		ab_weak *weak;

		seed = seed * 1103515245 + 12345;
		fbo.handle = 1 + (seed >> 16) % 3;
		CHECK_EQ(ab_object_unflatten(conn, &fbo, &object), 0);
		if (seed & 0x1000) {
			weak = ab_weak_new(object);
			CHECK(weak);
			CHECK_EQ(ab_weak_lock(weak, &again), 0);
			CHECK(again == object);
			ab_object_put(again);
			ab_weak_put(weak);
		}
		if (seed & 0x2000)
			CHECK_EQ(ab_flush(conn), 0);
		ab_object_put(object);
	}
	return NULL;
}

/* Whatever happens, what was acquired has been released in the end. */
static void test_proxies_come_and_go_in_many_threads(void)
{
	pthread_t threads[4];

	setup(NULL);
	fake->quiet = true;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = start(get_and_put, (void *)(i + 1));
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		join(threads[i]);
	for (size_t i = 0; i < FAKE_HANDLES; i++) {
		CHECK_EQ(fake->strong[i], 0);
		CHECK_EQ(fake->weak[i], 0);
	}
	CHECK_EQ(conn->nr_proxies, 0);
	ab_close(conn);
}

static atomic_uint fired, unlinked;

static void on_death(void *data, ab_object *object)
{
	fired++;
}

static void *link_and_unlink(void *data)
{
	for (int i = 0; i < ROUNDS; i++) {
		ab_death *link;
		int ret = ab_death_link(data, on_death, NULL, &link);

		CHECK(!ret || ret == -EPIPE);
		if (ret)
			break;
		served++;
		if (!ab_death_unlink(link))
			unlinked++;
	}
	return NULL;
}

/* Each link is either called or unlinked. */
static void test_a_death_amid_linking_is_told_once(void)
{
	for (int round = 0; round < 20; round++) {
		struct ab_thread *self;
		pthread_t threads[3];
		ab_object *object;

		setup(NULL);
		object = fake_proxy(conn, 9);
		fake->quiet = true;
		fired = unlinked = 0;
		for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
			threads[i] = start(link_and_unlink, object);
		CHECK_EQ(ab_thread_self(conn, &self), 0);
		self->depth++;
		while (served < 100)
			sched_yield();
		for (int i = 0; !ab_object_is_dead(object) && i < 100 * ROUNDS; i++) {
			uint64_t cookie;

			pthread_mutex_lock(&fake->lock);
			cookie = fake->cookies[9];
			pthread_mutex_unlock(&fake->lock);
			ab_death_fire(self, cookie);
		}
		ab_thread_leave(self);
		for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
			join(threads[i]);
		CHECK_EQ(fired + unlinked, served);
		ab_object_put(object);
		CHECK_EQ(fake->strong[9], 0);
		ab_close(conn);
		fake_reset();
	}
}

static const struct fake_case tests[] = {
	FAKE_CASE(test_dispatch_serves_without_waiting),
	FAKE_CASE(test_a_call_may_close_the_connection_it_came_from),
	FAKE_CASE(test_a_dispatched_call_may_close_its_connection),
	FAKE_CASE(test_a_pool_thread_may_close_its_connection),
	FAKE_CASE(test_a_thread_may_outlive_its_connection),
	FAKE_CASE(test_a_thread_may_end_while_its_connection_closes),
	FAKE_CASE(test_many_connections_in_one_thread_leave_nothing),
	FAKE_CASE(test_a_child_is_kept_out),
	FAKE_CASE(test_a_release_does_not_overtake_the_acquisition),
	FAKE_CASE(test_a_release_needs_no_waking_later),
	FAKE_CASE(test_proxies_come_and_go_in_many_threads),
	FAKE_CASE(test_a_death_amid_linking_is_told_once),
};

FAKE_MAIN(tests)
