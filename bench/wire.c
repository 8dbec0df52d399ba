// SPDX-License-Identifier: MIT
#include "bench/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAP_SIZE (1024 * 1024 - 2 * 4096)
/* The manager before us was killed; the driver may still be at its funeral. */
#define MANAGER_TRIES 200
#define MANAGER_PAUSE_US 10000

/** wire_put() - a command for the next ioctl; @argument is as long as @cmd says. */
void wire_put(struct wire *w, uint32_t cmd, const void *argument)
{
	memcpy(w->out + w->out_len, &cmd, sizeof(cmd));
	if (_IOC_SIZE(cmd))
		memcpy(w->out + w->out_len + sizeof(cmd), argument, _IOC_SIZE(cmd));
	w->out_len += sizeof(cmd) + _IOC_SIZE(cmd);
}

/** wire_put_free() - give back @buffer, with the next ioctl. */
void wire_put_free(struct wire *w, uint64_t buffer)
{
	wire_put(w, BC_FREE_BUFFER, &buffer);
}

/** wire_talk() - send what waits, and receive if @wait. */
void wire_talk(struct wire *w, bool wait)
{
	struct binder_write_read bwr = {
		.write_size = w->out_len,
		.write_buffer = (uintptr_t)w->out,
		.read_size = wait ? sizeof(w->in) : 0,
		.read_buffer = (uintptr_t)w->in,
	};

	if (ioctl(w->fd, BINDER_WRITE_READ, &bwr))
		crew_fail(w->me, "BINDER_WRITE_READ: %s", strerror(errno));
	w->ioctls++;
	w->out_len = 0;
	w->in_pos = 0;
	w->in_len = bwr.read_consumed;
}

/* The next return that is not bookkeeping. @tr receives a transaction or reply. */
static uint32_t next(struct wire *w, struct binder_transaction_data *tr)
{
	uint32_t cmd;
	const uint8_t *argument;

	for (;;) {
		while (w->in_pos >= w->in_len)
			wire_talk(w, true);
		memcpy(&cmd, w->in + w->in_pos, sizeof(cmd));
		argument = w->in + w->in_pos + sizeof(cmd);
		w->in_pos += sizeof(cmd) + _IOC_SIZE(cmd);
		switch (cmd) {
		case BR_TRANSACTION:
		case BR_REPLY:
			memcpy(tr, argument, sizeof(*tr));
			return cmd;
		case BR_INCREFS:
			wire_put(w, BC_INCREFS_DONE, argument);
			break;
		case BR_ACQUIRE:
			wire_put(w, BC_ACQUIRE_DONE, argument);
			break;
		case BR_RELEASE:
		case BR_DECREFS:
			/* the client is gone, and we are about to be */
		case BR_NOOP:
		case BR_TRANSACTION_COMPLETE:
		case BR_SPAWN_LOOPER:
			break;
		default:
			crew_fail(w->me, "the driver returned %#x", cmd);
		}
	}
}

/**
 * wire_expect() - wait for the return @cmd, BR_TRANSACTION or BR_REPLY
 * @tr: receives it; its buffer is the caller's to give back
 */
void wire_expect(struct wire *w, uint32_t cmd, struct binder_transaction_data *tr)
{
	uint32_t got = next(w, tr);

	if (got != cmd)
		crew_fail(w->me, "the driver returned %#x and not %#x", got, cmd);
}

/** wire_open() - begin: open and map @device. @w is all zero before. */
void wire_open(struct wire *w, struct member *me, const char *device)
{
	w->me = me;
	w->fd = open(device, O_RDWR | O_CLOEXEC);
	if (w->fd < 0)
		crew_fail(me, "open %s: %s", device, strerror(errno));
	if (mmap(NULL, MAP_SIZE, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, w->fd, 0) == MAP_FAILED)
		crew_fail(me, "map %s: %s", device, strerror(errno));
}

/** wire_put_reply() - give back what came with @call, and answer it with @bytes. */
void wire_put_reply(struct wire *w, const struct binder_transaction_data *call,
		    const void *bytes, size_t size, uint32_t flags)
{
	struct binder_transaction_data reply = { .flags = flags, .data_size = size };

	reply.data.ptr.buffer = (uintptr_t)bytes;
	wire_put_free(w, call->data.ptr.buffer);
	wire_put(w, BC_REPLY, &reply);
}

/**
 * wire_call() - call @handle with @bytes, and wait
 * @reply: its buffer goes back with the next call
 */
void wire_call(struct wire *w, uint32_t handle, const void *bytes, size_t size,
	       struct binder_transaction_data *reply)
{
	struct binder_transaction_data tr = { .target.handle = handle, .code = 1 };

	tr.data_size = size;
	tr.data.ptr.buffer = (uintptr_t)bytes;
	wire_put(w, BC_TRANSACTION, &tr);
	wire_expect(w, BR_REPLY, reply);
	wire_put_free(w, reply->data.ptr.buffer);
}

/** wire_become_manager() - only so that a server finds us: it calls wire_offer_object(). */
void wire_become_manager(struct wire *w, const char *device)
{
	int32_t unused = 0;

	for (int i = 0; ioctl(w->fd, BINDER_SET_CONTEXT_MGR, &unused); i++) {
		if (errno != EBUSY)
			crew_fail(w->me, "become context manager of %s: %s", device,
				  strerror(errno));
		if (i == MANAGER_TRIES)
			crew_fail(w->me, "%s has a context manager, and the measurement needs to "
				  "be it; stop that one, or use another device", device);
		usleep(MANAGER_PAUSE_US);
	}
}

/** wire_offer_object() - send the manager an object of ours, and begin to serve. */
void wire_offer_object(struct wire *w)
{
	struct flat_binder_object object = { .hdr.type = BINDER_TYPE_BINDER, .binder = 1 };
	binder_size_t offset = 0;
	struct binder_transaction_data tr = {
		.data_size = sizeof(object), .offsets_size = sizeof(offset),
	};

	tr.data.ptr.buffer = (uintptr_t)&object;
	tr.data.ptr.offsets = (uintptr_t)&offset;
	wire_put(w, BC_TRANSACTION, &tr);
	wire_expect(w, BR_REPLY, &tr);
	wire_put_free(w, tr.data.ptr.buffer);
	wire_put(w, BC_ENTER_LOOPER, NULL);
}

/** wire_take_object() - as the manager: wait for an object. Return: its handle. */
uint32_t wire_take_object(struct wire *w)
{
	struct flat_binder_object object;
	struct binder_transaction_data tr;

	wire_expect(w, BR_TRANSACTION, &tr);
	if (tr.data_size != sizeof(object))
		crew_fail(w->me, "the server sent %llu bytes", (unsigned long long)tr.data_size);
	memcpy(&object, (void *)(uintptr_t)tr.data.ptr.buffer, sizeof(object));
	wire_put(w, BC_ACQUIRE, &object.handle);
	wire_put_reply(w, &tr, NULL, 0, 0);
	wire_talk(w, false);
	return object.handle;
}
