// SPDX-License-Identifier: MIT
/*
 * The same calls as ours without a library: the ioctls themselves, one a call on each side
 * where the driver allows. What a library adds is what it is measured against this.
 */
#include "bench/peer.h"
#include "bench/wire.h"

#include <stdio.h>
#include <string.h>

#define MEET_MANAGER 0
#define MEET_START 1
#define PARTIES 2

struct raw_call {
	struct wire wire;
	uint32_t handle;
	size_t size;
	uint64_t ioctls_before;
	uint8_t bytes[PAYLOAD_MAX];
};

static const struct load *the_load;
/* Of each process its own. */
static struct raw_call call;

static void server_main(struct crew *crew, struct member *me, void *arg)
{
	uint32_t flags = the_load->defer ? TF_DEFER_COMPLETE : 0;
	struct binder_transaction_data tr;
	uint64_t ioctls_before = 0;

	crew_meet(crew, MEET_MANAGER, PARTIES);
	wire_open(&call.wire, me, the_load->device);
	wire_offer_object(&call.wire);
	crew_meet(crew, MEET_START, PARTIES);
	for (uint64_t calls = 0;; calls++) {
		wire_expect(&call.wire, BR_TRANSACTION, &tr);
		if (!calls)
			ioctls_before = call.wire.ioctls;
		me->served = calls;
		me->served_ioctls = call.wire.ioctls - ioctls_before;
		if (tr.data_size > sizeof(call.bytes))
			crew_fail(me, "raw ioctls: %llu bytes came in",
				  (unsigned long long)tr.data_size);
		/* copied once, as a server that looks at it would */
		memcpy(call.bytes, (void *)(uintptr_t)tr.data.ptr.buffer, tr.data_size);
		wire_put_reply(&call.wire, &tr, call.bytes, tr.data_size, flags);
	}
}

static void exchange(void *state, bool check)
{
	struct raw_call *c = state;
	struct binder_transaction_data tr;

	wire_call(&c->wire, c->handle, c->bytes, c->size, &tr);
	if (tr.data_size != c->size ||
	    (check && memcmp((void *)(uintptr_t)tr.data.ptr.buffer, c->bytes, c->size)))
		crew_fail(c->wire.me, "raw ioctls: another payload came back");
	if (check)
		c->ioctls_before = c->wire.ioctls;
}

static void client_main(struct crew *crew, struct member *me, void *arg)
{
	call.size = the_load->payload;
	payload_fill(call.bytes, call.size);
	wire_open(&call.wire, me, the_load->device);
	wire_become_manager(&call.wire, the_load->device);
	crew_meet(crew, MEET_MANAGER, PARTIES);
	call.handle = wire_take_object(&call.wire);
	crew_meet(crew, MEET_START, PARTIES);
	client_run(me, the_load, exchange, &call);
	me->ioctls = call.wire.ioctls - call.ioctls_before;
}

static int raw_start(struct crew *crew, const struct load *load)
{
	if (load->workers != PARTIES) {
		fprintf(stderr, "anybinder: raw ioctls are measured with 2 workers, not %d\n",
			load->workers);
		return -1;
	}
	the_load = load;
	if (!crew_start(crew, true, client_main, NULL) ||
	    !crew_start(crew, false, server_main, NULL))
		return -1;
	return 0;
}

const struct peer peer_raw = {
	.name = "raw",
	.title = "raw ioctls",
	.ours = true,
	.start = raw_start,
};
