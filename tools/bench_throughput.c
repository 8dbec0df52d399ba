// SPDX-License-Identifier: MIT
/* `anybinder bench throughput`, after binderThroughputTest. */
#include "tools/command.h"

#include "bench/peer.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
"Usage: anybinder bench throughput [OPTIONS]\n"
"\n"
"Worker processes call each other's objects with a payload that comes back, as\n"
"binderThroughputTest does. Each opens the device itself. With -p and two workers\n"
"this is the time of one round trip.\n"
"\n"
"  -w, --workers=N     worker processes (default 2, limit 64)\n"
"  -i, --iterations=N  calls of each client (default 10000)\n"
"  -s, --size=BYTES    payload (default 16, limit 262144)\n"
"  -p, --pairs         fixed pairs: one calls, one serves. Without it every worker\n"
"                      serves and calls any other; peers always work in pairs\n"
"      --device=PATH   binder device (default " DEVICE_DEFAULT ")\n"
"      --peer=NAME     ours (default), raw, seqpacket, futex, sd-bus, sd-bus-broker, grpc,\n"
"                      capnp, nng, or all\n"
"      --defer=on|off  let a reply wait for the next call (default on)\n"
"      --pin           all processes, the daemon too, on one CPU\n"
"      --no-pin        on any CPU (default)\n"
"      --reclaim=HZ    another process drops caches so many times a second (root)\n"
"      --spin=HZ       another process spins as often, for the CPU time of a drop\n"
"                      without load: what the time alone costs (root)\n"
"      --spin-us=US    for so much CPU time instead\n"
"      --beside-quiet  in turns with runs without dropping or spinning, and how the\n"
"                      two compare: calls/s and p99, medians of each turn's ratio\n"
"      --runs=N        medians of N runs, peers in turns (default 3, limit 101)\n"
"      --json          one JSON object a line instead of a table\n"
"      --help          print this text\n";

enum { OPT_DEVICE = 256, OPT_PEER, OPT_DEFER, OPT_PIN, OPT_NO_PIN, OPT_RUNS, OPT_JSON, OPT_HELP,
       OPT_RECLAIM, OPT_SPIN, OPT_SPIN_US, OPT_BESIDE_QUIET };

static const struct option options[] = {
	{ "workers", required_argument, NULL, 'w' },
	{ "iterations", required_argument, NULL, 'i' },
	{ "size", required_argument, NULL, 's' },
	{ "pairs", no_argument, NULL, 'p' },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "peer", required_argument, NULL, OPT_PEER },
	{ "defer", required_argument, NULL, OPT_DEFER },
	{ "pin", no_argument, NULL, OPT_PIN },
	{ "no-pin", no_argument, NULL, OPT_NO_PIN },
	{ "reclaim", required_argument, NULL, OPT_RECLAIM },
	{ "spin", required_argument, NULL, OPT_SPIN },
	{ "spin-us", required_argument, NULL, OPT_SPIN_US },
	{ "beside-quiet", no_argument, NULL, OPT_BESIDE_QUIET },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

/**
 * struct request - the arguments, understood
 * @peer: NULL for all
 * @spin_hz: spin; for as long as calibrated unless the load says
 * @beside_quiet: measure without a disturber as well
 */
struct request {
	struct load load;
	const struct peer *peer;
	int runs;
	unsigned int spin_hz;
	bool beside_quiet;
	bool json;
	bool help;
};

static int number_error(const char *what, const char *text)
{
	return usage_error("bench throughput ", "%s: \"%s\" is no number, or out of range", what,
			   text);
}

static int set_number(struct request *r, int opt, const char *text)
{
	unsigned long long n;

	switch (opt) {
	case 'w':
		if (!parse_number(text, 2, WORKERS_MAX, &n))
			return number_error("workers", text);
		r->load.workers = n;
		break;
	case 'i':
		if (!parse_number(text, 1, 1000000000, &n))
			return number_error("iterations", text);
		r->load.iterations = n;
		break;
	case 's':
		if (!parse_number(text, 0, PAYLOAD_MAX, &n))
			return number_error("size", text);
		r->load.payload = n;
		break;
	case OPT_RECLAIM:
	case OPT_SPIN:
		if (!parse_number(text, 1, DISTURB_HZ_MAX, &n))
			return number_error("times a second", text);
		*(opt == OPT_SPIN ? &r->spin_hz : &r->load.disturb.hz) = n;
		break;
	case OPT_SPIN_US:
		if (!parse_number(text, 1, 1000000, &n))
			return number_error("microseconds", text);
		r->load.disturb.spin_ns = 1000 * n;
		break;
	default:
		if (!parse_number(text, 1, OUTCOME_RUNS_MAX, &n))
			return number_error("runs", text);
		r->runs = n;
	}
	return EXIT_OK;
}

static int set_peer(struct request *r, const char *name)
{
	const char *missing;

	r->peer = peer_find(name);
	if (!r->peer && strcmp(name, "all"))
		return usage_error("bench throughput ", "there is no peer \"%s\"", name);
	missing = r->peer ? peer_missing(r->peer) : NULL;
	if (!missing)
		return EXIT_OK;
	fprintf(stderr, "anybinder: %s: %s\n", r->peer->title, missing);
	return EXIT_FAILED;
}

static int set_option(struct request *r, int opt, const char *text)
{
	switch (opt) {
	case 'p':
		r->load.pairs = true;
		return EXIT_OK;
	case OPT_DEVICE:
		r->load.device = text;
		return EXIT_OK;
	case OPT_PEER:
		return set_peer(r, text);
	case OPT_DEFER:
		r->load.defer = !strcmp(text, "on");
		if (r->load.defer || !strcmp(text, "off"))
			return EXIT_OK;
		return usage_error("bench throughput ", "--defer is on or off, not \"%s\"", text);
	case OPT_PIN:
	case OPT_NO_PIN:
		r->load.pin = opt == OPT_PIN;
		return EXIT_OK;
	case OPT_BESIDE_QUIET:
		r->beside_quiet = true;
		return EXIT_OK;
	case OPT_JSON:
		r->json = true;
		return EXIT_OK;
	case OPT_HELP:
		r->help = true;
		return EXIT_OK;
	default:
		return set_number(r, opt, text);
	}
}

static int parse(struct request *r, int argc, char **argv)
{
	int opt, code = EXIT_OK;

	optind = 1;
	while (!code && (opt = getopt_long(argc, argv, "w:i:s:p", options, NULL)) != -1)
		code = opt == '?' ? EXIT_USAGE : set_option(r, opt, optarg);
	if (!code && optind < argc)
		code = usage_error("bench throughput ", "what is \"%s\"?", argv[optind]);
	if (!code && r->load.workers % 2 && (r->load.pairs || r->peer != &peer_ours))
		code = usage_error("bench throughput ", "pairs need an even number of workers");
	if (!code && r->spin_hz && r->load.disturb.hz)
		code = usage_error("bench throughput ", "--reclaim or --spin, not both");
	if (!code && !r->spin_hz && r->load.disturb.spin_ns)
		code = usage_error("bench throughput ", "--spin-us needs --spin");
	if (!code && r->beside_quiet && !r->spin_hz && !r->load.disturb.hz)
		code = usage_error("bench throughput ", "--beside-quiet needs --reclaim or --spin");
	return code;
}

static void print_head(const struct load *load)
{
	printf("%d workers%s, %zu bytes there and back, %s\n", load->workers,
	       load->pairs ? " in pairs" : "", load->payload,
	       load->pin ? "all on one CPU" : "on any CPU");
	printf("%-20s %10s %8s %8s %8s %8s %8s %8s  %s\n", "", "calls/s", "avg us", "p50", "p90",
	       "p95", "p99", "worst", "ioctls per call served, made");
}

static void print_row(const struct peer *peer, const struct load *load, const struct outcome *out)
{
	char title[32];

	snprintf(title, sizeof(title), "%s%s", peer->title,
		 peer->ours && !load->defer ? ", no defer" : "");
	printf("%-20s %10.0f", title, out->figure[ITER_PER_S]);
	for (int f = AVG_US; f <= MAX_US; f++)
		printf(" %8.1f", out->figure[f]);
	if (out->figure[SERVER_IOCTLS] >= 0)
		printf("  %.2f, %.2f", out->figure[SERVER_IOCTLS], out->figure[CLIENT_IOCTLS]);
	if (out->figure[TICKS_PER_S] >= 0)
		printf("  %s %.1f a second, %.0f us each", load->disturb.spin_ns ? "spins" : "drops",
		       out->figure[TICKS_PER_S], out->figure[TICK_US]);
	putchar('\n');
}

/* Return: how many of @chosen are to be measured; what is left out of all is said. */
static int choose(const struct request *r, const struct peer *chosen[PEERS_MAX])
{
	const char *missing;
	int n = 0;

	if (r->peer) {
		chosen[0] = r->peer;
		return 1;
	}
	for (int i = 0; peer_at(i) && n < PEERS_MAX; i++) {
		missing = peer_missing(peer_at(i));
		if (!missing && peer_at(i) == &peer_raw && r->load.workers != 2)
			missing = "for 2 workers only";
		if (missing)
			fprintf(stderr, "anybinder: left out: %s: %s\n", peer_at(i)->title, missing);
		else
			chosen[n++] = peer_at(i);
	}
	return n;
}

/* By turn: disturbed, and without. */
static struct outcome runs[PEERS_MAX][OUTCOME_RUNS_MAX], quiet[PEERS_MAX][OUTCOME_RUNS_MAX];

/* @load: that of @outcomes, which differ by the disturber alone. */
static void print_median(const struct request *r, const struct peer *peer, const struct load *load,
			 const struct outcome *outcomes)
{
	struct outcome median;

	outcome_median(&median, outcomes, r->runs);
	if (r->json)
		outcome_json(stdout, "throughput", peer, load, &median, r->runs, NULL);
	else
		print_row(peer, load, &median);
}

/* Figures of different turns do not compare: what else the machine does hits both of a turn. */
static double ratio(const struct request *r, int peer, enum figure figure)
{
	double ratios[OUTCOME_RUNS_MAX];

	for (int run = 0; run < r->runs; run++)
		ratios[run] = quiet[peer][run].figure[figure] ?
			runs[peer][run].figure[figure] / quiet[peer][run].figure[figure] : 0;
	return median_of(ratios, r->runs);
}

static void print_ratio(const struct request *r, int i, const struct peer *peer)
{
	double calls = ratio(r, i, ITER_PER_S), p99 = ratio(r, i, P99_US);

	if (r->json)
		printf("{\"bench\":\"disturbed\",\"peer\":\"%s\",\"%s\":%u,\"iter_ratio\":%.3f,"
		       "\"p99_ratio\":%.3f,\"pinned\":%s,\"runs\":%d}\n", peer->name,
		       r->spin_hz ? "spin_hz" : "reclaim_hz", r->load.disturb.hz, calls, p99,
		       r->load.pin ? "true" : "false", r->runs);
	else
		printf("%-20s %9.3fx %44.2fx\n", "  disturbed", calls, p99);
}

static int measure(const struct request *r)
{
	const struct peer *chosen[PEERS_MAX];
	struct load calm = r->load;
	int n = choose(r, chosen);

	calm.disturb = (struct disturb){ 0 };
	for (int run = 0; run < r->runs; run++) {
		for (int i = 0; i < n; i++) {
			if (r->beside_quiet && peer_measure(chosen[i], &calm, &quiet[i][run]))
				return EXIT_FAILED;
			if (peer_measure(chosen[i], &r->load, &runs[i][run]))
				return EXIT_FAILED;
		}
	}
	if (!r->json)
		print_head(&r->load);
	for (int i = 0; i < n; i++) {
		if (r->beside_quiet)
			print_median(r, chosen[i], &calm, quiet[i]);
		print_median(r, chosen[i], &r->load, runs[i]);
		if (r->beside_quiet)
			print_ratio(r, i, chosen[i]);
	}
	return EXIT_OK;
}

/** bench_throughput() - measure one load, with one peer or all. */
int bench_throughput(int argc, char **argv)
{
	struct request r = {
		.load = { .device = DEVICE_DEFAULT, .workers = 2, .iterations = 10000,
			  .payload = 16, .defer = true },
		.peer = &peer_ours,
		.runs = 3,
	};
	int code = parse(&r, argc, argv);

	if (code)
		return code;
	if (r.help) {
		fputs(help, stdout);
		return EXIT_OK;
	}
	if ((!r.peer || r.peer->ours) && !device_usable(r.load.device))
		return EXIT_FAILED;
	if ((r.spin_hz || r.load.disturb.hz) && !disturb_usable(r.load.device))
		return EXIT_FAILED;
	if (r.spin_hz) {
		r.load.disturb.hz = r.spin_hz;
		if (!r.load.disturb.spin_ns && disturb_calibrate(&r.load.disturb))
			return EXIT_FAILED;
	}
	return measure(&r);
}
