/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_ERRNO_H
#define USER_KAPI_ERRNO_H

#include_next <linux/errno.h>

#endif
