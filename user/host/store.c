// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/store.h"

#include <errno.h>
#include <string.h>

#include "core/alloc.h"
#include "core/proc.h"
#include "core/thread.h"
#include "user/fuse/connection.h"
#include "user/host/mapping.h"

#define PUSHED_BITS 64

static bool pushed(struct binder_alloc *alloc, size_t index)
{
	u64 word = __atomic_load_n(&alloc->host.pushed[index / PUSHED_BITS], __ATOMIC_RELAXED);

	return word >> index % PUSHED_BITS & 1;
}

static void pushed_set(struct binder_alloc *alloc, size_t first, size_t last, bool value)
{
	size_t i;

	for (i = first; i <= last; i++) {
		u64 *word = &alloc->host.pushed[i / PUSHED_BITS];
		u64 bit = 1ULL << i % PUSHED_BITS;

		if (value)
			__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
		else
			__atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
	}
}

/* Out of the client's cache; the next touch is a FUSE_READ. */
static void cache_drop(struct binder_alloc *alloc, size_t offset, size_t len)
{
	int ret = binder_fuse_notify_inval(alloc->host.nodeid, offset, len);

	if (ret && ret != -ENOENT)
		pr_err_ratelimited("cannot take %zu bytes from the page cache of process %d: %s\n",
				   len, alloc->pid, strerror(-ret));
}

/* Return: 0; -ENOENT when the client has no inode any more; -errno. */
static int cache_fill(struct binder_alloc *alloc, size_t start, size_t end)
{
	int ret = binder_fuse_notify_store(alloc->host.nodeid, start,
					   binder_map_at(alloc, start, end - start), end - start);

	if (ret && ret != -ENOENT) {
		pr_err_ratelimited("cannot put %zu bytes into the page cache of process %d, it will have to read them: %s\n",
				   end - start, alloc->pid, strerror(-ret));
		/* Some of it may be there, and be old. */
		cache_drop(alloc, start, end - start);
	}
	return ret;
}

/**
 * binder_store_push() - make a piece of a buffer visible to the client
 * @offset, @len: in bytes, of a live buffer
 *
 * Cannot fail: what cannot be pushed will be read.
 *
 * Context: may sleep, until requests of the client are answered; not the
 * control thread. No locks that anybody who serves READ or WRITE takes.
 */
void binder_store_push(struct binder_alloc *alloc, size_t offset, size_t len)
{
	size_t first = offset >> PAGE_SHIFT;
	size_t end = offset + len;
	size_t last = (end - 1) >> PAGE_SHIFT;
	bool whole_first, whole_last;

	if (!len)
		return;
	whole_first = !pushed(alloc, first);
	whole_last = first == last ? whole_first : !pushed(alloc, last);
	if (whole_first)
		offset = first << PAGE_SHIFT;
	if (whole_last)
		end = (last + 1) << PAGE_SHIFT;
	if (!cache_fill(alloc, offset, end))
		pushed_set(alloc, first, last, true);
	else
		pushed_set(alloc, first, last, false);
}

/**
 * binder_store_take_back() - the client shall not have these pages any more
 * @offset, @len: in bytes, of whole pages; the daemon's memory of them is given back already
 * Context: as binder_store_push().
 */
void binder_store_take_back(struct binder_alloc *alloc, size_t offset, size_t len)
{
	pushed_set(alloc, offset >> PAGE_SHIFT, (offset + len - 1) >> PAGE_SHIFT, false);
	cache_drop(alloc, offset, len);
}

/**
 * binder_store_read() - FUSE_READ of a device: a page the client has not got
 * Waits for nothing and takes no lock: others wait for it. Answers the request.
 */
void binder_store_read(const struct binder_request *rq)
{
	const struct fuse_read_in *arg = rq->arg;
	struct binder_proc *proc;
	void *page = NULL;
	size_t n = 0;

	if (!binder_mapping_stores() || rq->len < sizeof(*arg)) {
		binder_fuse_error(rq->channel, rq->in->unique, -EINVAL);
		return;
	}
	/* The open cannot be released before this is answered: nor can its memory. */
	proc = (struct binder_proc *)(uintptr_t)arg->fh;
	if (arg->offset < BINDER_MAP_MAX)
		n = min_t(size_t, arg->size, BINDER_MAP_MAX - arg->offset);
	if (n)
		page = binder_map_at(proc->alloc, arg->offset, n);
	/* The kernel orders this before the release; counting says so to ThreadSanitizer. */
	__atomic_fetch_add(&proc->alloc->host.reads, 1, __ATOMIC_RELEASE);
	binder_fuse_reply_live(rq->channel, rq->in->unique, page, n);
}

/**
 * binder_store_source() - the calling worker is about to touch client memory
 * @addr, @len: of it
 *
 * A client may send from what it received. A page of its mapping that is not
 * in its cache would be read from us, by a worker that is waiting for just
 * that. It is pushed, rather than the copy made from our memory, because we
 * do not hear of a munmap: something else may be there by now. What cannot be
 * helped so, such as a mapping of another open, the control thread serves.
 *
 * Context: as binder_store_push().
 */
void binder_store_source(struct binder_thread *thread, u64 addr, size_t len)
{
	struct binder_alloc *alloc = thread->proc->alloc;
	size_t start, end;

	if (!len || !binder_alloc_mapped(alloc) || addr >= alloc->user_addr + alloc->size ||
	    addr + len <= alloc->user_addr || addr + len < addr)
		return;
	start = addr > alloc->user_addr ? addr - alloc->user_addr : 0;
	end = min_t(u64, addr + len - alloc->user_addr, alloc->size);
	/* Not noted as pushed: no buffer keeps the pages where they are. */
	cache_fill(alloc, start & PAGE_MASK, ALIGN(end, PAGE_SIZE));
}
