// SPDX-License-Identifier: MIT
/* `anybinder wait`: until a service is there, in place of loops that poll. */
#include "tools/progress.h"
#include "tools/target.h"

#include <stdio.h>
#include <string.h>

#define SECONDS_MAX 86400
#define STEP_MS 500

static const char help[] =
"Usage: anybinder wait [OPTIONS] [NAME]\n"
"\n"
"Wait until a service is registered, or without a name until there is a context manager.\n"
"\n"
"      --timeout=SECONDS  how long at most, 0 to 86400 (default: for ever)\n"
COMMON_HELP
"\n"
"Exit status: 0 it is there, 1 it is not, 2 used wrongly.\n";

static int wait_step(ab_conn *conn, const char *name, int ms)
{
	ab_object *object = NULL;
	int ret = name ? ab_service_wait(conn, name, ms, &object) : ab_manager_wait(conn, ms);

	ab_object_put(object);
	return ret;
}

/* In steps, so that a bar at a terminal can grow. */
static int wait_all(ab_conn *conn, const char *name, long timeout_ms)
{
	struct progress progress = { 0 };
	long waited = 0;
	int ret;

	if (timeout_ms < 0)
		return wait_step(conn, name, -1);
	progress_begin(&progress, (unsigned long)(timeout_ms / STEP_MS + 1));
	do {
		long left = timeout_ms - waited;

		progress_step(&progress, "waiting for %s", target_text(name));
		ret = wait_step(conn, name, (int)(left < STEP_MS ? left : STEP_MS));
		waited += STEP_MS;
	} while (ret == -ETIMEDOUT && waited < timeout_ms);
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

static int wait_for(const struct common *common, const char *name, long timeout_ms)
{
	ab_conn *conn;
	int code = common_open(common, &conn), ret;

	if (code)
		return code;
	ret = wait_all(conn, name, timeout_ms);
	if (!ret) {
		print_there(common, name);
	} else if (ret == -ETIMEDOUT) {
		fprintf(stderr, "anybinder: %s is not there after %ld seconds; `anybinder doctor` "
			"looks for a reason\n", target_text(name), timeout_ms / 1000);
		code = EXIT_FAILED;
	} else {
		code = common_error(common, conn, ret, "wait for %s", target_text(name));
	}
	ab_close(conn);
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
	struct common common = { .name = "wait", .device = DEVICE_DEFAULT };
	unsigned long long seconds;
	long timeout_ms = -1;
	int opt, code;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 't') {
			if (!parse_number(optarg, 0, SECONDS_MAX, &seconds))
				return usage_error("wait ", "--timeout=%s: 0 to %d seconds", optarg,
						   SECONDS_MAX);
			timeout_ms = (long)seconds * 1000;
			continue;
		}
		code = common_option(&common, opt, help);
		if (code != COMMON_NEXT)
			return code;
	}
	if (optind + 1 < argc)
		return usage_error("wait ", "what is \"%s\"?", argv[optind + 1]);
	return wait_for(&common, argv[optind], timeout_ms);
}
