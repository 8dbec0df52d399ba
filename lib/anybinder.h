/* SPDX-License-Identifier: MIT */
/*
 * anybinder: binder from C.
 *
 * Words. A *connection* is an open, mapped binder device. An *object* is
 * something of ours that others can call. A *handle* names somebody else's
 * object; handle 0 is the context manager. A *parcel* is a message.
 *
 * Errors. Functions return 0 or a negative errno; errno itself is not theirs.
 * -EPIPE: the other side is dead; -ECOMM: the driver refused the transaction,
 * ab_error_text() says why.
 *
 * Threads. Every function may be called from any thread; a parcel belongs to
 * one thread at a time, and a received one to the thread that received it.
 * There is no state outside a connection but a thread's own buffers for it,
 * so several devices can be open at once.
 *
 * Not here yet: file descriptors, scatter-gather, freeze notifications.
 */
#ifndef ANYBINDER_H
#define ANYBINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AB_EXPORT __attribute__((visibility("default")))

typedef struct ab_conn ab_conn;
typedef struct ab_object ab_object;
typedef struct ab_parcel ab_parcel;

/* ---- parcels ----------------------------------------------------------- */

/** ab_parcel_new() - an empty parcel to write to. NULL when out of memory. */
AB_EXPORT ab_parcel *ab_parcel_new(void);
/** ab_parcel_free() - NULL is fine. A received parcel gives its buffer back to the driver. */
AB_EXPORT void ab_parcel_free(ab_parcel *parcel);
/** ab_parcel_reset() - empty it, keep its memory. */
AB_EXPORT void ab_parcel_reset(ab_parcel *parcel);
/** ab_parcel_size() - bytes written, or received. */
AB_EXPORT size_t ab_parcel_size(const ab_parcel *parcel);

/*
 * Writing. -ENOMEM; -E2BIG past 4 MiB. Once a write failed all later ones do,
 * and so does sending, so a chain of writes needs one check. Everything is
 * padded to 4 bytes.
 */
AB_EXPORT int ab_write_int32(ab_parcel *parcel, int32_t value);
AB_EXPORT int ab_write_int64(ab_parcel *parcel, int64_t value);
/** ab_write_bytes() - int32 count, the bytes; NULL is the null array */
AB_EXPORT int ab_write_bytes(ab_parcel *parcel, const void *bytes, size_t len);
/** ab_write_string16() - from UTF-8; NULL is the null string. -EILSEQ when it is not UTF-8. */
AB_EXPORT int ab_write_string16(ab_parcel *parcel, const char *utf8);
/** ab_write_object() - a strong reference to an object of ours, which must live until sent */
AB_EXPORT int ab_write_object(ab_parcel *parcel, ab_object *object);
/** ab_write_handle() - a strong reference to an object we hold a handle of */
AB_EXPORT int ab_write_handle(ab_parcel *parcel, uint32_t handle);

/*
 * Reading never looks past the end: -ENODATA then, -EBADMSG for what makes no
 * sense. Nothing is trusted.
 */
AB_EXPORT int ab_read_int32(ab_parcel *parcel, int32_t *value);
AB_EXPORT int ab_read_int64(ab_parcel *parcel, int64_t *value);
/** ab_read_bytes() - points into the parcel, valid as long as it is; NULL and 0 for null */
AB_EXPORT int ab_read_bytes(ab_parcel *parcel, const void **bytes, size_t *len);
/** ab_read_string16() - as UTF-8, for free(); NULL for the null string */
AB_EXPORT int ab_read_string16(ab_parcel *parcel, char **utf8);
/**
 * ab_read_object() - an object somebody sent
 * @handle: receives its handle, with a strong count that is the caller's:
 *          ab_release() it
 * @local: receives our own object if it was one (valid as long as the parcel),
 *         and then no handle; else NULL
 */
AB_EXPORT int ab_read_object(ab_parcel *parcel, uint32_t *handle, ab_object **local);

/* ---- connections -------------------------------------------------------- */

/** struct ab_options - how to open a device; all zero is a sensible default */
struct ab_options {
	/** bytes to map for incoming data; 0 is 1 MiB less two pages */
	size_t map_size;
	/** most threads the driver may ask us to start; 0 is none */
	uint32_t max_threads;
	/** never ask for TF_DEFER_COMPLETE (to measure what it gives) */
	bool no_defer;
};

/**
 * ab_open() - open, check and map a binder device
 * @path: such as /dev/binderfs/binder
 * @options: NULL for the defaults
 * Return: 0; -ENOENT, -EACCES ...: from open(); -EPROTO: another protocol
 * version; -ENOTTY, -EINVAL: not a binder device.
 */
AB_EXPORT int ab_open(ab_conn **conn, const char *path, const struct ab_options *options);
/** ab_close() - NULL is fine. No other thread may be using it; its pool threads are joined. */
AB_EXPORT void ab_close(ab_conn *conn);

/** struct ab_call_info - who calls, as the driver vouches */
struct ab_call_info {
	uint32_t code;
	bool oneway;
	pid_t pid; /* 0 for a one-way call */
	uid_t euid;
};

/**
 * ab_transact_fn() - a call to an object of ours
 * @in: the request, the library's
 * @out: the reply to write; NULL in a one-way call
 *
 * May make calls of its own, and may be called again on the same thread while
 * it waits for them.
 *
 * Return: 0; or a negative errno, which ab_call() returns to the caller in
 * place of @out.
 */
typedef int ab_transact_fn(void *data, const struct ab_call_info *info, ab_parcel *in,
			   ab_parcel *out);

/** ab_object_new() - an object of ours, with one reference. NULL when out of memory. */
AB_EXPORT ab_object *ab_object_new(ab_conn *conn, ab_transact_fn *fn, void *data);
/** ab_object_unref() - drop our reference; it lives on while others hold it. */
AB_EXPORT void ab_object_unref(ab_object *object);

/** ab_become_manager() - be handle 0. -EBUSY when somebody is; -EPERM when another uid was. */
AB_EXPORT int ab_become_manager(ab_conn *conn, ab_object *object);

/**
 * ab_call() - call and wait for the reply
 * @in: not consumed
 * @out: receives the reply, for ab_parcel_free(); may be NULL
 * Return: 0; -EPIPE dead; -ECOMM refused; the negative status the service sent.
 */
AB_EXPORT int ab_call(ab_conn *conn, uint32_t handle, uint32_t code, ab_parcel *in,
		      ab_parcel **out);
/** ab_call_oneway() - send and do not wait. 0 means the driver took it. */
AB_EXPORT int ab_call_oneway(ab_conn *conn, uint32_t handle, uint32_t code, ab_parcel *in);
/** ab_acquire() - a strong count on a handle, with the thread's next ioctl */
AB_EXPORT int ab_acquire(ab_conn *conn, uint32_t handle);
/** ab_release() - drop a strong count, with the thread's next ioctl */
AB_EXPORT int ab_release(ab_conn *conn, uint32_t handle);

/** ab_death_fn() - the owner of a handle died. Runs in a looper or inside ab_call(). */
typedef void ab_death_fn(void *data, uint32_t handle);
/** ab_link_death() - be told when the owner of @handle dies, once. -ENOMEM. */
AB_EXPORT int ab_link_death(ab_conn *conn, uint32_t handle, ab_death_fn *fn, void *data);

/** ab_loop() - serve calls in this thread until ab_stop(). */
AB_EXPORT int ab_loop(ab_conn *conn);
/** ab_stop() - make all loops return after the call they are in. Not for signal handlers. */
AB_EXPORT void ab_stop(ab_conn *conn);
/** ab_flush() - send what waits for the thread's next ioctl now. */
AB_EXPORT int ab_flush(ab_conn *conn);

/** ab_ioctls() - driver ioctls made on this connection so far. */
AB_EXPORT uint64_t ab_ioctls(const ab_conn *conn);

/** ab_strerror() - words for what these functions return; a constant. */
AB_EXPORT const char *ab_strerror(int error);
/**
 * ab_error_text() - why this thread's last call on @conn failed
 * Asks the driver for its extended error. @buf gets a line of text.
 * Return: @buf.
 */
AB_EXPORT const char *ab_error_text(ab_conn *conn, int error, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
