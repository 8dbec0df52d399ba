// SPDX-License-Identifier: MIT
/* Calling others. One ioctl a call: send, and wait for the reply. */
#include "objects.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- through the driver --------------------------------------------------------- */

static int call_queue(struct ab_thread *self, uint32_t handle, uint32_t code, uint32_t flags,
		      const ab_parcel *in)
{
	struct binder_transaction_data tr = {
		.target.handle = handle,
		.code = code,
		.flags = flags,
	};
	int ret;

	if (in) {
		tr.data_size = in->size;
		tr.offsets_size = in->nr_offsets * sizeof(binder_size_t);
		tr.data.ptr.buffer = (uintptr_t)in->data;
		tr.data.ptr.offsets = (uintptr_t)in->offsets;
		if (in->sensitive)
			tr.flags |= TF_CLEAR_BUF;
	}
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
	ab_thread_completed(self);
	return cmd == BR_DEAD_REPLY ? -EPIPE : -ECOMM;
}

/* A reply: a parcel, or a status in place of one. */
static int reply_take(struct ab_thread *self, const struct binder_transaction_data *tr,
		      ab_parcel **out)
{
	ab_parcel reply, *copy;
	int32_t status = 0;

	self->buffers++;
	ab_parcel_received(&reply, self->conn, tr);
	if (tr->flags & TF_STATUS_CODE) {
		if (ab_read_int32(&reply, &status) || status >= 0)
			status = AB_UNKNOWN_ERROR;
	} else if (out) {
		copy = malloc(sizeof(*copy));
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

/* Until the reply, or without one (one-way) until all that was sent is complete. */
static int call_wait(struct ab_thread *self, bool oneway, ab_parcel **out, bool *answered)
{
	struct binder_transaction_data tr;
	const uint8_t *payload;
	uint32_t cmd;
	int ret = 0;

	while (!ret && !(oneway && !self->completions)) {
		ret = ab_thread_next(self, &cmd, &payload);
		if (ret == -EINTR || ret == -ECANCELED || ret == -EAGAIN) {
			ret = 0; /* sent once; go on waiting */
			continue;
		}
		if (ret) {
			ab_thread_withdraw(self, BC_TRANSACTION);
			break;
		}
		if (cmd == BR_REPLY && !oneway) {
			memcpy(&tr, payload, sizeof(tr));
			*answered = true;
			return reply_take(self, &tr, out);
		}
		ret = call_error(self, cmd);
		if (!ret)
			ret = ab_thread_handle(self, cmd, payload);
	}
	return ret;
}

static int call(ab_conn *conn, const struct binder_transaction_data *what, const ab_parcel *in,
		ab_parcel **out, bool *answered)
{
	bool oneway = what->flags & TF_ONE_WAY;
	struct ab_thread *self;
	int ret = ab_thread_self(conn, &self);

	*answered = false;
	if (ret)
		return ret;
	self->depth++;
	/* A call that came in already must be answered first. */
	ret = ab_thread_drain(self);
	self->calls++;
	if (!ret)
		ret = call_queue(self, what->target.handle, what->code, what->flags, in);
	if (!ret)
		ret = call_wait(self, oneway, out, answered);
	self->calls--;
	ab_thread_leave(self);
	return ret;
}

/**
 * ab_handle_ping() - a ping without a proxy
 * @conn: the connection
 * @handle: of whom
 * @in: what it carries, NULL for nothing; whoever answers does not look at it
 * @answered: whether somebody answered, if only with an error
 *
 * Return: as ab_call().
 */
int ab_handle_ping(ab_conn *conn, uint32_t handle, const ab_parcel *in, bool *answered)
{
	struct binder_transaction_data what = { .target.handle = handle, .code = AB_META_PING,
						.flags = TF_ACCEPT_FDS };

	return call(conn, &what, in, NULL, answered);
}

/* ---- an object of ours: without it ------------------------------------------------ */

static int call_local(ab_object *object, uint32_t code, uint32_t flags, const ab_parcel *in,
		      ab_parcel **out)
{
	struct ab_call_info info = { .object = object, .code = code, .flags = flags,
				     .oneway = flags & TF_ONE_WAY, .euid = geteuid() };
	ab_parcel *reply, view;
	int ret = ab_conn_usable(object->conn);

	if (ret)
		return ret;
	reply = ab_parcel_new(object->conn);
	if (!reply)
		return -ENOMEM;
	info.pid = info.oneway ? 0 : getpid();
	/* Another place to read from the same bytes; what they pin remains @in's. */
	if (in)
		view = *in;
	else
		ab_parcel_init(&view, object->conn);
	view.pos = 0;
	ab_object_get(object);
	ret = ab_object_transact(object, &info, &view, reply);
	ab_object_put(object);
	if (!in)
		ab_parcel_fini(&view);
	if (!ret)
		ret = reply->error;
	if (ret > 0)
		ret = AB_UNKNOWN_ERROR;
	if (!ret && out)
		*out = reply;
	else
		ab_parcel_free(reply);
	return info.oneway ? 0 : ret;
}

/* ---- either --------------------------------------------------------------------- */

static int call_object(ab_object *object, uint32_t code, uint32_t flags, ab_parcel *in,
		       ab_parcel **out)
{
	struct binder_transaction_data what = { .code = code, .flags = flags };
	bool answered;

	if (in && in->error)
		return in->error;
	/* Handles mean something on their own connection only. */
	if (in && in->nr_offsets && in->home && in->home != object->conn)
		return -EXDEV;
	if (!object->remote)
		return call_local(object, code, flags, in, out);
	if (ab_object_is_dead(object))
		return -EPIPE;
	what.target.handle = ab_proxy(object)->handle;
	return call(object->conn, &what, in, out, &answered);
}

int ab_call(ab_object *object, uint32_t code, ab_parcel *in, ab_parcel **out)
{
	if (out)
		*out = NULL;
	return call_object(object, code, TF_ACCEPT_FDS, in, out);
}

int ab_call_oneway(ab_object *object, uint32_t code, ab_parcel *in)
{
	return call_object(object, code, TF_ONE_WAY, in, NULL);
}

int ab_ping(ab_object *object)
{
	return ab_call(object, AB_META_PING, NULL, NULL);
}

int ab_interface(ab_object *object, char **name)
{
	ab_parcel *out;
	int ret;

	*name = NULL;
	ret = ab_call(object, AB_META_INTERFACE, NULL, &out);
	if (!ret)
		ret = ab_read_string16(out, name);
	ab_parcel_free(out);
	return ret;
}

/* ---- dump ------------------------------------------------------------------------- */

static int dump_call(ab_object *object, int fd, const char *const *args, size_t nr_args,
		     ab_parcel **out)
{
	static const char *const none[1];
	ab_parcel *in = ab_parcel_new(object->conn);
	int ret;

	if (!in)
		return -ENOMEM;
	if (fd >= 0)
		ab_write_fd(in, fd);
	else
		ab_write_int32(in, -1); /* as text, please */
	ab_write_string16_array(in, nr_args ? args : none, nr_args);
	ret = ab_call(object, AB_META_DUMP, in, out);
	ab_parcel_free(in);
	return ret;
}

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t got = write(fd, text, left);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0) {
			text += got;
			left -= (size_t)got;
		}
	}
	return 0;
}

int ab_dump(ab_object *object, int fd, const char *const *args, size_t nr_args)
{
	char *text = NULL;
	ab_parcel *out;
	int ret;

	if (fd < 0)
		return -EBADF;
	ret = dump_call(object, fd, args, nr_args, NULL);
	if (ret != -ECOMM)
		return ret;
	/* A driver that passes no descriptors. */
	ret = dump_call(object, -1, args, nr_args, &out);
	if (!ret)
		ret = ab_read_string8(out, &text);
	ab_parcel_free(out);
	if (!ret)
		ret = write_all(fd, text);
	free(text);
	return ret;
}
