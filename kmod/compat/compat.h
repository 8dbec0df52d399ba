/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Force-included in front of every file, behind probed.h, in which the build
 * has written down what the kernel has (probe). Shims for what it has not are in the
 * other headers of this folder, by subject: nothing outside it asks.
 */
#ifndef KMOD_COMPAT_COMPAT_H
#define KMOD_COMPAT_COMPAT_H

/* First, because kernels that have the lock annotations define them here. */
#include <linux/compiler.h>

/* Linux 7.0 has it: clang's context analysis. */
#ifndef __guarded_by
#define __guarded_by(...)
#endif

#ifndef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#endif

#endif
