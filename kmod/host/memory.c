// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copying: between the calling task and the core, and into a receiver's
 * buffer. The pages of an allocated buffer are in their slots and stay there,
 * so their owner reads the slots without a lock.
 */
#include <linux/highmem.h>
#include <linux/uaccess.h>

#include "core/alloc.h"
#include "core/host.h"

size_t binder_host_read_user(struct binder_thread *thread, void *dst, u64 uaddr, size_t len)
{
	/* A 32-bit kernel has no such address. */
	if (unlikely(uaddr != (uintptr_t)uaddr))
		return 0;
	return len - copy_from_user(dst, (void __user *)(uintptr_t)uaddr, len);
}

int binder_host_write_user(struct binder_thread *thread, u64 uaddr, const void *src, size_t len)
{
	if (unlikely(uaddr != (uintptr_t)uaddr))
		return -EFAULT;
	return copy_to_user((void __user *)(uintptr_t)uaddr, src, len) ? -EFAULT : 0;
}

/* The piece of [@offset, +@len) that is in one page. */
static size_t piece_len(size_t offset, size_t len)
{
	return min_t(size_t, len, PAGE_SIZE - offset_in_page(offset));
}

static struct page *page_at(struct binder_alloc *alloc, size_t offset)
{
	return alloc->pages[offset >> PAGE_SHIFT].page;
}

static int user_to_buffer(struct binder_alloc *alloc, size_t offset, const void __user *from,
			  size_t len)
{
	while (len) {
		struct page *page = page_at(alloc, offset);
		size_t piece = piece_len(offset, len);
		u8 *to = kmap_local_page(page);
		unsigned long left = copy_from_user(to + offset_in_page(offset), from, piece);

		kunmap_local(to);
		flush_dcache_page(page);
		if (left)
			return -EFAULT;
		offset += piece;
		from += piece;
		len -= piece;
	}
	return 0;
}

int binder_host_copy_payload(struct binder_thread *thread, u64 uaddr, struct binder_alloc *alloc,
			     const struct binder_segment *segs, unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++) {
		const struct binder_segment *seg = &segs[i];
		const void __user *from = (const void __user *)(uintptr_t)uaddr;

		if (unlikely(uaddr != (uintptr_t)uaddr))
			return -EFAULT;
		if (!seg->mem)
			ret = user_to_buffer(alloc, seg->offset, from, seg->len);
		else if (copy_from_user(seg->mem, from, seg->len))
			ret = -EFAULT;
		uaddr += seg->len;
	}
	return ret;
}

void binder_host_write_buffer(struct binder_alloc *alloc, size_t offset, const void *src,
			      size_t len)
{
	while (len) {
		size_t piece = piece_len(offset, len);

		memcpy_to_page(page_at(alloc, offset), offset_in_page(offset), src, piece);
		offset += piece;
		src += piece;
		len -= piece;
	}
}

/* The receiver sees the pages themselves. */
void binder_host_buffer_ready(struct binder_alloc *alloc, size_t offset, size_t len)
{
}

void binder_host_zero_buffer(struct binder_alloc *alloc, size_t offset, size_t len)
{
	while (len) {
		size_t piece = piece_len(offset, len);

		memzero_page(page_at(alloc, offset), offset_in_page(offset), piece);
		offset += piece;
		len -= piece;
	}
}
