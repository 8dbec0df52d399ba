// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the calling task. It sits in its ioctl meanwhile, so its thread id
 * is its own; but the memory may be a mapping of a file whose server never
 * answers, and then a copy hangs and this worker with it (see worker.c).
 *
 * Reaching into another process costs far more than the bytes. A thread that
 * makes the same call over and over has its payload where the last ones were,
 * so the first read of a call, which is of its commands, fetches what is there
 * as well: that saves a system call. Only of such a thread: what a call does
 * not name is not ours to touch, and may be memory that never answers.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/uio.h>

#include "core/alloc.h"
#include "core/proc.h"
#include "core/thread.h"
#include "user/host/mapping.h"
#include "user/host/memory.h"
#include "user/host/store.h"

#define IOV_FEW 16

/* Say once in a while why nothing works, if it is not the client's fault. */
static void copy_refused(struct binder_thread *thread, int err)
{
	if (err == EFAULT || err == ESRCH)
		return;
	if (err == EPERM || err == ENOSYS)
		pr_err_ratelimited("process_vm_readv of process %d refused: %s. anybinderd needs ptrace rights over its clients: run it as root with CAP_SYS_PTRACE, kernel.yama.ptrace_scope below 3; in a container, allow process_vm_readv in the seccomp profile and share the pid namespace\n",
				   thread->proc->pid, strerror(err));
	else
		pr_err_ratelimited("copying from or to process %d failed: %s\n",
				   thread->proc->pid, strerror(err));
}

/* Before any copy: some client memory is ours to provide. */
static void copy_prepare(struct binder_thread *thread, u64 uaddr, size_t len)
{
	if (binder_mapping_stores())
		binder_store_source(thread, uaddr, len);
}

/* As many payloads at one place, from one write buffer, make a habit. */
#define GUESS_REPEATS 2

/** binder_guess_begin() - a call begins. Context: the thread's worker. */
void binder_guess_begin(struct binder_guess *guess, const struct binder_write_read *bwr)
{
	guess->due = guess->len && guess->repeats >= GUESS_REPEATS &&
		     guess->write_buffer == bwr->write_buffer &&
		     guess->write_size == bwr->write_size;
	guess->write_buffer = bwr->write_buffer;
	guess->write_size = bwr->write_size;
}

/** binder_guess_end() - its commands are done: what was fetched and not used is void */
void binder_guess_end(struct binder_guess *guess)
{
	if (guess->have)
		guess->repeats = 0;
	guess->have = 0;
	guess->due = false;
}

size_t binder_host_read_user(struct binder_thread *thread, void *dst, u64 uaddr, size_t len)
{
	struct binder_guess *guess = &thread->host.guess;
	size_t extra = guess->due ? guess->len : 0;
	struct iovec local[2] = { { dst, len }, { guess->data, extra } };
	struct iovec remote[2] = { { (void *)(uintptr_t)uaddr, len },
				   { (void *)(uintptr_t)guess->addr, extra } };
	unsigned int nr = extra ? 2 : 1;
	ssize_t n;

	if (!len)
		return 0;
	guess->due = false;
	copy_prepare(thread, uaddr, len);
	copy_prepare(thread, guess->addr, extra);
	n = process_vm_readv(thread->tid, local, nr, remote, nr, 0);
	if (n < 0) {
		copy_refused(thread, errno);
		return 0;
	}
	if ((size_t)n <= len)
		return n;
	guess->have = (u16)(n - len);
	return len;
}

static void *segment_at(struct binder_alloc *alloc, const struct binder_segment *seg)
{
	return seg->mem ? seg->mem : binder_map_at(alloc, seg->offset, seg->len);
}

/* The payload, if it was fetched already. It is used once: the next may differ. */
static bool guess_use(struct binder_thread *thread, u64 uaddr, struct binder_alloc *alloc,
		      const struct binder_segment *segs, unsigned int nr)
{
	struct binder_guess *guess = &thread->host.guess;
	size_t len = 0, have = guess->have;
	unsigned int i;

	for (i = 0; i < nr && len <= BINDER_GUESS_MAX; i++)
		len += segs[i].len;
	guess->have = 0;
	if (i < nr || len > BINDER_GUESS_MAX) {
		guess->len = 0;
		return false;
	}
	if (guess->addr != uaddr || guess->len != len) {
		have = 0;
		guess->repeats = 0;
	} else if (guess->repeats < GUESS_REPEATS) {
		guess->repeats++;
	}
	guess->addr = uaddr;
	guess->len = (u16)len;
	if (have < len)
		return false;
	for (i = 0, len = 0; i < nr; len += segs[i++].len)
		memcpy(segment_at(alloc, &segs[i]), guess->data + len, segs[i].len);
	return true;
}

int binder_host_write_user(struct binder_thread *thread, u64 uaddr, const void *src, size_t len)
{
	struct iovec local = { .iov_base = (void *)src, .iov_len = len };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)uaddr, .iov_len = len };
	ssize_t n;

	if (!len)
		return 0;
	copy_prepare(thread, uaddr, len);
	n = process_vm_writev(thread->tid, &local, 1, &remote, 1, 0);
	if (n == (ssize_t)len)
		return 0;
	if (n < 0)
		copy_refused(thread, errno);
	return -EFAULT;
}

static int copy_vector(struct binder_thread *thread, const struct iovec *local, unsigned int nr,
		       u64 uaddr, size_t len)
{
	struct iovec remote = { .iov_base = (void *)(uintptr_t)uaddr, .iov_len = len };
	ssize_t n;

	if (!len)
		return 0;
	copy_prepare(thread, uaddr, len);
	n = process_vm_readv(thread->tid, local, nr, &remote, 1, 0);
	if (n == (ssize_t)len)
		return 0;
	if (n < 0)
		copy_refused(thread, errno);
	return -EFAULT;
}

static size_t vector_fill(struct iovec *local, struct binder_alloc *alloc,
			  const struct binder_segment *segs, unsigned int nr)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		local[i].iov_base = segment_at(alloc, &segs[i]);
		local[i].iov_len = segs[i].len;
		len += segs[i].len;
	}
	return len;
}

/* More pieces than a small vector has: as few calls as the kernel's limit allows. */
static int copy_many(struct binder_thread *thread, u64 uaddr, struct binder_alloc *alloc,
		     const struct binder_segment *segs, unsigned int nr)
{
	struct iovec local[IOV_MAX];

	while (nr) {
		unsigned int part = min_t(unsigned int, nr, ARRAY_SIZE(local));
		size_t len = vector_fill(local, alloc, segs, part);
		int ret = copy_vector(thread, local, part, uaddr, len);

		if (ret)
			return ret;
		uaddr += len;
		segs += part;
		nr -= part;
	}
	return 0;
}

int binder_host_copy_payload(struct binder_thread *thread, u64 uaddr, struct binder_alloc *alloc,
			     const struct binder_segment *segs, unsigned int nr)
{
	struct iovec local[IOV_FEW];

	if (guess_use(thread, uaddr, alloc, segs, nr))
		return 0;
	if (nr > ARRAY_SIZE(local))
		return copy_many(thread, uaddr, alloc, segs, nr);
	return copy_vector(thread, local, nr, uaddr, vector_fill(local, alloc, segs, nr));
}

void binder_host_write_buffer(struct binder_alloc *alloc, size_t offset, const void *src,
			      size_t len)
{
	memcpy(binder_map_at(alloc, offset, len), src, len);
}

void binder_host_zero_buffer(struct binder_alloc *alloc, size_t offset, size_t len)
{
	memset(binder_map_at(alloc, offset, len), 0, len);
	if (binder_mapping_stores())
		binder_store_push(alloc, offset, len);
}
