// SPDX-License-Identifier: MIT
/*
 * A thread's conversation with the driver. Commands gather in self->out and
 * leave with the thread's next ioctl; a reply is one of them, so that a served
 * call costs one ioctl: free the request, reply, wait for the next.
 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *pool_thread(void *data);

void ab_thread_fini(struct ab_thread *self)
{
	struct ab_reply *reply;

	while ((reply = self->replies ? self->replies : self->idle_replies)) {
		if (self->replies)
			self->replies = reply->deeper;
		else
			self->idle_replies = reply->deeper;
		ab_parcel_fini(&reply->parcel);
		free(reply);
	}
	free(self->out);
	free(self);
}

/* Append a command. It leaves with the next ioctl. */
int ab_thread_put(struct ab_thread *self, uint32_t cmd, const void *payload, size_t len)
{
	size_t need = self->out_len + sizeof(cmd) + len;

	if (need > self->out_capacity) {
		uint8_t *out = realloc(self->out, 2 * need);

		if (!out)
			return -ENOMEM;
		self->out = out;
		self->out_capacity = 2 * need;
	}
	memcpy(self->out + self->out_len, &cmd, sizeof(cmd));
	if (len)
		memcpy(self->out + self->out_len + sizeof(cmd), payload, len);
	self->out_len = need;
	return 0;
}

static void out_consumed(struct ab_thread *self, size_t len)
{
	self->out_len -= len;
	memmove(self->out, self->out + len, self->out_len);
}

/* Take back commands @cmd that have not left: what they point to goes away. */
void ab_thread_withdraw(struct ab_thread *self, uint32_t cmd)
{
	size_t pos = 0;

	while (pos < self->out_len) {
		uint32_t at;
		size_t len;

		memcpy(&at, self->out + pos, sizeof(at));
		len = sizeof(at) + _IOC_SIZE(at);
		if (at != cmd) {
			pos += len;
			continue;
		}
		self->out_len -= len;
		memmove(self->out + pos, self->out + pos + len, self->out_len - pos);
		if (self->completions)
			self->completions--;
	}
}

/*
 * One ioctl: send what waits, and unless returns are still unread, read more.
 * @wait: read; else only send.
 */
int ab_thread_talk(struct ab_thread *self, bool wait)
{
	struct binder_write_read bwr = {
		.write_buffer = (uintptr_t)self->out,
		.write_size = self->out_len,
		.read_buffer = (uintptr_t)self->in,
		.read_size = wait ? sizeof(self->in) : 0,
	};
	int ret = ab_conn_ioctl(self->conn, BINDER_WRITE_READ, &bwr);

	/* The driver stops writing at a failed transaction, for us to read of it. */
	out_consumed(self, bwr.write_consumed);
	/* One it will never take must not stand in the way of what comes after. */
	if (self->out_len && (ret == -EINVAL || ret == -EFAULT)) {
		uint32_t cmd;

		memcpy(&cmd, self->out, sizeof(cmd));
		out_consumed(self, sizeof(cmd) + _IOC_SIZE(cmd));
		if ((cmd == BC_TRANSACTION || cmd == BC_REPLY) && self->completions)
			self->completions--;
	}
	self->in_pos = 0;
	self->in_len = bwr.read_consumed;
	return ret;
}

/* The next return, from the last ioctl or a new one. -EINTR after a signal. */
int ab_thread_next(struct ab_thread *self, uint32_t *cmd, const uint8_t **payload)
{
	while (self->in_pos >= self->in_len) {
		int ret = ab_thread_talk(self, true);

		if (ret)
			return ret;
		if (self->looper && atomic_load(&self->conn->stopping))
			break;
	}
	if (self->in_pos >= self->in_len)
		return -ECANCELED;
	memcpy(cmd, self->in + self->in_pos, sizeof(*cmd));
	*payload = self->in + self->in_pos + sizeof(*cmd);
	self->in_pos += sizeof(*cmd) + _IOC_SIZE(*cmd);
	return self->in_pos <= self->in_len ? 0 : -EPROTO;
}

/* ---- serving ------------------------------------------------------------ */

static struct ab_reply *reply_begin(struct ab_thread *self)
{
	struct ab_reply *reply;

	/* An earlier reply may still be unsent, after a write that ended early. */
	if (self->out_len)
		ab_flush(self->conn);
	reply = self->idle_replies;
	if (reply)
		self->idle_replies = reply->deeper;
	else
		reply = calloc(1, sizeof(*reply));
	if (!reply)
		return NULL;
	ab_parcel_reset(&reply->parcel);
	reply->deeper = self->replies;
	self->replies = reply;
	return reply;
}

/* Its memory stays as it is: the reply leaves with the next ioctl only. */
static void reply_end(struct ab_thread *self, struct ab_reply *reply)
{
	self->replies = reply->deeper;
	reply->deeper = self->idle_replies;
	self->idle_replies = reply;
}

static void reply_queue(struct ab_thread *self, struct ab_reply *reply, int status)
{
	struct binder_transaction_data tr = { 0 };
	ab_parcel *parcel = &reply->parcel;

	if (!status)
		status = parcel->error;
	if (status) {
		reply->status = status;
		tr.flags = TF_STATUS_CODE;
		tr.data.ptr.buffer = (uintptr_t)&reply->status;
		tr.data_size = sizeof(reply->status);
	} else {
		tr.data.ptr.buffer = (uintptr_t)parcel->data;
		tr.data.ptr.offsets = (uintptr_t)parcel->offsets;
		tr.data_size = parcel->size;
		tr.offsets_size = parcel->nr_offsets * sizeof(binder_size_t);
	}
	/* What a reply with objects lets go of must not wait for the next call. */
	if (!tr.offsets_size && !self->conn->no_defer)
		tr.flags |= TF_DEFER_COMPLETE;
	if (!ab_thread_put(self, BC_REPLY, &tr, sizeof(tr)))
		self->completions++;
}

static void serve(struct ab_thread *self, const struct binder_transaction_data *tr)
{
	ab_object *object = (ab_object *)(uintptr_t)tr->cookie;
	struct ab_call_info info = { .code = tr->code, .oneway = tr->flags & TF_ONE_WAY,
				     .pid = tr->sender_pid, .euid = tr->sender_euid };
	struct ab_reply *reply = reply_begin(self);
	int status = -ENOMEM;
	ab_parcel in;

	ab_parcel_received(&in, self->conn, tr);
	if (reply)
		status = object->fn(object->data, &info, &in,
				    info.oneway ? NULL : &reply->parcel);
	ab_parcel_fini(&in);
	if (!reply)
		return; /* the caller hears of it when this thread ends */
	if (!info.oneway)
		reply_queue(self, reply, status);
	reply_end(self, reply);
}

static void spawn(ab_conn *conn)
{
	pthread_t thread;

	pthread_mutex_lock(&conn->lock);
	if (conn->pool_size == conn->pool_capacity) {
		size_t capacity = conn->pool_capacity ? 2 * conn->pool_capacity : 16;
		pthread_t *pool = realloc(conn->pool, capacity * sizeof(*pool));

		if (!pool)
			goto out;
		conn->pool = pool;
		conn->pool_capacity = capacity;
	}
	if (!atomic_load(&conn->stopping) && !pthread_create(&thread, NULL, pool_thread, conn))
		conn->pool[conn->pool_size++] = thread;
out:
	pthread_mutex_unlock(&conn->lock);
}

static void reference(struct ab_thread *self, uint32_t cmd, const uint8_t *payload)
{
	struct binder_ptr_cookie name;
	ab_object *object;

	memcpy(&name, payload, sizeof(name));
	object = (ab_object *)(uintptr_t)name.cookie;
	if (cmd == BR_INCREFS || cmd == BR_ACQUIRE) {
		ab_object_get(object);
		ab_thread_put(self, cmd == BR_INCREFS ? BC_INCREFS_DONE : BC_ACQUIRE_DONE, &name,
			      sizeof(name));
	} else {
		ab_object_unref(object);
	}
}

/* All returns that are not the answer to something this thread waits for. */
int ab_thread_handle(struct ab_thread *self, uint32_t cmd, const uint8_t *payload)
{
	struct binder_transaction_data tr;
	uint64_t cookie;

	switch (cmd) {
	case BR_TRANSACTION:
		memcpy(&tr, payload, sizeof(tr));
		serve(self, &tr);
		return 0;
	case BR_TRANSACTION_COMPLETE:
	case BR_ONEWAY_SPAM_SUSPECT:
	case BR_TRANSACTION_PENDING_FROZEN:
	case BR_FAILED_REPLY:
	case BR_DEAD_REPLY:
		/* The last two are about a reply: ab_call() looks for its own first. */
		if (self->completions)
			self->completions--;
		return 0;
	case BR_SPAWN_LOOPER:
		spawn(self->conn);
		return 0;
	case BR_INCREFS:
	case BR_ACQUIRE:
	case BR_RELEASE:
	case BR_DECREFS:
		reference(self, cmd, payload);
		return 0;
	case BR_DEAD_BINDER:
		memcpy(&cookie, payload, sizeof(cookie));
		ab_death_fire(self, cookie);
		return 0;
	default:
		/* BR_NOOP and the like */
		return 0;
	}
}

static int loop(struct ab_thread *self, uint32_t enter)
{
	const uint8_t *payload;
	uint32_t cmd;
	int ret;

	ret = ab_thread_put(self, enter, NULL, 0);
	self->looper = true;
	/* A call that was read already is served: its caller waits. */
	while (!ret && (self->in_pos < self->in_len || !atomic_load(&self->conn->stopping))) {
		ret = ab_thread_next(self, &cmd, &payload);
		if (!ret)
			ret = ab_thread_handle(self, cmd, payload);
		else if (ret == -EINTR || ret == -EAGAIN)
			ret = 0;
	}
	self->looper = false;
	ab_thread_put(self, BC_EXIT_LOOPER, NULL, 0);
	ab_thread_talk(self, false);
	return ret == -ECANCELED ? 0 : ret;
}

static void *pool_thread(void *data)
{
	struct ab_thread *self = ab_thread_self(data);

	if (self)
		loop(self, BC_REGISTER_LOOPER);
	return NULL;
}

int ab_loop(ab_conn *conn)
{
	struct ab_thread *self = ab_thread_self(conn);

	return self ? loop(self, BC_ENTER_LOOPER) : -ENOMEM;
}

int ab_flush(ab_conn *conn)
{
	struct ab_thread *self = ab_thread_self(conn);
	int ret = 0;

	if (!self)
		return -ENOMEM;
	/* Unread returns stay: sending alone reads nothing. */
	while (self->out_len && !ret) {
		size_t before = self->out_len, pos = self->in_pos, len = self->in_len;

		ret = ab_thread_talk(self, false);
		self->in_pos = pos;
		self->in_len = len;
		if (ret == -EINTR)
			ret = 0; /* what was not taken is offered again */
		else if (self->out_len == before)
			break;
	}
	return ret;
}
