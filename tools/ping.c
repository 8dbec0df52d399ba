// SPDX-License-Identifier: MIT
/* `anybinder ping`: does an object answer, and how fast? */
#include "tools/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COUNT_MAX 1000000
#define INTERVAL_MS_DEFAULT 1000
#define INTERVAL_MS_MAX 3600000

static const char help[] =
"Usage: anybinder ping [OPTIONS] [NAME]\n"
"\n"
"Call a service, or without a name the context manager, and say how long it takes.\n"
"\n"
"  -c, --count=N          so many times (default 1; 0: until interrupted)\n"
"  -i, --interval=MS      milliseconds between them (default 1000)\n"
COMMON_HELP
"\n"
"Exit status: 0 all were answered, 1 not, 2 used wrongly.\n";

struct request {
	struct common common;
	const char *name;
	unsigned long long count, interval_ms;
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void print_one(const struct request *r, unsigned long long nr, double us)
{
	struct json_object *json;

	if (!r->common.json) {
		printf("%s: %.0f us\n", target_text(r->name), us);
		fflush(stdout);
		return;
	}
	json = json_object_new_object();
	json_object_object_add(json, "ping", json_object_new_string(target_text(r->name)));
	json_object_object_add(json, "seq", json_object_new_int64((int64_t)nr));
	json_object_object_add(json, "us", json_object_new_double(us));
	json_line(json);
	fflush(stdout);
}

static void print_sum(const struct request *r, unsigned long long nr, double least, double most,
		      double sum)
{
	if (!r->common.json && nr > 1)
		printf("%llu answered; %.0f us the fastest, %.0f on average, %.0f the slowest\n", nr,
		       least, sum / (double)nr, most);
}

static int ping(const struct request *r, ab_conn *conn, ab_object *object)
{
	double least = 0, most = 0, sum = 0;
	unsigned long long nr;

	for (nr = 0; !r->count || nr < r->count; nr++) {
		struct timespec pause = { .tv_sec = (time_t)(r->interval_ms / 1000),
					  .tv_nsec = (long)(r->interval_ms % 1000) * 1000000 };
		double begin, us;
		int ret;

		if (nr)
			nanosleep(&pause, NULL);
		begin = now_us();
		ret = ab_ping(object);
		us = now_us() - begin;
		if (ret) {
			print_sum(r, nr, least, most, sum);
			return common_error(&r->common, conn, ret, "%s does not answer",
					    target_text(r->name));
		}
		least = !nr || us < least ? us : least;
		most = us > most ? us : most;
		sum += us;
		print_one(r, nr, us);
	}
	print_sum(r, nr, least, most, sum);
	return EXIT_OK;
}

static int parse(struct request *r, int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_OPTIONS,
		{ "count", required_argument, NULL, 'c' },
		{ "interval", required_argument, NULL, 'i' },
		{ 0 },
	};
	int opt, code;

	while ((opt = getopt_long(argc, argv, "c:i:", options, NULL)) != -1) {
		if (opt == 'c') {
			if (!parse_number(optarg, 0, COUNT_MAX, &r->count))
				return usage_error("ping ", "-c %s: 0 to %d", optarg, COUNT_MAX);
		} else if (opt == 'i') {
			if (!parse_number(optarg, 0, INTERVAL_MS_MAX, &r->interval_ms))
				return usage_error("ping ", "-i %s: 0 to %d ms", optarg,
						   INTERVAL_MS_MAX);
		} else {
			code = common_option(&r->common, opt, help);
			if (code != COMMON_NEXT)
				return code;
		}
	}
	r->name = argv[optind];
	if (r->name && argv[optind + 1])
		return usage_error("ping ", "what is \"%s\"?", argv[optind + 1]);
	return COMMON_NEXT;
}

/** command_ping() - ping a service. */
int command_ping(int argc, char **argv)
{
	struct request r = { .common = { .name = "ping", .device = DEVICE_DEFAULT }, .count = 1,
			     .interval_ms = INTERVAL_MS_DEFAULT };
	int code = parse(&r, argc, argv);
	ab_object *object = NULL;
	ab_conn *conn;

	if (code != COMMON_NEXT)
		return code;
	code = common_open(&r.common, &conn);
	if (code)
		return code;
	code = target_find(&r.common, conn, r.name, &object);
	if (!code)
		code = ping(&r, conn, object);
	ab_object_put(object);
	ab_close(conn);
	return code;
}
