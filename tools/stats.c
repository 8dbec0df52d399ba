// SPDX-License-Identifier: MIT
/* `anybinder stats`: the driver's counters, and what they are a second. */
#include "tools/stats.h"
#include "tools/decode.h"
#include "tools/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_MAX 3600
/* Below that a few more one-way calls fill it. */
#define ONEWAY_SPACE_LOW (64 * 1024)
#define BUFFERS_MANY 100

static const char help[] =
"Usage: anybinder stats [OPTIONS]\n"
"\n"
"The counters of the driver behind a device, of all processes together and of each,\n"
"from its binder_logs (or debugfs for drivers that have no such folder).\n"
"\n"
"      --interval=SECONDS what they grow by, each second, over 1 to 3600 seconds\n"
COMMON_HELP
"\n"
"Exit status: 0 printed, 1 failed, 2 used wrongly.\n";

/* Words for what there are, and for what does not say it in its name. */
static const struct {
	const char *name, *words;
} meanings[] = {
	{ "BC_TRANSACTION", "calls sent" },
	{ "BC_REPLY", "replies sent" },
	{ "BC_FREE_BUFFER", "messages given back" },
	{ "BR_TRANSACTION", "calls delivered" },
	{ "BR_REPLY", "replies delivered" },
	{ "BR_DEAD_REPLY", "calls to the dead, or with no context manager" },
	{ "BR_FAILED_REPLY", "calls that were refused: see failed_transaction_log" },
	{ "BR_FROZEN_REPLY", "calls to the frozen" },
	{ "BR_DEAD_BINDER", "death notices" },
	{ "BR_SPAWN_LOOPER", "threads asked for" },
	{ "BR_ONEWAY_SPAM_SUSPECT", "senders of too many one-way calls" },
	{ "proc", "processes that have a device open" },
	{ "thread", "their threads" },
	{ "node", "objects that somebody offers" },
	{ "ref", "handles to them" },
	{ "death", "death links" },
	{ "transaction", "calls under way" },
	{ "transaction_complete", "senders to be told that theirs was taken" },
};

static const char *meaning(const char *name)
{
	struct meaning found[MEANINGS_MAX];

	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++) {
		if (!strcmp(meanings[i].name, name))
			return meanings[i].words;
	}
	return decode_name(name, found) && found[0].words ? found[0].words : "";
}

/* ---- reading ---------------------------------------------------------------- */

/* Beside the device, or where older drivers have it. */
static FILE *open_stats(const char *device)
{
	static const char *const elsewhere[] = {
		"/sys/kernel/debug/anybinder/stats", "/sys/kernel/debug/binder/stats",
	};
	const char *slash = strrchr(device, '/');
	char path[512];
	FILE *file;
	int error;

	snprintf(path, sizeof(path), "%.*s/binder_logs/stats",
		 slash ? (int)(slash - device) : 1, slash ? device : ".");
	file = fopen(path, "re");
	error = errno;
	for (size_t i = 0; !file && error != EACCES && i < 2; i++)
		file = fopen(elsewhere[i], "re");
	if (file)
		return file;
	if (access(device, F_OK)) {
		device_usable(device);
		return NULL;
	}
	fprintf(stderr, "anybinder: %s: %s; ", path, strerror(error));
	if (error == EACCES)
		fputs("only root and the driver's group may read it: sudo anybinder stats\n", stderr);
	else
		fputs("nor are there counters in debugfs. For a kernel's binderfs: umount it, and "
		      "mount -t binder -o stats=global binder DIRECTORY; without binderfs: mount -t "
		      "debugfs none /sys/kernel/debug\n", stderr);
	return NULL;
}

static int get_stats(const char *device, struct stats *stats)
{
	FILE *file = open_stats(device);
	int ret;

	*stats = (struct stats){ 0 };
	if (!file)
		return EXIT_FAILED;
	ret = stats_read(stats, file);
	fclose(file);
	if (!ret)
		return EXIT_OK;
	fprintf(stderr, "anybinder: the counters of %s: %s\n", device, ret == -ENODATA ?
		"there are none in its binder_logs/stats; is it a binder driver's?" : strerror(-ret));
	return EXIT_FAILED;
}

/* ---- printing ---------------------------------------------------------------- */

/** struct growth - what is printed: @now, or by how much it grew since @before, each second */
struct growth {
	const struct common *common;
	const struct stats *before, *now;
	double seconds;
};

static double grown(const struct growth *g, double before, double now)
{
	return g->before ? (now - before) / g->seconds : now;
}

static void print_counters(const struct growth *g)
{
	struct json_object *json = g->common->json ? json_object_new_object() : NULL;

	if (json)
		json_object_object_add(json, "per_second", json_object_new_boolean(!!g->before));
	for (size_t i = 0; i < g->now->nr; i++) {
		const struct counter *c = &g->now->counters[i];
		bool rate = g->before && !c->gauge;
		double before = g->before ? (double)stats_counter(g->before, c->name) : 0;
		double value = rate ? grown(g, before, (double)c->value) : (double)c->value;

		if (json)
			json_object_object_add(json, c->name, rate ? json_object_new_double(value) :
					       json_object_new_int64((int64_t)c->value));
		else
			printf("%14.*f  %-32s %s%s\n", rate ? 1 : 0, value, c->name, meaning(c->name),
			       rate ? ", a second" : "");
	}
	if (json)
		json_line(json);
}

static void find_program(long pid, char comm[32])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	file = fopen(path, "re");
	if (!file || !fgets(comm, 32, file))
		strcpy(comm, "?");
	comm[strcspn(comm, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* What is not well about a process, or "". */
static void remark(const struct process_stats *p, char text[200])
{
	text[0] = '\0';
	if (p->unread > 0 && !p->ready)
		snprintf(text, 200, "all its threads are busy, and %ld calls wait", p->unread);
	else if (p->oneway_space >= 0 && p->oneway_space < ONEWAY_SPACE_LOW)
		snprintf(text, 200, "its space for one-way calls is nearly full");
	else if (p->buffers > BUFFERS_MANY)
		snprintf(text, 200, "it has not given back %ld messages", p->buffers);
}

static void print_process_json(const struct process_stats *p, const char *comm, const char *words,
			       double sent, double received)
{
	const struct {
		const char *name;
		long long value;
	} numbers[] = {
		{ "threads", p->threads }, { "ready", p->ready }, { "spawned", p->started },
		{ "spawned_max", p->most }, { "objects", p->objects }, { "handles", p->handles },
		{ "buffers", p->buffers }, { "waiting", p->unread }, { "oneway_space", p->oneway_space },
	};
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "pid", json_object_new_int64(p->pid));
	json_object_object_add(json, "program", json_object_new_string(comm));
	json_object_object_add(json, "context", json_object_new_string(p->context));
	json_object_object_add(json, "sent", json_object_new_double(sent));
	json_object_object_add(json, "received", json_object_new_double(received));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_object_add(json, numbers[i].name, numbers[i].value < 0 ? NULL :
				       json_object_new_int64(numbers[i].value));
	json_object_object_add(json, "remark", words[0] ? json_object_new_string(words) : NULL);
	json_line(json);
}

/* Some drivers do not tell all. */
static const char *number(long value, char text[24])
{
	if (value < 0)
		return "-";
	snprintf(text, 24, "%ld", value);
	return text;
}

static void print_process(const struct growth *g, const struct process_stats *p)
{
	const struct process_stats *before = g->before ? stats_process(g->before, p) : NULL;
	double sent = grown(g, before ? (double)before->sent : 0, (double)p->sent);
	double received = grown(g, before ? (double)before->received : 0, (double)p->received);
	char comm[32], words[200], texts[6][24];

	find_program(p->pid, comm);
	remark(p, words);
	if (g->common->json)
		return print_process_json(p, comm, words, sent, received);
	printf("%7ld %-16s %-12s %7s %6s %8s %8s %8s %8s %10.*f %10.*f%s%s\n", p->pid, comm,
	       p->context, number(p->threads, texts[0]), number(p->ready, texts[1]),
	       number(p->objects, texts[2]), number(p->handles, texts[3]),
	       number(p->buffers, texts[4]), number(p->unread, texts[5]),
	       g->before ? 1 : 0, sent, g->before ? 1 : 0, received, words[0] ? "  " : "", words);
}

static void print(const struct growth *g)
{
	print_counters(g);
	if (!g->common->json && g->now->nr_processes)
		printf("\n%7s %-16s %-12s %7s %6s %8s %8s %8s %8s %10s %10s\n", "PID", "PROGRAM",
		       "DEVICE", "THREADS", "READY", "OBJECTS", "HANDLES", "BUFFERS", "WAITING",
		       g->before ? "SENT/s" : "SENT", g->before ? "RECEIVED/s" : "RECEIVED");
	for (size_t i = 0; i < g->now->nr_processes; i++)
		print_process(g, &g->now->processes[i]);
}

static int show_growth(const struct common *common, unsigned int interval_s)
{
	struct stats before, now;
	struct growth growth = { common, &before, &now, 0 };
	struct timespec begin, end;
	int code = get_stats(common->device, &before);

	if (code)
		return code;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	nanosleep(&(struct timespec){ .tv_sec = interval_s }, NULL);
	code = get_stats(common->device, &now);
	clock_gettime(CLOCK_MONOTONIC, &end);
	growth.seconds = (double)(end.tv_sec - begin.tv_sec) +
			 (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	if (!code)
		print(&growth);
	stats_fini(&before);
	stats_fini(&now);
	return code;
}

static int show(const struct common *common)
{
	struct stats now;
	int code = get_stats(common->device, &now);

	if (!code)
		print(&(struct growth){ common, NULL, &now, 0 });
	stats_fini(&now);
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
	return interval_s ? show_growth(&common, (unsigned int)interval_s) : show(&common);
}
