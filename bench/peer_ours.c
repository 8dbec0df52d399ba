// SPDX-License-Identifier: MIT
/*
 * Binder calls over our library, in the manner of binderThroughputTest: worker
 * processes, each of which offers an object, finds the others' and calls them.
 * Every process opens the device itself, after the fork.
 */
#include "bench/echo.h"
#include "bench/registry.h"

#include <pthread.h>
#include <unistd.h>

#define SERVER_THREADS 4

static const struct load *the_load;
static struct registry registry;
/* Of each process its own. */
static struct echo_server server;
static struct echo_client client;

static ab_conn *open_device(struct member *me, uint32_t threads)
{
	struct ab_options options = { .max_threads = threads,
				      .flags = the_load->defer ? 0 : AB_OPEN_NO_DEFER };

	return bench_open(me, the_load->device, &options);
}

static void pair_server_main(struct crew *crew, struct member *me, void *arg)
{
	int index = *(int *)arg, err;
	ab_conn *conn;

	crew_meet(crew, MEET_REGISTRY, registry.parties);
	conn = open_device(me, 0);
	registry_put(me, conn, index, echo_object_new(&server, me, conn));
	crew_meet(crew, MEET_OFFERED, the_load->workers);
	crew_meet(crew, MEET_START, the_load->workers);
	err = ab_loop(conn);
	crew_fail(me, "the server stopped: %s", ab_strerror(err));
}

static void pair_client_main(struct crew *crew, struct member *me, void *arg)
{
	int index = *(int *)arg;
	ab_conn *conn;

	crew_meet(crew, MEET_REGISTRY, registry.parties);
	conn = open_device(me, 0);
	echo_client_init(&client, me, conn, the_load->payload);
	crew_meet(crew, MEET_OFFERED, the_load->workers);
	client.targets[client.nr_targets++] = registry_get(me, conn, index);
	crew_meet(crew, MEET_START, the_load->workers);
	echo_client_run(&client, the_load);
}

static void *serve(void *arg)
{
	int err = ab_loop(server.conn);

	crew_fail(arg, "a worker stopped to serve: %s", ab_strerror(err));
}

/* Two connections, so that what serving and calling cost can be told apart. */
static void worker_main(struct crew *crew, struct member *me, void *arg)
{
	int index = *(int *)arg;
	pthread_t thread;
	ab_conn *conn;

	crew_meet(crew, MEET_REGISTRY, registry.parties);
	conn = open_device(me, SERVER_THREADS);
	registry_put(me, conn, index, echo_object_new(&server, me, conn));
	if (pthread_create(&thread, NULL, serve, me))
		crew_fail(me, "no thread to serve in");
	conn = open_device(me, 0);
	echo_client_init(&client, me, conn, the_load->payload);
	crew_meet(crew, MEET_OFFERED, the_load->workers);
	for (int i = 0; i < the_load->workers; i++) {
		if (i != index)
			client.targets[client.nr_targets++] = registry_get(me, conn, i);
	}
	crew_meet(crew, MEET_START, the_load->workers);
	echo_client_run(&client, the_load);
	/* the others still call us */
	crew_meet(crew, MEET_END, the_load->workers);
	_exit(0);
}

static int ours_start(struct crew *crew, const struct load *load)
{
	the_load = load;
	registry = (struct registry){ load->device, load->workers + 1 };
	if (!crew_start(crew, false, registry_main, &registry))
		return -1;
	for (int i = 0; i < load->workers; i++) {
		bool is_client = !load->pairs || i % 2 == 0;
		int index = load->pairs ? i / 2 : i;

		if (!crew_start(crew, is_client,
				!load->pairs ? worker_main :
				is_client ? pair_client_main : pair_server_main, &index))
			return -1;
	}
	return 0;
}

const struct peer peer_ours = {
	.name = "ours",
	.title = "anybinder",
	.ours = true,
	.start = ours_start,
};
