// SPDX-License-Identifier: MIT
/* The service: services/sample.h's calls, answered over libgbinder, and some more. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gbinder_peer.h"
#include "sample.h"

#define EX_ILLEGAL_ARGUMENT (-3)

static int one_ways;

static GBinderLocalReply *status_reply(GBinderLocalObject *self)
{
	return gbinder_local_reply_append_int32(gbinder_local_object_new_reply(self), 0);
}

static GBinderLocalReply *echo(GBinderLocalObject *self, GBinderReader *in)
{
	char *text = gbinder_reader_read_string16(in);
	GBinderLocalReply *reply = status_reply(self);

	gbinder_local_reply_append_string16(reply, text);
	g_free(text);
	return reply;
}

static GBinderLocalReply *add(GBinderLocalObject *self, GBinderReader *in)
{
	GBinderLocalReply *reply;
	gint32 a = 0, b = 0, sum;

	if (!gbinder_reader_read_int32(in, &a) || !gbinder_reader_read_int32(in, &b))
		return NULL;
	if (!__builtin_add_overflow(a, b, &sum))
		return gbinder_local_reply_append_int32(status_reply(self), sum);
	reply = gbinder_local_object_new_reply(self);
	gbinder_local_reply_append_int32(reply, EX_ILLEGAL_ARGUMENT);
	gbinder_local_reply_append_string16(reply, "the sum is too large");
	return gbinder_local_reply_append_int32(reply, 0); /* no stack trace */
}

static GBinderLocalReply *who(GBinderLocalObject *self, GBinderRemoteRequest *request)
{
	GBinderLocalReply *reply = status_reply(self);

	gbinder_local_reply_append_int32(reply, gbinder_remote_request_sender_pid(request));
	return gbinder_local_reply_append_int32(reply,
						gbinder_remote_request_sender_euid(request));
}

static GBinderLocalReply *call_back(GBinderLocalObject *self, GBinderReader *in)
{
	GBinderRemoteObject *listener = gbinder_reader_read_object(in);
	GBinderLocalRequest *hello;
	GBinderClient *client;

	if (!listener)
		return NULL;
	client = gbinder_client_new(listener, SAMPLE_LISTENER_INTERFACE);
	hello = gbinder_client_new_request(client);
	gbinder_local_request_append_string16(hello, "hello from libgbinder");
	gbinder_client_transact_sync_oneway(client, SAMPLE_HELLO, hello);
	gbinder_local_request_unref(hello);
	gbinder_client_unref(client);
	gbinder_remote_object_unref(listener);
	return status_reply(self);
}

static GBinderLocalReply *bytes(GBinderLocalObject *self, GBinderReader *in)
{
	gsize size = 0;
	const void *data = gbinder_reader_read_byte_array(in, &size);
	GBinderLocalReply *reply = status_reply(self);
	GBinderWriter out;

	gbinder_local_reply_init_writer(reply, &out);
	gbinder_writer_append_byte_array(&out, data, (gint32)size);
	return reply;
}

static GBinderLocalReply *object(GBinderLocalObject *self, GBinderReader *in)
{
	GBinderRemoteObject *got = NULL;
	GBinderLocalReply *reply;

	if (!gbinder_reader_read_nullable_object(in, &got))
		return NULL;
	reply = status_reply(self);
	gbinder_local_reply_append_remote_object(reply, got);
	gbinder_remote_object_unref(got);
	return reply;
}

static GBinderLocalReply *count(GBinderLocalObject *self, guint flags)
{
	if (!(flags & GBINDER_TX_FLAG_ONEWAY))
		return gbinder_local_reply_append_int32(status_reply(self), one_ways);
	one_ways++;
	return NULL;
}

static GBinderLocalReply *serve(GBinderLocalObject *self, GBinderRemoteRequest *request, guint code,
				guint flags, int *status, void *data)
{
	const char *interface = gbinder_remote_request_interface(request);
	GBinderLocalReply *reply = NULL;
	GBinderReader in;

	*status = GBINDER_STATUS_OK;
	gbinder_remote_request_init_reader(request, &in);
	if (g_strcmp0(interface, SAMPLE_INTERFACE))
		code = 0;
	if (code == SAMPLE_ECHO)
		reply = echo(self, &in);
	else if (code == SAMPLE_ADD)
		reply = add(self, &in);
	else if (code == SAMPLE_WHO)
		reply = who(self, request);
	else if (code == SAMPLE_CALL_BACK)
		reply = call_back(self, &in);
	else if (code == PEER_BYTES)
		reply = bytes(self, &in);
	else if (code == PEER_OBJECT)
		reply = object(self, &in);
	else if (code == PEER_COUNT)
		return count(self, flags);
	else if (code == PEER_QUIT)
		_exit(0);
	if (!reply)
		*status = -EBADMSG;
	return reply;
}

struct service {
	struct peer *peer;
	GBinderLocalObject *object;
};

static void offer(GBinderServiceManager *manager, void *data)
{
	struct service *s = data;

	if (gbinder_servicemanager_is_present(manager))
		peer_say("served %d", gbinder_servicemanager_add_service_sync(
			 manager, s->peer->name, s->object));
	else
		peer_say("no manager");
}

int peer_serve(struct peer *p)
{
	struct service s = { .peer = p };
	gulong id;

	s.object = gbinder_servicemanager_new_local_object(p->manager, SAMPLE_INTERFACE, serve, p);
	id = gbinder_servicemanager_add_presence_handler(p->manager, offer, &s);
	offer(p->manager, &s);
	g_main_loop_run(p->loop);
	gbinder_servicemanager_remove_handler(p->manager, id);
	gbinder_local_object_unref(s.object);
	return 0;
}
