/* SPDX-License-Identifier: GPL-2.0-only */
/* The calling thread, and its ioctls. */
#ifndef KMOD_HOST_CALL_H
#define KMOD_HOST_CALL_H

struct binder_proc;
struct binder_thread;

struct binder_thread *binder_call_thread(struct binder_proc *proc);

#endif
