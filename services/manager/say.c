// SPDX-License-Identifier: MIT
#include "say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool journal;

/**
 * sm_say_init() - find out whether the journal reads standard error
 *
 * JOURNAL_STREAM is inherited by those whose standard error goes elsewhere, so
 * it counts only if it names this one.
 */
void sm_say_init(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	journal = stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
		  !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

/**
 * sm_say() - one line
 * @level: how bad it is; only the journal gets it
 * @fmt: of printf, without a newline; what others sent goes through sm_quote()
 */
void sm_say(enum sm_level level, const char *fmt, ...)
{
	char line[1200];
	int start, len;
	va_list args;

	if (journal)
		start = snprintf(line, sizeof(line), "<%d>", level);
	else
		start = snprintf(line, sizeof(line), "anybinder-servicemanager: ");
	va_start(args, fmt);
	len = vsnprintf(line + start, sizeof(line) - (size_t)start - 1, fmt, args);
	va_end(args);
	if (len < 0)
		return;
	len = (int)strlen(line);
	line[len++] = '\n';
	/* Nowhere is left to say that this failed. */
	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		return;
}

/**
 * sm_quote() - what somebody sent, fit for a line: one line, and no more than that
 * @text: UTF-8
 * @buf: receives it; bytes that do not print as \xNN, cut to what fits
 * @size: of @buf, at least 8
 *
 * Return: @buf.
 */
const char *sm_quote(const char *text, char *buf, size_t size)
{
	size_t len = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (len + 8 > size) {
			memcpy(buf + len, "...", 3);
			len += 3;
			break;
		}
		if (c >= ' ' && c < 0x7f && c != '"' && c != '\\')
			buf[len++] = (char)c;
		else
			len += (size_t)sprintf(buf + len, "\\x%02x", c);
	}
	buf[len] = '\0';
	return buf;
}

/** sm_number() - a number as people write it: 1,234,567. Return: @buf. */
const char *sm_number(uint64_t number, char buf[32])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	char *to = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buf;
}

/** sm_now_ms() - milliseconds of a clock that does not go back. */
uint64_t sm_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
