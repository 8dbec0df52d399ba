// SPDX-License-Identifier: MIT
/*
 * A thread's conversation with the driver. Commands gather in self->out and
 * leave with the thread's next ioctl; a reply is one of them, so that a served
 * call costs one ioctl: free the request, reply, wait for the next.
 */
#include "objects.h"

#include <stdlib.h>
#include <string.h>

/* ---- what it says ------------------------------------------------------------- */

/**
 * ab_thread_reserve() - make sure that ab_thread_put() has room
 * @self: the thread
 * @len: bytes of commands and payloads to come
 *
 * Return: 0; -ENOMEM, though the driver took what it could.
 */
int ab_thread_reserve(struct ab_thread *self, size_t len)
{
	size_t need = self->out_len + len;
	uint8_t *out;

	if (need <= self->out_capacity)
		return 0;
	out = realloc(self->out, 2 * need);
	if (out) {
		self->out = out;
		self->out_capacity = 2 * need;
		return 0;
	}
	ab_thread_flush(self);
	return self->out_len + len <= self->out_capacity ? 0 : -ENOMEM;
}

/** ab_thread_put() - append a command, for the next ioctl. Return: 0; -ENOMEM. */
int ab_thread_put(struct ab_thread *self, uint32_t cmd, const void *payload, size_t len)
{
	int ret = ab_thread_reserve(self, sizeof(cmd) + len);

	if (ret)
		return ret;
	memcpy(self->out + self->out_len, &cmd, sizeof(cmd));
	if (len)
		memcpy(self->out + self->out_len + sizeof(cmd), payload, len);
	self->out_len += sizeof(cmd) + len;
	return 0;
}

static void out_cut(struct ab_thread *self, size_t pos, size_t len)
{
	self->out_len -= len;
	memmove(self->out + pos, self->out + pos + len, self->out_len - pos);
}

/** ab_thread_withdraw() - take back commands @cmd that have not left: what they need goes away. */
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
		out_cut(self, pos, len);
		if (self->completions)
			self->completions--;
	}
}

/* One it will never take must not stand in the way of what comes after. */
static void out_refused(struct ab_thread *self)
{
	uint32_t cmd;

	memcpy(&cmd, self->out, sizeof(cmd));
	out_cut(self, 0, sizeof(cmd) + _IOC_SIZE(cmd));
	if ((cmd == BC_TRANSACTION || cmd == BC_REPLY) && self->completions)
		self->completions--;
}

/**
 * ab_thread_talk() - one ioctl: send what waits, and read if @wait
 * @self: the thread; unless @wait its unread returns stay
 * @wait: read, too, and wait for something to read
 *
 * Return: 0; -EINTR; the driver's error.
 */
int ab_thread_talk(struct ab_thread *self, bool wait)
{
	struct binder_write_read bwr;
	int ret;

	if (wait && self->pending)
		ab_pending_before(self);
	bwr = (struct binder_write_read){
		.write_buffer = (uintptr_t)self->out,
		.write_size = self->out_len,
		.read_buffer = (uintptr_t)self->in,
		.read_size = wait ? sizeof(self->in) : 0,
	};
	ret = ab_conn_ioctl(self->conn, BINDER_WRITE_READ, &bwr);
	/* The driver stops writing at a failed transaction, for us to read of it. */
	if (bwr.write_consumed)
		out_cut(self, 0, bwr.write_consumed);
	if (self->out_len && (ret == -EINVAL || ret == -EFAULT))
		out_refused(self);
	if (!self->out_len)
		self->replied = self->urgent = false;
	if (wait) {
		self->in_pos = 0;
		self->in_len = bwr.read_consumed;
	}
	if (self->pending)
		ab_pending_after(self);
	return ret;
}

/** ab_thread_flush() - send what waits, read nothing. Return: 0; the driver's error. */
int ab_thread_flush(struct ab_thread *self)
{
	int ret = 0;

	while (self->out_len && !ret) {
		size_t before = self->out_len;

		ret = ab_thread_talk(self, false);
		if (ret == -EINTR)
			ret = 0; /* what was not taken is offered again */
		else if (self->out_len == before)
			break;
	}
	return ret;
}

int ab_flush(ab_conn *conn)
{
	struct ab_thread *self;
	int ret = ab_thread_self(conn, &self);

	return ret ? ret : ab_thread_flush(self);
}

/* ---- what it hears ------------------------------------------------------------ */

/**
 * ab_thread_next() - the next return, from the last ioctl or a new one
 * @self: the thread
 * @cmd: receives it
 * @payload: receives where its payload is, until the next ioctl
 *
 * Return: 0; -EINTR after a signal; -ECANCELED: a loop is to stop; the driver's error.
 */
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

/**
 * ab_thread_drain() - deal with unread returns, so that what is said next comes after that
 * @self: the thread, not waiting for an answer
 *
 * Return: 0; the driver's error.
 */
int ab_thread_drain(struct ab_thread *self)
{
	const uint8_t *payload;
	uint32_t cmd;
	int ret = 0;

	while (!ret && self->in_pos < self->in_len) {
		ret = ab_thread_next(self, &cmd, &payload);
		if (!ret)
			ret = ab_thread_handle(self, cmd, payload);
	}
	return ret;
}

/**
 * ab_thread_settle() - run what had to wait until the program's functions may make calls
 * @self: the thread: not waiting for an answer, all its returns read
 */
void ab_thread_settle(struct ab_thread *self)
{
	/* Who waits for a reply does not wait for this. */
	if ((self->doomed || self->mourned) && self->replied)
		ab_thread_flush(self);
	while (self->doomed || self->mourned) {
		struct ab_local *local = self->doomed;
		struct ab_proxy *proxy = self->mourned;

		if (local) {
			self->doomed = local->next_doomed;
			ab_local_destroy(local);
		} else {
			self->mourned = proxy->next_mourned;
			ab_death_mourn(self->conn, proxy);
		}
	}
}

/* Out of the last loop or call: nothing may lie around until the next. */
static void thread_idle(struct ab_thread *self)
{
	self->depth++;
	do {
		ab_thread_drain(self);
		ab_thread_settle(self);
	} while (self->in_pos < self->in_len);
	self->depth--;
	if (self->urgent || self->replied)
		ab_thread_flush(self);
	if (atomic_load(&self->conn->closed))
		ab_thread_drop(self->conn);
}

/**
 * ab_thread_leave() - a loop or call, begun with depth++, has ended
 * @self: the thread; may be gone after this
 */
void ab_thread_leave(struct ab_thread *self)
{
	if (--self->depth)
		return;
	if (self->in_pos < self->in_len || self->urgent || self->replied || self->doomed ||
	    self->mourned ||
	    atomic_load_explicit(&self->conn->closed, memory_order_relaxed))
		thread_idle(self);
}
