// SPDX-License-Identifier: MIT
/*
 * Parcels: numbers as bytes, and the parcel itself. Random ones are lib_fuzz.c's.
 */
#include "lib_parcel.h"

#include <math.h>

static void test_integers(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	int32_t small;
	int64_t big;

	CHECK_EQ(ab_parcel_size(parcel), 0);
	CHECK_EQ(ab_read_int32(parcel, &small), -ENODATA);
	CHECK_EQ(ab_write_int32(parcel, INT32_MIN), 0);
	CHECK_EQ(ab_write_int64(parcel, 0x0123456789abcdef), 0);
	EXPECT_BYTES(parcel, "\0\0\0\x80\xef\xcd\xab\x89\x67\x45\x23\x01");
	CHECK_EQ(ab_read_int32(parcel, &small), 0);
	CHECK_EQ(small, INT32_MIN);
	CHECK_EQ(ab_read_int64(parcel, &big), 0);
	CHECK_EQ(big, 0x0123456789abcdef);
	CHECK_EQ(ab_read_int64(parcel, &big), -ENODATA);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_parcel_size(parcel), 0);
	CHECK_EQ(ab_read_int32(parcel, &small), -ENODATA);
	ab_parcel_free(parcel);
	ab_parcel_free(NULL);
}

static void test_scalars(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	uint16_t unit;
	double d;
	int8_t byte;
	float f;
	bool b;

	ab_write_bool(parcel, true);
	ab_write_byte(parcel, -2);
	ab_write_char16(parcel, 0xfffe);
	ab_write_float(parcel, 1.5f);
	ab_write_double(parcel, -2.0);
	ab_write_double(parcel, NAN);
	CHECK_EQ(ab_write_int32(parcel, 7), 0);
	EXPECT_BYTES(parcel, "\1\0\0\0" "\xfe\xff\xff\xff" "\xfe\xff\0\0" "\0\0\xc0\x3f"
		     "\0\0\0\0\0\0\0\xc0" "\0\0\0\0\0\0\xf8\x7f" "\7\0\0\0");
	CHECK_EQ(ab_read_bool(parcel, &b), 0);
	CHECK(b);
	CHECK_EQ(ab_read_byte(parcel, &byte), 0);
	CHECK_EQ(byte, -2);
	CHECK_EQ(ab_read_char16(parcel, &unit), 0);
	CHECK_EQ(unit, 0xfffe);
	CHECK_EQ(ab_read_float(parcel, &f), 0);
	CHECK(f == 1.5f);
	CHECK_EQ(ab_read_double(parcel, &d), 0);
	CHECK(d == -2.0);
	CHECK_EQ(ab_read_double(parcel, &d), 0);
	CHECK(isnan(d));
	/* Any word but 0 is true. */
	CHECK_EQ(ab_read_bool(parcel, &b), 0);
	CHECK(b);
	CHECK_EQ(ab_read_bool(parcel, &b), -ENODATA);
	CHECK(!b);
	ab_parcel_free(parcel);
}

static void test_seeking(void)
{
	ab_parcel *parcel = ab_parcel_new(conn), *in;
	int32_t value;

	CHECK_EQ(ab_parcel_seek(parcel, 0), 0);
	CHECK_EQ(ab_parcel_seek(parcel, 4), -EINVAL);
	for (int32_t i = 0; i < 10; i++)
		CHECK_EQ(ab_write_int32(parcel, i), 0);
	for (size_t at = 0; at <= 44; at++) {
		bool fine = at % 4 == 0 && at <= 40;

		CHECK_EQ(ab_parcel_seek(parcel, at), fine ? 0 : -EINVAL);
		CHECK_EQ(ab_parcel_position(parcel), at > 40 ? 40 : at / 4 * 4);
		CHECK_EQ(ab_parcel_left(parcel), 40 - ab_parcel_position(parcel));
		if (at < 40 && fine) {
			CHECK_EQ(ab_read_int32(parcel, &value), 0);
			CHECK_EQ(value, at / 4);
			CHECK_EQ(ab_parcel_seek(parcel, at), 0);
		}
	}
	/* A received one may end anywhere. */
	parcel->size = 38;
	in = receive(parcel);
	parcel->size = 40;
	CHECK_EQ(ab_parcel_seek(in, 38), 0);
	CHECK_EQ(ab_parcel_seek(in, 36), 0);
	CHECK_EQ(ab_read_int32(in, &value), -ENODATA);
	CHECK_EQ(value, 0);
	ab_parcel_free(in);
	ab_parcel_free(parcel);
}

static void test_a_parcel_grows(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	int32_t value;

	for (int32_t i = 0; i < 1 << 20; i++)
		CHECK_EQ(ab_write_int32(parcel, i), 0);
	CHECK_EQ(ab_parcel_size(parcel), 4 << 20);
	CHECK_EQ(ab_write_raw(parcel, NULL, 0), 0);
	CHECK_EQ(ab_write_byte(parcel, 0), -E2BIG);
	CHECK_EQ(ab_parcel_size(parcel), 4 << 20);
	for (int32_t i = 0; i < 1 << 20; i++) {
		CHECK_EQ(ab_read_int32(parcel, &value), 0);
		CHECK_EQ(value, i);
	}
	ab_parcel_free(parcel);
}

static void test_received_parcels_are_not_written(void)
{
	ab_object *object = ab_object_new(conn, &(const struct ab_class){ .flags = 0 }, NULL);
	ab_parcel *parcel = fake_parcel(7), *in;
	int32_t value;

	in = receive(parcel);
	CHECK_EQ(ab_write_parcelable_end(in, 0), -EPERM);
	CHECK_EQ(ab_write_int32(in, 1), -EPERM);
	CHECK_EQ(ab_write_object(in, object), -EPERM);
	CHECK_EQ(ab_write_raw(in, NULL, 0), -EPERM);
	CHECK_EQ(ab_parcel_error(in), -EPERM);
	/* It can still be read; and emptied, it is an ordinary one. */
	CHECK_EQ(ab_read_int32(in, &value), 0);
	CHECK_EQ(value, 7);
	ab_parcel_reset(in);
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake_at("a"), "w:FREE(0)\n");
	CHECK_EQ(ab_write_int32(in, 8), 0);
	EXPECT_BYTES(in, "\x08\0\0\0");
	ab_parcel_free(in);
	ab_parcel_free(parcel);
	ab_object_put(object);
}

/* Received, freed: what has gone to the driver before anything else is said. */
static void expect_freed(const ab_parcel *parcel, bool at_once)
{
	ab_parcel *in = receive(parcel);
	struct fake *fake = fake_at("a");

	ab_parcel_free(in);
	CHECK_EQ(fake_buffers_live(), !at_once);
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_EQ(fake_buffers_live(), 0);
	fake->log_len = 0;
	fake->log[0] = '\0';
}

static void test_when_buffers_go_back(void)
{
	ab_conn *before = conn;
	ab_object *object;
	ab_parcel *parcel;

	ab_close(before);
	fake_reset();
	CHECK_EQ(ab_open(&conn, "a", &(struct ab_options){ .map_size = 65536 }), 0);
	object = ab_object_new(conn, &(const struct ab_class){ .flags = 0 }, NULL);
	parcel = ab_parcel_new(conn);
	expect_freed(parcel, false);
	for (int i = 0; i < 4095; i++)
		CHECK_EQ(ab_write_int32(parcel, 0), 0);
	expect_freed(parcel, false);
	ab_write_int32(parcel, 0);
	expect_freed(parcel, true);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_object(parcel, object), 0);
	expect_freed(parcel, true);
	ab_parcel_free(parcel);
	ab_object_put(object);
}

/* ---- writing that goes wrong ----------------------------------------------------------------- */

static void test_errors_stick(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	char *big = malloc(AB_PARCEL_MAX);

	CHECK(big);
	memset(big, 'x', AB_PARCEL_MAX);
	CHECK_EQ(ab_write_bytes(parcel, big, AB_PARCEL_MAX - 4), 0);
	CHECK_EQ(ab_write_int32(parcel, 1), -E2BIG);
	CHECK_EQ(ab_write_string16(parcel, "x"), -E2BIG);
	CHECK_EQ(ab_write_object(parcel, NULL), -E2BIG);
	CHECK_EQ(ab_parcel_error(parcel), -E2BIG);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_int32(parcel, 1), 0);
	CHECK_EQ(ab_write_int64_array(parcel, (const int64_t *)(const void *)big, SIZE_MAX),
		 -E2BIG);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_utf16(parcel, (const uint16_t *)(const void *)big, SIZE_MAX / 2), -E2BIG);
	free(big);
	ab_parcel_free(parcel);
}

static void test_writing_a_parcel_that_could_not_be_made(void)
{
	ab_object *object = ab_object_new(conn, &(const struct ab_class){ .flags = 0 }, NULL);
	size_t mark;

	CHECK_EQ(ab_write_int32(NULL, 1), -ENOMEM);
	CHECK_EQ(ab_write_string16(NULL, "x"), -ENOMEM);
	CHECK_EQ(ab_write_string8(NULL, "x"), -ENOMEM);
	CHECK_EQ(ab_write_utf16(NULL, NULL, 0), -ENOMEM);
	CHECK_EQ(ab_write_bytes(NULL, "x", 1), -ENOMEM);
	CHECK_EQ(ab_write_raw(NULL, "x", 1), -ENOMEM);
	CHECK_EQ(ab_write_int64_array(NULL, NULL, 0), -ENOMEM);
	CHECK_EQ(ab_write_bool_array(NULL, (const bool[]){ true }, 1), -ENOMEM);
	CHECK_EQ(ab_write_object(NULL, object), -ENOMEM);
	CHECK_EQ(ab_write_weak(NULL, object), -ENOMEM);
	CHECK_EQ(ab_write_object_array(NULL, &object, 1), -ENOMEM);
	CHECK_EQ(ab_write_fd(NULL, 0), -ENOMEM);
	CHECK_EQ(ab_write_parcel_fd(NULL, 0), -ENOMEM);
	CHECK_EQ(ab_write_string16_array(NULL, NULL, 0), -ENOMEM);
	CHECK_EQ(ab_write_parcelable_begin(NULL, &mark), -ENOMEM);
	CHECK_EQ(ab_write_parcelable_end(NULL, mark), -ENOMEM);
	CHECK_EQ(ab_write_token(NULL, "x"), -ENOMEM);
	CHECK_EQ(ab_write_status(NULL, AB_EX_SECURITY, 0, "\xff"), -ENOMEM);
	CHECK_EQ(ab_parcel_error(NULL), -ENOMEM);
	ab_parcel_reset(NULL);
	ab_parcel_mark_sensitive(NULL);
	ab_parcel_free(NULL);
	ab_object_put(object);
}

static void test_reading_a_parcel_that_could_not_be_made(void)
{
	const void *bytes;
	char *text, **strings;
	ab_object *object;
	int32_t value;
	ab_weak *weak;
	size_t nr;
	int fd;

	CHECK_EQ(ab_read_int32(NULL, &value), -ENOMEM);
	CHECK_EQ(ab_read_string16(NULL, &text), -ENOMEM);
	CHECK_EQ(ab_read_nullable_string8(NULL, &text), -ENOMEM);
	CHECK_EQ(ab_read_bytes(NULL, &bytes, &nr), -ENOMEM);
	CHECK_EQ(ab_read_raw(NULL, &bytes, 0), -ENOMEM);
	CHECK_EQ(ab_read_string16_array(NULL, &strings, &nr), -ENOMEM);
	CHECK_EQ(ab_read_object(NULL, &object), -ENOMEM);
	CHECK_EQ(ab_read_weak(NULL, &weak), -ENOMEM);
	CHECK_EQ(ab_read_fd(NULL, &fd), -ENOMEM);
	CHECK_EQ(ab_read_parcel_fd(NULL, &fd), -ENOMEM);
	CHECK_EQ(ab_read_parcelable_begin(NULL, &nr), -ENOMEM);
	CHECK_EQ(ab_read_parcelable_end(NULL, 0), -ENOMEM);
	CHECK_EQ(ab_read_token(NULL, "x"), -ENOMEM);
	CHECK_EQ(ab_read_status(NULL, NULL), -ENOMEM);
	CHECK_EQ(ab_parcel_seek(NULL, 0), -ENOMEM);
	CHECK(!ab_read_null(NULL) && !ab_parcel_data(NULL));
	CHECK_EQ(ab_parcel_size(NULL) + ab_parcel_position(NULL) + ab_parcel_left(NULL), 0);
}

static const struct fake_case cases[] = {
	FAKE_CASE(test_integers),
	FAKE_CASE(test_scalars),
	FAKE_CASE(test_seeking),
	FAKE_CASE(test_a_parcel_grows),
	FAKE_CASE(test_received_parcels_are_not_written),
	FAKE_CASE(test_when_buffers_go_back),
	FAKE_CASE(test_errors_stick),
	FAKE_CASE(test_writing_a_parcel_that_could_not_be_made),
	FAKE_CASE(test_reading_a_parcel_that_could_not_be_made),
};

PARCEL_MAIN(cases)
