// SPDX-License-Identifier: GPL-2.0-only
/*
 * open, flush, poll, release. Calls are in call.c, the mapping in mapping.c.
 *
 * The last close only queues the release: taking a process apart frees up to
 * a whole mapping and tells everybody who knew its nodes, and whoever closes
 * last (a task that is being killed, or a stranger that got the descriptor
 * over a socket) shall not do that.
 */
#include "kmod/host/file.h"

#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>

#include "core/context.h"
#include "core/proc.h"
#include "core/thread.h"
#include "kmod/host/call.h"
#include "kmod/host/logs.h"
#include "kmod/host/mapping.h"

static struct workqueue_struct *release_queue;

/**
 * binder_files_init() - once, before there is a device
 * Context: may sleep. Return: 0 or -ENOMEM.
 */
int binder_files_init(void)
{
	release_queue = alloc_workqueue("anybinder", WQ_UNBOUND, 0);
	return release_queue ? 0 : -ENOMEM;
}

/**
 * binder_files_exit() - undo binder_files_init()
 * There is no device any more. Waits for the releases that are queued.
 * Context: sleeps.
 */
void binder_files_exit(void)
{
	destroy_workqueue(release_queue);
}

static void release_deferred(struct work_struct *work)
{
	struct binder_proc *proc = container_of(work, struct binder_proc, host.release);

	binder_logs_proc_del(proc->pid);
	binder_proc_release(proc);
}

static void opener_remember(struct binder_host_proc *host, struct file *file)
{
	/* Not the task's, which exec and setuid change under our feet. */
	host->cred = get_cred(file->f_cred);
	host->tgid = get_pid(task_tgid(current));
	host->mm = current->mm;
	mmgrab(host->mm);
	host->default_nice = task_nice(current);
}

/**
 * binder_file_open() - the rest of an open: the process record
 * @file: its private_data becomes the record
 * @context: of the device; the record takes its own reference
 * Context: sleeps. Return: 0 or -ENOMEM.
 */
int binder_file_open(struct file *file, struct binder_context *context)
{
	struct binder_proc *proc = binder_proc_open(context, current->tgid);

	if (!proc)
		return -ENOMEM;
	opener_remember(&proc->host, file);
	INIT_WORK(&proc->host.release, release_deferred);
	init_waitqueue_head(&proc->host.poll_wait);
	binder_mapping_attach(proc->alloc, file);
	file->private_data = proc;
	binder_logs_proc_add(proc->pid);
	return nonseekable_open(file_inode(file), file);
}

void binder_host_proc_fini(struct binder_proc *proc)
{
	struct binder_host_proc *host = &proc->host;

	mmdrop(host->mm);
	put_pid(host->tgid);
	put_cred(host->cred);
}

/** binder_file_flush() - one descriptor was closed. Context: may sleep. Return: 0. */
int binder_file_flush(struct file *file, fl_owner_t id)
{
	binder_proc_flush(file->private_data);
	return 0;
}

/** binder_file_release() - descriptors and mappings are gone. Context: may sleep. Return: 0. */
int binder_file_release(struct inode *inode, struct file *file)
{
	struct binder_proc *proc = file->private_data;

	queue_work(release_queue, &proc->host.release);
	return 0;
}

/**
 * binder_file_poll() - would a read by the calling thread return?
 *
 * The queue is the process's. A thread's own would be freed with its record
 * while epoll still watches it.
 *
 * Context: may sleep. Return: EPOLLIN, 0, or EPOLLERR without memory for a record.
 */
__poll_t binder_file_poll(struct file *file, struct poll_table_struct *table)
{
	struct binder_proc *proc = file->private_data;
	struct binder_thread *thread = binder_call_thread(proc);
	bool readable;

	if (IS_ERR(thread))
		return EPOLLERR;
	poll_wait(file, &proc->host.poll_wait, table);
	readable = binder_thread_poll(thread);
	binder_thread_done(thread);
	return readable ? EPOLLIN | EPOLLRDNORM : 0;
}

void binder_host_poll_wake(struct binder_proc *proc)
{
	wake_up_interruptible_poll(&proc->host.poll_wait, EPOLLIN | EPOLLRDNORM);
}
