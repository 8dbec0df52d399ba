// SPDX-License-Identifier: GPL-2.0-only
/*
 * anybinderd: a binder driver as a FUSE server. This file is its life in
 * order; what the pieces are:
 *
 *   fuse/connection  the descriptors of /dev/fuse, messages in and out
 *   fuse/mount       the mount point
 *   fuse/device      the devices by name
 *   fuse/tree        lookups, attributes, directories
 *   fuse/snapshot    binder_logs and features
 *   fuse/request     which function serves which request
 *   host/open        opening and closing a device
 *   host/call        ioctls, parked calls, interrupts
 *   host/poll        poll and epoll
 *   host/worker      the threads
 *   host/control     what is done about workers that hang
 *   host/reaper      and about threads of clients that end
 *   host/handover    work that changes hands
 *   host/memory      client memory
 *   host/mapping     the memory that clients map
 *   host/reclaim     memory that nobody uses
 *   host/pressure    when memory is short
 *   host/store       the same without passthrough: their page cache
 *   host/identity    pids and uids across namespaces
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/proc.h"
#include "user/fuse/connection.h"
#include "user/fuse/device.h"
#include "user/fuse/mount.h"
#include "user/host/call.h"
#include "user/host/identity.h"
#include "user/host/notify.h"
#include "user/host/open.h"
#include "user/host/options.h"
#include "user/host/reclaim.h"
#include "user/host/say.h"
#include "user/host/worker.h"

static int page_size_check(void)
{
	if (sysconf(_SC_PAGESIZE) == PAGE_SIZE)
		return 0;
	binder_say("this machine has pages of %ld bytes; anybinderd was built for %lu\n",
		   sysconf(_SC_PAGESIZE), PAGE_SIZE);
	return -EINVAL;
}

/* On ourselves it can only be missing or forbidden as a whole. */
static int copying_check(void)
{
	char from = 1, to = 0;
	struct iovec local = { .iov_base = &to, .iov_len = 1 };
	struct iovec remote = { .iov_base = &from, .iov_len = 1 };

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1)
		return 0;
	binder_say("process_vm_readv is refused: %s\n", strerror(errno));
	binder_say("  it is how messages are copied: the kernel needs CONFIG_CROSS_MEMORY_ATTACH, a container a seccomp profile that allows it\n");
	return -EPERM;
}

/* Each open holds a file in the kernel and one here for a moment. */
static void limits_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Blocked before there are threads, so that only main sees them. */
static void signals_block(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigprocmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int prepare(const struct binder_options *o)
{
	int ret = page_size_check();

	if (!ret)
		ret = copying_check();
	if (!ret)
		ret = binder_identity_init();
	if (!ret)
		ret = binder_mount_check_timeouts();
	if (ret)
		return ret;
	limits_raise();
	binder_core_init();
	binder_calls_init();
	binder_opens_init();
	return binder_devices_init(o->devices, o->max_devices, o->mode);
}

static int serve(const struct binder_options *o, const sigset_t *signals)
{
	int ret, sig;

	ret = binder_fuse_open();
	if (!ret)
		ret = binder_mount_attach(o->mountpoint);
	if (ret)
		return ret;
	ret = binder_fuse_handshake(o->mapping);
	if (ret) {
		binder_mount_detach();
		return ret;
	}
	ret = binder_reclaim_start(o->idle_reclaim_s);
	if (!ret)
		ret = binder_workers_start(o->workers);
	if (ret) {
		binder_say("cannot start threads: %s\n", strerror(-ret));
	} else {
		binder_notify_ready(o->ready_fd);
		sigwait(signals, &sig);
		binder_notify_stopping();
		ret = binder_workers_lost() ? -ENODEV : 0;
	}
	binder_workers_stopping();
	binder_mount_detach();
	binder_workers_stop();
	return ret;
}

int main(int argc, char **argv)
{
	struct binder_options options;
	sigset_t signals;

	if (binder_options_parse(&options, argc, argv))
		return 2;
	binder_say_init(options.verbose);
	signals_block(&signals);
	if (prepare(&options) || serve(&options, &signals))
		return 1;
	return 0;
}
