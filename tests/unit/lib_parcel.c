// SPDX-License-Identifier: MIT
/*
 * Parcels: the bytes that are written, and that nothing is read that is not there.
 * Random ones are lib_fuzz.c's.
 */
#include "lib_fake.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "lib/internal.h"

static ab_conn *conn;

static void expect_bytes(const ab_parcel *parcel, const char *want, size_t len)
{
	CHECK_EQ(ab_parcel_size(parcel), len);
	CHECK(!memcmp(parcel->data, want, len));
}

#define EXPECT_BYTES(parcel, bytes) expect_bytes(parcel, bytes, sizeof(bytes) - 1)

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

static void test_bytes_and_padding(void)
{
	static const char *const wire[] = {
		"\0\0\0\0", "\1\0\0\0a\0\0\0", "\2\0\0\0ab\0\0", "\3\0\0\0abc\0", "\4\0\0\0abcd",
		"\5\0\0\0abcde\0\0\0",
	};
	ab_parcel *parcel = ab_parcel_new(conn);
	const void *bytes;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(wire); i++) {
		ab_parcel_reset(parcel);
		/* Padding is zero even where something was before. */
		ab_write_bytes(parcel, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9);
		ab_parcel_reset(parcel);
		CHECK_EQ(ab_write_bytes(parcel, "abcde", i), 0);
		expect_bytes(parcel, wire[i], 4 + AB_PAD(i));
		CHECK_EQ(ab_read_bytes(parcel, &bytes, &len), 0);
		CHECK_EQ(len, i);
		CHECK(bytes && !memcmp(bytes, "abcde", i));
		CHECK_EQ(parcel->pos, parcel->size);
	}
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_bytes(parcel, NULL, 5), 0);
	EXPECT_BYTES(parcel, "\xff\xff\xff\xff");
	bytes = parcel;
	CHECK_EQ(ab_read_bytes(parcel, &bytes, &len), AB_UNEXPECTED_NULL);
	CHECK(!bytes && !len);
	CHECK(ab_read_null(parcel));
	CHECK(!ab_read_null(parcel));
	ab_parcel_free(parcel);
}

/* Counts that no sender of ours writes. */
static void test_counts_out_of_range(void)
{
	static const int32_t counts[] = { -2, INT32_MIN, INT32_MAX, INT32_MAX - 1, 9, 1 << 30 };
	const void *bytes;
	char *text;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		ab_parcel *parcel = ab_parcel_new(conn);
		int want = counts[i] < 0 ? AB_BAD_TYPE : -ENODATA;
		int32_t again;

		ab_write_int32(parcel, counts[i]);
		ab_write_int64(parcel, 0);
		CHECK_EQ(ab_read_bytes(parcel, &bytes, &len), want);
		CHECK(!bytes && !len);
		CHECK_EQ(ab_read_string16(parcel, &text), want);
		CHECK(!text);
		/* A failed read leaves the position. */
		CHECK_EQ(ab_read_int32(parcel, &again), 0);
		CHECK_EQ(again, counts[i]);
		ab_parcel_free(parcel);
	}
}

static void round_trip(const char *utf8, const char *wire, size_t len)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	char *back;

	CHECK_EQ(ab_write_string16(parcel, utf8), 0);
	expect_bytes(parcel, wire, len);
	CHECK_EQ(ab_read_string16(parcel, &back), 0);
	CHECK_STR(back, utf8);
	CHECK_EQ(parcel->pos, parcel->size);
	free(back);
	ab_parcel_free(parcel);
}

#define ROUND_TRIP(utf8, wire) round_trip(utf8, wire, sizeof(wire) - 1)

static void test_string16(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	char *back = NULL;

	ROUND_TRIP("", "\0\0\0\0" "\0\0\0\0");
	ROUND_TRIP("a", "\1\0\0\0" "a\0\0\0");
	ROUND_TRIP("ab", "\2\0\0\0" "a\0b\0" "\0\0\0\0");
	ROUND_TRIP("abc", "\3\0\0\0" "a\0b\0c\0\0\0");
	/* The first and the last of each length. */
	ROUND_TRIP("\x7f\xc2\x80", "\2\0\0\0" "\x7f\0\x80\0" "\0\0\0\0");
	ROUND_TRIP("\xdf\xbf\xe0\xa0\x80", "\2\0\0\0" "\xff\x07\0\x08" "\0\0\0\0");
	ROUND_TRIP("\xed\x9f\xbf\xee\x80\x80", "\2\0\0\0" "\xff\xd7\0\xe0" "\0\0\0\0");
	ROUND_TRIP("\xef\xbf\xbf", "\1\0\0\0" "\xff\xff\0\0");
	ROUND_TRIP("\xf0\x90\x80\x80", "\2\0\0\0" "\0\xd8\0\xdc" "\0\0\0\0");
	ROUND_TRIP("\xf4\x8f\xbf\xbf", "\2\0\0\0" "\xff\xdb\xff\xdf" "\0\0\0\0");
	CHECK_EQ(ab_write_string16(parcel, NULL), 0);
	EXPECT_BYTES(parcel, "\xff\xff\xff\xff");
	CHECK_EQ(ab_read_string16(parcel, &back), AB_UNEXPECTED_NULL);
	CHECK_EQ(ab_read_nullable_string16(parcel, &back), 0);
	CHECK(!back);
	CHECK_EQ(ab_parcel_left(parcel), 0);
	ab_parcel_free(parcel);
}

static void test_what_is_not_utf8_is_refused(void)
{
	static const char *const bad[] = {
		"\x80", "\xbf", "\xc2", "\xc2" "a", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80",
		"\xe0\x9f\xbf", "\xe2\x82", "\xe2\x82" "a", "\xed\xa0\x80", "\xed\xbf\xbf",
		"\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80",
		"\xf7\xbf\xbf\xbf", "\xf8\x88\x80\x80\x80", "\xfe", "\xff", "ok\xff",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ab_parcel *parcel = ab_parcel_new(conn);
		char *copy = strdup(bad[i]); /* where the sanitizer sees its end */

		CHECK_EQ(ab_write_string16(parcel, copy), -EILSEQ);
		CHECK_EQ(ab_parcel_size(parcel), 0);
		CHECK_EQ(ab_write_int32(parcel, 1), -EILSEQ);
		free(copy);
		ab_parcel_free(parcel);
	}
}

static void read_units(const uint16_t *units, size_t nr, const char *want)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	uint16_t copy[8] = { 0 };
	char *text;

	memcpy(copy, units, nr * sizeof(*units));
	ab_write_int32(parcel, (int32_t)nr);
	memcpy(ab_parcel_extend(parcel, (nr + 1) * 2), copy, (nr + 1) * 2);
	CHECK_EQ(ab_read_string16(parcel, &text), 0);
	CHECK_STR(text, want);
	free(text);
	ab_parcel_free(parcel);
}

#define READ_UNITS(want, ...) do {					\
	const uint16_t units_[] = { __VA_ARGS__ };			\
	read_units(units_, ARRAY_SIZE(units_), want);			\
} while (0)

static void test_unpaired_surrogates_are_replaced(void)
{
	READ_UNITS("\xef\xbf\xbd", 0xd800);
	READ_UNITS("\xef\xbf\xbd", 0xdfff);
	READ_UNITS("\xef\xbf\xbd" "a", 0xdbff, 'a');
	READ_UNITS("\xef\xbf\xbd\xef\xbf\xbd", 0xdc00, 0xd800);
	READ_UNITS("\xef\xbf\xbd\xf0\x90\x80\x80", 0xd800, 0xd800, 0xdc00);
	READ_UNITS("a\xef\xbf\xbd" "b", 'a', 0, 'b');
	READ_UNITS("a\xf0\x90\x80\x80" "b", 'a', 0xd800, 0xdc00, 'b');
}

static void test_a_string_must_end_in_zero(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	char *text;
	int32_t again;

	ab_write_int32(parcel, 1);
	ab_write_int32(parcel, 'a' | 'b' << 16);
	CHECK_EQ(ab_read_string16(parcel, &text), AB_BAD_TYPE);
	CHECK(!text);
	CHECK_EQ(ab_read_int32(parcel, &again), 0);
	CHECK_EQ(again, 1);
	ab_parcel_free(parcel);
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

static void test_arrays_on_the_wire(void)
{
	static const char *const strings[] = { "a", NULL, "" };
	static const bool bools[] = { true, false };
	static const uint16_t units[] = { 'x', 0xffff };
	ab_parcel *parcel = ab_parcel_new(conn);
	int32_t *ints;
	size_t nr;

	ab_write_bool_array(parcel, bools, 2);
	ab_write_char16_array(parcel, units, 2);
	ab_write_string16_array(parcel, strings, 3);
	CHECK_EQ(ab_write_int32_array(parcel, (const int32_t[]){ 0 }, 0), 0);
	EXPECT_BYTES(parcel, "\2\0\0\0" "\1\0\0\0" "\0\0\0\0"
		     "\2\0\0\0" "x\0\0\0" "\xff\xff\0\0"
		     "\3\0\0\0" "\1\0\0\0" "a\0\0\0" "\xff\xff\xff\xff" "\0\0\0\0" "\0\0\0\0"
		     "\0\0\0\0");
	ab_parcel_seek(parcel, ab_parcel_size(parcel) - 4);
	CHECK_EQ(ab_read_int32_array(parcel, &ints, &nr), 0);
	CHECK(ints && !nr); /* empty is not null */
	free(ints);
	ab_parcel_free(parcel);
}

static void test_strings_of_bytes(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	char *text;

	ab_write_string8(parcel, "abc");
	ab_write_string8(parcel, NULL);
	ab_write_string8(parcel, "a\xff");
	EXPECT_BYTES(parcel, "\3\0\0\0" "abc\0" "\xff\xff\xff\xff" "\2\0\0\0" "a\xff\0\0");
	CHECK_EQ(ab_read_string8(parcel, &text), 0);
	CHECK_STR(text, "abc");
	free(text);
	CHECK_EQ(ab_read_string8(parcel, &text), AB_UNEXPECTED_NULL);
	CHECK_EQ(ab_read_nullable_string8(parcel, &text), 0);
	CHECK(!text);
	CHECK_EQ(ab_read_string8(parcel, &text), 0);
	CHECK_STR(text, "a\xef\xbf\xbd");
	free(text);
	ab_parcel_free(parcel);
}

/* Fields of a newer writer are skipped, those of a newer reader are not there. */
static void test_parcelables_of_other_versions(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	int32_t value;
	size_t mark, end;

	CHECK_EQ(ab_write_parcelable_begin(parcel, &mark), 0);
	ab_write_int32(parcel, 1);
	ab_write_int32(parcel, 2);
	CHECK_EQ(ab_write_parcelable_end(parcel, mark), 0);
	ab_write_int32(parcel, 3);
	EXPECT_BYTES(parcel, "\1\0\0\0" "\x0c\0\0\0" "\1\0\0\0" "\2\0\0\0" "\3\0\0\0");
	CHECK_EQ(ab_read_parcelable_begin(parcel, &end), 0);
	CHECK_EQ(ab_read_int32(parcel, &value), 0);
	CHECK_EQ(ab_read_parcelable_end(parcel, end), 0);
	CHECK_EQ(ab_read_int32(parcel, &value), 0);
	CHECK_EQ(value, 3);
	/* Behind its end already. */
	CHECK_EQ(ab_read_parcelable_end(parcel, end), AB_BAD_TYPE);
	ab_parcel_free(parcel);
}

static void test_sizes_of_parcelables_out_of_range(void)
{
	static const int32_t sizes[] = { 0, 3, -4, INT32_MIN, 5, 12, INT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		ab_parcel *parcel = ab_parcel_new(conn);
		size_t end;

		ab_write_int32(parcel, 1);
		ab_write_int32(parcel, sizes[i]);
		ab_write_int32(parcel, 0);
		CHECK_EQ(ab_read_parcelable_begin(parcel, &end),
			 sizes[i] == 12 ? -ENODATA : AB_BAD_TYPE);
		CHECK_EQ(end, 0);
		CHECK_EQ(ab_parcel_position(parcel), 0);
		ab_parcel_free(parcel);
	}
}

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

static void test_descriptors(void)
{
	int fds[2], open_before = open("/dev/null", O_RDONLY | O_CLOEXEC), fd;
	ab_parcel *parcel = ab_parcel_new(conn);
	ab_object *object;
	char c;

	CHECK_EQ(pipe(fds), 0);
	CHECK_EQ(ab_write_parcel_fd(parcel, fds[1]), 0);
	close(fds[1]);
	CHECK_EQ(ab_parcel_size(parcel), 8 + 24);
	CHECK_EQ(parcel->nr_offsets, 1);
	ab_parcel_seek(parcel, 8);
	CHECK_EQ(ab_read_object(parcel, &object), AB_BAD_TYPE);
	ab_parcel_seek(parcel, 0);
	CHECK_EQ(ab_read_parcel_fd(parcel, &fd), 0);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(write(fd, "x", 1), 1);
	close(fd);
	CHECK_EQ(ab_read_fd(parcel, &fd), -ENODATA);
	CHECK_EQ(fd, -1);
	/* The parcel's is the last one. */
	ab_parcel_free(parcel);
	CHECK_EQ(read(fds[0], &c, 1), 1);
	CHECK_EQ(read(fds[0], &c, 1), 0);
	close(fds[0]);
	parcel = ab_parcel_new(conn);
	CHECK_EQ(ab_write_fd(parcel, -1), -EBADF);
	ab_parcel_free(parcel);
	/* Nothing is left open. */
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK_EQ(fd, open_before + 1);
	close(fd);
	close(open_before);
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

static void test_a_parcel_that_could_not_be_made(void)
{
	ab_object *object = ab_object_new(conn, &plain, NULL), *read;
	size_t nr;
	char *text, **strings;
	int32_t value;

	CHECK_EQ(ab_write_int32(NULL, 1), -ENOMEM);
	CHECK_EQ(ab_write_string16(NULL, "x"), -ENOMEM);
	CHECK_EQ(ab_write_object(NULL, object), -ENOMEM);
	CHECK_EQ(ab_write_string16_array(NULL, NULL, 0), -ENOMEM);
	CHECK_EQ(ab_write_token(NULL, "x"), -ENOMEM);
	CHECK_EQ(ab_write_status(NULL, AB_EX_SECURITY, 0, "\xff"), -ENOMEM);
	CHECK_EQ(ab_read_int32(NULL, &value), -ENOMEM);
	CHECK_EQ(ab_read_string16(NULL, &text), -ENOMEM);
	CHECK_EQ(ab_read_string16_array(NULL, &strings, &nr), -ENOMEM);
	CHECK_EQ(ab_read_object(NULL, &read), -ENOMEM);
	CHECK_EQ(ab_read_token(NULL, "x"), -ENOMEM);
	CHECK_EQ(ab_read_status(NULL, NULL), -ENOMEM);
	CHECK_EQ(ab_parcel_error(NULL), -ENOMEM);
	ab_parcel_free(NULL);
	ab_object_put(object);
}

static const struct fake_case cases[] = {
	FAKE_CASE(test_integers),
	FAKE_CASE(test_scalars),
	FAKE_CASE(test_bytes_and_padding),
	FAKE_CASE(test_counts_out_of_range),
	FAKE_CASE(test_string16),
	FAKE_CASE(test_what_is_not_utf8_is_refused),
	FAKE_CASE(test_unpaired_surrogates_are_replaced),
	FAKE_CASE(test_a_string_must_end_in_zero),
	FAKE_CASE(test_strings_of_bytes),
	FAKE_CASE(test_arrays_on_the_wire),
	FAKE_CASE(test_parcelables_of_other_versions),
	FAKE_CASE(test_sizes_of_parcelables_out_of_range),
	FAKE_CASE(test_truncation),
	FAKE_CASE(test_objects_are_read_where_listed),
	FAKE_CASE(test_offsets_that_make_no_sense_are_none),
	FAKE_CASE(test_a_parcel_holds_what_is_in_it),
	FAKE_CASE(test_null_objects_are_not_listed),
	FAKE_CASE(test_objects_of_another_connection_are_refused),
	FAKE_CASE(test_descriptors),
	FAKE_CASE(test_errors_stick),
	FAKE_CASE(test_a_parcel_that_could_not_be_made),
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_reset();
		CHECK_EQ(ab_open(&conn, "a", NULL), 0);
		cases[i].run();
		ab_close(conn);
		fake_reset();
		printf("ok %s\n", cases[i].name);
		fflush(stdout);
	}
	return 0;
}
