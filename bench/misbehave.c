// SPDX-License-Identifier: MIT
#include "bench/misbehave.h"

#include "bench/peer.h"
#include "bench/registry.h"
#include "lib/anybinder.h"
#include "uapi/binder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAP_SIZE (128 * 1024)

/** flood() - one-way calls for ever, whether they are taken or not. */
void flood(struct member *me, const struct victim *victim)
{
	static uint8_t bytes[PAYLOAD_MAX];
	ab_conn *conn = bench_open(me, victim->device, NULL);
	ab_object *object = registry_get(me, conn, victim->index);
	ab_parcel *in = ab_parcel_new(conn);
	int err;

	if (!in)
		crew_fail(me, "out of memory");
	ab_write_bytes(in, bytes, victim->size);
	for (;;) {
		err = ab_call_oneway(object, 1, in);
		if (err && err != -ECOMM)
			crew_fail(me, "flood: %s", ab_strerror(err));
	}
}

/* ---- garbage ------------------------------------------------------------- */

static uint32_t chance(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Commands that exist, with arguments that name nothing. */
static size_t wrong_arguments(uint8_t *out, uint32_t *state)
{
	static const uint32_t commands[] = {
		BC_FREE_BUFFER, BC_ACQUIRE, BC_RELEASE, BC_INCREFS_DONE, BC_ACQUIRE_DONE,
		BC_DEAD_BINDER_DONE, BC_CLEAR_DEATH_NOTIFICATION, BC_REQUEST_DEATH_NOTIFICATION,
	};
	uint32_t cmd = commands[chance(state) % (sizeof(commands) / sizeof(*commands))];
	size_t size = _IOC_SIZE(cmd);

	memcpy(out, &cmd, sizeof(cmd));
	for (size_t i = 0; i < size; i++)
		out[sizeof(cmd) + i] = chance(state);
	return sizeof(cmd) + size;
}

/* A transaction whose sizes or pointers cannot be right. One-way: nobody waits for it. */
static size_t wrong_transaction(uint8_t *out, uint32_t *state)
{
	struct binder_transaction_data tr = {
		.target.handle = chance(state) % 3,
		.code = chance(state),
		.flags = TF_ONE_WAY,
		.data_size = chance(state) % 2 ? chance(state) : 64,
		.offsets_size = chance(state) % 64,
		.data.ptr.buffer = chance(state) % 2 ? (uintptr_t)out : chance(state),
		.data.ptr.offsets = chance(state) % 2 ? (uintptr_t)out : chance(state),
	};
	uint32_t cmd = BC_TRANSACTION;

	memcpy(out, &cmd, sizeof(cmd));
	memcpy(out + sizeof(cmd), &tr, sizeof(tr));
	return sizeof(cmd) + sizeof(tr);
}

static size_t noise(uint8_t *out, uint32_t *state)
{
	size_t size = chance(state) % 64;

	for (size_t i = 0; i < size; i++)
		out[i] = chance(state);
	return size;
}

/** garbage() - ioctls that make no sense, for ever. */
void garbage(struct member *me, const char *device)
{
	uint32_t state = 1 + getpid();
	uint8_t out[256], in[512];
	int fd = open(device, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || mmap(NULL, MAP_SIZE, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0) ==
	    MAP_FAILED)
		crew_fail(me, "open %s: %s", device, strerror(errno));
	for (;;) {
		/* reading too, or the first failure would be the last */
		struct binder_write_read bwr = {
			.write_buffer = (uintptr_t)out,
			.read_buffer = (uintptr_t)in,
			.read_size = sizeof(in),
		};
		int kind = chance(&state) % 5;

		bwr.write_size = kind == 0 ? noise(out, &state) :
				 kind == 1 ? wrong_transaction(out, &state) :
				 wrong_arguments(out, &state);
		if (kind == 2)
			bwr.write_buffer = chance(&state);
		if (kind == 3)
			bwr.write_size = chance(&state);
		ioctl(fd, chance(&state) % 16 ? BINDER_WRITE_READ :
		      _IOWR('b', chance(&state) % 64, struct binder_write_read), &bwr);
	}
}

/* ---- sudden deaths ------------------------------------------------------- */

static void call_until_killed(const struct victim *victim)
{
	/* not the crew's: it failed nobody when it dies */
	static struct member own;
	ab_conn *conn = bench_open(&own, victim->device, NULL);
	ab_object *object = registry_get(&own, conn, victim->index);
	ab_parcel *in = ab_parcel_new(conn);

	ab_write_int64(in, 0);
	while (ab_call(object, 1, in, NULL) != -EPIPE)
		;
	_exit(1);
}

/** kill_callers() - start a caller, kill it in the middle of a call, for ever. */
void kill_callers(struct member *me, const struct victim *victim)
{
	uint32_t state = 1 + getpid();

	for (;;) {
		pid_t pid = fork();

		if (pid < 0)
			crew_fail(me, "fork: %s", strerror(errno));
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			call_until_killed(victim);
		}
		usleep(1000 + chance(&state) % 4000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}
