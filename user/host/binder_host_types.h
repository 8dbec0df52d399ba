/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user-space host embeds in the core's objects (see core/host.h). */
#ifndef USER_HOST_TYPES_H
#define USER_HOST_TYPES_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/lock_ranks.h"
#include "uapi/binder.h"

/* As in the daemon's user namespace. A struct, so that nobody compares with ==. */
typedef struct {
	u32 value;
} binder_uid_t;

struct binder_pid_chain;
struct binder_uid_map;

/**
 * struct binder_host_proc - what the host keeps of one open of a device
 */
struct binder_host_proc {
	/* immutable after open: */
	u64 nodeid; /* and inode number: unique to this open */
	binder_uid_t uid; /* of the opener */
	bool nonblock; /* O_NONBLOCK as given to open() */
	bool foreign_user_ns; /* not the daemon's: uids are translated */
	struct binder_pid_chain *pids; /* NULL: in the daemon's pid namespace */

	/* published once, with release; see identity.c */
	struct binder_uid_map *uids;

	/* see poll.c; atomic: */
	u64 poll_kh; /* the kernel's name for this open, in FUSE_NOTIFY_POLL */
	int poll_armed; /* somebody sleeps in poll and must be told */
	int poll_queued; /* @poll_entry is in a worker's list */
	int warned_writable; /* said once that the mapping is writable */
	int backing_id; /* of FUSE, until it is known to have been used; 0: none */
	/* guarded by the lock of the list it is in: */
	struct list_head poll_entry;
};

/* A payload up to this size is fetched along with the commands, if we can guess where it is. */
#define BINDER_GUESS_MAX 256

/**
 * struct binder_guess - where the thread's next payload is: where its last ones were
 * @write_buffer, @write_size: of its last call
 * @addr, @len: of its last payload; @len is 0 if that was too large
 * @repeats: how often in a row it was there
 * @have: bytes of @data that are good, in this call
 * @due: the call's first read is yet to come, and shall fetch the payload too
 */
struct binder_guess {
	u64 write_buffer;
	u64 write_size;
	u64 addr;
	u16 len;
	u16 have;
	u8 repeats;
	bool due;
	u8 data[BINDER_GUESS_MAX];
};

/**
 * struct binder_host_thread - the call that a thread is in, if any
 *
 * Written by whoever serves the call: the worker that read the request, then
 * whoever claimed the park. Nobody touches it once the call is answered: the
 * thread's next call may be with another worker by then.
 */
struct binder_host_thread {
	bool known; /* its thread group has been checked */
	binder_uid_t uid; /* of the call */
	u64 unique; /* FUSE's name for the request */
	int channel; /* descriptor that the answer must go to (connection.h) */
	int error; /* of the write half */
	struct binder_write_read bwr;
	struct binder_guess guess; /* memory.c */
	/* in a worker's list or the hand-over queue (worker.c), under its lock: */
	struct list_head owed_entry;
	/* in the table of calls, under the bucket's lock (call.c): */
	struct list_head call_entry;
	bool interrupted;
	/* see reaper.c: */
	int exit_fd; /* a pidfd, or -1: then it is looked for */
	struct list_head exit_entry;
};

/**
 * struct binder_host_map - the memory behind one open of a device
 * @base: BINDER_MAP_MAX bytes that the client maps too, or gets copies of
 *        (mapping.h); NULL before it is set up and after it was given back
 * @nr_pages: page tokens in the core's hands
 * @nodeid: of the inode whose page cache the client maps; immutable
 * @pushed: a bit for each page: the client has been given it whole (store.c); atomic
 * @reads: how many pages the client has read (store.c); atomic
 */
struct binder_host_map {
	u8 *base;
	atomic_t nr_pages;
	u64 nodeid;
	u64 pushed[16];
	u64 reads;
};

#define binder_spin_init(lock, rank) binder_kapi_spin_init(lock, rank, #rank)
#define binder_mutex_init(mutex, rank) binder_kapi_mutex_init(mutex, rank, #rank)
#define binder_rt_mutex_init(mutex, rank) binder_kapi_mutex_init(mutex, rank, #rank)

#endif
