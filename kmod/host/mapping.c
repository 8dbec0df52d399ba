// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap, and how pages get into a mapping and out of it.
 *
 * In: by the receiver's own page fault. A sender only puts pages into slots;
 * it never takes another process's mmap lock, so nothing the receiver does
 * with its address space can hold up a sender, and no sender that is
 * scheduled away can hold up a receiver. The fault finds the page in its slot
 * and inserts it under install_mutex, which comes after the mmap lock here.
 *
 * Out: every open has an address_space of its own, which its file maps. So
 * unmap_mapping_range() finds the mapping by itself: neither an mm that may be
 * exiting nor its mmap lock is needed, and a shrinker can call it from
 * wherever reclaim happens to run. The zap of a slot and the insert by a fault
 * exclude each other by install_mutex: without it a fault could insert a page
 * that has just been zapped.
 */
#include "kmod/host/mapping.h"

#include <linux/mm.h>
#include <linux/pagemap.h>

#include "core/alloc.h"
#include "core/proc.h"
#include "kmod/compat/mm.h"
#include "kmod/host/file.h"

/* A large payload's pages come with few faults; one page's fault stays short. */
#define FAULT_AROUND_PAGES 15

/**
 * binder_mapping_attach() - give a file an address_space of its own
 * @alloc: of the open; its host part outlives @file's mappings, as they hold @file
 * @file: being opened
 * Context: any.
 */
void binder_mapping_attach(struct binder_alloc *alloc, struct file *file)
{
	struct address_space *mapping = &alloc->host.mapping;

	address_space_init_once(mapping);
	/* Whoever looks at a file's mapping may ask for its inode and operations. */
	mapping->host = file_inode(file);
	mapping->a_ops = &empty_aops;
	mapping_set_gfp_mask(mapping, GFP_KERNEL);
	file->f_mapping = mapping;
}

/* ---- the mapping's life ---------------------------------------------------- */

/* Any piece of it goes: what remains is of no use, there will be no new buffers. */
static void vma_close(struct vm_area_struct *vma)
{
	struct binder_alloc *alloc = vma->vm_private_data;

	binder_alloc_unmap(alloc);
}

/* Return: the error a fault gets, which it says if it is not the client's own. */
static vm_fault_t insert_failed(struct binder_alloc *alloc, size_t index, int err)
{
	/* Another thread's fault was first. */
	if (err == -EBUSY)
		return VM_FAULT_NOPAGE;
	pr_err_ratelimited("%d: cannot insert the page at offset %zu of the mapping: error %d\n",
			   alloc->pid, index << PAGE_SHIFT, err);
	return err == -ENOMEM ? VM_FAULT_OOM : VM_FAULT_SIGBUS;
}

/*
 * Who reads a buffer's first page reads the next ones, so they are inserted too, up to the first
 * that is there or has no page. That one may fail is no matter: its own fault will tell.
 */
static void fault_around(struct vm_fault *vmf, struct binder_alloc *alloc, unsigned long address)
{
	pgoff_t index = vmf->pgoff;
	pgoff_t last = index + FAULT_AROUND_PAGES;
	struct page *page;

	while (index++ < last) {
		address += PAGE_SIZE;
		if (address >= vmf->vma->vm_end)
			return;
		page = binder_pages_held(alloc, index);
		if (!page || vm_insert_page(vmf->vma, address, page))
			return;
	}
}

/* Context: the mmap lock or the lock of the VMA held for reading. */
static vm_fault_t vma_fault(struct vm_fault *vmf)
{
	struct binder_alloc *alloc = vmf->vma->vm_private_data;
	unsigned long address = vmf->address & PAGE_MASK;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct page *page;
	int err;

	page = binder_pages_hold(alloc, vmf->pgoff);
	if (page) {
		err = vm_insert_page(vmf->vma, address, page);
		ret = err ? insert_failed(alloc, vmf->pgoff, err) : VM_FAULT_NOPAGE;
		if (!err)
			fault_around(vmf, alloc, address);
	}
	binder_pages_unhold(alloc);
	return ret;
}

static const struct vm_operations_struct vm_ops = {
	.close = vma_close,
	.fault = vma_fault,
};

/**
 * binder_file_mmap() - the process maps its device
 * @vma: cut by the core to 4 MiB: beyond that there are no pages
 *
 * Context: mmap lock held for writing.
 * Return: 0; -EINVAL for another process or memory than the opener's, -EPERM when it is to be
 * writable, -EBUSY when there is or was a mapping; -ENOMEM.
 */
int binder_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct binder_proc *proc = file->private_data;

	if (task_tgid(current) != proc->host.tgid || vma->vm_mm != proc->host.mm)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE) {
		pr_info_ratelimited("%d: a device cannot be mapped writable\n", proc->pid);
		return -EPERM;
	}
	/* Pages are looked for by their place in the mapping; a file offset means nothing. */
	vma->vm_pgoff = 0;
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_MIXEDMAP, VM_MAYWRITE);
	vma->vm_ops = &vm_ops;
	vma->vm_private_data = proc->alloc;
	return binder_alloc_map(proc->alloc, vma->vm_start, vma->vm_end - vma->vm_start);
}

/* A kernel is told. */
void binder_host_map_find(struct binder_proc *proc)
{
}

/* ---- pages ------------------------------------------------------------------ */

struct page *binder_host_page_alloc(struct binder_alloc *alloc, size_t index)
{
	return alloc_page(GFP_KERNEL | __GFP_HIGHMEM | __GFP_ZERO);
}

void binder_host_page_free(struct binder_alloc *alloc, size_t index, struct page *page)
{
	__free_page(page);
}

/* The receiver's fault does it: see the head of this file. */
int binder_host_page_insert(struct binder_alloc *alloc, size_t index, struct page *page)
{
	return 0;
}

void binder_host_page_zap(struct binder_alloc *alloc, size_t index, struct page *page)
{
	unmap_mapping_range(&alloc->host.mapping, (loff_t)index << PAGE_SHIFT, PAGE_SIZE, 1);
}

void binder_host_map_fini(struct binder_alloc *alloc)
{
}
