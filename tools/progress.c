// SPDX-License-Identifier: MIT
#include "tools/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_CELLS 24
#define COLUMNS_DEFAULT 80
/* Go up a line, and clear it. */
#define LINE_BACK "\033[A\r\033[2K"

/**
 * progress_begin() - something of @total steps begins
 * Nothing is ever shown where standard error is no terminal, or one that cannot go back a line.
 */
void progress_begin(struct progress *p, unsigned long total)
{
	const char *term = getenv("TERM");

	*p = (struct progress){
		.total = total,
		.shown = isatty(STDERR_FILENO) && term && strcmp(term, "dumb"),
	};
}

static int columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_DEFAULT;
	return size.ws_col;
}

/**
 * progress_step() - the next step begins
 * @format: what it is, in a few words
 */
void progress_step(struct progress *p, const char *format, ...)
{
	char bar[BAR_CELLS + 1], words[160], line[256];
	int filled;
	va_list ap;

	if (p->shown && p->total) {
		va_start(ap, format);
		vsnprintf(words, sizeof(words), format, ap);
		va_end(ap);
		filled = BAR_CELLS * p->done / p->total;
		memset(bar, '.', BAR_CELLS);
		memset(bar, '#', filled);
		bar[BAR_CELLS] = 0;
		snprintf(line, sizeof(line), "[%s] %3lu %%  %s", bar, 100 * p->done / p->total,
			 words);
		fprintf(stderr, "%s%.*s\n", p->drawn ? LINE_BACK : "", columns() - 1, line);
		p->drawn = true;
	}
	if (p->done < p->total)
		p->done++;
}

/**
 * progress_end() - it is over
 * @failed: leave the bar, which says where; else it is cleared
 */
void progress_end(struct progress *p, bool failed)
{
	if (p->drawn && !failed)
		fputs(LINE_BACK, stderr);
	p->shown = p->drawn = false;
}
