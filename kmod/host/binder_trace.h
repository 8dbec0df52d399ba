/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints, with the names and fields that tools know from the in-tree
 * driver. The system is "anybinder", because two modules cannot share one:
 * events/anybinder/binder_transaction and so on in tracefs.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM anybinder

#if !defined(KMOD_BINDER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KMOD_BINDER_TRACE_H

#include <linux/tracepoint.h>

#include "core/alloc.h"
#include "core/node.h"
#include "core/thread.h"
#include "core/transaction.h"
#include "uapi/binder.h"

TRACE_EVENT(binder_ioctl,
	TP_PROTO(unsigned int cmd, unsigned long arg),
	TP_ARGS(cmd, arg),
	TP_STRUCT__entry(
		__field(unsigned int, cmd)
		__field(unsigned long, arg)
	),
	TP_fast_assign(
		__entry->cmd = cmd;
		__entry->arg = arg;
	),
	TP_printk("cmd=0x%x arg=0x%lx", __entry->cmd, __entry->arg)
);

DECLARE_EVENT_CLASS(binder_done,
	TP_PROTO(int ret),
	TP_ARGS(ret),
	TP_STRUCT__entry(
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->ret = ret;
	),
	TP_printk("ret=%d", __entry->ret)
);

DEFINE_EVENT(binder_done, binder_ioctl_done, TP_PROTO(int ret), TP_ARGS(ret));
DEFINE_EVENT(binder_done, binder_write_done, TP_PROTO(int ret), TP_ARGS(ret));
DEFINE_EVENT(binder_done, binder_read_done, TP_PROTO(int ret), TP_ARGS(ret));

TRACE_EVENT(binder_wait_for_work,
	TP_PROTO(bool proc_work, bool transaction_stack, bool thread_todo),
	TP_ARGS(proc_work, transaction_stack, thread_todo),
	TP_STRUCT__entry(
		__field(bool, proc_work)
		__field(bool, transaction_stack)
		__field(bool, thread_todo)
	),
	TP_fast_assign(
		__entry->proc_work = proc_work;
		__entry->transaction_stack = transaction_stack;
		__entry->thread_todo = thread_todo;
	),
	TP_printk("proc_work=%d transaction_stack=%d thread_todo=%d",
		  __entry->proc_work, __entry->transaction_stack, __entry->thread_todo)
);

TRACE_EVENT(binder_set_priority,
	TP_PROTO(pid_t tid, int old, int new),
	TP_ARGS(tid, old, new),
	TP_STRUCT__entry(
		__field(int, thread)
		__field(int, old_nice)
		__field(int, new_nice)
	),
	TP_fast_assign(
		__entry->thread = tid;
		__entry->old_nice = old;
		__entry->new_nice = new;
	),
	TP_printk("thread=%d old=%d new=%d", __entry->thread, __entry->old_nice,
		  __entry->new_nice)
);

TRACE_EVENT(binder_transaction,
	TP_PROTO(const struct binder_transaction *t, int target_node, pid_t to_tid),
	TP_ARGS(t, target_node, to_tid),
	TP_STRUCT__entry(
		__field(int, debug_id)
		__field(int, target_node)
		__field(int, to_proc)
		__field(int, to_thread)
		__field(int, reply)
		__field(unsigned int, code)
		__field(unsigned int, flags)
	),
	TP_fast_assign(
		__entry->debug_id = t->debug_id;
		__entry->target_node = target_node;
		__entry->to_proc = t->to_proc->pid;
		__entry->to_thread = to_tid;
		__entry->reply = t->reply;
		__entry->code = t->code;
		__entry->flags = t->flags;
	),
	TP_printk("transaction=%d dest_node=%d dest_proc=%d dest_thread=%d reply=%d flags=0x%x code=0x%x",
		  __entry->debug_id, __entry->target_node, __entry->to_proc, __entry->to_thread,
		  __entry->reply, __entry->flags, __entry->code)
);

TRACE_EVENT(binder_transaction_received,
	TP_PROTO(const struct binder_transaction *t),
	TP_ARGS(t),
	TP_STRUCT__entry(
		__field(int, debug_id)
	),
	TP_fast_assign(
		__entry->debug_id = t->debug_id;
	),
	TP_printk("transaction=%d", __entry->debug_id)
);

/* An object changes its name on the way: a node becomes a handle, or comes home, or moves on. */
DECLARE_EVENT_CLASS(binder_translation,
	TP_PROTO(const struct binder_transaction *t, int node, u32 from, u32 to),
	TP_ARGS(t, node, from, to),
	TP_STRUCT__entry(
		__field(int, debug_id)
		__field(int, node_debug_id)
		__field(u32, src_ref_desc)
		__field(u32, dest_ref_desc)
	),
	TP_fast_assign(
		__entry->debug_id = t->debug_id;
		__entry->node_debug_id = node;
		__entry->src_ref_desc = from;
		__entry->dest_ref_desc = to;
	),
	TP_printk("transaction=%d node=%d src_ref_desc=%u dest_ref_desc=%u", __entry->debug_id,
		  __entry->node_debug_id, __entry->src_ref_desc, __entry->dest_ref_desc)
);

DEFINE_EVENT(binder_translation, binder_transaction_node_to_ref,
	TP_PROTO(const struct binder_transaction *t, int node, u32 from, u32 to),
	TP_ARGS(t, node, from, to)
);

DEFINE_EVENT(binder_translation, binder_transaction_ref_to_node,
	TP_PROTO(const struct binder_transaction *t, int node, u32 from, u32 to),
	TP_ARGS(t, node, from, to)
);

DEFINE_EVENT(binder_translation, binder_transaction_ref_to_ref,
	TP_PROTO(const struct binder_transaction *t, int node, u32 from, u32 to),
	TP_ARGS(t, node, from, to)
);

DECLARE_EVENT_CLASS(binder_buffer,
	TP_PROTO(const struct binder_buffer *buffer),
	TP_ARGS(buffer),
	TP_STRUCT__entry(
		__field(int, debug_id)
		__field(size_t, data_size)
		__field(size_t, offsets_size)
		__field(size_t, extra_buffers_size)
	),
	TP_fast_assign(
		__entry->debug_id = buffer->debug_id;
		__entry->data_size = buffer->data_size;
		__entry->offsets_size = buffer->offsets_size;
		__entry->extra_buffers_size = buffer->extra_size;
	),
	TP_printk("transaction=%d data_size=%zu offsets_size=%zu extra_buffers_size=%zu",
		  __entry->debug_id, __entry->data_size, __entry->offsets_size,
		  __entry->extra_buffers_size)
);

DEFINE_EVENT(binder_buffer, binder_transaction_alloc_buf,
	TP_PROTO(const struct binder_buffer *buffer),
	TP_ARGS(buffer)
);

DEFINE_EVENT(binder_buffer, binder_transaction_buffer_release,
	TP_PROTO(const struct binder_buffer *buffer),
	TP_ARGS(buffer)
);

DEFINE_EVENT(binder_buffer, binder_transaction_failed_buffer_release,
	TP_PROTO(const struct binder_buffer *buffer),
	TP_ARGS(buffer)
);

/* Steps in the life of a page slot. */
DECLARE_EVENT_CLASS(binder_page,
	TP_PROTO(const struct binder_alloc *alloc, size_t index),
	TP_ARGS(alloc, index),
	TP_STRUCT__entry(
		__field(int, proc)
		__field(size_t, page_index)
	),
	TP_fast_assign(
		__entry->proc = alloc->pid;
		__entry->page_index = index;
	),
	TP_printk("proc=%d page_index=%zu", __entry->proc, __entry->page_index)
);

DEFINE_EVENT(binder_page, binder_alloc_page_start,
	TP_PROTO(const struct binder_alloc *alloc, size_t index),
	TP_ARGS(alloc, index)
);

DEFINE_EVENT(binder_page, binder_alloc_page_end,
	TP_PROTO(const struct binder_alloc *alloc, size_t index),
	TP_ARGS(alloc, index)
);

DEFINE_EVENT(binder_page, binder_unmap_user_start,
	TP_PROTO(const struct binder_alloc *alloc, size_t index),
	TP_ARGS(alloc, index)
);

DEFINE_EVENT(binder_page, binder_unmap_user_end,
	TP_PROTO(const struct binder_alloc *alloc, size_t index),
	TP_ARGS(alloc, index)
);

DECLARE_EVENT_CLASS(binder_stream,
	TP_PROTO(u32 cmd),
	TP_ARGS(cmd),
	TP_STRUCT__entry(
		__field(u32, cmd)
	),
	TP_fast_assign(
		__entry->cmd = cmd;
	),
	TP_printk("cmd=0x%x nr=%u", __entry->cmd, _IOC_NR(__entry->cmd))
);

DEFINE_EVENT(binder_stream, binder_command, TP_PROTO(u32 cmd), TP_ARGS(cmd));
DEFINE_EVENT(binder_stream, binder_return, TP_PROTO(u32 cmd), TP_ARGS(cmd));

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE binder_trace
#include <trace/define_trace.h>
