/* SPDX-License-Identifier: MIT */
/* The counters of a driver, as its binder_logs/stats has them. */
#ifndef TOOLS_STATS_H
#define TOOLS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define COUNTERS_MAX 80
#define STATS_NAME_MAX 48

/**
 * struct counter - one line about all processes
 * @gauge: how many there are now, and not how often something happened
 */
struct counter {
	char name[STATS_NAME_MAX];
	unsigned long long value;
	bool gauge;
};

/**
 * struct process_stats - one process on one device; -1: not told
 * @context: the device's name
 * @started: threads that the driver asked for and has
 * @most: that it may ask for
 * @ready: threads that wait for work
 * @objects: of its own that are known to others
 * @handles: objects of others' that it holds
 * @buffers: messages that it has not given back
 * @unread: calls that wait for it
 * @oneway_space: bytes left for one-way calls
 * @sent: calls that it made
 * @received: calls to it
 */
struct process_stats {
	long pid;
	char context[STATS_NAME_MAX];
	long threads, started, most, ready, objects, handles, buffers, unread;
	long long oneway_space, sent, received;
};

struct stats {
	struct counter counters[COUNTERS_MAX];
	size_t nr;
	struct process_stats *processes;
	size_t nr_processes;
};

/**
 * stats_read() - read a driver's counters
 * @stats: filled, for stats_fini(), whatever is returned
 *
 * Return: 0; -ENODATA: it holds none; -ENOMEM.
 */
int stats_read(struct stats *stats, FILE *file);
void stats_fini(struct stats *stats);

/** stats_counter() - a counter by its name; 0 when there is none */
unsigned long long stats_counter(const struct stats *stats, const char *name);
/** stats_process() - the same process on the same device, or NULL */
const struct process_stats *stats_process(const struct stats *stats,
					  const struct process_stats *like);

#endif
