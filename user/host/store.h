/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mapping without passthrough: the client maps the page cache of its inode,
 * and the daemon fills that from the memory it keeps for the open.
 *
 * The daemon's memory is what counts. A page gets from it into the cache in
 * two ways: pushed, when a buffer is ready, or read, when the client touches
 * one that is not there (never pushed, or taken by the kernel, which is short
 * of memory). Both copy while they hold the page's lock, so whichever comes
 * last leaves what the memory was then; and since a buffer is pushed after it
 * was written, the client sees it whole when it is told of it. A first push
 * takes whole pages, which spares the client the read.
 *
 * Who pushes or takes back may have to wait for a read, or a write, of the
 * page to be answered. So there must always be somebody who serves requests
 * and does neither: the control thread (worker.h), which for that reason must
 * not give idle pages back (binder_pages_shrink()). A RELEASE it may serve,
 * though that takes pages back: it comes when all reads and writes are answered.
 */
#ifndef USER_HOST_STORE_H
#define USER_HOST_STORE_H

#include "user/fuse/request.h"

struct binder_alloc;
struct binder_thread;

void binder_store_push(struct binder_alloc *alloc, size_t offset, size_t len);
void binder_store_take_back(struct binder_alloc *alloc, size_t offset, size_t len);
void binder_store_read(const struct binder_request *rq);
void binder_store_source(struct binder_thread *thread, u64 addr, size_t len);

#endif
