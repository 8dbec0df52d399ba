// SPDX-License-Identifier: MIT
/* Callbacks for names: who wants to hear when a service gets one. */
#include "manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLBACK_INTERFACE "android.os.IServiceCallback"

static void watch_gone(struct sm_manager *m, struct sm_use *use)
{
	sm_watch_end(m, sm_container(use, struct sm_watch, use));
}

/**
 * sm_watch_add() - a callback for a name, besides those that there are
 * @m: the manager
 * @name: the name
 * @user: whose callback it is
 * @object: the callback; a reference is taken
 *
 * Return: 0; -EDQUOT: the user has too many; -EPIPE: it is dead; -ENOMEM.
 */
int sm_watch_add(struct sm_manager *m, struct sm_name *name, struct sm_user *user,
		 ab_object *object)
{
	struct sm_watch *watch;
	int ret;

	if (!sm_user_has_room(m, user, SM_WATCHES))
		return -EDQUOT;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	ret = sm_use_begin(m, &watch->use, object, watch_gone);
	if (ret) {
		free(watch);
		return ret;
	}
	watch->user = user;
	watch->name = name;
	sm_user_charge(m, user, SM_WATCHES);
	sm_list_add_tail(&name->watches, &watch->list);
	return 0;
}

/** sm_watch_find() - Return: the user's watch with this callback, or NULL. */
struct sm_watch *sm_watch_find(struct sm_name *name, const struct sm_user *user,
			       const ab_object *object)
{
	struct sm_list *item;

	sm_list_each(item, &name->watches) {
		struct sm_watch *watch = sm_container(item, struct sm_watch, list);

		if (watch->user == user && watch->use.peer->object == object)
			return watch;
	}
	return NULL;
}

/** sm_watch_end() - end it; its name may be gone afterwards */
void sm_watch_end(struct sm_manager *m, struct sm_watch *watch)
{
	struct sm_name *name = watch->name;

	sm_use_end(&watch->use);
	sm_list_del(&watch->list);
	sm_user_uncharge(m, watch->user, SM_WATCHES);
	free(watch);
	sm_name_tidy(m, name);
}

static void tell(struct sm_manager *m, struct sm_name *name, const struct sm_watch *watch)
{
	ab_parcel *parcel = ab_parcel_new(m->conn);
	char what[160];

	ab_write_token(parcel, CALLBACK_INTERFACE);
	ab_write_string16(parcel, name->text);
	ab_write_object(parcel, name->service.use.peer->object);
	snprintf(what, sizeof(what), "cannot tell it that \"%s\" is there", name->text);
	sm_outbox_put(m, watch->use.peer->object, watch->user, parcel, what);
	name->service.handed_out = true;
}

/**
 * sm_watches_tell() - a service has got the name: tell those who wait for that
 * @m: the manager
 * @name: a name that is taken
 * @only: this callback; NULL: all
 *
 * The policy may have changed since they came.
 */
void sm_watches_tell(struct sm_manager *m, struct sm_name *name, const ab_object *only)
{
	struct sm_list *item;

	sm_list_each(item, &name->watches) {
		const struct sm_watch *watch = sm_container(item, struct sm_watch, list);

		if (only && watch->use.peer->object != only)
			continue;
		if (sm_user_ask(m, watch->user, SM_WATCH, name->text).allow)
			tell(m, name, watch);
	}
}
