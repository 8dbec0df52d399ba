// SPDX-License-Identifier: MIT
/* `anybinder decode`: what the numbers in logs mean. */
#include "tools/decode.h"
#include "tools/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"Usage: anybinder decode [OPTIONS] NUMBER...\n"
"       anybinder decode [OPTIONS] - < LOG\n"
"\n"
"Names and words for the numbers that binder's drivers and programs print: returns\n"
"and commands of the driver (29189), ioctls (0xc0306201), errnos (-22), Android's\n"
"status codes, codes of meta calls, types of objects, and pairs (29189/-22).\n"
"With - lines of a log are read, and those that tell of a failed call explained.\n"
"\n"
"      --json             one JSON object a line\n"
"      --help             print this text\n"
"\n"
"Exit status: 0 all are known, 1 some are not, 2 used wrongly.\n";

static void print_meaning(bool json, const char *text, const struct meaning *meaning)
{
	struct json_object *object;

	if (!json) {
		printf("%s: %s (%s)%s%s\n", text, meaning->name, meaning->kind,
		       meaning->words ? ": " : "", meaning->words ? meaning->words : "");
		return;
	}
	object = json_object_new_object();
	json_object_object_add(object, "number", json_object_new_string(text));
	json_object_object_add(object, "kind", json_object_new_string(meaning->kind));
	json_object_object_add(object, "name", json_object_new_string(meaning->name));
	json_object_object_add(object, "words", meaning->words ?
			       json_object_new_string(meaning->words) : NULL);
	json_line(object);
}

/* Return: whether anything is known of it. */
static bool decode_one(bool json, const char *text, int64_t number)
{
	struct meaning meanings[MEANINGS_MAX];
	size_t nr = decode_number(number, meanings);

	for (size_t i = 0; i < nr; i++)
		print_meaning(json, text, &meanings[i]);
	if (!nr)
		fprintf(stderr, "anybinder: %s: not a number of binder's\n", text);
	return nr;
}

/* "29189/-22" is one thing. */
static bool decode_both(bool json, const char *text, uint32_t command, int error)
{
	const char *name = decode_command(command), *errname = strerrorname_np(-error);
	const char *words = decode_pair(command, error);
	struct meaning meanings[MEANINGS_MAX];
	char names[100];

	if (!name)
		return decode_one(json, text, command);
	if (!words && decode_number(error, meanings))
		words = meanings[0].words;
	snprintf(names, sizeof(names), "%s, %s", name, error && errname ? errname : "no errno");
	print_meaning(json, text, &(struct meaning){ "return of the driver, and why", names, words });
	return true;
}

static bool parse_whole(const char *text, int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 0);
	return !errno && end != text && !*end;
}

static int decode_word(bool json, const char *text)
{
	unsigned int command;
	int64_t number;
	int error, len = 0;

	if (sscanf(text, "%u/%d%n", &command, &error, &len) == 2 && !text[len] && text[0] != '-')
		return decode_both(json, text, command, error) ? EXIT_OK : EXIT_FAILED;
	if (!parse_whole(text, &number))
		return usage_error("decode ", "\"%s\" is no number, and no pair like 29189/-22",
				   text);
	return decode_one(json, text, number) ? EXIT_OK : EXIT_FAILED;
}

/* ---- logs ---------------------------------------------------------------- */

/* The first NUMBER/NUMBER of a line whose first is the driver's. */
static bool find_pair(const char *line, uint32_t *command, int *error)
{
	for (const char *slash = strchr(line, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *begin = slash;
		unsigned long value;

		while (begin > line && isdigit((unsigned char)begin[-1]))
			begin--;
		if (begin == slash || sscanf(slash + 1, "%d", error) != 1)
			continue;
		value = strtoul(begin, NULL, 10);
		if (value <= UINT32_MAX && decode_command((uint32_t)value)) {
			*command = (uint32_t)value;
			return true;
		}
	}
	return false;
}

static int decode_log(bool json)
{
	char line[1024], pair[40];
	bool any = false;

	while (fgets(line, sizeof(line), stdin)) {
		uint32_t command;
		int error;

		if (!find_pair(line, &command, &error))
			continue;
		any = true;
		if (!json)
			fputs(line, stdout);
		snprintf(pair, sizeof(pair), "%s%u/%d", json ? "" : "    ", command, error);
		decode_both(json, pair, command, error);
	}
	if (!any)
		fputs("anybinder: no line of it tells of a failed call of binder's\n", stderr);
	return any ? EXIT_OK : EXIT_FAILED;
}

/** command_decode() - say what numbers mean. */
int command_decode(int argc, char **argv)
{
	bool json = false;
	int code = EXIT_OK, at = 1;

	/* Not getopt: -22 is a number. */
	for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
		if (!strcmp(argv[at], "--json")) {
			json = true;
		} else if (!strcmp(argv[at], "--help")) {
			fputs(help, stdout);
			return EXIT_OK;
		} else if (argv[at][2]) {
			return usage_error("decode ", "there is no option %s", argv[at]);
		}
	}
	if (at == argc)
		return usage_error("decode ", "which number?");
	if (!strcmp(argv[at], "-") && at + 1 == argc)
		return decode_log(json);
	for (; at < argc && code != EXIT_USAGE; at++) {
		int one = decode_word(json, argv[at]);

		code = one ? one : code;
	}
	return code;
}
