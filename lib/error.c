// SPDX-License-Identifier: MIT
/* Errors in words. */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A service may answer any number. */
static const char *unknown(int error)
{
	const char *words = error < 0 && error != INT_MIN ? strerrordesc_np(-error) : NULL;

	return words ? words : "an error without a name";
}

const char *ab_strerror(int error)
{
	switch (error) {
	case 0:
		return "no error";
	case -EPIPE:
		return "the other side is dead, or nobody is there";
	case -ECOMM:
		return "the driver refused the transaction";
	case -EPROTO:
		return "not the binder protocol this library speaks";
	case -ENODATA:
		return "the message is shorter than expected";
	case -EBADMSG:
		return "the message does not hold what was expected";
	case -ENOTTY:
		return "not a binder device";
	default:
		return unknown(error);
	}
}

static const char *refusal(int param)
{
	switch (param) {
	case -ENOSPC:
		return "no space in the receiver's mapping";
	case -EINVAL:
		return "something in it is not valid";
	case -EPERM:
		return "not permitted";
	case -EFAULT:
		return "its memory cannot be read";
	case -ESRCH:
		return "the receiver is gone";
	case -EOPNOTSUPP:
		return "it needs what this driver has not";
	default:
		return unknown(param);
	}
}

const char *ab_error_text(ab_conn *conn, int error, char *buf, size_t size)
{
	struct binder_extended_error ee = { .command = BR_OK };

	if ((error == -EPIPE || error == -ECOMM) &&
	    !ab_conn_ioctl(conn, BINDER_GET_EXTENDED_ERROR, &ee) && ee.command != BR_OK)
		snprintf(buf, size, "%s%s%s (transaction %u, %d)", ab_strerror(error),
			 error == -ECOMM ? ": " : "", error == -ECOMM ? refusal(ee.param) : "",
			 ee.id, ee.param);
	else
		snprintf(buf, size, "%s", ab_strerror(error));
	return buf;
}
