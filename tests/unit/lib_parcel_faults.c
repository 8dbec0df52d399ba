// SPDX-License-Identifier: MIT
/* Parcels when memory is short: each allocation of each writer and reader fails once. */
#include "lib_wrap.h"

#include "lib_parcel.h"

#include <fcntl.h>
#include <unistd.h>

static unsigned int destroyed;

static void on_destroy(void *data)
{
	destroyed++;
}

static const struct ab_class plain = { .destroy = on_destroy };

/* The number that the next descriptor gets: more when one is left open. */
static int next_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void write_arrays(ab_parcel *parcel)
{
	static const int32_t values[100];
	static const char *const strings[] = { "a", NULL, "b" };

	ab_write_bytes(parcel, values, sizeof(values));
	ab_write_bool_array(parcel, (const bool *)(const void *)values, 100);
	ab_write_char16_array(parcel, (const uint16_t *)(const void *)values, 100);
	ab_write_int32_array(parcel, values, 100);
	ab_write_int64_array(parcel, (const int64_t *)(const void *)values, 50);
	ab_write_float_array(parcel, (const float *)(const void *)values, 100);
	ab_write_double_array(parcel, (const double *)(const void *)values, 50);
	ab_write_string16_array(parcel, strings, 3);
}

static void write_all(ab_parcel *parcel, ab_object *object)
{
	ab_object *const two[] = { object, object };
	size_t mark;

	ab_write_token(parcel, "an.interface");
	ab_write_status(parcel, AB_EX_SERVICE_SPECIFIC, 1, "why");
	ab_write_string16(parcel, "text");
	ab_write_string8(parcel, "text");
	write_arrays(parcel);
	ab_write_parcelable_begin(parcel, &mark);
	ab_write_raw(parcel, "raw", 3);
	ab_write_parcelable_end(parcel, mark);
	ab_write_object(parcel, object);
	ab_write_weak(parcel, object);
	ab_write_object_array(parcel, two, 2);
	ab_write_parcel_fd(parcel, STDERR_FILENO);
}

static void test_writers(void)
{
	int fd = next_fd();
	bool all = false;

	for (wrap_fail_at = 1; !all; wrap_fail_at++) {
		ab_object *object = ab_object_new(conn, &plain, NULL);
		ab_parcel *parcel;

		destroyed = wrap_allocations = 0;
		wrap_armed = true;
		parcel = ab_parcel_new(conn);
		write_all(parcel, object);
		wrap_armed = false;
		all = wrap_allocations < wrap_fail_at;
		CHECK_EQ(ab_parcel_error(parcel), all ? 0 : -ENOMEM);
		/* It can be used again. */
		ab_parcel_reset(parcel);
		if (parcel) {
			write_all(parcel, object);
			CHECK_EQ(ab_parcel_error(parcel), 0);
		}
		ab_object_put(object);
		CHECK_EQ(destroyed, !parcel);
		ab_parcel_free(parcel);
		CHECK_EQ(destroyed, 1);
		CHECK_EQ(next_fd(), fd);
	}
	CHECK(wrap_fail_at > 6);
}

/* ---- reading ------------------------------------------------------------------------------ */

static ab_parcel *in;
static unsigned int failures;

/* A read that fails for want of memory leaves the place, and what is read, and succeeds later. */
#define READ(call, nothing) do {							\
	size_t before_ = ab_parcel_position(in);					\
	int ret_;									\
	wrap_armed = true;								\
	ret_ = call;									\
	wrap_armed = false;								\
	if (ret_) {									\
		CHECK_EQ(ret_, -ENOMEM);						\
		CHECK(nothing);								\
		CHECK_EQ(ab_parcel_position(in), before_);				\
		failures++;								\
		CHECK_EQ(call, 0);							\
	}										\
} while (0)

#define READ_ARRAY(type, reader) do {							\
	type *values_ = NULL;								\
	size_t nr_;									\
	READ(reader(in, &values_, &nr_), !values_ && !nr_);				\
	free(values_);									\
} while (0)

static int read_status(struct ab_status *status)
{
	int ret = ab_read_status(in, status);

	return ret == -EREMOTEIO ? 0 : ret;
}

static void read_texts(void)
{
	struct ab_status status;
	char *text, **strings;
	size_t nr;

	READ(ab_read_token(in, "an.interface"), true);
	READ(read_status(&status), !status.message && !status.exception);
	CHECK_STR(status.message, "why");
	ab_status_fini(&status);
	READ(ab_read_string16(in, &text), !text);
	free(text);
	READ(ab_read_string8(in, &text), !text);
	free(text);
	CHECK_EQ(ab_read_bytes(in, &(const void *){ NULL }, &nr), 0);
	READ_ARRAY(bool, ab_read_bool_array);
	READ_ARRAY(uint16_t, ab_read_char16_array);
	READ_ARRAY(int32_t, ab_read_int32_array);
	READ_ARRAY(int64_t, ab_read_int64_array);
	READ_ARRAY(float, ab_read_float_array);
	READ_ARRAY(double, ab_read_double_array);
	READ(ab_read_string16_array(in, &strings, &nr), !strings && !nr);
	ab_strings_free(strings, nr);
}

static void read_objects(void)
{
	ab_object *object, **objects;
	ab_weak *weak;
	size_t end, nr;
	int fd;

	CHECK_EQ(ab_read_parcelable_begin(in, &end), 0);
	CHECK_EQ(ab_read_parcelable_end(in, end), 0);
	READ(ab_read_object(in, &object), !object);
	ab_object_put(object);
	READ(ab_read_weak(in, &weak), !weak);
	ab_weak_put(weak);
	READ(ab_read_object_array(in, &objects, &nr), !objects && !nr);
	CHECK_EQ(nr, 2);
	ab_object_put(objects[0]);
	ab_object_put(objects[1]);
	free(objects);
	READ(ab_read_parcel_fd(in, &fd), fd == -1);
	close(fd);
	CHECK_EQ(ab_parcel_left(in), 0);
}

/* Turn the objects in @parcel into such of somebody else's, as the driver would. */
static void make_foreign(ab_parcel *parcel)
{
	for (size_t i = 0; i < parcel->nr_offsets; i++) {
		struct flat_binder_object fbo;

		memcpy(&fbo, parcel->data + parcel->offsets[i], sizeof(fbo));
		if (fbo.hdr.type == BINDER_TYPE_FD) {
			fbo.handle = (uint32_t)dup((int)fbo.handle);
		} else {
			fbo.hdr.type = fbo.hdr.type == BINDER_TYPE_BINDER ?
				BINDER_TYPE_HANDLE : BINDER_TYPE_WEAK_HANDLE;
			fbo.binder = fbo.cookie = 0;
			fbo.handle = (uint32_t)(9 + i);
		}
		memcpy(parcel->data + parcel->offsets[i], &fbo, sizeof(fbo));
	}
}

static void test_readers(void)
{
	int fd = next_fd();
	bool all = false;

	for (wrap_fail_at = 1; !all; wrap_fail_at++) {
		ab_object *object = ab_object_new(conn, &plain, NULL);
		ab_parcel *parcel = ab_parcel_new(conn);

		write_all(parcel, object);
		make_foreign(parcel);
		in = receive(parcel);
		failures = wrap_allocations = 0;
		read_texts();
		read_objects();
		all = wrap_allocations < wrap_fail_at;
		CHECK_EQ(failures, !all);
		ab_parcel_free(in);
		ab_parcel_free(parcel);
		ab_object_put(object);
		CHECK_EQ(ab_flush(conn), 0);
		for (size_t i = 0; i < FAKE_HANDLES; i++) {
			CHECK_EQ(fake_at("a")->strong[i], 0);
			CHECK_EQ(fake_at("a")->weak[i], 0);
		}
		CHECK_EQ(next_fd(), fd);
		ab_close(conn);
		fake_reset();
		CHECK_EQ(ab_open(&conn, "a", NULL), 0);
	}
	CHECK(wrap_fail_at > 15);
}

/* ---- how often ------------------------------------------------------------------------------ */

static void test_appending_allocates_seldom(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);

	wrap_fail_at = wrap_allocations = 0;
	wrap_armed = true;
	for (int32_t i = 0; i < 1 << 20; i++)
		ab_write_int32(parcel, i);
	wrap_armed = false;
	CHECK_EQ(ab_parcel_error(parcel), 0);
	CHECK(wrap_allocations < 20);
	ab_parcel_free(parcel);
}

static void test_a_reused_parcel_allocates_nothing(void)
{
	ab_object *object = ab_object_new(conn, &plain, NULL);
	ab_parcel *parcel = ab_parcel_new(conn);

	wrap_fail_at = wrap_allocations = 0;
	for (int i = 0; i < 1000; i++) {
		wrap_armed = i > 0;
		ab_parcel_reset(parcel);
		ab_write_token(parcel, "an.interface");
		ab_write_int64(parcel, i);
		CHECK_EQ(ab_write_object(parcel, object), 0);
		wrap_armed = false;
	}
	CHECK_EQ(wrap_allocations, 0);
	ab_parcel_free(parcel);
	ab_object_put(object);
}

static const struct fake_case cases[] = {
	FAKE_CASE(test_writers),
	FAKE_CASE(test_readers),
	FAKE_CASE(test_appending_allocates_seldom),
	FAKE_CASE(test_a_reused_parcel_allocates_nothing),
};

PARCEL_MAIN(cases)
