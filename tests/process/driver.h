/* SPDX-License-Identifier: MIT */
/*
 * The driver under test: where it is, what it has printed, what it holds.
 * Either somebody else's (BINDER_DIR) or a daemon of our own (ANYBINDERD).
 */
#ifndef TESTS_PROCESS_DRIVER_H
#define TESTS_PROCESS_DRIVER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct daemon - one running anybinderd
 * @pid: 0 when not running
 * @base: the private directory; holds mnt/ and log
 * @device: the path of its "binder"
 * @option: one more for its command line, or NULL; set before daemon_start()
 */
struct daemon {
	pid_t pid;
	char base[128];
	char mount[160];
	char log[160];
	char device[176];
	const char *option;
};

bool daemon_prepare(struct daemon *d);
bool daemon_start(struct daemon *d);
bool daemon_alive(struct daemon *d);
bool daemon_stop(struct daemon *d);
void daemon_discard(struct daemon *d);
void daemon_remove(struct daemon *d);
char *daemon_log(const struct daemon *d);
bool daemon_mounted(const struct daemon *d);

bool driver_open(void);
bool driver_close(void);
bool driver_is_own(void);
bool driver_is_sanitized(void);
const char *driver_dir(void);
char *driver_own_log(void);
pid_t driver_own_pid(void);
char *driver_read(const char *name);
bool driver_has_logs(void);
bool driver_device_add(const char *name);
int driver_reclaim(const char *what);
void driver_snapshot(void);
bool driver_settles(void);
bool driver_check(void);
bool driver_restart_after_crash(void);

#endif
