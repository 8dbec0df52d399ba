// SPDX-License-Identifier: MIT
/* `anybinder ping`: does an object answer, and how fast? */
#include "tools/target.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COUNT_MAX 1000000
#define INTERVAL_MS_DEFAULT 1000
#define INTERVAL_MS_MAX 3600000
#define TIMEOUT_DEFAULT 10
#define TIMEOUT_MAX 86400

static const char help[] =
"Usage: anybinder ping [OPTIONS] [NAME]\n"
"\n"
"Call a service, or without a name the context manager, and say how long it takes.\n"
"\n"
"  -c, --count=N          so many times (default 1; 0: until interrupted)\n"
"  -i, --interval=MS      milliseconds between them (default 1000)\n"
"      --timeout=SECONDS  wait so long for an answer (default 10; 0: for ever)\n"
COMMON_HELP
"\n"
"Exit status: 0 all were answered, 1 not, 2 used wrongly.\n";

/**
 * struct request - what is wanted, and what came of it
 * @us: the times of @answered calls
 */
struct request {
	struct common common;
	const char *name;
	unsigned long long count, interval_ms, timeout_s;
	double *us;
	size_t sent, answered;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = 1;
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* ---- printing ---------------------------------------------------------------- */

/* To nanoseconds: what the clock has not need not be printed. */
static double rounded(double us)
{
	return (double)(long long)(us * 1000) / 1000;
}

static void print_one(const struct request *r, double us)
{
	struct json_object *json;

	if (!r->common.json) {
		printf("%s: seq=%zu time=%.0f us\n", target_text(r->name), r->sent, us);
		fflush(stdout);
		return;
	}
	json = json_object_new_object();
	json_object_object_add(json, "ping", json_object_new_string(target_text(r->name)));
	json_object_object_add(json, "seq", json_object_new_int64((int64_t)r->sent));
	json_object_object_add(json, "us", json_object_new_double(rounded(us)));
	json_line(json);
	fflush(stdout);
}

static void print_sum(struct request *r)
{
	static const char *const names[] = { "min_us", "median_us", "avg_us", "max_us" };
	double sum = 0, values[4] = { 0 };
	struct json_object *json;

	qsort(r->us, r->answered, sizeof(*r->us), compare);
	for (size_t i = 0; i < r->answered; i++)
		sum += r->us[i];
	if (r->answered) {
		values[0] = r->us[0];
		values[1] = r->us[r->answered / 2];
		values[2] = sum / (double)r->answered;
		values[3] = r->us[r->answered - 1];
	}
	if (!r->common.json) {
		printf("%zu sent, %zu answered", r->sent, r->answered);
		if (r->answered)
			printf("; min/median/avg/max %.0f/%.0f/%.0f/%.0f us", values[0], values[1],
			       values[2], values[3]);
		putchar('\n');
		return;
	}
	json = json_object_new_object();
	json_object_object_add(json, "sent", json_object_new_int64((int64_t)r->sent));
	json_object_object_add(json, "answered", json_object_new_int64((int64_t)r->answered));
	for (size_t i = 0; r->answered && i < 4; i++)
		json_object_object_add(json, names[i], json_object_new_double(rounded(values[i])));
	json_line(json);
}

/* ---- calling ---------------------------------------------------------------- */

/* Once. A service that died may be another process by the next time, so it is found anew. */
static void ping_once(struct request *r, ab_conn *conn, ab_object **object)
{
	double begin;
	int ret;

	r->sent++;
	target_deadline(r->name, (unsigned int)r->timeout_s);
	if (!*object && target_find(&r->common, conn, r->name, object))
		return target_deadline(NULL, 0);
	begin = now_us();
	ret = ab_ping(*object);
	target_deadline(NULL, 0);
	if (!ret) {
		r->us[r->answered++] = now_us() - begin;
		print_one(r, r->us[r->answered - 1]);
		return;
	}
	if (ret == -EPIPE && !r->name)
		target_lost(&r->common);
	else
		common_error(&r->common, conn, ret, "%s does not answer", target_text(r->name));
	ab_object_put(*object);
	*object = NULL;
}

static int ping(struct request *r, ab_conn *conn)
{
	struct timespec pause = { .tv_sec = (time_t)(r->interval_ms / 1000),
				  .tv_nsec = (long)(r->interval_ms % 1000) * 1000000 };
	/* The first one ends it with a sum, the second at once. */
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
	size_t most = r->count ? (size_t)r->count : COUNT_MAX;
	ab_object *object = NULL;

	r->us = malloc(most * sizeof(*r->us));
	if (!r->us)
		return common_error(&r->common, conn, -ENOMEM, "ping");
	sigaction(SIGINT, &action, NULL);
	while (!interrupted && r->sent < most) {
		if (r->sent)
			nanosleep(&pause, NULL);
		if (!interrupted)
			ping_once(r, conn, &object);
	}
	ab_object_put(object);
	if (most > 1 || r->common.json)
		print_sum(r);
	free(r->us);
	return r->answered == r->sent ? EXIT_OK : EXIT_FAILED;
}

static int parse(struct request *r, int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_OPTIONS,
		{ "count", required_argument, NULL, 'c' },
		{ "interval", required_argument, NULL, 'i' },
		{ "timeout", required_argument, NULL, 't' },
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
		} else if (opt == 't') {
			if (!parse_number(optarg, 0, TIMEOUT_MAX, &r->timeout_s))
				return usage_error("ping ", "--timeout=%s: 0 to %d seconds", optarg,
						   TIMEOUT_MAX);
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
			     .interval_ms = INTERVAL_MS_DEFAULT, .timeout_s = TIMEOUT_DEFAULT };
	int code = parse(&r, argc, argv);
	ab_conn *conn;

	if (code != COMMON_NEXT)
		return code;
	code = common_open(&r.common, &conn);
	if (code)
		return code;
	code = ping(&r, conn);
	ab_close(conn);
	return code;
}
