/* SPDX-License-Identifier: MIT */
/* Calling objects, and being the context manager. */
#ifndef ANYBINDER_CALL_H
#define ANYBINDER_CALL_H

#include "types.h"

AB_BEGIN_DECLS

/**
 * ab_call() - call and wait for the reply
 * @object: whom. One of ours is called directly, without the driver.
 * @code: what
 * @in: the request, begun with ab_write_token(); not consumed; NULL is an empty one
 * @out: receives the reply, for ab_parcel_free(), or NULL after an error; may be NULL
 *
 * Objects of ours may be called in this thread while it waits.
 *
 * Return: 0; -EPIPE: dead; -ECOMM: the driver refused, see ab_error_text(); -EBADF:
 * the connection is closed; -ENOMEM; @in's error; the negative number that the
 * object sent in place of a reply.
 */
AB_EXPORT int ab_call(ab_object *object, uint32_t code, ab_parcel *in, ab_parcel **out);

/**
 * ab_call_oneway() - send and do not wait
 * @object: whom. One of ours is called directly, and its answer dropped.
 * @code: what
 * @in: as with ab_call()
 *
 * One-way calls to one object arrive in their order, one at a time.
 *
 * Return: 0: the driver took it; else as ab_call().
 */
AB_EXPORT int ab_call_oneway(ab_object *object, uint32_t code, ab_parcel *in);

/** ab_ping() - does the object answer? Return: 0; an error as of ab_call(). */
AB_EXPORT int ab_ping(ab_object *object);

/**
 * ab_interface() - ask an object for its interface's name
 * @object: whom
 * @name: receives it as UTF-8, for free()
 *
 * Return: 0; as ab_call(); as reading a parcel.
 */
AB_EXPORT int ab_interface(ab_object *object, char **name);

/**
 * ab_dump() - ask an object to print its state
 * @object: whom
 * @fd: where to. Passed to the object if the driver can pass descriptors; if not, and the
 *      object is this library's, it sends the text and this function writes it.
 * @args: @nr_args words for the object
 * @nr_args: their number
 *
 * Return: 0; as ab_call(); the errors of write().
 */
AB_EXPORT int ab_dump(ab_object *object, int fd, const char *const *args, size_t nr_args);

/**
 * ab_manager() - the context manager, whoever that is now
 * @conn: the connection
 * @manager: receives a proxy, with a reference for the caller; on the connection that is
 *           the context manager, the object itself
 *
 * Asks nobody: whether there is one is what the first call shows (-EPIPE). The
 * proxy goes with the times: a call reaches whoever is the manager then. Only when it
 * is written to a parcel, or its death linked to, it becomes that of the present
 * manager (which is asked with a ping), and dies with it; who asks after that gets a
 * new proxy.
 *
 * Return: 0; -ENOMEM; -EBADF.
 */
AB_EXPORT int ab_manager(ab_conn *conn, ab_object **manager);

/**
 * ab_become_manager() - be the context manager of a device
 * @conn: the connection
 * @object: an object of ours; held until the connection closes
 *
 * Return: 0; -EBUSY: somebody is; -EPERM: another uid was, and only that may;
 * -EINVAL: not an object of this connection; -EBADF; others of security modules.
 */
AB_EXPORT int ab_become_manager(ab_conn *conn, ab_object *object);

/**
 * ab_count_refs() - how often an object is referred to
 * @object: a proxy
 * @strong: receives the number of strong references in all processes, ours included
 *
 * For the context manager only.
 *
 * Return: 0; -EPERM: we are not the context manager; -EINVAL: not a proxy, or a
 * driver that cannot tell.
 */
AB_EXPORT int ab_count_refs(ab_object *object, uint32_t *strong);

/* Calls that every object answers, without an interface token. */
#define AB_CALL_FIRST 0x00000001u
#define AB_CALL_LAST 0x00ffffffu
#define AB_META(a, b, c, d)                                                                       \
	((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))
#define AB_META_PING AB_META('_', 'P', 'N', 'G')
#define AB_META_INTERFACE AB_META('_', 'N', 'T', 'F')
#define AB_META_DUMP AB_META('_', 'D', 'M', 'P')
#define AB_META_EXTENSION AB_META('_', 'E', 'X', 'T')
#define AB_META_DEBUG_PID AB_META('_', 'P', 'I', 'D')
#define AB_META_SHELL AB_META('_', 'C', 'M', 'D')
#define AB_META_SYSPROPS AB_META('_', 'S', 'P', 'R')

AB_END_DECLS

#endif
