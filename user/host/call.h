/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ioctls on a device: from the request to the answer.
 *
 * BINDER_WRITE_READ is two halves. The write half runs at once. The read half
 * is owed (worker.h): after whatever the write half woke, and possibly by
 * another worker. When the core parks it, the call waits in thread->host until
 * somebody claims the park: a worker told to by the core, or an interrupt.
 *
 * Calls under way stand in a table by FUSE's request number, because that is
 * all an interrupt tells.
 */
#ifndef USER_HOST_CALL_H
#define USER_HOST_CALL_H

#include "user/fuse/request.h"

struct binder_proc;
struct binder_thread;

void binder_calls_init(void);
struct binder_thread *binder_call_thread(struct binder_proc *proc, pid_t tid);
void binder_call_serve(const struct binder_request *rq);
void binder_call_continue(struct binder_thread *thread);
void binder_call_interrupt(const struct binder_request *rq);
void binder_call_restart(int channel, u64 unique);

#endif
