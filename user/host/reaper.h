/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that end without BINDER_THREAD_EXIT.
 *
 * Most clients make that call with a null argument, which FUSE refuses before
 * the daemon hears of it. So the daemon does not depend on it: it watches each
 * thread by a pidfd (Linux 6.9), or looks for it once a second, and does for
 * it what the call would have.
 */
#ifndef USER_HOST_REAPER_H
#define USER_HOST_REAPER_H

#include <linux/types.h>

struct binder_thread;

int binder_reaper_start(void);
void binder_reaper_watch(struct binder_thread *thread);
void binder_reaper_forget(struct binder_thread *thread);
void binder_reaper_wait(int timeout_ms);
void binder_reaper_wake(void);

#endif
