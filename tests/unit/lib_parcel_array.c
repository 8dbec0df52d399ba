// SPDX-License-Identifier: MIT
/* Arrays and parcelables: their bytes, and counts and sizes that are lies. */
#include "lib_parcel.h"

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

static void test_longs_and_floats_on_the_wire(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	const void *raw;
	int64_t *longs;
	size_t nr;

	ab_write_int64_array(parcel, (const int64_t[]){ -2 }, 1);
	ab_write_float_array(parcel, (const float[]){ 1.5f, -2.0f }, 2);
	ab_write_double_array(parcel, (const double[]){ -2.0 }, 1);
	ab_write_double_array(parcel, NULL, 7);
	CHECK_EQ(ab_write_raw(parcel, "abcde", 5), 0);
	EXPECT_BYTES(parcel, "\1\0\0\0" "\xfe\xff\xff\xff\xff\xff\xff\xff"
		     "\2\0\0\0" "\0\0\xc0\x3f" "\0\0\0\xc0"
		     "\1\0\0\0" "\0\0\0\0\0\0\0\xc0" "\xff\xff\xff\xff" "abcde\0\0\0");
	CHECK_EQ(ab_read_int64_array(parcel, &longs, &nr), 0);
	CHECK_EQ(nr, 1);
	CHECK_EQ(longs[0], -2);
	free(longs);
	CHECK_EQ(ab_parcel_seek(parcel, 40), 0);
	CHECK_EQ(ab_read_raw(parcel, &raw, 9), -ENODATA);
	CHECK(!raw);
	CHECK_EQ(ab_read_raw(parcel, &raw, SIZE_MAX), -ENODATA);
	CHECK_EQ(ab_read_raw(parcel, &raw, 0), 0);
	CHECK(raw);
	CHECK_EQ(ab_read_raw(parcel, &raw, 5), 0);
	CHECK(!memcmp(raw, "abcde", 5));
	CHECK_EQ(ab_parcel_left(parcel), 0);
	ab_parcel_free(parcel);
}

#define READ_COUNT(type, reader, want) do {						\
	type *values_ = (type *)(uintptr_t)1;						\
	size_t nr_ = 1;									\
	CHECK_EQ(reader(parcel, &values_, &nr_), want);					\
	CHECK(!values_ && !nr_);							\
	CHECK_EQ(ab_parcel_position(parcel), 0);					\
} while (0)

/* No reader believes a count: not that of another array of the same size either. */
static void test_counts_of_arrays(void)
{
	static const struct {
		int32_t count;
		int want;
	} counts[] = {
		{ -1, AB_UNEXPECTED_NULL }, { -2, AB_BAD_TYPE }, { INT32_MIN, AB_BAD_TYPE },
		{ INT32_MAX, -ENODATA }, { 0x20000000, -ENODATA }, { 0x40000000, -ENODATA },
		{ 5, -ENODATA },
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		ab_parcel *parcel = ab_parcel_new(conn);
		int want = counts[i].want;

		ab_write_int32(parcel, counts[i].count);
		CHECK_EQ(ab_write_raw(parcel, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16), 0);
		READ_COUNT(bool, ab_read_bool_array, want);
		READ_COUNT(uint16_t, ab_read_char16_array, want);
		READ_COUNT(int32_t, ab_read_int32_array, want);
		READ_COUNT(int64_t, ab_read_int64_array, want);
		READ_COUNT(float, ab_read_float_array, want);
		READ_COUNT(double, ab_read_double_array, want);
		READ_COUNT(char *, ab_read_string16_array, want);
		READ_COUNT(ab_object *, ab_read_object_array, want);
		ab_parcel_free(parcel);
	}
}

/* ---- parcelables ------------------------------------------------------------------------- */

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

static void test_null_parcelables(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	size_t end = 1;

	CHECK_EQ(ab_write_null_parcelable(parcel), 0);
	EXPECT_BYTES(parcel, "\0\0\0\0");
	CHECK_EQ(ab_read_parcelable_begin(parcel, &end), AB_UNEXPECTED_NULL);
	CHECK_EQ(end, 0);
	CHECK_EQ(ab_parcel_position(parcel), 0);
	CHECK_EQ(ab_read_nullable_parcelable_begin(parcel, &end), 0);
	CHECK_EQ(end, 0);
	CHECK_EQ(ab_parcel_left(parcel), 0);
	CHECK_EQ(ab_read_nullable_parcelable_begin(parcel, &end), -ENODATA);
	ab_parcel_free(parcel);
}

static void test_parcelables_in_parcelables(void)
{
	ab_parcel *parcel = ab_parcel_new(conn);
	size_t outer, inner;
	int32_t value;

	ab_write_parcelable_begin(parcel, &outer);
	ab_write_parcelable_begin(parcel, &inner);
	ab_write_int32(parcel, 7);
	ab_write_parcelable_end(parcel, inner);
	CHECK_EQ(ab_write_parcelable_end(parcel, outer), 0);
	EXPECT_BYTES(parcel, "\1\0\0\0" "\x10\0\0\0" "\1\0\0\0" "\x08\0\0\0" "\7\0\0\0");
	CHECK_EQ(ab_read_parcelable_begin(parcel, &outer), 0);
	CHECK_EQ(ab_read_parcelable_begin(parcel, &inner), 0);
	CHECK_EQ(outer, 20);
	CHECK_EQ(inner, 20);
	CHECK_EQ(ab_read_int32(parcel, &value), 0);
	CHECK_EQ(value, 7);
	CHECK_EQ(ab_read_parcelable_end(parcel, inner), 0);
	CHECK_EQ(ab_read_parcelable_end(parcel, outer), 0);
	/* No mark of this parcel's. */
	CHECK_EQ(ab_write_parcelable_end(parcel, 20), -EINVAL);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_parcelable_end(parcel, SIZE_MAX - 3), -EINVAL);
	ab_parcel_free(parcel);
}

static const struct fake_case cases[] = {
	FAKE_CASE(test_bytes_and_padding),
	FAKE_CASE(test_counts_out_of_range),
	FAKE_CASE(test_arrays_on_the_wire),
	FAKE_CASE(test_longs_and_floats_on_the_wire),
	FAKE_CASE(test_counts_of_arrays),
	FAKE_CASE(test_parcelables_of_other_versions),
	FAKE_CASE(test_sizes_of_parcelables_out_of_range),
	FAKE_CASE(test_null_parcelables),
	FAKE_CASE(test_parcelables_in_parcelables),
};

PARCEL_MAIN(cases)
