/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the kernel says that memory is short: descriptors to poll. */
#ifndef USER_HOST_PRESSURE_H
#define USER_HOST_PRESSURE_H

#include <linux/types.h>
#include <sys/poll.h>

/* The machine's, and the daemon's cgroup's. */
#define BINDER_PRESSURE_MAX 2

int binder_pressure_open(struct pollfd *fds);
bool binder_pressure_seen(const struct pollfd *fds, int nr);

#endif
