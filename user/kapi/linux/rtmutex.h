/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mutex that lends its holder the priority of its waiters. The threads that
 * meet here are of one priority, so it is a plain one.
 */
#ifndef USER_KAPI_RTMUTEX_H
#define USER_KAPI_RTMUTEX_H

#include <linux/mutex.h>

#define rt_mutex mutex
#define rt_mutex_lock(lock) mutex_lock(lock)
#define rt_mutex_trylock(lock) mutex_trylock(lock)
#define rt_mutex_unlock(lock) mutex_unlock(lock)

#endif
