// SPDX-License-Identifier: MIT
/* Objects of ours, and news of the death of others'. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

ab_object *ab_object_new(ab_conn *conn, ab_transact_fn *fn, void *data)
{
	ab_object *object = malloc(sizeof(*object));

	if (!object)
		return NULL;
	atomic_init(&object->refs, 1);
	object->conn = conn;
	object->fn = fn;
	object->data = data;
	return object;
}

void ab_object_get(ab_object *object)
{
	atomic_fetch_add(&object->refs, 1);
}

void ab_object_unref(ab_object *object)
{
	if (object && atomic_fetch_sub(&object->refs, 1) == 1)
		free(object);
}

int ab_become_manager(ab_conn *conn, ab_object *object)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_BINDER,
					  .binder = (uintptr_t)object,
					  .cookie = (uintptr_t)object };
	int ret = ab_conn_ioctl(conn, BINDER_SET_CONTEXT_MGR_EXT, &fbo);

	if (!ret) {
		ab_object_get(object); /* the context's, until the connection closes */
		conn->manager = object;
	}
	return ret;
}

int ab_link_death(ab_conn *conn, uint32_t handle, ab_death_fn *fn, void *data)
{
	struct ab_thread *self = ab_thread_self(conn);
	struct ab_death *death = calloc(1, sizeof(*death));
	struct binder_handle_cookie request = { .handle = handle, .cookie = (uintptr_t)death };
	int ret = -ENOMEM;

	if (self && death)
		ret = ab_thread_put(self, BC_REQUEST_DEATH_NOTIFICATION, &request, sizeof(request));
	if (ret) {
		free(death);
		return ret;
	}
	death->handle = handle;
	death->fn = fn;
	death->data = data;
	pthread_mutex_lock(&conn->lock);
	death->next = conn->deaths;
	conn->deaths = death;
	pthread_mutex_unlock(&conn->lock);
	return ab_flush(conn);
}

/* The driver says that the owner of what @cookie was linked to died. */
void ab_death_fire(struct ab_thread *self, uint64_t cookie)
{
	ab_conn *conn = self->conn;
	struct ab_death **link, *death = NULL;

	pthread_mutex_lock(&conn->lock);
	for (link = &conn->deaths; *link; link = &(*link)->next) {
		if ((uintptr_t)*link == cookie) {
			death = *link;
			*link = death->next;
			break;
		}
	}
	pthread_mutex_unlock(&conn->lock);
	ab_thread_put(self, BC_DEAD_BINDER_DONE, &cookie, sizeof(cookie));
	if (!death)
		return;
	death->fn(death->data, death->handle);
	free(death);
}
