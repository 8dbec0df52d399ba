// SPDX-License-Identifier: MIT
/*
 * The ABI, number by number: sizes, field offsets, ioctl, BC_ and BR_ codes,
 * object types and flags against the reference table. Never compared with a
 * system header: that one belongs to whatever kernel the machine happens to run.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "uapi/binder.h"
#include "uapi/binderfs.h"

struct expectation {
	const char *name;
	uint64_t got;
	uint64_t want;
};

#define NUMBER(name, want) { #name, (uint64_t)(uint32_t)(name), want }
#define SIZE(type, want) { "sizeof(" #type ")", sizeof(type), want }
#define OFFSET(type, field, want) { #type "." #field, offsetof(type, field), want }

static const struct expectation sizes[] = {
	SIZE(struct flat_binder_object, 24),
	SIZE(struct binder_fd_object, 24),
	SIZE(struct binder_buffer_object, 40),
	SIZE(struct binder_fd_array_object, 32),
	SIZE(struct binder_transaction_data, 64),
	SIZE(struct binder_transaction_data_secctx, 72),
	SIZE(struct binder_transaction_data_sg, 72),
	SIZE(struct binder_ptr_cookie, 16),
	SIZE(struct binder_handle_cookie, 12),
	SIZE(struct binder_node_debug_info, 24),
	SIZE(struct binder_node_info_for_ref, 24),
	SIZE(struct binder_freeze_info, 12),
	SIZE(struct binder_frozen_status_info, 12),
	SIZE(struct binder_frozen_state_info, 16),
	SIZE(struct binder_extended_error, 12),
	SIZE(struct binder_write_read, 48),
	SIZE(struct binder_version, 4),
	SIZE(struct binderfs_device, 264),
	OFFSET(struct flat_binder_object, handle, 8),
	OFFSET(struct flat_binder_object, cookie, 16),
	OFFSET(struct binder_transaction_data, cookie, 8),
	OFFSET(struct binder_transaction_data, code, 16),
	OFFSET(struct binder_transaction_data, flags, 20),
	OFFSET(struct binder_transaction_data, sender_pid, 24),
	OFFSET(struct binder_transaction_data, sender_euid, 28),
	OFFSET(struct binder_transaction_data, data_size, 32),
	OFFSET(struct binder_transaction_data, offsets_size, 40),
	OFFSET(struct binder_transaction_data, data.ptr.buffer, 48),
	OFFSET(struct binder_transaction_data, data.ptr.offsets, 56),
	OFFSET(struct binder_write_read, write_buffer, 16),
	OFFSET(struct binder_write_read, read_size, 24),
	OFFSET(struct binder_write_read, read_buffer, 40),
	OFFSET(struct binder_handle_cookie, cookie, 4),
	OFFSET(struct binderfs_device, major, 256),
};

static const struct expectation ioctls[] = {
	NUMBER(BINDER_WRITE_READ, 0xc0306201),
	NUMBER(BINDER_SET_IDLE_TIMEOUT, 0x40086203),
	NUMBER(BINDER_SET_MAX_THREADS, 0x40046205),
	NUMBER(BINDER_SET_IDLE_PRIORITY, 0x40046206),
	NUMBER(BINDER_SET_CONTEXT_MGR, 0x40046207),
	NUMBER(BINDER_SET_CONTEXT_MGR_EXT, 0x4018620d),
	NUMBER(BINDER_THREAD_EXIT, 0x40046208),
	NUMBER(BINDER_VERSION, 0xc0046209),
	NUMBER(BINDER_GET_NODE_DEBUG_INFO, 0xc018620b),
	NUMBER(BINDER_GET_NODE_INFO_FOR_REF, 0xc018620c),
	NUMBER(BINDER_FREEZE, 0x400c620e),
	NUMBER(BINDER_GET_FROZEN_INFO, 0xc00c620f),
	NUMBER(BINDER_ENABLE_ONEWAY_SPAM_DETECTION, 0x40046210),
	NUMBER(BINDER_GET_EXTENDED_ERROR, 0xc00c6211),
	NUMBER(BINDER_CTL_ADD, 0xc1086201),
	NUMBER(BINDER_CURRENT_PROTOCOL_VERSION, 8),
	NUMBER(BINDERFS_MAX_NAME, 255),
};

static const struct expectation objects[] = {
	NUMBER(BINDER_TYPE_BINDER, 0x73622a85),
	NUMBER(BINDER_TYPE_WEAK_BINDER, 0x77622a85),
	NUMBER(BINDER_TYPE_HANDLE, 0x73682a85),
	NUMBER(BINDER_TYPE_WEAK_HANDLE, 0x77682a85),
	NUMBER(BINDER_TYPE_FD, 0x66642a85),
	NUMBER(BINDER_TYPE_FDA, 0x66646185),
	NUMBER(BINDER_TYPE_PTR, 0x70742a85),
	NUMBER(FLAT_BINDER_FLAG_PRIORITY_MASK, 0xff),
	NUMBER(FLAT_BINDER_FLAG_ACCEPTS_FDS, 0x100),
	NUMBER(FLAT_BINDER_FLAG_SCHED_POLICY_SHIFT, 9),
	NUMBER(FLAT_BINDER_FLAG_SCHED_POLICY_MASK, 0x600),
	NUMBER(FLAT_BINDER_FLAG_INHERIT_RT, 0x800),
	NUMBER(FLAT_BINDER_FLAG_TXN_SECURITY_CTX, 0x1000),
	NUMBER(BINDER_BUFFER_FLAG_HAS_PARENT, 0x01),
	NUMBER(TF_ONE_WAY, 0x01),
	NUMBER(TF_ROOT_OBJECT, 0x04),
	NUMBER(TF_STATUS_CODE, 0x08),
	NUMBER(TF_ACCEPT_FDS, 0x10),
	NUMBER(TF_CLEAR_BUF, 0x20),
	NUMBER(TF_UPDATE_TXN, 0x40),
	NUMBER(TF_DEFER_COMPLETE, 0x80),
};

static const struct expectation commands[] = {
	NUMBER(BC_TRANSACTION, 0x40406300),
	NUMBER(BC_REPLY, 0x40406301),
	NUMBER(BC_ACQUIRE_RESULT, 0x40046302),
	NUMBER(BC_FREE_BUFFER, 0x40086303),
	NUMBER(BC_INCREFS, 0x40046304),
	NUMBER(BC_ACQUIRE, 0x40046305),
	NUMBER(BC_RELEASE, 0x40046306),
	NUMBER(BC_DECREFS, 0x40046307),
	NUMBER(BC_INCREFS_DONE, 0x40106308),
	NUMBER(BC_ACQUIRE_DONE, 0x40106309),
	NUMBER(BC_ATTEMPT_ACQUIRE, 0x4008630a),
	NUMBER(BC_REGISTER_LOOPER, 0x630b),
	NUMBER(BC_ENTER_LOOPER, 0x630c),
	NUMBER(BC_EXIT_LOOPER, 0x630d),
	NUMBER(BC_REQUEST_DEATH_NOTIFICATION, 0x400c630e),
	NUMBER(BC_CLEAR_DEATH_NOTIFICATION, 0x400c630f),
	NUMBER(BC_DEAD_BINDER_DONE, 0x40086310),
	NUMBER(BC_TRANSACTION_SG, 0x40486311),
	NUMBER(BC_REPLY_SG, 0x40486312),
	NUMBER(BC_REQUEST_FREEZE_NOTIFICATION, 0x400c6313),
	NUMBER(BC_CLEAR_FREEZE_NOTIFICATION, 0x400c6314),
	NUMBER(BC_FREEZE_NOTIFICATION_DONE, 0x40086315),
};

static const struct expectation returns[] = {
	NUMBER(BR_ERROR, 0x80047200),
	NUMBER(BR_OK, 0x7201),
	NUMBER(BR_TRANSACTION, 0x80407202),
	NUMBER(BR_TRANSACTION_SEC_CTX, 0x80487202),
	NUMBER(BR_REPLY, 0x80407203),
	NUMBER(BR_ACQUIRE_RESULT, 0x80047204),
	NUMBER(BR_DEAD_REPLY, 0x7205),
	NUMBER(BR_TRANSACTION_COMPLETE, 0x7206),
	NUMBER(BR_INCREFS, 0x80107207),
	NUMBER(BR_ACQUIRE, 0x80107208),
	NUMBER(BR_RELEASE, 0x80107209),
	NUMBER(BR_DECREFS, 0x8010720a),
	NUMBER(BR_ATTEMPT_ACQUIRE, 0x8018720b),
	NUMBER(BR_NOOP, 0x720c),
	NUMBER(BR_SPAWN_LOOPER, 0x720d),
	NUMBER(BR_FINISHED, 0x720e),
	NUMBER(BR_DEAD_BINDER, 0x8008720f),
	NUMBER(BR_CLEAR_DEATH_NOTIFICATION_DONE, 0x80087210),
	NUMBER(BR_FAILED_REPLY, 0x7211),
	NUMBER(BR_FROZEN_REPLY, 0x7212),
	NUMBER(BR_ONEWAY_SPAM_SUSPECT, 0x7213),
	NUMBER(BR_TRANSACTION_PENDING_FROZEN, 0x7214),
	NUMBER(BR_FROZEN_BINDER, 0x80107215),
	NUMBER(BR_CLEAR_FREEZE_NOTIFICATION_DONE, 0x80087216),
};

static int check(const struct expectation *list, size_t count)
{
	int wrong = 0;

	for (size_t i = 0; i < count; i++) {
		if (list[i].got == list[i].want)
			continue;
		fprintf(stderr, "%s is %#" PRIx64 ", must be %#" PRIx64 "\n",
			list[i].name, list[i].got, list[i].want);
		wrong++;
	}
	return wrong;
}

#define CHECK(list) check(list, sizeof(list) / sizeof((list)[0]))

int main(void)
{
	int wrong = CHECK(sizes) + CHECK(ioctls) + CHECK(objects) +
		    CHECK(commands) + CHECK(returns);

	return wrong ? 1 : 0;
}
