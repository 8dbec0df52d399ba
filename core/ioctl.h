/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ioctls other than BINDER_WRITE_READ, and the end of every ioctl.
 * The host moves arguments in and out; the core sees them in its own memory.
 */
#ifndef CORE_IOCTL_H
#define CORE_IOCTL_H

#include "core/kapi.h"

struct binder_thread;

int binder_ioctl(struct binder_thread *thread, unsigned int cmd, void *arg);
void binder_ioctl_end(struct binder_thread *thread);

#endif
