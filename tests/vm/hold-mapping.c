// SPDX-License-Identifier: MIT
/* Hold nothing of a driver but a mapping: hold-mapping DEVICE, until it is killed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0 || mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		fprintf(stderr, "hold-mapping: %s\n", argc == 2 ? strerror(errno) : "DEVICE?");
		return 1;
	}
	close(fd);
	for (;;)
		pause();
}
