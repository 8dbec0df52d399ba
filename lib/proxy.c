// SPDX-License-Identifier: MIT
/*
 * Proxies: one for each handle, in a table under conn->lock.
 *
 * The driver counts one strong reference of ours for each time that a proxy's
 * count left 0, and is told of its return to 0 by whichever thread that happens
 * in. What threads say to the driver may come in another order than they did it.
 * That is no matter as long as the handle's count in the driver stays above 0, and
 * it does: who gives a count back first got one, or is about to and has the
 * buffer with the object until then, whose count is in the same place.
 *
 * But the buffer has only one. So a BC_RELEASE of another thread must not overtake
 * the BC_ACQUIRE of the thread that received the object, or it would use up the
 * buffer's, and the handle might come to mean something else. Therefore the
 * acquiring thread keeps a reference of its own, "pending", until its BC_ACQUIRE
 * has certainly been taken. Who puts the last but this one while that thread
 * sleeps in the driver wakes it.
 */
#include "objects.h"

#include <stdlib.h>

#include "sys.h"

#define SPACE_ACQUIRE (sizeof(uint32_t) + sizeof(uint32_t))

/* ---- the table -------------------------------------------------------------------- */

static struct ab_proxy **bucket(const ab_conn *conn, uint32_t handle)
{
	return &conn->proxies[handle & (conn->nr_buckets - 1)];
}

/** ab_proxy_find_locked() - under conn->lock. Return: the handle's proxy or NULL. */
struct ab_proxy *ab_proxy_find_locked(ab_conn *conn, uint32_t handle)
{
	struct ab_proxy *proxy = *bucket(conn, handle);

	while (proxy && proxy->handle != handle)
		proxy = proxy->next;
	return proxy;
}

/* Longer chains if there is no memory. */
static void grow_locked(ab_conn *conn)
{
	struct ab_proxy **old = conn->proxies, *proxy;
	size_t nr_old = conn->nr_buckets;
	struct ab_proxy **buckets = calloc(2 * nr_old, sizeof(*buckets));

	if (!buckets)
		return;
	conn->proxies = buckets;
	conn->nr_buckets = 2 * nr_old;
	for (size_t i = 0; i < nr_old; i++) {
		while ((proxy = old[i])) {
			old[i] = proxy->next;
			proxy->next = *bucket(conn, proxy->handle);
			*bucket(conn, proxy->handle) = proxy;
		}
	}
	free(old);
}

static void list_locked(ab_conn *conn, struct ab_proxy *proxy)
{
	struct ab_proxy **head;

	if (conn->nr_proxies >= conn->nr_buckets)
		grow_locked(conn);
	head = bucket(conn, proxy->handle);
	proxy->next = *head;
	*head = proxy;
	proxy->listed = true;
	conn->nr_proxies++;
}

/** ab_proxy_unlist_locked() - under conn->lock: its handle is free for another */
void ab_proxy_unlist_locked(struct ab_proxy *proxy)
{
	ab_conn *conn = proxy->base.conn;
	struct ab_proxy **link = bucket(conn, proxy->handle);

	if (!proxy->listed)
		return;
	while (*link != proxy)
		link = &(*link)->next;
	*link = proxy->next;
	proxy->listed = false;
	conn->nr_proxies--;
}

/** ab_proxy_unhold_locked() - under conn->lock. Return: true: ab_proxy_free() it. */
bool ab_proxy_unhold_locked(struct ab_proxy *proxy)
{
	if (--proxy->holds)
		return false;
	ab_proxy_unlist_locked(proxy);
	return true;
}

/** ab_proxy_free() - its last hold has gone */
void ab_proxy_free(struct ab_proxy *proxy)
{
	ab_conn *conn = proxy->base.conn;

	free(proxy);
	ab_conn_put(conn);
}

/* ---- getting ------------------------------------------------------------------------ */

/* A strong reference to a proxy that has none, by the thread with the buffer. */
static void revive_locked(struct ab_thread *self, struct ab_proxy *proxy)
{
	proxy->holds++;
	if (!proxy->handle) {
		/* The context manager has no references before ab_proxy_attach(). */
		atomic_store(&proxy->base.strong, 1);
		return;
	}
	atomic_store(&proxy->pending, self);
	proxy->next_pending = self->pending;
	self->pending = proxy;
	atomic_store(&proxy->base.strong, 2);
	/* Never fails: there is room. */
	ab_thread_put(self, BC_ACQUIRE, &proxy->handle, sizeof(proxy->handle));
}

/** ab_proxy_weaken_locked() - one more weak reference. Return: true: ab_proxy_incref() it. */
bool ab_proxy_weaken_locked(struct ab_proxy *proxy)
{
	proxy->holds++;
	return !proxy->nr_weak++ && proxy->handle;
}

static bool use_locked(struct ab_thread *self, struct ab_proxy *proxy, bool strong)
{
	if (!strong)
		return ab_proxy_weaken_locked(proxy);
	if (!ab_object_try_get(&proxy->base))
		revive_locked(self, proxy);
	return false;
}

static struct ab_proxy *proxy_alloc(ab_conn *conn, uint32_t handle)
{
	struct ab_proxy *proxy = calloc(1, sizeof(*proxy));

	if (!proxy)
		return NULL;
	proxy->base.remote = true;
	proxy->base.conn = ab_conn_get(conn);
	proxy->handle = handle;
	return proxy;
}

/**
 * ab_proxy_incref() - have the driver count a weak reference, at once
 * @proxy: has got its first; what the caller holds, or its buffer, keeps the handle until then
 *
 * Return: 0; or an error, and the weak reference has been put.
 */
int ab_proxy_incref(struct ab_proxy *proxy)
{
	struct ab_thread *self;
	int ret = ab_thread_self(proxy->base.conn, &self);

	if (!ret)
		ret = ab_thread_put(self, BC_INCREFS, &proxy->handle, sizeof(proxy->handle));
	if (!ret)
		ret = ab_thread_flush(self);
	if (ret)
		ab_weak_put((ab_weak *)proxy);
	return ret;
}

/**
 * ab_proxy_new() - the proxy of a handle
 * @conn: the connection
 * @handle: of an object that a received buffer, or a reference of the caller's, keeps
 * @strong: a strong reference is wanted; else a weak one
 * @proxyp: receives the proxy, with that reference for the caller
 *
 * Return: 0; -ENOMEM; -EBADF; the driver's error.
 */
int ab_proxy_new(ab_conn *conn, uint32_t handle, bool strong, struct ab_proxy **proxyp)
{
	struct ab_proxy *proxy, *fresh = NULL;
	struct ab_thread *self;
	bool ask;
	int ret;

	ret = ab_thread_self(conn, &self);
	if (!ret)
		ret = ab_thread_reserve(self, SPACE_ACQUIRE);
	if (ret)
		return ret;
	pthread_mutex_lock(&conn->lock);
	proxy = ab_proxy_find_locked(conn, handle);
	if (!proxy) {
		pthread_mutex_unlock(&conn->lock);
		fresh = proxy_alloc(conn, handle);
		if (!fresh)
			return -ENOMEM;
		pthread_mutex_lock(&conn->lock);
		proxy = ab_proxy_find_locked(conn, handle);
		if (!proxy) {
			proxy = fresh;
			fresh = NULL;
			list_locked(conn, proxy);
		}
	}
	ask = use_locked(self, proxy, strong);
	pthread_mutex_unlock(&conn->lock);
	if (fresh)
		ab_proxy_free(fresh);
	*proxyp = proxy;
	return ask ? ab_proxy_incref(proxy) : 0;
}

/* ---- putting ------------------------------------------------------------------------- */

/** ab_proxy_last() - its strong count became 0 */
void ab_proxy_last(struct ab_proxy *proxy)
{
	ab_conn *conn = proxy->base.conn;
	uint32_t handle = proxy->handle;
	bool gone;

	/* In a child of fork() the locks are as they were. */
	if (conn->forks != atomic_load(&ab_forks))
		return;
	ab_conn_get(conn);
	if (!handle)
		ab_manager_last(proxy);
	pthread_mutex_lock(&conn->lock);
	gone = ab_proxy_unhold_locked(proxy);
	pthread_mutex_unlock(&conn->lock);
	if (gone)
		ab_proxy_free(proxy);
	if (handle)
		ab_conn_say(conn, BC_RELEASE, &handle, sizeof(handle));
	ab_conn_put(conn);
}

static void pending_remove_locked(struct ab_thread *self, struct ab_proxy *proxy)
{
	struct ab_proxy **link = &self->pending;

	while (*link != proxy)
		link = &(*link)->next_pending;
	*link = proxy->next_pending;
	atomic_store(&proxy->pending, NULL);
}

/** ab_proxy_put_pending() - ab_object_put() while a BC_ACQUIRE is pending */
void ab_proxy_put_pending(struct ab_proxy *proxy)
{
	ab_conn *conn = proxy->base.conn;
	bool last = false, wake = false;
	struct ab_thread *thread;
	unsigned int left;

	if (conn->forks != atomic_load(&ab_forks))
		return;
	ab_conn_get(conn);
	pthread_mutex_lock(&conn->lock);
	thread = atomic_load(&proxy->pending);
	left = atomic_fetch_sub(&proxy->base.strong, 1) - 1;
	if (thread && left == 1) {
		if (thread == ab_thread_peek(conn)) {
			/* What is said now comes after the BC_ACQUIRE. */
			pending_remove_locked(thread, proxy);
			last = atomic_fetch_sub(&proxy->base.strong, 1) == 1;
		} else {
			wake = thread->blocked;
		}
	} else {
		last = !left;
	}
	pthread_mutex_unlock(&conn->lock);
	if (last)
		ab_proxy_last(proxy);
	if (wake)
		ab_sys_kick(conn->fd);
	ab_conn_put(conn);
}

/** ab_pending_before() - the thread is going to talk, and perhaps to sleep */
void ab_pending_before(struct ab_thread *self)
{
	struct ab_proxy **link = &self->pending, *proxy, *dropped = NULL;

	pthread_mutex_lock(&self->conn->lock);
	while ((proxy = *link)) {
		unsigned int one = 1;

		if (!atomic_compare_exchange_strong(&proxy->base.strong, &one, 0)) {
			link = &proxy->next_pending;
			continue;
		}
		*link = proxy->next_pending;
		atomic_store(&proxy->pending, NULL);
		proxy->next_pending = dropped;
		dropped = proxy;
	}
	self->blocked = self->pending;
	pthread_mutex_unlock(&self->conn->lock);
	while ((proxy = dropped)) {
		dropped = proxy->next_pending;
		ab_proxy_last(proxy);
	}
}

/** ab_pending_after() - the thread has talked */
void ab_pending_after(struct ab_thread *self)
{
	struct ab_proxy *list = NULL, *proxy;

	pthread_mutex_lock(&self->conn->lock);
	self->blocked = false;
	if (!self->out_len) {
		list = self->pending;
		self->pending = NULL;
		for (proxy = list; proxy; proxy = proxy->next_pending)
			atomic_store(&proxy->pending, NULL);
	}
	pthread_mutex_unlock(&self->conn->lock);
	while ((proxy = list)) {
		list = proxy->next_pending;
		ab_object_put(&proxy->base);
	}
}
