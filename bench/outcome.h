/* SPDX-License-Identifier: MIT */
/* What a measurement gives: a few figures, their medians, and how they are written. */
#ifndef BENCH_OUTCOME_H
#define BENCH_OUTCOME_H

#include "bench/hist.h"

#include <stdint.h>
#include <stdio.h>

enum figure {
	ITER_PER_S,
	AVG_US,
	P50_US,
	P90_US,
	P95_US,
	P99_US,
	MAX_US,
	SERVER_IOCTLS,
	CLIENT_IOCTLS,
	TICKS_PER_S,
	TICK_US,
	FIGURES,
};

/**
 * struct outcome - of one run, or the medians of several
 * @iterations: calls that were counted
 * @figure: negative where there is no such thing; the last two are how often
 *          the disturber did its work, and for how much CPU time each time
 */
struct outcome {
	uint64_t iterations;
	double figure[FIGURES];
};

struct load;
struct peer;

#define OUTCOME_RUNS_MAX 101

double median_of(const double *values, int count);
void outcome_set_latency(struct outcome *out, const struct hist *latency, uint64_t elapsed_ns);
void outcome_median(struct outcome *out, const struct outcome *runs, int count);
void outcome_json_begin(FILE *file, const char *bench, const struct peer *peer,
			const struct load *load, const struct outcome *out, int runs);
void outcome_json_distribution(FILE *file, const struct hist *latency);
void outcome_json(FILE *file, const char *bench, const struct peer *peer, const struct load *load,
		  const struct outcome *out, int runs, const char *others);

#endif
