// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control thread: looks after workers that hang, and after threads of
 * clients that end (reaper.c). It never touches client memory, and costs the
 * others nothing but the counting of their steps.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/host/handover.h"
#include "user/host/pool.h"
#include "user/host/reaper.h"

/* It looks this often while anything goes on. */
#define TICK_MS 10
/* A worker that sleeps, and has not moved for this many looks, hangs. */
#define STUCK_TICKS 10
/* It looks this often, in ticks, whether the CPUs it may use have changed. */
#define CPUS_TICKS 10
/* Beyond this many, workers wait for each other's locks more than they work. */
#define BASE_MAX 8
/* Without activity for this many looks, it sleeps until there is some. */
#define QUIET_TICKS 100
/* No worker reads requests: after this many looks it does. */
#define STALLED_TICKS 2
#define DRAIN_BATCH 256

/* Hanging workers one client, and one user, may cause before its calls are refused. */
#define STUCK_PER_PROCESS 8
#define STUCK_PER_USER 32

/* What one look at the workers found. */
struct look {
	unsigned int idle;
	unsigned int moved; /* since the last look */
	unsigned int stuck;
	u32 stuck_uid[BINDER_WORKERS_MAX];
	pid_t stuck_pid[BINDER_WORKERS_MAX];
};

static struct {
	/* a leaf; guards the hanging workers' clients, which this thread writes */
	spinlock_t stuck_lock;
	unsigned int stuck_nr; /* atomic to read */
	u32 stuck_uid[BINDER_WORKERS_MAX];
	pid_t stuck_pid[BINDER_WORKERS_MAX];

	int asleep; /* atomic */
	struct binder_worker worker; /* it serves requests too */
} control;

/* ---- clients that make workers hang ------------------------------------------- */

/** binder_control_stuck() - how many workers hang. Context: any. */
unsigned int binder_control_stuck(void)
{
	return __atomic_load_n(&control.stuck_nr, __ATOMIC_RELAXED);
}

/**
 * binder_worker_refuses() - does this client already make too many workers hang?
 * Context: any.
 */
bool binder_worker_refuses(binder_uid_t uid, pid_t pid)
{
	unsigned int i, of_uid = 0, of_pid = 0;

	if (likely(!binder_control_stuck()))
		return false;
	spin_lock(&control.stuck_lock);
	for (i = 0; i < control.stuck_nr; i++) {
		/* 0: hangs, if it does, for no client. */
		if (!control.stuck_pid[i])
			continue;
		of_uid += control.stuck_uid[i] == uid.value;
		of_pid += control.stuck_pid[i] == pid;
	}
	spin_unlock(&control.stuck_lock);
	return of_uid >= STUCK_PER_USER || of_pid >= STUCK_PER_PROCESS;
}

static void stuck_publish(const struct look *look)
{
	if (!look->stuck && !binder_control_stuck())
		return;
	spin_lock(&control.stuck_lock);
	memcpy(control.stuck_uid, look->stuck_uid, sizeof(control.stuck_uid));
	memcpy(control.stuck_pid, look->stuck_pid, sizeof(control.stuck_pid));
	__atomic_store_n(&control.stuck_nr, look->stuck, __ATOMIC_RELAXED);
	spin_unlock(&control.stuck_lock);
}

/* ---- looking -------------------------------------------------------------------- */

/* Let others pay what @w owes. */
static void debts_take(struct binder_worker *w)
{
	LIST_HEAD(owed);

	binder_worker_send_notices(w);
	spin_lock(&w->lock);
	list_splice_init(&w->owed, &owed);
	spin_unlock(&w->lock);
	binder_handover_threads(&owed);
}

/* A worker that only waits for a CPU will get on. */
static bool thread_sleeps(pid_t tid)
{
	char path[48], text[256] = "";
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	/* The state follows the name, which is in brackets and may contain some. */
	at = n > 0 ? strrchr(text, ')') : NULL;
	return at && at[1] && (at[2] == 'S' || at[2] == 'D');
}

static void look_at_locked(struct binder_worker *w, struct look *look)
	__must_hold(&binder_pool.lock)
{
	u64 step = READ_ONCE(w->step);

	lockdep_assert_held(&binder_pool.lock);
	if (step != w->seen_step) {
		look->moved++;
		w->seen_step = step;
		w->still = 0;
	}
	if (__atomic_load_n(&w->state, __ATOMIC_SEQ_CST) == BINDER_WORKER_IDLE) {
		look->idle++;
		w->still = 0;
	} else if (++w->still > STUCK_TICKS && thread_sleeps(READ_ONCE(w->tid))) {
		look->stuck_uid[look->stuck] = READ_ONCE(w->uid);
		look->stuck_pid[look->stuck] = READ_ONCE(w->pid);
		look->stuck++;
		debts_take(w);
	}
}

static void workers_look(struct look *look)
{
	unsigned int i;

	*look = (struct look){ 0 };
	mutex_lock(&binder_pool.lock);
	for (i = 0; i < BINDER_WORKERS_MAX; i++)
		if (binder_pool.workers[i].used)
			look_at_locked(&binder_pool.workers[i], look);
	stuck_publish(look);
	/* One a look: a client that makes workers hang is refused before long. */
	if (binder_pool.nr - look->stuck < READ_ONCE(binder_pool.base) &&
	    !binder_worker_spawn_locked() && look->stuck && look->stuck_pid[0])
		pr_warn_ratelimited("%u workers hang in client memory (the first for process %d, uid %u): started another, %u now\n",
				    look->stuck, look->stuck_pid[0], look->stuck_uid[0],
				    binder_pool.nr);
	mutex_unlock(&binder_pool.lock);
}

/* Idle workers do not see the queue: make their reads return. */
static void workers_kick(void)
{
	unsigned int i;

	mutex_lock(&binder_pool.lock);
	for (i = 0; i < BINDER_WORKERS_MAX; i++) {
		struct binder_worker *w = &binder_pool.workers[i];

		if (w->used && __atomic_load_n(&w->state, __ATOMIC_SEQ_CST) == BINDER_WORKER_IDLE)
			pthread_kill(w->id, BINDER_SIGNAL_KICK);
	}
	mutex_unlock(&binder_pool.lock);
}

/**
 * binder_control_cpus() - workers to have when nobody says how many
 *
 * One for each CPU the daemon may use: more than CPUs only wake each other up.
 *
 * Context: the control thread, or before it runs.
 */
unsigned int binder_control_cpus(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 1;
	return min_t(unsigned int, CPU_COUNT(&cpus), BASE_MAX);
}

/* Somebody may have pinned the daemon, or its cpuset may have changed. */
static void base_follow(void)
{
	unsigned int base = binder_control_cpus();
	bool fewer = base < READ_ONCE(binder_pool.base);

	WRITE_ONCE(binder_pool.base, base);
	if (fewer)
		workers_kick();
}

/* ---- serving in the workers' place -------------------------------------------------- */

/* What needs client memory waits for a worker; the rest is served here. */
static void requests_drain(void)
{
	struct binder_worker *w = &control.worker;
	struct binder_request rq;
	int i;

	for (i = 0; i < DRAIN_BATCH; i++) {
		ssize_t n = binder_fuse_read(BINDER_CHANNEL_CONTROL, w->buf, sizeof(w->buf));

		if (n < 0)
			return;
		if (!binder_request_init(&rq, BINDER_CHANNEL_CONTROL, w->buf, (size_t)n))
			continue;
		if (binder_request_needs_client(&rq))
			binder_handover_request(&rq);
		else
			binder_request_serve(&rq);
		debts_take(w);
	}
}

/* ---- sleeping and waking ------------------------------------------------------------ */

/**
 * binder_control_rouse() - the calling worker has become busy
 * Either it sees here that the control thread sleeps, or the control thread,
 * which looks once more after it said so, sees it busy.
 * Context: any; after the worker's state was stored in sequentially consistent order.
 */
void binder_control_rouse(void)
{
	if (unlikely(__atomic_load_n(&control.asleep, __ATOMIC_SEQ_CST)) &&
	    __atomic_exchange_n(&control.asleep, 0, __ATOMIC_SEQ_CST))
		binder_reaper_wake();
}

static bool activity(void)
{
	bool active = __atomic_load_n(&binder_pool.stopping, __ATOMIC_SEQ_CST);
	unsigned int i;

	mutex_lock(&binder_pool.lock);
	for (i = 0; i < BINDER_WORKERS_MAX; i++) {
		struct binder_worker *w = &binder_pool.workers[i];

		active |= w->used &&
			  __atomic_load_n(&w->state, __ATOMIC_SEQ_CST) == BINDER_WORKER_BUSY;
	}
	mutex_unlock(&binder_pool.lock);
	return active;
}

static void control_sleep(void)
{
	__atomic_store_n(&control.asleep, 1, __ATOMIC_SEQ_CST);
	if (!activity())
		binder_reaper_wait(-1);
	__atomic_store_n(&control.asleep, 0, __ATOMIC_SEQ_CST);
}

static void *control_main(void *arg)
{
	unsigned int quiet = 0, stalled = 0, ticks = 0;
	struct look look;

	binder_worker_set_self(&control.worker);
	while (!__atomic_load_n(&binder_pool.stopping, __ATOMIC_SEQ_CST)) {
		if (binder_pool.follow_cpus && ticks++ % CPUS_TICKS == 0)
			base_follow();
		workers_look(&look);
		stalled = look.idle || look.moved ? 0 : stalled + 1;
		if (stalled >= STALLED_TICKS)
			requests_drain();
		if (binder_handover_pending())
			workers_kick();
		quiet = look.moved || look.stuck || stalled ? 0 : quiet + 1;
		if (quiet > QUIET_TICKS) {
			control_sleep();
			quiet = 0;
		} else {
			binder_reaper_wait(TICK_MS);
		}
		debts_take(&control.worker);
	}
	return NULL;
}

/** binder_control_start() - start the control thread. Return: 0 or -errno. */
int binder_control_start(void)
{
	pthread_t id;
	int ret;

	spin_lock_init(&control.stuck_lock);
	binder_worker_init(&control.worker);
	ret = binder_reaper_start();
	return ret ? ret : binder_pool_thread_start(&id, control_main, NULL);
}

/** binder_control_stop() - make it see that the pool is stopping */
void binder_control_stop(void)
{
	binder_reaper_wake();
}
