/* SPDX-License-Identifier: MIT */
/*
 * Peers that come with libraries of other people. Each such library has a module of its own,
 * which is loaded when it is to be measured: the command itself needs none of them, and a
 * module that was not built, or not installed, only leaves its peers out.
 */
#ifndef BENCH_OUTSIDE_H
#define BENCH_OUTSIDE_H

#include "bench/peer.h"

const struct peer *outside_at(int index);
const char *outside_load(const struct peer *peer);

#endif
