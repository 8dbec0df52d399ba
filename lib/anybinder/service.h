/* SPDX-License-Identifier: MIT */
/*
 * The service manager's side of things: names for objects, over
 * android.os.IServiceManager in the connection's variant.
 *
 * All return, besides what they say, ab_call()'s errors (-EPIPE: there is no
 * manager), -EACCES: the manager's policy forbids it, -EINVAL: a name it
 * does not take, -EBUSY: not now, or too many, -EREMOTEIO: another exception,
 * -EOPNOTSUPP: the variant has no such call. The manager's own words are in
 * ab_error_text(). Names are UTF-8, 1 to 127 bytes.
 */
#ifndef ANYBINDER_SERVICE_H
#define ANYBINDER_SERVICE_H

#include "types.h"

AB_BEGIN_DECLS

#define AB_MANAGER_INTERFACE "android.os.IServiceManager"

/* When a service is dumped, and which are listed. */
#define AB_DUMP_CRITICAL 0x1u
#define AB_DUMP_HIGH 0x2u
#define AB_DUMP_NORMAL 0x4u
#define AB_DUMP_DEFAULT 0x8u
#define AB_DUMP_ALL 0xfu

/**
 * ab_service_add() - give an object a name
 * @conn: the connection
 * @name: replaces whoever has it, if the policy lets us
 * @object: ours
 * @dump_flags: AB_DUMP_..., usually AB_DUMP_DEFAULT
 *
 * The name is forgotten when this process ends, or the manager does:
 * see ab_service_publish().
 *
 * Return: 0; see the head of this file.
 */
AB_EXPORT int ab_service_add(ab_conn *conn, const char *name, ab_object *object,
			     uint32_t dump_flags);

/**
 * ab_service_check() - find a service, without waiting
 * @conn: the connection
 * @name: the name
 * @object: receives it, with a reference for the caller
 *
 * Return: 0; -ENOENT: nobody has that name.
 */
AB_EXPORT int ab_service_check(ab_conn *conn, const char *name, ab_object **object);

/**
 * ab_service_wait() - find a service, waiting for it and for the manager
 * @conn: the connection
 * @name: the name
 * @timeout_ms: how long; negative: for ever
 * @object: receives it, with a reference for the caller
 *
 * If a thread serves on the connection, and the variant has that, it is told;
 * otherwise it asks again and again, at last every 250 ms.
 *
 * Return: 0; -ETIMEDOUT.
 */
AB_EXPORT int ab_service_wait(ab_conn *conn, const char *name, int timeout_ms,
			      ab_object **object);

/**
 * ab_service_list() - the names there are
 * @conn: the connection
 * @dump_flags: of services with any of these; usually AB_DUMP_ALL
 * @names: receives them sorted, for ab_strings_free()
 * @count: receives their number
 *
 * Return: 0.
 */
AB_EXPORT int ab_service_list(ab_conn *conn, uint32_t dump_flags, char ***names, size_t *count);

/**
 * struct ab_service_info - one name
 * @name: owned
 * @pid: of its process as the manager sees it
 */
struct ab_service_info {
	char *name;
	pid_t pid;
};

/**
 * ab_service_infos() - names, and the processes that have them
 * @conn: the connection
 * @infos: receives @count of them, for ab_service_info_free()
 * @count: receives their number
 *
 * Return: 0; -EOPNOTSUPP before Android 12.
 */
AB_EXPORT int ab_service_infos(ab_conn *conn, struct ab_service_info **infos, size_t *count);
AB_EXPORT void ab_service_info_free(struct ab_service_info *infos, size_t count);

typedef struct ab_watch ab_watch;

/**
 * ab_watch_fn() - a service has been added
 * @data: as given to ab_service_watch()
 * @name: its name
 * @object: the service; borrowed
 */
typedef void ab_watch_fn(void *data, const char *name, ab_object *object);

/**
 * ab_service_watch() - be told whenever a service of a name is added
 * @conn: some thread must serve on it
 * @name: the name; if it is there already, @fn is called for it, too
 * @fn: to be called, with @data, in a thread that serves
 * @data: for @fn
 * @watch: receives what ab_service_unwatch() wants
 *
 * Ends with the manager's death.
 *
 * Return: 0; -EOPNOTSUPP before Android 11.
 */
AB_EXPORT int ab_service_watch(ab_conn *conn, const char *name, ab_watch_fn *fn, void *data,
			       ab_watch **watch);

/** ab_service_unwatch() - end it. @fn may still be running in another thread. NULL is fine. */
AB_EXPORT void ab_service_unwatch(ab_watch *watch);

typedef struct ab_publication ab_publication;

/**
 * ab_service_publish() - give an object a name, and again to each new service manager
 * @conn: the connection; one thread more waits for managers, for all its publications
 * @name: the name
 * @object: ours; held until ab_service_unpublish()
 * @dump_flags: as ab_service_add()
 * @publication: receives what ab_service_unpublish() wants
 *
 * Waits for the first registration. Later ones that the manager refuses are
 * tried again every second; none come after ab_close(). It hears of the manager's death
 * at once if a thread serves on the connection, else within 5 seconds.
 *
 * Return: 0; as ab_service_add(), and then nothing is published; -EPIPE counts
 * as that: start the service manager first, or wait with ab_manager_wait().
 */
AB_EXPORT int ab_service_publish(ab_conn *conn, const char *name, ab_object *object,
				 uint32_t dump_flags, ab_publication **publication);

/** ab_service_unpublish() - end it; the name stays with the manager until we end. NULL is fine. */
AB_EXPORT void ab_service_unpublish(ab_publication *publication);

/**
 * ab_manager_wait() - wait until there is a context manager that answers
 * @conn: the connection
 * @timeout_ms: how long; negative: for ever
 *
 * Return: 0; -ETIMEDOUT.
 */
AB_EXPORT int ab_manager_wait(ab_conn *conn, int timeout_ms);

/**
 * ab_clients_fn() - a service of ours got its first client, or lost its last
 * @data: as given to ab_service_watch_clients()
 * @object: the service; borrowed
 * @has_clients: whether another process holds it now
 */
typedef void ab_clients_fn(void *data, ab_object *object, bool has_clients);

/**
 * ab_service_watch_clients() - be told whether anybody uses a service of ours
 * @conn: some thread must serve on it
 * @name: registered with
 * @object: this object
 * @fn: to be called, with @data, in a thread that serves; within about 5 seconds of a change
 * @data: for @fn
 *
 * Lasts as long as the registration.
 *
 * Return: 0; -EOPNOTSUPP before Android 11.
 */
AB_EXPORT int ab_service_watch_clients(ab_conn *conn, const char *name, ab_object *object,
				       ab_clients_fn *fn, void *data);

/**
 * ab_service_try_unregister() - take a service's name back if nobody uses it
 * @conn: the connection
 * @name: registered with
 * @object: this object, and watched with ab_service_watch_clients()
 *
 * Return: 0; -EBUSY: somebody uses it; -EOPNOTSUPP before Android 11.
 */
AB_EXPORT int ab_service_try_unregister(ab_conn *conn, const char *name, ab_object *object);

AB_END_DECLS

#endif
