// SPDX-License-Identifier: MIT
/*
 * android.os.IServiceManager on the wire, in any variant: which call is served by
 * whom, and how it is refused. From Android 11 on a refusal is an exception with
 * words, before that an error in place of the reply.
 */
#include "call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

/* What waits in the outbox is sent when all that came is served, or when it is this much. */
#define OUTBOX_MANY 64

static const struct {
	sm_call_fn *serve;
	const char *what;
} calls[AB_SM_NR] = {
	/* Those who want to wait for a service do so themselves. */
	[AB_SM_GET] = { sm_call_get, "get" },
	[AB_SM_GET2] = { sm_call_get2, "get" },
	[AB_SM_CHECK] = { sm_call_get, "check" },
	[AB_SM_CHECK2] = { sm_call_get2, "check" },
	[AB_SM_ADD] = { sm_call_add, "add" },
	[AB_SM_LIST] = { sm_call_list, "list" },
	[AB_SM_REGISTER_FOR_NOTIFICATIONS] = { sm_call_watch, "watch" },
	[AB_SM_UNREGISTER_FOR_NOTIFICATIONS] = { sm_call_unwatch, "end to watch" },
	[AB_SM_IS_DECLARED] = { sm_call_is_declared, "ask whether there is to be" },
	[AB_SM_GET_DECLARED_INSTANCES] = { sm_call_instances, "ask for instances of" },
	[AB_SM_UPDATABLE_VIA_APEX] = { sm_call_no_string, "ask for the package of" },
	[AB_SM_GET_UPDATABLE_NAMES] = { sm_call_no_strings, "ask for names of the package" },
	[AB_SM_GET_CONNECTION_INFO] = { sm_call_no_parcelable, "ask for the address of" },
	[AB_SM_REGISTER_CLIENT_CALLBACK] = { sm_call_watch_clients, "watch clients of" },
	[AB_SM_TRY_UNREGISTER] = { sm_call_try_unregister, "remove" },
	[AB_SM_GET_DEBUG_INFO] = { sm_call_debug_info, "list processes" },
};

/** sm_call_ok() - begin the reply of a call that worked. Return: 0; -ENOMEM. */
int sm_call_ok(struct sm_call *call)
{
	return call->status ? ab_write_status(call->out, AB_EX_NONE, 0, NULL) : 0;
}

/* "add "org.example.x": ", or "list: " where there is no name. Return: its length. */
static size_t text_begin(const struct sm_call *call, char *text, size_t size)
{
	char name[160];

	if (!call->name)
		snprintf(text, size, "%s: ", call->what);
	else
		snprintf(text, size, "%s \"%s\": ", call->what,
			 sm_quote(call->name, name, sizeof(name)));
	return strlen(text);
}

/**
 * sm_call_refuse() - refuse a call, and say so
 * @call: nothing has been written to its reply
 * @reason: by which refusals are counted
 * @exception: what the reply says
 * @error: what it is in a variant without exceptions
 * @fmt: of printf: why
 *
 * Return: what the call is to return.
 */
int sm_call_refuse(struct sm_call *call, enum sm_reason reason, int32_t exception, int error,
		   const char *fmt, ...)
{
	char text[800];
	size_t len = text_begin(call, text, sizeof(text));
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + len, sizeof(text) - len, fmt, args);
	va_end(args);
	sm_user_line(call->m, call->user, reason, call->info->pid, text);
	return call->status ? ab_write_status(call->out, exception, 0, text) : error;
}

/**
 * sm_call_allowed() - does the policy allow it?
 * @call: with its name; refused if not
 * @right: that is needed
 * @ret: then receives what the call is to return
 */
bool sm_call_allowed(struct sm_call *call, enum sm_right right, int *ret)
{
	struct sm_manager *m = call->m;
	struct sm_verdict verdict = sm_user_ask(m, call->user, right, call->name);
	char why[400];

	if (verdict.allow)
		return true;
	*ret = sm_call_refuse(call, SM_NOT_ALLOWED + right, AB_EX_SECURITY, -EPERM, "%s",
			      sm_policy_why(m->policy, verdict, why, sizeof(why)));
	return false;
}

/**
 * sm_call_failed() - refuse what sm_service_set() and its like could not do
 * @call: the call
 * @resource: what it was about
 * @error: -EDQUOT, -EPIPE, or another error
 *
 * Return: what the call is to return.
 */
int sm_call_failed(struct sm_call *call, enum sm_resource resource, int error)
{
	const struct sm_policy *policy = call->m->policy;
	unsigned int limit = policy->limits[resource];
	char number[32];

	if (error == -EPIPE)
		return sm_call_refuse(call, SM_BAD_STATE, AB_EX_ILLEGAL_STATE, -ESTALE,
				      "the process of that object has died");
	if (error != -EDQUOT)
		return error;
	if (call->user->counts[resource] < limit) {
		limit = policy->limits[SM_TOTAL];
		resource = SM_TOTAL;
	}
	return sm_call_refuse(call, SM_TOO_MANY, AB_EX_ILLEGAL_STATE, -ENOSPC,
			      "%s has %s already, the most there may be (limit %s in %s)",
			      resource == SM_TOTAL ? "everybody together" : "that user",
			      sm_number(limit, number), sm_resource_name(resource), policy->path);
}

/* ---- any call --------------------------------------------------------------------------- */

static int serve(struct sm_call *call, enum ab_manager_call which)
{
	const char *android = ab_variant_name(call->m->variant);
	char text[160];
	int ret;

	if (which == AB_SM_NR) {
		snprintf(text, sizeof(text),
			 "call %u: there is none in Android %s; see --android if the client speaks another",
			 call->info->code, android);
		sm_user_line(call->m, call->user, SM_BAD_CALL, call->info->pid, text);
		return AB_UNKNOWN_TRANSACTION;
	}
	call->what = calls[which].what;
	ret = calls[which].serve(call);
	if (ret == -ENODATA || ret == AB_BAD_TYPE || ret == AB_UNEXPECTED_NULL ||
	    ret == -ESTALE) {
		snprintf(text, sizeof(text),
			 "%s: the request makes no sense (%s); see --android if the client does not speak Android %s",
			 call->what, ab_error_name(ret), android);
		sm_user_line(call->m, call->user, SM_BAD_CALL, call->info->pid, text);
	}
	return ret;
}

/** sm_transact() - serve a call; an ab_transact_fn() with a struct sm_manager */
int sm_transact(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	struct sm_manager *m = data;
	struct sm_call call = {
		.m = m, .info = info, .in = in, .out = out,
		.status = ab_variant_has_status(m->variant),
	};
	enum ab_manager_call which = ab_variant_call(m->variant, info->code);
	int ret;

	m->calls[which]++;
	call.user = sm_user_get(m, info->euid);
	if (!call.user)
		return -ENOMEM;
	ret = serve(&call, which);
	sm_user_put(m, call.user);
	free(call.name);
	if (m->nr_outbox >= OUTBOX_MANY)
		sm_outbox_send(m);
	return ret;
}
