// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/worker.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/proc.h"
#include "core/thread.h"
#include "user/host/call.h"
#include "user/host/handover.h"
#include "user/host/poll.h"
#include "user/host/pool.h"
#include "user/host/say.h"

#define STACK_BYTES (1024 * 1024)

/* How long the end of the daemon waits for workers that hang. */
#define STOP_MS 2000

struct binder_pool binder_pool;

static __thread struct binder_worker *self;

/** binder_worker_init() - a free place for a worker */
void binder_worker_init(struct binder_worker *w)
{
	spin_lock_init(&w->lock);
	INIT_LIST_HEAD(&w->owed);
	INIT_LIST_HEAD(&w->notices);
}

/** binder_worker_set_self() - the calling thread is @w; before it enters the core */
void binder_worker_set_self(struct binder_worker *w)
{
	self = w;
	WRITE_ONCE(w->tid, gettid());
}

/* ---- what a worker owes ---------------------------------------------------- */

/**
 * binder_worker_owe() - the calling worker shall call binder_call_continue()
 * @thread: claimed by the caller, or its own
 * Context: any; under PROC when called by way of binder_host_wake().
 */
void binder_worker_owe(struct binder_thread *thread)
{
	spin_lock(&self->lock);
	list_add_tail(&thread->host.owed_entry, &self->owed);
	spin_unlock(&self->lock);
}

/* Workers take turns; which CPU a client runs on is not theirs to say. */
void binder_host_wake(struct binder_thread *thread, bool sync)
{
	binder_worker_owe(thread);
}

/** binder_worker_owe_notice() - as binder_worker_owe() for a poll notice; consumes a reference */
void binder_worker_owe_notice(struct binder_proc *proc)
{
	spin_lock(&self->lock);
	list_add_tail(&proc->host.poll_entry, &self->notices);
	spin_unlock(&self->lock);
}

/**
 * binder_worker_on_behalf() - from here on the calling worker may touch this client's memory
 * Context: any.
 */
void binder_worker_on_behalf(binder_uid_t uid, pid_t pid)
{
	WRITE_ONCE(self->uid, uid.value);
	WRITE_ONCE(self->pid, pid);
	WRITE_ONCE(self->step, self->step + 1);
}

/** binder_worker_behalf() - on whose behalf is the calling worker at work? */
void binder_worker_behalf(binder_uid_t *uid, pid_t *pid)
{
	uid->value = self->uid;
	*pid = self->pid;
}

/** binder_worker_send_notices() - send the notices @w owes. Context: may hold the pool's lock. */
void binder_worker_send_notices(struct binder_worker *w)
{
	for (;;) {
		struct binder_proc *proc;

		spin_lock(&w->lock);
		proc = list_first_entry_or_null(&w->notices, struct binder_proc, host.poll_entry);
		if (proc)
			list_del(&proc->host.poll_entry);
		spin_unlock(&w->lock);
		if (!proc)
			return;
		binder_poll_notify(proc);
	}
}

/* Notices first: they cannot hang. */
static void settle(struct binder_worker *w)
{
	for (;;) {
		struct binder_thread *thread;

		binder_worker_send_notices(w);
		spin_lock(&w->lock);
		thread = list_first_entry_or_null(&w->owed, struct binder_thread, host.owed_entry);
		if (thread)
			list_del_init(&thread->host.owed_entry);
		spin_unlock(&w->lock);
		if (!thread)
			return;
		binder_worker_on_behalf(thread->host.uid, thread->proc->pid);
		binder_call_continue(thread);
	}
}

/* ---- serving ------------------------------------------------------------------ */

static void request_run(struct binder_worker *w, int channel, const void *buf, size_t len)
{
	struct binder_request rq;

	if (binder_request_init(&rq, channel, buf, len))
		binder_request_serve(&rq);
	settle(w);
}

static void handover_serve(struct binder_worker *w)
{
	struct binder_held_request *held;
	struct binder_thread *thread;

	if (!binder_handover_take(&thread, &held))
		return;
	if (thread) {
		binder_worker_owe(thread);
		settle(w);
	} else {
		request_run(w, held->channel, held->buf, held->len);
		kfree(held);
	}
}

static ssize_t worker_read(struct binder_worker *w)
{
	ssize_t n;

	__atomic_store_n(&w->state, BINDER_WORKER_IDLE, __ATOMIC_RELEASE);
	n = binder_fuse_read(BINDER_CHANNEL_MAIN, w->buf, sizeof(w->buf));
	__atomic_exchange_n(&w->state, BINDER_WORKER_BUSY, __ATOMIC_SEQ_CST);
	WRITE_ONCE(w->step, w->step + 1);
	WRITE_ONCE(w->pid, 0);
	binder_control_rouse();
	return n;
}

/* More than needed, because some that hung no longer do? Then this one goes. */
static bool worker_leave(struct binder_worker *w, bool always)
{
	bool leave = always;

	if (likely(!always && READ_ONCE(binder_pool.nr) <= READ_ONCE(binder_pool.base)))
		return false;
	mutex_lock(&binder_pool.lock);
	if (binder_pool.nr - binder_control_stuck() > READ_ONCE(binder_pool.base))
		leave = true;
	if (leave) {
		w->used = false;
		WRITE_ONCE(binder_pool.nr, binder_pool.nr - 1);
	}
	mutex_unlock(&binder_pool.lock);
	return leave;
}

/* The filesystem is gone, or useless: so is the daemon. */
static void connection_lost(ssize_t err)
{
	if (__atomic_load_n(&binder_pool.stopping, __ATOMIC_RELAXED))
		return;
	if (err == -ENODEV)
		binder_say("somebody has unmounted the devices: nothing is left to serve\n");
	else
		binder_say("reading requests from FUSE failed: %s\n", strerror((int)-err));
	__atomic_store_n(&binder_pool.lost, 1, __ATOMIC_RELAXED);
	kill(getpid(), SIGTERM);
}

static void *worker_main(void *arg)
{
	struct binder_worker *w = arg;

	binder_worker_set_self(w);
	do {
		ssize_t n;

		while (unlikely(binder_handover_pending()))
			handover_serve(w);
		n = worker_read(w);
		if (likely(n >= 0)) {
			request_run(w, BINDER_CHANNEL_MAIN, w->buf, (size_t)n);
		} else if (n != -EINTR && n != -EAGAIN && n != -ENOENT) {
			connection_lost(n);
			worker_leave(w, true);
			return NULL;
		}
	} while (!worker_leave(w, false));
	return NULL;
}

/* ---- start and stop -------------------------------------------------------------- */

/** binder_pool_thread_start() - a detached thread. Return: 0 or -errno. */
int binder_pool_thread_start(pthread_t *id, void *(*main)(void *), void *arg)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(id, &attr, main, arg);
	pthread_attr_destroy(&attr);
	return -err;
}

/** binder_worker_spawn_locked() - one more worker. Return: 0; -EAGAIN at the limit; -errno. */
int binder_worker_spawn_locked(void)
{
	struct binder_worker *w = NULL;
	unsigned int i;
	int ret;

	lockdep_assert_held(&binder_pool.lock);
	for (i = 0; i < BINDER_WORKERS_MAX && !w; i++)
		if (!binder_pool.workers[i].used)
			w = &binder_pool.workers[i];
	if (!w)
		return -EAGAIN;
	w->still = 0;
	__atomic_store_n(&w->state, BINDER_WORKER_BUSY, __ATOMIC_RELAXED);
	ret = binder_pool_thread_start(&w->id, worker_main, w);
	if (ret)
		return ret;
	w->used = true;
	WRITE_ONCE(binder_pool.nr, binder_pool.nr + 1);
	return 0;
}

static void kick_handler(int sig)
{
}

/**
 * binder_workers_start() - begin to serve requests
 * @nr: workers, up to BINDER_WORKERS_MAX, more only while some hang; 0: as many
 *      as there are CPUs to use, also when that changes
 * Context: signals that the main thread waits for are blocked.
 * Return: 0 or -errno.
 */
int binder_workers_start(unsigned int nr)
{
	/* No SA_RESTART: the read must return. */
	struct sigaction kick = { .sa_handler = kick_handler };
	unsigned int i;
	int ret = 0;

	sigaction(BINDER_SIGNAL_KICK, &kick, NULL);
	mutex_init(&binder_pool.lock);
	binder_handover_init();
	for (i = 0; i < BINDER_WORKERS_MAX; i++)
		binder_worker_init(&binder_pool.workers[i]);
	binder_pool.follow_cpus = !nr;
	nr = nr ? nr : binder_control_cpus();
	binder_pool.base = nr;
	mutex_lock(&binder_pool.lock);
	/* First, as workers call on it; its first look waits for the lock. */
	ret = binder_control_start();
	for (i = 0; i < nr && !ret; i++)
		ret = binder_worker_spawn_locked();
	mutex_unlock(&binder_pool.lock);
	return ret;
}

/** binder_workers_lost() - did the filesystem go away by itself? */
bool binder_workers_lost(void)
{
	return __atomic_load_n(&binder_pool.lost, __ATOMIC_RELAXED);
}

/** binder_workers_stopping() - the unmount that comes is wanted */
void binder_workers_stopping(void)
{
	__atomic_store_n(&binder_pool.stopping, 1, __ATOMIC_SEQ_CST);
}

/**
 * binder_workers_stop() - wait for the workers to end, after the unmount
 * One that hangs in client memory is not waited for: exit() takes it along.
 */
void binder_workers_stop(void)
{
	const struct timespec tick = { .tv_nsec = 1000000L };
	int i;

	binder_control_stop();
	for (i = 0; i < STOP_MS && READ_ONCE(binder_pool.nr); i++)
		nanosleep(&tick, NULL);
}
