/* SPDX-License-Identifier: MIT */
/*
 * Fixtures. A pair is two ends in one thread, for step-by-step protocol: each
 * end has an open device of its own, so to the driver they are two processes
 * (but for handle 0: a driver may refuse to call a manager of the same pid).
 * A server is a real process, as context manager or as an object registered
 * with it by number.
 */
#ifndef TESTS_PROCESS_SERVER_H
#define TESTS_PROCESS_SERVER_H

#include "bc.h"

#include <stdatomic.h>
#include <sys/types.h>

/* What the standard server understands; the rest is the case's own. */
enum {
	CODE_ECHO = 1, /* the payload comes back */
	CODE_NULL,     /* an empty reply */
	CODE_WHO,      /* sender_pid, sender_euid, own pid, own tid */
	CODE_HOLD,     /* posts shared->held and waits for shared->go */
	CODE_LEAK,     /* an empty reply, and the request's buffer is not freed */
	CODE_PUT,      /* number, object: remember it */
	CODE_GET,      /* number: the object, or an empty reply */
	CODE_DROP,     /* number: forget it */
	CODE_CALL,     /* number, code: call that object, answer what it answers */
	CODE_OWN = 64, /* first code of a case's own */
};

#define SERVER_OBJECTS 1024

/**
 * struct server_shared - what the case and the server see of each other
 * @served: calls taken up, before they are answered
 */
struct server_shared {
	atomic_int ready;
	atomic_int served;
	atomic_int held;
	atomic_int go;
	atomic_int tid;
	atomic_int last_euid;
};

/**
 * struct server - a server process
 * @id: 0: the context manager; else the number to register at it
 * @threads: looper threads beside the first
 * @own: handler of codes from CODE_OWN on
 * @device: NULL for "binder"
 */
struct server {
	unsigned int id;
	unsigned int threads;
	uint32_t reply_flags;
	size_t map_size;
	bt_handler own;
	const char *device;

	struct server_shared *shared;
	pid_t pid;
	struct bc b;
	uint32_t object[SERVER_OBJECTS];
};

void server_start(struct server *s);
void server_stop(struct server *s);
void server_handle(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply);
#define SERVER_PTR(id) (0x10000ul + (id) * 0x100ul)
#define SERVER_COOKIE(id) (0x20000ul + (id))

void registry_drop(struct bt *t, unsigned int id);
void registry_put(struct bt *t, unsigned int id, uint64_t ptr, uint64_t cookie);
bool registry_find(struct bt *t, unsigned int id, uint32_t *handle);
uint32_t registry_get(struct bt *t, unsigned int id);

/**
 * struct pair - two ends in one thread
 * @manager: a process, the context manager that made them known to each other
 * @s: the serving end, a looper; owns the object PAIR_PTR, PAIR_COOKIE
 * @c: the calling end; @h, its only handle, is a strong reference to that object
 *
 * Both are opened with O_NONBLOCK and past their first read.
 */
struct pair {
	struct server manager;
	struct bc sb;
	struct bc cb;
	struct bt s;
	struct bt c;
	uint32_t h;
};

#define PAIR_PTR 0x51000ul
#define PAIR_COOKIE 0x52000ul

struct pair *pair_open(void);
struct pair *pair_open_sized(size_t server_map, size_t client_map);
void pair_close(struct pair *p);
void end_open(struct bc *b, struct bt *t);
void pair_give(struct pair *p, uint64_t ptr, uint64_t cookie, uint32_t type, uint32_t *handle);

/**
 * struct third - a third end, x
 * @from_s: s's handle for x's object THIRD_PTR, THIRD_COOKIE
 * @from_c: c's handle for it
 * @to_s: x's handle for s's object
 */
struct third {
	struct bc b;
	struct bt t;
	uint32_t from_s;
	uint32_t from_c;
	uint32_t to_s;
};

#define THIRD_PTR 0x61000ul
#define THIRD_COOKIE 0x62000ul

struct third *third_open(struct pair *p);
void send_to(struct bt *t, uint32_t h, uint32_t code);
void reply_to(struct bt *t, const struct bt_ret *call, uint32_t code, const struct msg *m);
uint32_t take_reply(struct bt *t);

bool driver_has_defer(void);
void need_defer(void);
void need_logs(void);

struct client {
	struct bc b;
	struct bt t;
};

struct client *client_open(void);

#endif
