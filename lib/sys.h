/* SPDX-License-Identifier: MIT */
/*
 * All the library asks of the system. A test links a scripted driver in its
 * place.
 */
#ifndef AB_SYS_H
#define AB_SYS_H

#include <stdbool.h>
#include <stddef.h>

/* Each returns what the system call returns, or a negative errno. */
int ab_sys_open(const char *path);
int ab_sys_close(int fd);
void *ab_sys_map(int fd, size_t size, int *error);
void ab_sys_unmap(void *addr, size_t size);
int ab_sys_ioctl(int fd, unsigned int cmd, void *arg);
/** ab_sys_kick() - make every read of the device that waits return */
void ab_sys_kick(int fd);
/** ab_sys_readable() - would a read of the device return at once? */
bool ab_sys_readable(int fd);

#endif
