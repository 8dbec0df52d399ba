/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads that serve requests.
 *
 * Workers block in a read of the FUSE device, serve what they got, and then
 * settle what that made them owe: reads for threads the core woke, poll
 * notices, and last the caller's own read. What is owed stands in a list until
 * its turn, so that it can be taken away from a worker that hangs.
 *
 * A worker hangs when it copies from memory whose owner makes it wait for
 * ever. The control thread, which never touches client memory, watches for
 * that: it hands the worker's debts to the others, starts another worker,
 * refuses further calls of a client that makes too many hang, and, when no
 * worker is left, serves what needs no client memory itself.
 */
#ifndef USER_HOST_WORKER_H
#define USER_HOST_WORKER_H

#include <linux/types.h>
#include <binder_host_types.h>

struct binder_proc;
struct binder_thread;

#define BINDER_WORKERS_MAX 64

int binder_workers_start(unsigned int nr);
bool binder_workers_lost(void);
void binder_workers_stopping(void);
void binder_workers_stop(void);

void binder_worker_owe(struct binder_thread *thread);
void binder_worker_owe_notice(struct binder_proc *proc);
void binder_worker_on_behalf(binder_uid_t uid, pid_t pid);
void binder_worker_behalf(binder_uid_t *uid, pid_t *pid);
bool binder_worker_refuses(binder_uid_t uid, pid_t pid);

#endif
