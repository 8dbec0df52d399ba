/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work for any worker to take before it reads the next request: what a hanging
 * worker owed, and requests that the control thread read but may not serve.
 */
#ifndef USER_HOST_HANDOVER_H
#define USER_HOST_HANDOVER_H

#include "core/kapi.h"
#include "user/fuse/request.h"

struct binder_thread;

/** struct binder_held_request - a request, copied */
struct binder_held_request {
	struct list_head entry;
	int channel;
	size_t len;
	u8 buf[] __attribute__((aligned(8)));
};

void binder_handover_init(void);
bool binder_handover_pending(void);
void binder_handover_threads(struct list_head *owed);
void binder_handover_request(const struct binder_request *rq);
bool binder_handover_take(struct binder_thread **thread, struct binder_held_request **held);
bool binder_handover_cancel(u64 unique);

#endif
