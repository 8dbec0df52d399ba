/* SPDX-License-Identifier: MIT */
/*
 * Priority inversion. On one CPU a real-time process calls a server; an idle-class
 * process sends to the same server, so that it works in the same allocator; a hog
 * of normal class keeps the idle-class one from the CPU, also when it holds a lock
 * that the caller needs. The server's threads are real-time too, so that no call
 * is late but for a lock: the driver's, or the kernel's that the driver takes.
 */
#ifndef BENCH_INVERSION_H
#define BENCH_INVERSION_H

#include "bench/disturb.h"

#include <stdint.h>

/* A call that takes longer is late. */
#define INVERSION_LATE_US 10000

/**
 * struct inversion - what to measure
 * @disturb: at what rate a process of normal class drops caches; 0: not
 */
struct inversion {
	const char *device;
	unsigned int duration_ms;
	struct disturb disturb;
};

/**
 * struct inversion_outcome
 * @late: calls that took more than INVERSION_LATE_US
 * @sent: calls of the idle-class process meanwhile
 * @fifo_share: of the CPU's time that the real-time processes had
 */
struct inversion_outcome {
	uint64_t calls;
	uint64_t late;
	uint64_t sent;
	double median_us;
	double p99_us;
	double worst_us;
	double ticks_per_s;
	double fifo_share;
};

int inversion_measure(const struct inversion *what, struct inversion_outcome *out);

#endif
