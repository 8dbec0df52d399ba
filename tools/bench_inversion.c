// SPDX-License-Identifier: MIT
/* `anybinder bench inversion`: how long processes of low priority delay a real-time one. */
#include "tools/command.h"

#include "bench/inversion.h"
#include "bench/outcome.h"
#include "bench/pin.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
"Usage: anybinder bench inversion [OPTIONS]\n"
"\n"
"On one CPU, a real-time (SCHED_FIFO) process calls a server whose threads are\n"
"real-time too, pauses 1 ms and calls again; a SCHED_IDLE process sends 1 byte to\n"
"192 KiB to the same server; a process of normal class never sleeps; another drops\n"
"caches. Whatever delays the real-time call is a lock. Without dropping, then with.\n"
"Needs root, and a kernel with full preemption (preempt=full) to mean anything.\n"
"\n"
"      --device=PATH   binder device (default " DEVICE_DEFAULT ")\n"
"      --duration=S    seconds of each run (default 10, limit 3600)\n"
"      --reclaim=HZ    drop caches so many times a second (default 100)\n"
"      --only=on|off   only the runs with dropping, or without\n"
"      --runs=N        N runs of each, in turns (default 1, limit 101)\n"
"      --json          one JSON object a line instead of a table\n"
"      --help          print this text\n";

struct request {
	struct inversion load;
	unsigned int hz;
	bool skip[2]; /* without dropping, with */
	int runs;
	bool json;
	bool help;
};

static const struct option options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "duration", required_argument, NULL, 't' },
	{ "reclaim", required_argument, NULL, 'c' },
	{ "only", required_argument, NULL, 'o' },
	{ "runs", required_argument, NULL, 'r' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int set_number(struct request *r, int opt, const char *text)
{
	unsigned long long n, max = opt == 't' ? 3600 : opt == 'c' ? DISTURB_HZ_MAX :
				    OUTCOME_RUNS_MAX;

	if (!parse_number(text, 1, max, &n))
		return usage_error("bench inversion ", "%s: \"%s\" is no number, or out of range",
				   opt == 't' ? "duration" : opt == 'c' ? "reclaim" : "runs",
				   text);
	if (opt == 't')
		r->load.duration_ms = 1000 * n;
	else if (opt == 'c')
		r->hz = n;
	else
		r->runs = n;
	return EXIT_OK;
}

static int set_option(struct request *r, int opt, const char *text)
{
	switch (opt) {
	case 'd':
		r->load.device = text;
		return EXIT_OK;
	case 'o':
		r->skip[0] = !strcmp(text, "on");
		r->skip[1] = !strcmp(text, "off");
		if (r->skip[0] || r->skip[1])
			return EXIT_OK;
		return usage_error("bench inversion ", "--only is on or off, not \"%s\"", text);
	case 'j':
		r->json = true;
		return EXIT_OK;
	case 'h':
		r->help = true;
		return EXIT_OK;
	case '?':
		return EXIT_USAGE;
	default:
		return set_number(r, opt, text);
	}
}

static int parse(struct request *r, int argc, char **argv)
{
	int opt, code = EXIT_OK;

	optind = 1;
	while (!code && (opt = getopt_long(argc, argv, "", options, NULL)) != -1)
		code = set_option(r, opt, optarg);
	if (!code && optind < argc)
		code = usage_error("bench inversion ", "what is \"%s\"?", argv[optind]);
	return code;
}

static void print_run(const struct request *r, const struct inversion_outcome *out)
{
	if (!r->json) {
		printf("%-20s %8llu %8llu %9.1f %9.1f %9.1f %8llu %8.1f %8.2f\n",
		       r->load.disturb.hz ? "caches dropped" : "caches left",
		       (unsigned long long)out->calls, (unsigned long long)out->late,
		       out->median_us, out->p99_us, out->worst_us, (unsigned long long)out->sent,
		       out->ticks_per_s, out->fifo_share);
		return;
	}
	printf("{\"bench\":\"inversion\",\"host\":\"%s\",\"iterations\":%llu,\"late\":%llu"
	       ",\"late_us\":%d", device_host(r->load.device), (unsigned long long)out->calls,
	       (unsigned long long)out->late, INVERSION_LATE_US);
	printf(",\"p50_us\":%.3f,\"p99_us\":%.3f,\"max_us\":%.3f,\"sent\":%llu", out->median_us,
	       out->p99_us, out->worst_us, (unsigned long long)out->sent);
	printf(",\"reclaim_hz\":%u,\"ticks_per_s\":%.1f,\"fifo_share\":%.3f,\"pinned\":true}\n",
	       r->load.disturb.hz, out->ticks_per_s, out->fifo_share);
}

static int measure(struct request *r)
{
	struct inversion_outcome out;

	if (!r->json)
		printf("%-20s %8s %8s %9s %9s %9s %8s %8s %8s\n", "real-time calls", "calls",
		       ">10 ms", "p50 us", "p99 us", "worst us", "sent", "drops/s", "rt share");
	for (int run = 0; run < r->runs; run++) {
		for (int dropping = 0; dropping < 2; dropping++) {
			if (r->skip[dropping])
				continue;
			r->load.disturb.hz = dropping ? r->hz : 0;
			if (inversion_measure(&r->load, &out))
				return EXIT_FAILED;
			print_run(r, &out);
			fflush(stdout);
		}
	}
	return EXIT_OK;
}

/** bench_inversion() - with caches dropped and without, in turns. */
int bench_inversion(int argc, char **argv)
{
	struct request r = {
		.load = { .device = DEVICE_DEFAULT, .duration_ms = 10000 },
		.hz = 100,
		.runs = 1,
	};
	int code = parse(&r, argc, argv);

	if (code)
		return code;
	if (r.help) {
		fputs(help, stdout);
		return EXIT_OK;
	}
	if (!device_usable(r.load.device) || (!r.skip[1] && !disturb_usable(r.load.device)))
		return EXIT_FAILED;
	return measure(&r);
}
