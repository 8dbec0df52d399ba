// SPDX-License-Identifier: MIT
#include "bench/pin.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** pin_cpu() - the CPU to pin to: the last we may use, as the first has the interrupts. */
int pin_cpu(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (int cpu = CPU_SETSIZE - 1; cpu > 0; cpu--) {
		if (CPU_ISSET(cpu, &set))
			return cpu;
	}
	return 0;
}

/** pin_self() - run on @cpu only. Return: 0, or -1 with errno. */
int pin_self(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/** device_host() - Return: "kernel" or "user", by what kind of file the device is. */
const char *device_host(const char *device)
{
	struct stat st;

	return !stat(device, &st) && S_ISCHR(st.st_mode) ? "kernel" : "user";
}

/* Whether @pid is a daemon, and one of its arguments the directory @dir. */
static bool serves(pid_t pid, const struct stat *dir)
{
	char path[64], args[4096];
	struct stat st;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, args, sizeof(args) - 1);
	close(fd);
	if (len <= 0)
		return false;
	args[len] = 0;
	if (strncmp(basename(args), "anybinderd", 10))
		return false;
	for (char *arg = args + strlen(args) + 1; arg < args + len; arg += strlen(arg) + 1) {
		char full[PATH_MAX];

		if (*arg == '/')
			snprintf(full, sizeof(full), "%s", arg);
		else
			snprintf(full, sizeof(full), "/proc/%d/cwd/%s", pid, arg);
		if (!stat(full, &st) && st.st_dev == dir->st_dev && st.st_ino == dir->st_ino)
			return true;
	}
	return false;
}

/* Return: the daemon whose mount @device is in; 0 if there is none. */
static pid_t find_daemon(const char *device)
{
	char copy[PATH_MAX];
	struct dirent *entry;
	struct stat dir;
	pid_t found = 0;
	DIR *proc;

	snprintf(copy, sizeof(copy), "%s", device);
	if (stat(dirname(copy), &dir))
		return 0;
	proc = opendir("/proc");
	if (!proc)
		return 0;
	while (!found && (entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && serves(pid, &dir))
			found = pid;
	}
	closedir(proc);
	return found;
}

/* Threads that are started later inherit it from those there are. */
static int set_threads(pid_t pid, const cpu_set_t *set)
{
	char path[64];
	struct dirent *entry;
	int err = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return -1;
	while ((entry = readdir(tasks))) {
		if (isdigit(entry->d_name[0]) &&
		    sched_setaffinity(atoi(entry->d_name), sizeof(*set), set) && errno != ESRCH)
			err = -1;
	}
	closedir(tasks);
	return err;
}

/**
 * pin_daemon() - let the daemon behind @device run on @cpu only
 * @daemon: receives what unpin_daemon() needs
 * Return: 0, also for a kernel's device; -1 with a message.
 */
int pin_daemon(struct pinned_daemon *daemon, const char *device, int cpu)
{
	cpu_set_t set;
	pid_t pid;

	daemon->pid = 0;
	if (!strcmp(device_host(device), "kernel"))
		return 0;
	pid = find_daemon(device);
	if (!pid) {
		fprintf(stderr, "anybinder: no anybinderd to pin serves %s\n", device);
		return -1;
	}
	if (sched_getaffinity(pid, sizeof(daemon->before), &daemon->before))
		CPU_ZERO(&daemon->before);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	daemon->pid = pid;
	if (set_threads(pid, &set)) {
		fprintf(stderr, "anybinder: pin anybinderd, process %d: %s\n", pid,
			strerror(errno));
		unpin_daemon(daemon);
		return -1;
	}
	return 0;
}

/** unpin_daemon() - put back what pin_daemon() changed. */
void unpin_daemon(struct pinned_daemon *daemon)
{
	if (daemon->pid)
		set_threads(daemon->pid, &daemon->before);
	daemon->pid = 0;
}
