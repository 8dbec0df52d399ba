/* SPDX-License-Identifier: MIT */
/* How the processes of a measurement find each other's objects: by number, at handle 0. */
#ifndef BENCH_REGISTRY_H
#define BENCH_REGISTRY_H

#include "bench/crew.h"
#include "lib/anybinder.h"

/* Meeting points of a crew with a registry: it is there; all objects are. */
#define MEET_REGISTRY 0
#define MEET_OFFERED 1
#define MEET_START 2
#define MEET_END 3

/** struct registry - for registry_main() */
struct registry {
	const char *device;
	int parties; /* that meet at MEET_REGISTRY, itself included */
};

void registry_main(struct crew *crew, struct member *me, void *arg);
void registry_put(struct member *me, ab_conn *conn, int index, ab_object *object);
ab_object *registry_get(struct member *me, ab_conn *conn, int index);

ab_conn *bench_open(struct member *me, const char *device, const struct ab_options *options);

#endif
