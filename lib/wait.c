// SPDX-License-Identifier: MIT
/*
 * Waiting for the service manager and for services: by asking again, less and less
 * often, and for a service also by being told, where the manager does that and a
 * thread is there to hear it.
 */
#include "service_internal.h"

#include <stdlib.h>
#include <time.h>

#define FIRST_MS 10
#define MOST_MS 250
/* With a watch: only in case that the manager has died. */
#define WATCHING_MS 1000

/** ab_now_ms() - of a clock that does not go back */
int64_t ab_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/** ab_time_in() - a moment that is to come, for waiting on what ab_cond_init() made */
struct timespec ab_time_in(int64_t ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += ms / 1000;
	time.tv_nsec += ms % 1000 * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

/** ab_cond_init() - a condition that is waited for by the monotonic clock */
void ab_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

/**
 * struct patience - how long to wait, and how long until the next try
 * @until: in ms of ab_now_ms(); negative: for ever
 */
struct patience {
	int64_t until, next;
};

static struct patience patience_new(int timeout_ms)
{
	return (struct patience){ timeout_ms < 0 ? -1 : ab_now_ms() + timeout_ms, FIRST_MS };
}

/* How long until the next try, in ms; 0: the time is up. */
static int64_t patience_step(struct patience *patience, int64_t most)
{
	int64_t step = patience->next < most ? patience->next : most;
	int64_t left = patience->until < 0 ? step : patience->until - ab_now_ms();

	patience->next = 2 * step;
	if (left <= 0)
		return 0;
	return left < step ? left : step;
}

/* ---- the manager ------------------------------------------------------------------------ */

static int ping_manager(ab_conn *conn)
{
	ab_object *manager;
	int ret = ab_manager(conn, &manager);

	if (!ret)
		ret = ab_ping(manager);
	ab_object_put(manager);
	return ret;
}

int ab_manager_wait(ab_conn *conn, int timeout_ms)
{
	struct patience patience = patience_new(timeout_ms);
	int ret;

	while ((ret = ping_manager(conn)) == -EPIPE) {
		int64_t step = patience_step(&patience, MOST_MS);
		struct timespec time = { .tv_sec = step / 1000, .tv_nsec = step % 1000 * 1000000 };

		if (!step)
			return -ETIMEDOUT;
		nanosleep(&time, NULL);
	}
	return ret;
}

/* ---- services --------------------------------------------------------------------------- */

/**
 * struct waiter - somebody who waits, and what he is told
 * @refs: his, and the watch's
 */
struct waiter {
	atomic_uint refs;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool told;
};

static struct waiter *waiter_new(void)
{
	struct waiter *waiter = calloc(1, sizeof(*waiter));

	if (!waiter)
		return NULL;
	atomic_init(&waiter->refs, 1);
	pthread_mutex_init(&waiter->lock, NULL);
	ab_cond_init(&waiter->changed);
	return waiter;
}

static void waiter_put(void *data)
{
	struct waiter *waiter = data;

	if (atomic_fetch_sub(&waiter->refs, 1) != 1)
		return;
	pthread_cond_destroy(&waiter->changed);
	pthread_mutex_destroy(&waiter->lock);
	free(waiter);
}

static void waiter_tell(void *data, const char *name, ab_object *object)
{
	struct waiter *waiter = data;

	pthread_mutex_lock(&waiter->lock);
	waiter->told = true;
	pthread_cond_signal(&waiter->changed);
	pthread_mutex_unlock(&waiter->lock);
}

/* Until told that it is there, or for @ms. */
static void waiter_sleep(struct waiter *waiter, int64_t ms)
{
	struct timespec until = ab_time_in(ms);

	pthread_mutex_lock(&waiter->lock);
	while (!waiter->told &&
	       !pthread_cond_timedwait(&waiter->changed, &waiter->lock, &until))
		;
	waiter->told = false;
	pthread_mutex_unlock(&waiter->lock);
}

/* A callback that nobody serves would lie in our mapping until the connection closes. */
static bool somebody_serves(ab_conn *conn)
{
	bool serves;

	pthread_mutex_lock(&conn->lock);
	serves = conn->loops;
	pthread_mutex_unlock(&conn->lock);
	return serves;
}

/* What cannot be watched is asked for more often. */
static void watch_begin(ab_conn *conn, const char *name, struct waiter *waiter, ab_watch **watch)
{
	if (!ab_variant_code(conn->variant, AB_SM_REGISTER_FOR_NOTIFICATIONS) ||
	    !somebody_serves(conn))
		return;
	atomic_fetch_add(&waiter->refs, 1);
	ab_watch_new(conn, name, waiter_tell, waiter, waiter_put, watch);
}

static int wait_for(ab_conn *conn, const char *name, struct patience *patience,
		    struct waiter *waiter, ab_object **object)
{
	ab_watch *watch = NULL;
	int64_t step;
	int ret;

	for (;;) {
		ret = ab_service_check(conn, name, object);
		if (ret != -ENOENT && ret != -EPIPE)
			break;
		/* With the manager went the watch. */
		if (ret == -EPIPE) {
			ab_service_unwatch(watch);
			watch = NULL;
		} else if (!watch) {
			watch_begin(conn, name, waiter, &watch);
		}
		step = patience_step(patience, watch ? WATCHING_MS : MOST_MS);
		if (!step) {
			ret = -ETIMEDOUT;
			break;
		}
		waiter_sleep(waiter, step);
	}
	ab_service_unwatch(watch);
	return ret;
}

int ab_service_wait(ab_conn *conn, const char *name, int timeout_ms, ab_object **object)
{
	struct patience patience = patience_new(timeout_ms);
	struct waiter *waiter;
	int ret;

	/* Mostly it is there. */
	ret = ab_service_check(conn, name, object);
	if (ret != -ENOENT && ret != -EPIPE)
		return ret;
	waiter = waiter_new();
	if (!waiter)
		return -ENOMEM;
	ret = wait_for(conn, name, &patience, waiter, object);
	waiter_put(waiter);
	return ret;
}
