/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory behind one open of a device, in one of two ways.
 *
 * Passthrough: a memfd that the client maps and the daemon maps too. What the
 * daemon stores, the client sees: no copy, no call. Everything in it is the
 * client's to scribble on. It takes Linux 6.9 and CAP_SYS_ADMIN.
 *
 * Store: memory of the daemon's, copied into the page cache that the client
 * maps (store.h). It takes nothing, a second copy, and a call for each payload.
 */
#ifndef USER_HOST_MAPPING_H
#define USER_HOST_MAPPING_H

#include <linux/types.h>

struct binder_alloc;

enum binder_mapping {
	BINDER_MAPPING_AUTO, /* passthrough where it can be had */
	BINDER_MAPPING_PASSTHROUGH,
	BINDER_MAPPING_STORE,
};

/* Immutable once requests are served; then never BINDER_MAPPING_AUTO. */
extern enum binder_mapping binder_mapping;

/** binder_mapping_stores() - is it the second way? Context: any. */
static inline bool binder_mapping_stores(void)
{
	return binder_mapping == BINDER_MAPPING_STORE;
}

int binder_map_create(u8 **base, int *backing_id);
void binder_map_destroy(u8 *base);
void binder_map_zap(struct binder_alloc *alloc, size_t first, size_t nr);
void *binder_map_at(struct binder_alloc *alloc, size_t offset, size_t len);

#endif
