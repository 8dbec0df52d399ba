// SPDX-License-Identifier: MIT
/*
 * Requests and replies with nng over a UNIX socket. By messages, which move from hand to hand:
 * what nng's manual says to do so that nothing is copied.
 */
#include "bench/local_name.h"
#include "bench/peer.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <stdio.h>
#include <string.h>

#define MEET_LISTENING 0
#define MEET_START 1

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

struct nng_call {
	struct member *me;
	nng_socket socket;
	size_t size;
	uint8_t bytes[PAYLOAD_MAX];
};

static const struct load *the_load;
static struct nng_call call;

static void check_nng(struct member *me, const char *what, int err)
{
	if (err)
		crew_fail(me, "nng: %s: %s", what, nng_strerror(err));
}

static void server_main(struct crew *crew, struct member *me, void *arg)
{
	char name[LOCAL_NAME_MAX];
	nng_socket socket;
	nng_msg *m;

	check_nng(me, "socket", nng_rep0_open(&socket));
	check_nng(me, "listen", nng_listen(socket, local_name(name, "abstract://", *(int *)arg),
					   NULL, 0));
	crew_meet(crew, MEET_LISTENING, the_load->workers);
	crew_meet(crew, MEET_START, the_load->workers);
	for (;;) {
		check_nng(me, "receive", nng_recvmsg(socket, &m, 0));
		/* copied once, as a server that looks at it would */
		memcpy(call.bytes, nng_msg_body(m), nng_msg_len(m));
		memcpy(nng_msg_body(m), call.bytes, nng_msg_len(m));
		check_nng(me, "reply", nng_sendmsg(socket, m, 0));
	}
}

static void exchange(void *state, bool check)
{
	struct nng_call *c = state;
	nng_msg *m;

	check_nng(c->me, "message", nng_msg_alloc(&m, c->size));
	memcpy(nng_msg_body(m), c->bytes, c->size);
	check_nng(c->me, "send", nng_sendmsg(c->socket, m, 0));
	check_nng(c->me, "receive", nng_recvmsg(c->socket, &m, 0));
	if (nng_msg_len(m) != c->size || (check && memcmp(nng_msg_body(m), c->bytes, c->size)))
		crew_fail(c->me, "nng: another payload came back");
	nng_msg_free(m);
}

static void client_main(struct crew *crew, struct member *me, void *arg)
{
	char name[LOCAL_NAME_MAX];

	call.me = me;
	call.size = the_load->payload;
	payload_fill(call.bytes, call.size);
	check_nng(me, "socket", nng_req0_open(&call.socket));
	crew_meet(crew, MEET_LISTENING, the_load->workers);
	check_nng(me, "connect", nng_dial(call.socket, local_name(name, "abstract://",
								  *(int *)arg), NULL, 0));
	crew_meet(crew, MEET_START, the_load->workers);
	client_run(me, the_load, exchange, &call);
}

static int nng_start(struct crew *crew, const struct load *load)
{
	the_load = load;
	if (local_name_new())
		return -1;
	for (int i = 0; i < load->workers / 2; i++) {
		if (!crew_start(crew, true, client_main, &i) ||
		    !crew_start(crew, false, server_main, &i))
			return -1;
	}
	return 0;
}

const struct peer peer_nng = {
	.version = "nng " TEXT(NNG_MAJOR_VERSION) "." TEXT(NNG_MINOR_VERSION) "."
		   TEXT(NNG_PATCH_VERSION),
	.start = nng_start,
};
