// SPDX-License-Identifier: GPL-2.0-only
#include "core/text.h"

/**
 * binder_text_init() - start an empty text
 * @buf: at least one byte, stays owned by the caller
 * Context: any.
 */
void binder_text_init(struct binder_text *text, char *buf, size_t size)
{
	text->buf = buf;
	text->size = size;
	text->len = 0;
	text->truncated = false;
	if (size)
		buf[0] = '\0';
}

/**
 * binder_text_add() - append formatted text
 * Context: any. What does not fit is dropped and @text->truncated set.
 */
void binder_text_add(struct binder_text *text, const char *fmt, ...)
{
	size_t room = text->size - text->len;
	va_list args;
	int n;

	if (!room) {
		text->truncated = true;
		return;
	}
	va_start(args, fmt);
	n = vscnprintf(text->buf + text->len, room, fmt, args);
	va_end(args);
	text->len += n;
	/* vscnprintf() does not tell; a full buffer is taken as a cut one. */
	if (text->len + 1 >= text->size)
		text->truncated = true;
}
