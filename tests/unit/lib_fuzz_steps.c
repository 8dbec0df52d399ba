// SPDX-License-Identifier: MIT
/* One thing of each kind: written, and read back equal. */
#include "lib_fuzz.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BOOL, BYTE, CHAR16, INT32, UINT32, INT64, UINT64, FLOAT, DOUBLE,
	STRING16, STRING8, UTF16, NULL_STRING16, NULL_STRING8,
	BYTES, RAW, BOOLS, CHARS, INT32S, INT64S, FLOATS, DOUBLES, STRINGS, NULL_ARRAY,
	OBJECTS,
	PARCELABLE, NULL_PARCELABLE, TOKEN, STATUS, EXCEPTION,
	OBJECT, FOREIGN, NULL_OBJECT, WEAK, FOREIGN_WEAK, NULL_WEAK, FD, PARCEL_FD,
	NR_WHAT
};

const unsigned int nr_what = NR_WHAT;

static const char *const texts[] = {
	"a", "ab", "abc", "h\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "a \xf0\x90\x80\x80 b", "",
};

static const char *text_of(const struct step *step)
{
	return texts[(uint32_t)step->value % ARRAY_SIZE(texts)];
}

/* Numbers of full width from the few bits of a step. */
static int64_t big(const struct step *step)
{
	return (int64_t)((uint64_t)(uint32_t)step->value * 0x9e3779b97f4a7c15);
}

/** struct values - what a step's array holds, as each type */
struct values {
	int32_t ints[ARRAY_MAX];
	int64_t longs[ARRAY_MAX];
	float floats[ARRAY_MAX];
	double doubles[ARRAY_MAX];
	uint16_t chars[ARRAY_MAX];
	bool bools[ARRAY_MAX];
	const char *strings[ARRAY_MAX];
	ab_object *objects[ARRAY_MAX];
};

static void values_of(const struct step *step, struct values *v)
{
	for (size_t i = 0; i < step->count; i++) {
		uint32_t n = (uint32_t)step->value + (uint32_t)i;

		v->ints[i] = (int32_t)n;
		v->longs[i] = (int64_t)((uint64_t)v->ints[i] * 4294967311u);
		v->floats[i] = (float)v->ints[i] / 3;
		v->doubles[i] = (double)v->ints[i] / 7;
		v->chars[i] = (uint16_t)(n * 40503);
		v->bools[i] = n & 1;
		v->strings[i] = n % 5 ? texts[n % ARRAY_SIZE(texts)] : NULL;
		v->objects[i] = n & 1 ? ours : NULL;
	}
}

/* ---- writing ------------------------------------------------------------------------------ */

static void write_array(ab_parcel *parcel, const struct step *step)
{
	struct values v;

	values_of(step, &v);
	switch (step->what) {
	case UTF16: ab_write_utf16(parcel, v.chars, step->count); break;
	case BYTES: ab_write_bytes(parcel, v.ints, step->count); break;
	case RAW: ab_write_raw(parcel, v.ints, step->count); break;
	case BOOLS: ab_write_bool_array(parcel, v.bools, step->count); break;
	case CHARS: ab_write_char16_array(parcel, v.chars, step->count); break;
	case INT32S: ab_write_int32_array(parcel, v.ints, step->count); break;
	case INT64S: ab_write_int64_array(parcel, v.longs, step->count); break;
	case FLOATS: ab_write_float_array(parcel, v.floats, step->count); break;
	case DOUBLES: ab_write_double_array(parcel, v.doubles, step->count); break;
	case STRINGS: ab_write_string16_array(parcel, v.strings, step->count); break;
	case OBJECTS: ab_write_object_array(parcel, v.objects, step->count); break;
	default: CHECK(!"an array");
	}
}

/* An object of somebody else's, which the parcel then holds. */
static void write_foreign(ab_parcel *parcel, struct step *step)
{
	struct flat_binder_object fbo = {
		.hdr.type = BINDER_TYPE_HANDLE,
		.handle = 1 + (uint32_t)step->value % (NR_HANDLES - 1),
	};
	ab_object *proxy;

	CHECK_EQ(ab_object_unflatten(conn, &fbo, &proxy), 0);
	step->object = proxy;
	if (step->what == FOREIGN)
		ab_write_object(parcel, proxy);
	else
		ab_write_weak(parcel, proxy);
	ab_object_put(proxy);
}

static void write_object(ab_parcel *parcel, struct step *step)
{
	switch (step->what) {
	case OBJECT: ab_write_object(parcel, ours); break;
	case NULL_OBJECT: ab_write_object(parcel, NULL); break;
	case WEAK: ab_write_weak(parcel, ours); break;
	case NULL_WEAK: ab_write_weak(parcel, NULL); break;
	case FOREIGN:
	case FOREIGN_WEAK: write_foreign(parcel, step); break;
	case FD: ab_write_fd(parcel, null_fd); break;
	case PARCEL_FD: ab_write_parcel_fd(parcel, null_fd); break;
	default: write_array(parcel, step);
	}
}

static void write_struct(ab_parcel *parcel, struct step *step)
{
	size_t mark;

	switch (step->what) {
	case NULL_STRING16: ab_write_string16(parcel, NULL); break;
	case NULL_STRING8: ab_write_string8(parcel, NULL); break;
	case NULL_ARRAY: ab_write_int32_array(parcel, NULL, step->count); break;
	case PARCELABLE:
		ab_write_parcelable_begin(parcel, &mark);
		ab_write_int32(parcel, step->value);
		ab_write_string16(parcel, text_of(step));
		ab_write_parcelable_end(parcel, mark);
		break;
	case NULL_PARCELABLE: ab_write_null_parcelable(parcel); break;
	case TOKEN: ab_write_token(parcel, text_of(step)); break;
	case STATUS: ab_write_status(parcel, AB_EX_NONE, 0, NULL); break;
	case EXCEPTION:
		ab_write_status(parcel, -1 - (int32_t)step->count % 9, step->value, text_of(step));
		break;
	default: write_object(parcel, step);
	}
}

/** write_step() - write one thing */
void write_step(ab_parcel *parcel, struct step *step)
{
	switch (step->what) {
	case BOOL: ab_write_bool(parcel, step->value & 1); break;
	case BYTE: ab_write_byte(parcel, (int8_t)step->value); break;
	case CHAR16: ab_write_char16(parcel, (uint16_t)step->value); break;
	case INT32: ab_write_int32(parcel, step->value); break;
	case UINT32: ab_write_uint32(parcel, (uint32_t)step->value); break;
	case INT64: ab_write_int64(parcel, big(step)); break;
	case UINT64: ab_write_uint64(parcel, (uint64_t)big(step)); break;
	case FLOAT: ab_write_float(parcel, (float)step->value); break;
	case DOUBLE: ab_write_double(parcel, step->value / 3.0); break;
	case STRING16: ab_write_string16(parcel, text_of(step)); break;
	case STRING8: ab_write_string8(parcel, text_of(step)); break;
	default: write_struct(parcel, step);
	}
}

/* ---- reading ------------------------------------------------------------------------------ */

#define READ_BACK(type, reader, want) do {						\
	type value_, want_ = (type)(want);						\
	CHECK_EQ(reader(parcel, &value_), 0);						\
	CHECK(!memcmp(&value_, &want_, sizeof(type)));					\
} while (0)

#define READ_ARRAY(type, reader, want) do {						\
	type *values_;									\
	size_t count_;									\
	CHECK_EQ(reader(parcel, &values_, &count_), 0);					\
	CHECK_EQ(count_, step->count);							\
	CHECK(!memcmp(values_, want, count_ * sizeof(type)));				\
	free(values_);									\
} while (0)

static void read_strings(ab_parcel *parcel, const struct step *step, const char *const *want)
{
	char **strings;
	size_t nr;

	CHECK_EQ(ab_read_string16_array(parcel, &strings, &nr), 0);
	CHECK_EQ(nr, step->count);
	for (size_t i = 0; i < nr; i++) {
		CHECK(!strings[i] == !want[i]);
		if (want[i])
			CHECK_STR(strings[i], want[i]);
	}
	ab_strings_free(strings, nr);
}

static void read_objects(ab_parcel *parcel, const struct step *step, ab_object *const *want)
{
	ab_object **objects;
	size_t nr;

	CHECK_EQ(ab_read_object_array(parcel, &objects, &nr), 0);
	CHECK_EQ(nr, step->count);
	for (size_t i = 0; i < nr; i++) {
		CHECK(objects[i] == want[i]);
		ab_object_put(objects[i]);
	}
	free(objects);
}

static void read_in_place(ab_parcel *parcel, const struct step *step, const struct values *v)
{
	const uint16_t *units;
	size_t nr = step->count;
	const void *bytes;

	if (step->what == UTF16) {
		CHECK_EQ(ab_read_utf16(parcel, &units, &nr), 0);
		CHECK(!memcmp(units, v->chars, step->count * sizeof(*units)));
	} else {
		CHECK_EQ(step->what == RAW ? ab_read_raw(parcel, &bytes, nr)
					   : ab_read_bytes(parcel, &bytes, &nr), 0);
		CHECK(!memcmp(bytes, v->ints, step->count));
	}
	CHECK_EQ(nr, step->count);
}

static void read_array(ab_parcel *parcel, const struct step *step)
{
	struct values v;

	values_of(step, &v);
	switch (step->what) {
	case UTF16:
	case BYTES:
	case RAW: read_in_place(parcel, step, &v); break;
	case BOOLS: READ_ARRAY(bool, ab_read_bool_array, v.bools); break;
	case CHARS: READ_ARRAY(uint16_t, ab_read_char16_array, v.chars); break;
	case INT32S: READ_ARRAY(int32_t, ab_read_int32_array, v.ints); break;
	case INT64S: READ_ARRAY(int64_t, ab_read_int64_array, v.longs); break;
	case FLOATS: READ_ARRAY(float, ab_read_float_array, v.floats); break;
	case DOUBLES: READ_ARRAY(double, ab_read_double_array, v.doubles); break;
	case STRINGS: read_strings(parcel, step, v.strings); break;
	case OBJECTS: read_objects(parcel, step, v.objects); break;
	default: CHECK(!"an array");
	}
}

static void read_text(ab_parcel *parcel, const struct step *step,
		      int (*reader)(ab_parcel *parcel, char **utf8))
{
	char *text;

	CHECK_EQ(reader(parcel, &text), 0);
	CHECK_STR(text, text_of(step));
	free(text);
}

static void read_null_text(ab_parcel *parcel, int (*reader)(ab_parcel *parcel, char **utf8),
			   int (*nullable)(ab_parcel *parcel, char **utf8))
{
	char *text;

	CHECK_EQ(reader(parcel, &text), AB_UNEXPECTED_NULL);
	CHECK_EQ(nullable(parcel, &text), 0);
	CHECK(!text);
}

static void read_strong(ab_parcel *parcel, const struct step *step)
{
	ab_object *object;

	if (step->what == NULL_OBJECT) {
		CHECK_EQ(ab_read_object(parcel, &object), AB_UNEXPECTED_NULL);
		CHECK_EQ(ab_read_nullable_object(parcel, &object), 0);
		CHECK(!object);
		return;
	}
	CHECK_EQ(ab_read_object(parcel, &object), 0);
	CHECK(object == (step->what == OBJECT ? ours : step->object));
	ab_object_put(object);
}

static void read_weak(ab_parcel *parcel, const struct step *step)
{
	ab_object *object;
	ab_weak *weak;

	if (step->what == NULL_WEAK) {
		CHECK_EQ(ab_read_weak(parcel, &weak), AB_UNEXPECTED_NULL);
		CHECK_EQ(ab_read_nullable_weak(parcel, &weak), 0);
		CHECK(!weak);
		return;
	}
	CHECK_EQ(ab_read_weak(parcel, &weak), 0);
	if (step->what == WEAK) {
		CHECK_EQ(ab_weak_lock(weak, &object), 0);
		CHECK(object == ours);
		ab_object_put(object);
	} else {
		CHECK((const void *)weak == step->object);
	}
	ab_weak_put(weak);
}

static void read_descriptor(ab_parcel *parcel, const struct step *step)
{
	struct stat want, got;
	int fd;

	CHECK_EQ(step->what == FD ? ab_read_fd(parcel, &fd) : ab_read_parcel_fd(parcel, &fd), 0);
	CHECK(fd != null_fd);
	CHECK_EQ(fstat(null_fd, &want), 0);
	CHECK_EQ(fstat(fd, &got), 0);
	CHECK_EQ(got.st_rdev, want.st_rdev);
	close(fd);
}

static void read_object(ab_parcel *parcel, const struct step *step)
{
	switch (step->what) {
	case OBJECT:
	case FOREIGN:
	case NULL_OBJECT: read_strong(parcel, step); break;
	case WEAK:
	case FOREIGN_WEAK:
	case NULL_WEAK: read_weak(parcel, step); break;
	case FD:
	case PARCEL_FD: read_descriptor(parcel, step); break;
	default: read_array(parcel, step);
	}
}

static void read_parcelable(ab_parcel *parcel, const struct step *step)
{
	size_t end;

	if (step->what == NULL_PARCELABLE) {
		CHECK_EQ(ab_read_parcelable_begin(parcel, &end), AB_UNEXPECTED_NULL);
		CHECK_EQ(ab_read_nullable_parcelable_begin(parcel, &end), 0);
		CHECK_EQ(end, 0);
		return;
	}
	CHECK_EQ(ab_read_parcelable_begin(parcel, &end), 0);
	READ_BACK(int32_t, ab_read_int32, step->value);
	if (step->value & 1)
		read_text(parcel, step, ab_read_string16);
	CHECK_EQ(ab_read_parcelable_end(parcel, end), 0);
}

static void read_exception(ab_parcel *parcel, const struct step *step)
{
	const char *want = text_of(step);
	struct ab_status status;

	CHECK_EQ(ab_read_status(parcel, &status), -EREMOTEIO);
	CHECK_EQ(status.exception, -1 - (int32_t)step->count % 9);
	CHECK_EQ(status.service_error,
		 status.exception == AB_EX_SERVICE_SPECIFIC ? step->value : 0);
	CHECK(!status.message == !*want);
	if (status.message)
		CHECK_STR(status.message, want);
	ab_status_fini(&status);
}

static void read_struct(ab_parcel *parcel, const struct step *step)
{
	switch (step->what) {
	case NULL_STRING16:
		read_null_text(parcel, ab_read_string16, ab_read_nullable_string16);
		break;
	case NULL_STRING8:
		read_null_text(parcel, ab_read_string8, ab_read_nullable_string8);
		break;
	case NULL_ARRAY: CHECK(ab_read_null(parcel)); break;
	case PARCELABLE:
	case NULL_PARCELABLE: read_parcelable(parcel, step); break;
	case TOKEN:
		CHECK_EQ(ab_read_token(parcel, "not this"), AB_BAD_TYPE);
		CHECK_EQ(ab_read_token(parcel, text_of(step)), 0);
		break;
	case STATUS: CHECK_EQ(ab_read_status(parcel, NULL), 0); break;
	case EXCEPTION: read_exception(parcel, step); break;
	default: read_object(parcel, step);
	}
}

/** read_step() - it is there, and the next thing behind it */
void read_step(ab_parcel *parcel, const struct step *step)
{
	switch (step->what) {
	case BOOL: READ_BACK(bool, ab_read_bool, step->value & 1); break;
	case BYTE: READ_BACK(int8_t, ab_read_byte, step->value); break;
	case CHAR16: READ_BACK(uint16_t, ab_read_char16, step->value); break;
	case INT32: READ_BACK(int32_t, ab_read_int32, step->value); break;
	case UINT32: READ_BACK(uint32_t, ab_read_uint32, step->value); break;
	case INT64: READ_BACK(int64_t, ab_read_int64, big(step)); break;
	case UINT64: READ_BACK(uint64_t, ab_read_uint64, big(step)); break;
	case FLOAT: READ_BACK(float, ab_read_float, step->value); break;
	case DOUBLE: READ_BACK(double, ab_read_double, step->value / 3.0); break;
	case STRING16: read_text(parcel, step, ab_read_string16); break;
	case STRING8: read_text(parcel, step, ab_read_string8); break;
	default: read_struct(parcel, step);
	}
}
