// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctl: arguments in, the core's answer out, and the wait between a read
 * that found nothing and the one that will.
 *
 * Whoever makes work for a parked thread marks it READY under the process's
 * lock and wakes its task there. The task reads again under the same lock, so
 * it cannot be gone before its waker is done with it.
 */
#include "kmod/host/call.h"

#include <linux/freezer.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "core/command.h"
#include "core/ioctl.h"
#include "core/proc.h"
#include "core/return.h"
#include "core/thread.h"
#include "kmod/host/file.h"

#include <binder_trace.h>

/* The largest argument of an ioctl but BINDER_WRITE_READ. */
#define ARG_MAX_SIZE 64

/**
 * binder_call_thread() - the record of the calling task
 *
 * A forked child has the descriptor, but not the memory that replies point into.
 *
 * Context: may sleep.
 * Return: the thread, as of binder_thread_lookup(); ERR_PTR: -EINVAL for a task that is
 * not of the process that opened the device, -ENOMEM.
 */
struct binder_thread *binder_call_thread(struct binder_proc *proc)
{
	struct binder_thread *thread;

	if (unlikely(task_tgid(current) != proc->host.tgid)) {
		pr_warn_ratelimited("thread %d of process %d uses a device that process %d opened: refused; each process must open its own\n",
				    current->pid, current->tgid, proc->pid);
		return ERR_PTR(-EINVAL);
	}
	thread = binder_thread_lookup(proc, current->pid);
	if (unlikely(!thread))
		return ERR_PTR(-ENOMEM);
	return thread;
}

/* ---- waiting ------------------------------------------------------------ */

/* The queue has one entry, and keeps it: a wait is then a matter of the task's state alone. */
void binder_host_thread_init(struct binder_thread *thread)
{
	struct binder_host_thread *host = &thread->host;

	init_waitqueue_head(&host->wait);
	init_waitqueue_func_entry(&host->waiter, default_wake_function);
	host->waiter.flags = WQ_FLAG_EXCLUSIVE;
	__add_wait_queue_entry_tail(&host->wait, &host->waiter);
}

void binder_host_thread_fini(struct binder_thread *thread)
{
}

/* The scheduler may keep the woken on the waker's CPU when that is about to wait itself. */
void binder_host_wake(struct binder_thread *thread, bool sync)
{
	if (sync)
		wake_up_interruptible_sync(&thread->host.wait);
	else
		wake_up_interruptible(&thread->host.wait);
}

/*
 * Sleep until somebody has ended the park.
 * Return: 0; -ERESTARTNOHAND when a signal did. The thread is RUNNING then, and what
 * it has written is accounted for: restarted, the call only reads.
 */
static int call_wait(struct binder_thread *thread)
{
	int ret = 0;

	/* Waits for the process's work: whom it served last has no say any more. */
	trace_binder_wait_for_work(READ_ONCE(thread->looper) & BINDER_LOOPER_WAITING,
				   READ_ONCE(thread->stack) != NULL, false);
	if (READ_ONCE(thread->looper) & BINDER_LOOPER_WAITING)
		binder_host_set_nice(thread, thread->proc->host.default_nice);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
		if (READ_ONCE(thread->park) != BINDER_PARKED)
			break;
		if (signal_pending(current)) {
			__set_current_state(TASK_RUNNING);
			/* If not: it is READY, and what it was woken for comes first. */
			if (binder_thread_unpark(thread))
				ret = -ERESTARTNOHAND;
			break;
		}
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return ret;
}

/* ---- BINDER_WRITE_READ ---------------------------------------------------- */

static int call_read(struct binder_thread *thread, struct binder_write_read *bwr, bool nonblock)
{
	int ret = binder_read(thread, bwr, nonblock);

	while (ret == BINDER_PARK) {
		ret = call_wait(thread);
		if (!ret)
			ret = binder_read(thread, bwr, nonblock);
	}
	trace_binder_read_done(ret);
	return ret;
}

static int call_write_read(struct binder_thread *thread, struct file *file, void __user *uarg)
{
	struct binder_write_read bwr;
	int ret = 0;

	if (copy_from_user(&bwr, uarg, sizeof(bwr)))
		return -EFAULT;
	thread->host.waiter.private = current;
	if (bwr.write_size) {
		ret = binder_write(thread, &bwr);
		trace_binder_write_done(ret);
	}
	if (ret)
		bwr.read_consumed = 0;
	else if (bwr.read_size)
		ret = call_read(thread, &bwr, file->f_flags & O_NONBLOCK);
	if (copy_to_user(uarg, &bwr, sizeof(bwr)))
		return -EFAULT;
	return ret;
}

/* ---- the others ------------------------------------------------------------ */

/* What clients see of a bad pointer here is not the same for all (uapi 1.1). */
static int arg_error(unsigned int cmd)
{
	switch (cmd) {
	case BINDER_VERSION:
	case BINDER_SET_MAX_THREADS:
	case BINDER_SET_CONTEXT_MGR_EXT:
		return -EINVAL;
	default:
		return -EFAULT;
	}
}

/* These have an argument by their number, which nobody reads; clients pass NULL. */
static bool arg_ignored(unsigned int cmd)
{
	return cmd == BINDER_SET_CONTEXT_MGR || cmd == BINDER_THREAD_EXIT;
}

static int call_other(struct binder_thread *thread, unsigned int cmd, void __user *uarg)
{
	u8 data[ARG_MAX_SIZE] __aligned(8) = { 0 };
	size_t size = _IOC_SIZE(cmd);
	int ret;

	if (_IOC_TYPE(cmd) != 'b' || size > sizeof(data))
		return -EINVAL;
	if (_IOC_DIR(cmd) == _IOC_WRITE && !arg_ignored(cmd) && copy_from_user(data, uarg, size))
		return arg_error(cmd);
	if (_IOC_DIR(cmd) == (_IOC_READ | _IOC_WRITE) && copy_from_user(data, uarg, size))
		return arg_error(cmd);
	ret = binder_ioctl(thread, cmd, data);
	if (!ret && (_IOC_DIR(cmd) & _IOC_READ) && copy_to_user(uarg, data, size))
		return arg_error(cmd);
	return ret;
}

/**
 * binder_file_ioctl() - every ioctl of a device
 * Context: sleeps as the caller's memory and the work it waits for make it.
 * Return: as uapi 1.1 says.
 */
long binder_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *uarg = (void __user *)arg;
	struct binder_thread *thread = binder_call_thread(file->private_data);
	int ret;

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	trace_binder_ioctl(cmd, arg);
	if (cmd == BINDER_WRITE_READ)
		ret = call_write_read(thread, file, uarg);
	else
		ret = call_other(thread, cmd, uarg);
	binder_ioctl_end(thread);
	trace_binder_ioctl_done(ret);
	return ret;
}
