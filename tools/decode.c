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
"status codes (-2147483646), meta calls (1599098439), types of objects, pairs\n"
"(29189/-22), and for their names. With - a log is read, and its lines about binder\n"
"explained.\n"
"\n"
"      --flags            the numbers are flags of calls\n"
"      --json             one JSON object a line\n"
"      --help             print this text\n"
"\n"
"Exit status: 0 all are known, 1 some are not, 2 used wrongly.\n";

/**
 * struct request - how to print, and what is read
 * @line: of the log that is being explained, or NULL
 */
struct request {
	bool json, flags;
	const char *line;
};

static struct json_object *json_text(const char *text)
{
	return text ? json_object_new_string(text) : NULL;
}

static void print_text(const struct request *r, const char *text, const struct meaning *meaning)
{
	if (r->line)
		printf("%s\n    ", r->line);
	if (text[0])
		printf("%s: ", text);
	if (meaning->name)
		printf("%s: ", meaning->name);
	puts(meaning->words ? meaning->words : "no more is known than its name");
}

static void print_meaning(const struct request *r, const char *text, const struct meaning *meaning)
{
	struct json_object *object;

	if (!r->json)
		return print_text(r, text, meaning);
	object = json_object_new_object();
	if (r->line)
		json_object_object_add(object, "line", json_text(r->line));
	json_object_object_add(object, "number", text[0] ? json_text(text) : NULL);
	json_object_object_add(object, "kind", json_text(meaning->kind));
	json_object_object_add(object, "name", json_text(meaning->name));
	json_object_object_add(object, "words", json_text(meaning->words));
	json_line(object);
}

/* People are told the kind, too: a number can be several things. */
static void print_number(const struct request *r, const char *text, const struct meaning *meaning)
{
	struct meaning with = *meaning;
	char name[100];

	snprintf(name, sizeof(name), "%s (%s)", meaning->name, meaning->kind);
	if (!r->json)
		with.name = name;
	print_meaning(r, text, &with);
}

static int unknown(const char *text)
{
	fprintf(stderr, "anybinder: %s: not a number of binder's; 1 to 0xffffff are calls of a "
		"service's interface\n", text);
	return EXIT_FAILED;
}

static int print_all(const struct request *r, const char *text, const struct meaning *meanings,
		     size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		print_number(r, text, &meanings[i]);
	return nr ? EXIT_OK : unknown(text);
}

/* "29189/-22" is one thing. */
static int print_pair(const struct request *r, const char *text, uint32_t command, int error,
		      uint64_t size)
{
	const char *name = decode_command(command), *errname = strerrorname_np(-error);
	const char *words = decode_pair(command, error, size);
	struct meaning meanings[MEANINGS_MAX];
	char names[100];

	if (!name)
		return unknown(text);
	if (!words && decode_number(error ? error : (int64_t)command, meanings))
		words = meanings[0].words;
	snprintf(names, sizeof(names), "%s%s%s", name, error ? ", " : "",
		 error && errname ? errname : "");
	print_meaning(r, text, &(struct meaning){ "return of the driver, and why", names, words });
	return EXIT_OK;
}

/* Logs print ioctls in hexadecimal without 0x. */
static bool parse_whole(const char *text, int64_t *number)
{
	bool hex = strlen(text) == 8 && strspn(text, "0123456789abcdefABCDEF") == 8 &&
		   strpbrk(text, "abcdefABCDEF");
	char *end;

	errno = 0;
	*number = strtoll(text, &end, hex ? 16 : 0);
	return !errno && end != text && !*end;
}

/* Bits that nobody knows are as bad as numbers that nobody knows. */
static int decode_all_flags(const struct request *r, const char *text, int64_t number)
{
	struct meaning meanings[MEANINGS_MAX];
	uint32_t left = (uint32_t)number;
	int code = print_all(r, text, meanings, decode_flags(&left, meanings));

	if (number < 0 || number > UINT32_MAX || (left && !code)) {
		fprintf(stderr, "anybinder: %s: %#x is no flag of a call\n", text, left);
		return EXIT_FAILED;
	}
	return code;
}

static int decode_word(const struct request *r, const char *text)
{
	struct meaning meanings[MEANINGS_MAX];
	unsigned int command;
	int64_t number;
	int error, len = 0;
	size_t nr;

	if (parse_whole(text, &number)) {
		if (r->flags)
			return decode_all_flags(r, text, number);
		return print_all(r, text, meanings, decode_number(number, meanings));
	}
	if (sscanf(text, "%u/%d%n", &command, &error, &len) == 2 && !text[len] && text[0] != '-')
		return print_pair(r, text, command, error, 0);
	nr = decode_name(text, meanings);
	if (nr)
		return print_all(r, text, meanings, nr);
	return usage_error("decode ", "\"%s\" is no number, no pair like 29189/-22, and no name",
			   text);
}

/* ---- logs ---------------------------------------------------------------- */

/* "... failed ID/29189/-22, ... size 0-0 ..." of all drivers; older ones have no ID. */
static bool explain_pair(const struct request *r)
{
	for (const char *slash = strchr(r->line, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *begin = slash, *size = strstr(slash, "size ");
		unsigned long command;
		char pair[40];
		int error;

		while (begin > r->line && isdigit((unsigned char)begin[-1]))
			begin--;
		if (begin == slash || sscanf(slash + 1, "%d", &error) != 1)
			continue;
		command = strtoul(begin, NULL, 10);
		if (command > UINT32_MAX || !decode_command((uint32_t)command))
			continue;
		snprintf(pair, sizeof(pair), "%lu/%d", command, error);
		print_pair(r, pair, (uint32_t)command, error,
			   size ? strtoull(size + strlen("size "), NULL, 10) : 0);
		return true;
	}
	return false;
}

/* "... ioctl c0306201 ... returned -22" */
static bool explain_ioctl(const struct request *r)
{
	const char *at = strstr(r->line, "ioctl ");
	struct meaning ioctls[MEANINGS_MAX], errors[MEANINGS_MAX];
	unsigned int cmd;
	char text[60], names[120];
	int error;

	if (!at || sscanf(at, "ioctl %x %*x returned %d", &cmd, &error) != 2 ||
	    !decode_number(cmd, ioctls) || !decode_number(error, errors))
		return false;
	snprintf(text, sizeof(text), "%x, %d", cmd, error);
	snprintf(names, sizeof(names), "%s, %s", ioctls[0].name, errors[0].name);
	print_meaning(r, text, &(struct meaning){ "ioctl, and why it failed", names,
						  errors[0].words });
	return true;
}

static bool explain_phrase(const struct request *r)
{
	const char *words = decode_phrase(r->line);

	if (words)
		print_meaning(r, "", &(struct meaning){ "line of a log", NULL, words });
	return words;
}

static int decode_log(struct request *r)
{
	char *line = NULL;
	size_t size = 0;
	bool any = false;

	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		r->line = line;
		any |= explain_pair(r) || explain_ioctl(r) || explain_phrase(r);
	}
	free(line);
	if (!any)
		fputs("anybinder: no line of it tells of something of binder's that went wrong\n",
		      stderr);
	return any ? EXIT_OK : EXIT_FAILED;
}

/** command_decode() - say what numbers mean. */
int command_decode(int argc, char **argv)
{
	struct request r = { 0 };
	int code = EXIT_OK, at = 1;

	/* Not getopt: -22 is a number. */
	for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
		if (!strcmp(argv[at], "--json")) {
			r.json = true;
		} else if (!strcmp(argv[at], "--flags")) {
			r.flags = true;
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
		return decode_log(&r);
	for (; at < argc && code != EXIT_USAGE; at++) {
		int one = decode_word(&r, argv[at]);

		code = one ? one : code;
	}
	return code;
}
