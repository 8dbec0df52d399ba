// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "user/host/say.h"

/* One datagram to the service manager, if there is one; not worth a library. */
static void service_notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (!len || len >= sizeof(addr.sun_path))
		return;
	memcpy(addr.sun_path, path, len);
	/* A leading @ stands for the NUL of an abstract name. */
	if (addr.sun_path[0] == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&addr,
		   offsetof(struct sockaddr_un, sun_path) + len) < 0)
		binder_say("cannot notify %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/**
 * binder_notify_ready() - mounted, and requests are served
 * @fd: gets "READY\n" and is closed; -1 for none
 */
void binder_notify_ready(int fd)
{
	static const char word[] = "READY\n";

	if (fd >= 0) {
		if (write(fd, word, sizeof(word) - 1) < 0)
			binder_say("cannot write to --ready-fd %d: %s\n", fd, strerror(errno));
		close(fd);
	}
	service_notify("READY=1");
}

/** binder_notify_stopping() - on the way out */
void binder_notify_stopping(void)
{
	service_notify("STOPPING=1");
}
