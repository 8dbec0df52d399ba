/* SPDX-License-Identifier: MIT */
/* A client and a service over libgbinder; test-gbinder says what must come of it. */
#ifndef GBINDER_PEER_H
#define GBINDER_PEER_H

#include <gbinder.h>

/* What a service of this program understands besides services/sample.h's calls. */
enum {
	PEER_BYTES = 10,   /* byte array -> the same */
	PEER_OBJECT = 11,  /* object -> the same */
	PEER_COUNT = 12,   /* one-way: nothing; else -> int32, how many one-way calls came */
	PEER_QUIT = 13,	   /* the process ends without an answer */
};

/* Main loops run until something has come; nothing is waited for longer than this. */
#define PEER_WAIT_SECONDS 60

struct peer {
	GMainLoop *loop;
	GBinderServiceManager *manager;
	const char *name;
};

/**
 * peer_say() - a line on standard output, at once
 * @format: as printf's, without the newline
 */
void peer_say(const char *format, ...) G_GNUC_PRINTF(1, 2);

/**
 * peer_serve() - be the service @p->name until the process is told to end
 * @p: connected, maybe to a device without a manager yet
 *
 * Registers again whenever there is a new manager. Says "served STATUS" each time.
 *
 * Return: what the process exits with.
 */
int peer_serve(struct peer *p);

/**
 * peer_use() - call the service @p->name
 * @p: connected
 * @steps: names of calls, NULL at the end
 *
 * Says "STEP: OUTCOME" for each.
 *
 * Return: what the process exits with.
 */
int peer_use(struct peer *p, char **steps);

#endif
