// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/say.h"

#include <binder_kapi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool say_verbose;

/* One write, so that lines of several threads do not mix. */
static void line_out(const char *text)
{
	char line[1200];
	int n;

	n = snprintf(line, sizeof(line), "anybinderd: %s", text);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(line))
		n = sizeof(line) - 1;
	/* Nowhere is left to say that stderr failed. */
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}

static void say_hook(int level, const char *text)
{
	if (level <= BINDER_KAPI_WARN || say_verbose)
		line_out(text);
}

/**
 * binder_say_init() - take over the messages of the core
 * @verbose: also what clients do wrong, and other information
 * Context: before threads start.
 */
void binder_say_init(bool verbose)
{
	say_verbose = verbose;
	binder_kapi_log_hook = say_hook;
}

/** binder_say() - one message. Context: any. */
void binder_say(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	line_out(text);
}
