// SPDX-License-Identifier: MIT
/*
 * Calls to the service manager, in the connection's variant. Waiting for it is
 * publish.c, what it calls back watch.c.
 */
#include "service_internal.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 127

static int error_of(int32_t exception)
{
	switch (exception) {
	case AB_EX_SECURITY:
		return -EACCES;
	case AB_EX_ILLEGAL_ARGUMENT:
	case AB_EX_NULL_POINTER:
		return -EINVAL;
	case AB_EX_ILLEGAL_STATE:
		return -EBUSY;
	case AB_EX_UNSUPPORTED_OPERATION:
		return -EOPNOTSUPP;
	default:
		return -EREMOTEIO;
	}
}

/* The status of a reply, if the variant has one. */
static int check_status(ab_conn *conn, ab_parcel *out)
{
	struct ab_status status;
	int ret;

	if (!ab_wire(conn->variant)->status)
		return 0;
	ret = ab_read_status(out, &status);
	if (ret == -EREMOTEIO) {
		ret = error_of(status.exception);
		ab_error_note(conn, ret, status.message);
	}
	ab_status_fini(&status);
	return ret;
}

/* A request with its token; NULL is one that failed. */
ab_parcel *ab_manager_request(ab_conn *conn)
{
	ab_parcel *in = ab_parcel_new(conn);

	ab_write_token(in, AB_MANAGER_INTERFACE);
	return in;
}

/**
 * ab_manager_call() - call the service manager
 * @conn: the connection
 * @call: what
 * @in: from ab_manager_request(); freed
 * @out: receives the reply behind its status; may be NULL
 *
 * Return: 0; as service.h says.
 */
int ab_manager_call(ab_conn *conn, enum ab_manager_call call, ab_parcel *in, ab_parcel **out)
{
	uint32_t code = ab_variant_code(conn->variant, call);
	ab_object *manager = NULL;
	ab_parcel *reply = NULL;
	int ret = code ? ab_parcel_error(in) : -EOPNOTSUPP;

	if (out)
		*out = NULL;
	ab_error_note(conn, 0, NULL);
	if (!ret)
		ret = ab_manager(conn, &manager);
	if (!ret)
		ret = ab_call(manager, code, in, &reply);
	/* Up to Android 10 there are no exceptions. */
	if (ret == -EPERM)
		ret = -EACCES;
	if (!ret)
		ret = check_status(conn, reply);
	ab_object_put(manager);
	ab_parcel_free(in);
	if (!ret && out)
		*out = reply;
	else
		ab_parcel_free(reply);
	return ret;
}

static int check_name(const char *name)
{
	size_t len = strnlen(name, NAME_MAX_BYTES + 1);

	return len && len <= NAME_MAX_BYTES ? 0 : -EINVAL;
}

int ab_service_add(ab_conn *conn, const char *name, ab_object *object, uint32_t dump_flags)
{
	ab_parcel *in, *out = NULL;
	int ret = check_name(name);

	if (ret)
		return ret;
	in = ab_manager_request(conn);
	ab_write_string16(in, name);
	ab_write_object(in, object);
	ab_write_bool(in, false); /* isolated processes: Android's, there are none here */
	if (ab_variant_has_priority(conn->variant))
		ab_write_uint32(in, dump_flags);
	ret = ab_manager_call(conn, AB_SM_ADD, in, &out);
	/* Up to Android 10 a word says whether it was done. */
	if (!ret && !ab_wire(conn->variant)->status) {
		int32_t done = 0;

		if (!ab_read_int32(out, &done) && done)
			ret = done < 0 ? done : -EACCES;
	}
	ab_parcel_free(out);
	return ret;
}

int ab_service_check(ab_conn *conn, const char *name, ab_object **object)
{
	ab_parcel *in, *out;
	int ret = check_name(name);

	*object = NULL;
	if (ret)
		return ret;
	in = ab_manager_request(conn);
	ab_write_string16(in, name);
	/* What checkService answers differs between releases of Android 15. */
	ret = ab_manager_call(conn, conn->variant == AB_ANDROID_15 ? AB_SM_GET : AB_SM_CHECK, in,
			      &out);
	if (!ret)
		ret = ab_read_nullable_object(out, object);
	ab_parcel_free(out);
	return ret || *object ? ret : -ENOENT;
}

/* ---- lists --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left ? *left : "", *right ? *right : "");
}

static int list_all(ab_conn *conn, uint32_t dump_flags, char ***names, size_t *count)
{
	ab_parcel *in = ab_manager_request(conn), *out;
	int ret;

	ab_write_uint32(in, dump_flags);
	ret = ab_manager_call(conn, AB_SM_LIST, in, &out);
	if (!ret)
		ret = ab_read_string16_array(out, names, count);
	ab_parcel_free(out);
	return ret;
}

/* The @index-th name. Return: 0; -ENOENT: there are no more; others. */
static int list_one(ab_conn *conn, uint32_t dump_flags, size_t index, char **name)
{
	ab_parcel *in = ab_manager_request(conn), *out;
	int ret;

	ab_write_int32(in, (int32_t)index);
	if (ab_variant_has_priority(conn->variant))
		ab_write_uint32(in, dump_flags);
	ret = ab_manager_call(conn, AB_SM_LIST, in, &out);
	if (!ret)
		ret = ab_read_string16(out, name);
	/* Managers differ in what they answer past the end; these it is not. */
	else if (ret != -EPIPE && ret != -ECOMM && ret != -ENOMEM && ret != -EACCES &&
		 ret != AB_BAD_TYPE && ret != AB_UNKNOWN_TRANSACTION)
		ret = -ENOENT;
	ab_parcel_free(out);
	return ret;
}

static int list_by_index(ab_conn *conn, uint32_t dump_flags, char ***names, size_t *count)
{
	size_t capacity = 0;
	int ret = 0;

	for (;;) {
		if (*count == capacity) {
			char **more;

			capacity = capacity ? 2 * capacity : 64;
			more = realloc(*names, capacity * sizeof(*more));
			if (!more)
				return -ENOMEM;
			*names = more;
		}
		ret = list_one(conn, dump_flags, *count, &(*names)[*count]);
		if (ret)
			return ret == -ENOENT ? 0 : ret;
		++*count;
	}
}

int ab_service_list(ab_conn *conn, uint32_t dump_flags, char ***names, size_t *count)
{
	int ret;

	*names = NULL;
	*count = 0;
	ret = ab_wire(conn->variant)->status ? list_all(conn, dump_flags, names, count)
					     : list_by_index(conn, dump_flags, names, count);
	if (ret) {
		ab_strings_free(*names, *count);
		*names = NULL;
		*count = 0;
	} else if (*count) {
		qsort(*names, *count, sizeof(**names), compare);
	}
	return ret;
}

static int read_info(ab_parcel *out, struct ab_service_info *info)
{
	int32_t pid = 0;
	size_t end;
	int ret = ab_read_parcelable_begin(out, &end);

	if (!ret)
		ret = ab_read_string16(out, &info->name);
	if (!ret)
		ret = ab_read_int32(out, &pid);
	info->pid = pid;
	return ret ? ret : ab_read_parcelable_end(out, end);
}

static int read_infos(ab_parcel *out, struct ab_service_info **infos, size_t *count)
{
	int32_t nr;
	int ret = ab_read_int32(out, &nr);

	/* Each takes 12 bytes at least. */
	if (!ret && (nr < 0 || (size_t)nr > ab_parcel_left(out) / 12))
		ret = AB_BAD_TYPE;
	if (ret || !nr)
		return ret;
	*infos = calloc((size_t)nr, sizeof(**infos));
	if (!*infos)
		return -ENOMEM;
	for (*count = 0; !ret && *count < (size_t)nr; ++*count)
		ret = read_info(out, &(*infos)[*count]);
	return ret;
}

int ab_service_infos(ab_conn *conn, struct ab_service_info **infos, size_t *count)
{
	ab_parcel *out;
	int ret;

	*infos = NULL;
	*count = 0;
	ret = ab_manager_call(conn, AB_SM_GET_DEBUG_INFO, ab_manager_request(conn), &out);
	if (!ret)
		ret = read_infos(out, infos, count);
	if (ret) {
		ab_service_info_free(*infos, *count);
		*infos = NULL;
		*count = 0;
	}
	ab_parcel_free(out);
	return ret;
}

void ab_service_info_free(struct ab_service_info *infos, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(infos[i].name);
	free(infos);
}

int ab_service_try_unregister(ab_conn *conn, const char *name, ab_object *object)
{
	ab_parcel *in;
	int ret = check_name(name);

	if (ret)
		return ret;
	in = ab_manager_request(conn);
	ab_write_string16(in, name);
	ab_write_object(in, object);
	return ab_manager_call(conn, AB_SM_TRY_UNREGISTER, in, NULL);
}
