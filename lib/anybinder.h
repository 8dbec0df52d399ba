/* SPDX-License-Identifier: MIT */
/*
 * anybinder: binder from C.
 *
 * Words. A *connection* is an open, mapped binder device. An *object* is
 * something that can be called: one of ours, or a proxy of somebody else's.
 * The *context manager* is the object that everybody can find; the service
 * manager offers itself there. A *parcel* is a message.
 *
 * Errors. Functions return 0 or a negative number: an errno, or one of
 * anybinder/error.h. errno itself is not theirs. -EPIPE: the other side is
 * dead; -ECOMM: the driver refused the transaction, ab_error_text() says why.
 *
 * Threads. Every function may be called from any thread, unless it says
 * otherwise. A parcel belongs to one thread at a time, and a received one to
 * the thread that received it. There is no state outside a connection but a
 * thread's own buffers for it, so several devices can be open at once.
 *
 * Processes. A child of fork() cannot use its parent's connections: all it
 * asks for is -EBADF, and what it lets go of its parent keeps. It may open its own.
 */
#ifndef ANYBINDER_H
#define ANYBINDER_H

#include "anybinder/call.h"
#include "anybinder/conn.h"
#include "anybinder/error.h"
#include "anybinder/object.h"
#include "anybinder/parcel.h"
#include "anybinder/service.h"
#include "anybinder/types.h"
#include "anybinder/wire.h"

#endif
