/* SPDX-License-Identifier: MIT */
/* What service.c, watch.c, wait.c and publish.c share. */
#ifndef AB_SERVICE_INTERNAL_H
#define AB_SERVICE_INTERNAL_H

#include "threads.h"

ab_parcel *ab_manager_request(ab_conn *conn);
int ab_manager_call(ab_conn *conn, enum ab_manager_call call, ab_parcel *in, ab_parcel **out);

int ab_watch_new(ab_conn *conn, const char *name, ab_watch_fn *fn, void *data,
		 void (*destroy)(void *data), ab_watch **watch);

/* Monotonic. */
int64_t ab_now_ms(void);
struct timespec ab_time_in(int64_t ms);
void ab_cond_init(pthread_cond_t *cond);

#endif
