/* SPDX-License-Identifier: MIT */
/*
 * Limits for lines about what others do: a few at first, then only how many more
 * there were, once in a while.
 */
#ifndef SM_LIMIT_H
#define SM_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define SM_LIMIT_WINDOW_MS 10000u

/**
 * struct sm_limit - one kind of line; all zero to begin with
 * @since_ms: when the window began
 * @said: lines in this window
 * @held: lines held back, not told of yet
 */
struct sm_limit {
	uint64_t since_ms;
	unsigned int said;
	uint64_t held;
};

bool sm_limit_say(struct sm_limit *limit, unsigned int burst, uint64_t now_ms);
void sm_limit_hold(struct sm_limit *limit);
uint64_t sm_limit_due(struct sm_limit *limit, unsigned int burst, uint64_t now_ms);

#endif
