/* SPDX-License-Identifier: MIT */
/* What all subcommands that talk to a device share: options, opening, results as JSON. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <getopt.h>
#include <json-c/json.h>
#include <stdbool.h>

#include "anybinder.h"

#include "tools/command.h"

/** struct common - options of every such subcommand */
struct common {
	const char *name; /* of the subcommand */
	const char *device;
	enum ab_variant android;
	bool json;
};

/* Long options, for the front of a table, and what getopt_long() returns for them. */
#define COMMON_OPTIONS                                   \
	{ "device", required_argument, NULL, 'D' },      \
	{ "android", required_argument, NULL, 'A' },     \
	{ "json", no_argument, NULL, 'J' },              \
	{ "help", no_argument, NULL, 'h' }

#define COMMON_HELP                                                                        \
"      --device=PATH      binder device (default " DEVICE_DEFAULT ")\n"                     \
"      --android=VERSION  speak like Android 8 to 16, or an API level (default 13)\n"       \
"      --json             one JSON object a line\n"                                         \
"      --help             print this text\n"

#define COMMON_NEXT (-1) /* of common_option(): go on */

/**
 * common_option() - take one of COMMON_OPTIONS
 * @common: to be filled
 * @option: from getopt_long(), also '?'
 * @help: what --help prints
 *
 * Return: COMMON_NEXT, or the exit code to end with (after a message or the help).
 */
int common_option(struct common *common, int option, const char *help);

/**
 * common_open() - open the device, or say why not and what to do
 * Return: an exit code; @conn is for ab_close() if that is EXIT_OK.
 */
int common_open(const struct common *common, ab_conn **conn);

/** common_error() - say what went wrong, in the library's words. Return: EXIT_FAILED. */
int common_error(const struct common *common, ab_conn *conn, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/** json_line() - print an object as one line and let go of it */
void json_line(struct json_object *object);

#endif
