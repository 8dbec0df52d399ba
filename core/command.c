// SPDX-License-Identifier: GPL-2.0-only
#include "core/command.h"

#include "core/death.h"
#include "core/freeze.h"
#include "core/host.h"
#include "core/node.h"
#include "core/proc.h"
#include "core/ref.h"
#include "core/thread.h"
#include "core/trace.h"
#include "core/transaction.h"

/* By number. BC_ACQUIRE_RESULT and BC_ATTEMPT_ACQUIRE were never supported. */
static const u32 known[BINDER_NR_BC] = {
	[_IOC_NR(BC_TRANSACTION)] = BC_TRANSACTION,
	[_IOC_NR(BC_REPLY)] = BC_REPLY,
	[_IOC_NR(BC_FREE_BUFFER)] = BC_FREE_BUFFER,
	[_IOC_NR(BC_INCREFS)] = BC_INCREFS,
	[_IOC_NR(BC_ACQUIRE)] = BC_ACQUIRE,
	[_IOC_NR(BC_RELEASE)] = BC_RELEASE,
	[_IOC_NR(BC_DECREFS)] = BC_DECREFS,
	[_IOC_NR(BC_INCREFS_DONE)] = BC_INCREFS_DONE,
	[_IOC_NR(BC_ACQUIRE_DONE)] = BC_ACQUIRE_DONE,
	[_IOC_NR(BC_REGISTER_LOOPER)] = BC_REGISTER_LOOPER,
	[_IOC_NR(BC_ENTER_LOOPER)] = BC_ENTER_LOOPER,
	[_IOC_NR(BC_EXIT_LOOPER)] = BC_EXIT_LOOPER,
	[_IOC_NR(BC_REQUEST_DEATH_NOTIFICATION)] = BC_REQUEST_DEATH_NOTIFICATION,
	[_IOC_NR(BC_CLEAR_DEATH_NOTIFICATION)] = BC_CLEAR_DEATH_NOTIFICATION,
	[_IOC_NR(BC_DEAD_BINDER_DONE)] = BC_DEAD_BINDER_DONE,
	[_IOC_NR(BC_TRANSACTION_SG)] = BC_TRANSACTION_SG,
	[_IOC_NR(BC_REPLY_SG)] = BC_REPLY_SG,
	[_IOC_NR(BC_REQUEST_FREEZE_NOTIFICATION)] = BC_REQUEST_FREEZE_NOTIFICATION,
	[_IOC_NR(BC_CLEAR_FREEZE_NOTIFICATION)] = BC_CLEAR_FREEZE_NOTIFICATION,
	[_IOC_NR(BC_FREEZE_NOTIFICATION_DONE)] = BC_FREEZE_NOTIFICATION_DONE,
};

static bool command_known(u32 cmd)
{
	return cmd && _IOC_NR(cmd) < ARRAY_SIZE(known) && known[_IOC_NR(cmd)] == cmd;
}

/* The payload of one command, out of the stream and aligned. */
union payload {
	u32 handle;
	binder_uintptr_t ptr;
	struct binder_ptr_cookie ptr_cookie;
	struct binder_handle_cookie handle_cookie;
	struct binder_transaction_data tr;
	struct binder_transaction_data_sg sg;
};

/*
 * Make the next @len bytes of the write buffer, all of one command, be in the
 * window. A command that is only partly there is fetched anew from its start,
 * so no command is ever pieced together from two looks at user memory.
 */
static int in_need(struct binder_thread *thread, const struct binder_write_read *bwr, u32 len)
{
	struct binder_in *in = &thread->in;
	u64 left = bwr->write_size - bwr->write_consumed;

	if (len > left)
		return -EFAULT;
	if (in->len - in->pos >= len)
		return 0;
	in->pos = 0;
	in->len = binder_host_read_user(thread, in->buf, bwr->write_buffer + bwr->write_consumed,
					min_t(u64, left, sizeof(in->buf)));
	return in->len >= len ? 0 : -EFAULT;
}

static int command_next(struct binder_thread *thread, const struct binder_write_read *bwr, u32 *cmd,
			union payload *payload)
{
	struct binder_in *in = &thread->in;
	u32 len;
	int ret;

	ret = in_need(thread, bwr, sizeof(*cmd));
	if (ret)
		return ret;
	memcpy(cmd, in->buf + in->pos, sizeof(*cmd));
	/* Before its payload is asked for, which an unknown one need not have. */
	if (!command_known(*cmd))
		return -EINVAL;
	len = sizeof(*cmd) + _IOC_SIZE(*cmd);
	ret = in_need(thread, bwr, len);
	if (ret)
		return ret;
	/* The window may have been fetched again: the word with its payload counts. */
	if (memcmp(cmd, in->buf + in->pos, sizeof(*cmd)))
		return -EINVAL;
	memcpy(payload, in->buf + in->pos + sizeof(*cmd), len - sizeof(*cmd));
	return 0;
}

static int command_run(struct binder_thread *thread, u32 cmd, const union payload *p)
{
	switch (cmd) {
	case BC_TRANSACTION:
		binder_transaction_call(thread, &p->tr, 0);
		return 0;
	case BC_TRANSACTION_SG:
		binder_transaction_call(thread, &p->sg.transaction_data, p->sg.buffers_size);
		return 0;
	case BC_REPLY:
		binder_transaction_reply(thread, &p->tr, 0);
		return 0;
	case BC_REPLY_SG:
		binder_transaction_reply(thread, &p->sg.transaction_data, p->sg.buffers_size);
		return 0;
	case BC_FREE_BUFFER:
		binder_transaction_free_buffer(thread, p->ptr);
		return 0;
	case BC_INCREFS:
	case BC_ACQUIRE:
	case BC_RELEASE:
	case BC_DECREFS:
		return binder_ref_command(thread, cmd, p->handle);
	case BC_INCREFS_DONE:
	case BC_ACQUIRE_DONE:
		binder_node_done(thread, cmd, p->ptr_cookie.ptr, p->ptr_cookie.cookie);
		return 0;
	case BC_REGISTER_LOOPER:
		binder_thread_register_looper(thread);
		return 0;
	case BC_ENTER_LOOPER:
		binder_thread_enter_looper(thread);
		return 0;
	case BC_EXIT_LOOPER:
		binder_thread_exit_looper(thread);
		return 0;
	case BC_REQUEST_DEATH_NOTIFICATION:
		binder_death_request(thread, p->handle_cookie.handle, p->handle_cookie.cookie);
		return 0;
	case BC_CLEAR_DEATH_NOTIFICATION:
		binder_death_clear(thread, p->handle_cookie.handle, p->handle_cookie.cookie);
		return 0;
	case BC_DEAD_BINDER_DONE:
		binder_death_done(thread, p->ptr);
		return 0;
	case BC_REQUEST_FREEZE_NOTIFICATION:
	case BC_CLEAR_FREEZE_NOTIFICATION:
	case BC_FREEZE_NOTIFICATION_DONE:
		return binder_freeze_command(thread, cmd);
	default:
		return -EINVAL;
	}
}

/**
 * binder_write() - the write half of BINDER_WRITE_READ
 * @thread: the caller
 * @bwr: write_consumed moves past each command that was taken
 *
 * Stops early when a command left an error to be read (uapi 1.7).
 *
 * Context: may sleep; no locks held.
 * Return: 0; -EINVAL for an unknown or forbidden command, -EFAULT for one that
 * is cut off or cannot be read: it is not consumed, the ones before are.
 */
int binder_write(struct binder_thread *thread, struct binder_write_read *bwr)
{
	union payload payload;
	u32 cmd;
	int ret;

	thread->in.pos = 0;
	thread->in.len = 0;
	while (bwr->write_consumed < bwr->write_size && thread->return_error.cmd == BR_OK) {
		ret = command_next(thread, bwr, &cmd, &payload);
		if (ret)
			return ret;
		trace_binder_command(cmd);
		binder_stats_bc(thread->proc, cmd);
		ret = command_run(thread, cmd, &payload);
		if (ret)
			return ret;
		thread->in.pos += sizeof(cmd) + _IOC_SIZE(cmd);
		bwr->write_consumed += sizeof(cmd) + _IOC_SIZE(cmd);
	}
	return 0;
}
