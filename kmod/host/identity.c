// SPDX-License-Identifier: GPL-2.0-only
/* Who calls, as the receiver's namespaces see it; its nice value; and the time. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>

#include "core/proc.h"
#include "core/thread.h"

#include <binder_trace.h>

binder_uid_t binder_host_uid(struct binder_thread *thread)
{
	return current_euid();
}

bool binder_host_uid_eq(binder_uid_t a, binder_uid_t b)
{
	return uid_eq(a, b);
}

u32 binder_host_uid_seen(struct binder_proc *by, binder_uid_t uid)
{
	return from_kuid_munged(by->host.cred->user_ns, uid);
}

/* The number stays with the struct pid when its process is gone. */
pid_t binder_host_pid_seen(struct binder_proc *by, struct binder_proc *of)
{
	return pid_nr_ns(of->host.tgid, ns_of_pid(by->host.tgid));
}

/* What logs want to know is within a tick; the fine clock would cost more than a lock. */
u64 binder_host_now_ms(void)
{
	return jiffies64_to_msecs(get_jiffies_64());
}

int binder_host_nice(struct binder_thread *thread)
{
	return task_nice(current);
}

/* The nicest value that the calling task may have without asking anybody. */
static int nice_floor(void)
{
	/* The limit is 20 minus the nice value. */
	long floor = 20 - (long)rlimit(RLIMIT_NICE);

	return clamp_t(long, floor, MIN_NICE, MAX_NICE);
}

void binder_host_set_nice(struct binder_thread *thread, int nice)
{
	int now = task_nice(current);

	nice = clamp(nice, MIN_NICE, MAX_NICE);
	if (nice < now && nice < nice_floor() && !capable(CAP_SYS_NICE))
		nice = min(now, nice_floor());
	if (nice == now)
		return;
	trace_binder_set_priority(thread->tid, now, nice);
	set_user_nice(current, nice);
}
