/* SPDX-License-Identifier: MIT */
/* A dbus-daemon of our own: private socket and configuration, nothing of the session's. */
#ifndef BENCH_BUS_H
#define BENCH_BUS_H

#include "bench/crew.h"

int bus_start(struct crew *crew);
const char *bus_address(void);
void bus_remove(void);

#endif
