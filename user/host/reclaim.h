/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that nobody uses goes back to the system: idle pages, the core's, in
 * the order in which they became idle; and stray ones, which clients put into
 * their mappings themselves and the core knows nothing of.
 */
#ifndef USER_HOST_RECLAIM_H
#define USER_HOST_RECLAIM_H

#include "user/fuse/request.h"

/* What the control file takes; the bits of a number, as of vm.drop_caches. */
#define BINDER_RECLAIM_IDLE 1
#define BINDER_RECLAIM_STRAY 2

int binder_reclaim_start(u32 idle_s);
void binder_reclaim_write(const struct binder_request *rq);

#endif
