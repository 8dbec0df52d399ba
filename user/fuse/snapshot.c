// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader sees the driver as it was when it opened the file, however slowly
 * it reads. The handle that FUSE keeps for us is the snapshot's address.
 */
#include "user/fuse/snapshot.h"

#include <fcntl.h>
#include <string.h>

#include "core/kapi.h"
#include "core/log.h"
#include "core/report.h"
#include "core/text.h"
#include "user/fuse/connection.h"
#include "user/fuse/tree.h"

#define SNAPSHOT_MIN (16 * 1024)
#define SNAPSHOT_MAX (64 * 1024 * 1024)

struct snapshot {
	refcount_t refs; /* the open's, and one for each read under way */
	size_t len;
	char text[];
};

/* binder-control has none. */
static void snapshot_put(struct snapshot *s)
{
	if (s && refcount_dec_and_test(&s->refs))
		kvfree(s);
}

static int snapshot_fill(u64 nodeid, struct binder_text *text)
{
	switch (nodeid) {
	case BINDER_NODE_FEATURE_EXTENDED_ERROR:
	case BINDER_NODE_FEATURE_MAPPING:
		binder_text_add(text, "1\n");
		return 0;
	case BINDER_NODE_STATE:
		binder_report_state(text);
		return 0;
	case BINDER_NODE_STATS:
		binder_report_stats(text);
		return 0;
	case BINDER_NODE_TRANSACTIONS:
		binder_report_transactions(text);
		return 0;
	case BINDER_NODE_LOG:
		binder_report_log(text, &binder_log_all);
		return 0;
	case BINDER_NODE_LOG_FAILED:
		binder_report_log(text, &binder_log_failed);
		return 0;
	default:
		if (!(nodeid & BINDER_NODE_PROC_FILE))
			return -ENOENT;
		binder_report_proc(text, (pid_t)nodeid);
		return 0;
	}
}

/* Nobody knows how long a report gets: try with more room until it fits. */
static struct snapshot *snapshot_make(u64 nodeid)
{
	struct binder_text text;
	struct snapshot *s;
	size_t size;
	int ret;

	for (size = SNAPSHOT_MIN;; size *= 4) {
		s = kvcalloc(1, sizeof(*s) + size, GFP_KERNEL);
		if (!s)
			return ERR_PTR(-ENOMEM);
		binder_text_init(&text, s->text, size);
		ret = snapshot_fill(nodeid, &text);
		if (ret) {
			kvfree(s);
			return ERR_PTR(ret);
		}
		refcount_set(&s->refs, 1);
		s->len = text.len;
		if (!text.truncated || size >= SNAPSHOT_MAX)
			return s;
		kvfree(s);
	}
}

/** binder_snapshot_open() - FUSE_OPEN of such a file. Context: may sleep; answers the request. */
void binder_snapshot_open(const struct binder_request *rq)
{
	const struct fuse_open_in *arg = rq->arg;
	struct binder_fuse_open_out out = { .open_flags = FOPEN_DIRECT_IO };
	struct snapshot *s;

	if (rq->len < sizeof(*arg) || (arg->flags & O_ACCMODE) != O_RDONLY) {
		binder_fuse_error(rq->channel, rq->in->unique, -EACCES);
		return;
	}
	s = snapshot_make(rq->in->nodeid);
	if (IS_ERR(s)) {
		binder_fuse_error(rq->channel, rq->in->unique, (int)PTR_ERR(s));
		return;
	}
	out.fh = (uintptr_t)s;
	/* When nobody takes the answer there will be no release either. */
	if (binder_fuse_reply(rq->channel, rq->in->unique, &out, sizeof(out)))
		snapshot_put(s);
}

/** binder_snapshot_read() - FUSE_READ. Answers the request. */
void binder_snapshot_read(const struct binder_request *rq)
{
	const struct fuse_read_in *arg = rq->arg;
	struct snapshot *s;
	size_t n = 0;

	if (rq->len < sizeof(*arg)) {
		binder_fuse_error(rq->channel, rq->in->unique, -EINVAL);
		return;
	}
	s = (struct snapshot *)(uintptr_t)arg->fh;
	refcount_inc(&s->refs);
	if (arg->offset < s->len)
		n = min_t(size_t, arg->size, s->len - arg->offset);
	binder_fuse_reply(rq->channel, rq->in->unique, s->text + (n ? arg->offset : 0), n);
	snapshot_put(s);
}

/** binder_snapshot_release() - FUSE_RELEASE. Answers the request. */
void binder_snapshot_release(const struct binder_request *rq)
{
	const struct fuse_release_in *arg = rq->arg;

	snapshot_put((struct snapshot *)(uintptr_t)arg->fh);
	binder_fuse_error(rq->channel, rq->in->unique, 0);
}
