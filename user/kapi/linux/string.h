/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_STRING_H
#define USER_KAPI_STRING_H

#include_next <linux/string.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/types.h>

/**
 * strscpy() - copy a string, always terminated
 *
 * Return: characters copied without the final 0, or -E2BIG when @src did not
 * fit or @size is 0 (then nothing is written).
 */
ssize_t strscpy(char *dst, const char *src, size_t size);

/**
 * kstrdup() - copy a string into memory of its own
 * Context: as kmalloc().
 * Return: the copy, freed with kfree(), or NULL. NULL for NULL.
 */
#define kstrdup(s, flags) binder_kapi_strdup(s, flags, BINDER_SITE)
char *binder_kapi_strdup(const char *s, gfp_t flags, const char *site);

#endif
