// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks here are leaves, except that the pool's is taken before a worker's and
 * the queue's. A worker's list lock may be taken under PROC (waking).
 */
#include "user/host/worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/proc.h"
#include "core/thread.h"
#include "user/fuse/connection.h"
#include "user/fuse/request.h"
#include "user/host/call.h"
#include "user/host/poll.h"
#include "user/host/say.h"

/* The control thread looks this often while anything goes on. */
#define TICK_MS 20
/* A worker that has not moved for this many looks hangs. */
#define STUCK_TICKS 3
/* Without activity for this many, the control thread sleeps until there is some. */
#define QUIET_TICKS 50

/* Hanging workers one client, and one user, may cause before its calls are refused. */
#define STUCK_PER_PROCESS 8
#define STUCK_PER_USER 32

/* Requests read by the control thread, and not yet taken by a worker. */
#define HANDOVER_MAX 1024
#define DRAIN_BATCH 256

#define STACK_BYTES (1024 * 1024)

/* Makes a worker look up from a blocking read. */
#define SIGNAL_KICK SIGUSR1

enum { WORKER_BUSY, WORKER_IDLE };

struct worker {
	/* a leaf; guards the lists, which others may empty */
	spinlock_t lock;
	struct list_head owed; /* threads, by host.owed_entry */
	struct list_head notices; /* processes, by host.poll_entry; a reference each */

	/* atomic; written by the worker, read by the control thread: */
	int state;
	u64 step; /* changes whenever it gets on */
	u32 uid; /* whose memory it may be touching */
	pid_t pid;

	/* guarded by pool.lock: */
	bool used;
	pthread_t id;
	/* the control thread's: */
	u64 seen_step;
	unsigned int still; /* looks since it moved */

	u8 buf[BINDER_REQUEST_MAX] __attribute__((aligned(8)));
};

/* A request read by the control thread. */
struct held_request {
	struct list_head entry;
	int channel;
	size_t len;
	u8 buf[] __attribute__((aligned(8)));
};

static struct {
	struct mutex lock; /* guards used and id of the workers, and: */
	unsigned int nr; /* atomic to read */
	unsigned int base; /* immutable: as many as there should be, besides hanging ones */

	/* Hanging workers' clients: written by the control thread, guarded by stuck_lock. */
	spinlock_t stuck_lock;
	unsigned int stuck_nr; /* atomic to read */
	u32 stuck_uid[BINDER_WORKERS_MAX];
	pid_t stuck_pid[BINDER_WORKERS_MAX];

	int stopping; /* atomic */
	int control_asleep; /* atomic */
	int control_event; /* immutable: an eventfd */
	pthread_t control;
} pool;

/* For any worker to take, before it reads the next request. */
static struct {
	spinlock_t lock; /* a leaf */
	struct list_head threads; /* by host.owed_entry */
	struct list_head requests;
	int nr; /* atomic to read */
} handover;

static struct worker workers[BINDER_WORKERS_MAX];
static struct worker control_worker;

static __thread struct worker *self;

/* ---- what a worker owes ------------------------------------------------------ */

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

void binder_host_wake(struct binder_thread *thread)
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

static void notices_send(struct worker *w)
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
static void settle(struct worker *w)
{
	for (;;) {
		struct binder_thread *thread;

		notices_send(w);
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

/* ---- the queue ----------------------------------------------------------------- */

/* Let others pay what @w owes. Context: the control thread. */
static void debts_take(struct worker *w)
{
	LIST_HEAD(owed);
	struct binder_thread *thread;
	int nr = 0;

	notices_send(w);
	spin_lock(&w->lock);
	list_splice_init(&w->owed, &owed);
	spin_unlock(&w->lock);
	list_for_each_entry(thread, &owed, host.owed_entry)
		nr++;
	if (!nr)
		return;
	spin_lock(&handover.lock);
	list_splice_tail_init(&owed, &handover.threads);
	__atomic_fetch_add(&handover.nr, nr, __ATOMIC_SEQ_CST);
	spin_unlock(&handover.lock);
}

static void request_hold(const struct binder_request *rq)
{
	struct held_request *held = NULL;

	if (__atomic_load_n(&handover.nr, __ATOMIC_SEQ_CST) < HANDOVER_MAX)
		held = kmalloc(sizeof(*held) + rq->in->len, GFP_KERNEL);
	if (!held) {
		binder_fuse_error(rq->channel, rq->in->unique, -EBUSY);
		return;
	}
	held->channel = rq->channel;
	held->len = rq->in->len;
	memcpy(held->buf, rq->in, held->len);
	spin_lock(&handover.lock);
	list_add_tail(&held->entry, &handover.requests);
	__atomic_fetch_add(&handover.nr, 1, __ATOMIC_SEQ_CST);
	spin_unlock(&handover.lock);
}

static void request_run(struct worker *w, int channel, const void *buf, size_t len)
{
	struct binder_request rq;

	if (binder_request_init(&rq, channel, buf, len))
		binder_request_serve(&rq);
	settle(w);
}

static void handover_serve(struct worker *w)
{
	struct held_request *held = NULL;
	struct binder_thread *thread;

	spin_lock(&handover.lock);
	thread = list_first_entry_or_null(&handover.threads, struct binder_thread, host.owed_entry);
	if (thread)
		list_del_init(&thread->host.owed_entry);
	else
		held = list_first_entry_or_null(&handover.requests, struct held_request, entry);
	if (held)
		list_del(&held->entry);
	if (thread || held)
		__atomic_fetch_sub(&handover.nr, 1, __ATOMIC_SEQ_CST);
	spin_unlock(&handover.lock);
	if (thread) {
		binder_worker_owe(thread);
		settle(w);
	} else if (held) {
		request_run(w, held->channel, held->buf, held->len);
		kfree(held);
	}
}

/**
 * binder_worker_cancel() - interrupt an ioctl that waits for a worker to begin it
 * Nothing of it has been done: it can start over.
 * Context: any worker or the control thread; no locks held.
 * Return: was it there?
 */
bool binder_worker_cancel(u64 unique)
{
	struct held_request *held, *found = NULL;
	const struct fuse_in_header *in;

	if (!__atomic_load_n(&handover.nr, __ATOMIC_SEQ_CST))
		return false;
	spin_lock(&handover.lock);
	list_for_each_entry(held, &handover.requests, entry) {
		in = (const void *)held->buf;
		if (in->unique == unique) {
			found = held;
			list_del(&held->entry);
			__atomic_fetch_sub(&handover.nr, 1, __ATOMIC_SEQ_CST);
			break;
		}
	}
	spin_unlock(&handover.lock);
	if (!found)
		return false;
	binder_call_restart(found->channel, unique);
	kfree(found);
	return true;
}

/* ---- clients that make workers hang ---------------------------------------------- */

/** binder_worker_behalf() - on whose behalf is the calling worker at work? */
void binder_worker_behalf(binder_uid_t *uid, pid_t *pid)
{
	uid->value = self->uid;
	*pid = self->pid;
}

/**
 * binder_worker_refuses() - does this client already make too many workers hang?
 * Context: any but under stuck_lock.
 */
bool binder_worker_refuses(binder_uid_t uid, pid_t pid)
{
	unsigned int i, of_uid = 0, of_pid = 0;

	if (likely(!__atomic_load_n(&pool.stuck_nr, __ATOMIC_RELAXED)))
		return false;
	spin_lock(&pool.stuck_lock);
	for (i = 0; i < pool.stuck_nr; i++) {
		/* 0: hangs, if it does, for no client. */
		if (!pool.stuck_pid[i])
			continue;
		of_uid += pool.stuck_uid[i] == uid.value;
		of_pid += pool.stuck_pid[i] == pid;
	}
	spin_unlock(&pool.stuck_lock);
	return of_uid >= STUCK_PER_USER || of_pid >= STUCK_PER_PROCESS;
}

/* ---- workers --------------------------------------------------------------------- */

static void worker_init(struct worker *w)
{
	spin_lock_init(&w->lock);
	INIT_LIST_HEAD(&w->owed);
	INIT_LIST_HEAD(&w->notices);
}

static void control_wake(void)
{
	u64 one = 1;

	/* Fails only when the counter is full, and then it is awake. */
	if (write(pool.control_event, &one, sizeof(one)) < 0)
		return;
}

static ssize_t worker_read(struct worker *w)
{
	ssize_t n;

	__atomic_store_n(&w->state, WORKER_IDLE, __ATOMIC_RELEASE);
	n = binder_fuse_read(BINDER_CHANNEL_MAIN, w->buf, sizeof(w->buf));
	/* Either we see that the control thread sleeps, or it sees us busy: it
	 * looks at us once more after it said so. */
	__atomic_exchange_n(&w->state, WORKER_BUSY, __ATOMIC_SEQ_CST);
	WRITE_ONCE(w->step, w->step + 1);
	WRITE_ONCE(w->pid, 0);
	if (unlikely(__atomic_load_n(&pool.control_asleep, __ATOMIC_SEQ_CST)) &&
	    __atomic_exchange_n(&pool.control_asleep, 0, __ATOMIC_SEQ_CST))
		control_wake();
	return n;
}

/* More than needed, because some that hung no longer do? Then this one goes. */
static bool worker_leave(struct worker *w, bool always)
{
	bool leave = always;

	if (likely(!always && READ_ONCE(pool.nr) <= pool.base))
		return false;
	mutex_lock(&pool.lock);
	if (pool.nr - __atomic_load_n(&pool.stuck_nr, __ATOMIC_RELAXED) > pool.base)
		leave = true;
	if (leave) {
		w->used = false;
		WRITE_ONCE(pool.nr, pool.nr - 1);
	}
	mutex_unlock(&pool.lock);
	return leave;
}

/* The filesystem is gone, or useless: so is the daemon. */
static void connection_lost(ssize_t err)
{
	if (__atomic_load_n(&pool.stopping, __ATOMIC_RELAXED))
		return;
	if (err != -ENODEV)
		binder_say("reading requests from FUSE failed: %s\n", strerror((int)-err));
	kill(getpid(), SIGTERM);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	self = w;
	do {
		ssize_t n;

		while (unlikely(__atomic_load_n(&handover.nr, __ATOMIC_SEQ_CST)))
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

static int thread_start(pthread_t *id, void *(*main)(void *), void *arg)
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

static int worker_spawn_locked(void)
{
	struct worker *w = NULL;
	unsigned int i;
	int ret;

	lockdep_assert_held(&pool.lock);
	for (i = 0; i < BINDER_WORKERS_MAX && !w; i++)
		if (!workers[i].used)
			w = &workers[i];
	if (!w)
		return -EAGAIN;
	w->still = 0;
	__atomic_store_n(&w->state, WORKER_BUSY, __ATOMIC_RELAXED);
	ret = thread_start(&w->id, worker_main, w);
	if (ret)
		return ret;
	w->used = true;
	WRITE_ONCE(pool.nr, pool.nr + 1);
	return 0;
}

/* ---- the control thread ------------------------------------------------------------ */

/* What one look at the workers found. */
struct look {
	unsigned int idle;
	unsigned int moved; /* since the last look */
	unsigned int stuck;
	u32 stuck_uid[BINDER_WORKERS_MAX];
	pid_t stuck_pid[BINDER_WORKERS_MAX];
};

static void look_at_locked(struct worker *w, struct look *look)
{
	u64 step = READ_ONCE(w->step);

	lockdep_assert_held(&pool.lock);
	if (step != w->seen_step) {
		look->moved++;
		w->seen_step = step;
		w->still = 0;
	}
	if (__atomic_load_n(&w->state, __ATOMIC_SEQ_CST) == WORKER_IDLE) {
		look->idle++;
		w->still = 0;
	} else if (++w->still > STUCK_TICKS) {
		look->stuck_uid[look->stuck] = READ_ONCE(w->uid);
		look->stuck_pid[look->stuck] = READ_ONCE(w->pid);
		look->stuck++;
		debts_take(w);
	}
}

static void stuck_publish(const struct look *look)
{
	if (!look->stuck && !__atomic_load_n(&pool.stuck_nr, __ATOMIC_RELAXED))
		return;
	spin_lock(&pool.stuck_lock);
	memcpy(pool.stuck_uid, look->stuck_uid, sizeof(pool.stuck_uid));
	memcpy(pool.stuck_pid, look->stuck_pid, sizeof(pool.stuck_pid));
	__atomic_store_n(&pool.stuck_nr, look->stuck, __ATOMIC_RELAXED);
	spin_unlock(&pool.stuck_lock);
}

static void workers_look(struct look *look)
{
	unsigned int i;

	*look = (struct look){ 0 };
	mutex_lock(&pool.lock);
	for (i = 0; i < BINDER_WORKERS_MAX; i++)
		if (workers[i].used)
			look_at_locked(&workers[i], look);
	stuck_publish(look);
	/* One a look: a client that makes workers hang is refused before long. */
	if (pool.nr - look->stuck < pool.base && !worker_spawn_locked())
		pr_warn_ratelimited("%u workers hang in client memory (the first for process %d, uid %u): started another, %u now\n",
				    look->stuck, look->stuck_pid[0], look->stuck_uid[0], pool.nr);
	mutex_unlock(&pool.lock);
}

/* Idle workers do not see the queue: make their reads return. */
static void workers_kick(void)
{
	unsigned int i;

	mutex_lock(&pool.lock);
	for (i = 0; i < BINDER_WORKERS_MAX; i++)
		if (workers[i].used &&
		    __atomic_load_n(&workers[i].state, __ATOMIC_SEQ_CST) == WORKER_IDLE)
			pthread_kill(workers[i].id, SIGNAL_KICK);
	mutex_unlock(&pool.lock);
}

/* No worker reads requests: serve what can be served without client memory. */
static void control_drain(void)
{
	struct worker *w = &control_worker;
	struct binder_request rq;
	int i;

	for (i = 0; i < DRAIN_BATCH; i++) {
		ssize_t n = binder_fuse_read(BINDER_CHANNEL_CONTROL, w->buf, sizeof(w->buf));

		if (n < 0)
			return;
		if (!binder_request_init(&rq, BINDER_CHANNEL_CONTROL, w->buf, (size_t)n))
			continue;
		if (binder_request_needs_client(&rq))
			request_hold(&rq);
		else
			binder_request_serve(&rq);
		debts_take(w);
	}
}

/* Sleep until there is activity. Return at once when there is some already. */
static void control_sleep(void)
{
	bool active = false;
	unsigned int i;
	u64 count;

	__atomic_store_n(&pool.control_asleep, 1, __ATOMIC_SEQ_CST);
	mutex_lock(&pool.lock);
	for (i = 0; i < BINDER_WORKERS_MAX; i++)
		active |= workers[i].used &&
			  __atomic_load_n(&workers[i].state, __ATOMIC_SEQ_CST) == WORKER_BUSY;
	mutex_unlock(&pool.lock);
	if (active || __atomic_load_n(&pool.stopping, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&pool.control_asleep, 0, __ATOMIC_SEQ_CST);
		return;
	}
	if (read(pool.control_event, &count, sizeof(count)) < 0)
		return;
}

static void *control_main(void *arg)
{
	const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };
	unsigned int quiet = 0, stalled = 0;
	struct look look;

	self = &control_worker;
	while (!__atomic_load_n(&pool.stopping, __ATOMIC_SEQ_CST)) {
		workers_look(&look);
		stalled = look.idle || look.moved ? 0 : stalled + 1;
		if (stalled > 1)
			control_drain();
		if (__atomic_load_n(&handover.nr, __ATOMIC_SEQ_CST))
			workers_kick();
		quiet = look.moved || look.stuck || stalled ? 0 : quiet + 1;
		if (quiet > QUIET_TICKS) {
			control_sleep();
			quiet = 0;
		}
		nanosleep(&tick, NULL);
	}
	return NULL;
}

/* ---- start and stop ------------------------------------------------------------------ */

static void kick_handler(int sig)
{
}

/**
 * binder_workers_start() - begin to serve requests
 * @nr: workers, 1 to BINDER_WORKERS_MAX; more only while some hang
 * Context: signals that the main thread waits for are blocked.
 * Return: 0 or -errno.
 */
int binder_workers_start(unsigned int nr)
{
	/* No SA_RESTART: the read must return. */
	struct sigaction kick = { .sa_handler = kick_handler };
	unsigned int i;
	int ret = 0;

	sigaction(SIGNAL_KICK, &kick, NULL);
	mutex_init(&pool.lock);
	spin_lock_init(&pool.stuck_lock);
	spin_lock_init(&handover.lock);
	INIT_LIST_HEAD(&handover.threads);
	INIT_LIST_HEAD(&handover.requests);
	for (i = 0; i < BINDER_WORKERS_MAX; i++)
		worker_init(&workers[i]);
	worker_init(&control_worker);
	pool.base = nr;
	pool.control_event = eventfd(0, EFD_CLOEXEC);
	if (pool.control_event < 0)
		return -errno;
	mutex_lock(&pool.lock);
	for (i = 0; i < nr && !ret; i++)
		ret = worker_spawn_locked();
	mutex_unlock(&pool.lock);
	if (!ret)
		ret = thread_start(&pool.control, control_main, NULL);
	return ret;
}

/** binder_workers_stopping() - the unmount that comes is wanted */
void binder_workers_stopping(void)
{
	__atomic_store_n(&pool.stopping, 1, __ATOMIC_SEQ_CST);
}

/**
 * binder_workers_stop() - wait for the workers to end, after the unmount
 * One that hangs in client memory is not waited for: exit() takes it along.
 */
void binder_workers_stop(void)
{
	const struct timespec tick = { .tv_nsec = 1000000L };
	int i;

	control_wake();
	for (i = 0; i < 2000 && READ_ONCE(pool.nr); i++)
		nanosleep(&tick, NULL);
}
