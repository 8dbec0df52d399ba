// SPDX-License-Identifier: MIT
/* Calls that look: get, check, list, and what the policy declares. */
#include "call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a process maps by default: longer replies do not fit. */
#define MAP_USUAL (1024 * 1024 - 2 * 4096)
#define ANY_FLAGS UINT32_MAX

/* ---- one -------------------------------------------------------------------------------- */

/*
 * The service of the name in the request, NULL if there is none. Return: whether
 * it may be given; if not, @ret is what the call is to return.
 */
static bool lookup(struct sm_call *call, struct sm_service **service, int *ret)
{
	struct sm_name *name;

	*service = NULL;
	*ret = ab_read_string16(call->in, &call->name);
	if (*ret || !sm_call_allowed(call, SM_FIND, ret))
		return false;
	name = sm_name_find(call->m, call->name);
	if (name && sm_name_taken(name)) {
		*service = &name->service;
		name->service.handed_out = true;
	}
	return true;
}

static int write_service(struct sm_call *call, const struct sm_service *service)
{
	return ab_write_object(call->out, service ? service->use.peer->object : NULL);
}

/** sm_call_get() - getService(), checkService(): the object, or null at once */
int sm_call_get(struct sm_call *call)
{
	struct sm_service *service;
	int ret;

	if (!lookup(call, &service, &ret))
		return ret;
	sm_call_ok(call);
	return write_service(call, service);
}

/**
 * sm_call_get2() - getService2(), checkService2() of Android 16
 *
 * A union Service: non-null, tag 0, a parcelable ServiceWithMetadata of object and
 * a bool, whether the service comes and goes. Known from public clients and tried
 * with none. In Android 15 the union differs between releases.
 */
int sm_call_get2(struct sm_call *call)
{
	struct sm_service *service;
	size_t mark;
	int ret;

	if (call->m->variant == AB_ANDROID_15)
		return sm_call_refuse(call, SM_BAD_STATE, AB_EX_UNSUPPORTED_OPERATION, -ENOSYS,
				      "what getService2 answers differs between releases of Android 15; use getService");
	if (!lookup(call, &service, &ret))
		return ret;
	sm_call_ok(call);
	ab_write_int32(call->out, 1);
	ab_write_int32(call->out, 0);
	ab_write_parcelable_begin(call->out, &mark);
	write_service(call, service);
	ab_write_bool(call->out, service && !sm_list_empty(
			      &sm_container(service, struct sm_name, service)->callbacks));
	return ab_write_parcelable_end(call->out, mark);
}

/* ---- many ------------------------------------------------------------------------------- */

/* Say how many names somebody does not get to see. */
static void say_hidden(struct sm_call *call, size_t hidden, size_t nr, struct sm_verdict verdict)
{
	char text[500], why[400];

	snprintf(text, sizeof(text), "%s: %zu of %zu names are left out: %s", call->what, hidden,
		 nr, sm_policy_why(call->m->policy, verdict, why, sizeof(why)));
	sm_user_line(call->m, call->user, SM_NOT_ALLOWED + SM_LIST, call->info->pid, text);
}

static bool visible(struct sm_call *call, const struct sm_name *name, struct sm_verdict *last,
		    size_t *hidden)
{
	struct sm_verdict verdict = sm_user_ask(call->m, call->user, SM_LIST, name->text);

	if (!verdict.allow) {
		*last = verdict;
		++*hidden;
	}
	return verdict.allow;
}

/*
 * The names that the caller may see. They are kept: up to Android 10 he takes them one
 * call each.
 */
static int listed(struct sm_call *call, uint32_t dump_flags, const struct sm_name ***names,
		  size_t *nr)
{
	struct sm_manager *m = call->m;
	struct sm_verdict verdict = { 0 };
	const struct sm_name **all;
	size_t nr_all, hidden = 0;
	int ret;

	if (!m->listed.names || m->listed.uid != call->user->uid ||
	    m->listed.dump_flags != dump_flags) {
		ret = sm_names_sorted(m, &all, &nr_all);
		if (ret)
			return ret;
		free(m->listed.names);
		m->listed.names = calloc(nr_all + 1, sizeof(*all));
		if (!m->listed.names)
			return -ENOMEM;
		m->listed.uid = call->user->uid;
		m->listed.dump_flags = dump_flags;
		m->listed.nr = 0;
		for (size_t i = 0; i < nr_all; i++) {
			if ((dump_flags == ANY_FLAGS || all[i]->service.dump_flags & dump_flags) &&
			    visible(call, all[i], &verdict, &hidden))
				m->listed.names[m->listed.nr++] = all[i];
		}
		if (hidden)
			say_hidden(call, hidden, nr_all, verdict);
	}
	*names = m->listed.names;
	*nr = m->listed.nr;
	return 0;
}

/* The driver refuses a reply that does not fit, and tells the caller only. */
static int long_reply(struct sm_call *call, size_t nr)
{
	char text[240];

	if (ab_parcel_size(call->out) > MAP_USUAL) {
		snprintf(text, sizeof(text),
			 "%s: %zu names make a reply of %zu bytes, and most processes map %d; it is sent all the same",
			 call->what, nr, ab_parcel_size(call->out), MAP_USUAL);
		sm_user_line(call->m, call->user, SM_TOO_LONG, call->info->pid, text);
	}
	return ab_parcel_error(call->out);
}

static int list_one(struct sm_call *call)
{
	uint32_t dump_flags = ANY_FLAGS;
	const struct sm_name **names;
	int32_t index;
	size_t nr;
	int ret = ab_read_int32(call->in, &index);

	if (!ret && ab_parcel_left(call->in))
		ret = ab_read_uint32(call->in, &dump_flags);
	if (!ret)
		ret = listed(call, dump_flags, &names, &nr);
	if (ret)
		return ret;
	if (index < 0 || (size_t)index >= nr)
		return -ENOENT;
	return ab_write_string16(call->out, names[index]->text);
}

/** sm_call_list() - listServices(): all names; up to Android 10 one by its index */
int sm_call_list(struct sm_call *call)
{
	const struct sm_name **names;
	uint32_t dump_flags;
	size_t nr;
	int ret;

	if (!call->status)
		return list_one(call);
	ret = ab_read_uint32(call->in, &dump_flags);
	if (!ret)
		ret = listed(call, dump_flags, &names, &nr);
	if (ret)
		return ret;
	sm_call_ok(call);
	ab_write_int32(call->out, (int32_t)nr);
	for (size_t i = 0; i < nr; i++)
		ab_write_string16(call->out, names[i]->text);
	return long_reply(call, nr);
}

/** sm_call_debug_info() - getServiceDebugInfo(): names, and the processes that added them */
int sm_call_debug_info(struct sm_call *call)
{
	const struct sm_name **names;
	size_t nr, mark;
	int ret = listed(call, ANY_FLAGS, &names, &nr);

	if (ret)
		return ret;
	sm_call_ok(call);
	ab_write_int32(call->out, (int32_t)nr);
	for (size_t i = 0; i < nr; i++) {
		ab_write_parcelable_begin(call->out, &mark);
		ab_write_string16(call->out, names[i]->text);
		ab_write_int32(call->out, names[i]->service.pid);
		ab_write_parcelable_end(call->out, mark);
	}
	return long_reply(call, nr);
}

/* ---- what is declared ------------------------------------------------------------------- */

/** sm_call_is_declared() - isDeclared(): is there a line `declare NAME`? */
int sm_call_is_declared(struct sm_call *call)
{
	int ret = ab_read_string16(call->in, &call->name);

	if (ret || !sm_call_allowed(call, SM_FIND, &ret))
		return ret;
	sm_call_ok(call);
	return ab_write_bool(call->out, sm_policy_declares(call->m->policy, call->name));
}

/* The instance in INTERFACE/INSTANCE, or NULL. */
static const char *instance_of(const char *declared, const char *interface)
{
	size_t len = strlen(interface);

	return !strncmp(declared, interface, len) && declared[len] == '/' ? declared + len + 1
									   : NULL;
}

/** sm_call_instances() - getDeclaredInstances(): those that the caller may find */
int sm_call_instances(struct sm_call *call)
{
	const struct sm_policy *policy = call->m->policy;
	const char **found;
	size_t nr = 0;
	int ret = ab_read_string16(call->in, &call->name);

	if (ret)
		return ret;
	found = calloc(policy->nr_declared + 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	for (size_t i = 0; i < policy->nr_declared; i++) {
		const char *instance = instance_of(policy->declared[i], call->name);

		if (instance &&
		    sm_user_ask(call->m, call->user, SM_FIND, policy->declared[i]).allow)
			found[nr++] = instance;
	}
	sm_call_ok(call);
	ret = ab_write_string16_array(call->out, found, nr);
	free(found);
	return ret;
}

/* ---- what there is on a phone only ------------------------------------------------------ */

/** sm_call_no_string() - updatableViaApex(): null */
int sm_call_no_string(struct sm_call *call)
{
	int ret = ab_read_string16(call->in, &call->name);

	if (ret)
		return ret;
	sm_call_ok(call);
	return ab_write_string16(call->out, NULL);
}

/** sm_call_no_strings() - getUpdatableNames(): none */
int sm_call_no_strings(struct sm_call *call)
{
	int ret = ab_read_string16(call->in, &call->name);

	if (ret)
		return ret;
	sm_call_ok(call);
	return ab_write_int32(call->out, 0);
}

/** sm_call_no_parcelable() - getConnectionInfo(): null */
int sm_call_no_parcelable(struct sm_call *call)
{
	int ret = ab_read_string16(call->in, &call->name);

	if (ret)
		return ret;
	sm_call_ok(call);
	return ab_write_null_parcelable(call->out);
}
