// SPDX-License-Identifier: MIT
/* What all buses have in common: a directory for their files, and how they are found. */
#include "bench/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const files[] = { "bus", "bus.conf", "log" };

static char directory[256];
static char address[BUS_PATH_MAX + 16];

/** bus_address() - of the running bus, for a client. */
const char *bus_address(void)
{
	return address;
}

/** bus_file() - Return: @path, which receives that of the file @name of the bus. */
const char *bus_file(char path[BUS_PATH_MAX], const char *name)
{
	snprintf(path, BUS_PATH_MAX, "%s/%s", directory, name);
	return path;
}

/**
 * bus_prepare() - a private directory, in which the socket will be
 * Return: 0, or -1 with a message. bus_remove() is due in both cases.
 */
int bus_prepare(void)
{
	const char *tmp = getenv("TMPDIR");
	char path[BUS_PATH_MAX];

	snprintf(directory, sizeof(directory), "%s/anybinder-bus-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(directory)) {
		fprintf(stderr, "anybinder: make %s: %s\n", directory, strerror(errno));
		directory[0] = 0;
		return -1;
	}
	snprintf(address, sizeof(address), "unix:path=%s", bus_file(path, "bus"));
	return 0;
}

/** bus_remove() - remove its files; the bus has ended with its crew. */
void bus_remove(void)
{
	char path[BUS_PATH_MAX];

	if (!directory[0])
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(bus_file(path, files[i]));
	if (rmdir(directory))
		fprintf(stderr, "anybinder: remove %s: %s\n", directory, strerror(errno));
	directory[0] = 0;
}

/** bus_log_here() - for the process of the bus: what it says is no matter unless it fails. */
void bus_log_here(void)
{
	char path[BUS_PATH_MAX];
	int log = open(bus_file(path, "log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	dup2(log, STDERR_FILENO);
}

/** bus_show_log() - it failed: what it said. */
void bus_show_log(void)
{
	char path[BUS_PATH_MAX];
	FILE *log = fopen(bus_file(path, "log"), "re");
	char line[512];

	while (log && fgets(line, sizeof(line), log))
		fprintf(stderr, "anybinder: %s", line);
	if (log)
		fclose(log);
}

/**
 * bus_program_missing() - is there @program, also the name of its package?
 * Return: NULL, or words that hold until the next call.
 */
const char *bus_program_missing(const char *program)
{
	static char words[160];
	const char *dirs = getenv("PATH");
	char path[1024];

	for (const char *dir = dirs ? dirs : "/usr/bin"; *dir;) {
		int len = strcspn(dir, ":");

		snprintf(path, sizeof(path), "%.*s/%s", len, dir, program);
		if (!access(path, X_OK))
			return NULL;
		dir += len + (dir[len] == ':');
	}
	snprintf(words, sizeof(words), "there is no %s in PATH; on Debian it is in the package %s",
		 program, program);
	return words;
}
