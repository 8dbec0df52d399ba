// SPDX-License-Identifier: MIT
/* Strings in parcels: their bytes, what is no text, and where they end. */
#include "lib_parcel.h"

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

static void test_strings_of_units(void)
{
	static const uint16_t any[] = { 0xd800, 0, 0xdfff, 'a' };
	ab_parcel *parcel = ab_parcel_new(conn);
	const uint16_t *units;
	size_t nr;

	ab_write_utf16(parcel, any, 4);
	ab_write_utf16(parcel, any, 0);
	CHECK_EQ(ab_write_utf16(parcel, NULL, 3), 0);
	EXPECT_BYTES(parcel, "\4\0\0\0" "\0\xd8\0\0\xff\xdf" "a\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0"
		     "\xff\xff\xff\xff");
	CHECK_EQ(ab_read_utf16(parcel, &units, &nr), 0);
	CHECK_EQ(nr, 4);
	CHECK(!memcmp(units, any, sizeof(any)));
	CHECK_EQ(units[4], 0);
	CHECK_EQ(ab_read_utf16(parcel, &units, &nr), 0);
	CHECK(units && !nr);
	nr = 1;
	CHECK_EQ(ab_read_utf16(parcel, &units, &nr), AB_UNEXPECTED_NULL);
	CHECK(!units && !nr);
	CHECK(ab_read_null(parcel));
	CHECK_EQ(ab_read_utf16(parcel, &units, &nr), -ENODATA);
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

static void read_bytes8(const char *bytes, size_t nr, const char *want)
{
	ab_parcel *parcel = ab_parcel_new(conn), *in;
	char *text;

	ab_write_int32(parcel, (int32_t)nr);
	CHECK_EQ(ab_write_raw(parcel, bytes, nr + 1), 0);
	parcel->size = 4 + nr + 1; /* where the sanitizer sees a step too far */
	in = receive(parcel);
	CHECK_EQ(ab_read_string8(in, &text), 0);
	CHECK_STR(text, want);
	free(text);
	CHECK_EQ(ab_parcel_left(in), 0);
	ab_parcel_free(in);
	ab_parcel_free(parcel);
}

#define READ_BYTES8(bytes, want) read_bytes8(bytes, sizeof(bytes) - 1, want)
#define GONE "\xef\xbf\xbd"

static void test_bytes_that_are_no_text_are_replaced(void)
{
	READ_BYTES8("", "");
	READ_BYTES8("a\0b", "a" GONE "b");
	READ_BYTES8("\0", GONE);
	READ_BYTES8("a\xe2\x82", "a" GONE GONE);
	READ_BYTES8("\xf0\x90\x80", GONE GONE GONE);
	READ_BYTES8("\xed\xa0\x80", GONE GONE GONE);
	READ_BYTES8("\xc0\x80" "a", GONE GONE "a");
	READ_BYTES8("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
}

/* The terminating zero counts as data, its padding does not. */
static void test_strings_at_the_end(void)
{
	for (size_t cut = 0; cut < 8; cut++) {
		ab_parcel *parcel = ab_parcel_new(conn), *in;
		char *text;

		CHECK_EQ(ab_write_string16(parcel, "ab"), 0);
		CHECK_EQ(ab_parcel_size(parcel), 12);
		parcel->size -= cut;
		in = receive(parcel);
		CHECK_EQ(ab_read_string16(in, &text), cut <= 2 ? 0 : -ENODATA);
		CHECK(!text == (cut > 2));
		CHECK_EQ(ab_parcel_position(in), cut <= 2 ? ab_parcel_size(in) : 0);
		free(text);
		ab_parcel_free(in);
		ab_parcel_free(parcel);
	}
}

static const struct fake_case cases[] = {
	FAKE_CASE(test_string16),
	FAKE_CASE(test_what_is_not_utf8_is_refused),
	FAKE_CASE(test_unpaired_surrogates_are_replaced),
	FAKE_CASE(test_a_string_must_end_in_zero),
	FAKE_CASE(test_strings_of_units),
	FAKE_CASE(test_strings_of_bytes),
	FAKE_CASE(test_bytes_that_are_no_text_are_replaced),
	FAKE_CASE(test_strings_at_the_end),
};

PARCEL_MAIN(cases)
