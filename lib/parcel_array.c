// SPDX-License-Identifier: MIT
/* Arrays: int32 count, -1 for null, then the elements. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* A count and room for its elements; NULL for none, which is no error if @values is NULL. */
static void *array_begin(ab_parcel *parcel, const void *values, size_t count, size_t element,
			 int *error)
{
	void *to;

	if (!values) {
		*error = ab_write_int32(parcel, -1);
		return NULL;
	}
	if (count > AB_PARCEL_MAX / element) {
		*error = ab_parcel_fail(parcel, -E2BIG);
		return NULL;
	}
	ab_write_int32(parcel, (int32_t)count);
	to = ab_parcel_extend(parcel, count * element);
	*error = to ? 0 : ab_parcel_error(parcel);
	return to;
}

static int write_array(ab_parcel *parcel, const void *values, size_t count, size_t element)
{
	int error;
	void *to = array_begin(parcel, values, count, element, &error);

	if (to && count)
		memcpy(to, values, count * element);
	return error;
}

int ab_write_bytes(ab_parcel *parcel, const void *bytes, size_t count)
{
	return write_array(parcel, bytes, count, 1);
}

int ab_write_int32_array(ab_parcel *parcel, const int32_t *values, size_t count)
{
	return write_array(parcel, values, count, sizeof(*values));
}

int ab_write_int64_array(ab_parcel *parcel, const int64_t *values, size_t count)
{
	return write_array(parcel, values, count, sizeof(*values));
}

int ab_write_float_array(ab_parcel *parcel, const float *values, size_t count)
{
	return write_array(parcel, values, count, sizeof(*values));
}

int ab_write_double_array(ab_parcel *parcel, const double *values, size_t count)
{
	return write_array(parcel, values, count, sizeof(*values));
}

int ab_write_bool_array(ab_parcel *parcel, const bool *values, size_t count)
{
	int error;
	int32_t *to = array_begin(parcel, values, count, sizeof(*to), &error);

	for (size_t i = 0; to && i < count; i++)
		to[i] = values[i];
	return error;
}

int ab_write_char16_array(ab_parcel *parcel, const uint16_t *values, size_t count)
{
	int error;
	int32_t *to = array_begin(parcel, values, count, sizeof(*to), &error);

	for (size_t i = 0; to && i < count; i++)
		to[i] = values[i];
	return error;
}

int ab_write_string16_array(ab_parcel *parcel, const char *const *values, size_t count)
{
	if (!values)
		return ab_write_int32(parcel, -1);
	if (count > AB_PARCEL_MAX / 4)
		return ab_parcel_fail(parcel, -E2BIG);
	ab_write_int32(parcel, (int32_t)count);
	for (size_t i = 0; i < count; i++)
		ab_write_string16(parcel, values[i]);
	return ab_parcel_error(parcel);
}

/*
 * The count of an array whose elements take at least @element bytes each: more
 * than there is room for is a lie, found out before memory is asked for.
 * Return: 0; on error the place is where it was.
 */
static int read_count(ab_parcel *parcel, size_t element, size_t *count)
{
	size_t start = ab_parcel_position(parcel);
	int32_t words;
	int ret = ab_read_int32(parcel, &words);

	*count = 0;
	if (ret)
		return ret;
	if (words >= 0 && (size_t)words <= ab_parcel_left(parcel) / element) {
		*count = (size_t)words;
		return 0;
	}
	parcel->pos = start;
	return words == -1 ? AB_UNEXPECTED_NULL : words < 0 ? AB_BAD_TYPE : -ENODATA;
}

int ab_read_bytes(ab_parcel *parcel, const void **bytes, size_t *count)
{
	size_t start = ab_parcel_position(parcel);
	int ret;

	*bytes = NULL;
	ret = read_count(parcel, 1, count);
	if (ret)
		return ret;
	*bytes = ab_parcel_take(parcel, *count, &ret);
	if (!*bytes) {
		parcel->pos = start;
		*count = 0;
	}
	return ret;
}

/* The elements as they are on the wire; NULL on error, with the place where it was. */
static const void *read_array(ab_parcel *parcel, size_t element, size_t *count, int *error)
{
	size_t start = ab_parcel_position(parcel);
	const void *at;

	*error = read_count(parcel, element, count);
	if (*error)
		return NULL;
	at = ab_parcel_take(parcel, *count * element, error);
	if (!at) {
		parcel->pos = start;
		*count = 0;
	}
	return at;
}

/* Not of no bytes at all: an array that is there is not NULL. */
static void *array_alloc(ab_parcel *parcel, size_t start, size_t *count, size_t element, int *error)
{
	void *values = calloc(*count ? *count : 1, element);

	if (!values) {
		*error = -ENOMEM;
		*count = 0;
		parcel->pos = start;
	}
	return values;
}

static int read_array_copy(ab_parcel *parcel, void **values, size_t element, size_t *count)
{
	size_t start = ab_parcel_position(parcel);
	const void *at;
	int error;

	*values = NULL;
	at = read_array(parcel, element, count, &error);
	if (!at)
		return error;
	*values = array_alloc(parcel, start, count, element, &error);
	if (*values)
		memcpy(*values, at, *count * element);
	return error;
}

int ab_read_int32_array(ab_parcel *parcel, int32_t **values, size_t *count)
{
	void *copy;
	int ret = read_array_copy(parcel, &copy, sizeof(**values), count);

	*values = copy;
	return ret;
}

int ab_read_int64_array(ab_parcel *parcel, int64_t **values, size_t *count)
{
	void *copy;
	int ret = read_array_copy(parcel, &copy, sizeof(**values), count);

	*values = copy;
	return ret;
}

int ab_read_float_array(ab_parcel *parcel, float **values, size_t *count)
{
	void *copy;
	int ret = read_array_copy(parcel, &copy, sizeof(**values), count);

	*values = copy;
	return ret;
}

int ab_read_double_array(ab_parcel *parcel, double **values, size_t *count)
{
	void *copy;
	int ret = read_array_copy(parcel, &copy, sizeof(**values), count);

	*values = copy;
	return ret;
}

int ab_read_bool_array(ab_parcel *parcel, bool **values, size_t *count)
{
	size_t start = ab_parcel_position(parcel);
	const int32_t *at;
	int error;

	*values = NULL;
	at = read_array(parcel, sizeof(*at), count, &error);
	if (at)
		*values = array_alloc(parcel, start, count, sizeof(**values), &error);
	for (size_t i = 0; *values && i < *count; i++)
		(*values)[i] = at[i];
	return error;
}

int ab_read_char16_array(ab_parcel *parcel, uint16_t **values, size_t *count)
{
	size_t start = ab_parcel_position(parcel);
	const int32_t *at;
	int error;

	*values = NULL;
	at = read_array(parcel, sizeof(*at), count, &error);
	if (at)
		*values = array_alloc(parcel, start, count, sizeof(**values), &error);
	for (size_t i = 0; *values && i < *count; i++)
		(*values)[i] = (uint16_t)at[i];
	return error;
}

void ab_strings_free(char **strings, size_t count)
{
	for (size_t i = 0; strings && i < count; i++)
		free(strings[i]);
	free(strings);
}

int ab_read_string16_array(ab_parcel *parcel, char ***values, size_t *count)
{
	size_t start = ab_parcel_position(parcel);
	char **strings;
	int ret;

	*values = NULL;
	/* A null string, the shortest, takes 4 bytes. */
	ret = read_count(parcel, 4, count);
	if (ret)
		return ret;
	strings = array_alloc(parcel, start, count, sizeof(*strings), &ret);
	for (size_t i = 0; strings && !ret && i < *count; i++)
		ret = ab_read_nullable_string16(parcel, &strings[i]);
	if (ret) {
		ab_strings_free(strings, *count);
		*count = 0;
		parcel->pos = start;
		return ret;
	}
	*values = strings;
	return 0;
}

/* ---- objects ------------------------------------------------------------------------------ */

int ab_write_object_array(ab_parcel *parcel, ab_object *const *objects, size_t count)
{
	if (!objects)
		return ab_write_int32(parcel, -1);
	if (count > AB_PARCEL_MAX / sizeof(struct flat_binder_object))
		return ab_parcel_fail(parcel, -E2BIG);
	ab_write_int32(parcel, (int32_t)count);
	for (size_t i = 0; i < count; i++)
		ab_write_object(parcel, objects[i]);
	return ab_parcel_error(parcel);
}

int ab_read_object_array(ab_parcel *parcel, ab_object ***values, size_t *count)
{
	size_t start = ab_parcel_position(parcel), read = 0;
	ab_object **objects;
	int ret;

	*values = NULL;
	ret = read_count(parcel, sizeof(struct flat_binder_object), count);
	if (ret)
		return ret;
	objects = array_alloc(parcel, start, count, sizeof(*objects), &ret);
	while (objects && !ret && read < *count) {
		ret = ab_read_nullable_object(parcel, &objects[read]);
		read += !ret;
	}
	if (ret) {
		while (read)
			ab_object_put(objects[--read]);
		free(objects);
		*count = 0;
		parcel->pos = start;
		return ret;
	}
	*values = objects;
	return 0;
}
