// SPDX-License-Identifier: MIT
/* The client: one function for each step, which calls and says what came back. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gbinder_peer.h"
#include "sample.h"

#define TEXT "h\xc3\xa9llo, \xf0\x9f\x93\xa6"
#define LONG_SIZE 200000 /* UTF-16 units, so twice that in bytes */
#define BYTES_SIZE 600000
#define ONE_WAYS 20
#define OBJECTS 2000
#define META_DUMP GBINDER_FOURCC('_', 'D', 'M', 'P')

struct use {
	struct peer *peer;
	GBinderRemoteObject *service;
	GBinderClient *client;
	char *heard;
};

static GBinderLocalRequest *request(struct use *u)
{
	return gbinder_client_new_request(u->client);
}

/* Send and forget @in. @out is after the status of the reply. Return: the reply, NULL and words. */
static GBinderRemoteReply *call(struct use *u, guint32 code, GBinderLocalRequest *in,
				GBinderReader *out, char **words)
{
	GBinderRemoteReply *reply;
	gint32 exception = -1000;
	char *message;
	int status = 0;

	reply = gbinder_client_transact_sync_reply(u->client, code, in, &status);
	gbinder_local_request_unref(in);
	if (!reply || status) {
		*words = g_strdup_printf("status %d", status);
		gbinder_remote_reply_unref(reply);
		return NULL;
	}
	gbinder_remote_reply_init_reader(reply, out);
	gbinder_reader_read_int32(out, &exception);
	if (!exception)
		return reply;
	message = gbinder_reader_read_string16(out);
	*words = g_strdup_printf("exception %d %s", exception, message ? message : "");
	g_free(message);
	gbinder_remote_reply_unref(reply);
	return NULL;
}

/* ---- what the sample service does ------------------------------------------------------- */

static char *echo(struct use *u, const char *text)
{
	GBinderLocalRequest *in = request(u);
	GBinderRemoteReply *reply;
	GBinderReader out;
	char *words;

	gbinder_local_request_append_string16(in, text);
	reply = call(u, SAMPLE_ECHO, in, &out, &words);
	if (!reply)
		return words;
	words = gbinder_reader_read_string16(&out);
	gbinder_remote_reply_unref(reply);
	return words ? words : g_strdup("null");
}

static char *step_echo(struct use *u)
{
	return echo(u, TEXT);
}

static char *step_long(struct use *u)
{
	char *text = g_strnfill(LONG_SIZE, 'x');
	char *back = echo(u, text);
	bool same = !strcmp(text, back);

	g_free(text);
	if (!same)
		return back;
	g_free(back);
	return g_strdup("same");
}

static char *add(struct use *u, gint32 a, gint32 b)
{
	GBinderLocalRequest *in = request(u);
	GBinderRemoteReply *reply;
	GBinderReader out;
	gint32 sum = -1;
	char *words;

	gbinder_local_request_append_int32(in, a);
	gbinder_local_request_append_int32(in, b);
	reply = call(u, SAMPLE_ADD, in, &out, &words);
	if (!reply)
		return words;
	gbinder_reader_read_int32(&out, &sum);
	gbinder_remote_reply_unref(reply);
	return g_strdup_printf("%d", sum);
}

static char *step_add(struct use *u)
{
	return add(u, 40, 2);
}

static char *step_overflow(struct use *u)
{
	return add(u, G_MAXINT32, 1);
}

static char *step_who(struct use *u)
{
	gint32 pid = -1, euid = -1;
	GBinderRemoteReply *reply;
	GBinderReader out;
	char *words;

	reply = call(u, SAMPLE_WHO, request(u), &out, &words);
	if (!reply)
		return words;
	gbinder_reader_read_int32(&out, &pid);
	gbinder_reader_read_int32(&out, &euid);
	gbinder_remote_reply_unref(reply);
	if (pid == getpid() && euid == (gint32)geteuid())
		return g_strdup("me");
	return g_strdup_printf("pid %d, euid %d", pid, euid);
}

static GBinderLocalReply *hear(GBinderLocalObject *self, GBinderRemoteRequest *in, guint code,
			       guint flags, int *status, void *data)
{
	struct use *u = data;

	if (code == SAMPLE_HELLO && (flags & GBINDER_TX_FLAG_ONEWAY))
		u->heard = gbinder_remote_request_read_string16(in);
	g_main_loop_quit(u->peer->loop);
	return NULL;
}

static gboolean waited_long(gpointer data)
{
	struct use *u = data;

	g_main_loop_quit(u->peer->loop);
	return G_SOURCE_CONTINUE;
}

static char *step_call_back(struct use *u)
{
	guint timer = g_timeout_add_seconds(PEER_WAIT_SECONDS, waited_long, u);
	GBinderLocalRequest *in = request(u);
	GBinderLocalObject *listener;
	GBinderRemoteReply *reply;
	GBinderReader out;
	char *words = NULL;

	listener = gbinder_servicemanager_new_local_object(u->peer->manager,
							   SAMPLE_LISTENER_INTERFACE, hear, u);
	gbinder_local_request_append_local_object(in, listener);
	reply = call(u, SAMPLE_CALL_BACK, in, &out, &words);
	if (reply)
		g_main_loop_run(u->peer->loop);
	gbinder_remote_reply_unref(reply);
	gbinder_local_object_unref(listener);
	g_source_remove(timer);
	if (words)
		return words;
	return u->heard ? g_steal_pointer(&u->heard) : g_strdup("nothing heard");
}

static char *step_unknown(struct use *u)
{
	GBinderRemoteReply *reply;
	GBinderReader out;
	char *words;

	reply = call(u, 9999, request(u), &out, &words);
	gbinder_remote_reply_unref(reply);
	return reply ? g_strdup("answered") : words;
}

/* Null where there must be an object. */
static char *step_null(struct use *u)
{
	GBinderLocalRequest *in = request(u);
	GBinderRemoteReply *reply;
	GBinderReader out;
	char *words;

	gbinder_local_request_append_local_object(in, NULL);
	reply = call(u, SAMPLE_CALL_BACK, in, &out, &words);
	gbinder_remote_reply_unref(reply);
	return reply ? g_strdup("answered") : words;
}

/* Another interface's token. */
static char *step_stranger(struct use *u)
{
	GBinderClient *real = u->client;
	GBinderRemoteReply *reply;
	GBinderReader out;
	char *words;

	u->client = gbinder_client_new(u->service, "org.example.IOther");
	reply = call(u, SAMPLE_WHO, request(u), &out, &words);
	gbinder_client_unref(u->client);
	u->client = real;
	gbinder_remote_reply_unref(reply);
	return reply ? g_strdup("answered") : words;
}

/* A descriptor: the service prints its state into it. */
static char *step_dump(struct use *u)
{
	GBinderClient *bare = gbinder_client_new(u->service, NULL);
	GBinderLocalRequest *in = gbinder_client_new_request(bare);
	char text[200] = "";
	GBinderWriter out;
	int status = 0, ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return g_strdup("no pipe");
	gbinder_local_request_init_writer(in, &out);
	gbinder_writer_append_fd(&out, ends[1]);
	gbinder_writer_append_int32(&out, 0);
	gbinder_remote_reply_unref(gbinder_client_transact_sync_reply(bare, META_DUMP, in,
								      &status));
	gbinder_local_request_unref(in);
	gbinder_client_unref(bare);
	if (read(ends[0], text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(ends[0]);
	close(ends[1]);
	return status ? g_strdup_printf("status %d", status) : g_strdup(g_strchomp(text));
}

/* ---- asynchronous ----------------------------------------------------------------------- */

static void replied(GBinderClient *client, GBinderRemoteReply *reply, int status, void *data)
{
	struct use *u = data;
	gint32 exception = -1, sum = -1;
	GBinderReader out;

	if (!status) {
		gbinder_remote_reply_init_reader(reply, &out);
		gbinder_reader_read_int32(&out, &exception);
		gbinder_reader_read_int32(&out, &sum);
	}
	u->heard = g_strdup_printf("%d %d %d", status, exception, sum);
	g_main_loop_quit(u->peer->loop);
}

static char *step_async(struct use *u)
{
	guint timer = g_timeout_add_seconds(PEER_WAIT_SECONDS, waited_long, u);
	GBinderLocalRequest *in = request(u);

	gbinder_local_request_append_int32(in, 20);
	gbinder_local_request_append_int32(in, 1);
	gbinder_client_transact(u->client, SAMPLE_ADD, 0, in, replied, NULL, u);
	gbinder_local_request_unref(in);
	g_main_loop_run(u->peer->loop);
	g_source_remove(timer);
	return u->heard ? g_steal_pointer(&u->heard) : g_strdup("no reply");
}

/* ---- what a service of this program does too -------------------------------------------- */

static char *step_bytes(struct use *u)
{
	guint8 *data = g_malloc(BYTES_SIZE);
	GBinderLocalRequest *in = request(u);
	GBinderRemoteReply *reply;
	GBinderReader out;
	GBinderWriter writer;
	const void *back;
	char *words = NULL;
	gsize size = 0;
	int i;

	for (i = 0; i < BYTES_SIZE; i++)
		data[i] = (guint8)(i * 7 + i / 4096);
	gbinder_local_request_init_writer(in, &writer);
	gbinder_writer_append_byte_array(&writer, data, BYTES_SIZE);
	reply = call(u, PEER_BYTES, in, &out, &words);
	if (reply) {
		back = gbinder_reader_read_byte_array(&out, &size);
		words = g_strdup(back && size == BYTES_SIZE && !memcmp(back, data, size)
				 ? "same" : "different");
	}
	gbinder_remote_reply_unref(reply);
	g_free(data);
	return words;
}

/* Somebody else's object, there and back. */
static char *step_object(struct use *u)
{
	GBinderRemoteObject *object, *back = NULL;
	GBinderLocalRequest *in = request(u);
	GBinderRemoteReply *reply;
	GBinderReader out;
	char *words;
	int status = 0;

	object = gbinder_servicemanager_get_service_sync(u->peer->manager, SAMPLE_NAME, &status);
	gbinder_local_request_append_remote_object(in, object);
	reply = call(u, PEER_OBJECT, in, &out, &words);
	if (!reply)
		return words;
	back = gbinder_reader_read_object(&out);
	words = g_strdup(!back ? "none" : back == object ? "same" : "another");
	gbinder_remote_object_unref(back);
	gbinder_remote_reply_unref(reply);
	return words;
}

static char *step_one_way(struct use *u)
{
	GBinderRemoteReply *reply;
	GBinderLocalRequest *in;
	GBinderReader out;
	gint32 count = -1;
	char *words;
	int i, status = 0;

	for (i = 0; i < ONE_WAYS && !status; i++) {
		in = request(u);
		status = gbinder_client_transact_sync_oneway(u->client, PEER_COUNT, in);
		gbinder_local_request_unref(in);
	}
	/* Two-way calls may overtake them. */
	for (i = 0; i < PEER_WAIT_SECONDS * 10 && count != ONE_WAYS; i++) {
		reply = call(u, PEER_COUNT, request(u), &out, &words);
		if (!reply)
			return words;
		gbinder_reader_read_int32(&out, &count);
		gbinder_remote_reply_unref(reply);
		g_usleep(G_USEC_PER_SEC / 10);
	}
	return g_strdup_printf("%d of %d, status %d", count, ONE_WAYS, status);
}

/* Objects of ours, each forgotten by both sides. */
static char *step_objects(struct use *u)
{
	GBinderLocalRequest *in;
	GBinderLocalObject *object;
	GBinderRemoteReply *reply;
	GBinderReader out;
	char *words;
	int i;

	for (i = 0; i < OBJECTS; i++) {
		in = request(u);
		object = gbinder_servicemanager_new_local_object(
			u->peer->manager, SAMPLE_LISTENER_INTERFACE, hear, u);
		gbinder_local_request_append_local_object(in, object);
		gbinder_local_object_unref(object);
		reply = call(u, PEER_OBJECT, in, &out, &words);
		if (!reply)
			return words;
		gbinder_remote_reply_unref(reply);
	}
	return g_strdup("all");
}

static char *step_quit(struct use *u)
{
	GBinderRemoteReply *reply;
	GBinderReader out;
	char *words;

	reply = call(u, PEER_QUIT, request(u), &out, &words);
	gbinder_remote_reply_unref(reply);
	return reply ? g_strdup("answered") : words;
}

/* ---- all of it -------------------------------------------------------------------------- */

static const struct {
	const char *name;
	char *(*run)(struct use *u);
} steps_known[] = {
	{ "add", step_add },
	{ "async", step_async },
	{ "bytes", step_bytes },
	{ "call_back", step_call_back },
	{ "dump", step_dump },
	{ "echo", step_echo },
	{ "long", step_long },
	{ "null", step_null },
	{ "object", step_object },
	{ "objects", step_objects },
	{ "one_way", step_one_way },
	{ "overflow", step_overflow },
	{ "quit", step_quit },
	{ "stranger", step_stranger },
	{ "unknown", step_unknown },
	{ "who", step_who },
};

static void run_step(struct use *u, const char *name)
{
	char *words;
	gsize i;

	for (i = 0; i < G_N_ELEMENTS(steps_known); i++) {
		if (strcmp(name, steps_known[i].name))
			continue;
		words = steps_known[i].run(u);
		peer_say("%s: %s", name, words);
		g_free(words);
		return;
	}
	peer_say("%s: no such step", name);
}

int peer_use(struct peer *p, char **steps)
{
	struct use u = { .peer = p };
	int status = 0;

	u.service = gbinder_servicemanager_get_service_sync(p->manager, p->name, &status);
	if (!u.service) {
		peer_say("no such service, status %d", status);
		return 1;
	}
	gbinder_remote_object_ref(u.service);
	u.client = gbinder_client_new(u.service, SAMPLE_INTERFACE);
	for (; *steps; steps++)
		run_step(&u, *steps);
	gbinder_client_unref(u.client);
	gbinder_remote_object_unref(u.service);
	return 0;
}
