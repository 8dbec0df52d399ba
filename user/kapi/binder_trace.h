/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The core's tracepoints where there is nobody to trace: the kernel host has
 * the real ones (kmod/host/binder_trace.h).
 */
#ifndef USER_KAPI_BINDER_TRACE_H
#define USER_KAPI_BINDER_TRACE_H

#include <linux/types.h>

struct binder_alloc;
struct binder_buffer;
struct binder_transaction;

static inline void trace_binder_command(u32 cmd) { }
static inline void trace_binder_return(u32 cmd) { }
static inline void trace_binder_transaction(const struct binder_transaction *t, int node,
					    pid_t to_tid) { }
static inline void trace_binder_transaction_received(const struct binder_transaction *t) { }
static inline void trace_binder_transaction_node_to_ref(const struct binder_transaction *t,
							int node, u32 from, u32 to) { }
static inline void trace_binder_transaction_ref_to_node(const struct binder_transaction *t,
							int node, u32 from, u32 to) { }
static inline void trace_binder_transaction_ref_to_ref(const struct binder_transaction *t,
						       int node, u32 from, u32 to) { }
static inline void trace_binder_transaction_alloc_buf(const struct binder_buffer *buffer) { }
static inline void trace_binder_transaction_buffer_release(const struct binder_buffer *buffer) { }
static inline void
trace_binder_transaction_failed_buffer_release(const struct binder_buffer *buffer) { }
static inline void trace_binder_alloc_page_start(const struct binder_alloc *alloc, size_t index) { }
static inline void trace_binder_alloc_page_end(const struct binder_alloc *alloc, size_t index) { }
static inline void trace_binder_unmap_user_start(const struct binder_alloc *alloc, size_t index) { }
static inline void trace_binder_unmap_user_end(const struct binder_alloc *alloc, size_t index) { }

#endif
