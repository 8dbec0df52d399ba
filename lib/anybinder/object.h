/* SPDX-License-Identifier: MIT */
/*
 * Objects: ours, and proxies of others'. Both are counted: whoever gets one
 * from a function owns a reference and puts it.
 *
 * There is one proxy for each object of somebody else's that this connection
 * knows, so two proxies are of the same object when their pointers are equal. (The
 * proxy of ab_manager() means whoever is the context manager; see there.)
 */
#ifndef ANYBINDER_OBJECT_H
#define ANYBINDER_OBJECT_H

#include "types.h"

AB_BEGIN_DECLS

/**
 * struct ab_call_info - a call to an object of ours, and who makes it
 * @object: the object called; borrowed
 * @code: what is called: 1 to 0x00ffffff are the interface's own
 * @flags: the transaction's, TF_... of the driver's interface
 * @oneway: nobody waits for a reply
 * @pid: of the caller as our pid namespace sees it, vouched for by the driver; 0 for
 *       one-way calls and for callers outside the namespace
 * @euid: of the caller, as our user namespace sees it, vouched for by the driver
 * @security_context: NULL unless the object asked for it and the driver has one
 */
struct ab_call_info {
	ab_object *object;
	uint32_t code;
	uint32_t flags;
	bool oneway;
	pid_t pid;
	uid_t euid;
	const char *security_context;
};

/**
 * ab_transact_fn() - a call to an object of ours
 * @data: as given to ab_object_new()
 * @info: who calls what; valid during the call
 * @in: the request behind the interface token; the library's
 * @out: the reply to write; in a one-way call what is written to it is dropped
 *
 * May make calls of its own, and may be called again on the same thread while
 * it waits for them, and on several threads at once.
 *
 * Return: 0; AB_UNKNOWN_TRANSACTION for a code it does not have; another
 * negative number, which ab_call() returns to the caller in place of @out.
 */
typedef int ab_transact_fn(void *data, const struct ab_call_info *info, ab_parcel *in,
			   ab_parcel *out);

/**
 * ab_dump_fn() - print the object's state for people
 * @data: as given to ab_object_new()
 * @info: who asks
 * @fd: where to print
 * @args: of the request, @nr_args of them
 * @nr_args: their number
 *
 * Return: 0 or a negative error.
 */
typedef int ab_dump_fn(void *data, const struct ab_call_info *info, int fd,
		       const char *const *args, size_t nr_args);

/** AB_CLASS_SECURITY_CONTEXT - callers' security contexts are wanted */
#define AB_CLASS_SECURITY_CONTEXT 0x1u
/** AB_CLASS_NO_FDS - calls with file descriptors are refused by the driver */
#define AB_CLASS_NO_FDS 0x2u
/** AB_CLASS_RAW - no interface token is expected; meta calls come to @transact, too */
#define AB_CLASS_RAW 0x4u

/**
 * struct ab_class - what objects of ours have in common; must outlive them
 * @interface: name, such as "org.example.IEcho". Calls with codes of the interface's own
 *             must begin with its token, or are answered AB_BAD_TYPE before @transact
 *             sees them.
 * @transact: serves calls
 * @dump: serves dump requests; NULL: there is nothing to print
 * @destroy: called with data once, when nobody holds the object any more, from
 *           whichever thread let go of it last, without a lock; may be NULL
 * @flags: AB_CLASS_...
 */
struct ab_class {
	const char *interface;
	ab_transact_fn *transact;
	ab_dump_fn *dump;
	void (*destroy)(void *data);
	uint32_t flags;
};

/**
 * ab_object_new() - an object of ours
 * @conn: whose threads serve it
 * @cls: what it does; kept
 * @data: passed to the class's functions
 *
 * Return: an object with one reference, the caller's; NULL when out of memory.
 */
AB_EXPORT ab_object *ab_object_new(ab_conn *conn, const struct ab_class *cls, void *data);

/** ab_object_get() - one more reference. Return: @object. */
AB_EXPORT ab_object *ab_object_get(ab_object *object);

/**
 * ab_object_put() - drop a reference
 * @object: NULL is fine
 *
 * An object of ours lives on while other processes hold it. The last
 * reference to a proxy lets go of its object, in the thread's next ioctl inside
 * a served call, at once elsewhere.
 */
AB_EXPORT void ab_object_put(ab_object *object);

/** ab_object_is_remote() - is it a proxy? */
AB_EXPORT bool ab_object_is_remote(const ab_object *object);
/** ab_object_is_dead() - is it known that the object's process has died? Never true of ours. */
AB_EXPORT bool ab_object_is_dead(const ab_object *object);
/** ab_object_conn() - its connection, borrowed. */
AB_EXPORT ab_conn *ab_object_conn(const ab_object *object);
/** ab_object_data() - what ab_object_new() was given. Return: NULL for a proxy. */
AB_EXPORT void *ab_object_data(const ab_object *object);
/** ab_object_class() - what ab_object_new() was given. Return: NULL for a proxy. */
AB_EXPORT const struct ab_class *ab_object_class(const ab_object *object);
/** ab_object_handle() - the driver's number for a proxy. Return: 0 also for one of ours. */
AB_EXPORT uint32_t ab_object_handle(const ab_object *object);

typedef struct ab_weak ab_weak;

/**
 * ab_weak_new() - a weak reference: it does not keep the object alive
 * @object: ours or a proxy
 *
 * Return: for ab_weak_put(); NULL when out of memory.
 */
AB_EXPORT ab_weak *ab_weak_new(ab_object *object);

/**
 * ab_weak_lock() - a strong reference from a weak one
 * @weak: the weak reference
 * @object: receives the object with a reference for the caller
 *
 * For an object of somebody else's that nobody here holds, this asks it, with a
 * ping, whether it still lives.
 *
 * Return: 0; -ESTALE: it is gone, or nobody but its owner holds it any more, when
 * the drivers give no reference either; -ENOMEM; -EBADF.
 */
AB_EXPORT int ab_weak_lock(ab_weak *weak, ab_object **object);

/** ab_weak_put() - let go of a weak reference. NULL is fine. */
AB_EXPORT void ab_weak_put(ab_weak *weak);

typedef struct ab_death ab_death;

/**
 * ab_death_fn() - the process of an object has died
 * @data: as given to ab_death_link()
 * @object: the proxy; borrowed
 *
 * Called once, in a thread that serves.
 */
typedef void ab_death_fn(void *data, ab_object *object);

/**
 * ab_death_link() - be told when an object's process dies
 * @object: a proxy; the link holds a reference to it
 * @fn: to be called, with @data
 * @data: for @fn
 * @link: receives the link, for ab_death_unlink(); NULL: the link goes with its call
 *
 * Some thread must serve on the connection for @fn to be called: threads that only
 * make calls are not told. Objects that have died already are told of, too, unless
 * that is known here (-EPIPE).
 *
 * Return: 0; -EPIPE: it is dead, or of the context manager: there is none, and @fn is
 * not called; -EINVAL: not a proxy; -ENOMEM; -EBADF; the driver's error.
 */
AB_EXPORT int ab_death_link(ab_object *object, ab_death_fn *fn, void *data, ab_death **link);

/**
 * ab_death_unlink() - end a link
 * @link: from ab_death_link(), and gone after this; NULL is fine
 *
 * Due once for each link that ab_death_link() gave, called or not.
 *
 * Return: 0: its function was not called and never will be; -EALREADY: it was,
 * or is being called by another thread.
 */
AB_EXPORT int ab_death_unlink(ab_death *link);

AB_END_DECLS

#endif
