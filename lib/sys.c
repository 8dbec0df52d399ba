// SPDX-License-Identifier: MIT
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int ab_sys_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int ab_sys_close(int fd)
{
	return close(fd) ? -errno : 0;
}

void *ab_sys_map(int fd, size_t size, int *error)
{
	void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0);

	if (map != MAP_FAILED)
		return map;
	*error = -errno;
	return NULL;
}

void ab_sys_unmap(void *addr, size_t size)
{
	munmap(addr, size);
}

int ab_sys_ioctl(int fd, unsigned int cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

void ab_sys_kick(int fd)
{
	/* Closing any descriptor of the device flushes it. */
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy >= 0)
		close(copy);
}

bool ab_sys_readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	/* If it cannot be told, reading will tell. */
	return poll(&poll_fd, 1, 0) != 0;
}
