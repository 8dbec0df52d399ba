// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/proc.h"
#include "user/fuse/connection.h"
#include "user/fuse/mount.h"
#include "user/host/store.h"
#include "user/host/worker.h"

/* The core wants something to hold for a page; the page itself is in the open's memory. */
static char page_token;

enum binder_mapping binder_mapping;

/*
 * Sealed against shrinking, which would turn the daemon's stores into SIGBUS,
 * and growing. Not against writing by the client: that seal would forbid
 * punching holes too, and would not undo a mapping that exists.
 *
 * Return: the memfd, or -errno.
 */
static int shared_create(u8 **base)
{
	int fd = memfd_create("anybinder", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *at;
	int err;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, BINDER_MAP_MAX) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		goto err_close;
	at = mmap(NULL, BINDER_MAP_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		goto err_close;
	*base = at;
	return fd;

err_close:
	err = errno;
	close(fd);
	return -err;
}

/* Not shared memory: that would be allocated by reading holes for the client. */
static int private_create(u8 **base)
{
	void *at = mmap(NULL, BINDER_MAP_MAX, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	/* It is given back page by page. A kernel without huge pages says EINVAL. */
	madvise(at, BINDER_MAP_MAX, MADV_NOHUGEPAGE);
	*base = at;
	return 0;
}

/**
 * binder_map_create() - memory for one open
 * @base: set to the daemon's mapping of it, BINDER_MAP_MAX bytes, for
 *        binder_map_destroy()
 * @backing_id: set to its name for FUSE, for binder_fuse_backing_close(); 0 for none
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int binder_map_create(u8 **base, int *backing_id)
{
	int fd, id;

	*backing_id = 0;
	if (binder_mapping_stores())
		return private_create(base);
	fd = shared_create(base);
	if (fd < 0)
		return fd;
	id = binder_fuse_backing_open(fd);
	/* What stays are the daemon's mapping and, once it is open, the client's file. */
	close(fd);
	if (id < 0) {
		binder_map_destroy(*base);
		return id;
	}
	*backing_id = id;
	return 0;
}

/** binder_map_destroy() - undo binder_map_create() */
void binder_map_destroy(u8 *base)
{
	munmap(base, BINDER_MAP_MAX);
}

/** binder_map_at() - where the daemon sees a piece of a buffer. Context: any. */
void *binder_map_at(struct binder_alloc *alloc, size_t offset, size_t len)
{
	if (unlikely(!alloc->host.base || offset > BINDER_MAP_MAX ||
		     len > BINDER_MAP_MAX - offset))
		binder_kapi_fatal("buffer [%zu, +%zu) is outside the mapping of process %d",
				  offset, len, alloc->pid);
	return alloc->host.base + offset;
}

/* ---- pages ----------------------------------------------------------------- */

struct page *binder_host_page_alloc(struct binder_alloc *alloc, size_t index)
{
	atomic_inc(&alloc->host.nr_pages);
	return (struct page *)&page_token;
}

void binder_host_page_free(struct binder_alloc *alloc, size_t index, struct page *page)
{
	WARN_ON_ONCE(page != (struct page *)&page_token);
	atomic_dec(&alloc->host.nr_pages);
}

/* Populating reports what a store could only answer with a signal. */
int binder_host_page_insert(struct binder_alloc *alloc, size_t index, struct page *page)
{
	void *at = binder_map_at(alloc, index << PAGE_SHIFT, PAGE_SIZE);

	return madvise(at, PAGE_SIZE, MADV_POPULATE_WRITE) ? -ENOMEM : 0;
}

/* Give memory back, so that it is zero when it is touched again. */
static int memory_punch(u8 *at, size_t len)
{
	return madvise(at, len, binder_mapping_stores() ? MADV_DONTNEED : MADV_REMOVE);
}

/**
 * binder_map_zap() - empty a run of pages, in the client's mapping too
 * @first: index of the first; @nr of them, within BINDER_MAP_MAX
 *
 * From a memfd's hole the client loses the pages too. From its page cache they
 * are taken after the memory is empty: what it reads meanwhile is zero.
 * Nothing is left to do after binder_host_map_fini().
 *
 * Context: install_mutex held, which keeps the memory from going meanwhile. As
 * binder_store_push(): not the control thread.
 */
void binder_map_zap(struct binder_alloc *alloc, size_t first, size_t nr)
{
	u8 *base = __atomic_load_n(&alloc->host.base, __ATOMIC_ACQUIRE);
	size_t offset = first << PAGE_SHIFT, len = nr << PAGE_SHIFT;

	if (!base)
		return;
	if (memory_punch(base + offset, len))
		pr_err_ratelimited("cannot give back pages of process %d: %s\n", alloc->pid,
				   strerror(errno));
	if (binder_mapping_stores())
		binder_store_take_back(alloc, offset, len);
}

void binder_host_page_zap(struct binder_alloc *alloc, size_t index, struct page *page)
{
	binder_map_zap(alloc, index, 1);
}

void binder_host_buffer_ready(struct binder_alloc *alloc, size_t offset, size_t len)
{
	if (binder_mapping_stores())
		binder_store_push(alloc, offset, len);
}

/* The client's mapping may outlive the descriptor: take the contents out of it. */
void binder_host_map_fini(struct binder_alloc *alloc)
{
	u8 *base = alloc->host.base;

	WARN_ON_ONCE(atomic_read(&alloc->host.nr_pages));
	if (!base)
		return;
	/* All that were read are answered: binder_store_read(). */
	(void)__atomic_load_n(&alloc->host.reads, __ATOMIC_ACQUIRE);
	/* Somebody may be looking for stray pages; afterwards there is nothing to find. */
	binder_pages_hold(alloc, 0);
	alloc->host.base = NULL;
	binder_pages_unhold(alloc);
	memory_punch(base, BINDER_MAP_MAX);
	if (binder_mapping_stores())
		binder_store_take_back(alloc, 0, BINDER_MAP_MAX);
	binder_map_destroy(base);
}

/* ---- finding the client's mapping -------------------------------------------- */

/* One line of /proc/PID/maps. */
struct area {
	u64 start;
	u64 end;
	u64 offset;
	u64 inode;
	char perms[5];
	char device[32];
};

/* What was found: pieces that follow each other, as mprotect and madvise leave them. */
struct found {
	u64 start;
	u64 end;
	bool writable;
};

static bool line_parse(const char *line, struct area *area)
{
	unsigned long long start, end, offset, inode;

	if (sscanf(line, "%llx-%llx %4s %llx %31s %llu", &start, &end, area->perms, &offset,
		   area->device, &inode) != 6)
		return false;
	area->start = start;
	area->end = end;
	area->offset = offset;
	area->inode = inode;
	return true;
}

/* Return: true when the mapping is complete. */
static bool area_add(struct found *found, const struct area *area)
{
	if (!found->end) {
		if (area->offset)
			return false;
		found->start = area->start;
	} else if (area->start != found->end || area->offset != found->end - found->start) {
		return true;
	}
	found->end = area->end;
	found->writable |= area->perms[1] == 'w';
	return false;
}

static void maps_search(FILE *maps, u64 inode, struct found *found)
{
	size_t size = 0;
	char *line = NULL;

	while (getline(&line, &size, maps) > 0) {
		struct area area;

		if (!line_parse(line, &area))
			continue;
		if (area.inode != inode || strcmp(area.device, binder_mount_device())) {
			if (found->end)
				break;
			continue;
		}
		if (area_add(found, &area))
			break;
	}
	free(line);
}

static void map_look(struct binder_proc *proc, struct found *found)
{
	char path[32];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", proc->pid);
	maps = fopen(path, "re");
	if (maps) {
		maps_search(maps, proc->host.nodeid, found);
		fclose(maps);
	} else if (errno != ENOENT && errno != ESRCH) {
		pr_err_ratelimited("cannot read %s: %s\n", path, strerror(errno));
	}
}

/*
 * FUSE does not tell of mmap. Costs what reading the file costs, so the core
 * asks only while a process that is sent something has no mapping. It can hang
 * as client memory can, and then it is not the sender who is to blame.
 */
void binder_host_map_find(struct binder_proc *proc)
{
	struct found found = { 0 };
	binder_uid_t uid;
	pid_t pid;

	binder_worker_behalf(&uid, &pid);
	binder_worker_on_behalf(proc->host.uid, proc->pid);
	map_look(proc, &found);
	binder_worker_on_behalf(uid, pid);
	if (!found.end)
		return;
	if (found.writable &&
	    !__atomic_exchange_n(&proc->host.warned_writable, 1, __ATOMIC_RELAXED))
		pr_info("process %d has mapped its device writable: a kernel driver would refuse that, this one cannot see it in time\n",
			proc->pid);
	binder_alloc_map(proc->alloc, found.start, found.end - found.start);
}
