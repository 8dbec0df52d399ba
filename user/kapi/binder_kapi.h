/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the user-space kapi adds to the kernel's names: where text goes, the
 * clock of the rate limit, warnings counted. For host code and for the kapi's
 * own headers; core/ does not know it.
 */
#ifndef USER_KAPI_BINDER_KAPI_H
#define USER_KAPI_BINDER_KAPI_H

#include <linux/compiler.h>
#include <linux/types.h>

/* The numbers of syslog(3). */
enum binder_kapi_level {
	BINDER_KAPI_ERR = 3,
	BINDER_KAPI_WARN = 4,
	BINDER_KAPI_INFO = 6,
};

/**
 * binder_kapi_log() - one message, to the hook or to stderr in one write
 * Context: any, also under spinlocks; does not use the kapi's locks.
 */
void binder_kapi_log(int level, const char *fmt, ...) __printf(2, 3);

/* Set before threads start. @text ends as the caller ended it, usually in a newline.
 * Runs in the context of binder_kapi_log(). */
extern void (*binder_kapi_log_hook)(int level, const char *text);

/* The clock of the rate limit, for a host with a clock of its own. NULL: CLOCK_MONOTONIC. */
extern u64 (*binder_kapi_clock_ms)(void);

/* WARN_ON()s hit since start, every time counted. Tests want 0. */
extern int binder_kapi_warnings;

/**
 * binder_kapi_warn() - count a failed assertion and print it
 * @once: the site's flag, printed only while it is false; NULL prints always
 */
void binder_kapi_warn(const char *site, const char *expr, bool *once);

/** binder_kapi_fatal() - a broken invariant that must not go on: print, abort() */
void binder_kapi_fatal(const char *fmt, ...) __printf(1, 2)
	__attribute__((__noreturn__, __cold__));

/* Told instead of printing and aborting; must not return (a test jumps out). */
extern void (*binder_kapi_fatal_hook)(const char *text);

#define BINDER_RATELIMIT_BURST 10
#define BINDER_RATELIMIT_INTERVAL_MS 5000

/* One printing site. Guarded by a lock of its own kind in log.c. */
struct binder_ratelimit {
	u64 begin_ms;
	unsigned int printed;
	unsigned int missed;
};

/**
 * binder_ratelimit_ok() - may this site print now?
 * At most BINDER_RATELIMIT_BURST a BINDER_RATELIMIT_INTERVAL_MS; says how many were missed,
 * at @level, so that nobody hears of missing what he does not get.
 */
bool binder_ratelimit_ok(struct binder_ratelimit *limit, int level, const char *site);

#endif
