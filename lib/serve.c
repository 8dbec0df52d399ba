// SPDX-License-Identifier: MIT
/* What a thread does with what it hears: calls to our objects, and all that is no answer. */
#include "objects.h"

#include <stdlib.h>
#include <string.h>

/* ---- replies ------------------------------------------------------------------ */

static struct ab_reply *reply_begin(struct ab_thread *self)
{
	struct ab_reply *reply;

	/* An earlier reply may still be unsent, after a write that ended early. */
	if (self->replied)
		ab_thread_flush(self);
	reply = self->replied ? NULL : self->idle_replies;
	if (reply) {
		self->idle_replies = reply->next;
	} else {
		reply = calloc(1, sizeof(*reply));
		if (!reply)
			return NULL;
		ab_parcel_init(&reply->parcel, self->conn);
	}
	ab_parcel_reset(&reply->parcel);
	reply->next = self->replies;
	self->replies = reply;
	return reply;
}

/* Its memory stays as it is: the reply leaves with the next ioctl only. */
static void reply_end(struct ab_thread *self, struct ab_reply *reply, bool queued)
{
	struct ab_reply **list = &self->idle_replies;

	self->replies = reply->next;
	if (queued && reply->parcel.nr_offsets) {
		list = &self->sent;
		reply->due = self->completions;
	}
	reply->next = *list;
	*list = reply;
}

/* Let go of what the replies pin whose completion came, or of all. */
static void sent_done(struct ab_thread *self, bool all)
{
	struct ab_reply **link = &self->sent, *reply;

	self->dooming = true;
	while ((reply = *link)) {
		if (!all && --reply->due) {
			link = &reply->next;
			continue;
		}
		*link = reply->next;
		ab_parcel_reset(&reply->parcel);
		reply->next = self->idle_replies;
		self->idle_replies = reply;
	}
	self->dooming = false;
}

/** ab_thread_completed() - the oldest of the calls and replies that were due is complete */
void ab_thread_completed(struct ab_thread *self)
{
	if (!self->completions)
		return;
	self->completions--;
	if (self->sent)
		sent_done(self, false);
}

/* A status goes out of memory that stays: the reply's, or the thread's when it has none. */
static bool reply_queue(struct ab_thread *self, struct ab_reply *reply, int status)
{
	struct binder_transaction_data tr = { 0 };
	int32_t *word = reply ? &reply->status : &self->emergency;

	if (!status)
		status = reply->parcel.error;
	if (status) {
		*word = status < 0 ? status : AB_UNKNOWN_ERROR;
		tr.flags = TF_STATUS_CODE;
		tr.data.ptr.buffer = (uintptr_t)word;
		tr.data_size = sizeof(*word);
	} else {
		ab_parcel *parcel = &reply->parcel;

		tr.data.ptr.buffer = (uintptr_t)parcel->data;
		tr.data.ptr.offsets = (uintptr_t)parcel->offsets;
		tr.data_size = parcel->size;
		tr.offsets_size = parcel->nr_offsets * sizeof(binder_size_t);
		if (parcel->sensitive)
			tr.flags = TF_CLEAR_BUF;
	}
	/*
	 * What a reply with objects lets go of must not wait for the next call. And
	 * a thread that polls hears of no call while it has a completion to read.
	 */
	if (!tr.offsets_size && !self->dispatching && !(self->conn->flags & AB_OPEN_NO_DEFER))
		tr.flags |= TF_DEFER_COMPLETE;
	if (ab_thread_put(self, BC_REPLY, &tr, sizeof(tr)))
		return false;
	self->completions++;
	self->replied = true;
	return !status;
}

/* ---- calls ---------------------------------------------------------------------- */

static int serve_object(const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int status;

	/* It may be gone: a weak reference became a strong one too late. */
	if (!ab_object_try_get(info->object))
		return -EPIPE;
	status = ab_object_transact(info->object, info, in, out);
	ab_object_put(info->object);
	return status;
}

static void serve(struct ab_thread *self, const struct binder_transaction_data *tr,
		  const char *security_context)
{
	struct ab_call_info info = {
		.object = (ab_object *)(uintptr_t)tr->cookie, .code = tr->code, .flags = tr->flags,
		.oneway = tr->flags & TF_ONE_WAY, .pid = tr->sender_pid, .euid = tr->sender_euid,
		.security_context = security_context,
	};
	struct ab_reply *reply = reply_begin(self);
	bool queued = false;
	int status = -ENOMEM;
	ab_parcel in;

	/* The driver gives a thread no new call before it has told it all the rest. */
	if (!self->calls && !self->out_len) {
		self->completions = 0;
		sent_done(self, true);
	}
	self->buffers++;
	ab_parcel_received(&in, self->conn, tr);
	if (reply)
		status = serve_object(&info, &in, &reply->parcel);
	ab_parcel_fini(&in);
	if (!info.oneway)
		queued = reply_queue(self, reply, status);
	if (!reply)
		return;
	if (!queued)
		ab_parcel_reset(&reply->parcel);
	reply_end(self, reply, queued);
}

/* ---- the rest --------------------------------------------------------------------- */

static void serve_secctx(struct ab_thread *self, const uint8_t *payload)
{
	struct binder_transaction_data_secctx tr;

	memcpy(&tr, payload, sizeof(tr));
	serve(self, &tr.transaction_data, (const char *)(uintptr_t)tr.secctx);
}

/**
 * ab_thread_handle() - all returns that are not the answer to something this thread waits for
 * @self: the thread, inside a loop or call
 * @cmd: BR_...
 * @payload: its payload
 *
 * Return: 0; the driver's error.
 */
int ab_thread_handle(struct ab_thread *self, uint32_t cmd, const uint8_t *payload)
{
	struct binder_transaction_data tr;
	struct binder_ptr_cookie name;
	uint64_t cookie;

	switch (cmd) {
	case BR_TRANSACTION:
		memcpy(&tr, payload, sizeof(tr));
		serve(self, &tr, NULL);
		return 0;
	case BR_TRANSACTION_SEC_CTX:
		serve_secctx(self, payload);
		return 0;
	case BR_TRANSACTION_COMPLETE:
	case BR_ONEWAY_SPAM_SUSPECT:
	case BR_TRANSACTION_PENDING_FROZEN:
	case BR_FAILED_REPLY:
	case BR_DEAD_REPLY:
	case BR_FROZEN_REPLY:
		/* Errors are about a reply: calls look for their own first. */
		ab_thread_completed(self);
		return 0;
	case BR_SPAWN_LOOPER:
		ab_pool_spawn(self->conn);
		return 0;
	case BR_INCREFS:
	case BR_ACQUIRE:
	case BR_RELEASE:
	case BR_DECREFS:
		memcpy(&name, payload, sizeof(name));
		ab_local_driver(self, cmd, &name);
		return 0;
	case BR_DEAD_BINDER:
		memcpy(&cookie, payload, sizeof(cookie));
		ab_death_fire(self, cookie);
		return 0;
	default:
		/* BR_NOOP, BR_ERROR, BR_CLEAR_DEATH_NOTIFICATION_DONE, and what is to come */
		return 0;
	}
}
