/* SPDX-License-Identifier: MIT */
/*
 * A service manager for a case: started, asked, told to end. Its log and its
 * policy are files in memory.
 */
#ifndef TESTS_SERVICES_FIXTURE_H
#define TESTS_SERVICES_FIXTURE_H

#include "anybinder.h"

#include "tests/process/child.h"
#include "tests/process/driver.h"
#include "tests/process/harness.h"

/* Where the manager has its policy: a descriptor that it inherits. */
#define FD_POLICY 108
#define POLICY_FILE "/proc/self/fd/108"

/**
 * struct manager - a running anybinder-servicemanager
 * @android: NULL for its default
 * @policy: text of its policy; NULL for the built-in one
 */
struct manager {
	const char *android, *policy;
	pid_t pid;
	int log, file;
};

void manager_start(struct manager *m);
int manager_try(struct manager *m);
void manager_stop(struct manager *m);
void manager_kill(struct manager *m);
void manager_policy(struct manager *m, const char *text);
char *manager_log(const struct manager *m);
void manager_await_log(const struct manager *m, const char *text);
unsigned int manager_lines(const struct manager *m, const char *text);

const char *device_path(void);
ab_conn *connect_as(enum ab_variant variant);
ab_conn *connect_serving(enum ab_variant variant);
void become_uid(uid_t uid);

int call_manager(ab_conn *conn, enum ab_manager_call call, ab_parcel *in, ab_parcel **out);
ab_parcel *request(ab_conn *conn, const char *name);

/* A service that answers: code 1 echoes an int32; code 2 tells the caller's pid. */
extern const struct ab_class echo_class;
ab_object *echo_new(ab_conn *conn);
int echo_call(ab_object *object, int32_t value);

#define CHECK_OK(call) CHECK_EQ(call, 0)

#endif
