// SPDX-License-Identifier: GPL-2.0-only
#include "core/freeze.h"

#include "core/proc.h"
#include "core/thread.h"

/**
 * binder_freeze_command() - BC_*_FREEZE_NOTIFICATION*
 * Context: any.
 * Return: -EINVAL, as for any misuse of these commands (uapi 1.7).
 */
int binder_freeze_command(struct binder_thread *thread, u32 cmd)
{
	binder_user_error(thread, "command %x: this driver has no freeze notifications\n", cmd);
	return -EINVAL;
}

/**
 * binder_freeze_ioctl() - BINDER_FREEZE and BINDER_GET_FROZEN_INFO
 * Context: any.
 * Return: -EINVAL.
 */
int binder_freeze_ioctl(struct binder_thread *thread, unsigned int cmd)
{
	binder_user_error(thread, "ioctl %x: this driver cannot freeze processes\n", cmd);
	return -EINVAL;
}
