/* SPDX-License-Identifier: MIT */
/*
 * A message bus of our own: private socket and configuration, nothing of the session's. One at
 * a time; dbus-daemon or dbus-broker, which is a member of the crew that it serves.
 */
#ifndef BENCH_BUS_H
#define BENCH_BUS_H

#include "bench/crew.h"

#define BUS_PATH_MAX 300

int bus_daemon_start(struct crew *crew);
int bus_broker_start(struct crew *crew);
void bus_broker_end(void);
const char *bus_address(void);
void bus_remove(void);
const char *bus_program_missing(const char *program);

/* For those that start one. */
int bus_prepare(void);
const char *bus_file(char path[BUS_PATH_MAX], const char *name);
void bus_log_here(void);
void bus_show_log(void);

#endif
