// SPDX-License-Identifier: MIT
/*
 * Clients of services: the driver counts in how many processes an object is held,
 * the owner's own not among them; the manager's is.
 *
 * A service that was handed out counts as one with clients until the next round,
 * because whoever got it may not have told the driver yet that he holds it.
 */
#include "manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "say.h"

#define CALLBACK_INTERFACE "android.os.IClientCallback"
/* Holders that are no clients: the manager. */
#define OURS 1
/* Services that are asked for in one go; in between others are served. */
#define SLICE 256

static void callback_gone(struct sm_manager *m, struct sm_use *use)
{
	sm_callback_end(m, sm_container(use, struct sm_callback, use));
}

static void tell(struct sm_manager *m, const struct sm_callback *callback)
{
	const struct sm_name *name = callback->name;
	ab_parcel *parcel = ab_parcel_new(m->conn);
	char what[160];

	ab_write_token(parcel, CALLBACK_INTERFACE);
	ab_write_object(parcel, name->service.use.peer->object);
	ab_write_bool(parcel, name->service.has_clients);
	snprintf(what, sizeof(what), "cannot tell it about clients of \"%s\"", name->text);
	sm_outbox_put(m, callback->use.peer->object, callback->user, parcel, what);
}

/**
 * sm_clients_count() - how many processes hold a service, besides its own and us
 * @name: a name that is taken
 * @clients: receives their number
 *
 * Return: 0; -EINVAL: the driver cannot tell, or the service is ours; others of
 * ab_count_refs().
 */
int sm_clients_count(const struct sm_name *name, uint32_t *clients)
{
	uint32_t strong;
	int ret = ab_count_refs(name->service.use.peer->object, &strong);

	*clients = strong > OURS ? strong - OURS : 0;
	return ret;
}

static void update(struct sm_manager *m, struct sm_name *name)
{
	struct sm_service *service = &name->service;
	struct sm_list *item;
	uint32_t clients;
	bool has_clients;

	if (sm_clients_count(name, &clients))
		return; /* dead: its names go when that is heard of */
	has_clients = clients || service->handed_out;
	service->handed_out = false;
	if (has_clients == service->has_clients)
		return;
	service->has_clients = has_clients;
	sm_list_each(item, &name->callbacks)
		tell(m, sm_container(item, struct sm_callback, list));
}

/**
 * sm_callback_add() - a callback for the clients of a service
 * @m: the manager
 * @name: of the service
 * @user: whose callback it is
 * @object: the callback; a reference is taken
 *
 * Return: 0; -EDQUOT: the user has too many; -EPIPE: it is dead; -ENOMEM.
 */
int sm_callback_add(struct sm_manager *m, struct sm_name *name, struct sm_user *user,
		    ab_object *object)
{
	struct sm_callback *callback;
	int ret;

	if (!sm_user_has_room(m, user, SM_CLIENTS))
		return -EDQUOT;
	callback = calloc(1, sizeof(*callback));
	if (!callback)
		return -ENOMEM;
	ret = sm_use_begin(m, &callback->use, object, callback_gone);
	if (ret) {
		free(callback);
		return ret;
	}
	callback->user = user;
	callback->name = name;
	sm_user_charge(m, user, SM_CLIENTS);
	if (sm_list_empty(&name->polled))
		sm_list_add_tail(&m->polled_names, &name->polled);
	sm_list_add_tail(&name->callbacks, &callback->list);
	if (!m->poll_at_ms)
		m->poll_at_ms = sm_now_ms() + SM_POLL_MS;
	if (name->service.has_clients)
		tell(m, callback);
	else
		update(m, name);
	return 0;
}

/** sm_callback_end() - end it */
void sm_callback_end(struct sm_manager *m, struct sm_callback *callback)
{
	struct sm_name *name = callback->name;

	sm_use_end(&callback->use);
	sm_list_del(&callback->list);
	sm_user_uncharge(m, callback->user, SM_CLIENTS);
	free(callback);
	if (!sm_list_empty(&name->callbacks))
		return;
	/* Nobody is left who was told anything. */
	name->service.has_clients = false;
	sm_list_del(&name->polled);
	if (sm_list_empty(&m->polled_names))
		m->poll_at_ms = 0;
}

/** sm_callbacks_end() - end all of a service */
void sm_callbacks_end(struct sm_manager *m, struct sm_name *name)
{
	while (!sm_list_empty(&name->callbacks))
		sm_callback_end(m, sm_container(name->callbacks.next, struct sm_callback, list));
}

/** sm_clients_poll() - count the clients of some services; again at once until all are done */
void sm_clients_poll(struct sm_manager *m)
{
	unsigned int slice = SLICE;
	struct sm_list *item;

	if (!m->poll_left) {
		sm_list_each(item, &m->polled_names)
			m->poll_left++;
	}
	while (m->poll_left && slice-- && !sm_list_empty(&m->polled_names)) {
		item = m->polled_names.next;
		sm_list_del(item);
		sm_list_add_tail(&m->polled_names, item);
		update(m, sm_container(item, struct sm_name, polled));
		m->poll_left--;
	}
	if (sm_list_empty(&m->polled_names)) {
		m->poll_left = 0;
		m->poll_at_ms = 0;
	} else {
		m->poll_at_ms = sm_now_ms() + (m->poll_left ? 0 : SM_POLL_MS);
	}
}
