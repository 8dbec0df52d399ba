/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_BUG_H
#define USER_KAPI_BUG_H

#include <binder_kapi.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define WARN_ON(cond) ({						\
	bool binder_warn = !!(cond);					\
	if (unlikely(binder_warn))					\
		binder_kapi_warn(BINDER_SITE, #cond, NULL);		\
	unlikely(binder_warn); })

/* Printed once a site, counted every time. */
#define WARN_ON_ONCE(cond) ({						\
	static bool binder_warned;					\
	bool binder_warn = !!(cond);					\
	if (unlikely(binder_warn))					\
		binder_kapi_warn(BINDER_SITE, #cond, &binder_warned);	\
	unlikely(binder_warn); })

#endif
