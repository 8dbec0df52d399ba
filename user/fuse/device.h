/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The binder devices of the filesystem: a name and an index each, and the
 * core's context. An index names a device inside node ids (tree.h), so it is
 * used again only after all others were.
 */
#ifndef USER_FUSE_DEVICE_H
#define USER_FUSE_DEVICE_H

#include <linux/types.h>
#include "uapi/binderfs.h"

struct binder_context;

#define BINDER_DEVICE_INDEX_BITS 20
#define BINDER_DEVICES_MAX (1u << BINDER_DEVICE_INDEX_BITS)

/* What stat shows of a device. */
struct binder_device_attr {
	u32 index;
	u32 mode; /* permission bits */
	u32 uid;
	u32 gid;
	bool gone; /* unlinked: the rest is the default */
	char name[BINDERFS_MAX_NAME + 1]; /* filled in by binder_device_next() only */
};

int binder_devices_init(const char *names, u32 max, u32 mode);
int binder_device_add(const char *name, u32 *index);
int binder_device_del(const char *name);
int binder_device_find(const char *name, struct binder_device_attr *attr);
void binder_device_attr(u32 index, struct binder_device_attr *attr);
int binder_device_set_attr(u32 index, const u32 *mode, const u32 *uid, const u32 *gid);
bool binder_device_next(u32 from, struct binder_device_attr *attr);
struct binder_context *binder_device_context(u32 index);

#endif
