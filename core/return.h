/* SPDX-License-Identifier: GPL-2.0-only */
/* The read half of BINDER_WRITE_READ: BR_ returns. */
#ifndef CORE_RETURN_H
#define CORE_RETURN_H

#include "core/kapi.h"
#include "uapi/binder.h"

struct binder_thread;

/* binder_read() parked the thread: there is nothing to return yet */
#define BINDER_PARK 1

int binder_read(struct binder_thread *thread, struct binder_write_read *bwr, bool nonblock);

#endif
