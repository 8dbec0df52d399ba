// SPDX-License-Identifier: MIT
/* Connections: an open, checked and mapped device, and the threads that use it. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys.h"

#define MAP_SIZE_DEFAULT (1024 * 1024 - 2 * 4096)
#define OUT_FIRST 512

int ab_conn_ioctl(ab_conn *conn, unsigned int cmd, void *arg)
{
	atomic_fetch_add_explicit(&conn->ioctls, 1, memory_order_relaxed);
	return ab_sys_ioctl(conn->fd, cmd, arg);
}

uint64_t ab_ioctls(const ab_conn *conn)
{
	return atomic_load_explicit(&conn->ioctls, memory_order_relaxed);
}

/* A thread ended: what it had to say is said, and the driver forgets it. */
static void thread_ended(void *data)
{
	struct ab_thread *self = data;
	ab_conn *conn = self->conn;
	struct ab_thread **link;
	int32_t unused = 0;

	if (self->out_len)
		ab_thread_talk(self, false);
	ab_conn_ioctl(conn, BINDER_THREAD_EXIT, &unused);
	pthread_mutex_lock(&conn->lock);
	for (link = &conn->threads; *link != self; link = &(*link)->next)
		;
	*link = self->next;
	pthread_mutex_unlock(&conn->lock);
	ab_thread_fini(self);
}

/* The calling thread's state, made at first use. NULL when out of memory. */
struct ab_thread *ab_thread_self(ab_conn *conn)
{
	struct ab_thread *self = pthread_getspecific(conn->key);

	if (self)
		return self;
	self = calloc(1, sizeof(*self));
	if (!self)
		return NULL;
	self->conn = conn;
	self->out = malloc(OUT_FIRST);
	self->out_capacity = OUT_FIRST;
	if (!self->out || pthread_setspecific(conn->key, self)) {
		free(self->out);
		free(self);
		return NULL;
	}
	pthread_mutex_lock(&conn->lock);
	self->next = conn->threads;
	conn->threads = self;
	pthread_mutex_unlock(&conn->lock);
	return self;
}

static int conn_check(ab_conn *conn, const struct ab_options *options)
{
	uint32_t max_threads = options ? options->max_threads : 0;
	struct binder_version version = { 0 };
	int ret;

	ret = ab_conn_ioctl(conn, BINDER_VERSION, &version);
	if (ret)
		return ret;
	if (version.protocol_version != BINDER_CURRENT_PROTOCOL_VERSION)
		return -EPROTO;
	conn->map_size = options && options->map_size ? options->map_size : MAP_SIZE_DEFAULT;
	conn->map = ab_sys_map(conn->fd, conn->map_size, &ret);
	if (!conn->map)
		return ret;
	return ab_conn_ioctl(conn, BINDER_SET_MAX_THREADS, &max_threads);
}

int ab_open(ab_conn **connp, const char *path, const struct ab_options *options)
{
	ab_conn *conn = calloc(1, sizeof(*conn));
	int ret;

	if (!conn)
		return -ENOMEM;
	conn->no_defer = options && options->no_defer;
	pthread_mutex_init(&conn->lock, NULL);
	ret = -pthread_key_create(&conn->key, thread_ended);
	if (ret)
		goto err_free;
	conn->fd = ab_sys_open(path);
	ret = conn->fd < 0 ? conn->fd : conn_check(conn, options);
	if (ret)
		goto err_close;
	*connp = conn;
	return 0;

err_close:
	if (conn->map)
		ab_sys_unmap(conn->map, conn->map_size);
	if (conn->fd >= 0)
		ab_sys_close(conn->fd);
	pthread_key_delete(conn->key);
err_free:
	pthread_mutex_destroy(&conn->lock);
	free(conn);
	return ret;
}

void ab_stop(ab_conn *conn)
{
	atomic_store(&conn->stopping, true);
	ab_sys_kick(conn->fd);
}

void ab_close(ab_conn *conn)
{
	struct ab_thread *thread;
	struct ab_death *death;

	if (!conn)
		return;
	ab_stop(conn);
	for (;;) {
		pthread_t last;

		pthread_mutex_lock(&conn->lock);
		if (!conn->pool_size) {
			pthread_mutex_unlock(&conn->lock);
			break;
		}
		last = conn->pool[--conn->pool_size];
		pthread_mutex_unlock(&conn->lock);
		pthread_join(last, NULL);
	}
	pthread_key_delete(conn->key);
	while ((thread = conn->threads)) {
		conn->threads = thread->next;
		ab_thread_fini(thread);
	}
	while ((death = conn->deaths)) {
		conn->deaths = death->next;
		free(death);
	}
	ab_object_unref(conn->manager);
	ab_sys_unmap(conn->map, conn->map_size);
	ab_sys_close(conn->fd);
	pthread_mutex_destroy(&conn->lock);
	free(conn->pool);
	free(conn);
}
