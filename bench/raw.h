/* SPDX-License-Identifier: MIT */
/*
 * Calls without a library: two processes, one ioctl a call for the client and
 * as few as the driver allows for the server, and nothing else between them
 * that takes time. For counting what the driver itself costs.
 */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "bench/crew.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_PAYLOAD_MAX (64 * 1024)
#define RAW_SAMPLES_MAX 100000

/** enum raw_what - what is timed, again and again */
enum raw_what {
	RAW_EMPTY,	/* an ioctl that neither sends nor receives */
	RAW_RETURN,	/* one that sends nothing and finds a completion waiting */
	RAW_CALL,	/* a call and its reply */
};

/**
 * struct raw_load - what to measure
 * @samples: how often, RAW_SAMPLES_MAX at most
 * @payload: bytes of a call, and of its reply
 * @defer: replies have TF_DEFER_COMPLETE
 * @cold: caches are dropped before each sample, so that no buffer has its pages; and what
 *        comes back is looked at, so that its pages are used
 */
struct raw_load {
	const char *device;
	enum raw_what what;
	uint64_t samples;
	size_t payload;
	bool defer;
	bool cold;
	bool pin;
};

/**
 * struct raw_outcome - nanoseconds, what the clock itself takes taken off
 * @cpu_ns: of the client, for each sample
 * @server_ioctls: for each call served
 */
struct raw_outcome {
	double median_ns;
	double average_ns;
	double cpu_ns;
	double server_ioctls;
};

int raw_measure(const struct raw_load *load, struct raw_outcome *out);

#endif
