/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What worker.c, handover.c and control.c share; see worker.h for the idea.
 *
 * Locks, all but the first leaves: pool lock, then a worker's list lock or the
 * queue's. A worker's list lock may also be taken under PROC, by a wake.
 */
#ifndef USER_HOST_POOL_H
#define USER_HOST_POOL_H

#include <pthread.h>

#include "core/kapi.h"
#include "user/fuse/connection.h"
#include "user/fuse/request.h"
#include "user/host/worker.h"

/* Makes a worker look up from a blocking read. */
#define BINDER_SIGNAL_KICK SIGUSR1

enum { BINDER_WORKER_BUSY, BINDER_WORKER_IDLE };

/**
 * struct binder_worker - one thread that serves requests, or a free place for one
 */
struct binder_worker {
	/* a leaf; guards the lists, which the control thread may empty */
	spinlock_t lock;
	struct list_head owed; /* threads, by host.owed_entry */
	struct list_head notices; /* processes, by host.poll_entry; a reference each */

	/* atomic; written by the worker, read by the control thread: */
	int state;
	u64 step; /* changes whenever it gets on */
	u32 uid; /* whose memory it may be touching; @pid 0: nobody's */
	pid_t pid;
	pid_t tid; /* its own */

	/* guarded by the pool's lock: */
	bool used;
	pthread_t id;
	/* the control thread's: */
	u64 seen_step;
	unsigned int still; /* looks since it moved */

	u8 buf[BINDER_REQUEST_MAX] __attribute__((aligned(8)));
};

/**
 * struct binder_pool - all workers
 * @lock: guards who is there
 * @nr: workers there are; atomic to read
 * @base: as many as there should be, besides hanging ones; atomic
 * @follow_cpus: @base is the number of usable CPUs; immutable
 * @stopping: atomic
 * @lost: the filesystem went away by itself; atomic
 */
struct binder_pool {
	struct mutex lock;
	unsigned int nr;
	unsigned int base;
	bool follow_cpus;
	int stopping;
	int lost;
	struct binder_worker workers[BINDER_WORKERS_MAX];
};

extern struct binder_pool binder_pool;

/* worker.c */
void binder_worker_init(struct binder_worker *w);
void binder_worker_set_self(struct binder_worker *w);
void binder_worker_send_notices(struct binder_worker *w);
int binder_worker_spawn_locked(void) __must_hold(&binder_pool.lock);
int binder_pool_thread_start(pthread_t *id, void *(*main)(void *), void *arg);

/* control.c */
int binder_control_start(void);
void binder_control_stop(void);
void binder_control_rouse(void);
unsigned int binder_control_stuck(void);
unsigned int binder_control_cpus(void);

#endif
