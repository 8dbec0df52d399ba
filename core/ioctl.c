// SPDX-License-Identifier: GPL-2.0-only
#include "core/ioctl.h"

#include "core/context.h"
#include "core/freeze.h"
#include "core/node.h"
#include "core/proc.h"
#include "core/ref.h"
#include "core/thread.h"

static void set_max_threads(struct binder_proc *proc, u32 max)
{
	spin_lock(&proc->lock);
	proc->max_threads = max;
	spin_unlock(&proc->lock);
}

static void take_extended_error(struct binder_thread *thread, struct binder_extended_error *ee)
{
	spin_lock(&thread->proc->lock);
	*ee = thread->ee;
	binder_thread_set_ee_locked(thread, 0, BR_OK, 0);
	spin_unlock(&thread->proc->lock);
}

/**
 * binder_ioctl() - every ioctl but BINDER_WRITE_READ
 * @thread: the caller
 * @cmd: the ioctl's number
 * @arg: its argument, _IOC_SIZE(cmd) bytes in core memory; results go back in it
 *
 * Context: may sleep; no locks held.
 * Return: 0 or the errno of uapi 1.1; -EINVAL for what there is not.
 */
int binder_ioctl(struct binder_thread *thread, unsigned int cmd, void *arg)
{
	static const struct flat_binder_object plain_manager;

	switch (cmd) {
	case BINDER_VERSION:
		((struct binder_version *)arg)->protocol_version = BINDER_CURRENT_PROTOCOL_VERSION;
		return 0;
	case BINDER_SET_MAX_THREADS:
		set_max_threads(thread->proc, *(u32 *)arg);
		return 0;
	case BINDER_SET_CONTEXT_MGR:
		return binder_context_set_manager(thread, &plain_manager);
	case BINDER_SET_CONTEXT_MGR_EXT:
		return binder_context_set_manager(thread, arg);
	case BINDER_THREAD_EXIT:
		binder_thread_release(thread);
		return 0;
	case BINDER_GET_EXTENDED_ERROR:
		take_extended_error(thread, arg);
		return 0;
	case BINDER_GET_NODE_DEBUG_INFO:
		binder_node_debug_info(thread->proc, arg);
		return 0;
	case BINDER_GET_NODE_INFO_FOR_REF:
		return binder_ref_node_info(thread, arg);
	case BINDER_FREEZE:
	case BINDER_GET_FROZEN_INFO:
		return binder_freeze_ioctl(thread, cmd);
	case BINDER_SET_IDLE_TIMEOUT:
	case BINDER_SET_IDLE_PRIORITY:
	case BINDER_ENABLE_ONEWAY_SPAM_DETECTION:
	default:
		return -EINVAL;
	}
}

/**
 * binder_ioctl_end() - the end of every ioctl, BINDER_WRITE_READ among them
 * @thread: the caller; the reference of binder_thread_lookup() is consumed
 *
 * Before the host returns to user space.
 *
 * Context: no locks held.
 */
void binder_ioctl_end(struct binder_thread *thread)
{
	spin_lock(&thread->proc->lock);
	thread->need_return = false;
	thread->lookups--;
	spin_unlock(&thread->proc->lock);
	binder_thread_put(thread);
}
