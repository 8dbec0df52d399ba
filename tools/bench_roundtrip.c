// SPDX-License-Identifier: MIT
/*
 * `anybinder bench roundtrip`: what the driver's share of a call is. In a guest
 * that counts instructions as nanoseconds its figures are instruction counts.
 */
#include "tools/command.h"

#include "bench/outcome.h"
#include "bench/pin.h"
#include "bench/disturb.h"
#include "bench/raw.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
"Usage: anybinder bench roundtrip [OPTIONS]\n"
"\n"
"Times of plain ioctls between two processes, no library: one that does nothing, one\n"
"that fetches a waiting completion, and a call with its reply, whose completion\n"
"returns at once or is deferred. What reading the clock takes is taken off. In a\n"
"guest with -icount shift=0,sleep=off -smp 1 a nanosecond is an instruction.\n"
"\n"
"  -i, --iterations=N  samples of each (default 10000, limit 100000)\n"
"  -s, --size=BYTES    payload of the call and the reply (default 16, limit 65536)\n"
"      --device=PATH   binder device (default " DEVICE_DEFAULT ")\n"
"      --cold          drop caches before each sample, so that no buffer has its pages,\n"
"                      and look at what comes back (root)\n"
"      --pin           both processes, the daemon too, on one CPU\n"
"      --no-pin        on any CPU (default)\n"
"      --runs=N        medians of N runs, in turns (default 1, limit 101)\n"
"      --json          one JSON object a line instead of a table\n"
"      --help          print this text\n";

static const struct {
	enum raw_what what;
	bool defer;
	const char *name;
	const char *title;
} rows[] = {
	{ RAW_EMPTY, false, "empty", "an ioctl that does nothing" },
	{ RAW_RETURN, false, "return", "one that fetches a completion" },
	{ RAW_CALL, false, "call", "call and reply" },
	{ RAW_CALL, true, "call", "call and reply, deferred" },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

struct request {
	struct raw_load load;
	int runs;
	bool json;
	bool help;
};

static const struct option options[] = {
	{ "iterations", required_argument, NULL, 'i' },
	{ "size", required_argument, NULL, 's' },
	{ "device", required_argument, NULL, 'd' },
	{ "cold", no_argument, NULL, 'c' },
	{ "pin", no_argument, NULL, 'p' },
	{ "no-pin", no_argument, NULL, 'n' },
	{ "runs", required_argument, NULL, 'r' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int set_number(struct request *r, int opt, const char *text)
{
	unsigned long long n, max = opt == 'i' ? RAW_SAMPLES_MAX :
				    opt == 's' ? RAW_PAYLOAD_MAX : OUTCOME_RUNS_MAX;

	if (!parse_number(text, opt == 's' ? 0 : 1, max, &n))
		return usage_error("bench roundtrip ", "%s: \"%s\" is no number, or out of range",
				   opt == 'i' ? "iterations" : opt == 's' ? "size" : "runs", text);
	if (opt == 'i')
		r->load.samples = n;
	else if (opt == 's')
		r->load.payload = n;
	else
		r->runs = n;
	return EXIT_OK;
}

static int parse(struct request *r, int argc, char **argv)
{
	int opt, code = EXIT_OK;

	optind = 1;
	while (!code && (opt = getopt_long(argc, argv, "i:s:", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			r->load.device = optarg;
			break;
		case 'c':
			r->load.cold = true;
			break;
		case 'p':
		case 'n':
			r->load.pin = opt == 'p';
			break;
		case 'j':
			r->json = true;
			break;
		case 'h':
			r->help = true;
			break;
		case '?':
			code = EXIT_USAGE;
			break;
		default:
			code = set_number(r, opt, optarg);
		}
	}
	if (!code && optind < argc)
		code = usage_error("bench roundtrip ", "what is \"%s\"?", argv[optind]);
	return code;
}

static void print_row(const struct request *r, size_t row, double median, double average,
		      double ioctls)
{
	if (!r->json) {
		printf("%-32s %12.0f %12.1f", rows[row].title, median, average);
		if (ioctls >= 0)
			printf(" %12.2f", ioctls);
		putchar('\n');
		return;
	}
	printf("{\"bench\":\"roundtrip\",\"host\":\"%s\",\"what\":\"%s\",\"defer\":%s",
	       device_host(r->load.device), rows[row].name, rows[row].defer ? "true" : "false");
	printf(",\"payload\":%zu,\"iterations\":%llu,\"median_ns\":%.0f,\"avg_ns\":%.1f",
	       r->load.payload, (unsigned long long)r->load.samples, median, average);
	if (ioctls >= 0)
		printf(",\"server_ioctls_per_call\":%.3f", ioctls);
	printf(",\"cold\":%s,\"pinned\":%s,\"runs\":%d}\n", r->load.cold ? "true" : "false",
	       r->load.pin ? "true" : "false", r->runs);
}

static int measure(struct request *r)
{
	static double medians[ROWS][OUTCOME_RUNS_MAX], averages[ROWS][OUTCOME_RUNS_MAX];
	static double ioctls[ROWS][OUTCOME_RUNS_MAX];
	struct raw_outcome out;

	for (int run = 0; run < r->runs; run++) {
		for (size_t row = 0; row < ROWS; row++) {
			r->load.what = rows[row].what;
			r->load.defer = rows[row].defer;
			if (raw_measure(&r->load, &out))
				return EXIT_FAILED;
			medians[row][run] = out.median_ns;
			averages[row][run] = out.average_ns;
			ioctls[row][run] = out.server_ioctls;
		}
	}
	if (!r->json)
		printf("%zu bytes there and back, %s\n%-32s %12s %12s %12s\n", r->load.payload,
		       r->load.pin ? "all on one CPU" : "on any CPU", "", "median ns",
		       "average ns", "ioctls/served");
	for (size_t row = 0; row < ROWS; row++)
		print_row(r, row, median_of(medians[row], r->runs),
			  median_of(averages[row], r->runs), median_of(ioctls[row], r->runs));
	return EXIT_OK;
}

/** bench_roundtrip() - the parts of a call. */
int bench_roundtrip(int argc, char **argv)
{
	struct request r = {
		.load = { .device = DEVICE_DEFAULT, .samples = 10000, .payload = 16 },
		.runs = 1,
	};
	int code = parse(&r, argc, argv);

	if (code)
		return code;
	if (r.help) {
		fputs(help, stdout);
		return EXIT_OK;
	}
	if (!device_usable(r.load.device) || (r.load.cold && !disturb_usable(r.load.device)))
		return EXIT_FAILED;
	return measure(&r);
}
