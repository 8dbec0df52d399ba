// SPDX-License-Identifier: MIT
/* The list of peers, and what all measurements have in common. */
#include "bench/peer.h"

#include "bench/outside.h"
#include "bench/pin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls before the clock starts: pages, caches and tables fill. */
#define WARM_UP_CALLS 200
/* Beyond any measurement that still proceeds. */
#define TIMEOUT_S 300

static const struct peer *const inside[] = {
	&peer_ours, &peer_raw, &peer_seqpacket, &peer_futex,
};

#define INSIDE ((int)(sizeof(inside) / sizeof(*inside)))

/** peer_at() - the peers in order; NULL after the last. */
const struct peer *peer_at(int index)
{
	return index < INSIDE ? inside[index] : outside_at(index - INSIDE);
}

/** peer_find() - Return: NULL when nothing is called that. */
const struct peer *peer_find(const char *name)
{
	for (int i = 0; peer_at(i); i++) {
		if (!strcmp(peer_at(i)->name, name))
			return peer_at(i);
	}
	return NULL;
}

/**
 * peer_missing() - what @peer needs and is not here
 * Return: NULL when it can be measured, else words that hold until the next call.
 */
const char *peer_missing(const struct peer *peer)
{
	const char *words = peer->start ? NULL : outside_load(peer);

	return words || !peer->missing ? words : peer->missing();
}

/** payload_fill() - bytes that are easy to tell from others. */
void payload_fill(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = i * 7 + (i >> 8) + 1;
}

/**
 * client_run() - make the calls of @load and take their times
 * @me: receives times, count and histogram
 */
void client_run(struct member *me, const struct load *load, exchange_fn *exchange, void *state)
{
	uint64_t warm = load->iterations < WARM_UP_CALLS ? load->iterations : WARM_UP_CALLS;
	uint64_t before, now, deadline;

	for (uint64_t i = 0; i < warm; i++)
		exchange(state, true);
	before = me->start_ns = clock_ns();
	deadline = load->time_ms_max ? before + (uint64_t)load->time_ms_max * 1000000 : UINT64_MAX;
	while (me->calls < load->iterations && before < deadline) {
		exchange(state, false);
		now = clock_ns();
		hist_add(&me->latency, now - before);
		before = now;
		me->calls++;
	}
	me->end_ns = before;
}

static void sum_up(const struct crew *crew, struct outcome *out, struct hist *all)
{
	static struct hist latency;
	uint64_t ioctls = 0, served = 0, served_ioctls = 0, start = UINT64_MAX, end = 0;
	const struct member *disturber = NULL;

	memset(&latency, 0, sizeof(latency));
	for (int i = 0; i < crew->count; i++) {
		const struct member *m = &crew->members[i];

		served += m->served;
		served_ioctls += m->served_ioctls;
		if (m->ticks)
			disturber = m;
		if (!m->calls)
			continue;
		hist_merge(&latency, &m->latency);
		ioctls += m->ioctls;
		start = m->start_ns < start ? m->start_ns : start;
		end = m->end_ns > end ? m->end_ns : end;
	}
	if (all)
		hist_merge(all, &latency);
	outcome_set_latency(out, &latency, end > start ? end - start : 0);
	if (latency.count && ioctls)
		out->figure[CLIENT_IOCTLS] = (double)ioctls / latency.count;
	if (served && served_ioctls)
		out->figure[SERVER_IOCTLS] = (double)served_ioctls / served;
	if (disturber && disturber->end_ns > disturber->start_ns) {
		out->figure[TICKS_PER_S] = disturber->ticks * 1e9 /
					   (disturber->end_ns - disturber->start_ns);
		out->figure[TICK_US] = disturber->busy_ns / 1e3 / disturber->ticks;
	}
}

/**
 * peer_measure_all() - run @load once
 * @peer: peer_missing() has said that it can be
 * @all: receives all times in addition to what it has; may be NULL
 * Return: 0; -1, with a message unless a signal interrupted us. Nothing is left behind.
 */
int peer_measure_all(const struct peer *peer, const struct load *load, struct outcome *out,
		     struct hist *all)
{
	struct pinned_daemon daemon = { 0 };
	struct crew *crew = crew_new(load->pin);
	int err = -1;

	if (!crew)
		return -1;
	if (!peer->ours || !load->pin || !pin_daemon(&daemon, load->device, crew->cpu)) {
		err = peer->start(crew, load);
		if (!err && load->disturb.hz &&
		    !crew_start(crew, false, disturb_main, (void *)&load->disturb))
			err = -1;
		if (!err)
			err = crew_wait(crew, TIMEOUT_S);
	}
	if (!err)
		sum_up(crew, out, all);
	crew_free(crew);
	unpin_daemon(&daemon);
	if (peer->end)
		peer->end();
	return err;
}

/** peer_measure() - peer_measure_all() without the times. */
int peer_measure(const struct peer *peer, const struct load *load, struct outcome *out)
{
	return peer_measure_all(peer, load, out, NULL);
}
