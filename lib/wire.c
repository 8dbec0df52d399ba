// SPDX-License-Identifier: MIT
/*
 * The variants of the wire. Codes of android.os.IServiceManager are the places of
 * its calls in the order of each release's published interface.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_SYSTEM 0x53595354 /* 'SYST' */
#define HEADER_VENDOR 0x564e4452 /* 'VNDR' */
#define WORK_SOURCE_UNSET (-1)

#define FIRST_CODES [AB_SM_GET] = 1, [AB_SM_CHECK] = 2, [AB_SM_ADD] = 3, [AB_SM_LIST] = 4
#define NOTIFY_CODES(n)                                                                           \
	[AB_SM_REGISTER_FOR_NOTIFICATIONS] = (n), [AB_SM_UNREGISTER_FOR_NOTIFICATIONS] = (n) + 1, \
	[AB_SM_IS_DECLARED] = (n) + 2
/* From Android 14 on all that follows list. */
#define LATER_CODES(n)                                                                            \
	NOTIFY_CODES(n), [AB_SM_GET_DECLARED_INSTANCES] = (n) + 3,                                \
	[AB_SM_UPDATABLE_VIA_APEX] = (n) + 4, [AB_SM_GET_UPDATABLE_NAMES] = (n) + 5,              \
	[AB_SM_GET_CONNECTION_INFO] = (n) + 6, [AB_SM_REGISTER_CLIENT_CALLBACK] = (n) + 7,        \
	[AB_SM_TRY_UNREGISTER] = (n) + 8, [AB_SM_GET_DEBUG_INFO] = (n) + 9

static const struct ab_wire wires[] = {
	[AB_ANDROID_8] = {
		.name = "8", .api_first = 1, .api_last = 27, .token_words = 1,
		.codes = { FIRST_CODES },
	},
	[AB_ANDROID_9] = {
		.name = "9", .api_first = 28, .api_last = 28, .token_words = 1,
		.dump_priority = true, .codes = { FIRST_CODES },
	},
	[AB_ANDROID_10] = {
		.name = "10", .api_first = 29, .api_last = 29, .token_words = 2,
		.dump_priority = true, .codes = { FIRST_CODES },
	},
	[AB_ANDROID_11] = {
		.name = "11", .api_first = 30, .api_last = 30, .token_words = 3,
		.stability = AB_STABILITY_WORD, .status = true, .dump_priority = true,
		.codes = { FIRST_CODES, NOTIFY_CODES(5), [AB_SM_REGISTER_CLIENT_CALLBACK] = 8,
			   [AB_SM_TRY_UNREGISTER] = 9 },
	},
	[AB_ANDROID_12] = {
		.name = "12", .api_first = 31, .api_last = 32, .token_words = 3,
		.stability = AB_STABILITY_RECORD, .status = true, .dump_priority = true,
		.codes = { FIRST_CODES, NOTIFY_CODES(5), [AB_SM_GET_DECLARED_INSTANCES] = 8,
			   [AB_SM_UPDATABLE_VIA_APEX] = 9, [AB_SM_REGISTER_CLIENT_CALLBACK] = 10,
			   [AB_SM_TRY_UNREGISTER] = 11, [AB_SM_GET_DEBUG_INFO] = 12 },
	},
	[AB_ANDROID_13] = {
		.name = "13", .api_first = 33, .api_last = 33, .token_words = 3,
		.stability = AB_STABILITY_WORD, .status = true, .dump_priority = true,
		.codes = { FIRST_CODES, NOTIFY_CODES(5), [AB_SM_GET_DECLARED_INSTANCES] = 8,
			   [AB_SM_UPDATABLE_VIA_APEX] = 9, [AB_SM_GET_CONNECTION_INFO] = 10,
			   [AB_SM_REGISTER_CLIENT_CALLBACK] = 11, [AB_SM_TRY_UNREGISTER] = 12,
			   [AB_SM_GET_DEBUG_INFO] = 13 },
	},
	[AB_ANDROID_14] = {
		.name = "14", .api_first = 34, .api_last = 34, .token_words = 3,
		.stability = AB_STABILITY_WORD, .status = true, .dump_priority = true,
		.codes = { FIRST_CODES, LATER_CODES(5) },
	},
	[AB_ANDROID_15] = {
		.name = "15", .api_first = 35, .api_last = 35, .token_words = 3,
		.stability = AB_STABILITY_WORD, .status = true, .dump_priority = true,
		.codes = { [AB_SM_GET] = 1, [AB_SM_GET2] = 2, [AB_SM_CHECK] = 3, [AB_SM_ADD] = 4,
			   [AB_SM_LIST] = 5, LATER_CODES(6) },
	},
	[AB_ANDROID_16] = {
		.name = "16", .api_first = 36, .api_last = 9999, .token_words = 3,
		.stability = AB_STABILITY_WORD, .status = true, .dump_priority = true,
		.codes = { [AB_SM_GET] = 1, [AB_SM_GET2] = 2, [AB_SM_CHECK] = 3,
			   [AB_SM_CHECK2] = 4, [AB_SM_ADD] = 5, [AB_SM_LIST] = 6,
			   LATER_CODES(7) },
	},
};

/* Return: the row of a variant, the default's for what is none. */
const struct ab_wire *ab_wire(enum ab_variant variant)
{
	return &wires[variant >= AB_ANDROID_8 && variant <= AB_ANDROID_16 ? variant
									   : AB_ANDROID_13];
}

int ab_variant_parse(const char *text, enum ab_variant *variant)
{
	const char *digits = strncmp(text, "android", 7) ? text : text + 7;
	size_t len = strspn(digits, "0123456789");
	unsigned long number = strtoul(digits, NULL, 10);

	if (!len || len > 4 || digits[len])
		return -EINVAL;
	for (int i = AB_ANDROID_8; i <= AB_ANDROID_16; i++) {
		if (!strcmp(digits, wires[i].name) ||
		    (digits == text && number > 16 && number >= wires[i].api_first &&
		     number <= wires[i].api_last)) {
			*variant = (enum ab_variant)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *ab_variant_name(enum ab_variant variant)
{
	if (variant == AB_VARIANT_DEFAULT)
		variant = AB_ANDROID_13;
	return variant >= AB_ANDROID_8 && variant <= AB_ANDROID_16 ? wires[variant].name : "?";
}

bool ab_variant_has_status(enum ab_variant variant)
{
	return ab_wire(variant)->status;
}

bool ab_variant_has_priority(enum ab_variant variant)
{
	return ab_wire(variant)->dump_priority;
}

uint32_t ab_variant_code(enum ab_variant variant, enum ab_manager_call call)
{
	return (unsigned int)call < AB_SM_NR ? ab_wire(variant)->codes[call] : 0;
}

enum ab_manager_call ab_variant_call(enum ab_variant variant, uint32_t code)
{
	for (int i = 0; i < AB_SM_NR; i++) {
		if (code && ab_wire(variant)->codes[i] == code)
			return (enum ab_manager_call)i;
	}
	return AB_SM_NR;
}

/* ---- interface tokens --------------------------------------------------------------------- */

int ab_write_token(ab_parcel *parcel, const char *interface)
{
	unsigned int words = parcel ? ab_wire(parcel->variant)->token_words : 0;

	ab_write_int32(parcel, 0); /* strict-mode policy: none */
	if (words > 1)
		ab_write_int32(parcel, WORK_SOURCE_UNSET);
	if (words > 2)
		ab_write_int32(parcel, HEADER_SYSTEM);
	return ab_write_string16(parcel, interface);
}

static int read_header(ab_parcel *parcel)
{
	unsigned int words = ab_wire(parcel->variant)->token_words;
	int32_t word = 0;
	int ret = 0;

	for (unsigned int i = 0; i < words && !ret; i++)
		ret = ab_read_int32(parcel, &word);
	if (!ret && words > 2 && word != HEADER_SYSTEM && word != HEADER_VENDOR)
		ret = AB_BAD_TYPE;
	return ret;
}

/* Is the next String16 @utf8? Without memory: this is done for every call. */
static int read_name(ab_parcel *parcel, const char *utf8)
{
	const uint16_t *units;
	size_t count;
	int ret = ab_read_utf16(parcel, &units, &count);

	if (ret)
		return ret;
	return ab_utf16_is(units, count, utf8) ? 0 : AB_BAD_TYPE;
}

int ab_read_token(ab_parcel *parcel, const char *interface)
{
	size_t start = ab_parcel_position(parcel);
	int ret = parcel ? read_header(parcel) : -ENOMEM;

	if (!ret)
		ret = read_name(parcel, interface);
	if (ret && parcel)
		parcel->pos = start;
	return ret;
}
