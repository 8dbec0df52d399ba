// SPDX-License-Identifier: MIT
#include "bench/inversion.h"

#include "bench/echo.h"
#include "bench/registry.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PRIORITY_SERVER 51
#define PRIORITY_CALLER 50
/* One thread may be stuck with the sender's call; the caller's must find another. */
#define SERVER_THREADS 3
#define CALLER_PAUSE_NS 1000000
#define CALLER_BYTES 256
/* Up to this, at random: pages come and go. */
#define SENDER_BYTES_MAX (192 * 1024)
#define SENDER_PARCELS 32
#define WARM_UP_CALLS 100
#define TIMEOUT_EXTRA_S 120
/* Above it the kernel's limit for real-time processes could be what makes calls late. */
#define FIFO_SHARE_MAX 0.9

/* They meet at MEET_START: caller, server, sender. The hog and the dropper just begin. */
#define PARTIES 3
/* Then caller and sender, when they have made calls. */
#define MEET_WARM MEET_END
#define PARTIES_WARM 2

static const struct inversion *the_load;
static struct registry registry;
/* Of each process its own. */
static struct echo_client client;

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* From here on nothing of its own can delay the process: no fault, no process below it. */
static void be_realtime(struct member *me, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (mlockall(MCL_CURRENT))
		crew_fail(me, "lock memory: %s", strerror(errno));
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		crew_fail(me, "SCHED_FIFO: %s; this measurement needs root", strerror(errno));
}

/* Small answers, whatever is sent. */
static int on_call(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	struct member *me = data;

	__atomic_store_n(&me->busy_ns, cpu_ns(), __ATOMIC_RELAXED);
	return ab_write_int32(out, (int32_t)info->code);
}

static const struct ab_class idle_class = { .transact = on_call, .flags = AB_CLASS_RAW };

static void server_main(struct crew *crew, struct member *me, void *arg)
{
	struct ab_options options = { .max_threads = SERVER_THREADS };
	ab_conn *conn;

	crew_meet(crew, MEET_REGISTRY, registry.parties);
	conn = bench_open(me, the_load->device, &options);
	registry_put(me, conn, 0, ab_object_new(conn, &idle_class, me));
	crew_meet(crew, MEET_OFFERED, PARTIES);
	/* threads that the driver asks for later inherit it */
	be_realtime(me, PRIORITY_SERVER);
	crew_meet(crew, MEET_START, PARTIES);
	crew_fail(me, "the server stopped: %s", ab_strerror(ab_loop(conn)));
}

static void connect_client(struct crew *crew, struct member *me, size_t size)
{
	crew_meet(crew, MEET_REGISTRY, registry.parties);
	echo_client_init(&client, me, bench_open(me, the_load->device, NULL), size);
	crew_meet(crew, MEET_OFFERED, PARTIES);
	client.targets[client.nr_targets++] = registry_get(me, client.conn, 0);
}

static void call(ab_parcel *in)
{
	ab_parcel *out = NULL;
	char text[160];
	int err = ab_call(client.targets[0], 1, in, &out);

	if (err)
		crew_fail(client.me, "call: %s",
			  ab_error_text(client.conn, err, text, sizeof(text)));
	ab_parcel_free(out);
}

static void sender_main(struct crew *crew, struct member *me, void *arg)
{
	struct sched_param param = { 0 };
	ab_parcel *parcels[SENDER_PARCELS];
	uint32_t random = 1 + (uint32_t)clock_ns();

	connect_client(crew, me, SENDER_BYTES_MAX);
	/* Written once: its little time is for the driver. */
	for (int i = 0; i < SENDER_PARCELS; i++) {
		random = random * 1103515245 + 12345;
		parcels[i] = ab_parcel_new(client.conn);
		if (!parcels[i] || ab_write_bytes(parcels[i], client.bytes,
						  1 + (random >> 8) % SENDER_BYTES_MAX))
			crew_fail(me, "out of memory");
	}
	crew_meet(crew, MEET_START, PARTIES);
	/* Every page that is ever used has been there before the clock starts. */
	for (int i = 0; i < SENDER_PARCELS; i++)
		call(parcels[i]);
	crew_meet(crew, MEET_WARM, PARTIES_WARM);
	if (sched_setscheduler(0, SCHED_IDLE, &param))
		crew_fail(me, "SCHED_IDLE: %s", strerror(errno));
	for (;;) {
		random = random * 1103515245 + 12345;
		call(parcels[(random >> 8) % SENDER_PARCELS]);
		me->calls++;
	}
}

static void caller_main(struct crew *crew, struct member *me, void *arg)
{
	const struct timespec pause = { 0, CALLER_PAUSE_NS };
	uint64_t before, took, deadline;

	connect_client(crew, me, CALLER_BYTES);
	ab_write_bytes(client.in, client.bytes, CALLER_BYTES);
	be_realtime(me, PRIORITY_CALLER);
	crew_meet(crew, MEET_START, PARTIES);
	for (int i = 0; i < WARM_UP_CALLS; i++)
		call(client.in);
	crew_meet(crew, MEET_WARM, PARTIES_WARM);
	me->start_ns = clock_ns();
	me->busy_ns = cpu_ns();
	deadline = me->start_ns + the_load->duration_ms * 1000000ull;
	do {
		nanosleep(&pause, NULL);
		before = clock_ns();
		call(client.in);
		me->end_ns = clock_ns();
		took = me->end_ns - before;
		hist_add(&me->latency, took);
		me->late += took > INVERSION_LATE_US * 1000ull;
	} while (me->end_ns < deadline);
	me->busy_ns = cpu_ns() - me->busy_ns;
}

static void hog_main(struct crew *crew, struct member *me, void *arg)
{
	for (;;)
		;
}

/* In this order in the crew. */
enum { REGISTRY, SERVER, SENDER, CALLER, HOG, DROPPER };

static int run(struct crew *crew)
{
	registry = (struct registry){ the_load->device, PARTIES + 1 };
	if (!crew_start(crew, false, registry_main, &registry) ||
	    !crew_start(crew, false, server_main, NULL) ||
	    !crew_start(crew, false, sender_main, NULL) ||
	    !crew_start(crew, true, caller_main, NULL) ||
	    !crew_start(crew, false, hog_main, NULL))
		return -1;
	if (the_load->disturb.hz &&
	    !crew_start(crew, false, disturb_main, (void *)&the_load->disturb))
		return -1;
	return crew_wait(crew, the_load->duration_ms / 1000 + TIMEOUT_EXTRA_S);
}

/* A run in which nobody stood in the way says nothing. */
static int check(const struct inversion_outcome *out)
{
	if (!out->sent)
		fprintf(stderr, "anybinder: the idle-class process got no call through\n");
	else if (the_load->disturb.hz && !out->ticks_per_s)
		fprintf(stderr, "anybinder: no caches were dropped\n");
	else if (out->fifo_share > FIFO_SHARE_MAX)
		fprintf(stderr, "anybinder: the real-time processes took %.0f %% of the CPU, which "
			"the kernel may have limited\n", 100 * out->fifo_share);
	else
		return 0;
	return -1;
}

static int sum_up(const struct crew *crew, struct inversion_outcome *out)
{
	const struct member *caller = &crew->members[CALLER], *dropper = &crew->members[DROPPER];
	double elapsed = caller->end_ns - caller->start_ns;

	*out = (struct inversion_outcome){
		.calls = caller->latency.count,
		.late = caller->late,
		.sent = crew->members[SENDER].calls,
		.median_us = hist_percentile(&caller->latency, 50) / 1000,
		.p99_us = hist_percentile(&caller->latency, 99) / 1000,
		.worst_us = caller->latency.max / 1000.0,
		.fifo_share = (caller->busy_ns + crew->members[SERVER].busy_ns) / elapsed,
	};
	if (dropper->ticks)
		out->ticks_per_s = dropper->ticks * 1e9 / (dropper->end_ns - dropper->start_ns);
	return check(out);
}

/**
 * inversion_measure() - run once, everything on one CPU
 * Return: 0; -1, with a message unless a signal interrupted us. Nothing is left behind.
 */
int inversion_measure(const struct inversion *what, struct inversion_outcome *out)
{
	struct crew *crew = crew_new(true);
	int err;

	if (!crew)
		return -1;
	the_load = what;
	err = run(crew);
	if (!err)
		err = sum_up(crew, out);
	crew_free(crew);
	return err;
}
