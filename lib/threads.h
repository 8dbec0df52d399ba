/* SPDX-License-Identifier: MIT */
/*
 * Connections and the threads that use them.
 *
 * Each thread has a struct ab_thread for each connection it used, found
 * through a list of the thread's own; only it makes, uses and frees them.
 * ab_close() takes out what is in them, when nobody uses the connection any more.
 *
 * Locks, outer first: conn->order, conn->lock. Functions of the program are
 * called without either.
 */
#ifndef AB_THREADS_H
#define AB_THREADS_H

#include "internal.h"

struct ab_proxy;
struct ab_local;

/**
 * struct ab_reply - the reply of one nesting depth
 * @due: completions to come until its own, once it is in ab_thread.sent
 *
 * It stays as it is until the ioctl that carries it, and what it pins is held
 * until its completion: the driver takes its own references before that.
 */
struct ab_reply {
	struct ab_reply *next;
	ab_parcel parcel;
	int32_t status;
	unsigned int due;
};

/**
 * struct ab_thread - what one thread has to say to one connection
 * @next_mine: the thread's list
 * @next: conn->threads; under conn->lock
 * @out: commands that go with the next ioctl
 * @in: returns not yet looked at
 * @completions: BR_TRANSACTION_COMPLETE still due
 * @depth: loops and calls that it is in, of this connection
 * @calls: those of them that wait for a reply or a completion
 * @loops: those of them that are loops
 * @buffers: received and not given back; may be negative, only the sum counts
 * @pending: proxies whose BC_ACQUIRE may not have reached the driver; see proxy.c
 * @doomed: objects of ours whose last reference went while @dooming, to be destroyed when the
 *          program's functions may make calls again: the driver lets a thread that waits for
 *          a reply make none
 * @mourned: proxies found dead meanwhile, whose links are to be called then
 * @blocked: in an ioctl that may take long, with @pending not empty; under conn->lock
 * @replied: @out has a reply
 * @urgent: @out has what must not wait for this thread's next call
 * @note: what the service manager said when a call of it gave @note_error
 */
struct ab_thread {
	struct ab_thread *next_mine, *next;
	ab_conn *conn; /* counted */
	uint8_t *out;
	size_t out_len, out_capacity;
	size_t in_pos, in_len;
	unsigned int completions, depth, calls, loops;
	long buffers;
	struct ab_proxy *pending, *mourned;
	struct ab_local *doomed;
	struct ab_reply *replies, *idle_replies, *sent;
	bool blocked, looper, dispatching, replied, urgent, dooming;
	int note_error;
	char note[400];
	int32_t emergency; /* the status of a reply for which there was no memory */
	uint8_t in[2048] __attribute__((aligned(8)));
};

/**
 * struct ab_conn - an open device
 * @refs: of the memory
 * @forks: of this process when it was opened: a child has another number
 * @fd: -1 when closed
 * @spawn_owed: the driver asked for a thread that could not be made
 * @left: after closing: buffers that keep the mapping
 * @order: held over commands whose order between threads matters
 * @exiting: threads that end and still talk to the driver
 * @loops: that threads are in
 * @idle: @exiting or @loops has become less
 * @held: our objects that the driver holds
 * @death_seq: of death requests
 */
struct ab_conn {
	atomic_uint refs;
	unsigned int forks;
	atomic_int fd;
	atomic_bool closed, stopping, spawn_owed;
	enum ab_variant variant;
	uint32_t flags;
	void *map;
	size_t map_size;
	_Atomic uint64_t ioctls;
	atomic_long left;

	pthread_mutex_t order;
	pthread_mutex_t lock;
	/* guarded by lock: */
	pthread_cond_t idle;
	unsigned int exiting, loops;
	struct ab_thread *threads;
	struct ab_local *held;
	ab_object *manager; /* ours; counted */
	struct ab_proxy **proxies;
	size_t nr_proxies, nr_buckets; /* a power of 2 */
	uint32_t death_seq;
	pthread_t *pool;
	size_t pool_size, pool_capacity;
	struct ab_publisher *publisher; /* publish.c's */
};

/* ---- conn.c ---- */

int ab_conn_ioctl(ab_conn *conn, unsigned int cmd, void *arg);
int ab_conn_usable(const ab_conn *conn);
int ab_conn_say(ab_conn *conn, uint32_t cmd, const void *payload, size_t len);
void ab_conn_left(ab_conn *conn, long buffers);

/* ---- publish.c ---- */

void ab_publisher_close(ab_conn *conn);

/* ---- error.c ---- */

void ab_error_note(ab_conn *conn, int error, const char *words);

/* ---- thread.c ---- */

extern atomic_uint ab_forks;
int ab_thread_once(void);
int ab_thread_self(ab_conn *conn, struct ab_thread **self);
struct ab_thread *ab_thread_peek(ab_conn *conn);
void ab_thread_drop(ab_conn *conn);
void ab_thread_empty(struct ab_thread *self);

/* ---- talk.c ---- */

int ab_thread_put(struct ab_thread *self, uint32_t cmd, const void *payload, size_t len);
int ab_thread_reserve(struct ab_thread *self, size_t len);
void ab_thread_withdraw(struct ab_thread *self, uint32_t cmd);
int ab_thread_talk(struct ab_thread *self, bool wait);
int ab_thread_flush(struct ab_thread *self);
int ab_thread_next(struct ab_thread *self, uint32_t *cmd, const uint8_t **payload);
int ab_thread_drain(struct ab_thread *self);
void ab_thread_settle(struct ab_thread *self);
void ab_thread_leave(struct ab_thread *self);

/* ---- serve.c, meta.c, loop.c ---- */

int ab_thread_handle(struct ab_thread *self, uint32_t cmd, const uint8_t *payload);
void ab_thread_completed(struct ab_thread *self);
int ab_object_transact(ab_object *object, const struct ab_call_info *info, ab_parcel *in,
		       ab_parcel *out);
int ab_object_meta(ab_object *object, const struct ab_call_info *info, ab_parcel *in,
		   ab_parcel *out);
void ab_pool_spawn(ab_conn *conn);

#endif
