// SPDX-License-Identifier: MIT
/*
 * A client and a server that call each other, and eight other processes on
 * the same device and CPUs: all in call loops, or all doing harm.
 *
 * Harm is turned against two more servers. The *deaf* one never reads what it
 * is sent; the *slow* one takes its time. What the bystanders feel is shared:
 * the driver's locks, the daemon's workers, the CPUs.
 */
#include "bench/bystander.h"

#include "bench/echo.h"
#include "bench/misbehave.h"
#include "bench/registry.h"

#include <pthread.h>
#include <unistd.h>

/* Numbers in the registry; others have 0 to BYSTANDER_OTHERS - 1. */
#define INDEX_SERVER BYSTANDER_OTHERS
#define INDEX_DEAF (BYSTANDER_OTHERS + 1)
#define INDEX_SLOW (BYSTANDER_OTHERS + 2)

#define PAIR 2
#define VICTIMS 2
#define SLOW_US 2000
#define FLOOD_SMALL 16
#define FLOOD_LARGE 4096

static const struct load *the_load;
static struct registry registry;
static int parties; /* the registry does not count */
static struct echo_server server;
static struct echo_client client;

static ab_conn *join(struct crew *crew, struct member *me)
{
	crew_meet(crew, MEET_REGISTRY, registry.parties);
	return bench_open(me, the_load->device, NULL);
}

static void start_together(struct crew *crew)
{
	crew_meet(crew, MEET_OFFERED, parties);
	crew_meet(crew, MEET_START, parties);
}

static void client_main(struct crew *crew, struct member *me, void *arg)
{
	ab_conn *conn = join(crew, me);

	echo_client_init(&client, me, conn, the_load->payload);
	crew_meet(crew, MEET_OFFERED, parties);
	client.targets[client.nr_targets++] = registry_get(me, conn, INDEX_SERVER);
	crew_meet(crew, MEET_START, parties);
	echo_client_run(&client, the_load);
}

static void server_main(struct crew *crew, struct member *me, void *arg)
{
	ab_conn *conn = join(crew, me);

	registry_put(me, conn, INDEX_SERVER, echo_object_new(&server, me, conn));
	start_together(crew);
	crew_fail(me, "the server stopped: %s", ab_strerror(ab_loop(conn)));
}

/* ---- well-behaved -------------------------------------------------------- */

static void *serve(void *arg)
{
	crew_fail(arg, "a worker stopped to serve: %s", ab_strerror(ab_loop(server.conn)));
}

/* Serves, and calls the others of its kind. */
static void worker_main(struct crew *crew, struct member *me, void *arg)
{
	/* its calls are nobody's figure */
	static struct member own;
	int index = *(int *)arg;
	ab_conn *conn = join(crew, me);
	pthread_t thread;

	registry_put(me, conn, index, echo_object_new(&server, &own, conn));
	if (pthread_create(&thread, NULL, serve, me))
		crew_fail(me, "no thread to serve in");
	conn = bench_open(me, the_load->device, NULL);
	echo_client_init(&client, me, conn, the_load->payload);
	crew_meet(crew, MEET_OFFERED, parties);
	for (int i = 0; i < BYSTANDER_OTHERS; i++) {
		if (i != index)
			client.targets[client.nr_targets++] = registry_get(me, conn, i);
	}
	crew_meet(crew, MEET_START, parties);
	for (;;)
		echo_exchange(&client, false);
}

/* ---- misbehaving --------------------------------------------------------- */

static int on_slow(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	usleep(SLOW_US);
	return 0;
}

static const struct ab_class slow_class = { .transact = on_slow, .flags = AB_CLASS_RAW };

static void victim_main(struct crew *crew, struct member *me, void *arg)
{
	int index = *(int *)arg;
	ab_conn *conn = join(crew, me);

	registry_put(me, conn, index, ab_object_new(conn, &slow_class, NULL));
	start_together(crew);
	if (index == INDEX_SLOW)
		crew_fail(me, "the slow server stopped: %s", ab_strerror(ab_loop(conn)));
	for (;;)
		pause();
}

static void vandal_main(struct crew *crew, struct member *me, void *arg)
{
	const char *device = the_load->device;

	crew_meet(crew, MEET_REGISTRY, registry.parties);
	start_together(crew);
	switch (*(int *)arg) {
	case 0:
		flood(me, &(struct victim){ device, INDEX_DEAF, FLOOD_SMALL });
		break;
	case 1:
		flood(me, &(struct victim){ device, INDEX_DEAF, FLOOD_LARGE });
		break;
	case 2:
		flood(me, &(struct victim){ device, INDEX_SLOW, FLOOD_SMALL });
		break;
	case 3:
	case 4:
	case 5:
		garbage(me, device);
		break;
	default:
		kill_callers(me, &(struct victim){ device, INDEX_SLOW, 0 });
	}
}

/* ---- all together -------------------------------------------------------- */

static int start_all(struct crew *crew, const struct load *load, crew_fn *other_main)
{
	int victims[VICTIMS] = { INDEX_DEAF, INDEX_SLOW };
	bool ok;

	the_load = load;
	parties = PAIR + VICTIMS + BYSTANDER_OTHERS;
	registry = (struct registry){ load->device, parties + 1 };
	ok = crew_start(crew, false, registry_main, &registry) &&
	     crew_start(crew, true, client_main, NULL) &&
	     crew_start(crew, false, server_main, NULL);
	for (int i = 0; ok && i < VICTIMS; i++)
		ok = crew_start(crew, false, victim_main, &victims[i]);
	for (int i = 0; ok && i < BYSTANDER_OTHERS; i++)
		ok = crew_start(crew, false, other_main, &i);
	return ok ? 0 : -1;
}

static int start_behaved(struct crew *crew, const struct load *load)
{
	return start_all(crew, load, worker_main);
}

static int start_misbehaving(struct crew *crew, const struct load *load)
{
	return start_all(crew, load, vandal_main);
}

/* The bystanders alone: the others' places are empty. */
static void idle_main(struct crew *crew, struct member *me, void *arg)
{
	crew_meet(crew, MEET_REGISTRY, registry.parties);
	start_together(crew);
	for (;;)
		pause();
}

static int start_alone(struct crew *crew, const struct load *load)
{
	return start_all(crew, load, idle_main);
}

const struct peer bystander_alone = {
	.name = "ours",
	.title = "8 idle processes",
	.ours = true,
	.start = start_alone,
};

const struct peer bystander_behaved = {
	.name = "ours",
	.title = "8 that behave",
	.ours = true,
	.start = start_behaved,
};

const struct peer bystander_misbehaving = {
	.name = "ours",
	.title = "8 that misbehave",
	.ours = true,
	.start = start_misbehaving,
};
