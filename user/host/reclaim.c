// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread, woken by the control file, by memory pressure and by a clock. It
 * holds locks of a single allocator for a page, or for the zapping of one run
 * of empty slots, and pauses after a few; so nobody's call waits for it long.
 * It never touches client memory, and answers the control file itself, so no
 * worker waits for it either.
 */
#include "user/host/reclaim.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/poll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/proc.h"
#include "user/fuse/connection.h"
#include "user/host/mapping.h"
#include "user/host/pool.h"
#include "user/host/pressure.h"

/* Not the last: with a lock held, it must get on beside whoever burns CPU time. */
#define NICE 10
/* Between two pauses: pages, and slots of a mapping that are looked at. */
#define SLICE_PAGES 32
#define SLICE_SLOTS 32
#define PAUSE_NS 50000L
/* After pressure, which tells of itself as long as it lasts: not again for so long. */
#define PRESSURE_MS 1000

#define ALL (BINDER_RECLAIM_IDLE | BINDER_RECLAIM_STRAY)

/* A write to the control file that waits for its answer. */
struct order {
	struct list_head entry;
	int channel;
	u64 unique;
	u32 size; /* bytes written */
	unsigned int what;
};

static struct {
	struct mutex lock; /* a leaf; guards @orders */
	struct list_head orders;
	/* immutable: */
	int event; /* something was ordered */
	u64 idle_ms; /* 0: never */
	/* the thread's: */
	struct pollfd fds[1 + BINDER_PRESSURE_MAX]; /* @event, and where pressure is told */
	u64 idle_next_ms;
	u64 pressure_next_ms;
} reclaim;

static bool stopping(void)
{
	return __atomic_load_n(&binder_pool.stopping, __ATOMIC_RELAXED);
}

static void pause_a_little(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	nanosleep(&pause, NULL);
}

/* ---- idle pages -------------------------------------------------------------- */

/* As many as there are now: others go on making more. */
static void idle_reclaim(unsigned long (*shrink)(unsigned long nr))
{
	unsigned long left = binder_pages_idle_count();

	while (left && !stopping()) {
		unsigned long want = min_t(unsigned long, left, SLICE_PAGES);

		if (shrink(want) < want)
			return;
		left -= want;
		if (left)
			pause_a_little();
	}
}

/* ---- stray pages ------------------------------------------------------------- */

struct allocs {
	struct binder_alloc **of; /* a reference each */
	size_t nr;
};

/* All there are; those that come meanwhile have time until the next time. */
static void allocs_get(struct allocs *allocs)
{
	struct binder_proc *proc;
	size_t room = 0;

	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry)
		room++;
	binder_procs_unlock();
	*allocs = (struct allocs){ .of = kvcalloc(room, sizeof(*allocs->of), GFP_KERNEL) };
	if (!allocs->of)
		return;
	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry) {
		if (allocs->nr == room)
			break;
		allocs->of[allocs->nr++] = binder_alloc_get(proc->alloc);
	}
	binder_procs_unlock();
}

/*
 * Zap what is in the empty ones of the slots [@first, @end): while it is held,
 * install_mutex keeps them empty, and the memory there.
 */
static void slots_sweep(struct binder_alloc *alloc, size_t first, size_t end)
{
	binder_pages_hold(alloc, first);
	while (first < end) {
		size_t gap = binder_pages_gap(alloc, first, end);

		if (gap)
			binder_map_zap(alloc, first, gap);
		first += gap + 1;
	}
	binder_pages_unhold(alloc);
}

static void strays_reclaim(void)
{
	struct allocs allocs;
	size_t i, slot;

	allocs_get(&allocs);
	for (i = 0; i < allocs.nr; i++) {
		for (slot = 0; slot < BINDER_MAP_MAX >> PAGE_SHIFT && !stopping();
		     slot += SLICE_SLOTS)
			slots_sweep(allocs.of[i], slot, slot + SLICE_SLOTS);
		binder_alloc_put(allocs.of[i]);
		pause_a_little();
	}
	kvfree(allocs.of);
}

/* ---- the control file ---------------------------------------------------------- */

/* Return: what to reclaim, or -errno. */
static int order_parse(const struct binder_request *rq)
{
	const struct fuse_write_in *arg = rq->arg;
	const char *text = (const char *)(arg + 1);
	u32 size;

	if (rq->len < sizeof(*arg) || rq->len - sizeof(*arg) < arg->size)
		return -EINVAL;
	/* Who was handed the descriptor may be anybody. */
	if (rq->in->uid && rq->in->uid != geteuid()) {
		pr_warn_ratelimited("process of thread %u (uid %u) may not reclaim memory: only root and the daemon's own user may write to binder_logs/reclaim\n",
				    rq->in->pid, rq->in->uid);
		return -EPERM;
	}
	size = arg->size;
	if (size == 2 && text[1] == '\n')
		size--;
	if (size != 1 || text[0] < '1' || text[0] > '0' + ALL) {
		pr_warn_ratelimited("binder_logs/reclaim takes 1 (idle pages), 2 (pages that clients put into their mappings) or 3 (both)\n");
		return -EINVAL;
	}
	return text[0] - '0';
}

/**
 * binder_reclaim_write() - FUSE_WRITE to the control file
 * Answered when the memory is back, by the reclaiming thread.
 * Context: may sleep.
 */
void binder_reclaim_write(const struct binder_request *rq)
{
	struct order *order = NULL;
	int ret = order_parse(rq);
	u64 one = 1;

	if (ret > 0) {
		order = kmalloc(sizeof(*order), GFP_KERNEL);
		if (!order)
			ret = -ENOMEM;
	}
	if (ret < 0) {
		binder_fuse_error(rq->channel, rq->in->unique, ret);
		return;
	}
	order->channel = rq->channel;
	order->unique = rq->in->unique;
	order->size = ((const struct fuse_write_in *)rq->arg)->size;
	order->what = (unsigned int)ret;
	mutex_lock(&reclaim.lock);
	list_add_tail(&order->entry, &reclaim.orders);
	mutex_unlock(&reclaim.lock);
	/* Fails only when the counter is full, and then the thread is awake. */
	if (write(reclaim.event, &one, sizeof(one)) < 0)
		return;
}

static unsigned int orders_take(struct list_head *orders)
{
	struct order *order;
	unsigned int what = 0;
	u64 count;

	/* Nothing to read means that nothing was ordered. */
	if (read(reclaim.event, &count, sizeof(count)) < 0)
		return 0;
	mutex_lock(&reclaim.lock);
	list_splice_init(&reclaim.orders, orders);
	mutex_unlock(&reclaim.lock);
	list_for_each_entry(order, orders, entry)
		what |= order->what;
	return what;
}

static void orders_answer(struct list_head *orders)
{
	struct order *order, *next;

	list_for_each_entry_safe(order, next, orders, entry) {
		struct fuse_write_out out = { .size = order->size };

		binder_fuse_reply(order->channel, order->unique, &out, sizeof(out));
		kfree(order);
	}
}

/* ---- the thread ------------------------------------------------------------------ */

static u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

/* Every page that has been idle since the last time. */
static void clock_reclaim(void)
{
	idle_reclaim(binder_pages_shrink_marked);
	binder_pages_mark();
	strays_reclaim();
}

/* Return: for poll(): until the clock strikes, or pressure may be looked at again. */
static int timeout_ms(u64 now)
{
	u64 until = INT_MAX + now;

	if (reclaim.idle_ms)
		until = min_t(u64, until, reclaim.idle_next_ms);
	if (reclaim.pressure_next_ms > now)
		until = min_t(u64, until, reclaim.pressure_next_ms);
	return until > now ? (int)(until - now) : 0;
}

static void round_run(void)
{
	LIST_HEAD(orders);
	u64 now = now_ms();
	bool deaf = reclaim.pressure_next_ms > now;
	unsigned int what;

	if (poll(reclaim.fds, deaf ? 1 : 1 + BINDER_PRESSURE_MAX, timeout_ms(now)) < 0)
		return;
	what = orders_take(&orders);
	now = now_ms();
	if (!deaf && binder_pressure_seen(reclaim.fds + 1, BINDER_PRESSURE_MAX)) {
		what |= ALL;
		reclaim.pressure_next_ms = now + PRESSURE_MS;
	}
	if (what & BINDER_RECLAIM_IDLE)
		idle_reclaim(binder_pages_shrink);
	if (what & BINDER_RECLAIM_STRAY)
		strays_reclaim();
	orders_answer(&orders);
	if (reclaim.idle_ms && now >= reclaim.idle_next_ms) {
		clock_reclaim();
		reclaim.idle_next_ms = now_ms() + reclaim.idle_ms;
	}
}

static void *reclaim_main(void *arg)
{
	/* Failing, it is only less modest. */
	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	while (!stopping())
		round_run();
	return NULL;
}

/**
 * binder_reclaim_start() - start the thread; before requests are served
 * @idle_s: pages that were idle for so long go, within twice the time; 0: only when asked
 * Return: 0 or -errno.
 */
int binder_reclaim_start(u32 idle_s)
{
	pthread_t id;

	mutex_init(&reclaim.lock);
	INIT_LIST_HEAD(&reclaim.orders);
	reclaim.idle_ms = (u64)idle_s * 1000;
	reclaim.idle_next_ms = now_ms() + reclaim.idle_ms;
	reclaim.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reclaim.event < 0)
		return -errno;
	reclaim.fds[0] = (struct pollfd){ reclaim.event, POLLIN, 0 };
	if (!binder_pressure_open(reclaim.fds + 1))
		pr_info("this kernel does not tell of memory pressure (no /proc/pressure/memory, no cgroup v2 with the memory controller)\n");
	return binder_pool_thread_start(&id, reclaim_main, NULL);
}
