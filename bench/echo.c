// SPDX-License-Identifier: MIT
#include "bench/echo.h"

#include <errno.h>
#include <string.h>

#define CODE_ECHO 1

static void count(struct echo_server *server)
{
	uint64_t ioctls = ab_ioctls(server->conn);
	uint64_t calls = __atomic_fetch_add(&server->calls, 1, __ATOMIC_RELAXED);

	if (!calls) {
		server->ioctls_before = ioctls;
		return;
	}
	server->me->served = calls;
	server->me->served_ioctls = ioctls - server->ioctls_before;
}

static int on_call(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	const void *bytes;
	size_t size;
	int err;

	count(data);
	if (info->code != CODE_ECHO)
		return -EINVAL;
	err = ab_read_bytes(in, &bytes, &size);
	return err ? err : ab_write_bytes(out, bytes, size);
}

/* Without an interface's token: no peer's call has one. */
static const struct ab_class echo_class = { .transact = on_call, .flags = AB_CLASS_RAW };

/**
 * echo_object_new() - an object that sends back what it gets
 * @server: counts for it; lives as long as the object
 * Return: NULL when out of memory.
 */
ab_object *echo_object_new(struct echo_server *server, struct member *me, ab_conn *conn)
{
	*server = (struct echo_server){ .me = me, .conn = conn };
	return ab_object_new(conn, &echo_class, server);
}

/** echo_client_init() - all but the targets, which the caller adds. */
void echo_client_init(struct echo_client *client, struct member *me, ab_conn *conn, size_t size)
{
	client->me = me;
	client->conn = conn;
	client->size = size;
	client->nr_targets = 0;
	client->random = 1 + (uint32_t)clock_ns();
	client->in = ab_parcel_new(conn);
	if (!client->in)
		crew_fail(me, "out of memory");
	payload_fill(client->bytes, size);
}

static ab_object *next_target(struct echo_client *c)
{
	if (c->nr_targets == 1)
		return c->targets[0];
	/* xorshift: any fair choice does */
	c->random ^= c->random << 13;
	c->random ^= c->random >> 17;
	c->random ^= c->random << 5;
	return c->targets[c->random % c->nr_targets];
}

/** echo_exchange() - an exchange_fn(); @state is a struct echo_client. */
void echo_exchange(void *state, bool check)
{
	struct echo_client *c = state;
	ab_parcel *out = NULL;
	const void *bytes;
	char text[160];
	size_t size;
	int err;

	ab_parcel_reset(c->in);
	ab_write_bytes(c->in, c->bytes, c->size);
	err = ab_call(next_target(c), CODE_ECHO, c->in, &out);
	if (err)
		crew_fail(c->me, "call: %s", ab_error_text(c->conn, err, text, sizeof(text)));
	err = ab_read_bytes(out, &bytes, &size);
	if (err || size != c->size || (check && memcmp(bytes, c->bytes, size)))
		crew_fail(c->me, "another payload came back: %zu bytes, %s", size,
			  ab_strerror(err));
	ab_parcel_free(out);
	if (check)
		c->ioctls_before = ab_ioctls(c->conn);
}

/** echo_client_run() - client_run(), and count driver ioctls. */
void echo_client_run(struct echo_client *client, const struct load *load)
{
	client_run(client->me, load, echo_exchange, client);
	client->me->ioctls = ab_ioctls(client->conn) - client->ioctls_before;
}
