// SPDX-License-Identifier: MIT
#include "bench/outcome.h"

#include "bench/peer.h"
#include "bench/pin.h"

#include <stdlib.h>
#include <string.h>

static const char *const keys[FIGURES] = {
	[ITER_PER_S] = "iter_per_s",
	[AVG_US] = "avg_us",
	[P50_US] = "p50_us",
	[P90_US] = "p90_us",
	[P95_US] = "p95_us",
	[P99_US] = "p99_us",
	[MAX_US] = "max_us",
	[SERVER_IOCTLS] = "server_ioctls_per_call",
	[CLIENT_IOCTLS] = "client_ioctls_per_call",
	[TICKS_PER_S] = "ticks_per_s",
	[TICK_US] = "tick_us",
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** median_of() - of @count values, OUTCOME_RUNS_MAX at most; 0 of none. */
double median_of(const double *values, int count)
{
	double sorted[OUTCOME_RUNS_MAX];

	if (count < 1 || count > OUTCOME_RUNS_MAX)
		return 0;
	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), compare);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/** outcome_set_latency() - @out has no figures but these afterwards. */
void outcome_set_latency(struct outcome *out, const struct hist *latency, uint64_t elapsed_ns)
{
	out->iterations = latency->count;
	out->figure[ITER_PER_S] = elapsed_ns ? latency->count * 1e9 / elapsed_ns : 0;
	out->figure[AVG_US] = hist_average(latency) / 1000;
	out->figure[P50_US] = hist_percentile(latency, 50) / 1000;
	out->figure[P90_US] = hist_percentile(latency, 90) / 1000;
	out->figure[P95_US] = hist_percentile(latency, 95) / 1000;
	out->figure[P99_US] = hist_percentile(latency, 99) / 1000;
	out->figure[MAX_US] = latency->max / 1000.0;
	for (int f = SERVER_IOCTLS; f < FIGURES; f++)
		out->figure[f] = -1;
}

/** outcome_median() - each figure's median over @runs. */
void outcome_median(struct outcome *out, const struct outcome *runs, int count)
{
	double values[OUTCOME_RUNS_MAX];

	out->iterations = 0;
	for (int i = 0; i < count; i++)
		out->iterations += runs[i].iterations;
	for (int f = 0; f < FIGURES; f++) {
		for (int i = 0; i < count; i++)
			values[i] = runs[i].figure[f];
		out->figure[f] = median_of(values, count);
	}
}

static const char *truth(bool value)
{
	return value ? "true" : "false";
}

/**
 * outcome_json_begin() - one object, but for its end: the caller adds to it and closes it
 * Null stands for what does not apply: a peer has no driver, no deferred replies.
 */
void outcome_json_begin(FILE *file, const char *bench, const struct peer *peer,
			const struct load *load, const struct outcome *out, int runs)
{
	const char *host = device_host(load->device);

	fprintf(file, "{\"bench\":\"%s\",\"host\":\"%s\",\"peer\":\"%s\"", bench,
		peer->ours ? host : "none", peer->name);
	fprintf(file, ",\"workers\":%d,\"pairs\":%s,\"payload\":%zu,\"iterations\":%llu",
		load->workers, truth(load->pairs || peer != &peer_ours), load->payload,
		(unsigned long long)out->iterations);
	for (int f = 0; f < FIGURES; f++) {
		if (out->figure[f] < 0)
			fprintf(file, ",\"%s\":null", keys[f]);
		else
			fprintf(file, ",\"%s\":%.3f", keys[f], out->figure[f]);
	}
	fprintf(file, ",\"%s\":%u,\"%s\":0",
		load->disturb.spin_ns ? "spin_hz" : "reclaim_hz", load->disturb.hz,
		load->disturb.spin_ns ? "reclaim_hz" : "spin_hz");
	fprintf(file, ",\"defer\":%s,\"pinned\":%s,\"runs\":%d",
		peer->ours ? truth(load->defer) : "null", truth(load->pin), runs);
}

/**
 * outcome_json() - one object on one line
 * @others: what else was running; NULL: nothing
 */
void outcome_json(FILE *file, const char *bench, const struct peer *peer, const struct load *load,
		  const struct outcome *out, int runs, const char *others)
{
	outcome_json_begin(file, bench, peer, load, out, runs);
	if (others)
		fprintf(file, ",\"others\":\"%s\"", others);
	fputs("}\n", file);
}

/* The next percentile of a plot: five to each halving of what is above. */
static double next_percentile(double percent)
{
	double above = 100 - percent, half = 100;

	while (half / 2 >= above)
		half /= 2;
	return percent + half / 10;
}

/**
 * outcome_json_distribution() - add a member to an object that is begun: the times of calls
 * that @latency counted, as pairs of a percentile and microseconds. More and more dense
 * towards 100 until a step would be less than a call; the last is the longest of all.
 */
void outcome_json_distribution(FILE *file, const struct hist *latency)
{
	fprintf(file, ",\"distribution\":[");
	for (double percent = 0; (100 - percent) * latency->count >= 100;
	     percent = next_percentile(percent))
		fprintf(file, "[%.7g,%.3f],", percent, hist_percentile(latency, percent) / 1000);
	fprintf(file, "[100,%.3f]]", latency->max / 1000.0);
}
