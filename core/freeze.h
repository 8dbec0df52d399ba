/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Freezing processes and freeze notifications. Not implemented: every request
 * is refused with an error, none is ignored.
 */
#ifndef CORE_FREEZE_H
#define CORE_FREEZE_H

#include "core/kapi.h"

struct binder_thread;

int binder_freeze_command(struct binder_thread *thread, u32 cmd);
int binder_freeze_ioctl(struct binder_thread *thread, unsigned int cmd);

#endif
