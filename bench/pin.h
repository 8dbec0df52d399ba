/* SPDX-License-Identifier: MIT */
/*
 * CPU affinity: of ourselves, and of the daemon that serves a device, whose
 * threads must share the CPU when "all on one CPU" is measured.
 */
#ifndef BENCH_PIN_H
#define BENCH_PIN_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct pinned_daemon - what to put back
 * @pid: 0 when nothing was pinned
 */
struct pinned_daemon {
	pid_t pid;
	cpu_set_t before;
};

int pin_cpu(void);
int pin_self(int cpu);
int pin_daemon(struct pinned_daemon *daemon, const char *device, int cpu);
void unpin_daemon(struct pinned_daemon *daemon);
const char *device_host(const char *device);

#endif
