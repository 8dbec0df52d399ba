// SPDX-License-Identifier: MIT
/*
 * Parcels: what is written comes back, nothing is read that is not there.
 * With a seed as argument: only the random reader, from that seed.
 */
#include "lib_fake.h"

#include <errno.h>

#include "lib/internal.h"

static ab_conn *conn;

/* The first @size bytes of what @from holds, in memory of just that size. */
struct cut {
	ab_parcel parcel;
	void *memory;
};

static ab_parcel *cut_at(struct cut *cut, const ab_parcel *from, size_t size)
{
	memset(cut, 0, sizeof(*cut));
	cut->memory = malloc(size);
	CHECK(cut->memory || !size);
	if (size)
		memcpy(cut->memory, from->data, size);
	cut->parcel.data = cut->memory;
	cut->parcel.size = size;
	cut->parcel.offsets = from->offsets;
	cut->parcel.nr_offsets = from->nr_offsets;
	return &cut->parcel;
}

static void expect_bytes(const ab_parcel *parcel, const char *want, size_t len)
{
	CHECK_EQ(ab_parcel_size(parcel), len);
	CHECK(!memcmp(parcel->data, want, len));
}

#define EXPECT_BYTES(parcel, bytes) expect_bytes(parcel, bytes, sizeof(bytes) - 1)

static void test_integers(void)
{
	ab_parcel *parcel = ab_parcel_new();
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
	ab_parcel *parcel = ab_parcel_new();
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
	CHECK_EQ(ab_read_bytes(parcel, &bytes, &len), 0);
	CHECK(!bytes && !len);
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
		ab_parcel *parcel = ab_parcel_new();
		int want = counts[i] < 0 ? -EBADMSG : -ENODATA;
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
	ab_parcel *parcel = ab_parcel_new();
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
	ab_parcel *parcel = ab_parcel_new();
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
	CHECK_EQ(ab_read_string16(parcel, &back), 0);
	CHECK(!back);
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
		ab_parcel *parcel = ab_parcel_new();
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
	ab_parcel *parcel = ab_parcel_new();
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
	READ_UNITS("a\xf0\x90\x80\x80" "b", 'a', 0xd800, 0xdc00, 'b');
}

static void test_a_string_must_end_in_zero(void)
{
	ab_parcel *parcel = ab_parcel_new();
	char *text;
	int32_t again;

	ab_write_int32(parcel, 1);
	ab_write_int32(parcel, 'a' | 'b' << 16);
	CHECK_EQ(ab_read_string16(parcel, &text), -EBADMSG);
	CHECK(!text);
	CHECK_EQ(ab_read_int32(parcel, &again), 0);
	CHECK_EQ(again, 1);
	ab_parcel_free(parcel);
}

/* Every kind, cut at every byte. The padding at the very end may be missing. */
static void test_truncation(void)
{
	ab_parcel *parcel = ab_parcel_new();
	ab_object *object = ab_object_new(conn, NULL, NULL), *local;
	const void *bytes;
	struct cut cut;
	uint32_t handle;
	int32_t small;
	int64_t big;
	size_t len;
	char *text;

	ab_write_int32(parcel, 1);
	ab_write_int64(parcel, 2);
	ab_write_object(parcel, object);
	ab_write_bytes(parcel, "abcde", 5);
	ab_write_string16(parcel, "ab");
	CHECK_EQ(ab_parcel_size(parcel), 4 + 8 + 24 + 12 + 12);
	for (size_t size = 0; size <= ab_parcel_size(parcel); size++) {
		ab_parcel *in = cut_at(&cut, parcel, size);

		CHECK_EQ(ab_read_int32(in, &small), size >= 4 ? 0 : -ENODATA);
		if (size >= 4)
			CHECK_EQ(ab_read_int64(in, &big), size >= 12 ? 0 : -ENODATA);
		if (size >= 12)
			CHECK_EQ(ab_read_object(in, &handle, &local), size >= 36 ? 0 : -ENODATA);
		if (size >= 36)
			CHECK_EQ(ab_read_bytes(in, &bytes, &len), size >= 45 ? 0 : -ENODATA);
		text = NULL;
		if (size >= 45)
			CHECK_EQ(ab_read_string16(in, &text), size >= 58 ? 0 : -ENODATA);
		CHECK_EQ(!!text, size >= 58);
		if (text)
			CHECK_STR(text, "ab");
		CHECK(in->pos <= in->size);
		free(text);
		free(cut.memory);
	}
	ab_object_unref(object);
	ab_parcel_free(parcel);
}

static void test_objects_are_read_where_listed(void)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_BINDER, .cookie = 0xdead };
	ab_parcel *parcel = ab_parcel_new();
	ab_object *object = ab_object_new(conn, NULL, NULL), *local;
	uint32_t handle = 1;

	/* The same bytes, unlisted, listed, and listed only next to it. */
	ab_write_object(parcel, object);
	memcpy(ab_parcel_extend(parcel, sizeof(fbo)), &fbo, sizeof(fbo));
	ab_write_object(parcel, object);
	CHECK_EQ(parcel->nr_offsets, 2);
	CHECK_EQ(ab_read_object(parcel, &handle, &local), 0);
	CHECK(local == object);
	local = object;
	CHECK_EQ(ab_read_object(parcel, &handle, &local), -EBADMSG);
	CHECK(!local);
	CHECK_EQ(parcel->pos, sizeof(fbo));
	parcel->pos += 4;
	CHECK_EQ(ab_read_object(parcel, &handle, &local), -EBADMSG);
	parcel->pos = 2 * sizeof(fbo);
	CHECK_EQ(ab_read_object(parcel, &handle, &local), 0);
	CHECK(local == object);
	/* At the end there is none. */
	CHECK_EQ(ab_read_object(parcel, &handle, &local), -EBADMSG);
	ab_parcel_reset(parcel);
	CHECK_EQ(parcel->nr_offsets, 0);
	/* Listed, but of a kind this library does not read. */
	fbo.hdr.type = BINDER_TYPE_FD;
	CHECK_EQ(ab_parcel_add_object(parcel, &fbo), 0);
	CHECK_EQ(ab_read_object(parcel, &handle, &local), -EBADMSG);
	CHECK_EQ(parcel->pos, 0);
	/* A handle means something only to who received it. */
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_handle(parcel, 3), 0);
	CHECK_EQ(ab_read_object(parcel, &handle, &local), -EBADMSG);
	CHECK_EQ(handle, 1);
	ab_object_unref(object);
	ab_parcel_free(parcel);
}

static void test_many_objects(void)
{
	ab_parcel *parcel = ab_parcel_new();
	ab_object *object = ab_object_new(conn, NULL, NULL), *local;
	uint32_t handle;
	int32_t value;

	for (int i = 0; i < 100; i++) {
		CHECK_EQ(ab_write_int32(parcel, i), 0);
		CHECK_EQ(ab_write_object(parcel, object), 0);
	}
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(ab_read_object(parcel, &handle, &local), -EBADMSG);
		CHECK_EQ(ab_read_int32(parcel, &value), 0);
		CHECK_EQ(ab_read_object(parcel, &handle, &local), 0);
		CHECK(local == object);
	}
	ab_object_unref(object);
	ab_parcel_free(parcel);
}

static void test_a_received_parcel_is_not_written(void)
{
	static const int32_t words[2] = { 4, 5 };
	struct binder_transaction_data tr = { .data_size = sizeof(words),
					      .data.ptr.buffer = (uintptr_t)words,
					      .data.ptr.offsets = (uintptr_t)(words + 2) };
	ab_parcel parcel;
	int32_t value;

	ab_parcel_received(&parcel, conn, &tr);
	CHECK_EQ(ab_parcel_size(&parcel), 8);
	CHECK_EQ(ab_write_handle(&parcel, 1), -EPERM);
	CHECK_EQ(ab_write_int32(&parcel, 1), -EPERM);
	CHECK_EQ(ab_write_string16(&parcel, "a"), -EPERM);
	CHECK_EQ(ab_read_int32(&parcel, &value), 0);
	CHECK_EQ(value, 4);
}

static void test_errors_stick(void)
{
	ab_parcel *parcel = ab_parcel_new();
	ab_object *object = ab_object_new(conn, NULL, NULL);
	size_t size;

	CHECK_EQ(ab_write_bytes(parcel, parcel, (size_t)AB_PARCEL_MAX + 1), -E2BIG);
	size = ab_parcel_size(parcel);
	CHECK_EQ(ab_write_int32(parcel, 1), -E2BIG);
	CHECK_EQ(ab_write_int64(parcel, 1), -E2BIG);
	CHECK_EQ(ab_write_bytes(parcel, "a", 1), -E2BIG);
	CHECK_EQ(ab_write_bytes(parcel, NULL, 0), -E2BIG);
	CHECK_EQ(ab_write_string16(parcel, "a"), -E2BIG);
	CHECK_EQ(ab_write_string16(parcel, NULL), -E2BIG);
	/* The first one is told. */
	CHECK_EQ(ab_write_string16(parcel, "\xff"), -E2BIG);
	CHECK_EQ(ab_write_object(parcel, object), -E2BIG);
	CHECK_EQ(ab_write_handle(parcel, 1), -E2BIG);
	CHECK_EQ(ab_parcel_size(parcel), size);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_int32(parcel, 1), 0);
	ab_object_unref(object);
	ab_parcel_free(parcel);
}

static void test_the_limit_is_4_mib(void)
{
	char *bytes = calloc(1, AB_PARCEL_MAX + 1);
	ab_parcel *parcel = ab_parcel_new();

	CHECK(bytes);
	/* The count takes 4 of it. */
	CHECK_EQ(ab_write_bytes(parcel, bytes, AB_PARCEL_MAX - 4), 0);
	CHECK_EQ(ab_parcel_size(parcel), AB_PARCEL_MAX);
	CHECK_EQ(ab_write_int32(parcel, 1), -E2BIG);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_bytes(parcel, bytes, AB_PARCEL_MAX - 3), -E2BIG);
	CHECK(ab_parcel_size(parcel) <= AB_PARCEL_MAX);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_bytes(parcel, bytes, SIZE_MAX), -E2BIG);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_bytes(parcel, bytes, AB_PARCEL_MAX - 4 - 20), 0);
	CHECK_EQ(ab_write_handle(parcel, 1), -E2BIG);
	CHECK_EQ(parcel->nr_offsets, 0);
	ab_parcel_reset(parcel);
	memset(bytes, 'a', AB_PARCEL_MAX / 2);
	CHECK_EQ(ab_write_string16(parcel, bytes), -E2BIG);
	ab_parcel_reset(parcel);
	bytes[AB_PARCEL_MAX / 2 - 4] = '\0';
	CHECK_EQ(ab_write_string16(parcel, bytes), 0);
	ab_parcel_free(parcel);
	free(bytes);
}

/* ---- the random reader ------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % n;
}

/* Something a forger might send, with some of its words made up. */
static void forge(ab_parcel *parcel)
{
	static const int32_t words[] = { -1, 0, 1, 2, 3, 5, -2, INT32_MAX, INT32_MIN, 0x7ffffffe,
					 BINDER_TYPE_BINDER, BINDER_TYPE_HANDLE, 0xd800, 0x61 };
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_HANDLE, .handle = 1 };

	for (uint32_t n = random_below(12); n; n--) {
		switch (random_below(5)) {
		case 0:
			ab_write_bytes(parcel, "0123456789", random_below(11));
			break;
		case 1:
			ab_write_string16(parcel, random_below(2) ? "ab" : "\xf0\x90\x80\x80");
			break;
		case 2:
			fbo.hdr.type = random_below(2) ? BINDER_TYPE_HANDLE : BINDER_TYPE_FD;
			ab_parcel_add_object(parcel, &fbo);
			break;
		default:
			ab_write_int32(parcel, words[random_below(ARRAY_SIZE(words))]);
		}
	}
}

static void read_one(ab_parcel *parcel)
{
	const void *bytes = NULL;
	ab_object *local;
	uint32_t handle;
	int32_t small;
	int64_t big;
	size_t len = 0;
	char *text;
	volatile uint8_t sum = 0;

	switch (random_below(5)) {
	case 0:
		ab_read_int32(parcel, &small);
		break;
	case 1:
		ab_read_int64(parcel, &big);
		break;
	case 2:
		ab_read_bytes(parcel, &bytes, &len);
		for (size_t i = 0; i < len; i++)
			sum += ((const uint8_t *)bytes)[i];
		break;
	case 3:
		if (!ab_read_string16(parcel, &text))
			free(text);
		break;
	default:
		if (!ab_read_object(parcel, &handle, &local))
			CHECK(!local);
	}
	CHECK(parcel->pos <= parcel->size);
}

static void random_reads(uint64_t seed)
{
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	random_state = seed * 0x9e3779b97f4a7c15 + 1;
	for (int round = 0; round < 20000; round++) {
		ab_parcel *parcel = ab_parcel_new();
		struct cut cut;
		size_t size;

		forge(parcel);
		size = random_below(4) ? ab_parcel_size(parcel) :
			random_below((uint32_t)ab_parcel_size(parcel) + 1);
		cut_at(&cut, parcel, size);
		cut.parcel.conn = conn;
		for (int i = 0; i < 20; i++)
			read_one(&cut.parcel);
		free(cut.memory);
		ab_parcel_free(parcel);
		CHECK_EQ(ab_flush(conn), 0);
		fake_at("a")->log_len = 0;
	}
}

static const struct fake_case tests[] = {
	FAKE_CASE(test_integers),
	FAKE_CASE(test_bytes_and_padding),
	FAKE_CASE(test_counts_out_of_range),
	FAKE_CASE(test_string16),
	FAKE_CASE(test_what_is_not_utf8_is_refused),
	FAKE_CASE(test_unpaired_surrogates_are_replaced),
	FAKE_CASE(test_a_string_must_end_in_zero),
	FAKE_CASE(test_truncation),
	FAKE_CASE(test_objects_are_read_where_listed),
	FAKE_CASE(test_many_objects),
	FAKE_CASE(test_a_received_parcel_is_not_written),
	FAKE_CASE(test_errors_stick),
	FAKE_CASE(test_the_limit_is_4_mib),
};

int main(int argc, char **argv)
{
	fake_reset();
	CHECK_EQ(ab_open(&conn, "a", NULL), 0);
	for (size_t i = 0; argc < 2 && i < ARRAY_SIZE(tests); i++) {
		tests[i].run();
		printf("ok %s\n", tests[i].name);
	}
	random_reads(argc > 1 ? strtoull(argv[1], NULL, 0) : 1);
	printf("ok random_reads\n");
	ab_close(conn);
	fake_reset();
	return 0;
}
