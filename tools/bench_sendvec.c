// SPDX-License-Identifier: MIT
/* `anybinder bench sendvec`, after BM_sendVec: what a payload costs, by its size. */
#include "tools/command.h"

#include "bench/outcome.h"
#include "bench/pin.h"
#include "bench/raw.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
"Usage: anybinder bench sendvec [OPTIONS]\n"
"\n"
"A vector of 4, 8, 16, 32 and 64 KiB goes to a server and comes back, as BM_sendVec\n"
"does it: time and the client's CPU time of a call, bytes/ns one way; and the line\n"
"through the times by least squares: what a call costs without bytes, and a KiB.\n"
"No library between. In a guest with -icount shift=0,sleep=off -smp 1 a nanosecond\n"
"is an instruction.\n"
"\n"
"  -i, --iterations=N  calls of each size (default 2000, limit 100000)\n"
"      --device=PATH   binder device (default " DEVICE_DEFAULT ")\n"
"      --defer=on|off  let a reply's completion wait for the next call (default off)\n"
"      --pin           both processes, the daemon too, on one CPU\n"
"      --no-pin        on any CPU (default)\n"
"      --runs=N        medians of N runs, sizes in turns (default 1, limit 101)\n"
"      --json          one JSON object a line instead of a table\n"
"      --help          print this text\n";

static const size_t sizes[] = { 4096, 8192, 16384, 32768, 65536 };

#define SIZES (sizeof(sizes) / sizeof(*sizes))

struct request {
	struct raw_load load;
	int runs;
	bool json;
	bool help;
};

static const struct option options[] = {
	{ "iterations", required_argument, NULL, 'i' },
	{ "device", required_argument, NULL, 'd' },
	{ "defer", required_argument, NULL, 'f' },
	{ "pin", no_argument, NULL, 'p' },
	{ "no-pin", no_argument, NULL, 'n' },
	{ "runs", required_argument, NULL, 'r' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int set_option(struct request *r, int opt, const char *text)
{
	unsigned long long n;

	switch (opt) {
	case 'd':
		r->load.device = text;
		return EXIT_OK;
	case 'p':
	case 'n':
		r->load.pin = opt == 'p';
		return EXIT_OK;
	case 'j':
		r->json = true;
		return EXIT_OK;
	case 'h':
		r->help = true;
		return EXIT_OK;
	case 'f':
		r->load.defer = !strcmp(text, "on");
		if (r->load.defer || !strcmp(text, "off"))
			return EXIT_OK;
		return usage_error("bench sendvec ", "--defer is on or off, not \"%s\"", text);
	case 'i':
	case 'r':
		if (!parse_number(text, 1, opt == 'i' ? RAW_SAMPLES_MAX : OUTCOME_RUNS_MAX, &n))
			return usage_error("bench sendvec ", "%s: \"%s\" is no number, or out of "
					   "range", opt == 'i' ? "iterations" : "runs", text);
		if (opt == 'i')
			r->load.samples = n;
		else
			r->runs = n;
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

static int parse(struct request *r, int argc, char **argv)
{
	int opt, code = EXIT_OK;

	optind = 1;
	while (!code && (opt = getopt_long(argc, argv, "i:", options, NULL)) != -1)
		code = set_option(r, opt, optarg);
	if (!code && optind < argc)
		code = usage_error("bench sendvec ", "what is \"%s\"?", argv[optind]);
	return code;
}

/* The line y = fixed + slope * KiB that is nearest to the times. */
static void least_squares(const double times[SIZES], double *fixed, double *slope)
{
	double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;

	for (size_t i = 0; i < SIZES; i++) {
		double kib = sizes[i] / 1024.0;

		sum_x += kib;
		sum_y += times[i];
		sum_xx += kib * kib;
		sum_xy += kib * times[i];
	}
	*slope = (SIZES * sum_xy - sum_x * sum_y) / (SIZES * sum_xx - sum_x * sum_x);
	*fixed = (sum_y - *slope * sum_x) / SIZES;
}

static void print_size(const struct request *r, size_t size, double median, double average,
		       double cpu)
{
	if (!r->json) {
		printf("%8zu %12.0f %12.0f %12.0f %10.4f\n", size, median, average, cpu,
		       size / average);
		return;
	}
	printf("{\"bench\":\"sendvec\",\"host\":\"%s\",\"payload\":%zu,\"iterations\":%llu",
	       device_host(r->load.device), size, (unsigned long long)r->load.samples);
	printf(",\"median_ns\":%.0f,\"avg_ns\":%.1f,\"cpu_ns\":%.1f,\"bytes_per_ns\":%.4f",
	       median, average, cpu, size / average);
	printf(",\"defer\":%s,\"pinned\":%s,\"runs\":%d}\n", r->load.defer ? "true" : "false",
	       r->load.pin ? "true" : "false", r->runs);
}

static void print_line(const struct request *r, double fixed, double slope)
{
	if (!r->json)
		printf("\n%.0f ns a call and %.1f ns a KiB, by the medians\n", fixed, slope);
	else
		printf("{\"bench\":\"sendvec\",\"host\":\"%s\",\"fixed_ns\":%.1f"
		       ",\"ns_per_kib\":%.2f,\"defer\":%s,\"pinned\":%s,\"runs\":%d}\n",
		       device_host(r->load.device), fixed, slope,
		       r->load.defer ? "true" : "false", r->load.pin ? "true" : "false", r->runs);
}

static int measure(struct request *r)
{
	static double runs[3][SIZES][OUTCOME_RUNS_MAX];
	double median[SIZES], fixed, slope;
	struct raw_outcome out;

	for (int run = 0; run < r->runs; run++) {
		for (size_t i = 0; i < SIZES; i++) {
			r->load.payload = sizes[i];
			if (raw_measure(&r->load, &out))
				return EXIT_FAILED;
			runs[0][i][run] = out.median_ns;
			runs[1][i][run] = out.average_ns;
			runs[2][i][run] = out.cpu_ns;
		}
	}
	if (!r->json)
		printf("a vector there and back, %s\n%8s %12s %12s %12s %10s\n",
		       r->load.pin ? "all on one CPU" : "on any CPU", "bytes", "median ns",
		       "average ns", "CPU ns", "bytes/ns");
	for (size_t i = 0; i < SIZES; i++) {
		median[i] = median_of(runs[0][i], r->runs);
		print_size(r, sizes[i], median[i], median_of(runs[1][i], r->runs),
			   median_of(runs[2][i], r->runs));
	}
	least_squares(median, &fixed, &slope);
	print_line(r, fixed, slope);
	return EXIT_OK;
}

/** bench_sendvec() - five sizes, and the line through them. */
int bench_sendvec(int argc, char **argv)
{
	struct request r = {
		.load = { .device = DEVICE_DEFAULT, .what = RAW_CALL, .samples = 2000 },
		.runs = 1,
	};
	int code = parse(&r, argc, argv);

	if (code)
		return code;
	if (r.help) {
		fputs(help, stdout);
		return EXIT_OK;
	}
	return device_usable(r.load.device) ? measure(&r) : EXIT_FAILED;
}
