// SPDX-License-Identifier: MIT
/*
 * `anybinder bench compare`: ours beside its peers. Everything is measured in
 * turns, round after round, so that what else the machine does hits all alike;
 * figures are medians over the rounds, ratios medians of each round's ratio.
 */
#include "tools/bench_compare.h"
#include "tools/command.h"
#include "tools/progress.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define TIME_MS_MAX 60000

static const char help[] =
"Usage: anybinder bench compare [OPTIONS]\n"
"\n"
"One pair of processes, 16 bytes and 64 KiB echoed, on one CPU and on any: ours with\n"
"and without deferred completions, the same ioctls without a library, and its peers;\n"
"all in turns. Takes about two minutes. For one CPU the daemon is pinned too, and let\n"
"go afterwards. A peer whose library or program is not there is left out, and named.\n"
"\n"
"      --device=PATH     binder device (default " DEVICE_DEFAULT ")\n"
"      --json-file=FILE  also write one JSON object a line to FILE, with the distribution\n"
"                        of the times\n"
"      --quick           3 rounds of 150 ms: under 40 seconds, less certain\n"
"      --rounds=N        how often everything is measured (default 7, limit 21)\n"
"      --time=MS         how long each time (default 400, limit 60000)\n"
"      --help            print this text\n";

static const struct {
	const char *peer;
	bool defer;
	const char *title;
} ways[] = {
	{ "ours", true, "anybinder" },
	{ "ours", false, "anybinder, no defer" },
	{ "raw", true, "raw ioctls" },
	{ "seqpacket", false, "seqpacket socket" },
	{ "futex", false, "shared memory, futex" },
	{ "sd-bus", false, "sd-bus, dbus-daemon" },
	{ "sd-bus-broker", false, "sd-bus, dbus-broker" },
	{ "grpc", false, "gRPC" },
	{ "capnp", false, "Cap'n Proto RPC" },
	{ "nng", false, "nng" },
};

#define WAYS ((int)(sizeof(ways) / sizeof(*ways)))

_Static_assert(sizeof(ways) / sizeof(*ways) <= COMPARE_ROWS_MAX, "a row for each");

static struct comparison comparison = { .payloads = { 16, 65536 } };

struct request {
	const char *device;
	const char *json_file;
	int rounds;
	int time_ms;
	bool help;
};

static const struct option options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "json-file", required_argument, NULL, 'j' },
	{ "quick", no_argument, NULL, 'q' },
	{ "rounds", required_argument, NULL, 'r' },
	{ "time", required_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int set_number(struct request *r, int opt, const char *text)
{
	unsigned long long n;

	if (!parse_number(text, 1, opt == 'r' ? COMPARE_ROUNDS_MAX : TIME_MS_MAX, &n))
		return usage_error("bench compare ", "%s: \"%s\" is no number, or out of range",
				   opt == 'r' ? "rounds" : "time", text);
	*(opt == 'r' ? &r->rounds : &r->time_ms) = n;
	return EXIT_OK;
}

static int parse(struct request *r, int argc, char **argv)
{
	int opt, code = EXIT_OK;

	optind = 1;
	while (!code && (opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			r->device = optarg;
			break;
		case 'j':
			r->json_file = optarg;
			break;
		case 'q':
			r->rounds = 3;
			r->time_ms = 150;
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
		code = usage_error("bench compare ", "what is \"%s\"?", argv[optind]);
	return code;
}

static void row_init(struct row *row, int way, const struct request *r)
{
	const char *missing;

	row->peer = peer_find(ways[way].peer);
	row->title = ways[way].title;
	missing = peer_missing(row->peer);
	if (missing)
		snprintf(row->left_out, sizeof(row->left_out), "%s", missing);
	for (int i = 0; i < 2 * COMPARE_PAYLOADS; i++) {
		row->cells[i / 2][i % 2].load = (struct load){
			.device = r->device,
			.workers = 2,
			.pairs = true,
			.iterations = 1000000,
			.time_ms_max = r->time_ms,
			.payload = comparison.payloads[i / 2],
			.defer = ways[way].defer,
			.pin = i % 2,
		};
	}
}

static int run_round(int round, struct progress *progress)
{
	for (int i = 0; i < 2 * COMPARE_PAYLOADS * comparison.nr_rows; i++) {
		struct row *row = &comparison.rows[i / 2 % comparison.nr_rows];
		struct cell *c = &row->cells[i / 2 / comparison.nr_rows][i % 2];

		if (row->left_out[0])
			continue;
		progress_step(progress, "%s, %zu bytes, %s", row->title, c->load.payload,
			      c->load.pin ? "one CPU" : "any CPU");
		if (peer_measure_all(row->peer, &c->load, &c->runs[round], &c->latency))
			return EXIT_FAILED;
	}
	return EXIT_OK;
}

static int measure(const struct request *r)
{
	struct progress progress;
	int measured = 0, code = EXIT_OK;

	comparison.rounds = r->rounds;
	comparison.nr_rows = WAYS;
	for (int i = 0; i < WAYS; i++) {
		row_init(&comparison.rows[i], i, r);
		measured += !comparison.rows[i].left_out[0];
	}
	progress_begin(&progress, 2 * COMPARE_PAYLOADS * measured * comparison.rounds);
	for (int round = 0; round < comparison.rounds && !code; round++)
		code = run_round(round, &progress);
	progress_end(&progress, code);
	return code;
}

/** bench_compare() - all peers, in turns. */
int bench_compare(int argc, char **argv)
{
	struct request r = { .device = DEVICE_DEFAULT, .rounds = 7, .time_ms = 400 };
	int code = parse(&r, argc, argv);
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
	code = measure(&r);
	if (!code)
		compare_report(&comparison, json);
	if (json && fclose(json)) {
		fprintf(stderr, "anybinder: write %s: %s\n", r.json_file, strerror(errno));
		code = EXIT_FAILED;
	}
	return code;
}
