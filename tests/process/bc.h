/* SPDX-License-Identifier: MIT */
/*
 * Raw binder: a device, a message, and one thread's conversation with the
 * driver. Nothing here hides an ioctl: bt_ioctl() is one, and t->ioctls counts.
 */
#ifndef TESTS_PROCESS_BC_H
#define TESTS_PROCESS_BC_H

#include "uapi/binder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BC_MAP_SIZE (128 * 1024)
#define BC_MAP_MAX (4 * 1024 * 1024)

/**
 * struct bc - an open device and its mapping
 * @nonblock: opened with O_NONBLOCK; the helpers then poll, for a bounded time
 */
struct bc {
	int fd;
	bool nonblock;
	const uint8_t *map;
	size_t map_size;
};

int bc_try_open(struct bc *b, const char *device, int flags, size_t map_size);
void bc_open_device(struct bc *b, const char *device, size_t map_size);
void bc_open(struct bc *b, size_t map_size);
void bc_open_nonblock(struct bc *b, size_t map_size);
void bc_close(struct bc *b);
int bc_become_manager(struct bc *b);
void bc_works(struct bc *b);

#define MSG_BUF 512
#define MSG_OBJS 16

/**
 * struct msg - a payload being built
 * @ext: when set, the payload is here instead of in @buf
 */
struct msg {
	uint8_t buf[MSG_BUF];
	binder_size_t offs[MSG_OBJS];
	size_t size;
	size_t nr;
	const void *ext;
	size_t ext_size;
};

void msg_init(struct msg *m);
void msg_u32(struct msg *m, uint32_t v);
void msg_bytes(struct msg *m, const void *p, size_t n);
void msg_ext(struct msg *m, const void *p, size_t n);
void msg_object(struct msg *m, const void *obj, size_t n);
void msg_flat(struct msg *m, uint32_t type, uint64_t binder_or_handle, uint64_t cookie,
	      uint32_t flags);
void msg_binder(struct msg *m, uint64_t ptr, uint64_t cookie);
void msg_handle(struct msg *m, uint32_t handle);

#define BT_OUT 8192
#define BT_IN 16384
#define BT_DEPTH 24

/**
 * struct bt_ret - one return
 */
struct bt_ret {
	uint32_t cmd;
	union {
		struct binder_transaction_data tr;
		struct binder_transaction_data_secctx secctx;
		struct binder_ptr_cookie ref;
		struct binder_frozen_state_info frozen;
		binder_uintptr_t cookie;
		int32_t error;
	};
};

struct bt;
typedef void (*bt_handler)(struct bt *t, const struct binder_transaction_data *tr,
			   struct msg *reply);

/**
 * struct bt - one thread's conversation
 * @ioctls: BINDER_WRITE_READ done so far
 * @got: returns seen, by number (BR_NOOP and BR_SPAWN_LOOPER too)
 * @reply_flags: transaction flags of our replies
 * @keep_buffers: bt_serve() does not free what it received
 * @handler: serves calls, also those that come while we wait for a reply
 * @dead: the last BR_DEAD_BINDER's cookie
 * @replies: replies queued but perhaps not yet sent, one for each nesting depth
 */
struct bt {
	struct bc *b;
	unsigned int ioctls;
	unsigned int got[32];
	uint32_t reply_flags;
	bool keep_buffers;
	bt_handler handler;
	void *priv;
	uint64_t dead;
	unsigned int depth;
	struct msg replies[BT_DEPTH];
	size_t out_len;
	size_t in_len;
	size_t in_pos;
	uint8_t out[BT_OUT];
	uint8_t in[BT_IN];
};

#define BT_GOT(t, cmd) ((t)->got[_IOC_NR(cmd)])

const char *br_name(uint32_t cmd);

void bt_init(struct bt *t, struct bc *b);
void bt_put(struct bt *t, const void *p, size_t n);
void bt_cmd(struct bt *t, uint32_t cmd);
void bt_ref(struct bt *t, uint32_t cmd, uint32_t handle);
void bt_done(struct bt *t, uint32_t cmd, uint64_t ptr, uint64_t cookie);
void bt_death(struct bt *t, uint32_t cmd, uint32_t handle, uint64_t cookie);
void bt_cookie(struct bt *t, uint32_t cmd, uint64_t cookie);
void bt_free(struct bt *t, uint64_t addr);
void bt_raw(struct bt *t, uint32_t cmd, const struct binder_transaction_data *tr);
void bt_send(struct bt *t, uint32_t cmd, uint32_t handle, uint32_t code, uint32_t flags,
	     const struct msg *m);

int bt_ioctl(struct bt *t, bool want_read);
void bt_flush(struct bt *t);
bool bt_next(struct bt *t, struct bt_ret *ret);
void bt_wait(struct bt *t, struct bt_ret *ret);
void bt_expect_at(const char *file, int line, struct bt *t, uint32_t cmd, struct bt_ret *ret);
#define bt_expect(t, cmd, ret) bt_expect_at(__FILE__, __LINE__, t, cmd, ret)
void bt_quiet_at(const char *file, int line, struct bt *t);
#define bt_quiet(t) bt_quiet_at(__FILE__, __LINE__, t)
void bt_settle(struct bt *t);
void bt_until_at(const char *file, int line, struct bt *t, uint32_t cmd, struct bt_ret *ret);
#define bt_until(t, cmd, ret) bt_until_at(__FILE__, __LINE__, t, cmd, ret)
uint32_t bt_event(struct bt *t, struct bt_ret *ret);
bool bt_try(struct bt *t, struct bt_ret *ret);

uint32_t bt_finish(struct bt *t, bool oneway, struct binder_transaction_data *reply);
uint32_t bt_call(struct bt *t, uint32_t handle, uint32_t code, uint32_t flags,
		 const struct msg *m, struct binder_transaction_data *reply);
void bt_call_ok_at(const char *file, int line, struct bt *t, uint32_t handle, uint32_t code,
		   const struct msg *m, struct binder_transaction_data *reply);
#define bt_call_ok(t, handle, code, m, reply) \
	bt_call_ok_at(__FILE__, __LINE__, t, handle, code, m, reply)
void bt_ping_at(const char *file, int line, struct bt *t, uint32_t handle, uint32_t code);
#define bt_ping(t, handle, code) bt_ping_at(__FILE__, __LINE__, t, handle, code)
void bt_enter(struct bt *t);
void bt_serve(struct bt *t, const struct binder_transaction_data *tr);
void bt_serve_one(struct bt *t);
void bt_loop(struct bt *t) __attribute__((noreturn));
void bt_warm(struct bt *t);

const void *tr_data(const struct binder_transaction_data *tr);
uint32_t tr_u32(const struct binder_transaction_data *tr, size_t index);
const struct flat_binder_object *tr_object(const struct binder_transaction_data *tr, size_t index);

void bt_error(struct bt *t, struct binder_extended_error *ee);
void bt_expect_error_at(const char *file, int line, struct bt *t, uint32_t cmd, int param);
#define bt_expect_error(t, cmd, param) bt_expect_error_at(__FILE__, __LINE__, t, cmd, param)

#endif
