/* SPDX-License-Identifier: MIT */
/* What t_soak.c, the supervisor, and its actors (soak_actor.c) see of each other. */
#ifndef TESTS_PROCESS_SOAK_H
#define TESTS_PROCESS_SOAK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define SOAK_ACTORS 8

enum soak_count {
	SOAK_CALLS,
	SOAK_ONEWAYS,
	SOAK_OBJECTS,
	SOAK_DEATHS,
	SOAK_REFUSED, /* calls that found their server dead, or full */
	SOAK_OPENS,
	SOAK_KILLS,
	SOAK_RECLAIMS,
	SOAK_COUNTS
};

struct soak_shared {
	atomic_int stop;
	atomic_llong count[SOAK_COUNTS];
};

/**
 * struct soak_actor - one process at a time
 * @id: the number that its object is registered by
 * @doomed: the supervisor has killed it
 */
struct soak_actor {
	unsigned int id;
	unsigned int seed;
	pid_t pid;
	bool doomed;
};

extern struct soak_shared *soak;

static inline void soak_count(enum soak_count what, int n)
{
	atomic_fetch_add(&soak->count[what], n);
}

void soak_actor_main(void *arg);

#endif
