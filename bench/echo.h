/* SPDX-License-Identifier: MIT */
/* The call that is measured: bytes go to an object and come back. */
#ifndef BENCH_ECHO_H
#define BENCH_ECHO_H

#include "bench/peer.h"
#include "lib/anybinder.h"

/**
 * struct echo_server - counts calls and the driver ioctls they took
 * The first call is where counting begins: what came before was set-up.
 */
struct echo_server {
	struct member *me;
	ab_conn *conn;
	uint64_t calls;
	uint64_t ioctls_before;
};

/**
 * struct echo_client - calls one of @targets each time
 * @ioctls_before: of the calls that count
 */
struct echo_client {
	struct member *me;
	ab_conn *conn;
	ab_parcel *in;
	ab_object *targets[WORKERS_MAX];
	int nr_targets;
	uint32_t random;
	uint64_t ioctls_before;
	size_t size;
	uint8_t bytes[PAYLOAD_MAX];
};

ab_object *echo_object_new(struct echo_server *server, struct member *me, ab_conn *conn);
void echo_client_init(struct echo_client *client, struct member *me, ab_conn *conn, size_t size);
void echo_exchange(void *state, bool check);
void echo_client_run(struct echo_client *client, const struct load *load);

#endif
