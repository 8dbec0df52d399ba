// SPDX-License-Identifier: MIT
/* A driver that delivers anything, and only counts what is given back. */
#include "lib_fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "lib/sys.h"

static int strong[NR_HANDLES], weak[NR_HANDLES];
static uint8_t map;

/* The one buffer that there is at a time. */
static void *buffer_memory;
static binder_uintptr_t buffer_name;

/* ---- what it is told ---------------------------------------------------------------------- */

static void count(int *counts, const void *payload, int change)
{
	uint32_t handle;

	memcpy(&handle, payload, sizeof(handle));
	CHECK(handle && handle < NR_HANDLES);
	counts[handle] += change;
	CHECK(counts[handle] >= 0);
}

static void free_buffer(const void *payload)
{
	binder_uintptr_t name;

	memcpy(&name, payload, sizeof(name));
	CHECK(buffer_memory);
	CHECK_EQ(name, buffer_name);
	free(buffer_memory);
	buffer_memory = NULL;
}

static void command(uint32_t cmd, const void *payload)
{
	switch (cmd) {
	case BC_ACQUIRE:
		count(strong, payload, 1);
		break;
	case BC_RELEASE:
		count(strong, payload, -1);
		break;
	case BC_INCREFS:
		count(weak, payload, 1);
		break;
	case BC_DECREFS:
		count(weak, payload, -1);
		break;
	case BC_FREE_BUFFER:
		free_buffer(payload);
		break;
	default:
		fprintf(stderr, "an unexpected command %#x\n", cmd);
		exit(1);
	}
}

int ab_sys_ioctl(int fd, unsigned int cmd, void *arg)
{
	struct binder_write_read *bwr = arg;
	const uint8_t *out;
	size_t pos = 0;

	if (cmd == BINDER_VERSION)
		((struct binder_version *)arg)->protocol_version = BINDER_CURRENT_PROTOCOL_VERSION;
	if (cmd != BINDER_WRITE_READ)
		return 0;
	CHECK(!bwr->read_size);
	for (out = (void *)(uintptr_t)bwr->write_buffer; pos < bwr->write_size;) {
		uint32_t what;

		memcpy(&what, out + pos, sizeof(what));
		command(what, out + pos + sizeof(what));
		pos += sizeof(what) + _IOC_SIZE(what);
	}
	bwr->write_consumed = pos;
	return 0;
}

int ab_sys_open(const char *path)
{
	return 1000;
}

int ab_sys_close(int fd)
{
	return 0;
}

void *ab_sys_map(int fd, size_t size, int *error)
{
	return &map;
}

void ab_sys_unmap(void *addr, size_t size)
{
}

void ab_sys_kick(int fd)
{
}

bool ab_sys_readable(int fd)
{
	return false;
}

/* ---- what it delivers --------------------------------------------------------------------- */

/** object_size_at() - what the object at @offset takes up, by its type */
size_t object_size_at(const uint8_t *data, binder_size_t offset)
{
	uint32_t type;

	memcpy(&type, data + offset, sizeof(type));
	return type == BINDER_TYPE_PTR ? sizeof(struct binder_buffer_object) :
	       type == BINDER_TYPE_FDA ? sizeof(struct binder_fd_array_object) :
	       sizeof(struct flat_binder_object);
}

/* How many of the offsets make sense: each whole, in order, with nothing in common. */
static size_t sensible(const uint8_t *data, size_t size, const binder_size_t *offsets, size_t nr)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (offsets[i] & 3 || offsets[i] < end || offsets[i] >= size ||
		    offsets[i] + 4 > size)
			break;
		end = offsets[i] + object_size_at(data, offsets[i]);
		if (end > size)
			break;
	}
	return i;
}

/* What a driver vouches for: names of ours, handles that there are, open descriptors. */
static void vouch(uint8_t *at)
{
	struct flat_binder_object fbo;

	memcpy(&fbo, at, sizeof(fbo));
	switch (fbo.hdr.type) {
	case BINDER_TYPE_BINDER:
	case BINDER_TYPE_WEAK_BINDER:
		fbo.binder = fbo.cookie = (uintptr_t)ours;
		break;
	case BINDER_TYPE_HANDLE:
	case BINDER_TYPE_WEAK_HANDLE:
		fbo.handle %= NR_HANDLES;
		break;
	case BINDER_TYPE_FD:
		fbo.handle = (uint32_t)fcntl(null_fd, F_DUPFD_CLOEXEC, 0);
		break;
	default:
		return;
	}
	memcpy(at, &fbo, sizeof(fbo));
}

/** driver_receive() - have a parcel delivered; the bytes end where the memory does */
void driver_receive(ab_parcel *to, const uint8_t *data, size_t size, const binder_size_t *offsets,
		    size_t nr)
{
	binder_size_t *memory = malloc(nr * sizeof(*memory) + size + !(nr + size));
	uint8_t *bytes = (uint8_t *)(memory + nr);
	struct binder_transaction_data tr = {
		.data_size = size, .offsets_size = nr * sizeof(*memory),
		.data.ptr.offsets = (uintptr_t)memory, .data.ptr.buffer = (uintptr_t)bytes,
	};

	CHECK(memory && !buffer_memory);
	if (nr)
		memcpy(memory, offsets, nr * sizeof(*memory));
	if (size)
		memcpy(bytes, data, size);
	buffer_memory = memory;
	buffer_name = tr.data.ptr.buffer;
	ab_parcel_received(to, conn, &tr);
	CHECK_EQ(to->nr_offsets, sensible(bytes, size, memory, nr));
	for (size_t i = 0; i < to->nr_offsets; i++)
		vouch(bytes + memory[i]);
}

/** driver_check_idle() - everything has been given back, and nothing is left open */
void driver_check_idle(void)
{
	static int idle_fd;
	int fd;

	CHECK_EQ(ab_flush(conn), 0);
	CHECK(!buffer_memory);
	for (int i = 0; i < NR_HANDLES; i++) {
		CHECK_EQ(strong[i], 0);
		CHECK_EQ(weak[i], 0);
	}
	CHECK_EQ(conn->nr_proxies, 0);
	CHECK_EQ(atomic_load(&ours->strong), 1);
	CHECK_EQ(atomic_load(&ab_local(ours)->weak), 1);
	fd = fcntl(null_fd, F_DUPFD_CLOEXEC, 0);
	if (!idle_fd)
		idle_fd = fd;
	CHECK_EQ(fd, idle_fd);
	close(fd);
}
