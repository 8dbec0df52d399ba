/* SPDX-License-Identifier: MIT */
/*
 * Instances of a kernel driver's binderfs, mounted by the case that uses them:
 * in a mount namespace of its own, over a tmpfs at the place of the one that it
 * was given. They go with the case. An instance is named by its directory there.
 */
#ifndef TESTS_PROCESS_INSTANCE_H
#define TESTS_PROCESS_INSTANCE_H

#include "uapi/binderfs.h"

#include <stdbool.h>

void instance_begin(void);
void instance_enter_user_ns(void);
const char *instance_type(void);

int instance_try_mount(const char *instance, const char *options);
void instance_mount(const char *instance, const char *options);
char *instance_options(const char *instance);

char *instance_path(const char *instance, const char *name);
bool instance_has(const char *instance, const char *name);
int instance_rename(const char *from, const char *to, unsigned int flags);

int instance_try_add(const char *instance, const char *name, struct binderfs_device *device);
unsigned int instance_devices(const char *instance);
int instance_open(const char *instance, const char *name);
bool instance_opens(const char *instance, const char *name);
bool instance_fd_works(int fd);

#endif
