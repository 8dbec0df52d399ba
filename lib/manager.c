// SPDX-License-Identifier: MIT
/*
 * The context manager. Handle 0 means whoever it is at the time of a call, and
 * needs no reference for that; so its proxy has none. Only when somebody sends it
 * on or links to its death the driver is asked for references to the one that
 * there is now ("attached"). When that one dies they are given back at once, because
 * as long as they are there handle 0 cannot be a reference to the next one.
 */
#include "objects.h"

/* A manager may come and go while this is about it, but not for ever. */
#define ATTACH_TRIES 10

int ab_manager(ab_conn *conn, ab_object **manager)
{
	struct ab_proxy *proxy;
	int ret = ab_conn_usable(conn);

	*manager = NULL;
	if (ret)
		return ret;
	pthread_mutex_lock(&conn->lock);
	if (conn->manager)
		*manager = ab_object_get(conn->manager);
	pthread_mutex_unlock(&conn->lock);
	if (*manager)
		return 0;
	ret = ab_proxy_new(conn, 0, true, &proxy);
	if (!ret)
		*manager = &proxy->base;
	return ret;
}

int ab_become_manager(ab_conn *conn, ab_object *object)
{
	struct flat_binder_object fbo;
	ab_object *old;
	int ret;

	if (object->remote || object->conn != conn)
		return -EINVAL;
	ret = ab_object_flatten(object, false, &fbo);
	if (!ret)
		ret = ab_conn_usable(conn);
	if (!ret)
		ret = ab_conn_ioctl(conn, BINDER_SET_CONTEXT_MGR_EXT, &fbo);
	if (ret)
		return ret;
	ab_object_get(object); /* the context's, until the connection closes */
	pthread_mutex_lock(&conn->lock);
	old = conn->manager;
	conn->manager = object;
	pthread_mutex_unlock(&conn->lock);
	ab_object_put(old);
	return 0;
}

int ab_count_refs(ab_object *object, uint32_t *strong)
{
	struct binder_node_info_for_ref info = { 0 };
	int ret;

	*strong = 0;
	if (!object->remote || !ab_proxy(object)->handle)
		return -EINVAL;
	/* Its BC_ACQUIRE may still be waiting here. */
	ret = ab_flush(object->conn);
	info.handle = ab_proxy(object)->handle;
	if (!ret)
		ret = ab_conn_ioctl(object->conn, BINDER_GET_NODE_INFO_FOR_REF, &info);
	if (!ret)
		*strong = info.strong_count;
	return ret;
}

/* ---- references of handle 0 --------------------------------------------------------- */

/* All that is said about handle 0's references is said under conn->order, at once. */
static int say_order(ab_conn *conn, uint32_t reference, uint32_t death, uint64_t cookie)
{
	struct binder_handle_cookie request = { .cookie = cookie };
	struct ab_thread *self;
	uint32_t handle = 0;
	int ret = ab_thread_self(conn, &self);

	if (!ret && reference == BC_ACQUIRE)
		ret = ab_thread_put(self, reference, &handle, sizeof(handle));
	if (!ret && death)
		ret = ab_thread_put(self, death, &request, sizeof(request));
	if (!ret && reference == BC_RELEASE)
		ret = ab_thread_put(self, reference, &handle, sizeof(handle));
	return ret ? ret : ab_thread_flush(self);
}

/* Ask for references, unless that has been done. Return: 0 with the request's @cookie. */
static int attach_order(struct ab_proxy *proxy, uint64_t *cookie)
{
	ab_conn *conn = proxy->base.conn;
	bool ask = false;
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	if (ab_object_is_dead(&proxy->base))
		ret = -EPIPE;
	else if (!proxy->death_cookie)
		ask = ab_death_cookie_locked(proxy);
	*cookie = proxy->death_cookie;
	pthread_mutex_unlock(&conn->lock);
	if (ask)
		ret = say_order(conn, BC_ACQUIRE, BC_REQUEST_DEATH_NOTIFICATION, *cookie);
	return ret;
}

/* Take back what attach_order() did, unless it has turned out well for another thread. */
static void detach_order(struct ab_proxy *proxy, uint64_t cookie, bool held)
{
	ab_conn *conn = proxy->base.conn;
	bool mine;

	pthread_mutex_lock(&conn->lock);
	mine = !proxy->attached && proxy->death_cookie == cookie;
	if (mine)
		proxy->death_cookie = 0;
	pthread_mutex_unlock(&conn->lock);
	if (mine && held)
		say_order(conn, BC_RELEASE, BC_CLEAR_DEATH_NOTIFICATION, cookie);
}

/*
 * The driver does not say whether it took a reference; without a manager at that
 * moment it did not. But it lets nobody send a handle that he does not hold.
 */
static int attach_once(struct ab_proxy *proxy)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_HANDLE };
	binder_size_t offset = 0;
	const ab_parcel with_handle = { .data = (uint8_t *)&fbo, .size = sizeof(fbo),
					.offsets = &offset, .nr_offsets = 1 };
	struct binder_extended_error ee = { .command = BR_OK };
	ab_conn *conn = proxy->base.conn;
	bool answered = false;
	uint64_t cookie;
	int ret;

	pthread_mutex_lock(&conn->order);
	ret = attach_order(proxy, &cookie);
	pthread_mutex_unlock(&conn->order);
	if (!ret)
		ret = ab_handle_ping(conn, 0, &with_handle, &answered);
	if (answered) {
		pthread_mutex_lock(&conn->lock);
		proxy->attached = proxy->death_cookie == cookie;
		ret = proxy->attached ? 0 : -EPIPE;
		pthread_mutex_unlock(&conn->lock);
		return ret;
	}
	if (ret == -ECOMM && !ab_conn_ioctl(conn, BINDER_GET_EXTENDED_ERROR, &ee) &&
	    ee.param == -EINVAL)
		ret = -EAGAIN;
	pthread_mutex_lock(&conn->order);
	detach_order(proxy, cookie, ret != -EAGAIN);
	pthread_mutex_unlock(&conn->order);
	return ret;
}

/**
 * ab_proxy_attach() - see to it that the proxy's handle is a reference
 * @proxy: any proxy; only the context manager's may not have one yet
 *
 * Return: 0; -EPIPE: it is dead, or there is none; as ab_call().
 */
int ab_proxy_attach(struct ab_proxy *proxy)
{
	ab_conn *conn = proxy->base.conn;
	bool answered, attached;
	int ret = -EAGAIN;

	if (proxy->handle)
		return 0;
	pthread_mutex_lock(&conn->lock);
	attached = proxy->attached;
	pthread_mutex_unlock(&conn->lock);
	if (attached)
		return 0;
	if (ab_object_is_dead(&proxy->base))
		return -EPIPE;
	for (int i = 0; i < ATTACH_TRIES && ret == -EAGAIN; i++) {
		/* Is there anybody? The driver's log is not for those who wait for one. */
		ret = ab_handle_ping(conn, 0, NULL, &answered);
		if (answered)
			ret = attach_once(proxy);
	}
	return ret == -EAGAIN ? -EPIPE : ret;
}

/** ab_manager_last() - nobody needs the context manager's proxy any more */
void ab_manager_last(struct ab_proxy *proxy)
{
	ab_conn *conn = proxy->base.conn;
	uint64_t cookie = 0;

	pthread_mutex_lock(&conn->order);
	pthread_mutex_lock(&conn->lock);
	if (proxy->attached && !atomic_load(&proxy->base.strong)) {
		proxy->attached = false;
		cookie = proxy->death_cookie;
		proxy->death_cookie = 0;
	}
	pthread_mutex_unlock(&conn->lock);
	if (cookie)
		say_order(conn, BC_RELEASE, BC_CLEAR_DEATH_NOTIFICATION, cookie);
	pthread_mutex_unlock(&conn->order);
}

/**
 * ab_manager_gone() - the one has died that the proxy was attached to, or about to be
 * @proxy: the context manager's; who asks for one gets another from now on
 * @cookie: of the death request
 *
 * Return: false: the request was taken back meanwhile, and it is not dead.
 */
bool ab_manager_gone(struct ab_proxy *proxy, uint64_t cookie)
{
	ab_conn *conn = proxy->base.conn;
	bool gone;

	pthread_mutex_lock(&conn->order);
	pthread_mutex_lock(&conn->lock);
	gone = proxy->death_cookie == cookie;
	if (gone) {
		proxy->attached = false;
		proxy->death_cookie = 0;
		atomic_store(&proxy->dead, true);
		ab_proxy_unlist_locked(proxy);
	}
	pthread_mutex_unlock(&conn->lock);
	/* The request goes with the reference. */
	if (gone)
		say_order(conn, BC_RELEASE, 0, 0);
	pthread_mutex_unlock(&conn->order);
	return gone;
}
