/* SPDX-License-Identifier: MIT */
/*
 * What runs beside a measurement at a fixed rate: a process that drops caches,
 * by which a driver's unused pages go, or one that merely spins in its place
 * and so shows what the stolen CPU time alone costs.
 */
#ifndef BENCH_DISTURB_H
#define BENCH_DISTURB_H

#include "bench/crew.h"

#include <stdbool.h>
#include <stdint.h>

#define DISTURB_HZ_MAX 10000

/**
 * struct disturb - all zero: nothing
 * @hz: times a second
 * @spin_ns: spin for so much CPU time each time; 0: drop caches
 */
struct disturb {
	unsigned int hz;
	uint64_t spin_ns;
};

void disturb_main(struct crew *crew, struct member *me, void *arg);
int disturb_calibrate(struct disturb *disturb);
bool disturb_usable(const char *device);
int disturb_drop_caches(void);

#endif
