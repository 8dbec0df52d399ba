// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two places can run short: the machine, and the cgroup that the daemon is in.
 * The cgroup's counts most, because pages that the daemon stores into first
 * are charged to it. Both tell by pressure stall information (Linux 4.20,
 * psi=1), whose trigger lives as long as its descriptor. A cgroup without it
 * still counts in memory.events how often it met its limits.
 *
 * See Documentation/accounting/psi.rst and admin-guide/cgroup-v2.rst of the kernel.
 */
#include "user/host/pressure.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kapi.h"

/*
 * Somebody stood still for 0.1 of 2 s because memory was short. Two seconds are
 * the shortest window, and the step, that one without CAP_SYS_RESOURCE may ask for.
 */
static const char trigger[] = "some 100000 2000000";

/* Return: a descriptor whose POLLPRI means pressure, or -1. */
static int trigger_open(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (write(fd, trigger, sizeof(trigger)) < 0) {
		pr_info("%s: no notice of memory pressure: %s\n", path, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

/* Rearms a file that counts events. A trigger needs no reading, and minds none. */
static void events_read(int fd)
{
	char text[256];

	if (pread(fd, text, sizeof(text), 0) < 0)
		pr_err_ratelimited("cannot read about memory pressure: %s\n", strerror(errno));
}

static int events_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		events_read(fd);
	return fd;
}

/* Where the hierarchy of cgroup v2 is mounted as a whole. Return: false if nowhere. */
static bool cgroups_find(char point[PATH_MAX])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool found = false;
	size_t size = 0;
	char *line = NULL;

	while (f && !found && getline(&line, &size, f) > 0)
		found = strstr(line, " - cgroup2 ") &&
			sscanf(line, "%*d %*d %*s / %4095s", point) == 1;
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* The daemon's own cgroup. Return: false if there is none of version 2. */
static bool cgroup_find(char path[PATH_MAX])
{
	char point[PATH_MAX], own[PATH_MAX];
	FILE *f = cgroups_find(point) ? fopen("/proc/self/cgroup", "re") : NULL;
	bool found = false;
	size_t size = 0;
	char *line = NULL;

	while (f && !found && getline(&line, &size, f) > 0)
		found = sscanf(line, "0::%4095[^\n]", own) == 1;
	free(line);
	if (f)
		fclose(f);
	return found && snprintf(path, PATH_MAX, "%s%s", point, own) < PATH_MAX;
}

static int cgroup_open(void)
{
	char dir[PATH_MAX], path[PATH_MAX + 32];
	int fd;

	if (!cgroup_find(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/memory.pressure", dir);
	fd = trigger_open(path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/memory.events", dir);
	return events_open(path);
}

/**
 * binder_pressure_open() - what there is to poll
 * @fds: filled in, up to BINDER_PRESSURE_MAX; -1 for what this kernel does not have
 * Context: may sleep.
 * Return: how many there are.
 */
int binder_pressure_open(struct pollfd *fds)
{
	int nr = 0;

	fds[0] = (struct pollfd){ trigger_open("/proc/pressure/memory"), POLLPRI, 0 };
	fds[1] = (struct pollfd){ cgroup_open(), POLLPRI, 0 };
	for (int i = 0; i < BINDER_PRESSURE_MAX; i++)
		nr += fds[i].fd >= 0;
	return nr;
}

/** binder_pressure_seen() - has one of them fired? Call it after each poll(), to rearm it. */
bool binder_pressure_seen(const struct pollfd *fds, int nr)
{
	bool seen = false;

	for (int i = 0; i < nr; i++) {
		if (fds[i].fd < 0 || !(fds[i].revents & POLLPRI))
			continue;
		events_read(fds[i].fd);
		seen = true;
	}
	return seen;
}
