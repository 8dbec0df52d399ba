/* SPDX-License-Identifier: MIT */
/*
 * The driver's ioctls without a library: one thread's conversation with it, and as few
 * ioctls a call as it allows. Every function ends the process with crew_fail() when
 * something goes wrong, and those that wait for the driver may block.
 */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include "bench/crew.h"
#include "uapi/binder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct wire - one thread's conversation with the driver
 * @ioctls: BINDER_WRITE_READ made so far
 * @out: commands that wait for the next of them, @out_len bytes
 * @in: returns, of which those from @in_pos to @in_len are still to be read
 */
struct wire {
	struct member *me;
	int fd;
	uint64_t ioctls;
	size_t out_len;
	size_t in_len;
	size_t in_pos;
	uint8_t out[256];
	uint8_t in[512];
};

void wire_open(struct wire *w, struct member *me, const char *device);
void wire_become_manager(struct wire *w, const char *device);
void wire_offer_object(struct wire *w);
uint32_t wire_take_object(struct wire *w);

void wire_put(struct wire *w, uint32_t cmd, const void *argument);
void wire_put_free(struct wire *w, uint64_t buffer);
void wire_put_reply(struct wire *w, const struct binder_transaction_data *call,
		    const void *bytes, size_t size, uint32_t flags);
void wire_talk(struct wire *w, bool wait);
void wire_expect(struct wire *w, uint32_t cmd, struct binder_transaction_data *tr);
void wire_call(struct wire *w, uint32_t handle, const void *bytes, size_t size,
	       struct binder_transaction_data *reply);

#endif
