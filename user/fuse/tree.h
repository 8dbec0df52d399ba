/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of the filesystem: names, node ids, attributes.
 *
 *   /            binder-control, devices, features/, binder_logs/
 *   features/    one file for each feature the core has, and one that is named
 *                after the way clients map (mapping.h)
 *   binder_logs/ state stats transactions transaction_log
 *                failed_transaction_log proc/PID; reclaim, to be written to
 *
 * Every lookup of a device answers with a node id never used before, so that
 * every open gets an inode, and with it a mapping, of its own. What the id
 * names is in the id: nothing is remembered for a lookup, and nothing leaks.
 */
#ifndef USER_FUSE_TREE_H
#define USER_FUSE_TREE_H

#include <linux/types.h>
#include "user/fuse/device.h"
#include "user/fuse/request.h"

enum {
	BINDER_NODE_ROOT = FUSE_ROOT_ID,
	BINDER_NODE_CONTROL,
	BINDER_NODE_FEATURES,
	BINDER_NODE_LOGS,
	BINDER_NODE_PROC,
	BINDER_NODE_FEATURE_EXTENDED_ERROR,
	BINDER_NODE_FEATURE_MAPPING,
	BINDER_NODE_STATE,
	BINDER_NODE_STATS,
	BINDER_NODE_TRANSACTIONS,
	BINDER_NODE_LOG,
	BINDER_NODE_LOG_FAILED,
	BINDER_NODE_RECLAIM,
};

/* proc/PID: this bit and the pid. */
#define BINDER_NODE_PROC_FILE (1ULL << 62)

/* A device: a serial number above the index. */
static inline bool binder_node_is_device(u64 nodeid)
{
	return nodeid >> BINDER_DEVICE_INDEX_BITS && !(nodeid & BINDER_NODE_PROC_FILE);
}

static inline u32 binder_node_device_index(u64 nodeid)
{
	return nodeid & (BINDER_DEVICES_MAX - 1);
}

void binder_tree_lookup(const struct binder_request *rq);
void binder_tree_getattr(const struct binder_request *rq);
void binder_tree_setattr(const struct binder_request *rq);
void binder_tree_readdir(const struct binder_request *rq);
void binder_tree_unlink(const struct binder_request *rq);
void binder_tree_statfs(const struct binder_request *rq);

#endif
