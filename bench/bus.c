// SPDX-License-Identifier: MIT
#include "bench/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READY_MS 10000

static char directory[256];
static char config[300];
static char log_path[300];
static char address[300];
static int ready_pipe[2];

static const char config_text[] =
"<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n"
"  \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"
"<busconfig>\n"
"  <type>session</type>\n"
"  <listen>%s</listen>\n"
"  <auth>EXTERNAL</auth>\n"
"  <policy context=\"default\">\n"
"    <allow send_destination=\"*\" eavesdrop=\"true\"/>\n"
"    <allow eavesdrop=\"true\"/>\n"
"    <allow own=\"*\"/>\n"
"  </policy>\n"
"</busconfig>\n";

/** bus_address() - of the running bus, for a client. */
const char *bus_address(void)
{
	return address;
}

/** bus_remove() - remove its files; the daemon has ended with its crew. */
void bus_remove(void)
{
	char path[300];

	if (!directory[0])
		return;
	unlink(config);
	unlink(log_path);
	snprintf(path, sizeof(path), "%s/bus", directory);
	unlink(path);
	if (rmdir(directory))
		fprintf(stderr, "anybinder: remove %s: %s\n", directory, strerror(errno));
	directory[0] = 0;
}

static int write_config(void)
{
	const char *tmp = getenv("TMPDIR");
	FILE *file;
	int err;

	snprintf(directory, sizeof(directory), "%s/anybinder-bus-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(directory)) {
		fprintf(stderr, "anybinder: make %s: %s\n", directory, strerror(errno));
		directory[0] = 0;
		return -1;
	}
	snprintf(config, sizeof(config), "%s/bus.conf", directory);
	snprintf(log_path, sizeof(log_path), "%s/log", directory);
	snprintf(address, sizeof(address), "unix:path=%s/bus", directory);
	file = fopen(config, "we");
	err = !file || fprintf(file, config_text, address) < 0;
	err |= file && fclose(file);
	if (err)
		fprintf(stderr, "anybinder: write %s: %s\n", config, strerror(errno));
	return err ? -1 : 0;
}

static void bus_main(struct crew *crew, struct member *me, void *arg)
{
	char config_option[320], print_option[32];
	int log;

	snprintf(config_option, sizeof(config_option), "--config-file=%s", config);
	snprintf(print_option, sizeof(print_option), "--print-address=%d", ready_pipe[1]);
	close(ready_pipe[0]);
	/* it warns of limits it may not raise, which is no matter unless it fails */
	log = open(log_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	dup2(log, STDERR_FILENO);
	execlp("dbus-daemon", "dbus-daemon", config_option, print_option, "--nofork", "--nopidfile",
	       "--nosyslog", (char *)NULL);
	crew_fail(me, "start dbus-daemon: %s; on Debian it is in the package dbus-daemon",
		  strerror(errno));
}

static void show_log(void)
{
	FILE *log = fopen(log_path, "re");
	char line[512];

	while (log && fgets(line, sizeof(line), log))
		fprintf(stderr, "anybinder: %s", line);
	if (log)
		fclose(log);
}

/* It prints its address once it listens. */
static int wait_ready(struct member *bus)
{
	struct pollfd pfd = { ready_pipe[0], POLLIN, 0 };
	char c;

	if (poll(&pfd, 1, READY_MS) == 1 && read(ready_pipe[0], &c, 1) == 1)
		return 0;
	if (!crew_interrupted()) {
		show_log();
		fprintf(stderr, "anybinder: %s\n",
			bus->error[0] ? bus->error : "dbus-daemon does not start");
	}
	return -1;
}

/**
 * bus_start() - start a bus as a member of @crew and wait until it listens
 * Return: 0, or -1 with a message. bus_remove() is due in both cases.
 */
int bus_start(struct crew *crew)
{
	struct member *bus;
	int err;

	if (write_config())
		return -1;
	if (pipe(ready_pipe)) {
		perror("anybinder: pipe");
		return -1;
	}
	bus = crew_start(crew, false, bus_main, NULL);
	close(ready_pipe[1]);
	err = bus ? wait_ready(bus) : -1;
	close(ready_pipe[0]);
	return err;
}
