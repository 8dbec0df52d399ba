// SPDX-License-Identifier: MIT
/* Calls to an object of ours: its own go to its class, what all objects answer is here. */
#include "objects.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Less than half of what callers map by default. */
#define DUMP_TEXT_MAX (512u * 1024)

static const char cut[] = "\n[cut here: this was all that fits into a reply]\n";

/* Run @cls's dump into a file in memory and write that as text. */
static int dump_text(const struct ab_local *local, const struct ab_call_info *info,
		     ab_parcel *out, char **args, size_t nr_args)
{
	int fd = memfd_create("anybinder-dump", MFD_CLOEXEC);
	ssize_t got = 0;
	size_t len = 0;
	char *text;
	int ret;

	if (fd < 0)
		return -errno;
	ret = local->cls->dump(local->data, info, fd, (const char *const *)args, nr_args);
	text = ret ? NULL : malloc(DUMP_TEXT_MAX + sizeof(cut));
	if (!ret && !text)
		ret = -ENOMEM;
	while (!ret && len < DUMP_TEXT_MAX) {
		got = pread(fd, text + len, DUMP_TEXT_MAX - len, (off_t)len);
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	if (!ret && got < 0)
		ret = -errno;
	if (!ret) {
		text[len] = '\0';
		if (len == DUMP_TEXT_MAX)
			memcpy(text + len, cut, sizeof(cut));
		/* A zero byte would end it early. */
		for (size_t i = 0; i < len; i++) {
			if (!text[i])
				text[i] = '?';
		}
		ret = ab_write_string8(out, text);
	}
	free(text);
	close(fd);
	return ret;
}

/* A descriptor, or in its place an int32 -1: as text in the reply, then. */
static int dump(const struct ab_local *local, const struct ab_call_info *info, ab_parcel *in,
		ab_parcel *out)
{
	char **args = NULL;
	size_t nr_args = 0;
	int32_t mark = 0;
	int fd = -1, ret;

	ret = ab_read_fd(in, &fd);
	if (ret) {
		ret = ab_read_int32(in, &mark);
		if (!ret && mark != -1)
			ret = AB_BAD_TYPE;
	}
	if (!ret && ab_parcel_left(in))
		ret = ab_read_string16_array(in, &args, &nr_args);
	if (ret)
		goto out;
	if (fd < 0 && local->cls->dump)
		ret = dump_text(local, info, out, args, nr_args);
	else if (fd < 0)
		ret = ab_write_string8(out, "");
	else if (local->cls->dump)
		ret = local->cls->dump(local->data, info, fd, (const char *const *)args, nr_args);
out:
	ab_strings_free(args, nr_args);
	if (fd >= 0)
		close(fd);
	return ret;
}

static int meta(const struct ab_local *local, const struct ab_call_info *info, ab_parcel *in,
		ab_parcel *out)
{
	switch (info->code) {
	case AB_META_PING:
		return 0;
	case AB_META_INTERFACE:
		return ab_write_string16(out, local->cls->interface ? local->cls->interface : "");
	case AB_META_DUMP:
		return dump(local, info, in, out);
	case AB_META_EXTENSION:
		return ab_write_object(out, NULL);
	case AB_META_DEBUG_PID:
		return ab_write_int32(out, getpid());
	default:
		return AB_UNKNOWN_TRANSACTION;
	}
}

/**
 * ab_object_transact() - a call to an object of ours, from wherever
 * @object: held by the caller
 * @info: the call
 * @in: the request
 * @out: the reply, empty
 *
 * Return: 0 or a negative error, to be sent in place of @out.
 */
int ab_object_transact(ab_object *object, const struct ab_call_info *info, ab_parcel *in,
		       ab_parcel *out)
{
	const struct ab_local *local = ab_local(object);
	const struct ab_class *cls = local->cls;

	if (!(cls->flags & AB_CLASS_RAW)) {
		if (info->code < AB_CALL_FIRST || info->code > AB_CALL_LAST)
			return meta(local, info, in, out);
		if (cls->interface) {
			int ret = ab_read_token(in, cls->interface);

			if (ret)
				return ret == -ENOMEM ? ret : AB_BAD_TYPE;
		}
	}
	return cls->transact ? cls->transact(local->data, info, in, out) : AB_UNKNOWN_TRANSACTION;
}
