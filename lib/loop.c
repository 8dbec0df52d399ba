// SPDX-License-Identifier: MIT
/* Threads that serve: loops, the pool, and programs with an event loop of their own. */
#include "objects.h"

#include <signal.h>
#include <stdlib.h>

#include "sys.h"

/* ab_close() waits for those in loops. */
static int loop_enter(struct ab_thread *self)
{
	ab_conn *conn = self->conn;
	int ret;

	pthread_mutex_lock(&conn->lock);
	ret = ab_conn_usable(conn);
	if (!ret) {
		conn->loops++;
		self->loops++;
		self->depth++;
	}
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

static void loop_leave(struct ab_thread *self)
{
	ab_conn *conn = ab_conn_get(self->conn);

	ab_thread_leave(self);
	pthread_mutex_lock(&conn->lock);
	conn->loops--;
	pthread_cond_broadcast(&conn->idle);
	pthread_mutex_unlock(&conn->lock);
	ab_conn_put(conn);
}

static int loop(struct ab_thread *self, uint32_t enter)
{
	ab_conn *conn = self->conn;
	const uint8_t *payload;
	uint32_t cmd;
	int ret;

	ret = loop_enter(self);
	if (ret)
		return ret;
	ret = ab_thread_put(self, enter, NULL, 0);
	self->looper = true;
	/* A call that was read already is served: its caller waits. */
	while (!ret && (self->in_pos < self->in_len || !atomic_load(&conn->stopping))) {
		if (atomic_load_explicit(&conn->spawn_owed, memory_order_relaxed) &&
		    atomic_exchange(&conn->spawn_owed, false))
			ab_pool_spawn(conn);
		if (self->in_pos >= self->in_len)
			ab_thread_settle(self);
		if (self->in_pos >= self->in_len && atomic_load(&conn->stopping))
			break;
		ret = ab_thread_next(self, &cmd, &payload);
		if (!ret)
			ret = ab_thread_handle(self, cmd, payload);
		else if (ret == -EINTR || ret == -EAGAIN)
			ret = 0;
	}
	self->looper = false;
	if (!atomic_load(&conn->closed)) {
		ab_thread_put(self, BC_EXIT_LOOPER, NULL, 0);
		ab_thread_flush(self);
	}
	self->loops--;
	loop_leave(self);
	return ret == -ECANCELED ? 0 : ret;
}

int ab_loop(ab_conn *conn)
{
	struct ab_thread *self;
	int ret = ab_thread_self(conn, &self);

	return ret ? ret : loop(self, BC_ENTER_LOOPER);
}

/* ---- the pool ----------------------------------------------------------------- */

/* The connection waits for its pool before it goes. */
static void *pool_thread(void *data)
{
	struct ab_thread *self;

	pthread_setname_np(pthread_self(), "binder");
	if (!ab_thread_self(data, &self))
		loop(self, BC_REGISTER_LOOPER);
	return NULL;
}

static void *pool_first(void *data)
{
	pthread_setname_np(pthread_self(), "binder");
	ab_loop(data);
	return NULL;
}

/* The program's signals are for its own threads; what a thread does wrong is its own. */
static int create_quiet(pthread_t *thread, void *(*fn)(void *data), ab_conn *conn)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
	sigset_t block, before;
	int ret;

	sigfillset(&block);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&block, own[i]);
	pthread_sigmask(SIG_SETMASK, &block, &before);
	ret = -pthread_create(thread, NULL, fn, conn);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static int pool_reserve_locked(ab_conn *conn)
{
	size_t capacity = conn->pool_capacity ? 2 * conn->pool_capacity : 16;
	pthread_t *pool;

	if (conn->pool_size < conn->pool_capacity)
		return 0;
	pool = realloc(conn->pool, capacity * sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	conn->pool = pool;
	conn->pool_capacity = capacity;
	return 0;
}

static int pool_add(ab_conn *conn, void *(*fn)(void *data))
{
	pthread_t thread;
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	if (!atomic_load(&conn->stopping)) {
		ret = pool_reserve_locked(conn);
		if (!ret)
			ret = create_quiet(&thread, fn, conn);
		if (!ret)
			conn->pool[conn->pool_size++] = thread;
	}
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

/**
 * ab_pool_spawn() - the driver wants another thread
 * @conn: the connection
 *
 * It asks no more before it has got it. So what cannot be done now is done when
 * next something is heard.
 */
void ab_pool_spawn(ab_conn *conn)
{
	if (pool_add(conn, pool_thread))
		atomic_store(&conn->spawn_owed, true);
}

int ab_pool_start(ab_conn *conn)
{
	int ret = ab_conn_usable(conn);

	return ret ? ret : pool_add(conn, pool_first);
}

/* ---- event loops ----------------------------------------------------------------- */

static int dispatch_once(struct ab_thread *self)
{
	bool sent = self->out_len && !self->replied;
	int ret = 0;

	/* A call in between may have taken what there was. */
	if (!self->out_len && !ab_sys_readable(self->conn->fd))
		return 0;
	if (sent)
		ret = ab_thread_flush(self);
	/* What is left then waits behind an error that wants to be read. */
	if (!ret && (!sent || self->out_len))
		ret = ab_thread_talk(self, true);
	if (!ret)
		ret = ab_thread_drain(self);
	if (!ret)
		ab_thread_settle(self);
	return ret;
}

/*
 * A reply's own completion is there at once, so that the ioctl which carries it
 * can read it without waiting. Left unread, it would make the descriptor readable.
 */
int ab_dispatch(ab_conn *conn)
{
	struct ab_thread *self;
	int ret = ab_thread_self(conn, &self);

	if (ret)
		return ret;
	self->depth++;
	if (!self->dispatching) {
		ret = ab_thread_put(self, BC_ENTER_LOOPER, NULL, 0);
		if (!ret)
			ret = ab_thread_flush(self);
		self->dispatching = !ret;
	}
	do {
		if (!ret)
			ret = dispatch_once(self);
		if (ret == -EINTR || ret == -EAGAIN)
			ret = 0;
	} while (!ret && self->out_len && !atomic_load(&conn->closed));
	ab_thread_leave(self);
	return ret;
}
