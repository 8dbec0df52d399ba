// SPDX-License-Identifier: GPL-2.0-only
/* Compiles with every kernel; if not, nothing a probe says can be believed. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
