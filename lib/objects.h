/* SPDX-License-Identifier: MIT */
/*
 * Objects of ours and proxies, from inside.
 *
 * Both begin with a struct ab_object. Its strong count is of all who use it: the
 * program, parcels, death links, and for one of ours the driver. At 0 one of ours
 * is destroyed, and a proxy lets go of its handle.
 */
#ifndef AB_OBJECTS_H
#define AB_OBJECTS_H

#include "threads.h"

/** struct ab_object - what both have; @stability: the wire's level, 0 for the usual one */
struct ab_object {
	atomic_uint strong;
	bool remote;
	atomic_uchar stability;
	ab_conn *conn; /* counted */
};

/**
 * struct ab_local - an object of ours; the driver knows it by its address
 * @weak: of the memory: one for all strong ones, one for each weak reference
 * @next, @link: conn->held
 * @driver_strong, @driver_weak: references that the driver has told us to hold
 * @driver_late: those it asked for when the object was destroyed already
 * @next_doomed: of a thread
 */
struct ab_local {
	ab_object base;
	atomic_uint weak;
	const struct ab_class *cls;
	void *data;
	struct ab_local *next_doomed;
	/* guarded by conn->lock: */
	struct ab_local *next, **link;
	unsigned int driver_strong, driver_weak, driver_late;
};

/**
 * struct ab_proxy - an object of somebody else's; in conn->proxies while @holds is not 0
 * @holds: one from strong's becoming 1 until all that its becoming 0 brings is done; one for
 *         each weak reference
 * @nr_weak: weak references; while there are any, the driver counts one of ours
 * @death_cookie: of the request the driver has for it, 0 if none
 * @attached: of the context manager: it certainly has its reference and death request
 * @pending: the thread whose BC_ACQUIRE may not have reached the driver, and that holds
 *           a strong reference until then; only goes from set to NULL while others hold one
 */
struct ab_proxy {
	ab_object base;
	uint32_t handle;
	atomic_bool dead;
	_Atomic(struct ab_thread *) pending;
	struct ab_proxy *next_pending, *next_mourned; /* of a thread */
	/* guarded by conn->lock: */
	struct ab_proxy *next;
	unsigned int holds, nr_weak;
	bool listed, attached;
	uint64_t death_cookie;
	struct ab_death *links;
};

/** struct ab_death - a link; its memory is the library's until its call, and the program's */
struct ab_death {
	struct ab_death *next;
	ab_conn *conn; /* counted */
	struct ab_proxy *proxy; /* holds a strong reference while linked */
	ab_death_fn *fn;
	void *data;
	/* guarded by conn->lock: */
	bool linked, called;
	unsigned int owners;
};

static inline struct ab_local *ab_local(const ab_object *object)
{
	return (struct ab_local *)(uintptr_t)object;
}

static inline struct ab_proxy *ab_proxy(const ab_object *object)
{
	return (struct ab_proxy *)(uintptr_t)object;
}

/* ---- object.c ---- */

bool ab_object_try_get(ab_object *object);
void ab_local_weak_put(struct ab_local *local);
void ab_local_destroy(struct ab_local *local);
void ab_local_driver(struct ab_thread *self, uint32_t cmd, const struct binder_ptr_cookie *name);
void ab_locals_forget(ab_conn *conn);

/* ---- proxy.c ---- */

#define AB_BUCKETS_FIRST 64

int ab_proxy_new(ab_conn *conn, uint32_t handle, bool strong, struct ab_proxy **proxy);
struct ab_proxy *ab_proxy_find_locked(ab_conn *conn, uint32_t handle);
bool ab_proxy_weaken_locked(struct ab_proxy *proxy);
int ab_proxy_incref(struct ab_proxy *proxy);
void ab_proxy_unlist_locked(struct ab_proxy *proxy);
bool ab_proxy_unhold_locked(struct ab_proxy *proxy);
void ab_proxy_last(struct ab_proxy *proxy);
void ab_proxy_put_pending(struct ab_proxy *proxy);
void ab_proxy_free(struct ab_proxy *proxy);
void ab_pending_before(struct ab_thread *self);
void ab_pending_after(struct ab_thread *self);

/* ---- manager.c ---- */

int ab_proxy_attach(struct ab_proxy *proxy);
void ab_manager_last(struct ab_proxy *proxy);
bool ab_manager_gone(struct ab_proxy *proxy, uint64_t cookie);

/* ---- call.c ---- */

int ab_handle_ping(ab_conn *conn, uint32_t handle, const ab_parcel *in, bool *answered);

/* ---- death.c ---- */

uint64_t ab_death_cookie_locked(struct ab_proxy *proxy);
void ab_death_mourn(ab_conn *conn, struct ab_proxy *proxy);
void ab_death_fire(struct ab_thread *self, uint64_t cookie);
void ab_deaths_forget(ab_conn *conn);

#endif
