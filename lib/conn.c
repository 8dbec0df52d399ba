// SPDX-License-Identifier: MIT
/* Connections: an open, checked and mapped device. */
#include "objects.h"

#include <stdlib.h>
#include <string.h>

#include "sys.h"

#define MAP_SIZE_DEFAULT (1024 * 1024 - 2 * 4096)
#define MAP_SIZE_MAX (4u << 20)

/**
 * ab_conn_ioctl() - one ioctl
 *
 * Return: 0; -EBADF when closed; -ENOTCONN when the driver was a daemon that has gone,
 * whether just now or before; the driver's error.
 */
int ab_conn_ioctl(ab_conn *conn, unsigned int cmd, void *arg)
{
	int fd = atomic_load_explicit(&conn->fd, memory_order_relaxed), ret;

	if (fd < 0)
		return -EBADF;
	atomic_fetch_add_explicit(&conn->ioctls, 1, memory_order_relaxed);
	ret = ab_sys_ioctl(fd, cmd, arg);
	return ret == -ECONNABORTED ? -ENOTCONN : ret;
}

uint64_t ab_ioctls(const ab_conn *conn)
{
	return atomic_load_explicit(&conn->ioctls, memory_order_relaxed);
}

enum ab_variant ab_conn_variant(const ab_conn *conn)
{
	return conn->variant;
}

int ab_fd(const ab_conn *conn)
{
	return atomic_load_explicit(&conn->fd, memory_order_relaxed);
}

/** ab_conn_usable() - Return: 0; -EBADF: it is closed, or the parent's in a child of fork(). */
int ab_conn_usable(const ab_conn *conn)
{
	if (atomic_load_explicit(&conn->closed, memory_order_acquire))
		return -EBADF;
	return conn->forks == atomic_load_explicit(&ab_forks, memory_order_relaxed) ? 0 : -EBADF;
}

/* ---- memory --------------------------------------------------------------- */

/** ab_conn_get() - hold the connection's memory. Return: @conn. */
ab_conn *ab_conn_get(ab_conn *conn)
{
	atomic_fetch_add_explicit(&conn->refs, 1, memory_order_relaxed);
	return conn;
}

static void conn_free(ab_conn *conn)
{
	pthread_cond_destroy(&conn->idle);
	pthread_mutex_destroy(&conn->lock);
	pthread_mutex_destroy(&conn->order);
	free(conn->proxies);
	free(conn->pool);
	free(conn);
}

/** ab_conn_put() - let go of the connection's memory. NULL is fine. */
void ab_conn_put(ab_conn *conn)
{
	if (conn && atomic_fetch_sub_explicit(&conn->refs, 1, memory_order_acq_rel) == 1)
		conn_free(conn);
}

/**
 * ab_conn_left() - account buffers that no thread counts
 * @conn: the connection
 * @buffers: more, or fewer if negative, that keep the mapping of a closed connection
 */
void ab_conn_left(ab_conn *conn, long buffers)
{
	long left = atomic_fetch_add(&conn->left, buffers) + buffers;

	if (!left && atomic_load(&conn->fd) < 0)
		ab_sys_unmap(conn->map, conn->map_size);
}

/* ---- saying things ---------------------------------------------------------- */

/* One command at once, past the thread's buffer, for when that cannot be had. */
static int say_alone(ab_conn *conn, uint32_t cmd, const void *payload, size_t len)
{
	uint8_t out[sizeof(cmd) + 16];
	struct binder_write_read bwr = { .write_size = sizeof(cmd) + len,
					 .write_buffer = (uintptr_t)out };
	int ret;

	memcpy(out, &cmd, sizeof(cmd));
	memcpy(out + sizeof(cmd), payload, len);
	do
		ret = ab_conn_ioctl(conn, BINDER_WRITE_READ, &bwr);
	while (ret == -EINTR && !bwr.write_consumed);
	return bwr.write_consumed ? 0 : ret;
}

/**
 * ab_conn_say() - tell the driver something that must not be lost
 * @conn: the connection
 * @cmd: BC_...
 * @payload: of the command, @len bytes, at most 16
 * @len: its size
 *
 * At once, but in loops and calls with the thread's next ioctl.
 *
 * Return: 0; -EBADF; the driver's error.
 */
int ab_conn_say(ab_conn *conn, uint32_t cmd, const void *payload, size_t len)
{
	struct ab_thread *self;
	int ret = ab_thread_self(conn, &self);

	if (ret == -ENOMEM || (!ret && ab_thread_put(self, cmd, payload, len)))
		return say_alone(conn, cmd, payload, len);
	if (ret)
		return ret;
	if (!self->depth)
		return ab_thread_flush(self);
	self->urgent = true;
	return 0;
}

/**
 * ab_conn_free_buffer() - give back a received buffer
 * @conn: the connection, in whatever state
 * @buffer: its address
 * @at_once: do not wait for the thread's next call; inside of one, for its next ioctl
 */
void ab_conn_free_buffer(ab_conn *conn, binder_uintptr_t buffer, bool at_once)
{
	struct ab_thread *self;
	int ret = ab_thread_self(conn, &self);

	if (ret == -EBADF) {
		if (atomic_load(&conn->closed))
			ab_conn_left(conn, -1);
		return;
	}
	if (ret) {
		say_alone(conn, BC_FREE_BUFFER, &buffer, sizeof(buffer));
		ab_conn_left(conn, -1);
		return;
	}
	self->buffers--;
	if (at_once)
		ab_conn_say(conn, BC_FREE_BUFFER, &buffer, sizeof(buffer));
	else if (ab_thread_put(self, BC_FREE_BUFFER, &buffer, sizeof(buffer)))
		say_alone(conn, BC_FREE_BUFFER, &buffer, sizeof(buffer));
}

/* ---- opening ------------------------------------------------------------------ */

static int options_check(const struct ab_options *options)
{
	if (options->map_size > MAP_SIZE_MAX || options->flags & ~AB_OPEN_NO_DEFER ||
	    options->variant < AB_VARIANT_DEFAULT || options->variant > AB_ANDROID_16)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(options->reserved) / sizeof(options->reserved[0]); i++) {
		if (options->reserved[i])
			return -EINVAL;
	}
	return 0;
}

static int conn_check(ab_conn *conn, uint32_t max_threads)
{
	struct binder_version version = { 0 };
	int ret;

	ret = ab_conn_ioctl(conn, BINDER_VERSION, &version);
	if (ret)
		return ret == -EINVAL ? -ENOTTY : ret;
	if (version.protocol_version != BINDER_CURRENT_PROTOCOL_VERSION)
		return -EPROTO;
	conn->map = ab_sys_map(conn->fd, conn->map_size, &ret);
	if (!conn->map)
		return ret;
	return ab_conn_ioctl(conn, BINDER_SET_MAX_THREADS, &max_threads);
}

static ab_conn *conn_alloc(const struct ab_options *options)
{
	ab_conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->proxies = calloc(AB_BUCKETS_FIRST, sizeof(*conn->proxies));
	if (!conn->proxies) {
		free(conn);
		return NULL;
	}
	conn->nr_buckets = AB_BUCKETS_FIRST;
	conn->flags = options->flags;
	conn->variant = options->variant ? options->variant : AB_ANDROID_13;
	conn->map_size = options->map_size ? options->map_size : MAP_SIZE_DEFAULT;
	conn->forks = atomic_load(&ab_forks);
	atomic_init(&conn->refs, 1);
	pthread_mutex_init(&conn->order, NULL);
	pthread_mutex_init(&conn->lock, NULL);
	pthread_cond_init(&conn->idle, NULL);
	return conn;
}

int ab_open(ab_conn **connp, const char *path, const struct ab_options *options)
{
	static const struct ab_options defaults;
	ab_conn *conn;
	int ret, fd;

	*connp = NULL;
	if (!options)
		options = &defaults;
	ret = options_check(options);
	if (!ret)
		ret = ab_thread_once();
	if (ret)
		return ret;
	conn = conn_alloc(options);
	if (!conn)
		return -ENOMEM;
	fd = ab_sys_open(path);
	atomic_init(&conn->fd, fd);
	ret = fd < 0 ? fd : conn_check(conn, options->max_threads);
	if (!ret) {
		*connp = conn;
		return 0;
	}
	if (conn->map)
		ab_sys_unmap(conn->map, conn->map_size);
	if (fd >= 0)
		ab_sys_close(fd);
	conn_free(conn);
	return ret;
}

/* ---- closing -------------------------------------------------------------------- */

void ab_stop(ab_conn *conn)
{
	if (ab_conn_usable(conn))
		return;
	atomic_store(&conn->stopping, true);
	ab_sys_kick(conn->fd);
}

static void pool_join(ab_conn *conn)
{
	for (;;) {
		pthread_t last;

		pthread_mutex_lock(&conn->lock);
		if (!conn->pool_size) {
			pthread_mutex_unlock(&conn->lock);
			return;
		}
		last = conn->pool[--conn->pool_size];
		pthread_mutex_unlock(&conn->lock);
		/* Closed by what one of them serves. */
		if (pthread_equal(last, pthread_self()))
			pthread_detach(last);
		else
			pthread_join(last, NULL);
	}
}

static void replies_take(struct ab_reply **to, struct ab_reply **from)
{
	while (*to)
		to = &(*to)->next;
	*to = *from;
	*from = NULL;
}

/*
 * What was in an idle thread's. The struct itself remains the thread's, which
 * may be ending just now. The one that closes may be in use.
 */
static void thread_take_locked(struct ab_thread *sink, struct ab_thread *thread)
{
	struct ab_proxy **end = &sink->pending;

	sink->buffers += thread->buffers;
	if (thread->depth)
		return;
	replies_take(&sink->replies, &thread->replies);
	replies_take(&sink->replies, &thread->idle_replies);
	replies_take(&sink->replies, &thread->sent);
	while (*end)
		end = &(*end)->next_pending;
	*end = thread->pending;
	thread->pending = NULL;
	free(thread->out);
	thread->out = NULL;
	thread->out_len = thread->out_capacity = 0;
}

/* From here on nobody gets a descriptor to talk over. */
static void threads_take(ab_conn *conn, struct ab_thread *sink, ab_object **manager)
{
	struct ab_thread *self = ab_thread_peek(conn), *thread;

	pthread_mutex_lock(&conn->lock);
	while (conn->loops > (self ? self->loops : 0))
		pthread_cond_wait(&conn->idle, &conn->lock);
	atomic_store(&conn->closed, true);
	while (conn->exiting)
		pthread_cond_wait(&conn->idle, &conn->lock);
	while ((thread = conn->threads)) {
		conn->threads = thread->next;
		thread_take_locked(sink, thread);
	}
	*manager = conn->manager;
	conn->manager = NULL;
	pthread_mutex_unlock(&conn->lock);
}

void ab_close(ab_conn *conn)
{
	struct ab_thread sink = { 0 };
	ab_object *manager;
	int fd;

	if (!conn)
		return;
	if (ab_conn_usable(conn)) {
		/* A child's copy: its locks and threads are as fork() found them. */
		fd = atomic_exchange(&conn->fd, -1);
		if (fd >= 0)
			ab_sys_close(fd);
		return;
	}
	ab_publisher_close(conn);
	ab_stop(conn);
	pool_join(conn);
	threads_take(conn, &sink, &manager);
	ab_thread_empty(&sink);
	ab_deaths_forget(conn);
	ab_locals_forget(conn);
	ab_object_put(manager);
	fd = atomic_exchange(&conn->fd, -1);
	ab_conn_left(conn, sink.buffers);
	ab_sys_close(fd);
	ab_thread_drop(conn);
	ab_conn_put(conn);
}
