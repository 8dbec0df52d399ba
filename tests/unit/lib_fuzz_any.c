// SPDX-License-Identifier: MIT
/*
 * Any reader, on anything. Whatever the parcel holds, a reader stays inside, says why it
 * failed, keeps its place then, and gives nothing.
 */
#include "lib_fuzz.h"

#include <errno.h>
#include <unistd.h>

#define READS 40

static volatile unsigned int sink;

/* Every byte that is said to be there can be looked at. */
static void look(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sink += ((const uint8_t *)bytes)[i];
}

#define SCALAR(type, reader) do {							\
	type value_;									\
	memset(&value_, 1, sizeof(value_));						\
	ret = reader(parcel, &value_);							\
	CHECK(!ret || value_ == 0);							\
} while (0)

static int read_scalar(ab_parcel *parcel)
{
	int ret;

	switch (below(9)) {
	case 0: SCALAR(bool, ab_read_bool); break;
	case 1: SCALAR(int8_t, ab_read_byte); break;
	case 2: SCALAR(uint16_t, ab_read_char16); break;
	case 3: SCALAR(int32_t, ab_read_int32); break;
	case 4: SCALAR(uint32_t, ab_read_uint32); break;
	case 5: SCALAR(int64_t, ab_read_int64); break;
	case 6: SCALAR(uint64_t, ab_read_uint64); break;
	case 7: SCALAR(float, ab_read_float); break;
	default: SCALAR(double, ab_read_double);
	}
	return ret;
}

static int read_text(ab_parcel *parcel)
{
	uint32_t which = below(4);
	char *text = (char *)(uintptr_t)1;
	int ret;

	switch (which) {
	case 0: ret = ab_read_string16(parcel, &text); break;
	case 1: ret = ab_read_nullable_string16(parcel, &text); break;
	case 2: ret = ab_read_string8(parcel, &text); break;
	default: ret = ab_read_nullable_string8(parcel, &text);
	}
	CHECK(text ? !ret : ret || which % 2);
	if (text) {
		ab_parcel *again = ab_parcel_new(conn);

		/* What is given is UTF-8, or it could not be written. */
		CHECK_EQ(ab_write_string16(again, text), 0);
		ab_parcel_free(again);
	}
	free(text);
	return ret;
}

static int read_in_place(ab_parcel *parcel)
{
	const void *bytes = parcel;
	const uint16_t *units = (const uint16_t *)(const void *)parcel;
	size_t nr = 1;
	int ret;

	switch (below(3)) {
	case 0:
		ret = ab_read_utf16(parcel, &units, &nr);
		bytes = units;
		look(units, ret ? 0 : (nr + 1) * sizeof(*units));
		CHECK(ret || !units[nr]);
		break;
	case 1:
		ret = ab_read_bytes(parcel, &bytes, &nr);
		look(bytes, ret ? 0 : nr);
		break;
	default:
		nr = below(100);
		ret = ab_read_raw(parcel, &bytes, nr);
		look(bytes, ret ? 0 : nr);
		nr = 0;
	}
	CHECK(!ret == !!bytes);
	CHECK(!ret || !nr);
	return ret;
}

#define ARRAY(type, reader) do {							\
	type *values_ = (type *)(uintptr_t)1;						\
	size_t nr_ = 1;									\
	ret = reader(parcel, &values_, &nr_);						\
	CHECK(!ret == !!values_);							\
	CHECK(!ret || !nr_);								\
	CHECK(nr_ <= ab_parcel_size(parcel));						\
	look(values_, nr_ * sizeof(type));						\
	free(values_);									\
} while (0)

static int read_array(ab_parcel *parcel)
{
	char **strings;
	size_t nr;
	int ret;

	switch (below(7)) {
	case 0: ARRAY(bool, ab_read_bool_array); break;
	case 1: ARRAY(uint16_t, ab_read_char16_array); break;
	case 2: ARRAY(int32_t, ab_read_int32_array); break;
	case 3: ARRAY(int64_t, ab_read_int64_array); break;
	case 4: ARRAY(float, ab_read_float_array); break;
	case 5: ARRAY(double, ab_read_double_array); break;
	default:
		ret = ab_read_string16_array(parcel, &strings, &nr);
		CHECK(!ret == !!strings);
		CHECK(!ret || !nr);
		ab_strings_free(strings, nr);
	}
	return ret;
}

/* Plain data: what has been read of it is no object. */
static int read_plain(ab_parcel *parcel)
{
	size_t before = ab_parcel_position(parcel);
	int ret;

	switch (below(4)) {
	case 0: ret = read_scalar(parcel); break;
	case 1: ret = read_text(parcel); break;
	case 2: ret = read_in_place(parcel); break;
	default: ret = read_array(parcel);
	}
	for (size_t i = 0; parcel->pos > before && i < parcel->nr_offsets; i++) {
		binder_size_t at = parcel->offsets[i];

		CHECK(at >= parcel->pos || at + object_size_at(parcel->data, at) <= before);
	}
	return ret;
}

static bool listed(const ab_parcel *parcel, size_t at)
{
	for (size_t i = 0; i < parcel->nr_offsets; i++) {
		if (parcel->offsets[i] == at)
			return true;
	}
	return false;
}

static int read_objects(ab_parcel *parcel)
{
	ab_object **objects;
	size_t nr;
	int ret = ab_read_object_array(parcel, &objects, &nr);

	CHECK(!ret == !!objects);
	CHECK(!ret || !nr);
	for (size_t i = 0; i < nr; i++)
		ab_object_put(objects[i]);
	free(objects);
	return ret;
}

static int read_descriptor(ab_parcel *parcel, bool wrapped)
{
	int fd = 0;
	int ret = wrapped ? ab_read_parcel_fd(parcel, &fd) : ab_read_fd(parcel, &fd);

	CHECK(!ret == (fd > null_fd));
	CHECK(!ret || fd == -1);
	if (!ret)
		close(fd);
	return ret;
}

static int read_object(ab_parcel *parcel)
{
	bool here = listed(parcel, ab_parcel_position(parcel));
	ab_object *object = ours;
	uint32_t which = below(7);
	ab_weak *weak;
	int ret;

	switch (which) {
	case 0:
	case 1:
		ret = which ? ab_read_nullable_object(parcel, &object)
			    : ab_read_object(parcel, &object);
		CHECK(object ? !ret && here : ret || (which && !here));
		ab_object_put(object);
		return ret;
	case 2:
	case 3:
		ret = which == 3 ? ab_read_nullable_weak(parcel, &weak)
				 : ab_read_weak(parcel, &weak);
		CHECK(weak ? !ret && here : ret || (which == 3 && !here));
		ab_weak_put(weak);
		return ret;
	case 4: return read_objects(parcel);
	case 5: return read_descriptor(parcel, true);
	default:
		ret = read_descriptor(parcel, false);
		CHECK(ret || here);
		return ret;
	}
}

static int read_status(ab_parcel *parcel)
{
	struct ab_status status;
	int ret = ab_read_status(parcel, &status);

	CHECK((ret == -EREMOTEIO) == !!status.exception);
	CHECK(!status.message || (status.exception && *status.message));
	ab_status_fini(&status);
	return ret;
}

static int read_structure(ab_parcel *parcel)
{
	static size_t entered;
	size_t end = 1;
	int ret;

	switch (below(5)) {
	case 0: return ab_read_token(parcel, "text");
	case 1: return read_status(parcel);
	case 2:
		return ab_read_parcelable_end(parcel, below(2) ? entered : below(1000));
	case 3:
		ret = ab_read_parcelable_begin(parcel, &end);
		CHECK(!ret == !!end);
		break;
	default:
		ret = ab_read_nullable_parcelable_begin(parcel, &end);
		CHECK(!ret || !end);
	}
	CHECK(end <= ab_parcel_size(parcel));
	CHECK(!end || end >= ab_parcel_position(parcel));
	entered = end;
	return ret;
}

static void check_place(const ab_parcel *parcel, size_t before, int ret)
{
	size_t pos = ab_parcel_position(parcel), size = ab_parcel_size(parcel);

	CHECK(pos <= size);
	CHECK(pos % 4 == 0 || pos == size);
	CHECK_EQ(ab_parcel_left(parcel), size - pos);
	switch (ret) {
	case 0:
	case -EREMOTEIO: /* a status that is none of success, and has been read */
		CHECK(pos >= before);
		break;
	case -ENODATA:
	case AB_BAD_TYPE:
	case AB_UNEXPECTED_NULL:
		CHECK_EQ(pos, before);
		break;
	default:
		fprintf(stderr, "a reader returned %d\n", ret);
		exit(1);
	}
}

/** read_any() - readers in random order */
void read_any(ab_parcel *parcel)
{
	for (int i = 0; i < READS; i++) {
		size_t before = ab_parcel_position(parcel);
		int ret;

		switch (below(4)) {
		case 0: ret = read_object(parcel); break;
		case 1: ret = read_structure(parcel); break;
		default: ret = read_plain(parcel);
		}
		check_place(parcel, before, ret);
		if (below(4) == 0 && !ab_read_null(parcel))
			check_place(parcel, before, 0);
		if (below(6) == 0)
			ab_parcel_seek(parcel, below((uint32_t)ab_parcel_size(parcel) + 8));
	}
}
