/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connection to the kernel: the descriptors of /dev/fuse, and messages in
 * and out.
 *
 * A request must be answered on the descriptor it was read from, so whoever
 * keeps a request keeps its channel too.
 */
#ifndef USER_FUSE_CONNECTION_H
#define USER_FUSE_CONNECTION_H

#include <linux/types.h>

#include "user/host/mapping.h"

enum binder_channel {
	BINDER_CHANNEL_MAIN,	/* blocking: the workers' */
	BINDER_CHANNEL_CONTROL, /* non-blocking: the control thread's */
	BINDER_CHANNELS
};

/* The kernel insists on room for the largest request it might send. */
#define BINDER_REQUEST_MAX 8192

int binder_fuse_open(void);
int binder_fuse_fd(void);
int binder_fuse_handshake(enum binder_mapping wanted);
ssize_t binder_fuse_read(int channel, void *buf, size_t size);
void binder_fuse_error(int channel, u64 unique, int error);
int binder_fuse_reply(int channel, u64 unique, const void *data, size_t len);
int binder_fuse_reply_live(int channel, u64 unique, const void *data, size_t len);
int binder_fuse_reply_ioctl(int channel, u64 unique, int result, const void *data, size_t len);
void binder_fuse_notify_poll(u64 kh);
int binder_fuse_notify_store(u64 nodeid, u64 offset, const void *data, size_t len);
int binder_fuse_notify_inval(u64 nodeid, u64 offset, u64 len);
int binder_fuse_backing_open(int fd);
void binder_fuse_backing_close(int id);

#endif
