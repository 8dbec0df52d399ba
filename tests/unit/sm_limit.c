// SPDX-License-Identifier: MIT
/* Lines that may be printed, and those that are counted, over a clock of our own. */
#include "services/manager/limit.h"

#include <stdio.h>
#include <stdlib.h>

#define BURST 5

#define CHECK_EQ(a, b)                                                                     \
	do {                                                                               \
		long long a_ = (long long)(a), b_ = (long long)(b);                        \
		if (a_ != b_) {                                                            \
			fprintf(stderr, "%s:%d: %s is %lld, wanted %lld\n", __FILE__,      \
				__LINE__, #a, a_, b_);                                     \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

static unsigned int say(struct sm_limit *limit, unsigned int lines, uint64_t now)
{
	unsigned int said = 0;

	while (lines--)
		said += sm_limit_say(limit, BURST, now);
	return said;
}

static void test_a_burst_is_said_and_the_rest_counted(void)
{
	struct sm_limit limit = { 0 };

	CHECK_EQ(say(&limit, 1000, 77), BURST);
	CHECK_EQ(sm_limit_due(&limit, BURST, 77), 0);
	CHECK_EQ(sm_limit_due(&limit, BURST, 77 + SM_LIMIT_WINDOW_MS - 1), 0);
	CHECK_EQ(sm_limit_due(&limit, BURST, 77 + SM_LIMIT_WINDOW_MS), 995);
	CHECK_EQ(sm_limit_due(&limit, BURST, 77 + SM_LIMIT_WINDOW_MS), 0);
}

static void test_few_lines_are_all_said(void)
{
	struct sm_limit limit = { 0 };
	uint64_t now = 1;

	for (int i = 0; i < 100; i++) {
		CHECK_EQ(say(&limit, BURST, now), BURST);
		now += SM_LIMIT_WINDOW_MS;
		CHECK_EQ(sm_limit_due(&limit, BURST, now), 0);
	}
}

static void test_as_long_as_it_goes_on_only_numbers_are_told(void)
{
	struct sm_limit limit = { 0 };
	uint64_t now = 1;

	CHECK_EQ(say(&limit, 10, now), BURST);
	for (int i = 0; i < 10; i++) {
		now += SM_LIMIT_WINDOW_MS;
		CHECK_EQ(sm_limit_due(&limit, BURST, now), i ? 20 : 5);
		CHECK_EQ(say(&limit, 20, now + 1), 0);
	}
	now += SM_LIMIT_WINDOW_MS;
	CHECK_EQ(sm_limit_due(&limit, BURST, now), 20);
	/* A quiet window ends it. */
	CHECK_EQ(say(&limit, 10, now + SM_LIMIT_WINDOW_MS), BURST);
}

/* What was counted must be told even if nobody asked in time. */
static void test_what_is_held_is_not_forgotten(void)
{
	struct sm_limit limit = { 0 };

	CHECK_EQ(say(&limit, 7, 0), BURST);
	CHECK_EQ(say(&limit, 7, 5 * SM_LIMIT_WINDOW_MS), 0);
	sm_limit_hold(&limit);
	CHECK_EQ(sm_limit_due(&limit, BURST, 5 * SM_LIMIT_WINDOW_MS), 2 + 7 + 1);
}

int main(void)
{
	test_a_burst_is_said_and_the_rest_counted();
	test_few_lines_are_all_said();
	test_as_long_as_it_goes_on_only_numbers_are_told();
	test_what_is_held_is_not_forgotten();
	printf("4 passed, 0 failed, 0 skipped\n");
	return 0;
}
