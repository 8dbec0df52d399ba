/* SPDX-License-Identifier: MIT */
/*
 * Adding a device to a mounted binderfs: one ioctl on its binder-control file.
 * Same numbers and layout as the kernel's.
 */
#ifndef ANYBINDER_UAPI_BINDERFS_H
#define ANYBINDER_UAPI_BINDERFS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "binder.h"

/* Longest device name, without its terminating NUL. */
#define BINDERFS_MAX_NAME 255

struct binderfs_device {
	char name[BINDERFS_MAX_NAME + 1];
	__u32 major;	/* both filled in by the driver */
	__u32 minor;
};

/* Same direction and number as BINDER_WRITE_READ; the size tells them apart. */
#define BINDER_CTL_ADD _IOWR('b', 1, struct binderfs_device)

#endif /* ANYBINDER_UAPI_BINDERFS_H */
