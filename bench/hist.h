/* SPDX-License-Identifier: MIT */
/*
 * A histogram of durations: log-linear, 128 steps to each power of two, so
 * that what it gives back is at most 1 % off. It has no pointers and may live
 * in memory shared between processes; one writer at a time.
 */
#ifndef BENCH_HIST_H
#define BENCH_HIST_H

#include <stdint.h>

#define HIST_STEP_BITS 7
#define HIST_STEPS (1u << HIST_STEP_BITS)
/* Values from 2^40 ns (18 minutes) on count as the largest below. */
#define HIST_VALUE_BITS 40
#define HIST_BUCKETS ((HIST_VALUE_BITS - HIST_STEP_BITS + 1) * HIST_STEPS)

/** struct hist - all zero is an empty one; values are nanoseconds */
struct hist {
	uint64_t count;
	uint64_t sum;
	uint64_t max;
	uint64_t buckets[HIST_BUCKETS];
};

void hist_add(struct hist *h, uint64_t ns);
void hist_merge(struct hist *into, const struct hist *from);
double hist_percentile(const struct hist *h, double percent);
double hist_average(const struct hist *h);

#endif
