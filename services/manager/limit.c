// SPDX-License-Identifier: MIT
#include "limit.h"

static bool over(const struct sm_limit *limit, uint64_t now_ms)
{
	return now_ms - limit->since_ms >= SM_LIMIT_WINDOW_MS;
}

/**
 * sm_limit_say() - may this line be printed?
 * @limit: its kind
 * @burst: lines in a window
 * @now_ms: any clock that does not go back
 *
 * Return: true; false: it has been counted, for sm_limit_due().
 */
bool sm_limit_say(struct sm_limit *limit, unsigned int burst, uint64_t now_ms)
{
	/* What is held back is told of first, and begins the next window. */
	if (!limit->held && (!limit->said || over(limit, now_ms))) {
		limit->since_ms = now_ms;
		limit->said = 0;
	}
	if (limit->said < burst) {
		limit->said++;
		return true;
	}
	limit->held++;
	return false;
}

/** sm_limit_hold() - count a line that is held back for another reason */
void sm_limit_hold(struct sm_limit *limit)
{
	limit->held++;
}

/**
 * sm_limit_due() - has the time come to tell how many lines were held back?
 * @limit: their kind
 * @burst: as given to sm_limit_say()
 * @now_ms: of the same clock
 *
 * Return: how many, and they count as told; 0: none, or not yet.
 */
uint64_t sm_limit_due(struct sm_limit *limit, unsigned int burst, uint64_t now_ms)
{
	uint64_t held = limit->held;

	if (!held || !over(limit, now_ms))
		return 0;
	limit->held = 0;
	limit->since_ms = now_ms;
	/* As long as it goes on, only numbers are told. */
	limit->said = burst;
	return held;
}
