/* SPDX-License-Identifier: MIT */
/* What the library's files share. */
#ifndef AB_INTERNAL_H
#define AB_INTERNAL_H

#include "anybinder.h"

#include <pthread.h>
#include <stdatomic.h>

#include "uapi/binder.h"

#define AB_PARCEL_MAX (4u << 20)
#define AB_PAD(n) (((n) + 3) & ~(size_t)3)

/**
 * struct ab_parcel - a message
 * @data, @offsets: owned when written; in the mapping when @conn is set
 * @error: sticky
 * @conn: received on it, and the buffer is to be freed there
 */
struct ab_parcel {
	uint8_t *data;
	size_t size, capacity;
	binder_size_t *offsets;
	size_t nr_offsets, offsets_capacity;
	size_t pos; /* of reading */
	int error;
	ab_conn *conn;
};

void ab_parcel_received(ab_parcel *parcel, ab_conn *conn, const struct binder_transaction_data *tr);
void ab_parcel_fini(ab_parcel *parcel);
int ab_parcel_fail(ab_parcel *parcel, int error);
void *ab_parcel_extend(ab_parcel *parcel, size_t len);
int ab_parcel_add_object(ab_parcel *parcel, const struct flat_binder_object *fbo);
const void *ab_parcel_take(ab_parcel *parcel, size_t len);

/**
 * struct ab_object - an object of ours
 * @refs: ours, one while the driver has told us of strong holders, one for weak
 */
struct ab_object {
	atomic_uint refs;
	ab_conn *conn;
	ab_transact_fn *fn;
	void *data;
};

struct ab_death {
	struct ab_death *next;
	uint32_t handle;
	ab_death_fn *fn;
	void *data;
};

/**
 * struct ab_reply - the reply of one nesting depth
 * It stays as it is until the ioctl that carries it.
 */
struct ab_reply {
	struct ab_reply *deeper;
	ab_parcel parcel;
	int32_t status;
};

/**
 * struct ab_thread - what one thread has to say to one connection
 * @out: commands that go with the next ioctl
 * @in: returns not yet looked at
 * @completions: BR_TRANSACTION_COMPLETE still due
 */
struct ab_thread {
	struct ab_thread *next; /* in conn->threads */
	ab_conn *conn;
	uint8_t *out;
	size_t out_len, out_capacity;
	size_t in_pos, in_len;
	unsigned int completions;
	bool looper;
	struct ab_reply *replies, *idle_replies;
	uint8_t in[2048] __attribute__((aligned(8)));
};

struct ab_conn {
	int fd;
	void *map;
	size_t map_size;
	bool no_defer;
	ab_object *manager; /* holds a reference */
	atomic_bool stopping;
	_Atomic uint64_t ioctls;
	pthread_key_t key;
	pthread_mutex_t lock; /* guards the lists below */
	struct ab_thread *threads;
	struct ab_death *deaths;
	pthread_t *pool;
	size_t pool_size, pool_capacity;
};

int ab_conn_ioctl(ab_conn *conn, unsigned int cmd, void *arg);
struct ab_thread *ab_thread_self(ab_conn *conn);
int ab_thread_put(struct ab_thread *self, uint32_t cmd, const void *payload, size_t len);
void ab_thread_withdraw(struct ab_thread *self, uint32_t cmd);
int ab_thread_talk(struct ab_thread *self, bool wait);
int ab_thread_next(struct ab_thread *self, uint32_t *cmd, const uint8_t **payload);
int ab_thread_handle(struct ab_thread *self, uint32_t cmd, const uint8_t *payload);
void ab_thread_fini(struct ab_thread *self);

void ab_object_get(ab_object *object);
void ab_death_fire(struct ab_thread *self, uint64_t cookie);

#endif
