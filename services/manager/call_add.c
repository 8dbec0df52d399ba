// SPDX-License-Identifier: MIT
/* Calls that change something: names, watches, client callbacks. */
#include "call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Read the name and an object that must be there. */
static int read_target(struct sm_call *call, ab_object **object)
{
	int ret = ab_read_string16(call->in, &call->name);

	*object = NULL;
	return ret ? ret : ab_read_object(call->in, object);
}

static int bad_name(struct sm_call *call)
{
	return sm_call_refuse(call, SM_BAD_NAME, AB_EX_ILLEGAL_ARGUMENT, -EINVAL,
			      "a name is 1 to 127 letters, digits and _ - . / + @ :");
}

/* ---- names ------------------------------------------------------------------------------ */

/* May the caller have the name? If not, @ret is what the call is to return. */
static bool may_add(struct sm_call *call, int *ret)
{
	const struct sm_name *name = sm_name_find(call->m, call->name);
	const struct sm_user *owner = name ? name->service.user : NULL;

	if (!sm_call_allowed(call, SM_ADD, ret))
		return false;
	if (owner && name->service.use.peer->object == call->m->self) {
		*ret = sm_call_refuse(call, SM_NOT_ALLOWED + SM_REPLACE, AB_EX_SECURITY, -EPERM,
				      "that is the service manager's own");
		return false;
	}
	if (!owner || owner == call->user ||
	    sm_user_ask(call->m, call->user, SM_REPLACE, call->name).allow)
		return true;
	*ret = sm_call_refuse(call, SM_NOT_ALLOWED + SM_REPLACE, AB_EX_SECURITY, -EPERM,
			      "uid %u has that name (pid %d); who may take it needs the right replace",
			      (unsigned int)owner->uid, (int)name->service.pid);
	return false;
}

static int add(struct sm_call *call, ab_object *object, const struct sm_service *how)
{
	struct sm_manager *m = call->m;
	struct sm_name *name;
	int ret;

	if (!object)
		return sm_call_refuse(call, SM_BAD_STATE, AB_EX_ILLEGAL_ARGUMENT, -EINVAL,
				      "the service is null");
	if (!sm_name_valid(call->name))
		return bad_name(call);
	if (!may_add(call, &ret))
		return ret;
	name = sm_name_get(m, call->name);
	if (!name)
		return -ENOMEM;
	ret = sm_service_set(m, name, object, how);
	if (ret) {
		sm_name_tidy(m, name);
		return sm_call_failed(call, SM_NAMES, ret);
	}
	sm_watches_tell(m, name, NULL);
	/* Up to Android 10 a word says that it was done. */
	return call->status ? sm_call_ok(call) : ab_write_int32(call->out, 0);
}

/** sm_call_add() - addService() */
int sm_call_add(struct sm_call *call)
{
	struct sm_service how = { .user = call->user, .pid = call->info->pid,
				  .dump_flags = AB_DUMP_DEFAULT };
	ab_object *object = NULL;
	int ret = ab_read_string16(call->in, &call->name);

	if (!ret)
		ret = ab_read_nullable_object(call->in, &object);
	if (!ret)
		ret = ab_read_bool(call->in, &how.isolated);
	if (!ret && ab_parcel_left(call->in))
		ret = ab_read_uint32(call->in, &how.dump_flags);
	if (!ret)
		ret = add(call, object, &how);
	ab_object_put(object);
	return ret;
}

/*
 * The name, if @object has it and the caller's uid added it. Return: NULL: refused, and
 * @ret is what the call is to return.
 */
static struct sm_name *own_name(struct sm_call *call, const ab_object *object, int *ret)
{
	struct sm_name *name = sm_name_find(call->m, call->name);

	if (!name || !sm_name_taken(name))
		*ret = sm_call_refuse(call, SM_BAD_STATE, AB_EX_ILLEGAL_ARGUMENT, -ENOENT,
				      "nothing has that name");
	else if (name->service.user != call->user)
		*ret = sm_call_refuse(call, SM_NOT_ALLOWED + SM_ADD, AB_EX_SECURITY, -EPERM,
				      "uid %u added it, and only that one can",
				      (unsigned int)name->service.user->uid);
	else if (name->service.use.peer->object != object)
		*ret = sm_call_refuse(call, SM_BAD_STATE, AB_EX_ILLEGAL_STATE, -EINVAL,
				      "another object has that name now");
	else
		return name;
	return NULL;
}

static int try_unregister(struct sm_call *call, struct sm_name *name)
{
	uint32_t clients;

	if (sm_list_empty(&name->callbacks))
		return sm_call_refuse(call, SM_BAD_STATE, AB_EX_ILLEGAL_STATE, -EBUSY,
				      "nobody watches its clients; register a client callback first");
	if (name->service.handed_out)
		return sm_call_refuse(call, SM_BAD_STATE, AB_EX_ILLEGAL_STATE, -EBUSY,
				      "somebody was given it just now");
	if (sm_clients_count(name, &clients) || clients)
		return sm_call_refuse(call, SM_BAD_STATE, AB_EX_ILLEGAL_STATE, -EBUSY,
				      "it has clients");
	sm_service_clear(call->m, name);
	return sm_call_ok(call);
}

/** sm_call_try_unregister() - tryUnregisterService(): if it has no clients */
int sm_call_try_unregister(struct sm_call *call)
{
	struct sm_name *name;
	ab_object *object;
	int ret = read_target(call, &object);

	name = ret ? NULL : own_name(call, object, &ret);
	if (name)
		ret = try_unregister(call, name);
	ab_object_put(object);
	return ret;
}

/* ---- watches ---------------------------------------------------------------------------- */

static int watch(struct sm_call *call, ab_object *object)
{
	struct sm_manager *m = call->m;
	struct sm_name *name;
	int ret;

	if (!sm_name_valid(call->name))
		return bad_name(call);
	if (!sm_call_allowed(call, SM_WATCH, &ret))
		return ret;
	name = sm_name_get(m, call->name);
	if (!name)
		return -ENOMEM;
	if (!sm_watch_find(name, call->user, object)) {
		ret = sm_watch_add(m, name, call->user, object);
		if (ret) {
			sm_name_tidy(m, name);
			return sm_call_failed(call, SM_WATCHES, ret);
		}
	}
	if (sm_name_taken(name))
		sm_watches_tell(m, name, object);
	return sm_call_ok(call);
}

/** sm_call_watch() - registerForNotifications() */
int sm_call_watch(struct sm_call *call)
{
	ab_object *object;
	int ret = read_target(call, &object);

	if (!ret)
		ret = watch(call, object);
	ab_object_put(object);
	return ret;
}

/** sm_call_unwatch() - unregisterForNotifications() */
int sm_call_unwatch(struct sm_call *call)
{
	struct sm_watch *found = NULL;
	struct sm_name *name;
	ab_object *object;
	int ret = read_target(call, &object);

	if (!ret) {
		name = sm_name_find(call->m, call->name);
		found = name ? sm_watch_find(name, call->user, object) : NULL;
		if (!found)
			ret = sm_call_refuse(call, SM_BAD_STATE, AB_EX_ILLEGAL_STATE, -ENOENT,
					     "that callback does not watch it");
	}
	if (found) {
		sm_watch_end(call->m, found);
		ret = sm_call_ok(call);
	}
	ab_object_put(object);
	return ret;
}

static int watch_clients(struct sm_call *call, struct sm_name *name, ab_object *callback)
{
	uint32_t clients;
	int ret = sm_clients_count(name, &clients);

	if (ret)
		return sm_call_refuse(call, SM_BAD_STATE, AB_EX_UNSUPPORTED_OPERATION, -ENOSYS,
				      "the driver does not say who holds it (BINDER_GET_NODE_INFO_FOR_REF: %s)",
				      ab_strerror(ret));
	ret = sm_callback_add(call->m, name, call->user, callback);
	return ret ? sm_call_failed(call, SM_CLIENTS, ret) : sm_call_ok(call);
}

/** sm_call_watch_clients() - registerClientCallback() */
int sm_call_watch_clients(struct sm_call *call)
{
	ab_object *object, *callback = NULL;
	struct sm_name *name;
	int ret = read_target(call, &object);

	if (!ret)
		ret = ab_read_object(call->in, &callback);
	name = ret ? NULL : own_name(call, object, &ret);
	if (name)
		ret = watch_clients(call, name, callback);
	ab_object_put(callback);
	ab_object_put(object);
	return ret;
}
