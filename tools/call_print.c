// SPDX-License-Identifier: MIT
/* Replies to `anybinder call`: by the types that are given, or as bytes and guesses. */
#include "tools/call.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 16

/** struct printing - where a value goes: an array of JSON, or a line */
struct printing {
	struct json_object *values;
	ab_parcel *reply;
};

/* Takes @value. */
static void put(struct printing *p, struct json_object *value)
{
	if (p->values)
		json_object_array_add(p->values, value);
	else if (json_object_is_type(value, json_type_string))
		puts(json_object_get_string(value));
	else
		puts(json_object_to_json_string(value));
	if (!p->values)
		json_object_put(value);
}

static void put_text(struct printing *p, const char *text)
{
	put(p, text ? json_object_new_string(text) : NULL);
}

static int print_number(struct printing *p, const char *type)
{
	int64_t wide;
	uint32_t u;
	int32_t i;
	int ret;

	if (!strcmp(type, "u32")) {
		ret = ab_read_uint32(p->reply, &u);
		wide = u;
	} else if (!strcmp(type, "i32")) {
		ret = ab_read_int32(p->reply, &i);
		wide = i;
	} else if (!strcmp(type, "i8")) {
		int8_t byte;

		ret = ab_read_byte(p->reply, &byte);
		wide = byte;
	} else {
		ret = ab_read_int64(p->reply, &wide);
	}
	if (!ret)
		put(p, !strcmp(type, "u64") ? json_object_new_uint64((uint64_t)wide)
					    : json_object_new_int64(wide));
	return ret;
}

static int print_float(struct printing *p, const char *type)
{
	double d;
	float f;
	int ret;

	if (!strcmp(type, "f32")) {
		ret = ab_read_float(p->reply, &f);
		d = f;
	} else {
		ret = ab_read_double(p->reply, &d);
	}
	if (!ret)
		put(p, json_object_new_double(d));
	return ret;
}

static int print_bool(struct printing *p, const char *type)
{
	bool value;
	int ret = ab_read_bool(p->reply, &value);

	if (!ret)
		put(p, json_object_new_boolean(value));
	return ret;
}

static int print_text(struct printing *p, const char *type)
{
	char *text;
	int ret = !strcmp(type, "s8") ? ab_read_nullable_string8(p->reply, &text)
				      : ab_read_nullable_string16(p->reply, &text);

	if (!ret)
		put_text(p, text);
	free(text);
	return ret;
}

static int print_texts(struct printing *p, const char *type)
{
	char **texts;
	size_t nr;
	int ret = ab_read_string16_array(p->reply, &texts, &nr);

	for (size_t i = 0; !ret && i < nr; i++)
		put_text(p, texts[i]);
	ab_strings_free(texts, nr);
	return ret;
}

static int print_bytes(struct printing *p, const char *type)
{
	const void *bytes;
	size_t nr;
	char *hex;
	int ret = ab_read_bytes(p->reply, &bytes, &nr);

	if (ret)
		return ret;
	hex = malloc(2 * nr + 1);
	if (!hex)
		return -ENOMEM;
	hex[0] = '\0';
	for (size_t i = 0; i < nr; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)bytes)[i]);
	put_text(p, hex);
	free(hex);
	return 0;
}

static int print_object(struct printing *p, const char *type)
{
	ab_object *object;
	char text[40];
	int ret = ab_read_nullable_object(p->reply, &object);

	if (ret)
		return ret;
	snprintf(text, sizeof(text), "object, handle %u", object ? ab_object_handle(object) : 0);
	put_text(p, object ? text : NULL);
	ab_object_put(object);
	return 0;
}

static struct json_object *exception_of(const struct ab_status *status)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "exception", json_object_new_int(status->exception));
	json_object_object_add(json, "name", json_object_new_string(
			       ab_exception_name(status->exception)));
	json_object_object_add(json, "message", status->message ?
			       json_object_new_string(status->message) : NULL);
	if (status->exception == AB_EX_SERVICE_SPECIFIC)
		json_object_object_add(json, "number", json_object_new_int(status->service_error));
	return json;
}

static int print_status(struct printing *p, const char *type)
{
	struct ab_status status;
	int ret = ab_read_status(p->reply, &status);

	if (ret == -EREMOTEIO) {
		fprintf(stderr, "anybinder: the object sent an exception: %s (%d)%s%s",
			ab_exception_name(status.exception), status.exception,
			status.message ? ": " : "", status.message ? status.message : "");
		if (status.exception == AB_EX_SERVICE_SPECIFIC)
			fprintf(stderr, ", its number %d", status.service_error);
		fputc('\n', stderr);
		if (p->values)
			put(p, exception_of(&status));
	}
	ab_status_fini(&status);
	return ret;
}

static const struct {
	const char *type;
	int (*print)(struct printing *p, const char *type);
} types[] = {
	{ "i8", print_number },	  { "i32", print_number },   { "u32", print_number },
	{ "i64", print_number },  { "u64", print_number },   { "f32", print_float },
	{ "f64", print_float },	  { "bool", print_bool },    { "s16", print_text },
	{ "s8", print_text },	  { "s16array", print_texts }, { "bytes", print_bytes },
	{ "obj", print_object },  { "status", print_status },
};

bool call_types_known(const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ","), i = 0;

		while (i < sizeof(types) / sizeof(*types) &&
		       (strncmp(types[i].type, list, len) || types[i].type[len]))
			i++;
		if (i == sizeof(types) / sizeof(*types))
			return false;
		list += len + (list[len] == ',');
	}
	return true;
}

static int print_type(struct printing *p, const char *type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!strcmp(types[i].type, type))
			return types[i].print(p, type);
	}
	return AB_BAD_TYPE; /* call_types_known() was asked before */
}

static int print_types(const struct common *common, ab_conn *conn, struct printing *p,
		       const char *list)
{
	char *copy = strdup(list), *save, *type;
	int ret = copy ? 0 : -ENOMEM;

	type = copy ? strtok_r(copy, ",", &save) : NULL;
	for (; type && !ret; type = strtok_r(NULL, ",", &save)) {
		ret = print_type(p, type);
		if (ret < 0 && ret != -EREMOTEIO)
			common_error(common, conn, ret, "the reply has no %s at byte %zu", type,
				     ab_parcel_position(p->reply));
	}
	free(copy);
	if (!ret && ab_parcel_left(p->reply) && !p->values)
		printf("(%zu bytes more)\n", ab_parcel_left(p->reply));
	return ret < 0 ? EXIT_FAILED : ret;
}

/* ---- without types ---------------------------------------------------------------- */

static void print_hex(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += LINE_BYTES) {
		printf("%06zx ", at);
		for (size_t i = at; i < at + LINE_BYTES; i++)
			i < size ? printf(" %02x", bytes[i]) : printf("   ");
		fputs("  ", stdout);
		for (size_t i = at; i < size && i < at + LINE_BYTES; i++)
			putchar(isprint(bytes[i]) ? bytes[i] : '.');
		putchar('\n');
	}
}

/* What could be a string here, or a word. */
static void print_guesses(ab_parcel *reply)
{
	int32_t word;
	char *text;

	ab_parcel_seek(reply, 0);
	while (ab_parcel_left(reply) >= sizeof(word)) {
		size_t at = ab_parcel_position(reply);

		/* The empty string looks like two words 0. */
		if (!ab_read_string16(reply, &text)) {
			if (text[0])
				printf("%6zu  s16 \"%s\"\n", at, text);
			else
				ab_parcel_seek(reply, at);
			if (text[0]) {
				free(text);
				continue;
			}
			free(text);
		}
		if (ab_read_int32(reply, &word)) {
			printf("%6zu  an object\n", at);
			if (ab_parcel_seek(reply, at + 24))
				return;
			continue;
		}
		printf("%6zu  i32 %d (%#x)\n", at, word, (unsigned int)word);
	}
}

static struct json_object *hex_of(const ab_parcel *reply)
{
	const uint8_t *bytes = ab_parcel_data(reply);
	size_t size = ab_parcel_size(reply);
	struct json_object *string;
	char *hex = calloc(2 * size + 1, 1);

	for (size_t i = 0; hex && i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	string = json_object_new_string(hex ? hex : "");
	free(hex);
	return string;
}

int call_print(const struct common *common, ab_conn *conn, ab_parcel *reply, const char *list)
{
	struct printing p = { .reply = reply };
	struct json_object *json;
	int code = EXIT_OK;

	if (!common->json && !list) {
		printf("%zu bytes\n", ab_parcel_size(reply));
		print_hex(ab_parcel_data(reply), ab_parcel_size(reply));
		print_guesses(reply);
		return EXIT_OK;
	}
	if (!common->json)
		return print_types(common, conn, &p, list);
	json = json_object_new_object();
	json_object_object_add(json, "size",
			       json_object_new_int64((int64_t)ab_parcel_size(reply)));
	json_object_object_add(json, "hex", hex_of(reply));
	if (list) {
		p.values = json_object_new_array();
		json_object_object_add(json, "values", p.values);
		code = print_types(common, conn, &p, list);
	}
	json_line(json);
	return code;
}
