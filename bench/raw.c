// SPDX-License-Identifier: MIT
/*
 * The client is the context manager, only so that the server finds it: the
 * server sends it an object, and the calls that count go to that one's handle.
 */
#include "bench/raw.h"

#include "bench/disturb.h"
#include "bench/peer.h"
#include "bench/pin.h"
#include "uapi/binder.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAP_SIZE (1024 * 1024 - 2 * 4096)
#define WARM_UP_CALLS 200
#define CLOCK_SAMPLES 1001
#define TIMEOUT_S 300
/* The manager before us was killed; the driver may still be at its funeral. */
#define MANAGER_TRIES 200
#define MANAGER_PAUSE_US 10000

#define MEET_MANAGER 0
#define MEET_START 1
#define PARTIES 2

/** struct wire - one thread's conversation with the driver */
struct wire {
	struct member *me;
	int fd;
	uint64_t ioctls;
	size_t out_len;
	size_t in_len;
	size_t in_pos;
	uint8_t out[256];
	uint8_t in[512];
};

static const struct raw_load *the_load;
/* Of each process its own. */
static uint8_t payload[RAW_PAYLOAD_MAX];
static struct wire wire;
static uint64_t samples[WARM_UP_CALLS + RAW_SAMPLES_MAX];

static void put(struct wire *w, uint32_t cmd, const void *argument)
{
	memcpy(w->out + w->out_len, &cmd, sizeof(cmd));
	if (_IOC_SIZE(cmd))
		memcpy(w->out + w->out_len + sizeof(cmd), argument, _IOC_SIZE(cmd));
	w->out_len += sizeof(cmd) + _IOC_SIZE(cmd);
}

static void put_free(struct wire *w, uint64_t buffer)
{
	put(w, BC_FREE_BUFFER, &buffer);
}

/* Send what waits, and receive if @wait. */
static void talk(struct wire *w, bool wait)
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
			talk(w, true);
		memcpy(&cmd, w->in + w->in_pos, sizeof(cmd));
		argument = w->in + w->in_pos + sizeof(cmd);
		w->in_pos += sizeof(cmd) + _IOC_SIZE(cmd);
		switch (cmd) {
		case BR_TRANSACTION:
		case BR_REPLY:
			memcpy(tr, argument, sizeof(*tr));
			return cmd;
		case BR_INCREFS:
			put(w, BC_INCREFS_DONE, argument);
			break;
		case BR_ACQUIRE:
			put(w, BC_ACQUIRE_DONE, argument);
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

static void expect(struct wire *w, uint32_t cmd, struct binder_transaction_data *tr)
{
	uint32_t got = next(w, tr);

	if (got != cmd)
		crew_fail(w->me, "the driver returned %#x and not %#x", got, cmd);
}

static void wire_open(struct wire *w, struct member *me)
{
	w->me = me;
	w->fd = open(the_load->device, O_RDWR | O_CLOEXEC);
	if (w->fd < 0)
		crew_fail(me, "open %s: %s", the_load->device, strerror(errno));
	if (mmap(NULL, MAP_SIZE, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, w->fd, 0) == MAP_FAILED)
		crew_fail(me, "map %s: %s", the_load->device, strerror(errno));
	payload_fill(payload, sizeof(payload));
}

static void put_reply(struct wire *w, const struct binder_transaction_data *call, size_t size,
		      uint32_t flags)
{
	struct binder_transaction_data reply = { .flags = flags, .data_size = size };

	reply.data.ptr.buffer = (uintptr_t)payload;
	put_free(w, call->data.ptr.buffer);
	put(w, BC_REPLY, &reply);
}

/* ---- the server ---------------------------------------------------------- */

static void offer_object(struct wire *w)
{
	struct flat_binder_object object = { .hdr.type = BINDER_TYPE_BINDER, .binder = 1 };
	binder_size_t offset = 0;
	struct binder_transaction_data tr = {
		.data_size = sizeof(object), .offsets_size = sizeof(offset),
	};

	tr.data.ptr.buffer = (uintptr_t)&object;
	tr.data.ptr.offsets = (uintptr_t)&offset;
	put(w, BC_TRANSACTION, &tr);
	expect(w, BR_REPLY, &tr);
	put_free(w, tr.data.ptr.buffer);
}

/* The reply leaves in an ioctl of its own; what its completion takes to fetch is a sample. */
static void fetch_completion(struct wire *w)
{
	uint64_t before;

	talk(w, false);
	before = clock_ns();
	talk(w, true);
	before = clock_ns() - before;
	samples[w->me->calls++] = before;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * The exact middle: a few calls meet a timer interrupt, and which ones is not
 * the driver's doing. @skip: samples that do not count.
 */
static void samples_sum_up(struct member *me, uint64_t skip, uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = skip; i < skip + count; i++)
		sum += samples[i];
	qsort(samples + skip, count, sizeof(*samples), by_value);
	me->median_ns = samples[skip + count / 2];
	me->latency.sum = sum;
	me->latency.count = count;
}

/*
 * Whoever wakes goes on until it waits. Otherwise the scheduler's accounts of the moment decide
 * whether the caller's next call is there before the server waits for it, which saves a wake-up:
 * so much that a completion which returns at once could look cheaper than a deferred one.
 */
static void no_preemption_by_the_woken(void)
{
	struct sched_param param = { 0 };

	if (sched_setscheduler(0, SCHED_BATCH, &param)) {
		fprintf(stderr, "SCHED_BATCH: %s\n", strerror(errno));
		exit(1);
	}
}

static void server_main(struct crew *crew, struct member *me, void *arg)
{
	uint32_t flags = the_load->defer ? TF_DEFER_COMPLETE : 0;
	uint64_t calls = 0, ioctls = 0, last = WARM_UP_CALLS + the_load->samples;
	struct binder_transaction_data tr;

	no_preemption_by_the_woken();
	crew_meet(crew, MEET_MANAGER, PARTIES);
	wire_open(&wire, me);
	offer_object(&wire);
	put(&wire, BC_ENTER_LOOPER, NULL);
	crew_meet(crew, MEET_START, PARTIES);
	for (;;) {
		expect(&wire, BR_TRANSACTION, &tr);
		if (the_load->cold && memcmp((void *)(uintptr_t)tr.data.ptr.buffer, payload,
					     tr.data_size))
			crew_fail(me, "another payload came in");
		if (++calls == WARM_UP_CALLS)
			ioctls = wire.ioctls;
		if (calls == last) {
			me->served = the_load->samples;
			me->served_ioctls = wire.ioctls - ioctls;
			if (the_load->what == RAW_RETURN)
				samples_sum_up(me, WARM_UP_CALLS - 1, the_load->samples - 1);
		}
		put_reply(&wire, &tr, tr.data_size, flags);
		if (the_load->what == RAW_RETURN)
			fetch_completion(&wire);
	}
}

/* ---- the client ---------------------------------------------------------- */

static void become_manager(struct wire *w)
{
	int32_t unused = 0;

	for (int i = 0; ioctl(w->fd, BINDER_SET_CONTEXT_MGR, &unused); i++) {
		if (errno != EBUSY)
			crew_fail(w->me, "become context manager of %s: %s", the_load->device,
				  strerror(errno));
		if (i == MANAGER_TRIES)
			crew_fail(w->me, "%s has a context manager, and the measurement needs to "
				  "be it; stop that one, or use another device", the_load->device);
		usleep(MANAGER_PAUSE_US);
	}
}

static uint32_t take_object(struct wire *w)
{
	struct flat_binder_object object;
	struct binder_transaction_data tr;

	expect(w, BR_TRANSACTION, &tr);
	if (tr.data_size != sizeof(object))
		crew_fail(w->me, "the server sent %llu bytes", (unsigned long long)tr.data_size);
	memcpy(&object, (void *)(uintptr_t)tr.data.ptr.buffer, sizeof(object));
	put(w, BC_ACQUIRE, &object.handle);
	put_reply(w, &tr, 0, 0);
	talk(w, false);
	return object.handle;
}

static void call(struct wire *w, uint32_t handle, bool check)
{
	struct binder_transaction_data tr = { .target.handle = handle, .code = 1 };

	tr.data_size = the_load->payload;
	tr.data.ptr.buffer = (uintptr_t)payload;
	put(w, BC_TRANSACTION, &tr);
	expect(w, BR_REPLY, &tr);
	if (tr.data_size != the_load->payload ||
	    (check && memcmp((void *)(uintptr_t)tr.data.ptr.buffer, payload, tr.data_size)))
		crew_fail(w->me, "another payload came back, %llu bytes",
			  (unsigned long long)tr.data_size);
	put_free(w, tr.data.ptr.buffer);
}

static void empty(struct wire *w)
{
	struct binder_write_read bwr = { 0 };

	if (ioctl(w->fd, BINDER_WRITE_READ, &bwr))
		crew_fail(w->me, "an empty BINDER_WRITE_READ: %s", strerror(errno));
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void client_main(struct crew *crew, struct member *me, void *arg)
{
	uint64_t before;
	uint32_t handle;

	no_preemption_by_the_woken();
	wire_open(&wire, me);
	become_manager(&wire);
	crew_meet(crew, MEET_MANAGER, PARTIES);
	handle = take_object(&wire);
	crew_meet(crew, MEET_START, PARTIES);
	for (int i = 0; i < WARM_UP_CALLS; i++)
		call(&wire, handle, true);
	me->busy_ns = cpu_ns();
	for (uint64_t i = 0; i < the_load->samples; i++) {
		if (the_load->cold && disturb_drop_caches())
			crew_fail(me, "dropping caches: %s", strerror(errno));
		before = clock_ns();
		if (the_load->what == RAW_EMPTY)
			empty(&wire);
		else
			call(&wire, handle, the_load->cold);
		samples[i] = clock_ns() - before;
	}
	me->busy_ns = cpu_ns() - me->busy_ns;
	samples_sum_up(me, 0, the_load->samples);
}

/* ---- both ---------------------------------------------------------------- */

/* What two readings of the clock see of each other. */
static uint64_t clock_cost_ns(void)
{
	for (int i = 0; i < CLOCK_SAMPLES; i++) {
		samples[i] = clock_ns();
		samples[i] = clock_ns() - samples[i];
	}
	qsort(samples, CLOCK_SAMPLES, sizeof(*samples), by_value);
	return samples[CLOCK_SAMPLES / 2];
}

static int run(struct crew *crew)
{
	if (!crew_start(crew, true, client_main, NULL) ||
	    !crew_start(crew, false, server_main, NULL))
		return -1;
	return crew_wait(crew, TIMEOUT_S);
}

static void sum_up(const struct crew *crew, struct raw_outcome *out)
{
	const struct member *client = &crew->members[0], *server = &crew->members[1];
	const struct member *timed = the_load->what == RAW_RETURN ? server : client;
	double clock = clock_cost_ns();

	out->median_ns = timed->median_ns - clock;
	out->average_ns = hist_average(&timed->latency) - clock;
	out->cpu_ns = (double)client->busy_ns / the_load->samples;
	out->server_ioctls = server->served && the_load->what != RAW_EMPTY ?
			     (double)server->served_ioctls / server->served : -1;
}

/**
 * raw_measure() - run @load once
 * Return: 0; -1, with a message unless a signal interrupted us. Nothing is left behind.
 */
int raw_measure(const struct raw_load *load, struct raw_outcome *out)
{
	struct pinned_daemon daemon = { 0 };
	struct crew *crew = crew_new(load->pin);
	int err = -1;

	if (!crew)
		return -1;
	the_load = load;
	if (!load->pin || !pin_daemon(&daemon, load->device, crew->cpu))
		err = run(crew);
	if (!err)
		sum_up(crew, out);
	crew_free(crew);
	unpin_daemon(&daemon);
	return err;
}
