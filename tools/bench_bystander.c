// SPDX-License-Identifier: MIT
/* `anybinder bench bystander`: what others' misbehaviour costs a pair that has no part in it. */
#include "tools/command.h"

#include "bench/bystander.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS_MAX 21
#define P99_GOAL 2.0

static const char help[] =
"Usage: anybinder bench bystander [OPTIONS]\n"
"\n"
"The times of a pair's 16-byte calls beside 8 other processes on the same device\n"
"and CPUs: idle; each in a loop of calls; or misbehaving, which is 3 that flood deaf\n"
"and slow servers with one-way calls, 3 that send garbage, and 2 whose callers are\n"
"killed in the middle of a call and replaced. In turns; medians.\n"
"\n"
"      --device=PATH  binder device (default " DEVICE_DEFAULT ")\n"
"      --pin          all processes, the daemon too, on one CPU\n"
"      --no-pin       on any CPU (default)\n"
"      --quick        fewer and shorter rounds\n"
"      --json         one JSON object a line instead of a table\n"
"      --help         print this text\n";

enum { ALONE, BEHAVED, MISBEHAVING, KINDS };

static const struct peer *const kinds[KINDS] = {
	&bystander_alone, &bystander_behaved, &bystander_misbehaving,
};

static const char *const words[KINDS] = { "idle", "behave", "misbehave" };

struct request {
	struct load load;
	bool quick;
	bool json;
	bool help;
};

static int parse(struct request *r, int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "pin", no_argument, NULL, 'p' },
		{ "no-pin", no_argument, NULL, 'n' },
		{ "quick", no_argument, NULL, 'q' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int opt;

	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			r->load.device = optarg;
			break;
		case 'p':
		case 'n':
			r->load.pin = opt == 'p';
			break;
		case 'q':
			r->quick = true;
			break;
		case 'j':
			r->json = true;
			break;
		case 'h':
			r->help = true;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		return usage_error("bench bystander ", "what is \"%s\"?", argv[optind]);
	return EXIT_OK;
}

static double ratio_of_p99(struct outcome runs[KINDS][ROUNDS_MAX], int rounds)
{
	double values[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		values[i] = runs[MISBEHAVING][i].figure[P99_US] / runs[BEHAVED][i].figure[P99_US];
	return median_of(values, rounds);
}

static void report(const struct request *r, struct outcome runs[KINDS][ROUNDS_MAX], int rounds)
{
	double ratio = ratio_of_p99(runs, rounds);
	struct outcome median;

	if (!r->json)
		printf("A pair's 16-byte calls, %s, beside\n%-18s %8s %8s %8s %8s %8s %8s\n",
		       r->load.pin ? "all on one CPU" : "on any CPU", "", "calls/s", "avg us",
		       "p50", "p90", "p99", "worst");
	for (int k = 0; k < KINDS; k++) {
		outcome_median(&median, runs[k], rounds);
		if (r->json)
			outcome_json(stdout, "bystander", kinds[k], &r->load, &median, rounds,
				     words[k]);
		else
			printf("%-18s %8.0f %8.1f %8.1f %8.1f %8.1f %8.1f\n", kinds[k]->title,
			       median.figure[ITER_PER_S], median.figure[AVG_US],
			       median.figure[P50_US], median.figure[P90_US],
			       median.figure[P99_US], median.figure[MAX_US]);
	}
	if (r->json)
		printf("{\"bench\":\"bystander\",\"ratio\":\"misbehave/behave\",\"of\":\"p99_us\","
		       "\"pinned\":%s,\"value\":%.3f,\"at_most\":%.2f}\n",
		       r->load.pin ? "true" : "false", ratio, P99_GOAL);
	else
		printf("\np99, misbehave / behave: %.2f   at most %.2f: %s\n", ratio, P99_GOAL,
		       ratio <= P99_GOAL ? "met" : "missed");
}

/** bench_bystander() - the three in turns. */
int bench_bystander(int argc, char **argv)
{
	static struct outcome runs[KINDS][ROUNDS_MAX];
	struct request r = {
		.load = { .device = DEVICE_DEFAULT, .workers = 2, .pairs = true, .payload = 16,
			  .iterations = 10000000, .defer = true },
	};
	int code = parse(&r, argc, argv);
	int rounds;

	if (code)
		return code;
	if (r.help) {
		fputs(help, stdout);
		return EXIT_OK;
	}
	if (!device_usable(r.load.device))
		return EXIT_FAILED;
	rounds = r.quick ? 3 : 7;
	r.load.time_ms_max = r.quick ? 500 : 1500;
	for (int round = 0; round < rounds; round++) {
		for (int k = 0; k < KINDS; k++) {
			if (peer_measure(kinds[k], &r.load, &runs[k][round]))
				return EXIT_FAILED;
		}
	}
	report(&r, runs, rounds);
	return EXIT_OK;
}
