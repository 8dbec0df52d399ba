/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening and closing a device. An open is a struct binder_proc, and its
 * address the handle that FUSE gives back with every request.
 */
#ifndef USER_HOST_OPEN_H
#define USER_HOST_OPEN_H

#include "user/fuse/request.h"

struct binder_proc;

void binder_opens_init(void);
void binder_open_serve(const struct binder_request *rq);
void binder_open_flush(const struct binder_request *rq);
void binder_open_release(const struct binder_request *rq);
void binder_open_forget(u64 nodeid);
void binder_open_confirm(struct binder_proc *proc);

#endif
