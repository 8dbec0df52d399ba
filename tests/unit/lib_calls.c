// SPDX-License-Identifier: MIT
/* Opening, calling, errors, handles and deaths, over a scripted driver. */
#include "lib_fake.h"

#include <errno.h>

#include "lib/internal.h"

static ab_conn *open_at(const char *path)
{
	ab_conn *conn = NULL;

	CHECK_EQ(ab_open(&conn, path, NULL), 0);
	return conn;
}

static ab_parcel *parcel_of(int32_t value)
{
	ab_parcel *parcel = ab_parcel_new();

	CHECK(parcel);
	CHECK_EQ(ab_write_int32(parcel, value), 0);
	return parcel;
}

/* A step that answers the call it carries with @value. */
static struct fake_step *step_reply(struct fake *fake, int32_t value)
{
	struct fake_step *step = fake_step(fake);
	ab_parcel *reply = parcel_of(value);

	fake_return(step, BR_NOOP, NULL);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	fake_incoming(step, BR_REPLY, NULL, 0, reply);
	ab_parcel_free(reply);
	return step;
}

/* A step that refuses the call it carries. */
static void step_error(struct fake *fake, uint32_t error)
{
	struct fake_step *step = fake_step(fake);

	fake_return(step, BR_NOOP, NULL);
	fake_return(step, error, NULL);
}

/* Call handle 5, code 7, with an int32; returns the int32 of the reply. */
static int32_t call_value(ab_conn *conn, int32_t value)
{
	ab_parcel *in = parcel_of(value), *out = NULL;
	int32_t got = 0;

	CHECK_EQ(ab_call(conn, 5, 7, in, &out), 0);
	CHECK_EQ(ab_read_int32(out, &got), 0);
	CHECK_EQ(ab_read_int32(out, &got), -ENODATA);
	ab_parcel_free(out);
	ab_parcel_free(in);
	return got;
}

static int call_error(ab_conn *conn)
{
	ab_parcel *in = parcel_of(1), *out = in;
	int ret = ab_call(conn, 5, 7, in, &out);

	CHECK(!out);
	ab_parcel_free(in);
	return ret;
}

static int call_oneway(ab_conn *conn, int32_t value)
{
	ab_parcel *in = parcel_of(value);
	int ret = ab_call_oneway(conn, 5, 7, in);

	ab_parcel_free(in);
	return ret;
}

static void open_fails(int want, bool opened)
{
	struct fake *fake = fake_at("a");
	ab_conn *conn = NULL;

	CHECK_EQ(ab_open(&conn, "a", NULL), want);
	CHECK(!conn);
	CHECK_EQ(fake->opened, opened);
	CHECK_EQ(fake->closed, opened);
	CHECK_EQ(fake->mapped, fake->unmapped);
	fake_reset();
}

static void test_open_reports_what_failed(void)
{
	struct fake *fake = fake_at("a");

	fake->open_error = -ENOENT;
	open_fails(-ENOENT, false);
	fake->version_error = -ENOTTY;
	open_fails(-ENOTTY, true);
	fake->version = 7;
	open_fails(-EPROTO, true);
	fake->map_error = -ENOMEM;
	open_fails(-ENOMEM, true);
	fake->max_threads_error = -EINVAL;
	open_fails(-EINVAL, true);
}

static void test_open_passes_the_options(void)
{
	struct ab_options options = { .map_size = 1 << 16, .max_threads = 3 };
	struct fake *fake = fake_at("a");
	ab_conn *conn;

	CHECK_EQ(ab_open(&conn, "a", &options), 0);
	CHECK_EQ(fake->map_size, 1 << 16);
	CHECK_EQ(fake->max_threads, 3);
	ab_close(conn);
	conn = open_at("b");
	CHECK_EQ(fake_at("b")->map_size, (1 << 20) - 2 * 4096);
	CHECK_EQ(fake_at("b")->max_threads, 0);
	ab_close(conn);
	ab_close(NULL);
}

static void test_a_call_is_one_ioctl(void)
{
	struct fake *fake = fake_at("a");
	ab_conn *conn = open_at("a");
	uint64_t before = ab_ioctls(conn);

	step_reply(fake, 42);
	step_reply(fake, 43);
	CHECK_EQ(call_value(conn, 1), 42);
	CHECK_EQ(ab_ioctls(conn) - before, 1);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 1 fds)\n");
	CHECK_EQ(fake_buffers_live(), 2);
	/* The reply's buffer goes back with the next. */
	CHECK_EQ(call_value(conn, 2), 43);
	CHECK_EQ(ab_ioctls(conn) - before, 2);
	CHECK_LOG(fake, "rw:FREE(0) CALL(5 7: 4 2 fds)\n");
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "w:FREE(1)\n");
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "");
	ab_close(conn);
}

static void test_a_refused_call_says_why(void)
{
	struct fake *fake = fake_at("a");
	ab_conn *conn = open_at("a");
	char text[200];

	step_error(fake, BR_DEAD_REPLY);
	step_error(fake, BR_FAILED_REPLY);
	step_error(fake, BR_FROZEN_REPLY);
	CHECK_EQ(call_error(conn), -EPIPE);
	CHECK_EQ(call_error(conn), -ECOMM);
	fake->extended = (struct binder_extended_error){ 9, BR_FAILED_REPLY, -ENOSPC };
	ab_error_text(conn, -ECOMM, text, sizeof(text));
	CHECK_STR(text, "the driver refused the transaction: no space in the receiver's mapping "
			"(transaction 9, -28)");
	fake->extended.param = -9999;
	CHECK(strstr(ab_error_text(conn, -ECOMM, text, sizeof(text)), "without a name"));
	fake->extended.command = BR_OK;
	CHECK_STR(ab_error_text(conn, -EPIPE, text, sizeof(text)), ab_strerror(-EPIPE));
	CHECK_STR(ab_error_text(conn, -EINTR, text, 4), "Int");
	CHECK_EQ(call_error(conn), -ECOMM);
	/* None of them leaves anything to wait for. */
	fake_return(fake_step(fake), BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(call_oneway(conn, 3), 0);
	ab_close(conn);
}

static void test_every_error_has_words(void)
{
	static const int errors[] = { 0, 1, -1, -EPIPE, -ECOMM, -EPROTO, -ENODATA, -EBADMSG,
				      -ENOTTY, -9999, INT32_MIN, INT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		CHECK(ab_strerror(errors[i]) && *ab_strerror(errors[i]));
}

static void step_status(struct fake *fake, const ab_parcel *status)
{
	struct fake_step *step = fake_step(fake);

	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	fake_incoming(step, BR_REPLY, NULL, TF_STATUS_CODE, status);
}

static void test_a_status_comes_in_place_of_a_reply(void)
{
	struct fake *fake = fake_at("a");
	ab_parcel *status = parcel_of(-EDOM), *positive = parcel_of(3);
	ab_conn *conn = open_at("a");

	step_status(fake, status);
	step_status(fake, positive);
	step_status(fake, NULL);
	CHECK_EQ(call_error(conn), -EDOM);
	CHECK_EQ(call_error(conn), -EBADMSG);
	CHECK_EQ(call_error(conn), -EBADMSG);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 1 fds)\n"
			"rw:FREE(0) CALL(5 7: 4 1 fds)\n"
			"rw:FREE(1) CALL(5 7: 4 1 fds)\n");
	/* A reply that nobody wants is given back too. */
	step_reply(fake, 1);
	CHECK_EQ(ab_call(conn, 5, 7, status, NULL), 0);
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "rw:FREE(2) CALL(5 7: 4 -33 fds)\nw:FREE(3)\n");
	ab_parcel_free(status);
	ab_parcel_free(positive);
	ab_close(conn);
}

static void test_oneway_waits_for_its_completion_only(void)
{
	struct fake *fake = fake_at("a");
	ab_conn *conn = open_at("a");

	fake_return(fake_step(fake), BR_NOOP, NULL);
	fake_return(fake_step(fake), BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(call_oneway(conn, 3), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 3 oneway)\nrw:\n");
	step_error(fake, BR_DEAD_REPLY);
	CHECK_EQ(call_oneway(conn, 4), -EPIPE);
	fake_return(fake_step(fake), BR_ONEWAY_SPAM_SUSPECT, NULL);
	CHECK_EQ(call_oneway(conn, 5), 0);
	fake_return(fake_step(fake), BR_TRANSACTION_PENDING_FROZEN, NULL);
	CHECK_EQ(call_oneway(conn, 6), 0);
	ab_close(conn);
}

static void test_a_bad_parcel_is_not_sent(void)
{
	struct fake *fake = fake_at("a");
	ab_conn *conn = open_at("a");
	ab_parcel *in = parcel_of(1);

	CHECK_EQ(ab_write_string16(in, "\xff"), -EILSEQ);
	CHECK_EQ(ab_call(conn, 5, 7, in, NULL), -EILSEQ);
	CHECK_EQ(ab_call_oneway(conn, 5, 7, in), -EILSEQ);
	CHECK_LOG(fake, "");
	ab_parcel_free(in);
	ab_close(conn);
}

static void test_a_signal_does_not_send_again(void)
{
	struct fake *fake = fake_at("a");
	ab_conn *conn = open_at("a");
	struct fake_step *step;

	fake_step(fake)->ret = -EINTR;
	step = fake_step(fake);
	step->ret = -EINTR;
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	step = step_reply(fake, 42);
	CHECK_EQ(call_value(conn, 1), 42);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 1 fds)\nrw:\nrw:\n");
	/* What it came before is offered again. */
	step = fake_step(fake);
	step->ret = -EINTR;
	step->take = 1;
	step_reply(fake, 43);
	CHECK_EQ(call_value(conn, 2), 43);
	CHECK_LOG(fake, "rw:FREE(0) ~CALL(5 7: 4 2 fds)\nrw:CALL(5 7: 4 2 fds)\n");
	fake->write_error = -EINTR;
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "w:~FREE(-1)\nw:FREE(1)\n");
	fake_step(fake)->ret = -EINTR;
	fake_return(fake_step(fake), BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(call_oneway(conn, 3), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 3 oneway)\nrw:\n");
	ab_close(conn);
}

/* The parcel is the caller's again: nothing may send it later. */
static void test_a_failed_ioctl_withdraws_the_call(void)
{
	static const int errors[] = { -EINVAL, -EFAULT, -ENOTCONN, -ENOMEM };
	struct fake *fake = fake_at("a");
	ab_conn *conn = open_at("a");

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct fake_step *step = fake_step(fake);

		step->ret = errors[i];
		step->take = 0;
		CHECK_EQ(ab_acquire(conn, 6), 0);
		CHECK_EQ(i % 2 ? call_oneway(conn, 1) : call_error(conn), errors[i]);
		fake->log_len = 0;
		fake_return(fake_step(fake), BR_TRANSACTION_COMPLETE, NULL);
		CHECK_EQ(call_oneway(conn, 2), 0);
		/* EINVAL and EFAULT blame the first command, which is dropped. */
		CHECK_LOG(fake, i < 2 ? "rw:CALL(5 7: 4 2 oneway)\n" :
					"rw:ACQUIRE(6) CALL(5 7: 4 2 oneway)\n");
	}
	/* And when the call is the first. */
	fake_step(fake)->ret = -EINVAL;
	fake->steps[fake->nr_steps - 1].take = 0;
	CHECK_EQ(call_error(conn), -EINVAL);
	fake_return(fake_step(fake), BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(call_oneway(conn, 2), 0);
	CHECK_LOG(fake, "rw:~CALL(5 7: 4 1 fds)\nrw:CALL(5 7: 4 2 oneway)\n");
	ab_close(conn);
}

static void test_a_received_handle_is_held_before_its_buffer_goes(void)
{
	struct fake *fake = fake_at("a");
	ab_conn *conn = open_at("a");
	ab_parcel *sent = parcel_of(1), *out;
	struct fake_step *step = fake_step(fake);
	ab_object *local;
	uint32_t handle = 0;
	int32_t value;

	CHECK_EQ(ab_write_handle(sent, 9), 0);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	fake_incoming(step, BR_REPLY, NULL, 0, sent);
	CHECK_EQ(ab_call(conn, 5, 7, sent, &out), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 28 1 1 objects fds)\n");
	CHECK_EQ(ab_read_int32(out, &value), 0);
	CHECK_EQ(ab_read_object(out, &handle, &local), 0);
	CHECK_EQ(handle, 9);
	CHECK(!local);
	ab_parcel_free(out);
	CHECK_EQ(ab_release(conn, handle), 0);
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "w:ACQUIRE(9) FREE(0) RELEASE(9)\n");
	ab_parcel_free(sent);
	ab_close(conn);
}

static unsigned int deaths;

static void died(void *data, uint32_t handle)
{
	CHECK_EQ(handle, 9);
	CHECK(data == &deaths);
	deaths++;
}

static void step_death(struct fake *fake, ab_conn *conn)
{
	struct fake_step *step = fake_step(fake);
	binder_uintptr_t cookie = (uintptr_t)conn->deaths;

	fake_return(step, BR_DEAD_BINDER, &cookie);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
}

static void test_a_death_is_told_once(void)
{
	struct fake *fake = fake_at("a");
	ab_conn *conn = open_at("a");
	struct fake_step *step;

	deaths = 0;
	CHECK_EQ(ab_link_death(conn, 9, died, &deaths), 0);
	CHECK_LOG(fake, "w:DEATH(9)\n");
	step_death(fake, conn);
	CHECK_EQ(call_oneway(conn, 1), 0);
	CHECK_EQ(deaths, 1);
	CHECK_LOG(fake, "rw:CALL(5 7: 4 1 oneway)\n");
	/* Once more by mistake: acknowledged, and no more. */
	step = fake_step(fake);
	memcpy(step, &fake->steps[0], sizeof(*step));
	CHECK_EQ(call_oneway(conn, 2), 0);
	CHECK_LOG(fake, "rw:DEATH_DONE CALL(5 7: 4 2 oneway)\n");
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "w:DEATH_DONE\n");
	CHECK_EQ(deaths, 1);
	/* Of two links to one handle, each is told; one that never is, is freed. */
	CHECK_EQ(ab_link_death(conn, 9, died, &deaths), 0);
	CHECK_EQ(ab_link_death(conn, 9, died, &deaths), 0);
	step_death(fake, conn);
	CHECK_EQ(call_oneway(conn, 3), 0);
	CHECK_EQ(deaths, 2);
	ab_close(conn);
}

static void test_two_connections_keep_apart(void)
{
	struct fake *a = fake_at("a"), *b = fake_at("b");
	ab_conn *conn_a = open_at("a"), *conn_b = open_at("b");

	step_reply(a, 10);
	step_reply(b, 20);
	step_reply(a, 11);
	CHECK_EQ(call_value(conn_a, 1), 10);
	CHECK_EQ(call_value(conn_b, 2), 20);
	CHECK_EQ(ab_acquire(conn_b, 3), 0);
	CHECK_EQ(call_value(conn_a, 3), 11);
	CHECK_LOG(a, "rw:CALL(5 7: 4 1 fds)\nrw:FREE(0) CALL(5 7: 4 3 fds)\n");
	CHECK_LOG(b, "rw:CALL(5 7: 4 2 fds)\n");
	CHECK_EQ(ab_flush(conn_a), 0);
	ab_close(conn_a);
	CHECK_LOG(a, "w:FREE(2)\n");
	CHECK_EQ(ab_flush(conn_b), 0);
	CHECK_LOG(b, "w:FREE(1) ACQUIRE(3)\n");
	ab_close(conn_b);
}

static void *say_and_end(void *data)
{
	CHECK_EQ(ab_acquire(data, 4), 0);
	return NULL;
}

static void test_a_thread_that_ends_has_said_all(void)
{
	struct fake *fake = fake_at("a");
	ab_conn *conn = open_at("a");
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, say_and_end, conn), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_LOG(fake, "w:ACQUIRE(4)\n");
	CHECK_EQ(fake->threads_gone, 1);
	ab_close(conn);
}

static const struct fake_case tests[] = {
	FAKE_CASE(test_open_reports_what_failed),
	FAKE_CASE(test_open_passes_the_options),
	FAKE_CASE(test_a_call_is_one_ioctl),
	FAKE_CASE(test_a_refused_call_says_why),
	FAKE_CASE(test_every_error_has_words),
	FAKE_CASE(test_a_status_comes_in_place_of_a_reply),
	FAKE_CASE(test_oneway_waits_for_its_completion_only),
	FAKE_CASE(test_a_bad_parcel_is_not_sent),
	FAKE_CASE(test_a_signal_does_not_send_again),
	FAKE_CASE(test_a_failed_ioctl_withdraws_the_call),
	FAKE_CASE(test_a_received_handle_is_held_before_its_buffer_goes),
	FAKE_CASE(test_a_death_is_told_once),
	FAKE_CASE(test_two_connections_keep_apart),
	FAKE_CASE(test_a_thread_that_ends_has_said_all),
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		fake_reset();
		tests[i].run();
		fake_reset();
		printf("ok %s\n", tests[i].name);
	}
	return 0;
}
