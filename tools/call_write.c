// SPDX-License-Identifier: MIT
/* The arguments of `anybinder call`, typed, into a parcel. */
#include "tools/call.h"
#include "tools/target.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** struct writing - the arguments, as far as they are written */
struct writing {
	const struct common *common;
	ab_conn *conn;
	ab_parcel *parcel;
};

static int bad(const char *type, const char *value)
{
	return usage_error("call ", "%s %s: that is no value of this type", type, value);
}

/* A whole number in any base, that fits @bits, signed or not. */
static bool parse_int(const char *text, int bits, bool is_signed, int64_t *value)
{
	char *end;

	errno = 0;
	if (is_signed) {
		*value = strtoll(text, &end, 0);
		return !errno && end != text && !*end &&
		       (bits == 64 ||
			(*value >= -(1ll << (bits - 1)) && *value < 1ll << (bits - 1)));
	}
	*value = (int64_t)strtoull(text, &end, 0);
	return !errno && end != text && !*end && *text != '-' &&
	       (bits == 64 || (uint64_t)*value < 1ull << bits);
}

static int write_number(struct writing *w, const char *type, const char *text)
{
	int bits = atoi(type + 1);
	int64_t value;

	if (!parse_int(text, bits, type[0] == 'i', &value))
		return bad(type, text);
	if (bits == 64)
		ab_write_int64(w->parcel, value);
	else if (bits == 32)
		ab_write_uint32(w->parcel, (uint32_t)value);
	else
		ab_write_byte(w->parcel, (int8_t)value);
	return EXIT_OK;
}

static int write_float(struct writing *w, const char *type, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end)
		return bad(type, text);
	if (!strcmp(type, "f32"))
		ab_write_float(w->parcel, (float)value);
	else
		ab_write_double(w->parcel, value);
	return EXIT_OK;
}

static int write_bool(struct writing *w, const char *type, const char *text)
{
	bool yes = !strcmp(text, "true") || !strcmp(text, "1");

	if (!yes && strcmp(text, "false") && strcmp(text, "0"))
		return bad(type, text);
	ab_write_bool(w->parcel, yes);
	return EXIT_OK;
}

static int write_text(struct writing *w, const char *type, const char *text)
{
	int ret = !strcmp(type, "s8") ? ab_write_string8(w->parcel, text)
				      : ab_write_string16(w->parcel, text);

	return ret == -EILSEQ ? bad(type, text) : EXIT_OK;
}

static int write_hex(struct writing *w, const char *type, const char *text)
{
	size_t len = strlen(text) / 2;
	uint8_t *bytes = malloc(len + 1);
	int code = EXIT_OK;

	if (!bytes) {
		fputs("anybinder: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < len; i++) {
		char two[3] = { text[2 * i], text[2 * i + 1], 0 };

		if (!isxdigit((unsigned char)two[0]) || !isxdigit((unsigned char)two[1]))
			code = bad(type, text);
		bytes[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	if (strlen(text) % 2)
		code = bad(type, text);
	if (!code && !strcmp(type, "raw"))
		ab_write_raw(w->parcel, bytes, len);
	else if (!code)
		ab_write_bytes(w->parcel, bytes, len);
	free(bytes);
	return code;
}

static int write_service(struct writing *w, const char *type, const char *name)
{
	ab_object *object = NULL;
	int code = target_find(w->common, w->conn, name, &object);

	if (!code)
		ab_write_object(w->parcel, object);
	ab_object_put(object);
	return code;
}

static int write_file(struct writing *w, const char *type, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "anybinder: call: fd %s: %s\n", path, strerror(errno));
		return EXIT_FAILED;
	}
	if (!strcmp(type, "pfd"))
		ab_write_parcel_fd(w->parcel, fd);
	else
		ab_write_fd(w->parcel, fd);
	close(fd);
	return EXIT_OK;
}

static const struct {
	const char *type;
	int (*write)(struct writing *w, const char *type, const char *value);
} types[] = {
	{ "i8", write_number },	  { "i32", write_number }, { "u32", write_number },
	{ "i64", write_number },  { "u64", write_number }, { "f32", write_float },
	{ "f64", write_float },	  { "bool", write_bool },  { "s16", write_text },
	{ "s8", write_text },	  { "bytes", write_hex },  { "raw", write_hex },
	{ "obj", write_service }, { "fd", write_file },	   { "pfd", write_file },
};

/* Types without a value. Return: whether @type is one, and has been written. */
static bool write_null(struct writing *w, const char *type)
{
	if (!strcmp(type, "null"))
		ab_write_string16(w->parcel, NULL);
	else if (!strcmp(type, "nullobj"))
		ab_write_object(w->parcel, NULL);
	else
		return false;
	return true;
}

static int write_one(struct writing *w, const char *type, const char *value, bool *took_value)
{
	*took_value = false;
	if (write_null(w, type))
		return EXIT_OK;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(types[i].type, type))
			continue;
		if (!value)
			return usage_error("call ", "%s wants a value behind it", type);
		*took_value = true;
		return types[i].write(w, type, value);
	}
	return usage_error("call ", "there is no type \"%s\"%s", type, type[0] == '-' ?
			   "; options go before the name" : "");
}

int call_write(const struct common *common, ab_conn *conn, ab_parcel *parcel, char **words)
{
	struct writing writing = { common, conn, parcel };
	int code = EXIT_OK, ret;

	while (!code && *words) {
		bool took_value;

		code = write_one(&writing, words[0], words[1], &took_value);
		words += took_value ? 2 : 1;
	}
	ret = ab_parcel_error(parcel);
	if (!code && ret) {
		fprintf(stderr, "anybinder: call: the arguments: %s\n", ab_strerror(ret));
		code = EXIT_FAILED;
	}
	return code;
}
