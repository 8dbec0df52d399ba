// SPDX-License-Identifier: MIT
/* What each thread has for each connection: finding, making and ending it. */
#include "objects.h"

#include <stdlib.h>

#define OUT_FIRST 512

/* This thread's, one for each connection that it used, the last used first. */
static _Thread_local struct ab_thread *mine;
static pthread_key_t exit_key; /* for its destructor only */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_error;

/** ab_forks - how many fork()s lie between this process and the one that loaded the library */
atomic_uint ab_forks;

/* The parent's connections are none of the child's. */
static void in_child(void)
{
	mine = NULL;
	atomic_fetch_add(&ab_forks, 1);
}

static void thread_free(struct ab_thread *self)
{
	ab_conn *conn = self->conn;

	ab_thread_empty(self);
	free(self);
	ab_conn_put(conn);
}

/* The thread ends: what it had to say is said, and the driver forgets it. */
static void thread_exit(struct ab_thread *self)
{
	struct ab_thread **link;
	ab_conn *conn = self->conn;
	int32_t unused = 0;

	pthread_mutex_lock(&conn->lock);
	if (!atomic_load(&conn->closed)) {
		conn->exiting++;
		pthread_mutex_unlock(&conn->lock);
		ab_thread_flush(self);
		ab_conn_ioctl(conn, BINDER_THREAD_EXIT, &unused);
		ab_conn_left(conn, self->buffers);
		pthread_mutex_lock(&conn->lock);
		for (link = &conn->threads; *link != self; link = &(*link)->next)
			;
		*link = self->next;
		if (!--conn->exiting)
			pthread_cond_broadcast(&conn->idle);
	}
	pthread_mutex_unlock(&conn->lock);
	thread_free(self);
}

static void exit_all(void *unused)
{
	struct ab_thread *self;

	while ((self = mine)) {
		mine = self->next_mine;
		thread_exit(self);
	}
}

static void once_only(void)
{
	once_error = -pthread_key_create(&exit_key, exit_all);
	if (!once_error)
		once_error = -pthread_atfork(NULL, NULL, in_child);
}

/** ab_thread_once() - what a process needs once. Return: 0 or a negative error. */
int ab_thread_once(void)
{
	pthread_once(&once, once_only);
	return once_error;
}

static struct ab_thread *find(const ab_conn *conn)
{
	struct ab_thread **link, *self;

	for (link = &mine; (self = *link); link = &self->next_mine) {
		if (self->conn == conn) {
			*link = self->next_mine;
			self->next_mine = mine;
			mine = self;
			break;
		}
	}
	return self;
}

/* Those of connections that others have closed. */
static void reap(void)
{
	struct ab_thread **link = &mine, *self;

	while ((self = *link)) {
		if (self->depth || !atomic_load(&self->conn->closed)) {
			link = &self->next_mine;
			continue;
		}
		*link = self->next_mine;
		thread_free(self);
	}
}

static int thread_new(ab_conn *conn, struct ab_thread **selfp)
{
	struct ab_thread *self;

	reap();
	self = calloc(1, sizeof(*self));
	if (!self)
		return -ENOMEM;
	self->out = malloc(OUT_FIRST);
	self->out_capacity = OUT_FIRST;
	if (!self->out || pthread_setspecific(exit_key, self)) {
		free(self->out);
		free(self);
		return -ENOMEM;
	}
	self->conn = ab_conn_get(conn);
	self->next_mine = mine;
	mine = self;
	pthread_mutex_lock(&conn->lock);
	self->next = conn->threads;
	conn->threads = self;
	pthread_mutex_unlock(&conn->lock);
	*selfp = self;
	return 0;
}

/**
 * ab_thread_self() - the calling thread's, made at first use
 * @conn: the connection
 * @self: receives it
 *
 * Return: 0; -ENOMEM; -EBADF as ab_conn_usable().
 */
int ab_thread_self(ab_conn *conn, struct ab_thread **self)
{
	struct ab_thread *last = mine;

	if (last && last->conn == conn) {
		/* A child of fork() has none. */
		*self = last;
		return atomic_load_explicit(&conn->closed, memory_order_relaxed) ? -EBADF : 0;
	}
	if (ab_conn_usable(conn))
		return -EBADF;
	*self = find(conn);
	return *self ? 0 : thread_new(conn, self);
}

/** ab_thread_peek() - the calling thread's. Return: NULL if it never used the connection. */
struct ab_thread *ab_thread_peek(ab_conn *conn)
{
	return find(conn);
}

/** ab_thread_drop() - the connection is closed: forget the calling thread's, if it can be. */
void ab_thread_drop(ab_conn *conn)
{
	struct ab_thread *self = find(conn);

	if (!self || self->depth)
		return;
	mine = self->next_mine;
	thread_free(self);
}

static void replies_free(struct ab_reply **list)
{
	struct ab_reply *reply;

	while ((reply = *list)) {
		*list = reply->next;
		ab_parcel_fini(&reply->parcel);
		free(reply);
	}
}

/** ab_thread_empty() - free what is in it; the driver is not told. */
void ab_thread_empty(struct ab_thread *self)
{
	struct ab_proxy *proxy;

	replies_free(&self->replies);
	replies_free(&self->idle_replies);
	replies_free(&self->sent);
	while ((proxy = self->pending)) {
		self->pending = proxy->next_pending;
		atomic_store(&proxy->pending, NULL);
		ab_object_put(&proxy->base);
	}
	free(self->out);
	self->out = NULL;
	self->out_len = self->out_capacity = 0;
}
