/* SPDX-License-Identifier: MIT */
/* Errors, besides those of errno.h, and their words. */
#ifndef ANYBINDER_ERROR_H
#define ANYBINDER_ERROR_H

#include "types.h"

#include <errno.h>

AB_BEGIN_DECLS

/*
 * Numbers that Android's programs send in place of a reply. Where they have an
 * errno's value, that is the name to use: -EPERM not permitted, -ENOENT name not
 * found, -EINVAL bad value, -ENOSYS invalid operation, -EEXIST already exists,
 * -ENODATA the parcel is shorter than expected, -EPIPE dead object.
 */
#define AB_UNKNOWN_ERROR INT32_MIN
/** AB_BAD_TYPE - a parcel holds something else than what was read, or another interface's token */
#define AB_BAD_TYPE (INT32_MIN + 1)
#define AB_FAILED_TRANSACTION (INT32_MIN + 2)
#define AB_FDS_NOT_ALLOWED (INT32_MIN + 7)
/** AB_UNEXPECTED_NULL - a parcel holds null where there must be a value */
#define AB_UNEXPECTED_NULL (INT32_MIN + 8)
/** AB_UNKNOWN_TRANSACTION - the object has no such call */
#define AB_UNKNOWN_TRANSACTION (-EBADMSG)

/**
 * ab_strerror() - words for what this library's functions return
 * @error: what one returned
 *
 * Return: a constant string, also for numbers nobody knows.
 */
AB_EXPORT const char *ab_strerror(int error);

/**
 * ab_error_name() - the name of an error as programs spell it
 * @error: what a function returned
 *
 * Return: a constant such as "EPIPE" or "AB_BAD_TYPE"; NULL for numbers without a name.
 */
AB_EXPORT const char *ab_error_name(int error);

/**
 * ab_error_text() - why this thread's last call on a connection failed
 * @conn: the connection
 * @error: what the call returned
 * @buf: receives one line of text, without a newline, cut to what fits
 * @size: of @buf in bytes, at least 1
 *
 * Asks the driver for its extended error, which that then forgets. A driver
 * without extended errors makes the text shorter.
 *
 * Return: @buf.
 */
AB_EXPORT const char *ab_error_text(ab_conn *conn, int error, char *buf, size_t size);

AB_END_DECLS

#endif
