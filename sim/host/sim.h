/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator: processes, threads and mappings that exist only in this
 * program, driven by a test one call at a time, the same in every run.
 *
 * What stands for what: a process's user memory is this program's memory, at
 * its real address, as far as the test said it is valid; a mapping is an
 * arena the test may read where pages are inserted; waiting threads are
 * records that sim_run() continues once the core has woken them; time passes
 * when sim_advance() says so. Broken contracts of core/host.h and leaks go to
 * binder_kapi_fatal().
 *
 *	sim_start();
 *	context = sim_context("binder");
 *	server = sim_open(context, 100, 1000);
 *	sim_mmap(server, 64 * PAGE_SIZE);
 *	thread = sim_thread(server, 100);
 *	sim_ioctl(thread, BINDER_SET_CONTEXT_MGR, &zero);
 *	sim_put(thread, BC_ENTER_LOOPER, NULL);
 *	sim_submit(thread);			// BINDER_PARK
 *	... a client calls ...
 *	sim_run();
 *	while ((br = sim_next(thread, &payload)))
 *		...
 *	sim_end();				// everything was given back
 */
#ifndef SIM_HOST_SIM_H
#define SIM_HOST_SIM_H

#include <sim_fault.h>
#include "core/host.h"
#include "core/return.h"
#include "uapi/binder.h"

struct binder_context;

/* Bytes of a thread's command and return buffers. */
#define SIM_STREAM_SIZE 4096

struct sim_proc {
	struct list_head entry;		/* in the world's list, until sim_end() */
	struct binder_proc *proc;	/* NULL once closed */
	pid_t pid;
	u32 uid;
	unsigned int ns;		/* namespace: sees its own; 0 sees all */
	bool fini;			/* the core dropped its last reference */
	size_t lazy_size;		/* sim_mmap_lazy() */
	unsigned int poll_wakes;	/* binder_host_poll_wake() calls */
	int forbidden;			/* what security modules say to all it wants; 0 */
	struct list_head threads;
	struct list_head ranges;	/* valid user memory */
};

struct sim_thread {
	struct list_head entry;		/* in proc->threads */
	struct list_head ready_entry;	/* in the ready list, when woken */
	struct sim_proc *proc;
	pid_t tid;
	struct binder_thread *record;	/* with a reference, during an ioctl */
	int nice;			/* as it set it, or the core did */
	bool parked;			/* its BINDER_WRITE_READ has not returned */
	bool woken;
	int ret;			/* of the last one that returned */
	struct binder_write_read bwr;	/* as copied back */
	size_t put_pos;			/* commands in out[] */
	size_t next_pos;		/* returns taken from in[] */
	u8 *out;			/* user memory, SIM_STREAM_SIZE */
	u8 *in;
};

/* ---- world (world.c) --------------------------------------------------- */

/** sim_start() - a fresh world: knobs off, time 0, counters remembered */
void sim_start(void);
/** sim_end() - close all that is open; fatal if anything was not given back or a WARN_ON() hit */
void sim_end(void);
/** sim_context() - a device; the world holds the reference. NULL when out of memory. */
struct binder_context *sim_context(const char *name);
/** sim_reported() - the last failure that was reported to those who watch; zeros at first */
const struct binder_log_entry *sim_reported(void);
/** sim_open() - a process opens it. NULL when the core had no memory. */
struct sim_proc *sim_open(struct binder_context *context, pid_t pid, u32 uid);
/** sim_close() - the last descriptor is closed: flush, then release; the mapping stays as it is */
void sim_close(struct sim_proc *proc);
/** sim_kill() - waits are interrupted, the address space goes, then the descriptors */
void sim_kill(struct sim_proc *proc);
/** sim_thread() - the thread of @proc with this id, made at first use */
struct sim_thread *sim_thread(struct sim_proc *proc, pid_t tid);
/** sim_advance() - let time pass */
void sim_advance(u64 ms);
/** sim_log_last() - the last message logged, "" if none since sim_start() */
const char *sim_log_last(void);
/** sim_log_count() - messages since sim_start(). SIM_LOG=1 in the environment prints them. */
unsigned int sim_log_count(void);

/* ---- calls (call.c) ---------------------------------------------------- */

/** sim_ioctl() - any ioctl but BINDER_WRITE_READ; @arg in core memory. Return: 0 or -errno. */
int sim_ioctl(struct sim_thread *thread, unsigned int cmd, void *arg);
/**
 * sim_write_read() - BINDER_WRITE_READ with buffers of the caller's choice
 * @bwr: copied; read thread->bwr for what came back
 * Return: 0, -errno, or BINDER_PARK: sim_run() or sim_interrupt() finishes it.
 */
int sim_write_read(struct sim_thread *thread, const struct binder_write_read *bwr, bool nonblock);
/**
 * sim_run() - continue woken threads until none is; in order, or shuffled
 * Return: how many returned to user space.
 */
unsigned int sim_run(void);
/** sim_seed() - shuffle the order of sim_run() from now on; 0: first woken first */
void sim_seed(u64 seed);
/** sim_interrupt() - a signal ends the wait with -EINTR. Return: false if it was not waiting. */
bool sim_interrupt(struct sim_thread *thread);
/** sim_poll() - would a read return? */
bool sim_poll(struct sim_thread *thread);

/** sim_put() - append a command, its payload as long as @cmd says, to the thread's buffer */
void sim_put(struct sim_thread *thread, u32 cmd, const void *payload);
/** sim_put_raw() - append bytes */
void sim_put_raw(struct sim_thread *thread, const void *bytes, size_t len);
/** sim_submit() - write what was put and read; BINDER_PARK as sim_write_read() */
int sim_submit(struct sim_thread *thread);
/** sim_write() - write what was put, no read */
int sim_write(struct sim_thread *thread);
/** sim_read() - read only, without waiting: -EAGAIN when there is nothing */
int sim_read(struct sim_thread *thread);
/**
 * sim_next() - take a return from the thread's buffer
 * @payload: as long as the return says; may be NULL
 * Return: the BR_ code, 0 at the end.
 */
u32 sim_next(struct sim_thread *thread, void *payload);

/* ---- user memory (memory.c) -------------------------------------------- */

/** sim_user_add() - [ptr, ptr+len) is valid in @proc, for writing too if @writable */
void sim_user_add(struct sim_proc *proc, const void *ptr, size_t len, bool writable);
/** sim_user_del() - the range that starts at @ptr is not valid any more */
void sim_user_del(struct sim_proc *proc, const void *ptr);
/** sim_user_alloc() - valid zeroed memory of @proc, ends exactly at @len; freed by sim_end() */
void *sim_user_alloc(struct sim_proc *proc, size_t len);
/** sim_user_dup() - sim_user_alloc() with a content */
void *sim_user_dup(struct sim_proc *proc, const void *src, size_t len);
/** sim_user_fail() - the @nth copy from or to user memory from now fails, once; 0 disarms */
void sim_user_fail(unsigned long nth);
/** sim_user_failed() - did it? */
bool sim_user_failed(void);

/* ---- mappings (map.c) -------------------------------------------------- */

/** sim_mmap() - map the device, under the address-space lock. Return: 0 or -errno. */
int sim_mmap(struct sim_proc *proc, size_t size);
/** sim_mmap_lazy() - map it without telling the core, which asks by binder_host_map_find() */
void sim_mmap_lazy(struct sim_proc *proc, size_t size);
/** sim_munmap() - unmap it, as munmap() and exit do: under the address-space lock */
void sim_munmap(struct sim_proc *proc);
/** sim_alloc_mmap(), sim_alloc_munmap() - the same for an allocator without a process */
int sim_alloc_mmap(struct binder_alloc *alloc, size_t size);
void sim_alloc_munmap(struct binder_alloc *alloc);
/** sim_page_present() - is page @index inserted and visible? */
bool sim_page_present(struct binder_alloc *alloc, size_t index);
/** sim_pages_live() - pages of the allocator that exist, inserted or not */
size_t sim_pages_live(struct binder_alloc *alloc);

/* ---- things in between (point.c) --------------------------------------- */

/* Where another thread could run while the core is inside a host call, or gets memory. */
enum sim_point {
	SIM_ALLOC,		/* no locks held at the first five, but mmap()'s own */
	SIM_UID_SEEN,		/* a transaction is being delivered */
	SIM_READ_USER,
	SIM_WRITE_USER,
	SIM_COPY_PAYLOAD,
	SIM_WRITE_BUFFER,	/* maybe install_mutex here and below */
	SIM_ZERO_BUFFER,
	SIM_PAGE_ALLOC,
	SIM_PAGE_INSERT,	/* before it takes the address-space lock */
	SIM_PAGE_ZAP,
	SIM_PAGE_FREE,
	SIM_POINT_COUNT
};

/**
 * sim_at() - run @fn in the middle of a host call or allocation, once
 * @nth: at the nth passage of @point from now (1 is the next)
 *
 * @fn may enter the core for other threads. What the interrupted caller holds
 * counts as held by @fn: a lock it would have to wait for is a fatal error,
 * as the interrupted caller cannot go on.
 */
void sim_at(enum sim_point point, unsigned int nth, void (*fn)(void *arg), void *arg);
/** sim_at_pending() - has the function of the last sim_at() not run yet? */
bool sim_at_pending(void);
/** sim_reclaim() - page allocations and inserts first reclaim this many idle pages; 0: none */
void sim_reclaim(unsigned long nr);
/** sim_point() - for the simulator's own host calls */
void sim_point(enum sim_point point);

/* ---- between the simulator's files ------------------------------------- */

extern u64 sim_now_ms;
void sim_user_reset(void);
void sim_user_release(struct sim_proc *proc);
void sim_point_reset(void);
void sim_call_reset(void);
bool sim_call_idle(void);
void sim_call_drain(struct sim_proc *proc);
bool sim_map_readable(struct binder_alloc *alloc, u64 addr);
void sim_map_write(struct binder_alloc *alloc, size_t offset, const void *src, size_t len);

#endif
