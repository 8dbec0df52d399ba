/* SPDX-License-Identifier: GPL-2.0-only */
/* Mounting and unmounting, and what may be in the way of it. */
#ifndef USER_FUSE_MOUNT_H
#define USER_FUSE_MOUNT_H

int binder_mount_check_timeouts(void);
int binder_mount_attach(const char *path);
void binder_mount_detach(void);
const char *binder_mount_device(void);

#endif
