/* SPDX-License-Identifier: MIT */
/* Members that behave badly, for others to be measured beside them. They never end. */
#ifndef BENCH_MISBEHAVE_H
#define BENCH_MISBEHAVE_H

#include "bench/crew.h"

#include <stdint.h>

/**
 * struct victim - whom they turn against
 * @device: the device
 * @index: of the object in the registry
 * @size: payload of floods
 */
struct victim {
	const char *device;
	int index;
	uint32_t size;
};

void flood(struct member *me, const struct victim *victim);
void garbage(struct member *me, const char *device);
void kill_callers(struct member *me, const struct victim *victim);

#endif
