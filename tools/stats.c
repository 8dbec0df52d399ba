// SPDX-License-Identifier: MIT
/* `anybinder stats`: the driver's counters, and what they are a second. */
#include "tools/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INTERVAL_MAX 3600
#define COUNTERS_MAX 80
#define NAME_MAX_CHARS 48

static const char help[] =
"Usage: anybinder stats [OPTIONS]\n"
"\n"
"The counters of the driver behind a device, all processes together, from its\n"
"binder_logs (or debugfs for drivers that have no such folder).\n"
"\n"
"      --interval=SECONDS what they grow by, each second, over 1 to 3600 seconds\n"
COMMON_HELP
"\n"
"Exit status: 0 printed, 1 failed, 2 used wrongly.\n";

struct counter {
	char name[NAME_MAX_CHARS];
	unsigned long long value;
	bool gauge; /* how many there are now, and not how often something happened */
};

struct stats {
	struct counter counters[COUNTERS_MAX];
	size_t nr;
};

/* Words for what people look for first. */
static const struct {
	const char *name, *words;
} meanings[] = {
	{ "BC_TRANSACTION", "calls sent" },
	{ "BC_REPLY", "replies sent" },
	{ "BR_DEAD_REPLY", "calls to the dead, or with no context manager" },
	{ "BR_FAILED_REPLY", "calls that were refused: see failed_transaction_log" },
	{ "BR_FROZEN_REPLY", "calls to the frozen" },
	{ "BR_DEAD_BINDER", "death notices" },
	{ "BR_SPAWN_LOOPER", "threads asked for" },
	{ "BR_ONEWAY_SPAM_SUSPECT", "senders of too many one-way calls" },
	{ "proc", "processes that have the device open" },
	{ "thread", "their threads" },
	{ "node", "objects that somebody offers" },
	{ "ref", "handles to them" },
	{ "death", "death links" },
	{ "transaction", "calls under way" },
};

static const char *meaning(const char *name)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++) {
		if (!strcmp(meanings[i].name, name))
			return meanings[i].words;
	}
	return "";
}

/* ---- reading ---------------------------------------------------------------- */

/* The part about all processes comes first, and ends where a process begins. */
static void read_stats(FILE *file, struct stats *stats)
{
	char line[256];

	stats->nr = 0;
	while (stats->nr < COUNTERS_MAX && fgets(line, sizeof(line), file)) {
		struct counter *counter = &stats->counters[stats->nr];
		unsigned long long total;

		if (!strncmp(line, "proc ", 5))
			break;
		if (sscanf(line, "%47[A-Za-z_]: active %llu total %llu", counter->name,
			   &counter->value, &total) == 3) {
			counter->gauge = true;
			stats->nr++;
		} else if (sscanf(line, "%47[A-Z_]: %llu", counter->name, &counter->value) == 2) {
			counter->gauge = false;
			stats->nr++;
		}
	}
}

/* Beside the device, or where older drivers have it. */
static FILE *open_stats(const char *device)
{
	static const char *const elsewhere[] = {
		"/sys/kernel/debug/anybinder/stats", "/sys/kernel/debug/binder/stats",
	};
	const char *slash = strrchr(device, '/');
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%.*s/binder_logs/stats",
		 slash ? (int)(slash - device) : 1, slash ? device : ".");
	file = fopen(path, "re");
	for (size_t i = 0; !file && errno != EACCES && i < 2; i++)
		file = fopen(elsewhere[i], "re");
	if (!file)
		fprintf(stderr, "anybinder: %s: %s; there is no other place for its counters: mount "
			"binderfs with -o stats=global, or debugfs (mount -t debugfs none "
			"/sys/kernel/debug), or be root\n", path, strerror(errno));
	return file;
}

static int get_stats(const char *device, struct stats *stats)
{
	FILE *file = open_stats(device);

	if (!file)
		return EXIT_FAILED;
	read_stats(file, stats);
	fclose(file);
	if (stats->nr)
		return EXIT_OK;
	fprintf(stderr, "anybinder: %s: the driver's counters make no sense\n", device);
	return EXIT_FAILED;
}

/* ---- printing ---------------------------------------------------------------- */

static unsigned long long value_in(const struct stats *stats, const char *name)
{
	for (size_t i = 0; i < stats->nr; i++) {
		if (!strcmp(stats->counters[i].name, name))
			return stats->counters[i].value;
	}
	return 0;
}

static void print(const struct common *common, const struct stats *before,
		  const struct stats *stats, double seconds)
{
	struct json_object *json = common->json ? json_object_new_object() : NULL;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct counter *counter = &stats->counters[i];
		double value = (double)counter->value;

		if (before && !counter->gauge)
			value = (value - (double)value_in(before, counter->name)) / seconds;
		if (json)
			json_object_object_add(json, counter->name, json_object_new_double(value));
		else
			printf("%-36s %14.*f  %s\n", counter->name,
			       before && !counter->gauge ? 1 : 0, value, meaning(counter->name));
	}
	if (json)
		json_line(json);
}

static int show(const struct common *common, unsigned int interval_s)
{
	struct stats stats, before;
	struct timespec begin, end;
	int code = get_stats(common->device, &stats);

	if (code || !interval_s) {
		if (!code)
			print(common, NULL, &stats, 0);
		return code;
	}
	before = stats;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	nanosleep(&(struct timespec){ .tv_sec = interval_s }, NULL);
	code = get_stats(common->device, &stats);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (!code)
		print(common, &before, &stats, (double)(end.tv_sec - begin.tv_sec) +
		      (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	return code;
}

/** command_stats() - print the driver's counters. */
int command_stats(int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_OPTIONS,
		{ "interval", required_argument, NULL, 'i' },
		{ 0 },
	};
	struct common common = { .name = "stats", .device = DEVICE_DEFAULT };
	unsigned long long interval_s = 0;
	int opt, code;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'i') {
			if (!parse_number(optarg, 1, INTERVAL_MAX, &interval_s))
				return usage_error("stats ", "--interval=%s: 1 to %d seconds", optarg,
						   INTERVAL_MAX);
			continue;
		}
		code = common_option(&common, opt, help);
		if (code != COMMON_NEXT)
			return code;
	}
	if (optind < argc)
		return usage_error("stats ", "what is \"%s\"?", argv[optind]);
	return show(&common, (unsigned int)interval_s);
}
