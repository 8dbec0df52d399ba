/* SPDX-License-Identifier: GPL-2.0-only */
/* One FUSE request on its way through the daemon. */
#ifndef USER_FUSE_REQUEST_H
#define USER_FUSE_REQUEST_H

#include <linux/types.h>
#include "user/fuse/abi.h"

/**
 * struct binder_request - a request and where its answer goes
 * @channel: the descriptor it was read from
 * @in: the message; followed by @len bytes at @arg
 * @arg: the operation's argument
 *
 * The memory belongs to the worker that serves it.
 */
struct binder_request {
	int channel;
	const struct fuse_in_header *in;
	const void *arg;
	size_t len;
};

bool binder_request_init(struct binder_request *rq, int channel, const void *buf, size_t len);
bool binder_request_needs_client(const struct binder_request *rq);
void binder_request_serve(const struct binder_request *rq);

#endif
