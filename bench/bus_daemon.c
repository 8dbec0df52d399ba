// SPDX-License-Identifier: MIT
/* dbus-daemon, the bus most Linux systems have had. */
#include "bench/bus.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define READY_MS 60000

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

static int write_config(void)
{
	char path[BUS_PATH_MAX];
	FILE *file = fopen(bus_file(path, "bus.conf"), "we");
	int err = !file || fprintf(file, config_text, bus_address()) < 0;

	err |= file && fclose(file);
	if (err)
		fprintf(stderr, "anybinder: write %s: %s\n", path, strerror(errno));
	return err ? -1 : 0;
}

static void daemon_main(struct crew *crew, struct member *me, void *arg)
{
	char config[BUS_PATH_MAX], config_option[BUS_PATH_MAX + 20], print_option[32];

	snprintf(config_option, sizeof(config_option), "--config-file=%s",
		 bus_file(config, "bus.conf"));
	snprintf(print_option, sizeof(print_option), "--print-address=%d", ready_pipe[1]);
	close(ready_pipe[0]);
	bus_log_here();
	execlp("dbus-daemon", "dbus-daemon", config_option, print_option, "--nofork", "--nopidfile",
	       "--nosyslog", (char *)NULL);
	crew_fail(me, "start dbus-daemon: %s; on Debian it is in the package dbus-daemon",
		  strerror(errno));
}

/* It prints its address once it listens. */
static int wait_ready(struct member *bus)
{
	struct pollfd pfd = { ready_pipe[0], POLLIN, 0 };
	char c;

	if (poll(&pfd, 1, READY_MS) == 1 && read(ready_pipe[0], &c, 1) == 1)
		return 0;
	if (!crew_interrupted()) {
		bus_show_log();
		fprintf(stderr, "anybinder: %s\n",
			bus->error[0] ? bus->error : "dbus-daemon does not start");
	}
	return -1;
}

/**
 * bus_daemon_start() - start one as a member of @crew and wait until it listens
 * Return: 0, or -1 with a message. bus_remove() is due in both cases.
 */
int bus_daemon_start(struct crew *crew)
{
	struct member *bus;
	int err;

	if (bus_prepare() || write_config())
		return -1;
	if (pipe(ready_pipe)) {
		perror("anybinder: pipe");
		return -1;
	}
	bus = crew_start(crew, false, daemon_main, NULL);
	close(ready_pipe[1]);
	err = bus ? wait_ready(bus) : -1;
	close(ready_pipe[0]);
	return err;
}
