/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel host embeds in the core's objects (see core/host.h). */
#ifndef KMOD_HOST_TYPES_H
#define KMOD_HOST_TYPES_H

#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/lock_ranks.h"

/* As the kernel holds it, independent of any namespace. */
typedef kuid_t binder_uid_t;

struct binder_host_proc {
	/* immutable after open: */
	const struct cred *cred;	/* the opener's, holds a reference */
	struct pid *tgid;		/* the opener's, holds a reference */
	struct mm_struct *mm;		/* to compare; a reference to the struct, not the memory */
	int default_nice;		/* the opener's */
	/* has its own lock: */
	wait_queue_head_t poll_wait;
	struct work_struct release;	/* queued by the last close */
};

struct binder_host_thread {
	wait_queue_head_t wait;
	wait_queue_entry_t waiter;	/* its private is the task; written by it while RUNNING */
};

struct binder_host_map {
	struct address_space mapping;	/* f_mapping of the file */
};

/* A lockdep class and name a rank, whatever function initialises the lock. */
extern struct lock_class_key binder_lock_keys[BINDER_RANK_COUNT];

#define binder_spin_init(lock, rank) do {					\
	spin_lock_init(lock);							\
	lockdep_set_class_and_name(lock, &binder_lock_keys[rank], #rank);	\
} while (0)

#define binder_mutex_init(mutex, rank) do {					\
	mutex_init(mutex);							\
	lockdep_set_class_and_name(mutex, &binder_lock_keys[rank], #rank);	\
} while (0)

#define binder_rt_mutex_init(mutex, rank) do {					\
	rt_mutex_init(mutex);							\
	lockdep_set_class_and_name(mutex, &binder_lock_keys[rank], #rank);	\
} while (0)

#endif
