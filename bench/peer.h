/* SPDX-License-Identifier: MIT */
/*
 * A peer is one way for a process to call another and wait for the answer:
 * ours, and those it is compared with. Every peer is measured the same way:
 * a client sends @payload bytes, the server sends as many back.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench/crew.h"
#include "bench/disturb.h"
#include "bench/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORKERS_MAX 64
#define PAYLOAD_MAX (256 * 1024)

/**
 * struct load - what to measure
 * @device: binder device; peers that are not ours ignore it
 * @pairs: every other worker is the server of the one before it; else
 *         each worker serves, and calls any of the others (ours only)
 * @iterations: calls of each client
 * @time_ms_max: stop earlier after this time; 0: do not
 * @defer: let replies wait for the next call (ours only)
 * @pin: all processes on one CPU
 * @disturb: what another process does meanwhile
 */
struct load {
	const char *device;
	int workers;
	bool pairs;
	uint64_t iterations;
	int time_ms_max;
	size_t payload;
	bool defer;
	bool pin;
	struct disturb disturb;
};

/* More than there are. */
#define PEERS_MAX 16

/**
 * struct peer
 * @version: of the library that is measured; NULL where there is none
 * @ours: calls over the binder device of the load
 * @missing: what it needs and is not here, in words; NULL when all is, or always
 * @start: start the processes of @load in @crew; -1 with a message
 * @end: undo what @start did besides starting processes; may be NULL
 */
struct peer {
	const char *name;
	const char *title;
	const char *version;
	bool ours;
	const char *(*missing)(void);
	int (*start)(struct crew *crew, const struct load *load);
	void (*end)(void);
};

extern const struct peer peer_ours, peer_raw, peer_seqpacket, peer_futex;

const struct peer *peer_at(int index);
const struct peer *peer_find(const char *name);
const char *peer_missing(const struct peer *peer);
int peer_measure(const struct peer *peer, const struct load *load, struct outcome *out);
int peer_measure_all(const struct peer *peer, const struct load *load, struct outcome *out,
		     struct hist *all);

/**
 * exchange_fn() - one call and its reply
 * @check: compare what came back with what was sent
 * It ends the process with crew_fail() if that goes wrong.
 */
typedef void exchange_fn(void *state, bool check);

void client_run(struct member *me, const struct load *load, exchange_fn *exchange, void *state);
void payload_fill(uint8_t *bytes, size_t size);

#endif
