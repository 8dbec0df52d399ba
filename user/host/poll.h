/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * poll and epoll on a device.
 *
 * The kernel asks with FUSE_POLL and, when somebody is going to sleep on the
 * answer, wants one FUSE_NOTIFY_POLL when it may have changed. poll_armed says
 * that notice is owed. It is set before the state is looked at and taken by
 * whoever changes the state after, so a change is either seen or announced.
 */
#ifndef USER_HOST_POLL_H
#define USER_HOST_POLL_H

#include "user/fuse/request.h"

struct binder_proc;

void binder_poll_serve(const struct binder_request *rq);
void binder_poll_notify(struct binder_proc *proc);

#endif
