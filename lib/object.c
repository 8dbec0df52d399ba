// SPDX-License-Identifier: MIT
/* Objects of ours, and what they have in common with proxies. */
#include "objects.h"

#include <stdlib.h>

/*
 * What the flags' low byte asks for is the least priority to be served at; this
 * is the lowest there is, so that calls are served at their callers'.
 */
#define NICE_LOWEST 19

/* ---- counting ----------------------------------------------------------------- */

/** ab_object_try_get() - one more reference, unless there is none any more */
bool ab_object_try_get(ab_object *object)
{
	/* Acquired in all cases: who finds 0 revives what those who put it have left. */
	unsigned int strong = atomic_load_explicit(&object->strong, memory_order_acquire);

	while (strong) {
		if (atomic_compare_exchange_weak_explicit(&object->strong, &strong, strong + 1,
							  memory_order_acquire,
							  memory_order_acquire))
			return true;
	}
	return false;
}

ab_object *ab_object_get(ab_object *object)
{
	atomic_fetch_add_explicit(&object->strong, 1, memory_order_relaxed);
	return object;
}

/** ab_local_weak_put() - let go of the memory of one of ours */
void ab_local_weak_put(struct ab_local *local)
{
	ab_conn *conn = local->base.conn;

	if (atomic_fetch_sub_explicit(&local->weak, 1, memory_order_acq_rel) != 1)
		return;
	free(local);
	ab_conn_put(conn);
}

/** ab_local_destroy() - nobody holds one of ours any more */
void ab_local_destroy(struct ab_local *local)
{
	if (local->cls->destroy)
		local->cls->destroy(local->data);
	ab_local_weak_put(local);
}

static void local_last(struct ab_local *local)
{
	struct ab_thread *self = ab_thread_peek(local->base.conn);

	if (self && self->dooming) {
		local->next_doomed = self->doomed;
		self->doomed = local;
	} else {
		ab_local_destroy(local);
	}
}

void ab_object_put(ab_object *object)
{
	if (!object)
		return;
	if (object->remote &&
	    atomic_load_explicit(&ab_proxy(object)->pending, memory_order_acquire)) {
		ab_proxy_put_pending(ab_proxy(object));
		return;
	}
	if (atomic_fetch_sub_explicit(&object->strong, 1, memory_order_acq_rel) != 1)
		return;
	if (object->remote)
		ab_proxy_last(ab_proxy(object));
	else
		local_last(ab_local(object));
}

/* ---- objects of ours --------------------------------------------------------------- */

ab_object *ab_object_new(ab_conn *conn, const struct ab_class *cls, void *data)
{
	struct ab_local *local = calloc(1, sizeof(*local));

	if (!local)
		return NULL;
	atomic_init(&local->weak, 1);
	local->base.conn = ab_conn_get(conn);
	local->cls = cls;
	local->data = data;
	/* Last: the thread that serves it comes to know it through the driver alone. */
	atomic_store_explicit(&local->base.strong, 1, memory_order_release);
	return &local->base;
}

bool ab_object_is_remote(const ab_object *object)
{
	return object->remote;
}

bool ab_object_is_dead(const ab_object *object)
{
	return object->remote &&
	       atomic_load_explicit(&ab_proxy(object)->dead, memory_order_acquire);
}

ab_conn *ab_object_conn(const ab_object *object)
{
	return object->conn;
}

void *ab_object_data(const ab_object *object)
{
	return object->remote ? NULL : ab_local(object)->data;
}

const struct ab_class *ab_object_class(const ab_object *object)
{
	return object->remote ? NULL : ab_local(object)->cls;
}

uint32_t ab_object_handle(const ab_object *object)
{
	return object->remote ? ab_proxy(object)->handle : 0;
}

/* ---- the driver's references to ours ------------------------------------------------- */

static void held_update_locked(struct ab_local *local)
{
	ab_conn *conn = local->base.conn;
	bool held = local->driver_strong || local->driver_weak || local->driver_late;

	if (held && !local->link) {
		local->next = conn->held;
		local->link = &conn->held;
		if (local->next)
			local->next->link = &local->next;
		conn->held = local;
	} else if (!held && local->link) {
		*local->link = local->next;
		if (local->next)
			local->next->link = local->link;
		local->link = NULL;
	}
}

/* Take or let go of the driver's reference. Return: whether a strong one is to be put. */
static bool driver_count_locked(struct ab_local *local, uint32_t cmd)
{
	switch (cmd) {
	case BR_INCREFS:
		atomic_fetch_add(&local->weak, 1);
		local->driver_weak++;
		return false;
	case BR_ACQUIRE:
		if (ab_object_try_get(&local->base)) {
			local->driver_strong++;
		} else {
			/* Calls to it are answered that it is gone. */
			atomic_fetch_add(&local->weak, 1);
			local->driver_late++;
		}
		return false;
	case BR_RELEASE:
		if (local->driver_strong) {
			local->driver_strong--;
			return true;
		}
		local->driver_late--;
		return false;
	default:
		local->driver_weak--;
		return false;
	}
}

/**
 * ab_local_driver() - the driver takes or drops a reference to one of ours
 * @self: the thread that was told
 * @cmd: BR_INCREFS, BR_ACQUIRE, BR_RELEASE or BR_DECREFS
 * @name: of the object
 */
void ab_local_driver(struct ab_thread *self, uint32_t cmd, const struct binder_ptr_cookie *name)
{
	struct ab_local *local = (struct ab_local *)(uintptr_t)name->cookie;
	bool more = cmd == BR_INCREFS || cmd == BR_ACQUIRE, put;

	pthread_mutex_lock(&self->conn->lock);
	put = driver_count_locked(local, cmd);
	held_update_locked(local);
	pthread_mutex_unlock(&self->conn->lock);
	if (more) {
		ab_conn_say(self->conn, cmd == BR_INCREFS ? BC_INCREFS_DONE : BC_ACQUIRE_DONE, name,
			    sizeof(*name));
		return;
	}
	self->dooming = true;
	if (put)
		ab_object_put(&local->base);
	else
		ab_local_weak_put(local);
	self->dooming = false;
}

/** ab_locals_forget() - the connection is closed: the driver holds nothing any more */
void ab_locals_forget(ab_conn *conn)
{
	struct ab_local *local;

	for (;;) {
		unsigned int strong, weak;

		pthread_mutex_lock(&conn->lock);
		local = conn->held;
		if (!local) {
			pthread_mutex_unlock(&conn->lock);
			return;
		}
		strong = local->driver_strong;
		weak = local->driver_weak + local->driver_late;
		local->driver_strong = local->driver_weak = local->driver_late = 0;
		held_update_locked(local);
		pthread_mutex_unlock(&conn->lock);
		atomic_fetch_add(&local->weak, 1);
		while (strong--)
			ab_object_put(&local->base);
		while (weak--)
			ab_local_weak_put(local);
		ab_local_weak_put(local);
	}
}

/* ---- in messages --------------------------------------------------------------------- */

static uint32_t local_flags(const struct ab_local *local)
{
	uint32_t flags = NICE_LOWEST;

	if (!(local->cls->flags & AB_CLASS_NO_FDS))
		flags |= FLAT_BINDER_FLAG_ACCEPTS_FDS;
	if (local->cls->flags & AB_CLASS_SECURITY_CONTEXT)
		flags |= FLAT_BINDER_FLAG_TXN_SECURITY_CTX;
	return flags;
}

/**
 * ab_object_flatten() - an object as the driver takes it
 * @object: held by the caller, and by the message until it has gone
 * @weak: a weak reference is to be sent
 * @fbo: receives it
 *
 * Return: 0; for the context manager's proxy also -EPIPE: it is dead; as ab_call(), because
 * its handle becomes one with the first use.
 */
int ab_object_flatten(ab_object *object, bool weak, struct flat_binder_object *fbo)
{
	int ret;

	*fbo = (struct flat_binder_object){ 0 };
	if (!object->remote) {
		fbo->hdr.type = weak ? BINDER_TYPE_WEAK_BINDER : BINDER_TYPE_BINDER;
		fbo->flags = local_flags(ab_local(object));
		fbo->binder = (uintptr_t)object;
		fbo->cookie = (uintptr_t)object;
		return 0;
	}
	ret = ab_proxy_attach(ab_proxy(object));
	if (ret)
		return ret;
	fbo->hdr.type = weak ? BINDER_TYPE_WEAK_HANDLE : BINDER_TYPE_HANDLE;
	fbo->handle = ab_proxy(object)->handle;
	return 0;
}

/**
 * ab_object_unflatten() - an object as the driver gave it
 * @conn: where it came from
 * @fbo: of a received message, where the driver lists an object
 * @object: receives it, with a reference for the caller
 *
 * Return: 0; AB_BAD_TYPE: no strong reference; -ESTALE: one of ours that is gone; -ENOMEM;
 * -EBADF.
 */
int ab_object_unflatten(ab_conn *conn, const struct flat_binder_object *fbo, ab_object **object)
{
	struct ab_proxy *proxy;
	int ret;

	*object = NULL;
	if (fbo->hdr.type == BINDER_TYPE_BINDER) {
		if (!ab_object_try_get((ab_object *)(uintptr_t)fbo->cookie))
			return -ESTALE;
		*object = (ab_object *)(uintptr_t)fbo->cookie;
		return 0;
	}
	if (fbo->hdr.type != BINDER_TYPE_HANDLE)
		return AB_BAD_TYPE;
	ret = ab_proxy_new(conn, fbo->handle, true, &proxy);
	if (!ret)
		*object = &proxy->base;
	return ret;
}
