// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/poll.h>
#include <sys/resource.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/kapi.h"
#include "core/proc.h"
#include "core/thread.h"

/* Linux 6.9: a pidfd of a thread, not of its group; the C library's header is older. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

#define BUCKETS 256
#define EVENTS 64
/* How often those that there is no pidfd of are looked for, and how many that ended at a time. */
#define LOOK_MS 1000
#define LOOK_MAX 64

static struct {
	struct mutex lock; /* a leaf; guards the lists and host.exit_fd of what is in them */
	struct list_head buckets[BUCKETS]; /* threads, by host.exit_entry */
	struct list_head looked_for; /* the same, without a pidfd */
	u64 look_next_ms; /* the control thread's */
	/* immutable: */
	int epoll;
	int event; /* ends a wait */
	int fds_max; /* descriptors from this number on are not for watching threads */
} reaper;

static struct list_head *bucket_of(int fd)
{
	return &reaper.buckets[fd % BUCKETS];
}

static int epoll_add(int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(reaper.epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/** binder_reaper_start() - once, before requests are served. Return: 0 or -errno. */
int binder_reaper_start(void)
{
	struct rlimit limit = { 0 };
	int i;

	getrlimit(RLIMIT_NOFILE, &limit);
	reaper.fds_max = (int)min_t(u64, limit.rlim_cur / 4 * 3, INT_MAX);
	mutex_init(&reaper.lock);
	for (i = 0; i < BUCKETS; i++)
		INIT_LIST_HEAD(&reaper.buckets[i]);
	INIT_LIST_HEAD(&reaper.looked_for);
	reaper.epoll = epoll_create1(EPOLL_CLOEXEC);
	reaper.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reaper.epoll < 0 || reaper.event < 0)
		return -errno;
	return epoll_add(reaper.event);
}

static void list_thread(struct binder_thread *thread, int fd)
{
	mutex_lock(&reaper.lock);
	thread->host.exit_fd = fd;
	list_add(&thread->host.exit_entry, fd < 0 ? &reaper.looked_for : bucket_of(fd));
	mutex_unlock(&reaper.lock);
}

/**
 * binder_reaper_watch() - a thread was seen for the first time
 * On an older kernel, or with few descriptors left (others need some to open
 * devices and to be found), it is looked for now and then instead.
 * Context: may sleep.
 */
void binder_reaper_watch(struct binder_thread *thread)
{
	int fd = (int)syscall(SYS_pidfd_open, thread->tid, PIDFD_THREAD);

	if (fd >= reaper.fds_max) {
		close(fd);
		fd = -1;
	}
	list_thread(thread, fd);
	/* Only now, so that an event finds the thread. */
	if (fd >= 0 && epoll_add(fd)) {
		binder_reaper_forget(thread);
		list_thread(thread, -1);
	}
}

/** binder_reaper_forget() - its record goes. Context: may sleep; any number of times. */
void binder_reaper_forget(struct binder_thread *thread)
{
	int fd;

	mutex_lock(&reaper.lock);
	fd = thread->host.exit_fd;
	thread->host.exit_fd = -1;
	list_del_init(&thread->host.exit_entry);
	mutex_unlock(&reaper.lock);
	if (fd >= 0)
		close(fd);
}

/* Has it ended? The descriptor that an event named may be another thread's by now. */
static bool has_ended(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLIN);
}

/* The thread that @fd watches, with a reference, if it has ended. */
static struct binder_thread *ended_take(int fd)
{
	struct binder_thread *thread, *ended = NULL;

	mutex_lock(&reaper.lock);
	list_for_each_entry(thread, bucket_of(fd), host.exit_entry) {
		if (thread->host.exit_fd != fd)
			continue;
		if (has_ended(fd) && refcount_inc_not_zero(&thread->refs))
			ended = thread;
		break;
	}
	mutex_unlock(&reaper.lock);
	return ended;
}

/* Its record goes; what cannot go yet is watched again. Takes a reference. */
static void ended_release(struct binder_thread *thread)
{
	binder_reaper_forget(thread);
	if (!binder_thread_reap(thread))
		binder_reaper_watch(thread);
	binder_thread_put(thread);
}

static u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

/* The signal that is none: EPERM says that there is somebody, too. */
static bool is_gone(const struct binder_thread *thread)
{
	return syscall(SYS_tgkill, thread->proc->pid, thread->tid, 0) < 0 && errno == ESRCH;
}

/* Return: until the next time, at most @timeout_ms. */
static int look(int timeout_ms)
{
	struct binder_thread *thread, *ended[LOOK_MAX];
	u64 now = now_ms();
	int i, nr = 0, left;
	bool any;

	mutex_lock(&reaper.lock);
	if (now >= reaper.look_next_ms) {
		list_for_each_entry(thread, &reaper.looked_for, host.exit_entry) {
			if (is_gone(thread) && refcount_inc_not_zero(&thread->refs))
				ended[nr++] = thread;
			if (nr == LOOK_MAX)
				break;
		}
		reaper.look_next_ms = now + (nr == LOOK_MAX ? 0 : LOOK_MS);
	}
	any = !list_empty(&reaper.looked_for);
	left = (int)(reaper.look_next_ms - now);
	mutex_unlock(&reaper.lock);
	for (i = 0; i < nr; i++)
		ended_release(ended[i]);
	/* What a release woke is not to wait either. */
	if (nr)
		return 0;
	return any && (timeout_ms < 0 || left < timeout_ms) ? left : timeout_ms;
}

/**
 * binder_reaper_wait() - wait for threads to end, and release them
 * @timeout_ms: -1 for no limit; it may be less
 * Context: the control thread. Leaves what the releases woke in its list.
 */
void binder_reaper_wait(int timeout_ms)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(reaper.epoll, events, EVENTS, look(timeout_ms));
	int i;

	for (i = 0; i < n; i++) {
		struct binder_thread *thread;
		u64 count;

		/* Nothing to read means that a wake was taken with another. */
		if (events[i].data.fd == reaper.event && read(reaper.event, &count, sizeof(count)))
			continue;
		thread = ended_take(events[i].data.fd);
		if (thread)
			ended_release(thread);
	}
}

/** binder_reaper_wake() - end a wait. Context: any; safe against its beginning. */
void binder_reaper_wake(void)
{
	u64 one = 1;

	/* Fails only when the counter is full, and then it is awake. */
	if (write(reaper.event, &one, sizeof(one)) < 0)
		return;
}
