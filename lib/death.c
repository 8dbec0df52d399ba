// SPDX-License-Identifier: MIT
/*
 * Death links. A proxy has one request with the driver however many links it
 * has. Its cookie is a number of its own with the handle in it, not an address: what
 * comes late, of a request that has been cleared, finds nothing.
 *
 * Requests and clearings are said under conn->order, at once: said the other way
 * round, the driver would refuse the request and nobody would be told.
 */
#include "objects.h"

#include <stdlib.h>

/** ab_death_cookie_locked() - a new one for the proxy, under conn->lock. Return: it. */
uint64_t ab_death_cookie_locked(struct ab_proxy *proxy)
{
	ab_conn *conn = proxy->base.conn;

	if (!++conn->death_seq)
		conn->death_seq++;
	proxy->death_cookie = (uint64_t)conn->death_seq << 32 | proxy->handle;
	return proxy->death_cookie;
}

static int say_order(struct ab_proxy *proxy, uint32_t cmd, uint64_t cookie)
{
	struct binder_handle_cookie request = { .handle = proxy->handle, .cookie = cookie };
	struct ab_thread *self;
	int ret = ab_thread_self(proxy->base.conn, &self);

	if (!ret)
		ret = ab_thread_put(self, cmd, &request, sizeof(request));
	return ret ? ret : ab_thread_flush(self);
}

/* One owner less. Under conn->lock; its memory goes with the last. */
static bool disown_locked(ab_death *link)
{
	return !--link->owners;
}

static void death_free(ab_death *link)
{
	ab_conn *conn = link->conn;

	free(link);
	ab_conn_put(conn);
}

static void remove_locked(ab_death *link)
{
	ab_death **at = &link->proxy->links;

	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	link->linked = false;
}

/* ---- linking --------------------------------------------------------------------- */

static int link_order(struct ab_proxy *proxy, ab_death *link)
{
	ab_conn *conn = link->conn;
	uint64_t cookie = 0;
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	if (ab_object_is_dead(&proxy->base)) {
		ret = -EPIPE;
	} else {
		if (!proxy->death_cookie)
			cookie = ab_death_cookie_locked(proxy);
		link->linked = true;
		link->next = proxy->links;
		proxy->links = link;
	}
	pthread_mutex_unlock(&conn->lock);
	if (cookie)
		ret = say_order(proxy, BC_REQUEST_DEATH_NOTIFICATION, cookie);
	if (ret && cookie) {
		pthread_mutex_lock(&conn->lock);
		proxy->death_cookie = 0;
		if (link->linked)
			remove_locked(link);
		pthread_mutex_unlock(&conn->lock);
	}
	return ret;
}

int ab_death_link(ab_object *object, ab_death_fn *fn, void *data, ab_death **linkp)
{
	struct ab_proxy *proxy = ab_proxy(object);
	ab_conn *conn = object->conn;
	ab_death *link;
	int ret;

	if (linkp)
		*linkp = NULL;
	if (!object->remote)
		return -EINVAL;
	ret = ab_conn_usable(conn);
	if (!ret)
		ret = ab_object_is_dead(object) ? -EPIPE : ab_proxy_attach(proxy);
	if (ret)
		return ret;
	link = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	link->conn = ab_conn_get(conn);
	link->proxy = proxy;
	link->fn = fn;
	link->data = data;
	link->owners = linkp ? 2 : 1;
	ab_object_get(object);
	if (linkp)
		*linkp = link;
	pthread_mutex_lock(&conn->order);
	ret = link_order(proxy, link);
	pthread_mutex_unlock(&conn->order);
	if (ret) {
		if (linkp)
			*linkp = NULL;
		death_free(link);
		ab_object_put(object);
	}
	return ret;
}

/* Return: whether it was linked; @called: whether it was called, or is being called. */
static bool unlink_order(ab_death *link, bool *called)
{
	ab_conn *conn = link->conn;
	struct ab_proxy *proxy = link->proxy;
	uint64_t cookie = 0;
	bool linked, gone;

	pthread_mutex_lock(&conn->lock);
	*called = link->called;
	linked = link->linked;
	if (linked) {
		remove_locked(link);
		disown_locked(link);
		/* The context manager's own request stays. */
		if (!proxy->links && !proxy->attached) {
			cookie = proxy->death_cookie;
			proxy->death_cookie = 0;
		}
	}
	gone = disown_locked(link);
	pthread_mutex_unlock(&conn->lock);
	if (cookie)
		say_order(proxy, BC_CLEAR_DEATH_NOTIFICATION, cookie);
	if (gone)
		death_free(link);
	return linked;
}

int ab_death_unlink(ab_death *link)
{
	struct ab_proxy *proxy;
	bool linked, called;
	ab_conn *conn;

	if (!link)
		return 0;
	if (link->conn->forks != atomic_load(&ab_forks))
		return -EALREADY;
	conn = ab_conn_get(link->conn);
	proxy = link->proxy;
	pthread_mutex_lock(&conn->order);
	linked = unlink_order(link, &called);
	pthread_mutex_unlock(&conn->order);
	if (linked)
		ab_object_put(&proxy->base);
	ab_conn_put(conn);
	return called ? -EALREADY : 0;
}

/* ---- dying ----------------------------------------------------------------------- */

static ab_death *pop_locked(struct ab_proxy *proxy)
{
	ab_death *link = proxy->links;

	if (link) {
		proxy->links = link->next;
		link->linked = false;
	}
	return link;
}

static struct ab_proxy *dead_proxy(ab_conn *conn, uint64_t cookie)
{
	struct ab_proxy *proxy;

	pthread_mutex_lock(&conn->lock);
	proxy = ab_proxy_find_locked(conn, (uint32_t)cookie);
	if (proxy && (proxy->death_cookie != cookie || !ab_object_try_get(&proxy->base)))
		proxy = NULL;
	pthread_mutex_unlock(&conn->lock);
	return proxy;
}

/**
 * ab_death_mourn() - call the links of a proxy that is dead
 * @conn: its connection
 * @proxy: the proxy; the caller's reference goes
 *
 * Others may unlink, and so each is taken off only when it is its turn.
 */
void ab_death_mourn(ab_conn *conn, struct ab_proxy *proxy)
{
	ab_death *link;
	bool gone;

	for (;;) {
		pthread_mutex_lock(&conn->lock);
		link = pop_locked(proxy);
		if (link)
			link->called = true;
		pthread_mutex_unlock(&conn->lock);
		if (!link)
			break;
		link->fn(link->data, &proxy->base);
		pthread_mutex_lock(&conn->lock);
		gone = disown_locked(link);
		pthread_mutex_unlock(&conn->lock);
		if (gone)
			death_free(link);
		ab_object_put(&proxy->base);
	}
	ab_object_put(&proxy->base);
}

/**
 * ab_death_fire() - the driver says that an object's process has died
 * @self: the thread that was told
 * @cookie: of the request
 */
void ab_death_fire(struct ab_thread *self, uint64_t cookie)
{
	ab_conn *conn = self->conn;
	struct ab_proxy *proxy = dead_proxy(conn, cookie);
	bool gone;

	ab_conn_say(conn, BC_DEAD_BINDER_DONE, &cookie, sizeof(cookie));
	if (!proxy)
		return;
	if (proxy->handle) {
		pthread_mutex_lock(&conn->lock);
		gone = proxy->death_cookie == cookie;
		if (gone) {
			proxy->death_cookie = 0;
			atomic_store(&proxy->dead, true);
		}
		pthread_mutex_unlock(&conn->lock);
	} else {
		gone = ab_manager_gone(proxy, cookie);
	}
	if (!gone) {
		ab_object_put(&proxy->base);
		return;
	}
	proxy->next_mourned = self->mourned;
	self->mourned = proxy;
}

/** ab_deaths_forget() - the connection is closed: nobody will be called any more */
void ab_deaths_forget(ab_conn *conn)
{
	for (size_t i = 0; i < conn->nr_buckets; i++) {
		struct ab_proxy *proxy;
		ab_death *link = NULL;
		bool gone = false;

		pthread_mutex_lock(&conn->lock);
		proxy = conn->proxies[i];
		while (proxy && !(link = pop_locked(proxy)))
			proxy = proxy->next;
		if (link)
			gone = disown_locked(link);
		pthread_mutex_unlock(&conn->lock);
		if (!link)
			continue;
		if (gone)
			death_free(link);
		ab_object_put(&proxy->base);
		i--; /* there may be more */
	}
}
