/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The FUSE protocol as this daemon speaks it: the system's <linux/fuse.h>, and
 * what headers older than the running kernel lack. Passthrough is protocol
 * 7.40 (Linux 6.9); Debian 12 builds against 7.38, and its kernel speaks 7.37.
 */
#ifndef USER_FUSE_ABI_H
#define USER_FUSE_ABI_H

#include <stdint.h>
#include <sys/ioctl.h>
#include <linux/fuse.h>

/* Oldest kernel protocol with all we need (7.36: flags2), and the newest we know. */
#define BINDER_FUSE_MINOR_MIN 36
#define BINDER_FUSE_MINOR_MAX 40

#ifndef FUSE_PASSTHROUGH
#define FUSE_PASSTHROUGH (1ULL << 37)
#endif
#ifndef FOPEN_PASSTHROUGH
#define FOPEN_PASSTHROUGH (1 << 7)
#endif
#ifndef FUSE_DEV_IOC_CLONE
#define FUSE_DEV_IOC_CLONE _IOR(229, 0, uint32_t)
#endif

/* Registers a file that an open may be backed by; answers with its id. */
struct binder_fuse_backing_map {
	int32_t fd;
	uint32_t flags;
	uint64_t padding;
};

#define BINDER_FUSE_BACKING_OPEN _IOW(229, 1, struct binder_fuse_backing_map)
#define BINDER_FUSE_BACKING_CLOSE _IOW(229, 2, uint32_t)

/* fuse_open_out; its last word became the backing id. */
struct binder_fuse_open_out {
	uint64_t fh;
	uint32_t open_flags;
	int32_t backing_id;
};

/* fuse_init_out; its first unused word became max_stack_depth. */
struct binder_fuse_init_out {
	uint32_t major;
	uint32_t minor;
	uint32_t max_readahead;
	uint32_t flags;
	uint16_t max_background;
	uint16_t congestion_threshold;
	uint32_t max_write;
	uint32_t time_gran;
	uint16_t max_pages;
	uint16_t map_alignment;
	uint32_t flags2;
	uint32_t max_stack_depth;
	uint32_t unused[6];
};

_Static_assert(sizeof(struct binder_fuse_open_out) == sizeof(struct fuse_open_out),
	       "same size as the system's");
_Static_assert(sizeof(struct binder_fuse_init_out) == sizeof(struct fuse_init_out),
	       "same size as the system's");

#endif
