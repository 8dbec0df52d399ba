// SPDX-License-Identifier: MIT
/*
 * Calls of an object's method with Cap'n Proto RPC over a UNIX socket. Messages are allocated
 * in one piece, as their size is said before.
 */
#include "echo.capnp.h"

#include <capnp/rpc-twoparty.h>
#include <kj/async-io.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

extern "C" {
#include "bench/peer.h"

extern const struct peer peer_capnp;
}

namespace {

enum { MEET };

struct pair {
	int client;
	int server;
};

struct capnp_call {
	struct member *me;
	EchoPeer::Client *object;
	kj::WaitScope *scope;
	size_t size;
	uint8_t bytes[PAYLOAD_MAX];
};

const struct load *the_load;
struct capnp_call call;

/* Of a message with @size bytes, generously. */
capnp::MessageSize message_size(size_t size)
{
	return { size / sizeof(capnp::word) + 8, 0 };
}

class Object final : public EchoPeer::Server {
	kj::Promise<void> echo(EchoContext context) override
	{
		capnp::Data::Reader bytes = context.getParams().getBytes();

		context.initResults(message_size(bytes.size())).setBytes(bytes);
		return kj::READY_NOW;
	}
};

void serve(struct crew *crew, int fd)
{
	kj::AsyncIoContext io = kj::setupAsyncIo();
	kj::Own<kj::AsyncIoStream> stream = io.lowLevelProvider->wrapSocketFd(fd);
	capnp::TwoPartyVatNetwork network(*stream, capnp::rpc::twoparty::Side::SERVER);
	auto server = capnp::makeRpcServer(network, kj::heap<Object>());

	crew_meet(crew, MEET, the_load->workers);
	network.onDisconnect().wait(io.waitScope);
	pause();
}

void server_main(struct crew *crew, struct member *me, void *arg)
{
	struct pair *pair = static_cast<struct pair *>(arg);

	close(pair->client);
	try {
		serve(crew, pair->server);
	} catch (const kj::Exception &e) {
		crew_fail(me, "Cap'n Proto: serve: %s", e.getDescription().cStr());
	}
}

void exchange(void *state, bool check)
{
	struct capnp_call *c = static_cast<struct capnp_call *>(state);
	auto request = c->object->echoRequest(message_size(c->size));

	request.setBytes(capnp::Data::Reader(c->bytes, c->size));
	auto response = request.send().wait(*c->scope);
	capnp::Data::Reader bytes = response.getBytes();
	if (bytes.size() != c->size || (check && memcmp(bytes.begin(), c->bytes, c->size)))
		crew_fail(c->me, "Cap'n Proto: another payload came back");
}

void run_client(struct crew *crew, struct member *me, int fd)
{
	kj::AsyncIoContext io = kj::setupAsyncIo();
	kj::Own<kj::AsyncIoStream> stream = io.lowLevelProvider->wrapSocketFd(fd);
	capnp::TwoPartyClient client(*stream);
	EchoPeer::Client object = client.bootstrap().castAs<EchoPeer>();

	call.object = &object;
	call.scope = &io.waitScope;
	crew_meet(crew, MEET, the_load->workers);
	client_run(me, the_load, exchange, &call);
	_exit(0);
}

void client_main(struct crew *crew, struct member *me, void *arg)
{
	struct pair *pair = static_cast<struct pair *>(arg);

	close(pair->server);
	call.me = me;
	call.size = the_load->payload;
	payload_fill(call.bytes, call.size);
	try {
		run_client(crew, me, pair->client);
	} catch (const kj::Exception &e) {
		crew_fail(me, "Cap'n Proto: call: %s", e.getDescription().cStr());
	}
}

int start(struct crew *crew, const struct load *load)
{
	the_load = load;
	for (int i = 0; i < load->workers / 2; i++) {
		int fds[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
			perror("anybinder: socketpair");
			return -1;
		}
		struct pair pair = { fds[0], fds[1] };
		bool ok = crew_start(crew, true, client_main, &pair) &&
			  crew_start(crew, false, server_main, &pair);
		close(fds[0]);
		close(fds[1]);
		if (!ok)
			return -1;
	}
	return 0;
}

} // namespace

const struct peer peer_capnp = {
	.name = "capnp",
	.title = "Cap'n Proto RPC",
	.version = "Cap'n Proto " PEER_VERSION,
	.ours = false,
	.missing = nullptr,
	.start = start,
	.end = nullptr,
};
