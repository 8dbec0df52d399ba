/* SPDX-License-Identifier: GPL-2.0-only */
/* The write half of BINDER_WRITE_READ: BC_ commands. */
#ifndef CORE_COMMAND_H
#define CORE_COMMAND_H

#include "uapi/binder.h"

struct binder_thread;

int binder_write(struct binder_thread *thread, struct binder_write_read *bwr);

#endif
