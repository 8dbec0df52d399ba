// SPDX-License-Identifier: MIT
/*
 * dbus-broker. It only passes messages; whoever starts it is its controller, and gives it a
 * listening socket and a policy over a D-Bus connection of their own: dbus-broker(1). Its usual
 * controller wants systemd, so we are the controller.
 */
#include "bench/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define READY_US 60000000

/*
 * The policy as dbus-broker 33 wants it; its form is not stable. Rules are (allow, priority,
 * what it is about): to connect, to own names, to send, to receive.
 */
#define RULES "bta(btbs)a(btssssuutt)a(btssssuutt)"
/* For a uid; for a range of uids or gids; SELinux contexts; AppArmor; the kind of bus. */
#define POLICY "a(u(" RULES "))a(buu(" RULES "))a(ss)bs"
#define ANY_UID UINT32_MAX
#define ANY_MESSAGE "", "", "", "", 0, 0, UINT64_C(0), UINT64_MAX

/* Ours, to the broker; it ends when this does. */
static sd_bus *controller;
static int broker_end = -1;

static void broker_main(struct crew *crew, struct member *me, void *arg)
{
	char controller_option[32];

	snprintf(controller_option, sizeof(controller_option), "--controller=%d", broker_end);
	if (fcntl(broker_end, F_SETFD, 0))
		crew_fail(me, "dbus-broker's socket: %s", strerror(errno));
	bus_log_here();
	/* bytes a user may have in it: as its usual controller has it */
	execlp("dbus-broker", "dbus-broker", controller_option, "--max-bytes=536870912",
	       "--machine-id=00000000000000000000000000000001", (char *)NULL);
	crew_fail(me, "start dbus-broker: %s; on Debian it is in the package dbus-broker",
		  strerror(errno));
}

/* Return: a listening socket, or a negative errno. */
static int listen_at_bus(void)
{
	struct sockaddr_un where = { .sun_family = AF_UNIX };
	char path[BUS_PATH_MAX];
	int fd, err = 0;

	if (strlen(bus_file(path, "bus")) >= sizeof(where.sun_path))
		return -ENAMETOOLONG;
	strcpy(where.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&where, sizeof(where)) || listen(fd, SOMAXCONN)) {
		err = -errno;
		close(fd);
	}
	return err ? err : fd;
}

/* Everybody may do everything, as in the configuration of the dbus-daemon beside it. */
static int append_policy(sd_bus_message *m)
{
	int err = sd_bus_message_open_container(m, 'v', "(" POLICY ")");

	if (err >= 0)
		err = sd_bus_message_append(m, "(" POLICY ")",
					    1, ANY_UID, true, UINT64_C(1),
					    1, true, UINT64_C(1), true, "",
					    1, true, UINT64_C(1), ANY_MESSAGE,
					    1, true, UINT64_C(1), ANY_MESSAGE,
					    0, 0, false, "session");
	if (err >= 0)
		err = sd_bus_message_close_container(m);
	return err;
}

static int add_listener(int listener)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *m = NULL;
	int err = sd_bus_message_new_method_call(controller, &m, NULL, "/org/bus1/DBus/Broker",
						 "org.bus1.DBus.Broker", "AddListener");

	if (err >= 0)
		err = sd_bus_message_append(m, "oh", "/org/bus1/DBus/Listener/0", listener);
	if (err >= 0)
		err = append_policy(m);
	if (err >= 0)
		err = sd_bus_call(controller, m, READY_US, &error, NULL);
	if (error.name)
		fprintf(stderr, "anybinder: dbus-broker: %s\n", error.name);
	sd_bus_message_unref(m);
	sd_bus_error_free(&error);
	return err;
}

static int control(int fd)
{
	int listener, err = sd_bus_new(&controller);

	if (err < 0) {
		close(fd);
		return err;
	}
	err = sd_bus_set_fd(controller, fd, fd);
	if (err >= 0)
		err = sd_bus_start(controller);
	listener = err < 0 ? err : listen_at_bus();
	if (listener < 0)
		return listener;
	err = add_listener(listener);
	close(listener);
	return err;
}

/**
 * bus_broker_start() - start one as a member of @crew and wait until it listens
 * Return: 0, or -1 with a message. bus_remove() and bus_broker_end() are due in both cases.
 */
int bus_broker_start(struct crew *crew)
{
	struct member *broker;
	int pair[2], err;

	if (bus_prepare())
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		perror("anybinder: socketpair");
		return -1;
	}
	broker_end = pair[1];
	broker = crew_start(crew, false, broker_main, NULL);
	close(broker_end);
	if (!broker) {
		close(pair[0]);
		return -1;
	}
	err = control(pair[0]);
	if (err < 0 && !crew_interrupted()) {
		bus_show_log();
		fprintf(stderr, "anybinder: dbus-broker does not start: %s\n",
			broker->error[0] ? broker->error : strerror(-err));
	}
	return err < 0 ? -1 : 0;
}

/** bus_broker_end() - no longer be its controller. */
void bus_broker_end(void)
{
	controller = sd_bus_close_unref(controller);
}
