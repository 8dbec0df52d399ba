// SPDX-License-Identifier: GPL-2.0-only
#include "user/fuse/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/kapi.h"
#include "core/proc.h"
#include "user/fuse/connection.h"
#include "user/host/mapping.h"

/* Names and attributes that never change may be cached for as long as this. */
#define FOREVER_S 86400

struct node {
	u64 nodeid;
	u64 parent;
	const char *name;
	u32 mode;
};

/* The logs name processes and addresses: for root, or whom root gives the group. */
static const struct node nodes[] = {
	{ BINDER_NODE_ROOT, BINDER_NODE_ROOT, ".", S_IFDIR | 0755 },
	{ BINDER_NODE_CONTROL, BINDER_NODE_ROOT, "binder-control", S_IFREG | 0600 },
	{ BINDER_NODE_FEATURES, BINDER_NODE_ROOT, "features", S_IFDIR | 0755 },
	{ BINDER_NODE_LOGS, BINDER_NODE_ROOT, "binder_logs", S_IFDIR | 0550 },
	{ BINDER_NODE_PROC, BINDER_NODE_LOGS, "proc", S_IFDIR | 0550 },
	{ BINDER_NODE_FEATURE_EXTENDED_ERROR, BINDER_NODE_FEATURES, "extended_error",
	  S_IFREG | 0444 },
	/* Named by node_name(). */
	{ BINDER_NODE_FEATURE_MAPPING, BINDER_NODE_FEATURES, NULL, S_IFREG | 0444 },
	{ BINDER_NODE_STATE, BINDER_NODE_LOGS, "state", S_IFREG | 0440 },
	{ BINDER_NODE_STATS, BINDER_NODE_LOGS, "stats", S_IFREG | 0440 },
	{ BINDER_NODE_TRANSACTIONS, BINDER_NODE_LOGS, "transactions", S_IFREG | 0440 },
	{ BINDER_NODE_LOG, BINDER_NODE_LOGS, "transaction_log", S_IFREG | 0440 },
	{ BINDER_NODE_LOG_FAILED, BINDER_NODE_LOGS, "failed_transaction_log", S_IFREG | 0440 },
	{ BINDER_NODE_RECLAIM, BINDER_NODE_LOGS, "reclaim", S_IFREG | 0200 },
};

static u64 device_serial; /* atomic: of the last device looked up */

static const struct node *node_find(u64 nodeid)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nodes); i++)
		if (nodes[i].nodeid == nodeid)
			return &nodes[i];
	return NULL;
}

static const char *node_name(const struct node *node)
{
	if (node->nodeid != BINDER_NODE_FEATURE_MAPPING)
		return node->name;
	return binder_mapping_stores() ? "mapping_store" : "mapping_passthrough";
}

static void attr_fill(struct fuse_attr *attr, u64 nodeid, u32 mode)
{
	static u64 start; /* atomic; any thread's first look at the clock will do */
	u64 now = READ_ONCE(start);

	if (!now) {
		now = time(NULL);
		WRITE_ONCE(start, now);
	}
	*attr = (struct fuse_attr){
		.ino = nodeid,
		.mode = mode,
		.nlink = S_ISDIR(mode) ? 2 : 1,
		.uid = geteuid(),
		.gid = getegid(),
		.blksize = PAGE_SIZE,
		.atime = now,
		.mtime = now,
		.ctime = now,
	};
}

static void device_attr_fill(struct fuse_attr *attr, u64 nodeid,
			     const struct binder_device_attr *dev)
{
	attr_fill(attr, nodeid, S_IFREG | dev->mode);
	/* Faults beyond the end are refused; with passthrough it is the memfd's end that counts. */
	attr->size = binder_mapping_stores() ? BINDER_MAP_MAX : 0;
	attr->uid = dev->uid;
	attr->gid = dev->gid;
	attr->nlink = !dev->gone;
}

static bool proc_exists(pid_t pid)
{
	struct binder_proc *proc;
	bool found = false;

	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry)
		found |= proc->pid == pid;
	binder_procs_unlock();
	return found;
}

/* The lowest pid above @after that has a device open, or 0. */
static pid_t proc_next(pid_t after)
{
	struct binder_proc *proc;
	pid_t next = 0;

	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry)
		if (proc->pid > after && (!next || proc->pid < next))
			next = proc->pid;
	binder_procs_unlock();
	return next;
}

static int lookup_proc(const char *name, struct fuse_entry_out *out)
{
	char canonical[16];
	long pid = strtol(name, NULL, 10);

	snprintf(canonical, sizeof(canonical), "%d", (pid_t)pid);
	if (pid <= 0 || strcmp(name, canonical) || !proc_exists((pid_t)pid))
		return -ENOENT;
	out->nodeid = BINDER_NODE_PROC_FILE | (u64)pid;
	attr_fill(&out->attr, out->nodeid, S_IFREG | 0440);
	return 0;
}

static int lookup_device(const char *name, struct fuse_entry_out *out)
{
	struct binder_device_attr dev;
	u64 serial;
	int ret = binder_device_find(name, &dev);

	if (ret)
		return ret;
	serial = __atomic_add_fetch(&device_serial, 1, __ATOMIC_RELAXED) &
		 ((BINDER_NODE_PROC_FILE >> BINDER_DEVICE_INDEX_BITS) - 1);
	/* The name expires at once, so the next open looks up again; the
	 * attributes of an inode that nobody else will ever get need not. */
	out->nodeid = serial << BINDER_DEVICE_INDEX_BITS | dev.index;
	out->attr_valid = FOREVER_S;
	device_attr_fill(&out->attr, out->nodeid, &dev);
	return 0;
}

static int lookup(u64 parent, const char *name, struct fuse_entry_out *out)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		if (nodes[i].parent != parent || strcmp(node_name(&nodes[i]), name))
			continue;
		out->nodeid = nodes[i].nodeid;
		out->entry_valid = FOREVER_S;
		out->attr_valid = FOREVER_S;
		attr_fill(&out->attr, out->nodeid, nodes[i].mode);
		return 0;
	}
	if (parent == BINDER_NODE_ROOT)
		return lookup_device(name, out);
	if (parent == BINDER_NODE_PROC)
		return lookup_proc(name, out);
	return -ENOENT;
}

/** binder_tree_lookup() - FUSE_LOOKUP. Context: may sleep; answers the request. */
void binder_tree_lookup(const struct binder_request *rq)
{
	struct fuse_entry_out out = { 0 };
	int ret = lookup(rq->in->nodeid, rq->arg, &out);

	if (ret)
		binder_fuse_error(rq->channel, rq->in->unique, ret);
	else
		binder_fuse_reply(rq->channel, rq->in->unique, &out, sizeof(out));
}

static int getattr(u64 nodeid, struct fuse_attr_out *out)
{
	const struct node *node = node_find(nodeid);

	*out = (struct fuse_attr_out){ .attr_valid = FOREVER_S };
	if (node) {
		attr_fill(&out->attr, nodeid, node->mode);
	} else if (nodeid & BINDER_NODE_PROC_FILE) {
		attr_fill(&out->attr, nodeid, S_IFREG | 0440);
	} else if (binder_node_is_device(nodeid)) {
		struct binder_device_attr dev;

		binder_device_attr(binder_node_device_index(nodeid), &dev);
		device_attr_fill(&out->attr, nodeid, &dev);
	} else {
		return -ENOENT;
	}
	return 0;
}

/** binder_tree_getattr() - FUSE_GETATTR. Context: may sleep; answers the request. */
void binder_tree_getattr(const struct binder_request *rq)
{
	struct fuse_attr_out out;
	int ret = getattr(rq->in->nodeid, &out);

	if (ret)
		binder_fuse_error(rq->channel, rq->in->unique, ret);
	else
		binder_fuse_reply(rq->channel, rq->in->unique, &out, sizeof(out));
}

static int setattr(u64 nodeid, const struct fuse_setattr_in *arg)
{
	bool mode = arg->valid & FATTR_MODE, uid = arg->valid & FATTR_UID;
	bool gid = arg->valid & FATTR_GID;

	if (arg->valid & FATTR_SIZE)
		return -EINVAL;
	if (!mode && !uid && !gid)
		return 0; /* times: accepted, and forgotten */
	if (!binder_node_is_device(nodeid))
		return -EPERM;
	return binder_device_set_attr(binder_node_device_index(nodeid), mode ? &arg->mode : NULL,
				      uid ? &arg->uid : NULL, gid ? &arg->gid : NULL);
}

/** binder_tree_setattr() - FUSE_SETATTR: chmod and chown of devices. Answers the request. */
void binder_tree_setattr(const struct binder_request *rq)
{
	int ret = rq->len < sizeof(struct fuse_setattr_in) ? -EINVAL :
							     setattr(rq->in->nodeid, rq->arg);

	if (ret)
		binder_fuse_error(rq->channel, rq->in->unique, ret);
	else
		binder_tree_getattr(rq);
}

/* A directory listing being built. */
struct listing {
	u8 *buf;
	size_t size;
	size_t len;
};

/* False when there is no room left. @next: where to go on after this entry. */
static bool list_add_name(struct listing *l, const char *name, u64 ino, u32 mode, u64 next)
{
	size_t namelen = strlen(name);
	size_t len = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + namelen);
	struct fuse_dirent *entry = (void *)(l->buf + l->len);

	if (l->len + len > l->size)
		return false;
	memset(entry, 0, len);
	entry->ino = ino;
	entry->off = next;
	entry->namelen = namelen;
	entry->type = (mode & S_IFMT) >> 12;
	memcpy(entry->name, name, namelen);
	l->len += len;
	return true;
}

/* Offsets of what is not in the table begin here. */
#define OFFSET_REST 64

static void list_devices(struct listing *l, u64 offset)
{
	u64 from = offset < OFFSET_REST ? 0 : offset - OFFSET_REST;
	struct binder_device_attr dev;

	while (from < BINDER_DEVICES_MAX && binder_device_next(from, &dev)) {
		from = dev.index + 1;
		/* The number is made up: stat finds another each time. */
		if (!list_add_name(l, dev.name, OFFSET_REST + dev.index, S_IFREG,
				   OFFSET_REST + from))
			return;
	}
}

static void list_procs(struct listing *l, u64 offset)
{
	pid_t pid = offset < OFFSET_REST ? 0 : offset - OFFSET_REST;
	char name[16];

	while ((pid = proc_next(pid))) {
		snprintf(name, sizeof(name), "%d", pid);
		if (!list_add_name(l, name, BINDER_NODE_PROC_FILE | (u64)pid, S_IFREG,
				   OFFSET_REST + (u64)pid))
			return;
	}
}

static void list(struct listing *l, u64 dir, u64 offset)
{
	u64 i;

	if (offset == 0 && !list_add_name(l, ".", dir, S_IFDIR, 1))
		return;
	if (offset <= 1 && !list_add_name(l, "..", BINDER_NODE_ROOT, S_IFDIR, 2))
		return;
	/* Entry i of the table ends at offset i + 2; the first one is the root. */
	for (i = 1; i < ARRAY_SIZE(nodes); i++) {
		if (nodes[i].parent != dir || offset >= i + 2)
			continue;
		if (!list_add_name(l, node_name(&nodes[i]), nodes[i].nodeid, nodes[i].mode, i + 2))
			return;
	}
	if (dir == BINDER_NODE_ROOT)
		list_devices(l, offset);
	else if (dir == BINDER_NODE_PROC)
		list_procs(l, offset);
}

/** binder_tree_readdir() - FUSE_READDIR. Context: may sleep; answers the request. */
void binder_tree_readdir(const struct binder_request *rq)
{
	const struct fuse_read_in *arg = rq->arg;
	u8 buf[4096] __attribute__((aligned(8)));
	struct listing l = { .buf = buf };

	if (rq->len < sizeof(*arg)) {
		binder_fuse_error(rq->channel, rq->in->unique, -EINVAL);
		return;
	}
	l.size = min_t(size_t, arg->size, sizeof(buf));
	list(&l, rq->in->nodeid, arg->offset);
	binder_fuse_reply(rq->channel, rq->in->unique, buf, l.len);
}

/** binder_tree_unlink() - FUSE_UNLINK: only devices go. Answers the request. */
void binder_tree_unlink(const struct binder_request *rq)
{
	int ret = -EPERM;

	if (rq->in->nodeid == BINDER_NODE_ROOT && strcmp(rq->arg, "binder-control"))
		ret = binder_device_del(rq->arg);
	binder_fuse_error(rq->channel, rq->in->unique, ret);
}

/** binder_tree_statfs() - FUSE_STATFS. Answers the request. */
void binder_tree_statfs(const struct binder_request *rq)
{
	struct fuse_statfs_out out = {
		.st = {
			.bsize = PAGE_SIZE,
			.frsize = PAGE_SIZE,
			.namelen = BINDERFS_MAX_NAME,
		},
	};

	binder_fuse_reply(rq->channel, rq->in->unique, &out, sizeof(out));
}
