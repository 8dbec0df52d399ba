/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages to whoever started the daemon: on stderr, with the daemon's name.
 * What clients do wrong goes through pr_*() instead and is rate-limited.
 */
#ifndef USER_HOST_SAY_H
#define USER_HOST_SAY_H

#include <linux/compiler.h>
#include <linux/types.h>

void binder_say_init(bool verbose);
__printf(1, 2) void binder_say(const char *fmt, ...);

#endif
