/* SPDX-License-Identifier: MIT */
/* A call being served, for calls.c and those that serve its kinds. */
#ifndef SM_CALL_H
#define SM_CALL_H

#include "manager.h"

/**
 * struct sm_call - one call of android.os.IServiceManager
 * @m: the manager
 * @info: who calls what
 * @in: behind the token
 * @out: empty
 * @user: the caller
 * @what: it wants, in a word or two
 * @name: it is about; owned; NULL until it has been read
 * @status: replies have one
 */
struct sm_call {
	struct sm_manager *m;
	const struct ab_call_info *info;
	ab_parcel *in, *out;
	struct sm_user *user;
	const char *what;
	char *name;
	bool status;
};

/* Each serves a call. Return: 0, with the reply written; a negative error in its place. */
typedef int sm_call_fn(struct sm_call *call);

/* calls.c */
int sm_call_ok(struct sm_call *call);
int sm_call_refuse(struct sm_call *call, enum sm_reason reason, int32_t exception, int error,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool sm_call_allowed(struct sm_call *call, enum sm_right right, int *ret);
int sm_call_failed(struct sm_call *call, enum sm_resource resource, int error);

/* call_find.c */
sm_call_fn sm_call_get, sm_call_get2, sm_call_list, sm_call_debug_info;
sm_call_fn sm_call_is_declared, sm_call_instances;
sm_call_fn sm_call_no_string, sm_call_no_strings, sm_call_no_parcelable;

/* call_add.c */
sm_call_fn sm_call_add, sm_call_try_unregister;
sm_call_fn sm_call_watch, sm_call_unwatch, sm_call_watch_clients;

#endif
