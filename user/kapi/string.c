// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	size_t len;

	if (!size || size > INT_MAX)
		return -E2BIG;
	len = strnlen(src, size);
	if (len == size) {
		memcpy(dst, src, size - 1);
		dst[size - 1] = '\0';
		return -E2BIG;
	}
	memcpy(dst, src, len + 1);
	return (ssize_t)len;
}

char *binder_kapi_strdup(const char *s, gfp_t flags, const char *site)
{
	size_t size;
	char *copy;

	if (!s)
		return NULL;
	size = strlen(s) + 1;
	copy = binder_kapi_alloc(1, size, flags, site);
	if (copy)
		memcpy(copy, s, size);
	return copy;
}

int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	int len = vsnprintf(buf, size, fmt, args);

	if (len < 0 || !size)
		return 0;
	return (size_t)len < size ? len : (int)size - 1;
}
