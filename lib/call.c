// SPDX-License-Identifier: MIT
/* Calling others. One ioctl a call: send, and wait for the reply. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int call_queue(struct ab_thread *self, uint32_t handle, uint32_t code, uint32_t flags,
		      const ab_parcel *in)
{
	struct binder_transaction_data tr = {
		.target.handle = handle,
		.code = code,
		.flags = flags,
		.data_size = in->size,
		.offsets_size = in->nr_offsets * sizeof(binder_size_t),
		.data.ptr.buffer = (uintptr_t)in->data,
		.data.ptr.offsets = (uintptr_t)in->offsets,
	};
	int ret;

	if (in->error)
		return in->error;
	ret = ab_thread_put(self, BC_TRANSACTION, &tr, sizeof(tr));
	if (!ret)
		self->completions++;
	return ret;
}

/* An error in place of an answer, or 0. */
static int call_error(struct ab_thread *self, uint32_t cmd)
{
	if (cmd != BR_DEAD_REPLY && cmd != BR_FAILED_REPLY && cmd != BR_FROZEN_REPLY)
		return 0;
	if (self->completions)
		self->completions--;
	return cmd == BR_DEAD_REPLY ? -EPIPE : -ECOMM;
}

/* A reply: a parcel, or a status in place of one. */
static int reply_take(struct ab_thread *self, const struct binder_transaction_data *tr,
		      ab_parcel **out)
{
	ab_parcel reply, *copy;
	int32_t status = 0;

	ab_parcel_received(&reply, self->conn, tr);
	if (tr->flags & TF_STATUS_CODE) {
		if (ab_read_int32(&reply, &status) || status >= 0)
			status = -EBADMSG;
	} else if (out) {
		copy = ab_parcel_new();
		if (copy) {
			*copy = reply;
			*out = copy;
			return 0;
		}
		status = -ENOMEM;
	}
	ab_parcel_fini(&reply);
	return status;
}

int ab_call(ab_conn *conn, uint32_t handle, uint32_t code, ab_parcel *in, ab_parcel **out)
{
	struct ab_thread *self = ab_thread_self(conn);
	struct binder_transaction_data tr;
	const uint8_t *payload;
	uint32_t cmd;
	int ret;

	if (out)
		*out = NULL;
	ret = self ? call_queue(self, handle, code, TF_ACCEPT_FDS, in) : -ENOMEM;
	while (!ret) {
		ret = ab_thread_next(self, &cmd, &payload);
		if (ret == -EINTR || ret == -ECANCELED) {
			ret = 0; /* sent once; go on waiting */
			continue;
		}
		if (ret) {
			ab_thread_withdraw(self, BC_TRANSACTION);
			break;
		}
		if (cmd == BR_REPLY) {
			memcpy(&tr, payload, sizeof(tr));
			return reply_take(self, &tr, out);
		}
		ret = call_error(self, cmd);
		if (!ret)
			ret = ab_thread_handle(self, cmd, payload);
	}
	return ret;
}

int ab_call_oneway(ab_conn *conn, uint32_t handle, uint32_t code, ab_parcel *in)
{
	struct ab_thread *self = ab_thread_self(conn);
	const uint8_t *payload;
	uint32_t cmd;
	int ret;

	ret = self ? call_queue(self, handle, code, TF_ONE_WAY, in) : -ENOMEM;
	while (!ret && self->completions) {
		ret = ab_thread_next(self, &cmd, &payload);
		if (ret == -EINTR || ret == -ECANCELED) {
			ret = 0;
			continue;
		}
		if (ret) {
			ab_thread_withdraw(self, BC_TRANSACTION);
			break;
		}
		ret = call_error(self, cmd);
		if (!ret)
			ret = ab_thread_handle(self, cmd, payload);
	}
	return ret;
}

static int handle_command(ab_conn *conn, uint32_t cmd, uint32_t handle)
{
	struct ab_thread *self = ab_thread_self(conn);

	return self ? ab_thread_put(self, cmd, &handle, sizeof(handle)) : -ENOMEM;
}

int ab_acquire(ab_conn *conn, uint32_t handle)
{
	return handle_command(conn, BC_ACQUIRE, handle);
}

int ab_release(ab_conn *conn, uint32_t handle)
{
	return handle_command(conn, BC_RELEASE, handle);
}
