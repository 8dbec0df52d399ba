/* SPDX-License-Identifier: MIT */
/* What `anybinder bench compare` measured, for its report. */
#ifndef TOOLS_BENCH_COMPARE_H
#define TOOLS_BENCH_COMPARE_H

#include "bench/peer.h"

#include <stdio.h>

#define COMPARE_ROUNDS_MAX 21
#define COMPARE_ROWS_MAX 16
#define COMPARE_PAYLOADS 2

/**
 * struct cell - one thing that is measured, once in each round
 * @latency: of all rounds
 */
struct cell {
	struct load load;
	struct outcome runs[COMPARE_ROUNDS_MAX];
	struct outcome median;
	struct hist latency;
};

/**
 * struct row - a way to call
 * @peer: with its library's version once it is loaded
 * @left_out: why it is not measured; empty if it is
 * @cells: by payload; the second index is 1 when all processes are on one CPU
 */
struct row {
	const struct peer *peer;
	const char *title;
	char left_out[320];
	struct cell cells[COMPARE_PAYLOADS][2];
};

/** struct comparison - @rows, the first of which is ours */
struct comparison {
	size_t payloads[COMPARE_PAYLOADS];
	struct row rows[COMPARE_ROWS_MAX];
	int nr_rows;
	int rounds;
};

void compare_report(struct comparison *comparison, FILE *json);

#endif
