// SPDX-License-Identifier: MIT
/*
 * The protocol of sd_notify(3): a datagram to the socket that NOTIFY_SOCKET names.
 * Without it nobody asked.
 */
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

/** sm_notify() - tell systemd. @state: lines of NAME=VALUE. */
void sm_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;
	ssize_t sent = -1;
	int fd;

	if (!len || len >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, len);
	if (path[0] == '@')
		address.sun_path[0] = '\0'; /* not in the file system */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL,
			      (const struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	}
	if (sent < 0)
		sm_say(SM_WARNING, "cannot tell systemd (%s): %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/** sm_notify_reloading() - a new policy is being read; sm_notify("READY=1") ends it */
void sm_notify_reloading(void)
{
	struct timespec now;
	char state[80];

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%llu",
		 (unsigned long long)now.tv_sec * 1000000 +
			 (unsigned long long)now.tv_nsec / 1000);
	sm_notify(state);
}

/** sm_notify_ready() - calls are served now. @fd: gets "READY\n" and is closed; -1 for none. */
void sm_notify_ready(int fd)
{
	if (fd >= 0) {
		if (dprintf(fd, "READY\n") < 0)
			sm_say(SM_WARNING, "cannot write to --ready-fd=%d: %s", fd,
			       strerror(errno));
		close(fd);
	}
	sm_notify("READY=1");
}

/** sm_notify_watchdog_ms() - how often systemd wants to hear that we live. Return: 0: never. */
uint64_t sm_notify_watchdog_ms(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	unsigned long long interval;

	if (!usec || (pid && strtoull(pid, NULL, 10) != (unsigned long long)getpid()))
		return 0;
	interval = strtoull(usec, NULL, 10) / 1000 / 2;
	return usec[0] >= '0' && usec[0] <= '9' && interval ? interval : 0;
}
