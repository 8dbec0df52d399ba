// SPDX-License-Identifier: MIT
/*
 * A driver in place of lib/sys.c that does what the device's file says, a line for each way
 * in which it is not well:
 *
 *   open ERROR           it does not open
 *   version N | ERROR    BINDER_VERSION; 8 if not said
 *   map ERROR            it cannot be mapped
 *   work ERROR           an empty BINDER_WRITE_READ fails
 *   extended ERROR       it knows no extended errors
 *   threads ERROR        BINDER_SET_MAX_THREADS fails
 *   manager INTERFACE    somebody is context manager; otherwise nobody is
 *   android N            and lists one service, like that release (13)
 *   refuse ERROR         calls to the manager are refused
 *   silent ERROR         the manager answers that to the question for its interface
 *
 * ERROR is the name of an errno.
 */
#include "lib/sys.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anybinder.h"
#include "uapi/binder.h"

#define FD 1000
#define REPLY_MAX 512

static struct {
	int open, version_error, map, work, extended, threads, refuse, silent;
	int version;
	char manager[100];
	enum ab_variant android;
	struct binder_extended_error error;
	uint8_t reply[REPLY_MAX];
	size_t reply_size;
	bool reply_is_status;
} fake;

static int errno_of(const char *name)
{
	for (int error = 1; error < 200; error++) {
		const char *known = strerrorname_np(error);

		if (known && !strcmp(known, name))
			return -error;
	}
	return 0;
}

static void read_line(const char *word, const char *value)
{
	int error = errno_of(value);

	if (!strcmp(word, "open"))
		fake.open = error;
	else if (!strcmp(word, "version") && error)
		fake.version_error = error;
	else if (!strcmp(word, "version"))
		fake.version = atoi(value);
	else if (!strcmp(word, "map"))
		fake.map = error;
	else if (!strcmp(word, "work"))
		fake.work = error;
	else if (!strcmp(word, "extended"))
		fake.extended = error;
	else if (!strcmp(word, "threads"))
		fake.threads = error;
	else if (!strcmp(word, "manager"))
		snprintf(fake.manager, sizeof(fake.manager), "%s", value);
	else if (!strcmp(word, "android"))
		ab_variant_parse(value, &fake.android);
	else if (!strcmp(word, "refuse"))
		fake.refuse = error;
	else if (!strcmp(word, "silent"))
		fake.silent = error;
	else
		abort();
}

int ab_sys_open(const char *path)
{
	char word[20], value[100];
	FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	memset(&fake, 0, sizeof(fake));
	fake.version = BINDER_CURRENT_PROTOCOL_VERSION;
	fake.android = AB_ANDROID_13;
	while (fscanf(file, "%19s %99s", word, value) == 2)
		read_line(word, value);
	fclose(file);
	return fake.open ? fake.open : FD;
}

int ab_sys_close(int fd)
{
	return 0;
}

void *ab_sys_map(int fd, size_t size, int *error)
{
	*error = fake.map;
	return fake.map ? NULL : malloc(size);
}

void ab_sys_unmap(void *addr, size_t size)
{
	free(addr);
}

/* ---- the manager ---------------------------------------------------------------- */

static void put(const void *bytes, size_t size)
{
	if (fake.reply_size + size > REPLY_MAX)
		abort();
	memcpy(fake.reply + fake.reply_size, bytes, size);
	fake.reply_size += size;
}

static void put_int(int32_t value)
{
	put(&value, sizeof(value));
}

static void put_text(const char *text)
{
	size_t len = strlen(text);

	put_int((int32_t)len);
	/* With the zero unit, and padding. */
	for (size_t i = 0; i < (len / 2 + 1) * 2; i++) {
		uint16_t unit = i < len ? (uint8_t)text[i] : 0;

		put(&unit, sizeof(unit));
	}
}

static void put_status(int32_t error)
{
	fake.reply_is_status = true;
	put_int(error);
}

/* Words in front of the interface's name, by release. */
static size_t token_words(enum ab_variant android)
{
	return android <= AB_ANDROID_9 ? 1 : android == AB_ANDROID_10 ? 2 : 3;
}

/* A list, if it is asked for as our release does. */
static void list(const struct binder_transaction_data *tr)
{
	const int32_t *words = (const int32_t *)(uintptr_t)tr->data.ptr.buffer;
	size_t at = token_words(fake.android);
	int32_t index;

	if (tr->code != ab_variant_code(fake.android, AB_SM_LIST) || tr->data_size <= at * 4 ||
	    words[at] != (int32_t)strlen(AB_MANAGER_INTERFACE))
		return put_status(AB_BAD_TYPE);
	if (ab_variant_has_status(fake.android)) {
		put_int(0);
		put_int(1);
		return put_text("org.example.one");
	}
	index = words[at + 1 + strlen(AB_MANAGER_INTERFACE) / 2 + 1];
	index ? put_status(-ENOENT) : put_text("org.example.one");
}

static void serve(const struct binder_transaction_data *tr)
{
	fake.reply_size = 0;
	fake.reply_is_status = false;
	if (tr->code == AB_META_INTERFACE && fake.silent)
		put_status(fake.silent);
	else if (tr->code == AB_META_INTERFACE)
		put_text(fake.manager);
	else if (tr->code != AB_META_PING)
		list(tr);
}

/* ---- the driver ---------------------------------------------------------------- */

static void say(struct binder_write_read *bwr, uint32_t cmd, const void *payload, size_t size)
{
	uint8_t *to = (uint8_t *)(uintptr_t)bwr->read_buffer + bwr->read_consumed;

	if (bwr->read_consumed + sizeof(cmd) + size > bwr->read_size)
		abort();
	memcpy(to, &cmd, sizeof(cmd));
	if (size)
		memcpy(to + sizeof(cmd), payload, size);
	bwr->read_consumed += sizeof(cmd) + size;
}

static void answer(struct binder_write_read *bwr, const struct binder_transaction_data *tr)
{
	struct binder_transaction_data reply = { 0 };

	fake.error = (struct binder_extended_error){ .id = 7, .command = BR_OK };
	if (!fake.manager[0] || fake.refuse) {
		fake.error.command = fake.refuse ? BR_FAILED_REPLY : BR_DEAD_REPLY;
		fake.error.param = fake.refuse ? fake.refuse : -EINVAL;
		return say(bwr, fake.error.command, NULL, 0);
	}
	serve(tr);
	reply.flags = fake.reply_is_status ? TF_STATUS_CODE : 0;
	reply.data_size = fake.reply_size;
	reply.data.ptr.buffer = (uintptr_t)fake.reply;
	say(bwr, BR_TRANSACTION_COMPLETE, NULL, 0);
	say(bwr, BR_REPLY, &reply, sizeof(reply));
}

static int write_read(struct binder_write_read *bwr)
{
	const uint8_t *from = (const uint8_t *)(uintptr_t)bwr->write_buffer;

	if (!bwr->write_size && !bwr->read_size)
		return fake.work;
	while (bwr->write_consumed < bwr->write_size) {
		uint32_t cmd;

		memcpy(&cmd, from + bwr->write_consumed, sizeof(cmd));
		bwr->write_consumed += sizeof(cmd);
		if (cmd == BC_TRANSACTION) {
			struct binder_transaction_data tr;

			memcpy(&tr, from + bwr->write_consumed, sizeof(tr));
			answer(bwr, &tr);
		}
		bwr->write_consumed += _IOC_SIZE(cmd);
	}
	return 0;
}

int ab_sys_ioctl(int fd, unsigned int cmd, void *arg)
{
	switch (cmd) {
	case BINDER_VERSION:
		*(int32_t *)arg = fake.version;
		return fake.version_error;
	case BINDER_GET_EXTENDED_ERROR:
		*(struct binder_extended_error *)arg = fake.error;
		return fake.extended;
	case BINDER_SET_MAX_THREADS:
		return fake.threads;
	case BINDER_WRITE_READ:
		return write_read(arg);
	default:
		return 0;
	}
}

void ab_sys_kick(int fd)
{
}

bool ab_sys_readable(int fd)
{
	return false;
}
