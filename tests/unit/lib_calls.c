// SPDX-License-Identifier: MIT
/* Opening, calling and errors, over a scripted driver. */
#include "lib_fake.h"

#include <errno.h>

#include "lib/objects.h"

static ab_conn *conn;
static struct fake *fake;
static ab_object *target; /* handle 5 */

static void setup(void)
{
	fake = fake_at("a");
	CHECK_EQ(ab_open(&conn, "a", NULL), 0);
	target = fake_proxy(conn, FAKE_TARGET);
}

static void teardown(void)
{
	ab_close(conn);
	ab_object_put(target);
}

/* A step that answers the call it carries with @value. */
static struct fake_step *step_reply(struct fake *at, int32_t value)
{
	ab_parcel *reply = fake_parcel(value);
	struct fake_step *step = fake_step_reply(at, reply);

	ab_parcel_free(reply);
	return step;
}

/* A step that refuses the call it carries. */
static void step_error(uint32_t error)
{
	struct fake_step *step = fake_step(fake);

	fake_return(step, BR_NOOP, NULL);
	fake_return(step, error, NULL);
}

/* Call @object's code 7 with an int32; returns the int32 of the reply. */
static int32_t call_value(ab_object *object, int32_t value)
{
	ab_parcel *in = fake_parcel(value), *out = NULL;
	int32_t got = 0;

	CHECK_EQ(ab_call(object, 7, in, &out), 0);
	CHECK_EQ(ab_read_int32(out, &got), 0);
	CHECK_EQ(ab_read_int32(out, &value), -ENODATA);
	ab_parcel_free(out);
	ab_parcel_free(in);
	return got;
}

static int call_error(void)
{
	ab_parcel *in = fake_parcel(1), *out = in;
	int ret = ab_call(target, 7, in, &out);

	CHECK(!out);
	ab_parcel_free(in);
	return ret;
}

static int call_oneway(int32_t value)
{
	ab_parcel *in = fake_parcel(value);
	int ret = ab_call_oneway(target, 7, in);

	ab_parcel_free(in);
	return ret;
}


/* ---- opening ---------------------------------------------------------------------- */

static void open_fails(int want, const struct ab_options *options, bool opened)
{
	fake = fake_at("a");
	CHECK_EQ(ab_open(&conn, "a", options), want);
	CHECK(!conn);
	CHECK_EQ(fake->opened, opened);
	CHECK_EQ(fake->closed, opened);
	CHECK_EQ(fake->mapped, fake->unmapped);
	fake_reset();
}

static void test_open_reports_what_failed(void)
{
	fake = fake_at("a");
	fake->open_error = -ENOENT;
	open_fails(-ENOENT, NULL, false);
	fake->version_error = -ENOTTY;
	open_fails(-ENOTTY, NULL, true);
	/* What some devices say of an ioctl that they do not know. */
	fake->version_error = -EINVAL;
	open_fails(-ENOTTY, NULL, true);
	fake->version = 7;
	open_fails(-EPROTO, NULL, true);
	fake->map_error = -ENOMEM;
	open_fails(-ENOMEM, NULL, true);
	fake->max_threads_error = -EINVAL;
	open_fails(-EINVAL, NULL, true);
}

static void test_open_refuses_options_without_sense(void)
{
	open_fails(-EINVAL, &(struct ab_options){ .map_size = (4 << 20) + 1 }, false);
	open_fails(-EINVAL, &(struct ab_options){ .flags = 0x80000000 }, false);
	open_fails(-EINVAL, &(struct ab_options){ .variant = AB_ANDROID_16 + 1 }, false);
	open_fails(-EINVAL, &(struct ab_options){ .reserved = { [6] = 1 } }, false);
}

static void test_open_passes_the_options(void)
{
	struct ab_options options = { .map_size = 1 << 16, .max_threads = 3,
				      .variant = AB_ANDROID_9 };

	fake = fake_at("a");
	CHECK_EQ(ab_open(&conn, "a", &options), 0);
	CHECK_EQ(fake->map_size, 1 << 16);
	CHECK_EQ(fake->max_threads, 3);
	CHECK_EQ(ab_conn_variant(conn), AB_ANDROID_9);
	ab_close(conn);
	fake = fake_at("b");
	CHECK_EQ(ab_open(&conn, "b", NULL), 0);
	CHECK_EQ(fake->map_size, (1 << 20) - 2 * 4096);
	CHECK_EQ(fake->max_threads, 0);
	CHECK_EQ(ab_conn_variant(conn), AB_ANDROID_13);
	CHECK(ab_fd(conn) >= 0);
	ab_close(conn);
	ab_close(NULL);
}

/* ---- calling ----------------------------------------------------------------------- */

static void test_a_call_is_one_ioctl(void)
{
	uint64_t before;

	setup();
	before = ab_ioctls(conn);
	step_reply(fake, 42);
	step_reply(fake, 43);
	CHECK_EQ(call_value(target, 1), 42);
	CHECK_EQ(ab_ioctls(conn) - before, 1);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 1 fds)\n");
	CHECK_EQ(fake_buffers_live(), 2);
	/* The reply's buffer goes back with the next. */
	CHECK_EQ(call_value(target, 2), 43);
	CHECK_EQ(ab_ioctls(conn) - before, 2);
	CHECK_LOG(fake, "rw:FREE(0) CALL(5 7: 4 2 fds)\n");
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "w:FREE(1)\n");
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "");
	teardown();
}

static void test_a_large_reply_goes_back_at_once(void)
{
	static const uint8_t bytes[300000];
	ab_parcel *reply = fake_parcel(1), *out;

	setup();
	CHECK_EQ(ab_write_bytes(reply, bytes, sizeof(bytes)), 0);
	fake_step_reply(fake, reply);
	CHECK_EQ(ab_call(target, 7, NULL, &out), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 0 0 fds)\n");
	CHECK_EQ(ab_parcel_size(out), ab_parcel_size(reply));
	ab_parcel_free(out);
	CHECK_LOG(fake, "w:FREE(0)\n");
	ab_parcel_free(reply);
	teardown();
}

static void test_a_sensitive_parcel_is_marked(void)
{
	ab_parcel *in = fake_parcel(1);

	setup();
	ab_parcel_mark_sensitive(in);
	step_reply(fake, 1);
	fake_complete(fake);
	CHECK_EQ(ab_call(target, 7, in, NULL), 0);
	CHECK_EQ(ab_call_oneway(target, 7, in), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 1 fds clear)\nrw:FREE(0) CALL(5 7: 4 1 oneway clear)\n");
	ab_parcel_free(in);
	teardown();
}

static void test_ping_and_interface_ask_by_meta_codes(void)
{
	ab_parcel *reply = ab_parcel_new(NULL);
	char *name;

	setup();
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_ping(target), 0);
	ab_write_string16(reply, "org.example.IEcho");
	fake_step_reply(fake, reply);
	CHECK_EQ(ab_interface(target, &name), 0);
	CHECK_STR(name, "org.example.IEcho");
	free(name);
	/* What is no name is not taken for one. */
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_interface(target, &name), -ENODATA);
	CHECK(!name);
	step_error(BR_DEAD_REPLY);
	CHECK_EQ(ab_interface(target, &name), -EPIPE);
	CHECK_LOG(fake, "rw:PING(5 fds)\n"
			"rw:FREE(0) CALL(5 _NTF: 0 0 fds)\n"
			"rw:FREE(1) CALL(5 _NTF: 0 0 fds)\n"
			"rw:FREE(2) CALL(5 _NTF: 0 0 fds)\n");
	ab_parcel_free(reply);
	teardown();
}

static void test_a_refused_call_says_why(void)
{
	char text[200];

	setup();
	step_error(BR_DEAD_REPLY);
	step_error(BR_FAILED_REPLY);
	step_error(BR_FROZEN_REPLY);
	CHECK_EQ(call_error(), -EPIPE);
	CHECK_EQ(call_error(), -ECOMM);
	fake->extended = (struct binder_extended_error){ 9, BR_FAILED_REPLY, -ENOSPC };
	ab_error_text(conn, -ECOMM, text, sizeof(text));
	CHECK_STR(text, "the driver refused the transaction: no space in the receiver's mapping: "
			"the message is too large, or too many wait (transaction 9, -28)");
	fake->extended.param = -9999;
	CHECK(strstr(ab_error_text(conn, -ECOMM, text, sizeof(text)), "without a name"));
	fake->extended.command = BR_FROZEN_REPLY;
	CHECK(strstr(ab_error_text(conn, -ECOMM, text, sizeof(text)), "frozen"));
	fake->extended.command = BR_OK;
	CHECK_STR(ab_error_text(conn, -EPIPE, text, sizeof(text)), ab_strerror(-EPIPE));
	CHECK_STR(ab_error_text(conn, -EINTR, text, 4), "Int");
	CHECK_EQ(call_error(), -ECOMM);
	/* None of them leaves anything to wait for. */
	fake_complete(fake);
	CHECK_EQ(call_oneway(3), 0);
	teardown();
}

static void test_every_error_has_words(void)
{
	static const int errors[] = { 0, 1, -1, -EPIPE, -ECOMM, -EPROTO, -ENODATA, -EBADMSG,
				      -ENOTTY, -9999, INT32_MIN, INT32_MAX, AB_BAD_TYPE,
				      AB_FAILED_TRANSACTION, AB_FDS_NOT_ALLOWED, -EBADF,
				      AB_UNEXPECTED_NULL, -ESTALE, -EREMOTEIO };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		CHECK(ab_strerror(errors[i]) && *ab_strerror(errors[i]));
	CHECK_STR(ab_error_name(-EPIPE), "EPIPE");
	CHECK_STR(ab_error_name(-ENOENT), "ENOENT");
	CHECK_STR(ab_error_name(AB_BAD_TYPE), "AB_BAD_TYPE");
	CHECK_STR(ab_error_name(AB_UNKNOWN_TRANSACTION), "AB_UNKNOWN_TRANSACTION");
	CHECK(!ab_error_name(1) && !ab_error_name(-9999) && !ab_error_name(0));
}

static void step_status(const ab_parcel *status)
{
	struct fake_step *step = fake_step(fake);

	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	fake_incoming(step, BR_REPLY, NULL, TF_STATUS_CODE, status);
}

static void test_a_status_comes_in_place_of_a_reply(void)
{
	ab_parcel *status = fake_parcel(-EDOM), *positive = fake_parcel(3);

	setup();
	step_status(status);
	step_status(positive);
	step_status(NULL);
	CHECK_EQ(call_error(), -EDOM);
	CHECK_EQ(call_error(), AB_UNKNOWN_ERROR);
	CHECK_EQ(call_error(), AB_UNKNOWN_ERROR);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 1 fds)\n"
			"rw:FREE(0) CALL(5 7: 4 1 fds)\n"
			"rw:FREE(1) CALL(5 7: 4 1 fds)\n");
	/* A reply that nobody wants is given back too. */
	step_reply(fake, 1);
	CHECK_EQ(ab_call(target, 7, status, NULL), 0);
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "rw:FREE(2) CALL(5 7: 4 -33 fds)\nw:FREE(3)\n");
	ab_parcel_free(status);
	ab_parcel_free(positive);
	teardown();
}

static void test_oneway_waits_for_its_completion_only(void)
{
	setup();
	fake_return(fake_step(fake), BR_NOOP, NULL);
	fake_complete(fake);
	CHECK_EQ(call_oneway(3), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 3 oneway)\nrw:\n");
	step_error(BR_DEAD_REPLY);
	CHECK_EQ(call_oneway(4), -EPIPE);
	fake_return(fake_step(fake), BR_ONEWAY_SPAM_SUSPECT, NULL);
	CHECK_EQ(call_oneway(5), 0);
	fake_return(fake_step(fake), BR_TRANSACTION_PENDING_FROZEN, NULL);
	CHECK_EQ(call_oneway(6), 0);
	teardown();
}

static void test_a_bad_parcel_is_not_sent(void)
{
	ab_parcel *in = fake_parcel(1);

	setup();
	CHECK_EQ(ab_write_string16(in, "\xff"), -EILSEQ);
	CHECK_EQ(ab_call(target, 7, in, NULL), -EILSEQ);
	CHECK_EQ(ab_call_oneway(target, 7, in), -EILSEQ);
	CHECK_LOG(fake, "");
	ab_parcel_free(in);
	teardown();
}

static void test_a_parcel_of_another_connection_is_not_sent(void)
{
	ab_object *other;
	ab_conn *conn_b;
	ab_parcel *in;

	setup();
	CHECK_EQ(ab_open(&conn_b, "b", NULL), 0);
	other = fake_proxy(conn_b, 6);
	in = ab_parcel_new(conn_b);
	CHECK_EQ(ab_write_object(in, other), 0);
	CHECK_EQ(ab_call(target, 7, in, NULL), -EXDEV);
	ab_parcel_reset(in);
	/* Without objects nothing in it is of a connection. */
	step_reply(fake, 1);
	CHECK_EQ(ab_write_int32(in, 3), 0);
	CHECK_EQ(ab_call(target, 7, in, NULL), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 3 fds)\n");
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_EQ(ab_write_object(in, target), -EXDEV);
	ab_parcel_free(in);
	ab_object_put(other);
	ab_close(conn_b);
	teardown();
}

static void test_a_signal_does_not_send_again(void)
{
	struct fake_step *step;

	setup();
	fake_step(fake)->ret = -EINTR;
	step = fake_step(fake);
	step->ret = -EINTR;
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	step = step_reply(fake, 42);
	CHECK_EQ(call_value(target, 1), 42);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 1 fds)\nrw:\nrw:\n");
	/* What it came before is offered again. */
	step = fake_step(fake);
	step->ret = -EINTR;
	step->take = 1;
	step_reply(fake, 43);
	CHECK_EQ(call_value(target, 2), 43);
	CHECK_LOG(fake, "rw:FREE(0) ~CALL(5 7: 4 2 fds)\nrw:CALL(5 7: 4 2 fds)\n");
	fake->write_error = -EINTR;
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "w:~FREE(-1)\nw:FREE(1)\n");
	fake_step(fake)->ret = -EINTR;
	fake_complete(fake);
	CHECK_EQ(call_oneway(3), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 3 oneway)\nrw:\n");
	teardown();
}

/* The parcel is the caller's again: nothing may send it later. */
static void test_a_failed_ioctl_withdraws_the_call(void)
{
	static const int errors[] = { -EINVAL, -EFAULT, -ENOTCONN, -ENOMEM };

	setup();
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct fake_step *step;

		/* Its buffer is to be freed with the next call, the one that fails. */
		step_reply(fake, 0);
		CHECK_EQ(call_value(target, 1), 0);
		step = fake_step(fake);
		step->ret = errors[i];
		step->take = 0;
		fake->log_len = 0;
		CHECK_EQ(i % 2 ? call_oneway(1) : call_error(), errors[i]);
		fake->log_len = 0;
		fake_complete(fake);
		CHECK_EQ(call_oneway(2), 0);
		/* EINVAL and EFAULT blame the first command, which is dropped. */
		if (i < 2)
			CHECK_LOG(fake, "rw:CALL(5 7: 4 2 oneway)\n");
		else
			CHECK(strstr(fake->log, ") CALL(5 7: 4 2 oneway)\n"));
	}
	/* And when the call is the first. */
	fake->log_len = 0;
	fake_step(fake)->ret = -EINVAL;
	fake->steps[fake->nr_steps - 1].take = 0;
	CHECK_EQ(call_error(), -EINVAL);
	fake_complete(fake);
	CHECK_EQ(call_oneway(2), 0);
	CHECK_LOG(fake, "rw:~CALL(5 7: 4 1 fds)\nrw:CALL(5 7: 4 2 oneway)\n");
	fake_forget_buffers();
	teardown();
}

static void test_two_connections_keep_apart(void)
{
	struct fake *b = fake_at("b");
	ab_object *target_b;
	ab_conn *conn_b;

	setup();
	CHECK_EQ(ab_open(&conn_b, "b", NULL), 0);
	target_b = fake_proxy(conn_b, FAKE_TARGET);
	step_reply(fake, 10);
	step_reply(b, 20);
	step_reply(fake, 11);
	CHECK_EQ(call_value(target, 1), 10);
	CHECK_EQ(call_value(target_b, 2), 20);
	CHECK_EQ(call_value(target, 3), 11);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 1 fds)\nrw:FREE(0) CALL(5 7: 4 3 fds)\n");
	CHECK_LOG(b, "rw:CALL(5 7: 4 2 fds)\n");
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "w:FREE(2)\n");
	ab_object_put(target_b);
	CHECK_LOG(b, "w:FREE(1) RELEASE(5)\n");
	ab_close(conn_b);
	teardown();
}

/* ---- closing ------------------------------------------------------------------------ */

/* What is left over is memory only, and says so. */
static void test_after_closing_all_fail_and_nothing_leaks(void)
{
	ab_parcel *out, *in = fake_parcel(1), *mine;
	char text[100];
	ab_object *manager, *object;
	int32_t value;
	ab_weak *weak;
	ab_death *link;

	setup();
	step_reply(fake, 42);
	CHECK_EQ(ab_call(target, 7, in, &out), 0);
	weak = ab_weak_new(target);
	CHECK_EQ(fake->unmapped, 0);
	ab_close(conn);
	CHECK_EQ(fake->closed, 1);
	/* The reply still lies in the mapping. */
	CHECK_EQ(fake->unmapped, 0);
	CHECK_EQ(ab_read_int32(out, &value), 0);
	CHECK_EQ(value, 42);
	CHECK_EQ(ab_call(target, 7, in, NULL), -EBADF);
	CHECK_EQ(ab_call_oneway(target, 7, in), -EBADF);
	CHECK_EQ(ab_flush(conn), -EBADF);
	CHECK_EQ(ab_loop(conn), -EBADF);
	CHECK_EQ(ab_pool_start(conn), -EBADF);
	CHECK_EQ(ab_dispatch(conn), -EBADF);
	CHECK_EQ(ab_manager(conn, &manager), -EBADF);
	CHECK_EQ(ab_death_link(target, NULL, NULL, &link), -EBADF);
	CHECK(strstr(ab_error_text(conn, -EBADF, text, sizeof(text)), "closed"));
	ab_stop(conn);
	object = ab_object_new(conn, &(struct ab_class){ 0 }, NULL);
	CHECK_EQ(ab_ping(object), -EBADF);
	ab_object_put(object);
	mine = ab_parcel_new(conn);
	CHECK_EQ(ab_write_object(mine, target), 0);
	ab_parcel_free(mine);
	ab_parcel_free(out);
	CHECK_EQ(fake->unmapped, 1);
	ab_parcel_free(in);
	ab_weak_put(weak);
	ab_object_put(target);
	fake_forget_buffers();
}

static void *call_and_end(void *data)
{
	CHECK_EQ(call_value(target, 4), 40);
	return NULL;
}

static void test_a_thread_that_ends_has_said_all(void)
{
	pthread_t thread;

	setup();
	step_reply(fake, 40);
	CHECK_EQ(pthread_create(&thread, NULL, call_and_end, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 4 fds)\nw:FREE(0)\n");
	CHECK_EQ(fake->threads_gone, 1);
	teardown();
}

static const struct fake_case tests[] = {
	FAKE_CASE(test_open_reports_what_failed),
	FAKE_CASE(test_open_refuses_options_without_sense),
	FAKE_CASE(test_open_passes_the_options),
	FAKE_CASE(test_a_call_is_one_ioctl),
	FAKE_CASE(test_a_large_reply_goes_back_at_once),
	FAKE_CASE(test_a_sensitive_parcel_is_marked),
	FAKE_CASE(test_ping_and_interface_ask_by_meta_codes),
	FAKE_CASE(test_a_refused_call_says_why),
	FAKE_CASE(test_every_error_has_words),
	FAKE_CASE(test_a_status_comes_in_place_of_a_reply),
	FAKE_CASE(test_oneway_waits_for_its_completion_only),
	FAKE_CASE(test_a_bad_parcel_is_not_sent),
	FAKE_CASE(test_a_parcel_of_another_connection_is_not_sent),
	FAKE_CASE(test_a_signal_does_not_send_again),
	FAKE_CASE(test_a_failed_ioctl_withdraws_the_call),
	FAKE_CASE(test_two_connections_keep_apart),
	FAKE_CASE(test_after_closing_all_fail_and_nothing_leaks),
	FAKE_CASE(test_a_thread_that_ends_has_said_all),
};

FAKE_MAIN(tests)
