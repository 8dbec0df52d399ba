/* SPDX-License-Identifier: MIT */
/*
 * The ioctl interface of a binder device: the numbers and the structures a
 * client and a driver must agree on, bit for bit, with the kernel's own.
 *
 * Protocol 8 only: every pointer and size in a structure is 64 bits wide, on a
 * 32-bit client too. tests/unit/uapi_numbers.c holds each number and size
 * against the reference table; that table, not a system header, decides.
 *
 * The only other file of the interface is binderfs.h (adding a device).
 */
#ifndef ANYBINDER_UAPI_BINDER_H
#define ANYBINDER_UAPI_BINDER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* What BINDER_VERSION answers. */
#define BINDER_CURRENT_PROTOCOL_VERSION 8

typedef __u64 binder_size_t;
typedef __u64 binder_uintptr_t;

/* ---- objects inside a payload ------------------------------------------- */

/*
 * An object's type is three letters and a fixed last byte, so that a stray
 * integer in a payload is unlikely to be taken for one.
 */
#define BINDER_TYPE_TAG(a, b, c) \
	(((__u32)(a) << 24) | ((__u32)(b) << 16) | ((__u32)(c) << 8) | 0x85u)

enum {
	BINDER_TYPE_BINDER = BINDER_TYPE_TAG('s', 'b', '*'),
	BINDER_TYPE_WEAK_BINDER = BINDER_TYPE_TAG('w', 'b', '*'),
	BINDER_TYPE_HANDLE = BINDER_TYPE_TAG('s', 'h', '*'),
	BINDER_TYPE_WEAK_HANDLE = BINDER_TYPE_TAG('w', 'h', '*'),
	BINDER_TYPE_FD = BINDER_TYPE_TAG('f', 'd', '*'),
	BINDER_TYPE_FDA = BINDER_TYPE_TAG('f', 'd', 'a'),
	BINDER_TYPE_PTR = BINDER_TYPE_TAG('p', 't', '*'),
};

/* Flags of a binder object; they become the node's when it is created. */
enum {
	FLAT_BINDER_FLAG_PRIORITY_MASK = 0xff,	/* least priority to serve a call at */
	FLAT_BINDER_FLAG_ACCEPTS_FDS = 0x100,	/* calls may carry descriptors */
	FLAT_BINDER_FLAG_SCHED_POLICY_SHIFT = 9,
	FLAT_BINDER_FLAG_SCHED_POLICY_MASK = 0x600,	/* Android kernels only */
	FLAT_BINDER_FLAG_INHERIT_RT = 0x800,		/* Android kernels only */
	FLAT_BINDER_FLAG_TXN_SECURITY_CTX = 0x1000,	/* deliver the sender's context */
};

/* First word of every object. */
struct binder_object_header {
	__u32 type;
};

/* BINDER, WEAK_BINDER (binder, cookie) and HANDLE, WEAK_HANDLE (handle). */
struct flat_binder_object {
	struct binder_object_header hdr;
	__u32 flags;
	union {
		binder_uintptr_t binder;
		__u32 handle;
	};
	binder_uintptr_t cookie;
};

/* FD; laid out like a flat_binder_object. */
struct binder_fd_object {
	struct binder_object_header hdr;
	__u32 pad_flags;
	union {
		binder_uintptr_t pad_binder;
		__u32 fd;
	};
	binder_uintptr_t cookie;
};

enum {
	BINDER_BUFFER_FLAG_HAS_PARENT = 0x01,
};

/* PTR: a piece of memory copied along; with a parent, its address is patched in there. */
struct binder_buffer_object {
	struct binder_object_header hdr;
	__u32 flags;
	binder_uintptr_t buffer;
	binder_size_t length;
	binder_size_t parent;		/* index in the offsets array */
	binder_size_t parent_offset;	/* where in the parent the pointer sits */
};

/* FDA: descriptors stored as an array inside a PTR. */
struct binder_fd_array_object {
	struct binder_object_header hdr;
	__u32 pad;
	binder_size_t num_fds;
	binder_size_t parent;
	binder_size_t parent_offset;
};

/* ---- ioctls --------------------------------------------------------------- */

/* The consumed fields are inputs too: where to go on in either buffer. */
struct binder_write_read {
	binder_size_t write_size;
	binder_size_t write_consumed;
	binder_uintptr_t write_buffer;
	binder_size_t read_size;
	binder_size_t read_consumed;
	binder_uintptr_t read_buffer;
};

struct binder_version {
	__s32 protocol_version;
};

struct binder_node_debug_info {
	binder_uintptr_t ptr;
	binder_uintptr_t cookie;
	__u32 has_strong_ref;
	__u32 has_weak_ref;
};

struct binder_node_info_for_ref {
	__u32 handle;
	__u32 strong_count;
	__u32 weak_count;
	__u32 reserved1;
	__u32 reserved2;
	__u32 reserved3;
};

struct binder_freeze_info {
	__u32 pid;
	__u32 enable;
	__u32 timeout_ms;
};

struct binder_frozen_status_info {
	__u32 pid;
	__u32 sync_recv;	/* bit 0: a call came while frozen; bit 1: some are pending */
	__u32 async_recv;	/* a one-way call came while frozen */
};

/* Payload of BR_FROZEN_BINDER. */
struct binder_frozen_state_info {
	binder_uintptr_t cookie;
	__u32 is_frozen;
	__u32 reserved;
};

/* Why the calling thread's last transaction failed; reading it clears it. */
struct binder_extended_error {
	__u32 id;	/* the transaction's debug id */
	__u32 command;	/* the BR_ code it ended with */
	__s32 param;	/* a negative errno */
};

enum {
	BINDER_WRITE_READ = _IOWR('b', 1, struct binder_write_read),
	BINDER_SET_IDLE_TIMEOUT = _IOW('b', 3, __s64),
	BINDER_SET_MAX_THREADS = _IOW('b', 5, __u32),
	BINDER_SET_IDLE_PRIORITY = _IOW('b', 6, __s32),
	BINDER_SET_CONTEXT_MGR = _IOW('b', 7, __s32),
	BINDER_THREAD_EXIT = _IOW('b', 8, __s32),
	BINDER_VERSION = _IOWR('b', 9, struct binder_version),
	BINDER_GET_NODE_DEBUG_INFO = _IOWR('b', 11, struct binder_node_debug_info),
	BINDER_GET_NODE_INFO_FOR_REF = _IOWR('b', 12, struct binder_node_info_for_ref),
	BINDER_SET_CONTEXT_MGR_EXT = _IOW('b', 13, struct flat_binder_object),
	BINDER_FREEZE = _IOW('b', 14, struct binder_freeze_info),
	BINDER_GET_FROZEN_INFO = _IOWR('b', 15, struct binder_frozen_status_info),
	BINDER_ENABLE_ONEWAY_SPAM_DETECTION = _IOW('b', 16, __u32),
	BINDER_GET_EXTENDED_ERROR = _IOWR('b', 17, struct binder_extended_error),
};

/* ---- transactions ---------------------------------------------------------- */

enum transaction_flags {
	TF_ONE_WAY = 0x01,		/* no reply */
	TF_ROOT_OBJECT = 0x04,		/* not looked at by a driver */
	TF_STATUS_CODE = 0x08,		/* the payload is a 32-bit status */
	TF_ACCEPT_FDS = 0x10,		/* the reply may carry descriptors */
	TF_CLEAR_BUF = 0x20,		/* zero the buffer when it is freed */
	TF_UPDATE_TXN = 0x40,		/* may replace an older one queued on a frozen target */
	TF_DEFER_COMPLETE = 0x80,	/* of a reply: deliver its completion with the next call */
};

struct binder_transaction_data {
	union {
		__u32 handle;		/* sent: whom to call */
		binder_uintptr_t ptr;	/* received: whose node is called */
	} target;
	binder_uintptr_t cookie;	/* received: the node's cookie */
	__u32 code;
	__u32 flags;
	__kernel_pid_t sender_pid;	/* both filled in by the driver */
	__kernel_uid32_t sender_euid;
	binder_size_t data_size;
	binder_size_t offsets_size;	/* bytes, not entries */
	union {
		struct {
			binder_uintptr_t buffer;
			binder_uintptr_t offsets;
		} ptr;
		__u8 buf[8];
	} data;
};

struct binder_transaction_data_secctx {
	struct binder_transaction_data transaction_data;
	binder_uintptr_t secctx;	/* NUL-terminated, inside the buffer */
};

struct binder_transaction_data_sg {
	struct binder_transaction_data transaction_data;
	binder_size_t buffers_size;	/* room for all PTR objects together */
};

struct binder_ptr_cookie {
	binder_uintptr_t ptr;
	binder_uintptr_t cookie;
};

struct binder_handle_cookie {
	__u32 handle;
	binder_uintptr_t cookie;
} __attribute__((packed));

/* Payloads of commands that no driver supports; they only give those a size. */
struct binder_pri_desc {
	__s32 priority;
	__u32 desc;
};

struct binder_pri_ptr_cookie {
	__s32 priority;
	binder_uintptr_t ptr;
	binder_uintptr_t cookie;
};

/* ---- what a driver returns (read buffer) ----------------------------------- */

enum binder_driver_return_protocol {
	BR_ERROR = _IOR('r', 0, __s32),
	BR_OK = _IO('r', 1),
	BR_TRANSACTION_SEC_CTX = _IOR('r', 2, struct binder_transaction_data_secctx),
	BR_TRANSACTION = _IOR('r', 2, struct binder_transaction_data),
	BR_REPLY = _IOR('r', 3, struct binder_transaction_data),
	BR_ACQUIRE_RESULT = _IOR('r', 4, __s32),
	BR_DEAD_REPLY = _IO('r', 5),
	BR_TRANSACTION_COMPLETE = _IO('r', 6),
	BR_INCREFS = _IOR('r', 7, struct binder_ptr_cookie),
	BR_ACQUIRE = _IOR('r', 8, struct binder_ptr_cookie),
	BR_RELEASE = _IOR('r', 9, struct binder_ptr_cookie),
	BR_DECREFS = _IOR('r', 10, struct binder_ptr_cookie),
	BR_ATTEMPT_ACQUIRE = _IOR('r', 11, struct binder_pri_ptr_cookie),
	BR_NOOP = _IO('r', 12),
	BR_SPAWN_LOOPER = _IO('r', 13),
	BR_FINISHED = _IO('r', 14),
	BR_DEAD_BINDER = _IOR('r', 15, binder_uintptr_t),
	BR_CLEAR_DEATH_NOTIFICATION_DONE = _IOR('r', 16, binder_uintptr_t),
	BR_FAILED_REPLY = _IO('r', 17),
	BR_FROZEN_REPLY = _IO('r', 18),
	BR_ONEWAY_SPAM_SUSPECT = _IO('r', 19),
	BR_TRANSACTION_PENDING_FROZEN = _IO('r', 20),
	BR_FROZEN_BINDER = _IOR('r', 21, struct binder_frozen_state_info),
	BR_CLEAR_FREEZE_NOTIFICATION_DONE = _IOR('r', 22, binder_uintptr_t),
};

/* ---- what a client sends (write buffer) ------------------------------------- */

enum binder_driver_command_protocol {
	BC_TRANSACTION = _IOW('c', 0, struct binder_transaction_data),
	BC_REPLY = _IOW('c', 1, struct binder_transaction_data),
	BC_ACQUIRE_RESULT = _IOW('c', 2, __s32),
	BC_FREE_BUFFER = _IOW('c', 3, binder_uintptr_t),
	BC_INCREFS = _IOW('c', 4, __u32),
	BC_ACQUIRE = _IOW('c', 5, __u32),
	BC_RELEASE = _IOW('c', 6, __u32),
	BC_DECREFS = _IOW('c', 7, __u32),
	BC_INCREFS_DONE = _IOW('c', 8, struct binder_ptr_cookie),
	BC_ACQUIRE_DONE = _IOW('c', 9, struct binder_ptr_cookie),
	BC_ATTEMPT_ACQUIRE = _IOW('c', 10, struct binder_pri_desc),
	BC_REGISTER_LOOPER = _IO('c', 11),
	BC_ENTER_LOOPER = _IO('c', 12),
	BC_EXIT_LOOPER = _IO('c', 13),
	BC_REQUEST_DEATH_NOTIFICATION = _IOW('c', 14, struct binder_handle_cookie),
	BC_CLEAR_DEATH_NOTIFICATION = _IOW('c', 15, struct binder_handle_cookie),
	BC_DEAD_BINDER_DONE = _IOW('c', 16, binder_uintptr_t),
	BC_TRANSACTION_SG = _IOW('c', 17, struct binder_transaction_data_sg),
	BC_REPLY_SG = _IOW('c', 18, struct binder_transaction_data_sg),
	BC_REQUEST_FREEZE_NOTIFICATION = _IOW('c', 19, struct binder_handle_cookie),
	BC_CLEAR_FREEZE_NOTIFICATION = _IOW('c', 20, struct binder_handle_cookie),
	BC_FREEZE_NOTIFICATION_DONE = _IOW('c', 21, binder_uintptr_t),
};

#endif /* ANYBINDER_UAPI_BINDER_H */
