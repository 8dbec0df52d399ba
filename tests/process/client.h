/* SPDX-License-Identifier: MIT */
/*
 * Fixtures for tests of the client library over a real driver: a process that is
 * the context manager and keeps objects by number, so that processes find each other.
 */
#ifndef TESTS_PROCESS_CLIENT_H
#define TESTS_PROCESS_CLIENT_H

#include "child.h"
#include "driver.h"
#include "harness.h"

#include "lib/anybinder.h"

#define CLIENT_OBJECTS 64

/* Is this built with a sanitizer that keeps freed memory? */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* What the manager understands; each begins with a number. */
enum {
	MANAGER_PUT = 1, /* object: remember it */
	MANAGER_GET,	 /* the object, or null */
	MANAGER_DROP,	 /* forget it */
	MANAGER_PID,	 /* the manager's own pid */
};

/** CHECK_AB() - that a call of the library succeeded; says why not */
#define CHECK_AB(expr) do {								\
	int ab_ret_ = (expr);								\
	if (ab_ret_)									\
		FAIL("%s: %d, %s", #expr, ab_ret_, ab_strerror(ab_ret_));		\
} while (0)

pid_t client_manager(const char *device);
ab_conn *client_open(const char *device, const struct ab_options *options);
void client_put(ab_conn *conn, int number, ab_object *object);
ab_object *client_find(ab_conn *conn, int number);
ab_object *client_get(ab_conn *conn, int number);
void client_drop(ab_conn *conn, int number);
ab_object *client_object(ab_conn *conn, ab_transact_fn *transact, void *data);
int32_t client_ask(ab_object *object, uint32_t code, int32_t value);
void client_await_destroyed(int count);
int client_destroyed(void);
void client_no_complaints(void);

#endif
