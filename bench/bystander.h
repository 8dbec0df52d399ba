/* SPDX-License-Identifier: MIT */
/* How a pair of processes fares beside eight others. */
#ifndef BENCH_BYSTANDER_H
#define BENCH_BYSTANDER_H

#include "bench/peer.h"

#define BYSTANDER_OTHERS 8

/* For peer_measure(): the loads are the pair's; the others have their own. */
extern const struct peer bystander_alone, bystander_behaved, bystander_misbehaving;

#endif
