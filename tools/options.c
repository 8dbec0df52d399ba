// SPDX-License-Identifier: MIT
#include "tools/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int common_option(struct common *common, int option, const char *help)
{
	char where[40];

	snprintf(where, sizeof(where), "%s ", common->name);
	switch (option) {
	case 'D':
		common->device = optarg;
		return COMMON_NEXT;
	case 'A':
		if (!ab_variant_parse(optarg, &common->android))
			return COMMON_NEXT;
		return usage_error(where, "--android=%s: there are 8 to 16, and API levels", optarg);
	case 'J':
		common->json = true;
		return COMMON_NEXT;
	case 'h':
		fputs(help, stdout);
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

/* What helps against an error of opening. */
static const char *open_mend(int error)
{
	switch (error) {
	case -ENOENT:
		return "; start anybinderd, or name a device with --device";
	case -EACCES:
	case -EPERM:
		return "; it is not yours to open: see its mode and owner";
	case -ENOTCONN:
		return "; the daemon that served it has gone: unmount it and start anybinderd";
	default:
		return "";
	}
}

int common_open(const struct common *common, ab_conn **conn)
{
	struct ab_options options = { .variant = common->android };
	int ret = ab_open(conn, common->device, &options);

	if (!ret)
		return EXIT_OK;
	fprintf(stderr, "anybinder: %s: %s%s; `anybinder doctor --device=%s` looks closer\n",
		common->device, ab_strerror(ret), open_mend(ret), common->device);
	return EXIT_FAILED;
}

int common_error(const struct common *common, ab_conn *conn, int error, const char *format, ...)
{
	char text[400];
	va_list args;

	fputs("anybinder: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s", ab_error_text(conn, error, text, sizeof(text)));
	if (error == -EREMOTEIO || error == -EOPNOTSUPP || error == AB_BAD_TYPE ||
	    error == AB_UNKNOWN_TRANSACTION)
		fprintf(stderr, " (speaking Android %s; --android chooses another)",
			ab_variant_name(common->android));
	fputc('\n', stderr);
	return EXIT_FAILED;
}

void json_line(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}
