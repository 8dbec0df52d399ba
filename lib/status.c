// SPDX-License-Identifier: MIT
/*
 * What AIDL's replies begin with: an exception, or none. No message is written as an
 * empty one, because others' readers refuse null.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* A header of statistics may come before the status; it is skipped. */
#define EX_HAS_REPLY_HEADER (-128)

int ab_write_status(ab_parcel *parcel, int32_t exception, int32_t service_error,
		    const char *message)
{
	if (ab_write_int32(parcel, exception) || exception == AB_EX_NONE)
		return ab_parcel_error(parcel);
	/* Text that is none must not cost the caller the exception. */
	if (ab_write_string16(parcel, message ? message : "") == -EILSEQ) {
		parcel->error = 0;
		ab_write_string16(parcel, "(a message that is not UTF-8)");
	}
	ab_write_int32(parcel, 0); /* no stack trace */
	if (exception == AB_EX_SERVICE_SPECIFIC)
		ab_write_int32(parcel, service_error);
	else if (exception == AB_EX_PARCELABLE)
		ab_write_int32(parcel, 0); /* no parcelable */
	return ab_parcel_error(parcel);
}

/* Skip what says its own size, that word included. */
static int skip_sized(ab_parcel *parcel)
{
	size_t start = parcel->pos;
	int32_t size;
	int ret = ab_read_int32(parcel, &size);

	if (ret)
		return ret;
	if (size < (int32_t)sizeof(size) || size % 4)
		return AB_BAD_TYPE;
	if ((size_t)size > parcel->size - start)
		return -ENODATA;
	return ab_parcel_seek(parcel, start + (size_t)size) ? AB_BAD_TYPE : 0;
}

static int read_exception(ab_parcel *parcel, struct ab_status *status)
{
	int ret = ab_read_int32(parcel, &status->exception);

	if (!ret && status->exception == EX_HAS_REPLY_HEADER) {
		ret = skip_sized(parcel);
		/* There is no exception behind this header. */
		status->exception = AB_EX_NONE;
	}
	return ret;
}

/* The size of a stack trace, and the trace. */
static int skip_trace(ab_parcel *parcel)
{
	const void *unused;
	int32_t size;
	int ret = ab_read_int32(parcel, &size);

	if (ret || !size)
		return ret;
	return size < 0 ? AB_BAD_TYPE : ab_read_raw(parcel, &unused, (size_t)size);
}

/* What says its own size, or 0 for nothing. Some write not even that. */
static int skip_parcelable(ab_parcel *parcel)
{
	size_t start = parcel->pos;
	int32_t size;

	if (!ab_parcel_left(parcel))
		return 0;
	if (!ab_read_int32(parcel, &size) && !size)
		return 0;
	parcel->pos = start;
	return skip_sized(parcel);
}

static int read_details(ab_parcel *parcel, struct ab_status *status)
{
	int ret = ab_read_nullable_string16(parcel, &status->message);

	if (status->message && !*status->message) {
		free(status->message);
		status->message = NULL;
	}
	if (!ret)
		ret = skip_trace(parcel);
	if (!ret && status->exception == AB_EX_SERVICE_SPECIFIC)
		ret = ab_read_int32(parcel, &status->service_error);
	else if (!ret && status->exception == AB_EX_PARCELABLE)
		ret = skip_parcelable(parcel);
	return ret;
}

int ab_read_status(ab_parcel *parcel, struct ab_status *status)
{
	size_t start = ab_parcel_position(parcel);
	struct ab_status own = { 0 };
	int ret;

	if (status)
		*status = own;
	ret = read_exception(parcel, &own);
	if (!ret && own.exception)
		ret = read_details(parcel, &own);
	if (ret) {
		ab_status_fini(&own);
		if (parcel)
			parcel->pos = start;
		return ret;
	}
	ret = own.exception ? -EREMOTEIO : 0;
	if (status)
		*status = own;
	else
		ab_status_fini(&own);
	return ret;
}

void ab_status_fini(struct ab_status *status)
{
	free(status->message);
	memset(status, 0, sizeof(*status));
}

const char *ab_exception_name(int32_t exception)
{
	static const char *const names[] = {
		"none", "security", "bad parcelable", "illegal argument", "null pointer",
		"illegal state", "network on main thread", "unsupported operation",
		"service specific", "parcelable",
	};

	return exception <= 0 && exception >= AB_EX_PARCELABLE ? names[-exception] : "unknown";
}
