/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of device names, as module parameters give them: separated by commas. */
#ifndef KMOD_HOST_NAMES_H
#define KMOD_HOST_NAMES_H

#include <linux/types.h>

bool binder_name_is_sound(const char *name);
int binder_names_check(const char *names, const char *parameter);
int binder_names_each(const char *names, int (*fn)(const char *name, void *arg), void *arg);

#endif
