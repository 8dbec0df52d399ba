/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_PRINTK_H
#define USER_KAPI_PRINTK_H

#include <binder_kapi.h>

#ifndef pr_fmt
#define pr_fmt(fmt) fmt
#endif

#define BINDER_KAPI_LOG_RATELIMITED(level, fmt, ...) do {		\
	static struct binder_ratelimit binder_site_limit;		\
	if (binder_ratelimit_ok(&binder_site_limit, level, BINDER_SITE))	\
		binder_kapi_log(level, pr_fmt(fmt), ##__VA_ARGS__);	\
} while (0)

#define pr_info(fmt, ...) binder_kapi_log(BINDER_KAPI_INFO, pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info_ratelimited(fmt, ...) \
	BINDER_KAPI_LOG_RATELIMITED(BINDER_KAPI_INFO, fmt, ##__VA_ARGS__)
#define pr_warn_ratelimited(fmt, ...) \
	BINDER_KAPI_LOG_RATELIMITED(BINDER_KAPI_WARN, fmt, ##__VA_ARGS__)
#define pr_err_ratelimited(fmt, ...) \
	BINDER_KAPI_LOG_RATELIMITED(BINDER_KAPI_ERR, fmt, ##__VA_ARGS__)

#endif
