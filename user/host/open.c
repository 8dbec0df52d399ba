// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/context.h"
#include "core/proc.h"
#include "user/fuse/connection.h"
#include "user/fuse/tree.h"
#include "user/host/identity.h"
#include "user/host/mapping.h"

#define NODE_BUCKETS 4096

/*
 * Node ids that were opened, until the kernel forgets them. An inode has one
 * page cache, so it can be one open's mapping only: opening it again, which
 * two openers can do who share a lookup, is answered with ESTALE, and the
 * kernel looks the name up again.
 */
struct opened {
	struct list_head entry;
	u64 nodeid;
};

static struct {
	struct mutex lock; /* a leaf */
	struct list_head buckets[NODE_BUCKETS];
} nodes;

/** binder_opens_init() - once, before requests are served */
void binder_opens_init(void)
{
	int i;

	mutex_init(&nodes.lock);
	for (i = 0; i < NODE_BUCKETS; i++)
		INIT_LIST_HEAD(&nodes.buckets[i]);
}

static struct opened *node_find_locked(u64 nodeid)
{
	struct list_head *bucket =
		&nodes.buckets[(nodeid >> BINDER_DEVICE_INDEX_BITS) % NODE_BUCKETS];
	struct opened *node;

	lockdep_assert_held(&nodes.lock);
	list_for_each_entry(node, bucket, entry)
		if (node->nodeid == nodeid)
			return node;
	return NULL;
}

static int node_claim(u64 nodeid)
{
	struct opened *node = kmalloc(sizeof(*node), GFP_KERNEL);
	bool taken;

	if (!node)
		return -ENOMEM;
	node->nodeid = nodeid;
	mutex_lock(&nodes.lock);
	taken = node_find_locked(nodeid) != NULL;
	if (!taken)
		list_add(&node->entry,
			 &nodes.buckets[(nodeid >> BINDER_DEVICE_INDEX_BITS) % NODE_BUCKETS]);
	mutex_unlock(&nodes.lock);
	if (taken)
		kfree(node);
	return taken ? -ESTALE : 0;
}

/** binder_open_forget() - the kernel has no inode with this id any more */
void binder_open_forget(u64 nodeid)
{
	struct opened *node;

	if (!binder_node_is_device(nodeid))
		return;
	mutex_lock(&nodes.lock);
	node = node_find_locked(nodeid);
	if (node)
		list_del(&node->entry);
	mutex_unlock(&nodes.lock);
	kfree(node);
}

/* ---- open ------------------------------------------------------------------- */

/* An open on its way. */
struct opening {
	struct binder_host_proc host; /* moves to the process */
	pid_t tgid;
	u8 *base;
	int backing_id; /* 0: none, as the kernel counts from 1 */
};

static int opener_identify(struct opening *o, const struct fuse_in_header *in)
{
	int ret;

	if (!in->pid) {
		pr_warn_ratelimited("open by a client outside the daemon's pid namespace: refused; run anybinderd in a pid namespace that contains its clients'\n");
		return -EINVAL;
	}
	errno = 0;
	o->tgid = binder_identity_tgid(in->pid);
	if (!o->tgid && (errno == EMFILE || errno == ENFILE)) {
		pr_err_ratelimited("open by thread %u: out of descriptors: raise the daemon's limit (ulimit -n, LimitNOFILE=)\n",
				   in->pid);
		return -ENFILE;
	}
	if (!o->tgid) {
		pr_err_ratelimited("open by thread %u: cannot read /proc/%u/status; is /proc mounted, for the daemon's pid namespace, without hidepid?\n",
				   in->pid, in->pid);
		return -EINVAL;
	}
	ret = binder_identity_read(&o->host, o->tgid);
	if (ret == -EPERM)
		pr_err_ratelimited("open by process %d (uid %u): refused, because anybinderd has no ptrace rights over it and could not copy its messages. Run anybinderd as root with CAP_SYS_PTRACE; kernel.yama.ptrace_scope must be below 3\n",
				   o->tgid, in->uid);
	else if (ret)
		pr_err_ratelimited("open by process %d: cannot tell its namespaces: %s\n", o->tgid,
				   strerror(-ret));
	return ret;
}

static int memory_setup(struct opening *o)
{
	int ret = binder_map_create(&o->base, &o->backing_id);

	if (ret)
		pr_err_ratelimited("open by process %d: no memory for its mapping: %s%s\n", o->tgid,
				   strerror(-ret),
				   ret == -ENOMEM ? " (vm.max_map_count limits the number of opens)" :
						    "");
	return ret;
}

static struct binder_proc *proc_make(struct opening *o, u64 nodeid)
{
	struct binder_context *context = binder_device_context(binder_node_device_index(nodeid));
	struct binder_proc *proc;

	if (!context)
		return ERR_PTR(-ESTALE); /* unlinked since the lookup: look again */
	proc = binder_proc_open(context, o->tgid);
	binder_context_put(context);
	if (!proc)
		return ERR_PTR(-ENOMEM);
	proc->host = o->host;
	proc->host.backing_id = o->backing_id;
	proc->alloc->host.nodeid = nodeid;
	/* To be seen by binder_map_zap(): the process is in the list of all already. */
	__atomic_store_n(&proc->alloc->host.base, o->base, __ATOMIC_RELEASE);
	return proc;
}

static struct binder_proc *open_device(const struct binder_request *rq, struct opening *o)
{
	const struct fuse_open_in *arg = rq->arg;
	struct binder_proc *proc;
	int ret;

	if (rq->len < sizeof(*arg))
		return ERR_PTR(-EINVAL);
	ret = node_claim(rq->in->nodeid);
	if (ret)
		return ERR_PTR(ret);
	o->host.nodeid = rq->in->nodeid;
	o->host.uid = (binder_uid_t){ rq->in->uid };
	o->host.nonblock = arg->flags & O_NONBLOCK;
	ret = opener_identify(o, rq->in);
	if (ret)
		return ERR_PTR(ret);
	ret = memory_setup(o);
	if (ret)
		goto err_free_identity;
	proc = proc_make(o, rq->in->nodeid);
	if (!IS_ERR(proc))
		return proc;

	ret = (int)PTR_ERR(proc);
	if (o->backing_id)
		binder_fuse_backing_close(o->backing_id);
	binder_map_destroy(o->base);
err_free_identity:
	binder_identity_free(&o->host);
	return ERR_PTR(ret);
}

/** binder_open_serve() - FUSE_OPEN of a device. Context: may sleep; answers the request. */
void binder_open_serve(const struct binder_request *rq)
{
	struct opening o = { 0 };
	struct binder_proc *proc = open_device(rq, &o);
	/*
	 * Direct: mmap is passed through, read() and write() come to us, who refuse
	 * them. Passed through, a write() from memory that never answers would keep
	 * the memfd locked, and whoever punches holes in it would wait for ever.
	 */
	struct binder_fuse_open_out out = {
		.open_flags = binder_mapping_stores() ? FOPEN_KEEP_CACHE :
							FOPEN_PASSTHROUGH | FOPEN_DIRECT_IO,
	};

	if (IS_ERR(proc)) {
		binder_fuse_error(rq->channel, rq->in->unique, (int)PTR_ERR(proc));
		return;
	}
	out.fh = (uintptr_t)proc;
	out.backing_id = o.backing_id;
	/* When nobody takes the answer there will be no release either. */
	if (binder_fuse_reply(rq->channel, rq->in->unique, &out, sizeof(out))) {
		binder_open_confirm(proc);
		binder_proc_release(proc);
	}
}

/**
 * binder_open_confirm() - the open has ended: any request on it proves that
 *
 * The kernel looks the backing file up only when the opener goes on after the
 * answer, so its id cannot be closed right after sending that.
 *
 * Context: any but under a spinlock.
 */
void binder_open_confirm(struct binder_proc *proc)
{
	int id = __atomic_exchange_n(&proc->host.backing_id, 0, __ATOMIC_RELAXED);

	if (id)
		binder_fuse_backing_close(id);
}

/* ---- flush and release ---------------------------------------------------------- */

/** binder_open_flush() - FUSE_FLUSH: one of its descriptors was closed. Answers the request. */
void binder_open_flush(const struct binder_request *rq)
{
	const struct fuse_flush_in *arg = rq->arg;

	binder_proc_flush((struct binder_proc *)(uintptr_t)arg->fh);
	binder_fuse_error(rq->channel, rq->in->unique, 0);
}

/** binder_open_release() - FUSE_RELEASE: the last one was. Answers the request. */
void binder_open_release(const struct binder_request *rq)
{
	const struct fuse_release_in *arg = rq->arg;
	struct binder_proc *proc = (struct binder_proc *)(uintptr_t)arg->fh;

	binder_open_confirm(proc);
	binder_proc_release(proc);
	binder_fuse_error(rq->channel, rq->in->unique, 0);
}

void binder_host_proc_fini(struct binder_proc *proc)
{
	binder_identity_free(&proc->host);
}
