// SPDX-License-Identifier: MIT
/* Objects of ours, proxies, weak references, the context manager; over a scripted driver. */
#include "lib_fake.h"

#include <errno.h>
#include <unistd.h>

#include "lib/objects.h"

static ab_conn *conn;
static struct fake *fake;
static ab_object *target; /* handle 5 */
static unsigned int destroyed, called;

static void setup(void)
{
	fake = fake_at("a");
	CHECK_EQ(ab_open(&conn, "a", NULL), 0);
	target = fake_proxy(conn, FAKE_TARGET);
	destroyed = called = 0;
}

static void teardown(void)
{
	ab_close(conn);
	ab_object_put(target);
}

static void on_destroy(void *data)
{
	CHECK(data == &destroyed);
	destroyed++;
}

static int on_call(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t value;

	CHECK(data == &destroyed);
	called++;
	if (ab_read_int32(in, &value))
		return -ENODATA;
	return value < 0 ? value : ab_write_int32(out, value + 1);
}

static const struct ab_class raw = { .transact = on_call, .destroy = on_destroy,
				     .flags = AB_CLASS_RAW };

static ab_object *local_new(void)
{
	ab_object *object = ab_object_new(conn, &raw, &destroyed);

	CHECK(object);
	return object;
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

/* ---- objects of ours --------------------------------------------------------------- */

static void test_an_object_of_ours_is_destroyed_with_its_last_reference(void)
{
	ab_object *object, *again;
	ab_weak *weak;

	setup();
	object = local_new();
	CHECK(!ab_object_is_remote(object) && !ab_object_is_dead(object));
	CHECK(ab_object_conn(object) == conn);
	CHECK(ab_object_data(object) == &destroyed && ab_object_class(object) == &raw);
	CHECK_EQ(ab_object_handle(object), 0);
	weak = ab_weak_new(object);
	CHECK(ab_object_get(object) == object);
	ab_object_put(object);
	CHECK_EQ(destroyed, 0);
	CHECK_EQ(ab_weak_lock(weak, &again), 0);
	CHECK(again == object);
	ab_object_put(again);
	ab_object_put(object);
	CHECK_EQ(destroyed, 1);
	CHECK_EQ(ab_weak_lock(weak, &again), -ESTALE);
	CHECK(!again);
	ab_weak_put(weak);
	ab_weak_put(NULL);
	ab_object_put(NULL);
	CHECK_LOG(fake, "");
	teardown();
}

static void test_what_the_driver_holds_goes_with_the_connection(void)
{
	ab_object *object, *other;
	struct fake_step *step;

	setup();
	object = local_new();
	other = local_new();
	step = fake_step(fake);
	fake_return_reference(step, BR_INCREFS, object);
	fake_return_reference(step, BR_ACQUIRE, object);
	fake_return_reference(step, BR_INCREFS, other);
	fake_return_reference(step, BR_ACQUIRE, other);
	step = step_stop();
	fake_return_reference(step, BR_RELEASE, other);
	fake_return_reference(step, BR_DECREFS, other);
	CHECK_EQ(ab_loop(conn), 0);
	ab_object_put(other);
	CHECK_EQ(destroyed, 1);
	ab_object_put(object);
	CHECK_EQ(destroyed, 1);
	teardown();
	CHECK_EQ(destroyed, 2);
}

static ab_object *the_object;

static void put_the_object(void)
{
	ab_object_put(the_object);
}

static void call_on_destroy(void *data)
{
	CHECK_EQ(ab_ping(target), 0);
	destroyed++;
}

static const struct ab_class calls = { .destroy = call_on_destroy, .flags = AB_CLASS_RAW };

/* Answers with a new object, which only the reply holds. */
static int give_new(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_object *object = ab_object_new(conn, &calls, NULL);
	int ret = ab_write_object(out, object);

	ab_object_put(object);
	return ret;
}

/*
 * A nested call is answered with it, and the driver is done with it before the outer
 * call is: a call made then would be refused, or take the outer one's reply.
 */
static void test_an_object_is_destroyed_where_calls_can_be_made(void)
{
	static const struct ab_class gives = { .transact = give_new, .flags = AB_CLASS_RAW };
	ab_object *object;
	ab_parcel *reply = fake_parcel(4711), *out;
	struct fake_step *step;
	int32_t value;

	setup();
	object = ab_object_new(conn, &gives, NULL);
	step = fake_step(fake);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	fake_incoming(step, BR_TRANSACTION, object, 0, NULL);
	step = fake_step(fake);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	fake_incoming(step, BR_REPLY, NULL, 0, reply);
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_call(target, 7, NULL, &out), 0);
	CHECK_EQ(ab_read_int32(out, &value), 0);
	CHECK_EQ(value, 4711);
	CHECK_EQ(destroyed, 1);
	ab_parcel_free(out);
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 0 0 fds)\n"
			"rw:FREE(0) REPLY(28 1935813253 1 objects)\n"
			"rw:PING(5 fds)\n"
			"w:FREE(2) FREE(1)\n");
	ab_parcel_free(reply);
	ab_object_put(object);
	teardown();
}

/* In a loop: after what came with it has been served, and answered. */
static void test_an_object_is_destroyed_after_what_came_with_it(void)
{
	ab_object *object, *other;
	struct fake_step *step;
	ab_parcel *in;

	setup();
	in = fake_parcel(1);
	object = ab_object_new(conn, &calls, NULL);
	other = local_new();
	step = fake_step(fake);
	fake_return_reference(step, BR_ACQUIRE, object);
	step = fake_step(fake);
	fake_return_reference(step, BR_RELEASE, object);
	fake_incoming(step, BR_TRANSACTION, other, 0, in);
	fake_step_reply(fake, NULL);
	step_stop();
	/* The driver's is the last reference. */
	step = &fake->steps[0];
	the_object = object;
	step[1].hook = put_the_object;
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\n"
			"rw:ACQUIRE_DONE\n"
			"w:FREE(0) REPLY(4 2 defer)\n"
			"rw:PING(5 fds)\n"
			"rw:FREE(1)\n"
			"w:EXIT\n");
	CHECK_EQ(destroyed, 1);
	ab_parcel_free(in);
	ab_object_put(other);
	teardown();
}

/* Somebody with a weak reference wants a strong one after all. */
static void test_an_object_that_is_gone_says_so(void)
{
	struct fake_step *step;
	ab_object *object;
	ab_parcel *in;

	setup();
	in = fake_parcel(1);
	object = local_new();
	step = fake_step(fake);
	fake_return_reference(step, BR_INCREFS, object);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(ab_call_oneway(target, 1, NULL), 0);
	ab_object_put(object);
	CHECK_EQ(destroyed, 1);
	step = fake_step(fake);
	fake_return_reference(step, BR_ACQUIRE, object);
	fake_incoming(step, BR_TRANSACTION, object, 0, in);
	step = step_stop();
	fake_return_reference(step, BR_RELEASE, object);
	fake_return_reference(step, BR_DECREFS, object);
	fake->log_len = 0;
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:ENTER\n"
			"rw:ACQUIRE_DONE FREE(0) REPLY(status -32 defer)\n"
			"w:EXIT\n");
	CHECK_EQ(called, 0);
	ab_parcel_free(in);
	teardown();
}

static void test_an_object_says_what_it_takes(void)
{
	static const struct ab_class no_fds = { .flags = AB_CLASS_NO_FDS | AB_CLASS_RAW };
	static const struct ab_class secctx = { .flags = AB_CLASS_SECURITY_CONTEXT };
	static const struct {
		const struct ab_class *cls;
		uint32_t flags;
	} cases[] = { { &raw, 0x100 }, { &no_fds, 0 }, { &secctx, 0x1100 } };

	setup();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ab_object *object = ab_object_new(conn, cases[i].cls, &destroyed);
		struct flat_binder_object fbo;

		CHECK_EQ(ab_object_flatten(object, i == 1, &fbo), 0);
		CHECK_EQ(fbo.hdr.type, i == 1 ? BINDER_TYPE_WEAK_BINDER : BINDER_TYPE_BINDER);
		CHECK_EQ(fbo.flags & ~0xffu, cases[i].flags);
		CHECK_EQ(fbo.binder, (uintptr_t)object);
		CHECK_EQ(fbo.cookie, (uintptr_t)object);
		ab_object_put(object);
	}
	teardown();
}

static void test_our_own_object_comes_back_as_itself(void)
{
	ab_object *object, *back, *null;
	ab_parcel *sent, *out;

	setup();
	object = local_new();
	sent = ab_parcel_new(conn);
	CHECK_EQ(ab_write_object(sent, object), 0);
	CHECK_EQ(ab_write_object(sent, NULL), 0);
	fake_step_reply(fake, sent);
	CHECK_EQ(ab_call(target, 7, sent, &out), 0);
	CHECK_EQ(ab_read_object(out, &back), 0);
	CHECK(back == object);
	CHECK_EQ(ab_read_nullable_object(out, &null), 0);
	CHECK(!null);
	ab_parcel_free(out);
	ab_parcel_free(sent);
	ab_object_put(back);
	CHECK_EQ(destroyed, 0);
	ab_object_put(object);
	CHECK_EQ(destroyed, 1);
	teardown();
}

/* ---- direct calls --------------------------------------------------------------------- */

static void test_our_own_objects_are_called_without_the_driver(void)
{
	ab_parcel *in = fake_parcel(7), *out;
	ab_object *object;
	int32_t value;

	setup();
	object = local_new();
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(ab_call(object, 3, in, &out), 0);
		CHECK_EQ(ab_read_int32(out, &value), 0);
		CHECK_EQ(value, 8);
		ab_parcel_free(out);
	}
	CHECK_EQ(ab_parcel_position(in), 0);
	CHECK_EQ(ab_call_oneway(object, 3, in), 0);
	CHECK_EQ(ab_call(object, 3, in, NULL), 0);
	ab_parcel_reset(in);
	ab_write_int32(in, -EDOM);
	CHECK_EQ(ab_call(object, 3, in, &out), -EDOM);
	CHECK(!out);
	CHECK_EQ(ab_call_oneway(object, 3, in), 0);
	CHECK_EQ(ab_call(object, 3, NULL, &out), -ENODATA);
	CHECK_EQ(called, 7);
	ab_parcel_free(in);
	ab_object_put(object);
	CHECK_LOG(fake, "");
	teardown();
}

static int on_who(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	ab_object *object = NULL;
	int ret = ab_read_object(in, &object);

	CHECK_EQ(info->euid, geteuid());
	CHECK_EQ(info->pid, info->oneway ? 0 : getpid());
	CHECK(info->object == data);
	ab_write_object(out, object);
	ab_object_put(object);
	return ret;
}

/* With the token; objects pass through; whatever other interface's is refused. */
static void test_a_direct_call_is_checked_like_any(void)
{
	static const struct ab_class who = { .interface = "org.example.IWho", .transact = on_who };
	ab_object *object, *local, *back;
	ab_parcel *in, *out;
	char *name;

	setup();
	object = ab_object_new(conn, &who, NULL);
	ab_local(object)->data = object;
	local = local_new();
	in = ab_parcel_new(conn);
	ab_write_token(in, "org.example.IWho");
	ab_write_object(in, local);
	CHECK_EQ(ab_call(object, 1, in, &out), 0);
	CHECK_EQ(ab_read_object(out, &back), 0);
	CHECK(back == local);
	ab_object_put(back);
	ab_parcel_free(out);
	ab_parcel_reset(in);
	ab_write_token(in, "org.example.IWhy");
	CHECK_EQ(ab_call(object, 1, in, NULL), AB_BAD_TYPE);
	CHECK_EQ(ab_call(object, 1, NULL, NULL), AB_BAD_TYPE);
	CHECK_EQ(ab_call(object, 0, in, NULL), AB_UNKNOWN_TRANSACTION);
	CHECK_EQ(ab_call(object, AB_META_SHELL, NULL, NULL), AB_UNKNOWN_TRANSACTION);
	CHECK_EQ(ab_ping(object), 0);
	CHECK_EQ(ab_interface(object, &name), 0);
	CHECK_STR(name, "org.example.IWho");
	free(name);
	ab_parcel_free(in);
	ab_object_put(local);
	ab_object_put(object);
	CHECK_LOG(fake, "");
	teardown();
}

static int on_dump(void *data, const struct ab_call_info *info, int fd, const char *const *args,
		   size_t nr_args)
{
	for (size_t i = 0; i < nr_args; i++)
		CHECK(dprintf(fd, "<%s>", args[i]) > 0);
	return data == &destroyed ? 0 : -EDOM;
}

static void test_a_dump_goes_to_the_descriptor(void)
{
	static const struct ab_class dumps = { .interface = "d", .dump = on_dump };
	static const char *const args[] = { "-a", "b c" };
	ab_object *object, *broken;
	char text[100] = "";
	int fds[2];

	setup();
	CHECK_EQ(pipe(fds), 0);
	object = ab_object_new(conn, &dumps, &destroyed);
	broken = ab_object_new(conn, &dumps, NULL);
	CHECK_EQ(ab_dump(object, fds[1], args, 2), 0);
	CHECK_EQ(ab_dump(object, fds[1], NULL, 0), 0);
	CHECK_EQ(ab_dump(broken, fds[1], NULL, 0), -EDOM);
	CHECK_EQ(ab_dump(object, -1, NULL, 0), -EBADF);
	CHECK_EQ(read(fds[0], text, sizeof(text) - 1), 9);
	CHECK_STR(text, "<-a><b c>");
	ab_object_put(object);
	ab_object_put(broken);
	close(fds[0]);
	close(fds[1]);
	teardown();
}

/* ---- proxies ---------------------------------------------------------------------------- */

/* A received parcel with handle 9. */
static ab_parcel *receive(uint32_t type)
{
	ab_parcel *sent = ab_parcel_new(NULL), *out;

	fake_write_handle(sent, type, 9);
	fake_step_reply(fake, sent);
	CHECK_EQ(ab_call(target, 7, NULL, &out), 0);
	ab_parcel_free(sent);
	fake->log_len = 0;
	fake->log[0] = '\0';
	return out;
}

static ab_object *read_object(ab_parcel *parcel)
{
	ab_object *object;

	CHECK_EQ(ab_parcel_seek(parcel, 0), 0);
	CHECK_EQ(ab_read_object(parcel, &object), 0);
	return object;
}

static void test_a_received_object_is_held_before_its_buffer_goes(void)
{
	ab_object *object;
	ab_parcel *out;

	setup();
	out = receive(BINDER_TYPE_HANDLE);
	object = read_object(out);
	CHECK(ab_object_is_remote(object) && !ab_object_is_dead(object));
	CHECK_EQ(ab_object_handle(object), 9);
	CHECK(!ab_object_data(object) && !ab_object_class(object));
	CHECK_LOG(fake, "");
	ab_parcel_free(out);
	CHECK_LOG(fake, "w:ACQUIRE(9) FREE(0)\n");
	ab_object_put(object);
	CHECK_LOG(fake, "w:RELEASE(9)\n");
	teardown();
}

static void test_an_unread_object_is_no_reference(void)
{
	setup();
	ab_parcel_free(receive(BINDER_TYPE_HANDLE));
	CHECK_LOG(fake, "w:FREE(0)\n");
	teardown();
}

static void test_one_handle_is_one_proxy(void)
{
	ab_object *first, *second, *third;
	ab_parcel *out;

	setup();
	out = receive(BINDER_TYPE_HANDLE);
	first = read_object(out);
	second = read_object(out);
	CHECK(first == second);
	ab_parcel_free(out);
	CHECK_LOG(fake, "w:ACQUIRE(9) FREE(0)\n");
	out = receive(BINDER_TYPE_HANDLE);
	third = read_object(out);
	CHECK(first == third);
	ab_object_put(third);
	ab_object_put(second);
	ab_parcel_free(out);
	CHECK_LOG(fake, "w:FREE(1)\n");
	ab_object_put(first);
	CHECK_LOG(fake, "w:RELEASE(9)\n");
	teardown();
}

/* The release must not be said before the acquisition, nor wait for another call. */
static void test_a_proxy_put_at_once_is_released_in_order(void)
{
	ab_parcel *out;

	setup();
	out = receive(BINDER_TYPE_HANDLE);
	ab_object_put(read_object(out));
	CHECK_LOG(fake, "w:ACQUIRE(9) RELEASE(9)\n");
	/* And again, as another time. */
	ab_object_put(read_object(out));
	CHECK_LOG(fake, "w:ACQUIRE(9) RELEASE(9)\n");
	ab_parcel_free(out);
	CHECK_LOG(fake, "w:FREE(0)\n");
	teardown();
}

static void test_many_proxies_are_found(void)
{
	static ab_object *objects[1000];

	setup();
	fake->quiet = true;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < ARRAY_SIZE(objects); i++) {
			struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_HANDLE,
							  .handle = 10 + i };
			ab_object *object;

			CHECK_EQ(ab_object_unflatten(conn, &fbo, &object), 0);
			CHECK(!round || object == objects[i]);
			objects[i] = object;
		}
	}
	CHECK_EQ(conn->nr_proxies, ARRAY_SIZE(objects) + 1);
	CHECK_EQ(ab_flush(conn), 0);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		ab_object_put(objects[i]);
		ab_object_put(objects[i]);
	}
	CHECK_EQ(conn->nr_proxies, 1);
	teardown();
}

static void test_a_proxy_is_sent_as_its_handle(void)
{
	ab_parcel *in;

	setup();
	in = ab_parcel_new(conn);
	CHECK_EQ(ab_write_object(in, target), 0);
	CHECK_EQ(ab_write_weak(in, target), 0);
	fake_complete(fake);
	CHECK_EQ(ab_call_oneway(target, 7, in), 0);
	CHECK_EQ(((struct flat_binder_object *)(void *)in->data)->hdr.type, BINDER_TYPE_HANDLE);
	CHECK_EQ(((struct flat_binder_object *)(void *)in->data)->handle, FAKE_TARGET);
	/* Held by the parcel: what it names must not change before it is gone. */
	ab_object_put(target);
	fake->log_len = 0;
	fake->log[0] = '\0';
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "");
	ab_parcel_free(in);
	CHECK(strstr(fake->log, "RELEASE(5)"));
	target = NULL;
	teardown();
}

static void test_objects_of_other_kinds_are_refused(void)
{
	static const uint32_t types[] = { BINDER_TYPE_WEAK_HANDLE, BINDER_TYPE_FD, 0, 0x12345678 };
	struct flat_binder_object fbo = { .handle = 3 };
	ab_object *object;
	ab_weak *weak;

	setup();
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		fbo.hdr.type = types[i];
		CHECK_EQ(ab_object_unflatten(conn, &fbo, &object), AB_BAD_TYPE);
		CHECK(!object);
		if (i)
			CHECK_EQ(ab_weak_unflatten(conn, &fbo, &weak), AB_BAD_TYPE);
	}
	CHECK_LOG(fake, "");
	teardown();
}

/* ---- weak references to others' ------------------------------------------------------------ */

static void test_a_weak_reference_keeps_the_handle(void)
{
	ab_object *object, *again;
	ab_weak *weak, *second;

	setup();
	object = fake_proxy(conn, 9);
	weak = ab_weak_new(object);
	CHECK_LOG(fake, "w:INCREFS(9)\n");
	second = ab_weak_new(object);
	ab_object_put(object);
	CHECK_LOG(fake, "w:RELEASE(9)\n");
	/* Nobody here holds it: it is asked. */
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_weak_lock(weak, &again), 0);
	CHECK(again == object);
	CHECK_LOG(fake, "rw:ACQUIRE(9) PING(9 fds)\n");
	CHECK_EQ(ab_weak_lock(second, &object), 0);
	CHECK(again == object);
	ab_weak_put(weak);
	ab_object_put(object);
	ab_object_put(again);
	CHECK_LOG(fake, "w:FREE(0) RELEASE(9)\n");
	ab_weak_put(second);
	CHECK_LOG(fake, "w:DECREFS(9)\n");
	teardown();
}

static ab_weak *weak_alone(void)
{
	ab_object *object = fake_proxy(conn, 9);
	ab_weak *weak = ab_weak_new(object);

	ab_object_put(object);
	fake->log_len = 0;
	fake->log[0] = '\0';
	return weak;
}

static void test_a_weak_reference_to_the_dead_is_stale(void)
{
	ab_parcel *status = fake_parcel(-EPIPE);
	struct fake_step *step;
	ab_object *object;
	ab_weak *weak;

	setup();
	weak = weak_alone();
	fake_return(fake_step(fake), BR_DEAD_REPLY, NULL);
	CHECK_EQ(ab_weak_lock(weak, &object), -ESTALE);
	CHECK(!object);
	CHECK_LOG(fake, "rw:ACQUIRE(9) PING(9 fds)\nw:RELEASE(9)\n");
	/* It lives, but the object does not. */
	step = fake_step(fake);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	fake_incoming(step, BR_REPLY, NULL, TF_STATUS_CODE, status);
	CHECK_EQ(ab_weak_lock(weak, &object), -ESTALE);
	CHECK_LOG(fake, "rw:ACQUIRE(9) PING(9 fds)\nw:FREE(0) RELEASE(9)\n");
	/* The driver did not even take the reference. */
	fake_return(fake_step(fake), BR_FAILED_REPLY, NULL);
	fake->extended = (struct binder_extended_error){ 1, BR_FAILED_REPLY, -EINVAL };
	CHECK_EQ(ab_weak_lock(weak, &object), -ESTALE);
	CHECK_LOG(fake, "rw:ACQUIRE(9) PING(9 fds)\n");
	/* It did, but not the call. */
	fake_return(fake_step(fake), BR_FAILED_REPLY, NULL);
	fake->extended.param = -ENOSPC;
	CHECK_EQ(ab_weak_lock(weak, &object), -ESTALE);
	CHECK_LOG(fake, "rw:ACQUIRE(9) PING(9 fds)\nw:RELEASE(9)\n");
	ab_weak_put(weak);
	ab_parcel_free(status);
	teardown();
}

static void test_an_object_received_again_wakes_its_weak_references(void)
{
	ab_object *object, *locked;
	ab_parcel *out;
	ab_weak *weak;

	setup();
	weak = weak_alone();
	out = receive(BINDER_TYPE_HANDLE);
	object = read_object(out);
	CHECK_EQ(ab_weak_lock(weak, &locked), 0);
	CHECK(locked == object);
	ab_object_put(locked);
	ab_parcel_free(out);
	CHECK_LOG(fake, "w:ACQUIRE(9) FREE(0)\n");
	ab_weak_put(weak);
	CHECK_LOG(fake, "w:DECREFS(9)\n");
	ab_object_put(object);
	CHECK_LOG(fake, "w:RELEASE(9)\n");
	teardown();
}

static void test_a_received_weak_reference_is_held_at_once(void)
{
	ab_parcel *out;
	ab_weak *weak;

	setup();
	out = receive(BINDER_TYPE_WEAK_HANDLE);
	CHECK_EQ(ab_read_weak(out, &weak), 0);
	CHECK_LOG(fake, "w:INCREFS(9)\n");
	ab_parcel_free(out);
	CHECK_LOG(fake, "w:FREE(0)\n");
	ab_weak_put(weak);
	CHECK_LOG(fake, "w:DECREFS(9)\n");
	teardown();
}

/* ---- the context manager -------------------------------------------------------------------- */

static void test_the_managers_proxy_follows_the_manager(void)
{
	ab_object *manager, *again;

	setup();
	CHECK_EQ(ab_manager(conn, &manager), 0);
	CHECK_EQ(ab_manager(conn, &again), 0);
	CHECK(manager == again);
	CHECK_EQ(ab_object_handle(manager), 0);
	CHECK_LOG(fake, "");
	fake_return(fake_step(fake), BR_DEAD_REPLY, NULL);
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_ping(manager), -EPIPE);
	CHECK(!ab_object_is_dead(manager));
	CHECK_EQ(ab_ping(manager), 0);
	CHECK_LOG(fake, "rw:PING(0 fds)\nrw:PING(0 fds)\n");
	ab_object_put(again);
	ab_object_put(manager);
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "w:FREE(0)\n");
	teardown();
}

static void test_the_managers_handle_is_acquired_to_be_sent(void)
{
	ab_object *manager;
	ab_parcel *in;

	setup();
	in = ab_parcel_new(conn);
	CHECK_EQ(ab_manager(conn, &manager), 0);
	fake_return(fake_step(fake), BR_DEAD_REPLY, NULL);
	CHECK_EQ(ab_write_object(in, manager), -EPIPE);
	CHECK_LOG(fake, "rw:PING(0 fds)\n");
	ab_parcel_reset(in);
	fake_step_reply(fake, NULL);
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_write_object(in, manager), 0);
	CHECK_LOG(fake, "rw:PING(0 fds)\n"
			"w:FREE(0) ACQUIRE(0) DEATH(0)\n"
			"rw:PING(0 1 objects fds)\n");
	CHECK_EQ(ab_write_object(in, manager), 0);
	CHECK_LOG(fake, "");
	ab_parcel_free(in);
	ab_object_put(manager);
	CHECK_LOG(fake, "w:FREE(1) CLEAR(0) RELEASE(0)\n");
	teardown();
}

/* It comes and goes just while we look: what was not taken is not given back. */
static void test_a_manager_in_between_is_not_taken_for_granted(void)
{
	ab_object *manager;
	ab_parcel *in;

	setup();
	in = ab_parcel_new(conn);
	CHECK_EQ(ab_manager(conn, &manager), 0);
	fake_step_reply(fake, NULL);
	fake_return(fake_step(fake), BR_FAILED_REPLY, NULL);
	fake->extended = (struct binder_extended_error){ 1, BR_FAILED_REPLY, -EINVAL };
	fake_step_reply(fake, NULL);
	fake_return(fake_step(fake), BR_DEAD_REPLY, NULL);
	CHECK_EQ(ab_write_object(in, manager), -EPIPE);
	CHECK_LOG(fake, "rw:PING(0 fds)\n"
			"w:FREE(0) ACQUIRE(0) DEATH(0)\n"
			"rw:PING(0 1 objects fds)\n"
			"rw:PING(0 fds)\n"
			"w:FREE(1) ACQUIRE(0) DEATH(0)\n"
			"rw:PING(0 1 objects fds)\n"
			"w:CLEAR(0) RELEASE(0)\n");
	CHECK(!ab_object_is_dead(manager));
	ab_parcel_free(in);
	ab_object_put(manager);
	CHECK_LOG(fake, "");
	teardown();
}

static void on_death(void *data, ab_object *object)
{
	ab_object *manager;

	/* The handle is free again: this is another. */
	CHECK(ab_object_is_dead(object));
	CHECK_EQ(ab_manager(conn, &manager), 0);
	CHECK(manager != object);
	*(ab_object **)data = manager;
}

static void test_a_new_manager_gets_a_new_proxy(void)
{
	ab_object *manager, *next = NULL;
	ab_parcel *in;
	ab_death *link;

	setup();
	in = ab_parcel_new(conn);
	CHECK_EQ(ab_manager(conn, &manager), 0);
	fake_step_reply(fake, NULL);
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_death_link(manager, on_death, &next, &link), 0);
	CHECK_LOG(fake, "rw:PING(0 fds)\n"
			"w:FREE(0) ACQUIRE(0) DEATH(0)\n"
			"rw:PING(0 1 objects fds)\n");
	fake_return_death(step_stop(), fake, 0);
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_LOG(fake, "rw:FREE(1) ENTER\nw:DEATH_DONE RELEASE(0)\nw:EXIT\n");
	CHECK(next);
	CHECK_EQ(ab_ping(manager), -EPIPE);
	CHECK_EQ(ab_write_object(in, manager), -EPIPE);
	CHECK_EQ(ab_death_unlink(link), -EALREADY);
	CHECK_LOG(fake, "");
	ab_object_put(manager);
	CHECK_LOG(fake, "");
	fake_step_reply(fake, NULL);
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_death_link(next, on_death, &next, &link), 0);
	CHECK_LOG(fake, "rw:PING(0 fds)\n"
			"w:FREE(2) ACQUIRE(0) DEATH(0)\n"
			"rw:PING(0 1 objects fds)\n");
	/* The request is the proxy's own and stays with it. */
	CHECK_EQ(ab_death_unlink(link), 0);
	CHECK_LOG(fake, "");
	ab_object_put(next);
	CHECK_LOG(fake, "w:FREE(3) CLEAR(0) RELEASE(0)\n");
	ab_parcel_free(in);
	teardown();
}

static void test_references_can_be_counted_by_the_manager(void)
{
	ab_object *manager, *object;
	uint32_t strong;

	setup();
	fake->node_info = (struct binder_node_info_for_ref){ .handle = 5, .strong_count = 3 };
	CHECK_EQ(ab_count_refs(target, &strong), 0);
	CHECK_EQ(strong, 3);
	fake->node_info_error = -EPERM;
	CHECK_EQ(ab_count_refs(target, &strong), -EPERM);
	CHECK_EQ(strong, 0);
	CHECK_EQ(ab_manager(conn, &manager), 0);
	CHECK_EQ(ab_count_refs(manager, &strong), -EINVAL);
	object = local_new();
	CHECK_EQ(ab_count_refs(object, &strong), -EINVAL);
	ab_object_put(object);
	ab_object_put(manager);
	teardown();
}

static const struct fake_case tests[] = {
	FAKE_CASE(test_an_object_of_ours_is_destroyed_with_its_last_reference),
	FAKE_CASE(test_what_the_driver_holds_goes_with_the_connection),
	FAKE_CASE(test_an_object_is_destroyed_where_calls_can_be_made),
	FAKE_CASE(test_an_object_is_destroyed_after_what_came_with_it),
	FAKE_CASE(test_an_object_that_is_gone_says_so),
	FAKE_CASE(test_an_object_says_what_it_takes),
	FAKE_CASE(test_our_own_object_comes_back_as_itself),
	FAKE_CASE(test_our_own_objects_are_called_without_the_driver),
	FAKE_CASE(test_a_direct_call_is_checked_like_any),
	FAKE_CASE(test_a_dump_goes_to_the_descriptor),
	FAKE_CASE(test_a_received_object_is_held_before_its_buffer_goes),
	FAKE_CASE(test_an_unread_object_is_no_reference),
	FAKE_CASE(test_one_handle_is_one_proxy),
	FAKE_CASE(test_a_proxy_put_at_once_is_released_in_order),
	FAKE_CASE(test_many_proxies_are_found),
	FAKE_CASE(test_a_proxy_is_sent_as_its_handle),
	FAKE_CASE(test_objects_of_other_kinds_are_refused),
	FAKE_CASE(test_a_weak_reference_keeps_the_handle),
	FAKE_CASE(test_a_weak_reference_to_the_dead_is_stale),
	FAKE_CASE(test_an_object_received_again_wakes_its_weak_references),
	FAKE_CASE(test_a_received_weak_reference_is_held_at_once),
	FAKE_CASE(test_the_managers_proxy_follows_the_manager),
	FAKE_CASE(test_the_managers_handle_is_acquired_to_be_sent),
	FAKE_CASE(test_a_manager_in_between_is_not_taken_for_granted),
	FAKE_CASE(test_a_new_manager_gets_a_new_proxy),
	FAKE_CASE(test_references_can_be_counted_by_the_manager),
};

FAKE_MAIN(tests)
