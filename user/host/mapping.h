/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory behind one open of a device: a memfd that the client maps (FUSE
 * passthrough) and the daemon maps too. What the daemon stores, the client
 * sees: no copy, no call. Everything in it is the client's to scribble on.
 *
 * The other way, for kernels or users without passthrough, would be pages
 * pushed into the client's page cache by FUSE_NOTIFY_STORE; it would live here
 * and in memory.c, and nothing else would change.
 */
#ifndef USER_HOST_MAPPING_H
#define USER_HOST_MAPPING_H

#include <linux/types.h>

struct binder_alloc;

int binder_map_create(u8 **base);
void binder_map_destroy(u8 *base);
void *binder_map_at(struct binder_alloc *alloc, size_t offset, size_t len);

#endif
