/* SPDX-License-Identifier: MIT */
/* Connections: an open binder device, and the threads that serve on it. */
#ifndef ANYBINDER_CONN_H
#define ANYBINDER_CONN_H

#include "types.h"
#include "wire.h"

AB_BEGIN_DECLS

/** AB_OPEN_NO_DEFER - never ask for TF_DEFER_COMPLETE (to measure what it gives) */
#define AB_OPEN_NO_DEFER 0x1u

/**
 * struct ab_options - how to open a device; all zero is a sensible default
 * @map_size: bytes to map for incoming data, at most 4 MiB; 0 is 1 MiB less two pages
 * @max_threads: most threads that the driver may ask the library to start, besides those
 *               of ab_pool_start() and ab_loop(); 0 is none
 * @variant: the Android release whose wire format is spoken; 0 is AB_VARIANT_DEFAULT
 * @flags: AB_OPEN_...
 * @reserved: zero
 */
struct ab_options {
	size_t map_size;
	uint32_t max_threads;
	enum ab_variant variant;
	uint32_t flags;
	uint32_t reserved[7];
};

/**
 * ab_open() - open, check and map a binder device
 * @conn: receives the connection, for ab_close()
 * @path: such as /dev/binderfs/binder
 * @options: NULL for the defaults
 *
 * Return: 0; -ENOENT, -EACCES and others of open(); -EPROTO: another protocol
 * version; -ENOTTY: not a binder device; -EINVAL: options that make no sense;
 * -ENOMEM; others of mmap().
 */
AB_EXPORT int ab_open(ab_conn **conn, const char *path, const struct ab_options *options);

/**
 * ab_close() - close a connection
 * @conn: NULL is fine
 *
 * Waits for its pool's threads, and for others in ab_loop(), to end what they
 * serve, but for the calling one if it is one of them. No other thread may be
 * using the connection. Objects and received parcels that are left keep their
 * memory until they are put and freed; calls to them fail with -EBADF. To
 * everybody else our objects are dead from now on, or as soon as the last
 * received parcel is freed.
 */
AB_EXPORT void ab_close(ab_conn *conn);

/** ab_conn_variant() - the wire format of a connection. Return: never AB_VARIANT_DEFAULT. */
AB_EXPORT enum ab_variant ab_conn_variant(const ab_conn *conn);

/**
 * ab_pool_start() - start a thread that serves calls
 * @conn: the connection
 *
 * More threads follow when the driver asks for them, up to the max_threads of
 * the connection's options. They end with ab_close() or ab_stop(); after ab_stop()
 * none is started. The program's signals are not for them.
 *
 * Return: 0; -EAGAIN or -ENOMEM: no thread could be made; -EBADF.
 */
AB_EXPORT int ab_pool_start(ab_conn *conn);

/**
 * ab_loop() - serve calls in this thread until ab_stop()
 * @conn: the connection
 *
 * Return: 0 after ab_stop(), or when what it served closed the connection; the error
 * of the driver that ended it, such as -ENOTCONN when a daemon that was the driver has
 * gone; -ENOMEM; -EBADF.
 */
AB_EXPORT int ab_loop(ab_conn *conn);

/**
 * ab_stop() - make all loops return after the call they are in
 * @conn: the connection
 *
 * Not for signal handlers. Cannot be undone.
 */
AB_EXPORT void ab_stop(ab_conn *conn);

/**
 * ab_fd() - the descriptor to poll for ab_dispatch()
 * @conn: the connection
 *
 * Return: a descriptor that remains the connection's; do not read, write or
 * close it.
 */
AB_EXPORT int ab_fd(const ab_conn *conn);

/**
 * ab_dispatch() - serve what is there, without waiting for more
 * @conn: the connection
 *
 * For programs with an event loop of their own: call it once before the first
 * poll, from the same thread always, and whenever ab_fd() is readable (level, not
 * edge). It may be called when it is not. No other thread may serve on the
 * connection, or this could wait.
 *
 * Return: 0; the driver's error.
 */
AB_EXPORT int ab_dispatch(ab_conn *conn);

/**
 * ab_flush() - send what waits for the thread's next ioctl now
 * @conn: the connection
 *
 * What a thread has to tell the driver besides calls (references put, buffers
 * freed) leaves with its next call. Outside a served call whatever lets go of
 * others' objects leaves at once, so few programs need this.
 *
 * Return: 0; the driver's error.
 */
AB_EXPORT int ab_flush(ab_conn *conn);

/** ab_ioctls() - the driver ioctls made on a connection so far. Return: their number. */
AB_EXPORT uint64_t ab_ioctls(const ab_conn *conn);

AB_END_DECLS

#endif
