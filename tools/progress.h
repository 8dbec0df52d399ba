/* SPDX-License-Identifier: MIT */
/*
 * How far something that takes long has come: a bar on standard error, at a terminal only.
 * The cursor waits on the line below it, so that a message that comes meanwhile stays whole.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>

/** struct progress - @done of @total steps; all zero before progress_begin() */
struct progress {
	unsigned long total;
	unsigned long done;
	bool shown;
	bool drawn;
};

void progress_begin(struct progress *p, unsigned long total);
void progress_step(struct progress *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void progress_end(struct progress *p, bool failed);

#endif
