/* SPDX-License-Identifier: MIT */
/*
 * The processes of one measurement.
 *
 * A crew is a block of shared memory with a place for each member, a process
 * forked from this one. *Clients* end by themselves, and when all have, the
 * measurement is over; the others (servers, the registry, a bus) are killed
 * then, each by its pid. A member that fails says why in its place.
 */
#ifndef BENCH_CREW_H
#define BENCH_CREW_H

#include "bench/hist.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CREW_MAX 67
#define CREW_POINTS 6

/**
 * struct member - one process's place; only it writes here
 * @calls: counted round trips, with @ioctls driver ioctls
 * @served: calls answered after the first, with @served_ioctls driver ioctls
 * @ticks: of something done at a rate, between @start_ns and @end_ns
 * @busy_ns: CPU time used, where somebody asks for it
 * @late: calls that took too long, where somebody counts them
 * @median_ns: the exact one, of those who keep all their samples
 */
struct member {
	struct hist latency;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t calls;
	uint64_t ioctls;
	uint64_t served;
	uint64_t served_ioctls;
	uint64_t ticks;
	uint64_t busy_ns;
	uint64_t late;
	uint64_t median_ns;
	char error[256];
	/* the parent's: */
	pid_t pid;
	int pidfd;
	bool client;
};

/** struct crew - shared by all its processes */
struct crew {
	int count;
	int cpu;
	uint32_t arrived[CREW_POINTS];
	struct member members[CREW_MAX];
};

/** crew_fn() - what a member does; it ends when this returns */
typedef void crew_fn(struct crew *crew, struct member *me, void *arg);

uint64_t clock_ns(void);

struct crew *crew_new(bool pin);
struct member *crew_start(struct crew *crew, bool client, crew_fn *fn, void *arg);
int crew_wait(struct crew *crew, int timeout_s);
void crew_free(struct crew *crew);

void crew_meet(struct crew *crew, int point, int parties);
void crew_fail(struct member *me, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

void crew_catch_signals(void);
int crew_interrupted(void);

#endif
