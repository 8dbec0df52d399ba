// SPDX-License-Identifier: GPL-2.0-only
/* Which function serves which request. */
#include "user/fuse/request.h"

#include <string.h>

#include "core/kapi.h"
#include "user/fuse/connection.h"
#include "user/fuse/snapshot.h"
#include "user/fuse/tree.h"
#include "user/host/call.h"
#include "user/host/open.h"
#include "user/host/poll.h"
#include "user/host/reclaim.h"
#include "user/host/store.h"
#include "uapi/binderfs.h"

/**
 * binder_request_init() - make sense of a message
 * @buf: @len bytes, kept while @rq is used
 * Return: false for what cannot be one; there is nobody to answer then.
 */
bool binder_request_init(struct binder_request *rq, int channel, const void *buf, size_t len)
{
	const struct fuse_in_header *in = buf;

	if (len < sizeof(*in) || in->len != len) {
		pr_err_ratelimited("FUSE sent a message of %zu bytes that is not a request\n", len);
		return false;
	}
	rq->channel = channel;
	rq->in = in;
	rq->arg = in + 1;
	rq->len = len - sizeof(*in);
	return true;
}

/** binder_request_needs_client() - may serving it touch client memory? */
bool binder_request_needs_client(const struct binder_request *rq)
{
	return rq->in->opcode == FUSE_IOCTL && binder_node_is_device(rq->in->nodeid);
}

/* Return: 0 with the answer sent, or -errno. */
static int control_ioctl(const struct binder_request *rq)
{
	const struct fuse_ioctl_in *arg = rq->arg;
	struct binderfs_device dev;
	u32 index;
	int ret;

	if (rq->len < sizeof(*arg) + sizeof(dev) || arg->cmd != BINDER_CTL_ADD)
		return -EINVAL;
	memcpy(&dev, arg + 1, sizeof(dev));
	dev.name[BINDERFS_MAX_NAME] = '\0';
	ret = binder_device_add(dev.name, &index);
	if (ret)
		return ret;
	/* It has no device number; there is none that would not mislead. */
	dev.major = 0;
	dev.minor = index;
	binder_fuse_reply_ioctl(rq->channel, rq->in->unique, 0, &dev, sizeof(dev));
	return 0;
}

static void serve_ioctl(const struct binder_request *rq)
{
	int ret = -ENOTTY;

	if (binder_node_is_device(rq->in->nodeid)) {
		binder_call_serve(rq);
		return;
	}
	if (rq->in->nodeid == BINDER_NODE_CONTROL)
		ret = control_ioctl(rq);
	if (ret)
		binder_fuse_error(rq->channel, rq->in->unique, ret);
}

static void serve_open(const struct binder_request *rq)
{
	static const struct binder_fuse_open_out plain = { .open_flags = FOPEN_DIRECT_IO };

	if (binder_node_is_device(rq->in->nodeid))
		binder_open_serve(rq);
	else if (rq->in->nodeid == BINDER_NODE_CONTROL || rq->in->nodeid == BINDER_NODE_RECLAIM)
		binder_fuse_reply(rq->channel, rq->in->unique, &plain, sizeof(plain));
	else
		binder_snapshot_open(rq);
}

static void serve_release(const struct binder_request *rq)
{
	if (binder_node_is_device(rq->in->nodeid))
		binder_open_release(rq);
	else
		binder_snapshot_release(rq);
}

static void serve_flush(const struct binder_request *rq)
{
	if (binder_node_is_device(rq->in->nodeid))
		binder_open_flush(rq);
	else
		binder_fuse_error(rq->channel, rq->in->unique, 0);
}

static void serve_read(const struct binder_request *rq)
{
	if (binder_node_is_device(rq->in->nodeid))
		binder_store_read(rq);
	else if (rq->in->nodeid == BINDER_NODE_CONTROL || rq->in->nodeid == BINDER_NODE_RECLAIM)
		binder_fuse_error(rq->channel, rq->in->unique, -EINVAL);
	else
		binder_snapshot_read(rq);
}

static void serve_write(const struct binder_request *rq)
{
	if (rq->in->nodeid == BINDER_NODE_RECLAIM)
		binder_reclaim_write(rq);
	else
		binder_fuse_error(rq->channel, rq->in->unique, -EINVAL);
}

static void serve_poll(const struct binder_request *rq)
{
	static const struct fuse_poll_out ready = { .revents = 5 /* POLLIN | POLLOUT */ };

	if (binder_node_is_device(rq->in->nodeid))
		binder_poll_serve(rq);
	else
		binder_fuse_reply(rq->channel, rq->in->unique, &ready, sizeof(ready));
}

static void serve_opendir(const struct binder_request *rq)
{
	static const struct binder_fuse_open_out plain;

	binder_fuse_reply(rq->channel, rq->in->unique, &plain, sizeof(plain));
}

/* Only an opened device is remembered by its node id. No answer. */
static void serve_forget(const struct binder_request *rq)
{
	const struct fuse_batch_forget_in *batch = rq->arg;
	const struct fuse_forget_one *one = (const void *)(batch + 1);
	u32 i;

	if (rq->in->opcode == FUSE_FORGET) {
		binder_open_forget(rq->in->nodeid);
		return;
	}
	if (rq->len < sizeof(*batch) || (rq->len - sizeof(*batch)) / sizeof(*one) < batch->count)
		return;
	for (i = 0; i < batch->count; i++)
		binder_open_forget(one[i].nodeid);
}

static void serve_name(const struct binder_request *rq)
{
	switch (rq->in->opcode) {
	case FUSE_LOOKUP:
		binder_tree_lookup(rq);
		break;
	case FUSE_GETATTR:
		binder_tree_getattr(rq);
		break;
	case FUSE_SETATTR:
		binder_tree_setattr(rq);
		break;
	case FUSE_UNLINK:
		binder_tree_unlink(rq);
		break;
	case FUSE_OPENDIR:
		serve_opendir(rq);
		break;
	case FUSE_READDIR:
		binder_tree_readdir(rq);
		break;
	case FUSE_STATFS:
		binder_tree_statfs(rq);
		break;
	case FUSE_RELEASEDIR:
	case FUSE_DESTROY:
		binder_fuse_error(rq->channel, rq->in->unique, 0);
		break;
	case FUSE_CREATE:
	case FUSE_MKNOD:
	case FUSE_MKDIR:
	case FUSE_SYMLINK:
	case FUSE_LINK:
	case FUSE_RMDIR:
	case FUSE_RENAME:
	case FUSE_RENAME2:
	case FUSE_TMPFILE:
		binder_fuse_error(rq->channel, rq->in->unique, -EPERM);
		break;
	default:
		/* Tells the kernel not to ask for such things any more. */
		binder_fuse_error(rq->channel, rq->in->unique, -ENOSYS);
	}
}

/**
 * binder_request_serve() - serve one request
 * Answers it, or sees to it that it is answered.
 * Context: sleeps; no locks held.
 */
void binder_request_serve(const struct binder_request *rq)
{
	switch (rq->in->opcode) {
	case FUSE_IOCTL:
		serve_ioctl(rq);
		break;
	case FUSE_POLL:
		serve_poll(rq);
		break;
	case FUSE_INTERRUPT:
		binder_call_interrupt(rq);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		serve_forget(rq);
		break;
	case FUSE_OPEN:
		serve_open(rq);
		break;
	case FUSE_READ:
		serve_read(rq);
		break;
	case FUSE_WRITE:
		serve_write(rq);
		break;
	case FUSE_FLUSH:
		serve_flush(rq);
		break;
	case FUSE_RELEASE:
		serve_release(rq);
		break;
	default:
		serve_name(rq);
	}
}
