/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_ERR_H
#define USER_KAPI_ERR_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

/* The last page of the address space is never an object: errnos live there. */
#define MAX_ERRNO 4095

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}

static inline long PTR_ERR(const void *ptr)
{
	return (long)ptr;
}

static inline bool IS_ERR(const void *ptr)
{
	return unlikely((unsigned long)ptr >= (unsigned long)-MAX_ERRNO);
}

#endif
