/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernels we build for do not have, force-included in front of every
 * file. The one place that may ask which kernel this is.
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
