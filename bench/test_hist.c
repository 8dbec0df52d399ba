// SPDX-License-Identifier: MIT
/* The histogram gives back what it was told, 1 % off at most. */
#include "bench/hist.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct hist h, other;

static void expect(const char *what, double got, double want, double tolerance)
{
	if (fabs(got - want) <= want * tolerance)
		return;
	fprintf(stderr, "%s: %f instead of %f\n", what, got, want);
	exit(1);
}

/* Each value alone is every percentile of itself. */
static void test_one_value_any_size_is_close(void)
{
	for (double v = 1; v < 1e12; v *= 1.0037) {
		uint64_t ns = v;

		h = (struct hist){ 0 };
		hist_add(&h, ns);
		/* a larger one, so that the maximum does not give the answer */
		hist_add(&h, ns * 2);
		expect("percentile", hist_percentile(&h, 50), ns, 0.01);
	}
}

static void test_percentiles_uniform_values_are_close(void)
{
	h = (struct hist){ 0 };
	other = (struct hist){ 0 };
	for (uint64_t ns = 1; ns <= 200000; ns++)
		hist_add(ns % 2 ? &h : &other, ns);
	hist_merge(&h, &other);
	expect("count", h.count, 200000, 0);
	expect("average", hist_average(&h), 100000.5, 1e-9);
	expect("p50", hist_percentile(&h, 50), 100000, 0.01);
	expect("p90", hist_percentile(&h, 90), 180000, 0.01);
	expect("p99", hist_percentile(&h, 99), 198000, 0.01);
	expect("p100", hist_percentile(&h, 100), 200000, 0.01);
	expect("max", h.max, 200000, 0);
}

static void test_extremes_do_not_leave_the_table(void)
{
	h = (struct hist){ 0 };
	expect("empty", hist_percentile(&h, 99), 0, 0);
	expect("empty", hist_average(&h), 0, 0);
	hist_add(&h, 0);
	expect("zero", hist_percentile(&h, 99), 0, 0);
	hist_add(&h, UINT64_MAX / 2);
	expect("max", h.max, UINT64_MAX / 2, 0);
	if (hist_percentile(&h, 100) < 1e12)
		exit(1);
}

int main(void)
{
	test_one_value_any_size_is_close();
	test_percentiles_uniform_values_are_close();
	test_extremes_do_not_leave_the_table();
	return 0;
}
