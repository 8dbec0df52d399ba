// SPDX-License-Identifier: MIT
/* `anybinder wait`: until a service is there, in place of loops that poll. */
#include "tools/progress.h"
#include "tools/target.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_MAX 86400
#define STEP_MS 500
#define POLL_MS 100 /* for the device */

static const char help[] =
"Usage: anybinder wait [OPTIONS] [NAME]\n"
"\n"
"Wait until a service is registered, or without a name until there is a context manager\n"
"that answers; also for the device itself.\n"
"\n"
"      --timeout=SECONDS  how long at most, 0 to 86400 (default: for ever)\n"
COMMON_HELP
"\n"
"Exit status: 0 it is there, 1 it is not, 2 used wrongly.\n";

/**
 * struct waiting - for whom, and how long
 * @name: NULL: the context manager
 * @conn: NULL: the device is not there, either
 * @timeout_ms: negative: for ever
 */
struct waiting {
	struct common common;
	const char *name;
	ab_conn *conn;
	int timeout_ms;
	int64_t begin_ms;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Return: 0; -ETIMEDOUT: it is not there yet, or its daemon is not; why it never can be. */
static int open_device(struct waiting *w, int ms)
{
	struct ab_options options = { .variant = w->common.android };
	struct timespec pause = { .tv_nsec = (ms < POLL_MS ? ms : POLL_MS) * 1000000L };
	int ret = ab_open(&w->conn, w->common.device, &options);

	if (ret)
		w->conn = NULL;
	if (ret == -ENOENT || ret == -ENOTCONN || ret == -ENODEV || ret == -ENXIO) {
		nanosleep(&pause, NULL);
		return -ETIMEDOUT;
	}
	/* A thread that serves is told of the service; without one it would be asked for. */
	return !ret && w->name ? ab_pool_start(w->conn) : ret;
}

static int wait_step(struct waiting *w, int ms)
{
	ab_object *object = NULL;
	int ret = w->conn ? 0 : open_device(w, ms);

	if (ret)
		return ret;
	ret = w->name ? ab_service_wait(w->conn, w->name, ms, &object)
		      : ab_manager_wait(w->conn, ms);
	ab_object_put(object);
	if (ret != -ENOTCONN)
		return ret;
	/* The daemon has gone; there may be another. */
	ab_close(w->conn);
	w->conn = NULL;
	return -ETIMEDOUT;
}

/* At a terminal in steps, so that a bar can grow. */
static int wait_all(struct waiting *w)
{
	bool watched = isatty(STDERR_FILENO);
	struct progress progress = { 0 };
	int64_t waited = 0;
	int ret;

	if (w->timeout_ms > 0)
		progress_begin(&progress, (unsigned long)(w->timeout_ms / STEP_MS + 1));
	do {
		int64_t left = w->timeout_ms < 0 ? INT32_MAX : w->timeout_ms - waited;

		progress.done = (unsigned long)(waited / STEP_MS);
		progress_step(&progress, "waiting for %s", target_text(w->name));
		ret = wait_step(w, (int)(watched && left > STEP_MS ? STEP_MS : left));
		if (ret == -ETIMEDOUT && watched && !waited && w->timeout_ms < 0)
			fprintf(stderr, "waiting for %s\n", target_text(w->name));
		waited = now_ms() - w->begin_ms;
	} while (ret == -ETIMEDOUT && (w->timeout_ms < 0 || waited < w->timeout_ms));
	progress_end(&progress, ret);
	return ret;
}

static void print_there(const struct common *common, const char *name)
{
	struct json_object *json;

	if (!common->json) {
		printf("%s is there\n", target_text(name));
		return;
	}
	json = json_object_new_object();
	json_object_object_add(json, "name", name ? json_object_new_string(name) : NULL);
	json_object_object_add(json, "there", json_object_new_boolean(true));
	json_line(json);
}

/* What is missing: the service, the manager, or even the device? */
static int not_there(struct waiting *w)
{
	bool manager = w->conn && !ab_manager_wait(w->conn, 0);

	fprintf(stderr, "anybinder: %s is not there after %d seconds%s; ", target_text(w->name),
		w->timeout_ms / 1000, !w->conn ? ", nor is the device" :
		w->name && !manager ? ", nor is a service manager" : "");
	if (manager)
		fputs("`anybinder ls` lists the services there are\n", stderr);
	else
		fprintf(stderr, "`anybinder doctor --device=%s` looks for a reason\n",
			w->common.device);
	return EXIT_FAILED;
}

static int wait_for(struct waiting *w)
{
	int ret, code = EXIT_OK;

	w->begin_ms = now_ms();
	ret = wait_all(w);
	if (!ret)
		print_there(&w->common, w->name);
	else if (ret == -ETIMEDOUT)
		code = not_there(w);
	else if (w->conn)
		code = common_error(&w->common, w->conn, ret, "wait for %s", target_text(w->name));
	else
		code = common_open(&w->common, &w->conn); /* says why it does not open */
	ab_close(w->conn);
	return code;
}

/** command_wait() - wait for a service. */
int command_wait(int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_OPTIONS,
		{ "timeout", required_argument, NULL, 't' },
		{ 0 },
	};
	struct waiting w = { .common = { .name = "wait", .device = DEVICE_DEFAULT },
			     .timeout_ms = -1 };
	unsigned long long seconds;
	int opt, code;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 't') {
			if (!parse_number(optarg, 0, SECONDS_MAX, &seconds))
				return usage_error("wait ", "--timeout=%s: 0 to %d seconds", optarg,
						   SECONDS_MAX);
			w.timeout_ms = (int)seconds * 1000;
			continue;
		}
		code = common_option(&w.common, opt, help);
		if (code != COMMON_NEXT)
			return code;
	}
	if (argv[optind] && argv[optind + 1])
		return usage_error("wait ", "what is \"%s\"?", argv[optind + 1]);
	w.name = argv[optind];
	return wait_for(&w);
}
