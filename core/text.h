/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded text buffer: what every printer (x_to_text) writes to. Output
 * past the end is dropped and remembered, so a printer never fails midway.
 */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include "core/kapi.h"

/**
 * struct binder_text - a text being built
 * @buf: memory of @size bytes owned by whoever made the text; always
 *       NUL-terminated when @size > 0
 * @size: bytes in @buf
 * @len: bytes used, without the NUL
 * @truncated: something did not fit
 */
struct binder_text {
	char *buf;
	size_t size;
	size_t len;
	bool truncated;
};

/** BINDER_TEXT() - a text over an array on the stack */
#define BINDER_TEXT(array) { .buf = (array), .size = sizeof(array) }

void binder_text_init(struct binder_text *text, char *buf, size_t size);
__printf(2, 3) void binder_text_add(struct binder_text *text, const char *fmt, ...);

#endif
