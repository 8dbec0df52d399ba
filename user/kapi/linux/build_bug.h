/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_BUILD_BUG_H
#define USER_KAPI_BUILD_BUG_H

/* First, because it defines static_assert without the optional message. */
#include <assert.h>

#undef static_assert
#define static_assert(expr, ...) BINDER_STATIC_ASSERT(expr, ##__VA_ARGS__, #expr)
#define BINDER_STATIC_ASSERT(expr, msg, ...) _Static_assert(expr, msg)

#define BUILD_BUG_ON(cond) _Static_assert(!(cond), "BUILD_BUG_ON: " #cond)

#endif
