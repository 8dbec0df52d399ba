// SPDX-License-Identifier: MIT
#include "bench/disturb.h"

#include "bench/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Reclaimable slab: calls every shrinker, and leaves the page cache alone. */
#define DROP_CACHES "/proc/sys/vm/drop_caches"
#define DROP_WORD '2'
/* A line in the kernel log for each drop would cost more than the drop. */
#define SILENT_WORD "4"
/* Beside a device of the daemon: its idle pages. */
#define RECLAIM "binder_logs/reclaim"
#define RECLAIM_WORD '1'

/* Where caches are dropped, and by which word. */
static struct {
	char path[PATH_MAX];
	char word;
} drops = { DROP_CACHES, DROP_WORD };

#define CALIBRATE_TICKS 50
#define SECOND_NS 1000000000ull

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

static int drop(int fd)
{
	return pwrite(fd, &drops.word, 1, 0) == 1 ? 0 : -errno;
}

/* Return: a descriptor for drop(); negative errno. */
static int drop_open(void)
{
	int fd = open(drops.path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && drops.word == DROP_WORD && pwrite(fd, SILENT_WORD, 1, 0) != 1)
		return -errno;
	return fd < 0 ? -errno : fd;
}

static void spin(uint64_t ns)
{
	uint64_t until = cpu_ns() + ns;

	while (cpu_ns() < until)
		;
}

/* Missed ticks are not made up for: a burst would be another disturbance. */
static void wait_tick(uint64_t *next, unsigned int hz)
{
	uint64_t now = clock_ns();
	struct timespec ts;

	*next += SECOND_NS / hz;
	if (*next < now)
		*next = now;
	ts.tv_sec = *next / SECOND_NS;
	ts.tv_nsec = *next % SECOND_NS;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/**
 * disturb_usable() - whether caches can be dropped here; says so if not
 * @device: whose driver's: the kernel's are dropped by vm.drop_caches, the
 *          daemon's by a file of its own. From here on it is these
 */
bool disturb_usable(const char *device)
{
	const char *slash = strrchr(device, '/');
	int dir = slash ? (int)(slash + 1 - device) : 0;

	snprintf(drops.path, sizeof(drops.path), "%.*s" RECLAIM, dir, device);
	drops.word = RECLAIM_WORD;
	if (access(drops.path, F_OK)) {
		strcpy(drops.path, DROP_CACHES);
		drops.word = DROP_WORD;
	}
	if (!access(drops.path, W_OK))
		return true;
	fprintf(stderr, "anybinder: write %s: %s; dropping caches needs root\n", drops.path,
		strerror(errno));
	return false;
}

/** disturb_main() - a member that disturbs until it is killed; @arg is a struct disturb. */
void disturb_main(struct crew *crew, struct member *me, void *arg)
{
	const struct disturb *disturb = arg;
	int fd = drop_open(), err = 0;
	uint64_t next = clock_ns(), begin = cpu_ns();

	if (fd < 0)
		crew_fail(me, "write %s: %s", drops.path, strerror(-fd));
	me->start_ns = next;
	while (!err) {
		wait_tick(&next, disturb->hz);
		if (disturb->spin_ns)
			spin(disturb->spin_ns);
		else
			err = drop(fd);
		me->ticks++;
		me->busy_ns = cpu_ns() - begin;
		me->end_ns = clock_ns();
	}
	crew_fail(me, "drop caches: %s", strerror(-err));
}

/**
 * disturb_calibrate() - let @disturb spin for as long as a drop takes with nothing else to do
 * Every driver pays that: a drop under load takes longer by what the driver's
 * own pages cost. The median, at the rate of @disturb.
 * Return: 0; -1 with a message.
 */
int disturb_calibrate(struct disturb *disturb)
{
	int fd = drop_open(), err = 0;
	uint64_t next = clock_ns(), begin;
	double took[CALIBRATE_TICKS];

	for (int i = 0; fd >= 0 && !err && i < CALIBRATE_TICKS; i++) {
		wait_tick(&next, disturb->hz);
		begin = cpu_ns();
		err = drop(fd);
		took[i] = cpu_ns() - begin;
	}
	if (fd < 0 || err) {
		fprintf(stderr, "anybinder: drop caches: %s\n", strerror(fd < 0 ? -fd : -err));
		return -1;
	}
	close(fd);
	disturb->spin_ns = median_of(took, CALIBRATE_TICKS);
	if (!disturb->spin_ns)
		disturb->spin_ns = 1;
	return 0;
}

/** disturb_drop_caches() - drop them once. Return: 0, or -1 with errno. */
int disturb_drop_caches(void)
{
	static int fd = -1;
	int ret;

	if (fd < 0)
		fd = drop_open();
	ret = fd < 0 ? fd : drop(fd);
	errno = -ret;
	return ret ? -1 : 0;
}
