// SPDX-License-Identifier: MIT
/* What differs between Android releases: the bytes of tokens, objects and replies. */
#include "lib_fake.h"

#include <errno.h>

#include "lib/internal.h"

#define NAME "ab"
#define NAME_WIRE "\2\0\0\0" "a\0b\0" "\0\0\0\0"
#define HEADER "TSYS"
#define UNSET "\xff\xff\xff\xff"

static const struct {
	enum ab_variant variant;
	const char *token;
	size_t token_size;
	int stability; /* bytes behind an object */
	uint32_t word, null_word;
} wires[] = {
#define WIRE(variant, token, ...) { variant, token, sizeof(token) - 1, __VA_ARGS__ }
	WIRE(AB_ANDROID_8, "\0\0\0\0" NAME_WIRE, 0, 0, 0),
	WIRE(AB_ANDROID_9, "\0\0\0\0" NAME_WIRE, 0, 0, 0),
	WIRE(AB_ANDROID_10, "\0\0\0\0" UNSET NAME_WIRE, 0, 0, 0),
	WIRE(AB_ANDROID_11, "\0\0\0\0" UNSET HEADER NAME_WIRE, 4, 0x0c, 0),
	WIRE(AB_ANDROID_12, "\0\0\0\0" UNSET HEADER NAME_WIRE, 4, 0x0c000001, 1),
	WIRE(AB_ANDROID_13, "\0\0\0\0" UNSET HEADER NAME_WIRE, 4, 0x0c, 0),
	WIRE(AB_ANDROID_14, "\0\0\0\0" UNSET HEADER NAME_WIRE, 4, 0x0c, 0),
	WIRE(AB_ANDROID_15, "\0\0\0\0" UNSET HEADER NAME_WIRE, 4, 0x0c, 0),
	WIRE(AB_ANDROID_16, "\0\0\0\0" UNSET HEADER NAME_WIRE, 4, 0x0c, 0),
};

static ab_conn *open_as(enum ab_variant variant)
{
	struct ab_options options = { .variant = variant };
	ab_conn *conn;

	CHECK_EQ(ab_open(&conn, "a", &options), 0);
	return conn;
}

static void test_tokens(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(wires); i++) {
		ab_conn *conn = open_as(wires[i].variant);
		ab_parcel *parcel = ab_parcel_new(conn);

		CHECK_EQ(ab_write_token(parcel, NAME), 0);
		CHECK_EQ(ab_parcel_size(parcel), wires[i].token_size);
		CHECK(!memcmp(ab_parcel_data(parcel), wires[i].token, wires[i].token_size));
		CHECK_EQ(ab_read_token(parcel, "a"), AB_BAD_TYPE);
		CHECK_EQ(ab_read_token(parcel, "abc"), AB_BAD_TYPE);
		CHECK_EQ(ab_read_token(parcel, ""), AB_BAD_TYPE);
		CHECK_EQ(ab_parcel_position(parcel), 0);
		CHECK_EQ(ab_read_token(parcel, NAME), 0);
		CHECK_EQ(ab_parcel_left(parcel), 0);
		CHECK_EQ(ab_read_token(parcel, NAME), -ENODATA);
		ab_parcel_free(parcel);
		ab_close(conn);
	}
}

/* Vendor builds write another header, which is as good; others are not. */
static void test_headers(void)
{
	static const struct {
		int32_t word;
		int want;
	} headers[] = { { 0x564e4452, 0 }, { 0x53595354, 0 }, { 0x54535953, AB_BAD_TYPE } };

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		ab_conn *conn = open_as(AB_ANDROID_13);
		ab_parcel *parcel = ab_parcel_new(conn);

		ab_write_int32(parcel, 0x42); /* any policy */
		ab_write_int32(parcel, 1000); /* any work source */
		ab_write_int32(parcel, headers[i].word);
		ab_write_string16(parcel, NAME);
		CHECK_EQ(ab_read_token(parcel, NAME), headers[i].want);
		ab_parcel_free(parcel);
		ab_close(conn);
	}
}

static int transact(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	return 0;
}

static const struct ab_class plain = { .transact = transact };

static void expect_word(const ab_parcel *parcel, size_t at, uint32_t want)
{
	uint32_t word;

	memcpy(&word, parcel->data + at, sizeof(word));
	CHECK_EQ(word, want);
}

static void test_stability(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(wires); i++) {
		size_t size = sizeof(struct flat_binder_object) + wires[i].stability;
		ab_conn *conn = open_as(wires[i].variant);
		ab_object *object = ab_object_new(conn, &plain, NULL), *read;
		ab_parcel *parcel = ab_parcel_new(conn);

		ab_write_object(parcel, object);
		ab_write_object(parcel, NULL);
		CHECK_EQ(ab_write_int32(parcel, 7), 0);
		CHECK_EQ(ab_parcel_size(parcel), 2 * size + 4);
		if (wires[i].stability) {
			expect_word(parcel, size - 4, wires[i].word);
			expect_word(parcel, 2 * size - 4, wires[i].null_word);
		}
		CHECK_EQ(ab_read_object(parcel, &read), 0);
		CHECK(read == object);
		ab_object_put(read);
		CHECK_EQ(ab_read_nullable_object(parcel, &read), 0);
		CHECK_EQ(ab_parcel_left(parcel), 4);
		ab_parcel_free(parcel);
		ab_object_put(object);
		ab_close(conn);
	}
}

/* A proxy goes on as stable as it came, in either layout; nonsense as usual. */
static void test_stability_is_kept(void)
{
	static const struct {
		uint32_t word, level;
	} words[] = {
		{ 0x3f, 0x3f }, { 0x3f000001, 0x3f }, { 0x03, 0x03 }, { 0x03000001, 0x03 },
		{ 0x0c, 0x0c }, { 0x0c000001, 0x0c }, { 0, 0x0c }, { 1, 0x0c },
		{ 0x3f000002, 0x0c }, { 0x3f000101, 0x0c }, { 0xff, 0x0c }, { UINT32_MAX, 0x0c },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		ab_conn *conn = open_as(AB_ANDROID_14);
		ab_parcel *parcel = ab_parcel_new(conn), *reply;
		struct fake *fake = fake_at("a");
		ab_object *target, *object;

		fake->quiet = false; /* fake_proxy() looks at what is logged */
		target = fake_proxy(conn, FAKE_TARGET);
		fake->quiet = true;
		fake_write_handle(parcel, BINDER_TYPE_HANDLE, 9);
		memcpy(parcel->data + sizeof(struct flat_binder_object), &words[i].word,
		       sizeof(words[i].word));
		fake_step_reply(fake, parcel);
		CHECK_EQ(ab_call(target, 1, NULL, &reply), 0);
		CHECK_EQ(ab_read_object(reply, &object), 0);
		ab_parcel_free(reply);
		ab_parcel_reset(parcel);
		CHECK_EQ(ab_write_object(parcel, object), 0);
		expect_word(parcel, sizeof(struct flat_binder_object), words[i].level);
		ab_parcel_free(parcel);
		ab_object_put(object);
		ab_object_put(target);
		ab_close(conn);
	}
}

static void test_status_on_the_wire(void)
{
	ab_conn *conn = open_as(AB_VARIANT_DEFAULT);
	ab_parcel *parcel = ab_parcel_new(conn);
	struct ab_status status;

	CHECK_EQ(ab_write_status(parcel, AB_EX_NONE, 5, "unused"), 0);
	CHECK_EQ(ab_parcel_size(parcel), 4);
	expect_word(parcel, 0, 0);
	CHECK_EQ(ab_read_status(parcel, &status), 0);
	CHECK(!status.message && !status.exception);
	ab_parcel_reset(parcel);
	CHECK_EQ(ab_write_status(parcel, AB_EX_SERVICE_SPECIFIC, 42, NULL), 0);
	CHECK_EQ(ab_parcel_size(parcel), 20);
	CHECK(!memcmp(ab_parcel_data(parcel),
		      "\xf8\xff\xff\xff" "\0\0\0\0\0\0\0\0" "\0\0\0\0" "\x2a\0\0\0", 20));
	CHECK_EQ(ab_read_status(parcel, &status), -EREMOTEIO);
	CHECK_EQ(status.exception, AB_EX_SERVICE_SPECIFIC);
	CHECK_EQ(status.service_error, 42);
	CHECK(!status.message);
	ab_parcel_reset(parcel);
	/* A message that is no text does not lose the exception. */
	CHECK_EQ(ab_write_status(parcel, AB_EX_SECURITY, 0, "\xff"), 0);
	CHECK_EQ(ab_read_status(parcel, &status), -EREMOTEIO);
	CHECK_EQ(status.exception, AB_EX_SECURITY);
	CHECK(status.message);
	ab_status_fini(&status);
	ab_parcel_reset(parcel);
	/* Others expect a size where a parcelable would be, and nothing in the other cases. */
	ab_write_status(parcel, AB_EX_PARCELABLE, 7, "a");
	CHECK_EQ(ab_write_status(parcel, AB_EX_SECURITY, 7, "a"), 0);
	CHECK_EQ(ab_parcel_size(parcel), 36);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(ab_read_status(parcel, &status), -EREMOTEIO);
		CHECK_EQ(status.exception, i ? AB_EX_SECURITY : AB_EX_PARCELABLE);
		CHECK_EQ(status.service_error, 0);
		CHECK_STR(status.message, "a");
		ab_status_fini(&status);
	}
	CHECK_EQ(ab_parcel_left(parcel), 0);
	CHECK(!memcmp(ab_parcel_data(parcel),
		      "\xf7\xff\xff\xff" "\1\0\0\0a\0\0\0" "\0\0\0\0" "\0\0\0\0"
		      "\xff\xff\xff\xff" "\1\0\0\0a\0\0\0" "\0\0\0\0", 36));
	ab_parcel_free(parcel);
	ab_close(conn);
}

/* The first error stays, even one that a message alone would be forgiven. */
static void test_status_behind_an_error(void)
{
	ab_conn *conn = open_as(AB_VARIANT_DEFAULT);
	ab_parcel *parcel = ab_parcel_new(conn);

	CHECK_EQ(ab_write_string16(parcel, "\xff"), -EILSEQ);
	CHECK_EQ(ab_write_status(parcel, AB_EX_SECURITY, 0, "fine"), -EILSEQ);
	CHECK_EQ(ab_write_status(parcel, AB_EX_NONE, 0, NULL), -EILSEQ);
	CHECK_EQ(ab_parcel_error(parcel), -EILSEQ);
	CHECK_EQ(ab_parcel_size(parcel), 0);
	ab_parcel_free(parcel);
	ab_close(conn);
}

/* What others may put before, or between. */
static void test_status_of_others(void)
{
	ab_conn *conn = open_as(AB_VARIANT_DEFAULT);
	ab_parcel *parcel = ab_parcel_new(conn);
	struct ab_status status;
	int32_t value;

	ab_write_int32(parcel, -128); /* a header to skip */
	ab_write_int32(parcel, 12);
	ab_write_int64(parcel, -1);
	ab_write_int32(parcel, 77);
	CHECK_EQ(ab_read_status(parcel, NULL), 0);
	CHECK_EQ(ab_read_int32(parcel, &value), 0);
	CHECK_EQ(value, 77);
	ab_parcel_reset(parcel);
	ab_write_int32(parcel, AB_EX_SERVICE_SPECIFIC);
	ab_write_string16(parcel, "why");
	ab_write_int32(parcel, 8); /* a stack trace */
	ab_write_int64(parcel, -1);
	ab_write_int32(parcel, 3);
	CHECK_EQ(ab_read_status(parcel, &status), -EREMOTEIO);
	CHECK_STR(status.message, "why");
	CHECK_EQ(status.service_error, 3);
	ab_status_fini(&status);
	ab_parcel_reset(parcel);
	ab_write_int32(parcel, AB_EX_SECURITY);
	ab_write_string16(parcel, NULL); /* as some do who have no message */
	ab_write_int32(parcel, 0);
	CHECK_EQ(ab_read_status(parcel, &status), -EREMOTEIO);
	CHECK_EQ(status.exception, AB_EX_SECURITY);
	CHECK(!status.message);
	for (int32_t size = -8; size <= 12; size++) {
		if (size == 8 || size == 4)
			continue;
		ab_parcel_reset(parcel);
		ab_write_int32(parcel, -128);
		ab_write_int32(parcel, size);
		ab_write_int32(parcel, 0);
		CHECK_EQ(ab_read_status(parcel, NULL), size == 12 ? -ENODATA : AB_BAD_TYPE);
		CHECK_EQ(ab_parcel_position(parcel), 0);
	}
	ab_parcel_free(parcel);
	ab_close(conn);
}

static void test_sizes_of_traces(void)
{
	static const struct {
		int32_t size;
		int want;
	} sizes[] = {
		{ -1, AB_BAD_TYPE }, { INT32_MIN, AB_BAD_TYPE }, { 5, -ENODATA },
		{ INT32_MAX, -ENODATA }, { 0, -EREMOTEIO }, { 4, -EREMOTEIO },
	};
	ab_conn *conn = open_as(AB_VARIANT_DEFAULT);
	ab_parcel *parcel = ab_parcel_new(conn);
	struct ab_status status;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		bool fine = sizes[i].want == -EREMOTEIO;

		ab_parcel_reset(parcel);
		ab_write_int32(parcel, AB_EX_SECURITY);
		ab_write_string16(parcel, "why");
		ab_write_int32(parcel, sizes[i].size);
		ab_write_int32(parcel, 0);
		CHECK_EQ(ab_read_status(parcel, &status), sizes[i].want);
		CHECK_EQ(status.exception, fine ? AB_EX_SECURITY : 0);
		CHECK_EQ(!!status.message, fine);
		CHECK(fine || !ab_parcel_position(parcel));
		ab_status_fini(&status);
	}
	ab_parcel_free(parcel);
	ab_close(conn);
}

static void test_status_with_a_parcelable(void)
{
	ab_conn *conn = open_as(AB_VARIANT_DEFAULT);
	ab_parcel *parcel = ab_parcel_new(conn);

	for (int32_t size = -4; size <= 12; size += 4) {
		ab_parcel_reset(parcel);
		ab_write_int32(parcel, AB_EX_PARCELABLE);
		ab_write_string16(parcel, NULL);
		ab_write_int32(parcel, 0);
		ab_write_int32(parcel, size);
		ab_write_int32(parcel, -1);
		CHECK_EQ(ab_read_status(parcel, NULL),
			 size < 0 ? AB_BAD_TYPE : size > 8 ? -ENODATA : -EREMOTEIO);
		CHECK_EQ(ab_parcel_left(parcel), size < 0 || size > 8 ? 20 : size > 4 ? 0 : 4);
	}
	/* Some write not even its size. */
	parcel->size = 12;
	CHECK_EQ(ab_read_status(parcel, NULL), -EREMOTEIO);
	CHECK_EQ(ab_parcel_left(parcel), 0);
	ab_parcel_free(parcel);
	ab_close(conn);
}

static void test_codes_of_the_service_manager(void)
{
	/* As published, in the order of enum ab_manager_call. */
	static const uint32_t codes[][AB_SM_NR] = {
		[AB_ANDROID_8] = { 1, 0, 2, 0, 3, 4 },
		[AB_ANDROID_9] = { 1, 0, 2, 0, 3, 4 },
		[AB_ANDROID_10] = { 1, 0, 2, 0, 3, 4 },
		[AB_ANDROID_11] = { 1, 0, 2, 0, 3, 4, 5, 6, 7, 0, 0, 0, 0, 8, 9, 0 },
		[AB_ANDROID_12] = { 1, 0, 2, 0, 3, 4, 5, 6, 7, 8, 9, 0, 0, 10, 11, 12 },
		[AB_ANDROID_13] = { 1, 0, 2, 0, 3, 4, 5, 6, 7, 8, 9, 0, 10, 11, 12, 13 },
		[AB_ANDROID_14] = { 1, 0, 2, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 },
		[AB_ANDROID_15] = { 1, 2, 3, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
		[AB_ANDROID_16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
	};

	/* There and back, and no code means two calls. */
	for (int v = AB_ANDROID_8; v <= AB_ANDROID_16; v++) {
		for (int call = 0; call < AB_SM_NR; call++) {
			uint32_t code = ab_variant_code((enum ab_variant)v,
							(enum ab_manager_call)call);

			CHECK_EQ(code, codes[v][call]);
			if (code)
				CHECK_EQ(ab_variant_call((enum ab_variant)v, code), call);
		}
		CHECK_EQ(ab_variant_call((enum ab_variant)v, 0), AB_SM_NR);
		CHECK_EQ(ab_variant_call((enum ab_variant)v, 99), AB_SM_NR);
		CHECK_EQ(ab_variant_code((enum ab_variant)v, AB_SM_NR), 0);
		CHECK_EQ(ab_variant_has_status((enum ab_variant)v), v >= AB_ANDROID_11);
		CHECK_EQ(ab_variant_has_priority((enum ab_variant)v), v >= AB_ANDROID_9);
	}
}

static void test_names_of_variants(void)
{
	static const struct {
		const char *text;
		enum ab_variant want; /* AB_VARIANT_DEFAULT: none */
	} names[] = {
		{ "8", AB_ANDROID_8 }, { "13", AB_ANDROID_13 }, { "android9", AB_ANDROID_9 },
		{ "27", AB_ANDROID_8 }, { "29", AB_ANDROID_10 }, { "32", AB_ANDROID_12 },
		{ "36", AB_ANDROID_16 }, { "40", AB_ANDROID_16 }, { "7", AB_VARIANT_DEFAULT },
		{ "", AB_VARIANT_DEFAULT }, { "13x", AB_VARIANT_DEFAULT },
		{ "android33", AB_VARIANT_DEFAULT }, { "-1", AB_VARIANT_DEFAULT },
		{ "99999", AB_VARIANT_DEFAULT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		enum ab_variant variant = AB_VARIANT_DEFAULT;

		CHECK_EQ(ab_variant_parse(names[i].text, &variant),
			 names[i].want ? 0 : -EINVAL);
		CHECK_EQ(variant, names[i].want);
	}
	CHECK_STR(ab_variant_name(AB_VARIANT_DEFAULT), "13");
	CHECK_STR(ab_variant_name(AB_ANDROID_8), "8");
	CHECK_STR(ab_variant_name((enum ab_variant)99), "?");
}

static const struct fake_case cases[] = {
	FAKE_CASE(test_tokens),
	FAKE_CASE(test_headers),
	FAKE_CASE(test_stability),
	FAKE_CASE(test_stability_is_kept),
	FAKE_CASE(test_status_on_the_wire),
	FAKE_CASE(test_status_behind_an_error),
	FAKE_CASE(test_status_of_others),
	FAKE_CASE(test_sizes_of_traces),
	FAKE_CASE(test_status_with_a_parcelable),
	FAKE_CASE(test_codes_of_the_service_manager),
	FAKE_CASE(test_names_of_variants),
};

FAKE_MAIN(cases)
