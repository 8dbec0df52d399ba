// SPDX-License-Identifier: MIT
#include "tools/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** usage_error() - say what is wrong with the arguments. Return: the exit code for that. */
int usage_error(const char *command, const char *format, ...)
{
	va_list ap;

	fputs("anybinder: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "; see anybinder %s--help\n", command);
	return EXIT_USAGE;
}

/** parse_number() - a whole number from @min to @max and nothing else. */
bool parse_number(const char *text, unsigned long long min, unsigned long long max,
		  unsigned long long *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end && *value >= min && *value <= max;
}

/** device_usable() - say so before a measurement starts if it cannot work. */
bool device_usable(const char *device)
{
	if (!access(device, R_OK | W_OK))
		return true;
	fprintf(stderr, "anybinder: %s: %s%s\n", device, strerror(errno),
		errno == ENOENT ? "; start anybinderd, or name a device with --device" : "");
	return false;
}

/** finish_output() - Return: @code, or failure when standard output could not be written. */
int finish_output(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "anybinder: write the results: %s\n", strerror(errno));
	return EXIT_FAILED;
}
