// SPDX-License-Identifier: MIT
/*
 * `anybinder bench compare`: ours beside its peers. Everything is measured in
 * turns, round after round, so that what else the machine does hits all alike;
 * figures are medians over the rounds, ratios medians of each round's ratio.
 */
#include "tools/command.h"

#include "bench/peer.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS_MAX 21

static const char help[] =
"Usage: anybinder bench compare [OPTIONS]\n"
"\n"
"One pair of processes, 16 bytes and 64 KiB echoed, on one CPU and on any: ours with\n"
"and without deferred completions, and its peers; all in turns. Takes about a minute.\n"
"For one CPU the daemon is pinned too, and let go afterwards.\n"
"\n"
"      --device=PATH     binder device (default " DEVICE_DEFAULT ")\n"
"      --json-file=FILE  also write one JSON object a line to FILE\n"
"      --quick           fewer and shorter rounds: under 20 seconds, less certain\n"
"      --help            print this text\n";

/** struct cell - one thing that is measured, once in each round */
struct cell {
	const struct peer *peer;
	struct load load;
	struct outcome runs[ROUNDS_MAX];
	struct outcome median;
};

/* The rows of a payload's table, each with two cells. */
static const struct {
	const char *peer;
	bool defer;
	const char *title;
} rows[] = {
	{ "ours", true, "anybinder" },
	{ "ours", false, "anybinder, no defer" },
	{ "seqpacket", false, "seqpacket socket" },
	{ "futex", false, "shared memory, futex" },
	{ "sd-bus", false, "sd-bus, dbus-daemon" },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static const size_t payloads[] = { 16, 65536 };

#define PAYLOADS (sizeof(payloads) / sizeof(*payloads))

/* The second index is 1 when all processes are on one CPU. */
static struct cell cells[PAYLOADS][2][ROWS];

/**
 * struct ratio - a figure that is to be reached
 * @payload: index in payloads[]
 * @calls: of calls/s, and @goal the least it should be; else of the average
 *         time of a call, and @goal the most
 */
static const struct ratio {
	const char *name;
	int payload;
	bool pin;
	const char *peer;
	bool calls;
	double goal;
} ratios[] = {
	{ "time, 16 bytes, one CPU", 0, true, "sd-bus", false, 0.70 },
	{ "time, 16 bytes, one CPU", 0, true, "seqpacket", false, 3.5 },
	{ "time, 16 bytes, any CPU", 0, false, "sd-bus", false, 1.0 },
	{ "calls/s, 64 KiB, one CPU", 1, true, "sd-bus", true, 4.0 },
	{ "calls/s, 64 KiB, any CPU", 1, false, "sd-bus", true, 4.0 },
};

#define RATIOS (sizeof(ratios) / sizeof(*ratios))

struct request {
	const char *device;
	const char *json_file;
	bool quick;
	bool help;
};

static int parse(struct request *r, int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json-file", required_argument, NULL, 'j' },
		{ "quick", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int opt;

	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			r->device = optarg;
			break;
		case 'j':
			r->json_file = optarg;
			break;
		case 'q':
			r->quick = true;
			break;
		case 'h':
			r->help = true;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		return usage_error("bench compare ", "what is \"%s\"?", argv[optind]);
	return EXIT_OK;
}

static void cells_init(const struct request *r)
{
	for (size_t p = 0; p < PAYLOADS; p++) {
		for (size_t i = 0; i < 2 * ROWS; i++) {
			size_t row = i / 2;

			cells[p][i % 2][row].peer = peer_find(rows[row].peer);
			cells[p][i % 2][row].load = (struct load){
				.device = r->device,
				.workers = 2,
				.pairs = true,
				.iterations = 1000000,
				.time_ms_max = r->quick ? 150 : 400,
				.payload = payloads[p],
				.defer = rows[row].defer,
				.pin = i % 2,
			};
		}
	}
}

static int run_round(int round)
{
	for (size_t p = 0; p < PAYLOADS; p++) {
		for (size_t i = 0; i < 2 * ROWS; i++) {
			struct cell *c = &cells[p][i % 2][i / 2];

			if (peer_measure(c->peer, &c->load, &c->runs[round]))
				return -1;
		}
	}
	return 0;
}

static void print_half(const struct outcome *out)
{
	printf(" | %8.0f %8.1f %8.1f %8.1f", out->figure[ITER_PER_S], out->figure[AVG_US],
	       out->figure[P50_US], out->figure[P99_US]);
}

static void print_table(int payload)
{
	printf("\n%zu bytes there and back\n", payloads[payload]);
	printf("%-21s | %-35s | %-35s | ioctls per call\n", "", "all on one CPU", "on any CPU");
	printf("%-21s", "");
	for (int i = 0; i < 2; i++)
		printf(" | %8s %8s %8s %8s", "calls/s", "avg us", "p50 us", "p99 us");
	printf(" | served  made\n");
	for (size_t row = 0; row < ROWS; row++) {
		const struct outcome *pinned = &cells[payload][1][row].median;

		printf("%-21s", rows[row].title);
		print_half(pinned);
		print_half(&cells[payload][0][row].median);
		if (pinned->figure[SERVER_IOCTLS] >= 0)
			printf(" | %6.2f %5.2f\n", pinned->figure[SERVER_IOCTLS],
			       pinned->figure[CLIENT_IOCTLS]);
		else
			printf(" |\n");
	}
}

static double ratio_of(const struct ratio *ratio, enum figure figure, int rounds)
{
	const struct cell *row = cells[ratio->payload][ratio->pin];
	const struct cell *ours = row, *other = row;
	double values[ROUNDS_MAX];

	while (strcmp(other->peer->name, ratio->peer))
		other++;
	for (int i = 0; i < rounds; i++)
		values[i] = ours->runs[i].figure[figure] / other->runs[i].figure[figure];
	return median_of(values, rounds);
}

/* Averages have what else the machine did in them; the second ratio leaves that out. */
static void print_ratio(const struct ratio *r, int rounds, FILE *json)
{
	double value = ratio_of(r, r->calls ? ITER_PER_S : AVG_US, rounds);
	double p50 = ratio_of(r, P50_US, rounds);
	bool met = r->calls ? value >= r->goal : value <= r->goal;

	if (r->calls)
		p50 = 1 / p50;
	printf("%-26s %-10s %8.2f %8.2f   %s %.2f: %s\n", r->name, r->peer, value, p50,
	       r->calls ? "at least" : "at most", r->goal, met ? "met" : "missed");
	if (!json)
		return;
	fprintf(json, "{\"bench\":\"compare\",\"ratio\":\"ours/%s\",\"of\":\"%s\",\"payload\":%zu"
		",\"pinned\":%s,\"value\":%.3f,\"value_by_p50\":%.3f,\"%s\":%.2f}\n",
		r->peer, r->calls ? "iter_per_s" : "avg_us", payloads[r->payload],
		r->pin ? "true" : "false", value, p50, r->calls ? "at_least" : "at_most", r->goal);
}

static void print_ratios(int rounds, FILE *json)
{
	printf("\n%-26s %-10s %8s %8s   goal\n", "anybinder against", "", "ratio", "by p50");
	for (size_t i = 0; i < RATIOS; i++)
		print_ratio(&ratios[i], rounds, json);
}

static void report(int rounds, FILE *json)
{
	for (size_t p = 0; p < PAYLOADS; p++) {
		for (size_t i = 0; i < 2 * ROWS; i++) {
			struct cell *c = &cells[p][i % 2][i / 2];

			outcome_median(&c->median, c->runs, rounds);
			if (json)
				outcome_json(json, "compare", c->peer, &c->load, &c->median, rounds,
					     NULL);
		}
		print_table(p);
	}
	print_ratios(rounds, json);
}

/** bench_compare() - all peers, in turns. */
int bench_compare(int argc, char **argv)
{
	struct request r = { .device = DEVICE_DEFAULT };
	int code = parse(&r, argc, argv), rounds;
	FILE *json = NULL;

	if (code)
		return code;
	if (r.help) {
		fputs(help, stdout);
		return EXIT_OK;
	}
	if (!device_usable(r.device))
		return EXIT_FAILED;
	if (r.json_file && !(json = fopen(r.json_file, "we"))) {
		fprintf(stderr, "anybinder: write %s: %s\n", r.json_file, strerror(errno));
		return EXIT_FAILED;
	}
	rounds = r.quick ? 3 : 7;
	cells_init(&r);
	for (int round = 0; round < rounds && !code; round++)
		code = run_round(round) ? EXIT_FAILED : EXIT_OK;
	if (!code)
		report(rounds, json);
	if (json && fclose(json)) {
		fprintf(stderr, "anybinder: write %s: %s\n", r.json_file, strerror(errno));
		code = EXIT_FAILED;
	}
	return code;
}
