// SPDX-License-Identifier: MIT
/* Errors in words. */
#include "threads.h"

#include <stdio.h>
#include <string.h>

static const struct {
	int error;
	const char *name, *words;
} errors[] = {
	{ -EPIPE, "EPIPE", "the other side is dead, or nobody is there" },
	{ -ECOMM, "ECOMM", "the driver refused the transaction" },
	{ -EPROTO, "EPROTO", "not the binder protocol this library speaks" },
	{ -ENODATA, "ENODATA", "the message is shorter than expected" },
	{ -ENOTTY, "ENOTTY", "not a binder device" },
	{ -ENOTCONN, "ENOTCONN", "the driver has gone; was it a daemon that ended?" },
	{ -EBADF, "EBADF", "the connection is closed, or the parent process's" },
	{ -ESTALE, "ESTALE", "the object is gone" },
	{ -EXDEV, "EXDEV", "the object is known on another connection only" },
	{ -EREMOTEIO, "EREMOTEIO", "the other side sent an exception" },
	{ AB_UNKNOWN_TRANSACTION, "AB_UNKNOWN_TRANSACTION", "the object has no such call" },
	{ AB_UNKNOWN_ERROR, "AB_UNKNOWN_ERROR", "an error of which no more is known" },
	{ AB_BAD_TYPE, "AB_BAD_TYPE",
	  "the message holds something else than expected, or is of another interface" },
	{ AB_FAILED_TRANSACTION, "AB_FAILED_TRANSACTION",
	  "a call of the other side's could not be made" },
	{ AB_FDS_NOT_ALLOWED, "AB_FDS_NOT_ALLOWED", "file descriptors are not allowed here" },
	{ AB_UNEXPECTED_NULL, "AB_UNEXPECTED_NULL",
	  "the message holds null where there must be a value" },
};

#define NR_ERRORS (sizeof(errors) / sizeof(errors[0]))

const char *ab_strerror(int error)
{
	const char *words;

	if (!error)
		return "no error";
	for (size_t i = 0; i < NR_ERRORS; i++) {
		if (errors[i].error == error)
			return errors[i].words;
	}
	/* An object may answer any number. */
	words = error < 0 && error != INT32_MIN ? strerrordesc_np(-error) : NULL;
	return words ? words : "an error without a name";
}

const char *ab_error_name(int error)
{
	for (size_t i = 0; i < NR_ERRORS; i++) {
		if (errors[i].error == error)
			return errors[i].name;
	}
	return error < 0 ? strerrorname_np(-error) : NULL;
}

/* Why the driver refused; @param is of its extended error. */
static const char *refusal(uint32_t command, int param)
{
	if (command == BR_FROZEN_REPLY)
		return "the receiver is frozen";
	switch (param) {
	case -ENOSPC:
		return "no space in the receiver's mapping: the message is too large, or too many wait";
	case -EINVAL:
		return "something in it is not valid";
	case -EPERM:
		return "not permitted";
	case -EBADF:
		return "a file descriptor in it is not open";
	case -EFAULT:
		return "its memory cannot be read";
	case -ENOMEM:
		return "no memory left";
	case -EPROTO:
		return "not the time for it: another call of this thread waits";
	case -ESRCH:
		return "the receiver has gone";
	case -EOPNOTSUPP:
		return "it needs what this driver has not";
	default:
		return ab_strerror(param);
	}
}

/**
 * ab_error_note() - remember the other side's own words for ab_error_text()
 * @conn: the connection
 * @error: that this thread's call returns; 0: forget what was
 * @words: UTF-8, cut to what fits; NULL is none
 */
void ab_error_note(ab_conn *conn, int error, const char *words)
{
	struct ab_thread *self;

	if (ab_thread_self(conn, &self))
		return;
	self->note_error = words ? error : 0;
	snprintf(self->note, sizeof(self->note), "%s", words ? words : "");
}

static const char *noted(ab_conn *conn, int error)
{
	struct ab_thread *self;

	return error && !ab_conn_usable(conn) && !ab_thread_self(conn, &self) &&
	       self->note_error == error ? self->note : NULL;
}

const char *ab_error_text(ab_conn *conn, int error, char *buf, size_t size)
{
	struct binder_extended_error ee = { .command = BR_OK };
	const char *note = noted(conn, error);

	if (note)
		snprintf(buf, size, "%s: %s", ab_strerror(error), note);
	else if ((error != -EPIPE && error != -ECOMM) || ab_conn_usable(conn) ||
	    ab_conn_ioctl(conn, BINDER_GET_EXTENDED_ERROR, &ee) || ee.command == BR_OK)
		snprintf(buf, size, "%s", ab_strerror(error));
	else if (error == -ECOMM)
		snprintf(buf, size, "%s: %s (transaction %u, %d)", ab_strerror(error),
			 refusal(ee.command, ee.param), ee.id, ee.param);
	else
		snprintf(buf, size, "%s (transaction %u, %d)", ab_strerror(error), ee.id, ee.param);
	return buf;
}
