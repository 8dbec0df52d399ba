/* SPDX-License-Identifier: GPL-2.0-only */
/* Files whose content is made when they are opened: binder_logs and features. */
#ifndef USER_FUSE_SNAPSHOT_H
#define USER_FUSE_SNAPSHOT_H

#include "user/fuse/request.h"

void binder_snapshot_open(const struct binder_request *rq);
void binder_snapshot_read(const struct binder_request *rq);
void binder_snapshot_release(const struct binder_request *rq);

#endif
