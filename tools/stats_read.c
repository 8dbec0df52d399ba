// SPDX-License-Identifier: MIT
#include "tools/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct process_stats untold = {
	.threads = -1, .started = -1, .most = -1, .ready = -1, .objects = -1, .handles = -1,
	.buffers = -1, .unread = -1, .oneway_space = -1,
};

/* The part about all processes comes first. */
static void read_counter(struct stats *stats, const char *line)
{
	struct counter *counter = &stats->counters[stats->nr];
	unsigned long long total;

	if (stats->nr == COUNTERS_MAX)
		return;
	if (sscanf(line, "%47[A-Za-z_]: active %llu total %llu", counter->name, &counter->value,
		   &total) == 3)
		counter->gauge = true;
	else if (sscanf(line, "%47[A-Z_]: %llu", counter->name, &counter->value) == 2)
		counter->gauge = false;
	else
		return;
	stats->nr++;
}

/* Other lines, such as those of other drivers, are left out. */
static void read_process(struct process_stats *p, const char *line)
{
	long requested;

	if (sscanf(line, "  requested threads: %ld+%ld/%ld", &requested, &p->started, &p->most) == 3 ||
	    sscanf(line, "  threads: %ld", &p->threads) == 1 ||
	    sscanf(line, "  ready threads %ld", &p->ready) == 1 ||
	    sscanf(line, "  free async space %lld", &p->oneway_space) == 1 ||
	    sscanf(line, "  nodes: %ld", &p->objects) == 1 ||
	    sscanf(line, "  refs: %ld", &p->handles) == 1 ||
	    sscanf(line, "  buffers: %ld", &p->buffers) == 1 ||
	    sscanf(line, "  pending transactions: %ld", &p->unread) == 1 ||
	    sscanf(line, "  BC_TRANSACTION: %lld", &p->sent) == 1 ||
	    sscanf(line, "  BR_TRANSACTION: %lld", &p->received) == 1)
		return;
	sscanf(line, "context %47s", p->context);
}

static struct process_stats *add_process(struct stats *stats, long pid)
{
	size_t nr = stats->nr_processes + 1;
	struct process_stats *all = realloc(stats->processes, nr * sizeof(*all));

	if (!all)
		return NULL;
	stats->processes = all;
	stats->nr_processes = nr;
	all[nr - 1] = untold;
	all[nr - 1].pid = pid;
	return &all[nr - 1];
}

int stats_read(struct stats *stats, FILE *file)
{
	struct process_stats *process = NULL;
	char line[256];
	long pid;

	*stats = (struct stats){ 0 };
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "proc %ld", &pid) == 1) {
			process = add_process(stats, pid);
			if (!process)
				return -ENOMEM;
		} else if (process) {
			read_process(process, line);
		} else {
			read_counter(stats, line);
		}
	}
	return stats->nr ? 0 : -ENODATA;
}

void stats_fini(struct stats *stats)
{
	free(stats->processes);
	*stats = (struct stats){ 0 };
}

unsigned long long stats_counter(const struct stats *stats, const char *name)
{
	for (size_t i = 0; i < stats->nr; i++) {
		if (!strcmp(stats->counters[i].name, name))
			return stats->counters[i].value;
	}
	return 0;
}

const struct process_stats *stats_process(const struct stats *stats,
					  const struct process_stats *like)
{
	for (size_t i = 0; i < stats->nr_processes; i++) {
		const struct process_stats *p = &stats->processes[i];

		if (p->pid == like->pid && !strcmp(p->context, like->context))
			return p;
	}
	return NULL;
}
