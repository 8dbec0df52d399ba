// SPDX-License-Identifier: MIT
#include "bench/hist.h"

#include <stddef.h>

static size_t bucket_of(uint64_t ns)
{
	unsigned int shift;

	if (ns >= UINT64_C(1) << HIST_VALUE_BITS)
		ns = (UINT64_C(1) << HIST_VALUE_BITS) - 1;
	if (ns < HIST_STEPS)
		return ns;
	shift = 63 - __builtin_clzll(ns) - HIST_STEP_BITS;
	return (size_t)shift * HIST_STEPS + (ns >> shift);
}

/* The middle of a bucket: half a step off at most. */
static double bucket_value(size_t bucket)
{
	unsigned int shift;

	if (bucket < 2 * HIST_STEPS)
		return bucket;
	shift = bucket / HIST_STEPS - 1;
	return (bucket - (double)shift * HIST_STEPS + 0.5) * (double)(UINT64_C(1) << shift) - 0.5;
}

/** hist_add() - count one duration. */
void hist_add(struct hist *h, uint64_t ns)
{
	h->count++;
	h->sum += ns;
	if (ns > h->max)
		h->max = ns;
	h->buckets[bucket_of(ns)]++;
}

/** hist_merge() - count all of @from in @into too. */
void hist_merge(struct hist *into, const struct hist *from)
{
	into->count += from->count;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

/**
 * hist_percentile() - what @percent of the values do not exceed
 * Return: nanoseconds; 0 when nothing was counted.
 */
double hist_percentile(const struct hist *h, double percent)
{
	double rank = h->count * percent / 100;
	uint64_t seen = 0;

	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen && seen >= rank) {
			double value = bucket_value(i);

			return value < h->max ? value : h->max;
		}
	}
	return h->max;
}

/** hist_average() - exact, as the sum is kept. */
double hist_average(const struct hist *h)
{
	return h->count ? (double)h->sum / h->count : 0;
}
