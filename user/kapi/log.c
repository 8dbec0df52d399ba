// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text out: messages, warnings, fatal errors, the rate limit. May run under
 * any lock of the core, so it uses none of them, only a leaf of its own.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <binder_kapi.h>
#include <linux/kernel.h>

#define LINE_MAX_BYTES 1024

void (*binder_kapi_log_hook)(int level, const char *text);
void (*binder_kapi_fatal_hook)(const char *text);
u64 (*binder_kapi_clock_ms)(void);
int binder_kapi_warnings;

static pthread_mutex_t ratelimit_lock = PTHREAD_MUTEX_INITIALIZER;

/* One write(2), so that lines of several threads do not mix. */
static void log_stderr(const char *text, size_t len)
{
	ssize_t done = write(STDERR_FILENO, text, len);

	/* Nowhere is left to say that stderr failed. */
	(void)done;
}

static void log_text(int level, const char *text, size_t len)
{
	if (binder_kapi_log_hook)
		binder_kapi_log_hook(level, text);
	else
		log_stderr(text, len);
}

void binder_kapi_log(int level, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vscnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	log_text(level, line, (size_t)len);
}

void binder_kapi_warn(const char *site, const char *expr, bool *once)
{
	__atomic_fetch_add(&binder_kapi_warnings, 1, __ATOMIC_RELAXED);
	if (once && __atomic_exchange_n(once, true, __ATOMIC_RELAXED))
		return;
	binder_kapi_log(BINDER_KAPI_ERR, "WARNING: %s: %s\n", site, expr);
}

void binder_kapi_fatal(const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vscnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	if (binder_kapi_fatal_hook)
		binder_kapi_fatal_hook(line);
	line[len] = '\n';
	log_stderr("FATAL: ", 7);
	log_stderr(line, (size_t)len + 1);
	abort();
}

static u64 clock_ms(void)
{
	struct timespec now;

	if (binder_kapi_clock_ms)
		return binder_kapi_clock_ms();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

bool binder_ratelimit_ok(struct binder_ratelimit *limit, int level, const char *site)
{
	unsigned int missed = 0;
	u64 now = clock_ms();
	bool ok;

	pthread_mutex_lock(&ratelimit_lock);
	if (!limit->printed || now - limit->begin_ms >= BINDER_RATELIMIT_INTERVAL_MS) {
		missed = limit->missed;
		limit->begin_ms = now;
		limit->printed = 0;
		limit->missed = 0;
	}
	ok = limit->printed < BINDER_RATELIMIT_BURST;
	if (ok)
		limit->printed++;
	else
		limit->missed++;
	pthread_mutex_unlock(&ratelimit_lock);
	if (missed)
		binder_kapi_log(level, "%s: %u messages suppressed\n", site, missed);
	return ok;
}
