// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/poll.h>
#include <sys/resource.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/kapi.h"
#include "core/thread.h"

/* Linux 6.9: a pidfd of a thread, not of its group; the C library's header is older. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

#define BUCKETS 256
#define EVENTS 64

static struct {
	struct mutex lock; /* a leaf; guards the buckets and host.exit_fd of what is in them */
	struct list_head buckets[BUCKETS]; /* threads, by host.exit_entry */
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
	reaper.epoll = epoll_create1(EPOLL_CLOEXEC);
	reaper.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reaper.epoll < 0 || reaper.event < 0)
		return -errno;
	return epoll_add(reaper.event);
}

/**
 * binder_reaper_watch() - a thread was seen for the first time
 * On an older kernel, or with too few descriptors left, it is as in the kernel's
 * driver: its record stays until it says so or the device is closed. Some are
 * always left: others need them to open devices and to be found.
 * Context: may sleep.
 */
void binder_reaper_watch(struct binder_thread *thread)
{
	int fd = (int)syscall(SYS_pidfd_open, thread->tid, PIDFD_THREAD);

	if (fd < 0)
		return;
	if (fd >= reaper.fds_max) {
		close(fd);
		return;
	}
	mutex_lock(&reaper.lock);
	thread->host.exit_fd = fd;
	list_add(&thread->host.exit_entry, bucket_of(fd));
	mutex_unlock(&reaper.lock);
	/* Only now, so that an event finds the thread. */
	if (epoll_add(fd))
		binder_reaper_forget(thread);
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

/**
 * binder_reaper_wait() - wait for threads to end, and release them
 * @timeout_ms: -1 for no limit
 * Context: the control thread. Leaves what the releases woke in its list.
 */
void binder_reaper_wait(int timeout_ms)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(reaper.epoll, events, EVENTS, timeout_ms);
	int i;

	for (i = 0; i < n; i++) {
		struct binder_thread *thread;
		u64 count;

		/* Nothing to read means that a wake was taken with another. */
		if (events[i].data.fd == reaper.event && read(reaper.event, &count, sizeof(count)))
			continue;
		thread = ended_take(events[i].data.fd);
		if (!thread)
			continue;
		binder_reaper_forget(thread);
		if (!binder_thread_reap(thread))
			binder_reaper_watch(thread);
		binder_thread_put(thread);
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
