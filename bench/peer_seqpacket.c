// SPDX-License-Identifier: MIT
/* Ping-pong over a pair of SOCK_SEQPACKET sockets: what the kernel's own messages cost. */
#include "bench/peer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MEET 0

struct pair {
	const struct load *load;
	int client;
	int server;
};

struct socket_call {
	struct member *me;
	size_t size;
	int fd;
	uint8_t out[PAYLOAD_MAX];
	uint8_t in[PAYLOAD_MAX];
};

/* One pair after the other is forked from this. */
static struct pair pair;
static struct socket_call call;

/* An empty packet would read as the end: there is one byte at least. */
static size_t packet_size(const struct load *load)
{
	return load->payload ? load->payload : 1;
}

static void make_room(struct member *me, int fd)
{
	int size = 2 * PAYLOAD_MAX;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)))
		crew_fail(me, "seqpacket: socket buffer: %s", strerror(errno));
}

static void server_main(struct crew *crew, struct member *me, void *arg)
{
	close(pair.client);
	make_room(me, pair.server);
	crew_meet(crew, MEET, pair.load->workers);
	for (;;) {
		ssize_t n = recv(pair.server, call.in, sizeof(call.in), 0);

		if (!n)
			pause();
		/* copied once, as a server that looks at it would */
		if (n > 0)
			memcpy(call.out, call.in, n);
		if (n < 0 || send(pair.server, call.out, n, 0) != n)
			crew_fail(me, "seqpacket server: %s", strerror(errno));
	}
}

static void exchange(void *state, bool check)
{
	struct socket_call *c = state;

	if (send(c->fd, c->out, c->size, 0) != (ssize_t)c->size)
		crew_fail(c->me, "seqpacket send: %s", strerror(errno));
	if (recv(c->fd, c->in, sizeof(c->in), 0) != (ssize_t)c->size)
		crew_fail(c->me, "seqpacket receive: %s", strerror(errno));
	if (check && memcmp(c->in, c->out, c->size))
		crew_fail(c->me, "seqpacket: another payload came back");
}

static void client_main(struct crew *crew, struct member *me, void *arg)
{
	close(pair.server);
	make_room(me, pair.client);
	call.me = me;
	call.fd = pair.client;
	call.size = packet_size(pair.load);
	payload_fill(call.out, call.size);
	crew_meet(crew, MEET, pair.load->workers);
	client_run(me, pair.load, exchange, &call);
}

static int seqpacket_start(struct crew *crew, const struct load *load)
{
	for (int i = 0; i < load->workers / 2; i++) {
		int fds[2];
		bool ok;

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
			perror("anybinder: socketpair");
			return -1;
		}
		pair = (struct pair){ load, fds[0], fds[1] };
		ok = crew_start(crew, true, client_main, NULL) &&
		     crew_start(crew, false, server_main, NULL);
		close(fds[0]);
		close(fds[1]);
		if (!ok)
			return -1;
	}
	return 0;
}

const struct peer peer_seqpacket = {
	.name = "seqpacket",
	.title = "seqpacket socket",
	.start = seqpacket_start,
};
