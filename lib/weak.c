// SPDX-License-Identifier: MIT
/*
 * Weak references. One is the object itself, counted apart. While a proxy has any,
 * the driver counts a weak reference of ours, so that its handle stays its own.
 */
#include "objects.h"

ab_weak *ab_weak_new(ab_object *object)
{
	struct ab_proxy *proxy = ab_proxy(object);
	ab_conn *conn = object->conn;
	bool ask;

	if (!object->remote) {
		atomic_fetch_add(&ab_local(object)->weak, 1);
		return (ab_weak *)object;
	}
	if (ab_conn_usable(conn))
		return NULL;
	pthread_mutex_lock(&conn->lock);
	ask = ab_proxy_weaken_locked(proxy);
	pthread_mutex_unlock(&conn->lock);
	return ask && ab_proxy_incref(proxy) ? NULL : (ab_weak *)proxy;
}

void ab_weak_put(ab_weak *weak)
{
	ab_object *object = (ab_object *)weak;
	struct ab_proxy *proxy = ab_proxy(object);
	bool last, gone;
	uint32_t handle;
	ab_conn *conn;

	if (!weak)
		return;
	if (!object->remote) {
		ab_local_weak_put(ab_local(object));
		return;
	}
	if (object->conn->forks != atomic_load(&ab_forks))
		return;
	conn = ab_conn_get(object->conn);
	handle = proxy->handle;
	pthread_mutex_lock(&conn->lock);
	last = !--proxy->nr_weak;
	gone = ab_proxy_unhold_locked(proxy);
	pthread_mutex_unlock(&conn->lock);
	if (gone)
		ab_proxy_free(proxy);
	if (last && handle)
		ab_conn_say(conn, BC_DECREFS, &handle, sizeof(handle));
	ab_conn_put(conn);
}

/* The driver took our BC_ACQUIRE, unless it says that there is no such reference. */
static bool was_acquired(ab_conn *conn, int error)
{
	struct binder_extended_error ee = { .command = BR_OK };

	return error != -ECOMM || ab_conn_ioctl(conn, BINDER_GET_EXTENDED_ERROR, &ee) ||
	       ee.param != -EINVAL;
}

/* Get a strong reference. Return: whether it is the first. */
static bool awaken(struct ab_proxy *proxy)
{
	ab_conn *conn = proxy->base.conn;
	bool first;

	pthread_mutex_lock(&conn->lock);
	first = !ab_object_try_get(&proxy->base);
	if (first) {
		proxy->holds++;
		atomic_store(&proxy->base.strong, 1);
	}
	pthread_mutex_unlock(&conn->lock);
	return first;
}

static int wake(struct ab_proxy *proxy)
{
	ab_conn *conn = proxy->base.conn;
	uint32_t handle = proxy->handle;
	struct ab_thread *self;
	bool answered;
	int ret;

	ret = ab_thread_self(conn, &self);
	if (!ret)
		ret = ab_thread_put(self, BC_ACQUIRE, &handle, sizeof(handle));
	if (ret)
		return ret;
	ret = ab_handle_ping(conn, handle, NULL, &answered);
	/* Others' libraries say so of an object that is gone. */
	if (ret && (!answered || ret == -EPIPE || ret == AB_UNKNOWN_TRANSACTION)) {
		if (was_acquired(conn, ret))
			ab_conn_say(conn, BC_RELEASE, &handle, sizeof(handle));
		return answered || ret == -EPIPE || ret == -ECOMM ? -ESTALE : ret;
	}
	/* Or somebody else was faster, with a reference of his own. */
	if (!awaken(proxy))
		ab_conn_say(conn, BC_RELEASE, &handle, sizeof(handle));
	return 0;
}

int ab_weak_lock(ab_weak *weak, ab_object **objectp)
{
	ab_object *object = (ab_object *)weak;
	struct ab_proxy *proxy = ab_proxy(object);
	int ret = 0;

	*objectp = NULL;
	if (!ab_object_try_get(object)) {
		if (!object->remote || ab_object_is_dead(object))
			return -ESTALE;
		if (proxy->handle)
			ret = wake(proxy);
		else
			awaken(proxy);
	}
	if (!ret)
		*objectp = object;
	return ret;
}

/**
 * ab_weak_unflatten() - a weak reference as the driver gave it
 * @conn: where it came from
 * @fbo: of a received message, where the driver lists an object
 * @weak: receives it, for ab_weak_put()
 *
 * Return: 0; AB_BAD_TYPE: no weak reference; -ENOMEM; -EBADF; the driver's error.
 */
int ab_weak_unflatten(ab_conn *conn, const struct flat_binder_object *fbo, ab_weak **weak)
{
	struct ab_proxy *proxy;
	int ret;

	*weak = NULL;
	if (fbo->hdr.type == BINDER_TYPE_WEAK_BINDER) {
		*weak = ab_weak_new((ab_object *)(uintptr_t)fbo->cookie);
		return 0;
	}
	if (fbo->hdr.type != BINDER_TYPE_WEAK_HANDLE)
		return AB_BAD_TYPE;
	ret = ab_proxy_new(conn, fbo->handle, false, &proxy);
	if (!ret)
		*weak = (ab_weak *)proxy;
	return ret;
}
