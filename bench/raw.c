// SPDX-License-Identifier: MIT
/*
 * The client is the context manager, only so that the server finds it: the
 * server sends it an object, and the calls that count go to that one's handle.
 */
#include "bench/raw.h"

#include "bench/disturb.h"
#include "bench/peer.h"
#include "bench/pin.h"
#include "bench/wire.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define WARM_UP_CALLS 200
#define CLOCK_SAMPLES 1001
#define TIMEOUT_S 300

#define MEET_MANAGER 0
#define MEET_START 1
#define PARTIES 2

static const struct raw_load *the_load;
/* Of each process its own. */
static uint8_t payload[RAW_PAYLOAD_MAX];
static struct wire wire;
static uint64_t samples[WARM_UP_CALLS + RAW_SAMPLES_MAX];

/* ---- the server ---------------------------------------------------------- */

/* The reply leaves in an ioctl of its own; what its completion takes to fetch is a sample. */
static void fetch_completion(struct wire *w)
{
	uint64_t before;

	wire_talk(w, false);
	before = clock_ns();
	wire_talk(w, true);
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
	payload_fill(payload, sizeof(payload));
	wire_open(&wire, me, the_load->device);
	wire_offer_object(&wire);
	crew_meet(crew, MEET_START, PARTIES);
	for (;;) {
		wire_expect(&wire, BR_TRANSACTION, &tr);
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
		wire_put_reply(&wire, &tr, payload, tr.data_size, flags);
		if (the_load->what == RAW_RETURN)
			fetch_completion(&wire);
	}
}

/* ---- the client ---------------------------------------------------------- */

static void call(struct wire *w, uint32_t handle, bool check)
{
	struct binder_transaction_data tr;

	wire_call(w, handle, payload, the_load->payload, &tr);
	if (tr.data_size != the_load->payload ||
	    (check && memcmp((void *)(uintptr_t)tr.data.ptr.buffer, payload, tr.data_size)))
		crew_fail(w->me, "another payload came back, %llu bytes",
			  (unsigned long long)tr.data_size);
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
	payload_fill(payload, sizeof(payload));
	wire_open(&wire, me, the_load->device);
	wire_become_manager(&wire, the_load->device);
	crew_meet(crew, MEET_MANAGER, PARTIES);
	handle = wire_take_object(&wire);
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
