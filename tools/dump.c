// SPDX-License-Identifier: MIT
/* `anybinder dump`: ask a service to print its state. */
#include "tools/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char help[] =
"Usage: anybinder dump [OPTIONS] [NAME [WORD...]]\n"
"\n"
"Ask a service, or without a name the context manager, to print its state.\n"
"Further words go to the service.\n"
"\n"
COMMON_HELP
"\n"
"Exit status: 0 printed, 1 failed, 2 used wrongly.\n";

/* As one string: what the service prints goes into a file first. */
static int dump_json(const struct common *common, ab_conn *conn, ab_object *object,
		     const char *name, char **words, size_t nr_words)
{
	struct json_object *json;
	FILE *file = tmpfile();
	char *text = NULL;
	size_t size = 0;
	int ret = file ? ab_dump(object, fileno(file), (const char *const *)words, nr_words)
		       : -errno;

	if (!ret) {
		rewind(file);
		if (getdelim(&text, &size, '\0', file) < 0) {
			free(text);
			text = NULL;
		}
		json = json_object_new_object();
		json_object_object_add(json, "name", name ? json_object_new_string(name) : NULL);
		json_object_object_add(json, "dump", json_object_new_string(text ? text : ""));
		json_line(json);
		free(text);
	}
	if (file)
		fclose(file);
	return ret ? common_error(common, conn, ret, "dump %s", target_text(name)) : EXIT_OK;
}

static int dump(const struct common *common, ab_conn *conn, ab_object *object, const char *name,
		char **words, size_t nr_words)
{
	int ret;

	if (common->json)
		return dump_json(common, conn, object, name, words, nr_words);
	ret = ab_dump(object, STDOUT_FILENO, (const char *const *)words, nr_words);
	return ret ? common_error(common, conn, ret, "dump %s", target_text(name)) : EXIT_OK;
}

/** command_dump() - print a service's state. */
int command_dump(int argc, char **argv)
{
	static const struct option options[] = { COMMON_OPTIONS, { 0 } };
	struct common common = { .name = "dump", .device = DEVICE_DEFAULT };
	ab_object *object = NULL;
	const char *name;
	ab_conn *conn;
	int opt, code;

	/* Words of the service's may begin with a dash. */
	while ((opt = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		code = common_option(&common, opt, help);
		if (code != COMMON_NEXT)
			return code;
	}
	name = argv[optind];
	optind += !!name;
	code = common_open(&common, &conn);
	if (code)
		return code;
	code = target_find(&common, conn, name, &object);
	if (!code)
		code = dump(&common, conn, object, name, argv + optind, (size_t)(argc - optind));
	ab_object_put(object);
	ab_close(conn);
	return code;
}
