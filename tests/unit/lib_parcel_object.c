// SPDX-License-Identifier: MIT
/* Objects and weak references in parcels: read where they are listed, and held. */
#include "lib_parcel.h"

/* ---- objects ------------------------------------------------------------------------------ */

static int transact(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	return 0;
}

static int destroyed;

static void destroy(void *data)
{
	destroyed++;
}

static const struct ab_class plain = { .transact = transact, .destroy = destroy };

/* The first @size bytes of what @from holds, received from a driver. */
static void receive_cut(ab_parcel *to, const ab_parcel *from, size_t size)
{
	uint8_t *memory = malloc(size);
	struct binder_transaction_data tr = {
		.data.ptr.buffer = (uintptr_t)memory,
		.data.ptr.offsets = (uintptr_t)from->offsets,
		.data_size = size,
		.offsets_size = from->nr_offsets * sizeof(binder_size_t),
	};

	CHECK(memory || !size);
	if (size)
		memcpy(memory, from->data, size);
	ab_parcel_received(to, conn, &tr);
}

/* No driver takes this one back. */
static void receive_end(ab_parcel *parcel)
{
	free(parcel->data);
	parcel->received = false;
	parcel->data = NULL;
	parcel->offsets = NULL;
	parcel->nr_offsets = 0;
	ab_parcel_fini(parcel);
}

/* Every kind, cut at every byte. The padding at the very end may be missing. */
static void test_truncation(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	ab_object *object = ab_object_new(conn, &plain, NULL), *read;
	const void *bytes;
	int32_t small;
	int64_t big;
	size_t len;
	char *text;

	ab_write_int32(parcel, 1);
	ab_write_int64(parcel, 2);
	ab_write_object(parcel, object);
	ab_write_bytes(parcel, "abcde", 5);
	ab_write_string16(parcel, "ab");
	CHECK_EQ(ab_parcel_size(parcel), 4 + 8 + 28 + 12 + 12);
	for (size_t size = 0; size <= ab_parcel_size(parcel); size++) {
		ab_parcel in;

		receive_cut(&in, parcel, size);
		CHECK_EQ(ab_read_int32(&in, &small), size >= 4 ? 0 : -ENODATA);
		if (size >= 4)
			CHECK_EQ(ab_read_int64(&in, &big), size >= 12 ? 0 : -ENODATA);
		if (size >= 12) {
			CHECK_EQ(ab_read_object(&in, &read), size >= 40 ? 0 : -ENODATA);
			CHECK(read == (size >= 40 ? object : NULL));
			ab_object_put(read);
		}
		if (size >= 40)
			CHECK_EQ(ab_read_bytes(&in, &bytes, &len), size >= 49 ? 0 : -ENODATA);
		text = NULL;
		if (size >= 49)
			CHECK_EQ(ab_read_string16(&in, &text), size >= 62 ? 0 : -ENODATA);
		CHECK_EQ(!!text, size >= 62);
		if (text)
			CHECK_STR(text, "ab");
		free(text);
		receive_end(&in);
	}
	ab_object_put(object);
	ab_parcel_free(parcel);
}

static void test_objects_are_read_where_listed(void)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_BINDER, .cookie = 0xdead };
	ab_parcel *parcel = ab_parcel_new(conn), in;
	ab_object *object = ab_object_new(conn, &plain, NULL), *read;
	int32_t word;

	/* The same bytes, listed, unlisted, and listed only next to it. */
	ab_write_object(parcel, object);
	ab_write_raw(parcel, &fbo, sizeof(fbo));
	ab_write_object(parcel, object);
	receive_cut(&in, parcel, ab_parcel_size(parcel));
	CHECK_EQ(ab_read_object(&in, &read), 0);
	CHECK(read == object);
	ab_object_put(read);
	CHECK_EQ(ab_read_object(&in, &read), AB_BAD_TYPE);
	CHECK(!read);
	CHECK_EQ(in.pos, 28);
	ab_parcel_seek(&in, 32);
	CHECK_EQ(ab_read_object(&in, &read), AB_BAD_TYPE);
	/* Plain data is not read out of an object, wherever in it. */
	for (size_t at = 52; at < 76; at += 4) {
		ab_parcel_seek(&in, at);
		CHECK_EQ(ab_read_int32(&in, &word), AB_BAD_TYPE);
	}
	ab_parcel_seek(&in, 52);
	CHECK_EQ(ab_read_object(&in, &read), 0);
	ab_object_put(read);
	CHECK_EQ(ab_read_object(&in, &read), -ENODATA);
	receive_end(&in);
	ab_object_put(object);
	ab_parcel_free(parcel);
}

/* The driver's offsets lie in memory that this process maps: nothing is followed blindly. */
static void test_offsets_that_make_no_sense_are_none(void)
{
	static const binder_size_t offsets[][2] = {
		{ 56, 28 }, { 0, 0 }, { 0, 2 }, { 0, 1000 }, { 0, UINT64_MAX }, { 0, 82 },
		{ 0, 4 }, { 0, 20 }, { 0, 64 }, { 0, 80 },
	};
	ab_object *object = ab_object_new(conn, &plain, NULL), *read;
	ab_parcel *parcel = ab_parcel_new(conn);

	for (int i = 0; i < 3; i++)
		ab_write_object(parcel, object);
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		ab_parcel in;

		memcpy(parcel->offsets, offsets[i], sizeof(offsets[i]));
		receive_cut(&in, parcel, ab_parcel_size(parcel));
		CHECK_EQ(in.nr_offsets, 1);
		CHECK_EQ(ab_read_object(&in, &read), i ? 0 : AB_BAD_TYPE);
		ab_object_put(read);
		receive_end(&in);
	}
	ab_parcel_free(parcel);
	ab_object_put(object);
}

/* As in most releases: nothing is read of an object but the object. */
static void test_plain_data_ends_before_objects(void)
{
	ab_parcel *parcel = ab_parcel_new(conn), *in;
	ab_object *object = ab_object_new(conn, &plain, NULL), *read;
	const void *bytes;
	int32_t *ints;
	int64_t big;
	size_t nr;
	char *text;

	ab_write_int32(parcel, 2);
	ab_write_object(parcel, object);
	CHECK_EQ(ab_write_int32(parcel, 5), 0);
	in = receive(parcel);
	CHECK_EQ(ab_read_int64(in, &big), AB_BAD_TYPE);
	CHECK_EQ(ab_read_int32_array(in, &ints, &nr), AB_BAD_TYPE);
	CHECK(!ints && !nr);
	CHECK_EQ(ab_read_bytes(in, &bytes, &nr), AB_BAD_TYPE);
	CHECK(!bytes && !nr);
	CHECK_EQ(ab_read_string16(in, &text), AB_BAD_TYPE);
	CHECK_EQ(ab_read_string8(in, &text), AB_BAD_TYPE);
	CHECK_EQ(ab_read_raw(in, &bytes, 5), AB_BAD_TYPE);
	CHECK_EQ(ab_read_raw(in, &bytes, ab_parcel_size(in)), AB_BAD_TYPE);
	CHECK_EQ(ab_parcel_position(in), 0);
	CHECK_EQ(ab_read_raw(in, &bytes, 4), 0);
	CHECK(!ab_read_null(in));
	CHECK_EQ(ab_read_object(in, &read), 0);
	ab_object_put(read);
	CHECK_EQ(ab_read_raw(in, &bytes, 4), 0);
	ab_parcel_free(in);
	ab_parcel_free(parcel);
	ab_object_put(object);
}

/* Those of other kinds are larger, and are no business of a reader's. */
static void test_objects_of_other_kinds(void)
{
	static const struct ab_pin none = { .fd = -1 };
	struct binder_buffer_object buffer = { .hdr.type = BINDER_TYPE_PTR };
	struct binder_fd_array_object array = { .hdr.type = BINDER_TYPE_FDA };
	ab_parcel *parcel = ab_parcel_new(conn), *in;
	ab_object *read;
	ab_weak *weak;
	int32_t word;
	int fd;

	ab_parcel_add_object(parcel, &buffer, sizeof(buffer), &none);
	CHECK_EQ(ab_parcel_add_object(parcel, &array, sizeof(array), &none), 0);
	in = receive(parcel);
	CHECK_EQ(in->nr_offsets, 2);
	for (size_t at = 0; at < ab_parcel_size(in); at += 4) {
		CHECK_EQ(ab_parcel_seek(in, at), 0);
		CHECK_EQ(ab_read_int32(in, &word), AB_BAD_TYPE);
		CHECK(ab_read_nullable_object(in, &read) && !read);
		CHECK(ab_read_nullable_weak(in, &weak) && !weak);
		CHECK(ab_read_fd(in, &fd) && fd == -1);
		CHECK_EQ(ab_parcel_position(in), at);
	}
	ab_parcel_free(in);
	ab_parcel_free(parcel);
}

/* What is left of an array that cannot be read to its end: nothing. */
static void test_arrays_of_objects(void)
{
	ab_parcel *parcel = ab_parcel_new(conn), *in;
	ab_object *object = ab_object_new(conn, &plain, NULL), **read;
	ab_object *const three[] = { object, NULL, object };
	size_t nr;

	destroyed = 0;
	ab_write_object_array(parcel, NULL, 3);
	ab_write_object_array(parcel, three, 0);
	CHECK_EQ(ab_write_object_array(parcel, three, 3), 0);
	ab_object_put(object);
	for (int received = 0; received < 2; received++) {
		in = received ? receive(parcel) : parcel;
		CHECK_EQ(ab_read_object_array(in, &read, &nr), AB_UNEXPECTED_NULL);
		CHECK(ab_read_null(in));
		CHECK_EQ(ab_read_object_array(in, &read, &nr), 0);
		CHECK(read && !nr);
		free(read);
		CHECK_EQ(ab_read_object_array(in, &read, &nr), 0);
		CHECK_EQ(nr, 3);
		for (size_t i = 0; i < nr; i++) {
			CHECK(read[i] == three[i]);
			ab_object_put(read[i]);
		}
		free(read);
	}
	ab_parcel_free(in);
	/* The last one lacks its stability. */
	parcel->size -= 4;
	in = receive(parcel);
	CHECK_EQ(ab_parcel_seek(in, 8), 0);
	CHECK_EQ(ab_read_object_array(in, &read, &nr), -ENODATA);
	CHECK(!read && !nr);
	CHECK_EQ(ab_parcel_position(in), 8);
	ab_parcel_free(in);
	CHECK_EQ(destroyed, 0);
	ab_parcel_free(parcel);
	CHECK_EQ(destroyed, 1);
}

static void test_weak_references(void)
{
	ab_parcel *parcel = ab_parcel_new(conn), *in;
	ab_object *object = ab_object_new(conn, &plain, NULL), *read;
	ab_weak *weak;

	destroyed = 0;
	ab_write_weak(parcel, object);
	CHECK_EQ(ab_write_weak(parcel, NULL), 0);
	/* No stability behind either. */
	CHECK_EQ(ab_parcel_size(parcel), 48);
	CHECK_EQ(parcel->nr_offsets, 1);
	for (int received = 0; received < 2; received++) {
		in = received ? receive(parcel) : parcel;
		CHECK_EQ(ab_read_object(in, &read), AB_BAD_TYPE);
		CHECK_EQ(ab_parcel_position(in), 0);
		CHECK_EQ(ab_read_weak(in, &weak), 0);
		CHECK_EQ(ab_weak_lock(weak, &read), 0);
		CHECK(read == object);
		ab_object_put(read);
		ab_weak_put(weak);
		CHECK_EQ(ab_read_weak(in, &weak), AB_UNEXPECTED_NULL);
		CHECK(!weak);
		CHECK_EQ(ab_parcel_position(in), 24);
		CHECK_EQ(ab_read_nullable_weak(in, &weak), 0);
		CHECK(!weak);
		CHECK_EQ(ab_read_nullable_weak(in, &weak), -ENODATA);
	}
	/* A strong one is no weak one. */
	ab_parcel_free(in);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_object(parcel, object), 0);
	CHECK_EQ(ab_read_weak(parcel, &weak), AB_BAD_TYPE);
	ab_parcel_reset(parcel);
	ab_write_weak(parcel, object);
	ab_object_put(object);
	CHECK_EQ(destroyed, 1);
	CHECK_EQ(ab_read_weak(parcel, &weak), 0);
	ab_parcel_free(parcel);
	CHECK_EQ(ab_weak_lock(weak, &read), -ESTALE);
	ab_weak_put(weak);
}

static void test_a_parcel_holds_what_is_in_it(void)
{
	ab_object *object = ab_object_new(conn, &plain, NULL), *read;
	ab_parcel *parcel = ab_parcel_new(conn);

	destroyed = 0;
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(ab_write_int32(parcel, i), 0);
		CHECK_EQ(ab_write_object(parcel, object), 0);
	}
	ab_object_put(object);
	CHECK_EQ(destroyed, 0);
	for (int32_t i = 0, value; i < 100; i++) {
		CHECK_EQ(ab_read_object(parcel, &read), AB_BAD_TYPE);
		CHECK_EQ(ab_read_int32(parcel, &value), 0);
		CHECK_EQ(ab_read_object(parcel, &read), 0);
		CHECK(read == object);
		ab_object_put(read);
	}
	ab_parcel_reset(parcel);
	CHECK_EQ(destroyed, 1);
	ab_parcel_free(parcel);
}

static void test_null_objects_are_not_listed(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	ab_object *read;

	CHECK_EQ(ab_write_object(parcel, NULL), 0);
	CHECK_EQ(parcel->nr_offsets, 0);
	EXPECT_BYTES(parcel, "\x85*bs\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" "\0\0\0\0");
	CHECK_EQ(ab_read_object(parcel, &read), AB_UNEXPECTED_NULL);
	CHECK_EQ(ab_parcel_position(parcel), 0);
	CHECK_EQ(ab_read_nullable_object(parcel, &read), 0);
	CHECK(!read);
	CHECK_EQ(ab_parcel_left(parcel), 0);
	ab_parcel_free(parcel);
}

/* Something in its place that is not all null is nothing. */
static void test_what_is_not_quite_null(void)
{
	static const struct flat_binder_object almost[] = {
		{ .hdr.type = BINDER_TYPE_BINDER, .binder = 1 },
		{ .hdr.type = BINDER_TYPE_BINDER, .cookie = 1 },
		{ .hdr.type = BINDER_TYPE_BINDER, .binder = 1ull << 32 },
		{ .hdr.type = BINDER_TYPE_BINDER, .cookie = 1ull << 63 },
		{ .hdr.type = BINDER_TYPE_WEAK_BINDER }, { .hdr.type = BINDER_TYPE_HANDLE },
		{ .hdr.type = BINDER_TYPE_FD }, { .hdr.type = 0 },
	};
	ab_parcel *parcel = ab_parcel_new(conn);
	ab_object *read;
	ab_weak *weak;

	for (size_t i = 0; i < ARRAY_SIZE(almost); i++) {
		ab_parcel_reset(parcel);
		ab_write_raw(parcel, &almost[i], sizeof(almost[i]));
		CHECK_EQ(ab_write_int32(parcel, 0), 0);
		CHECK_EQ(ab_read_object(parcel, &read), AB_BAD_TYPE);
		CHECK_EQ(ab_read_nullable_object(parcel, &read), AB_BAD_TYPE);
		CHECK_EQ(ab_read_weak(parcel, &weak), AB_BAD_TYPE);
		CHECK_EQ(ab_read_nullable_weak(parcel, &weak), AB_BAD_TYPE);
		CHECK(!read && !weak);
		CHECK_EQ(ab_parcel_position(parcel), 0);
	}
	ab_parcel_free(parcel);
}

static void test_objects_of_another_connection_are_refused(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	ab_object *object;
	ab_conn *other;

	CHECK_EQ(ab_open(&other, "b", NULL), 0);
	object = ab_object_new(other, &plain, NULL);
	CHECK_EQ(ab_write_object(parcel, object), -EXDEV);
	CHECK_EQ(ab_write_int32(parcel, 1), -EXDEV);
	ab_object_put(object);
	ab_parcel_free(parcel);
	ab_close(other);
}

static void test_a_closed_connection_is_no_want_of_memory(void)
{
	ab_object *proxy, *read;
	ab_parcel *parcel;
	ab_conn *other;
	ab_weak *weak;

	CHECK_EQ(ab_open(&other, "b", NULL), 0);
	proxy = fake_proxy(other, 9);
	parcel = ab_parcel_new(other);
	ab_write_object(parcel, proxy);
	CHECK_EQ(ab_write_weak(parcel, proxy), 0);
	ab_close(other);
	/* What a parcel holds is not the driver's. */
	CHECK_EQ(ab_read_object(parcel, &read), 0);
	CHECK(read == proxy);
	ab_object_put(read);
	CHECK_EQ(ab_read_weak(parcel, &weak), -EBADF);
	CHECK(!weak);
	CHECK_EQ(ab_parcel_position(parcel), 28);
	CHECK_EQ(ab_write_weak(parcel, proxy), -EBADF);
	CHECK_EQ(ab_parcel_error(parcel), -EBADF);
	ab_parcel_free(parcel);
	ab_object_put(proxy);
}

static const struct fake_case cases[] = {
	FAKE_CASE(test_truncation),
	FAKE_CASE(test_objects_are_read_where_listed),
	FAKE_CASE(test_offsets_that_make_no_sense_are_none),
	FAKE_CASE(test_plain_data_ends_before_objects),
	FAKE_CASE(test_objects_of_other_kinds),
	FAKE_CASE(test_arrays_of_objects),
	FAKE_CASE(test_weak_references),
	FAKE_CASE(test_a_parcel_holds_what_is_in_it),
	FAKE_CASE(test_null_objects_are_not_listed),
	FAKE_CASE(test_what_is_not_quite_null),
	FAKE_CASE(test_objects_of_another_connection_are_refused),
	FAKE_CASE(test_a_closed_connection_is_no_want_of_memory),
};

PARCEL_MAIN(cases)
