// SPDX-License-Identifier: MIT
/*
 * Unary calls with gRPC over a UNIX socket: a synchronous client, and a server with one thread
 * and one completion queue, as gRPC's performance notes have it; the synchronous and the callback
 * server take longer to answer here. Channel, stub and messages are used again.
 */
#include "echo.grpc.pb.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

extern "C" {
#include "bench/local_name.h"
#include "bench/peer.h"

extern const struct peer peer_grpc;
}

using anybinder::bench::Echo;
using anybinder::bench::Payload;

namespace {

enum { MEET_LISTENING, MEET_START };

constexpr int CONNECT_S = 60;

struct grpc_call {
	struct member *me;
	std::unique_ptr<Echo::Stub> stub;
	Payload request;
	Payload reply;
	size_t size;
	uint8_t bytes[PAYLOAD_MAX];
};

const struct load *the_load;
struct grpc_call call;

/* One call after the other, as there is one client: wait for it, answer, see the answer off. */
void serve(struct member *me, Echo::AsyncService *service, grpc::ServerCompletionQueue *queue)
{
	Payload request, reply;
	void *tag;
	bool ok;

	for (;;) {
		grpc::ServerContext context;
		grpc::ServerAsyncResponseWriter<Payload> writer(&context);

		service->RequestEcho(&context, &request, &writer, queue, queue, nullptr);
		if (!queue->Next(&tag, &ok) || !ok)
			crew_fail(me, "gRPC: the server stopped");
		reply.set_bytes(request.bytes());
		writer.Finish(reply, grpc::Status::OK, nullptr);
		if (!queue->Next(&tag, &ok))
			crew_fail(me, "gRPC: the server stopped");
	}
}

void server_main(struct crew *crew, struct member *me, void *arg)
{
	char name[LOCAL_NAME_MAX];
	Echo::AsyncService service;
	grpc::ServerBuilder builder;
	int port = 0;

	builder.AddListeningPort(local_name(name, "unix-abstract:", *static_cast<int *>(arg)),
				 grpc::InsecureServerCredentials(), &port);
	builder.RegisterService(&service);
	std::unique_ptr<grpc::ServerCompletionQueue> queue = builder.AddCompletionQueue();
	std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
	if (!server || !port)
		crew_fail(me, "gRPC: the server does not listen at %s", name);
	crew_meet(crew, MEET_LISTENING, the_load->workers);
	serve(me, &service, queue.get());
}

void exchange(void *state, bool check)
{
	struct grpc_call *c = static_cast<struct grpc_call *>(state);
	grpc::ClientContext context;

	c->request.set_bytes(c->bytes, c->size);
	grpc::Status status = c->stub->Echo(&context, c->request, &c->reply);
	if (!status.ok())
		crew_fail(c->me, "gRPC: call: %s", status.error_message().c_str());
	const std::string &bytes = c->reply.bytes();
	if (bytes.size() != c->size || (check && memcmp(bytes.data(), c->bytes, c->size)))
		crew_fail(c->me, "gRPC: another payload came back");
}

void client_main(struct crew *crew, struct member *me, void *arg)
{
	char name[LOCAL_NAME_MAX];

	call.me = me;
	call.size = the_load->payload;
	payload_fill(call.bytes, call.size);
	crew_meet(crew, MEET_LISTENING, the_load->workers);
	std::shared_ptr<grpc::Channel> channel = grpc::CreateChannel(
		local_name(name, "unix-abstract:", *static_cast<int *>(arg)),
		grpc::InsecureChannelCredentials());
	if (!channel->WaitForConnected(std::chrono::system_clock::now() +
				       std::chrono::seconds(CONNECT_S)))
		crew_fail(me, "gRPC: no connection to %s", name);
	call.stub = Echo::NewStub(channel);
	/* clients only: a server has to serve, or nothing connects */
	crew_meet(crew, MEET_START, the_load->workers / 2);
	client_run(me, the_load, exchange, &call);
}

int start(struct crew *crew, const struct load *load)
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

} // namespace

const struct peer peer_grpc = {
	.name = "grpc",
	.title = "gRPC",
	.version = "gRPC " PEER_VERSION,
	.ours = false,
	.missing = nullptr,
	.start = start,
	.end = nullptr,
};
