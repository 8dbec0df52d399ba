/* SPDX-License-Identifier: MIT */
/* The object that a subcommand is about: by a name of the service manager, or the manager. */
#ifndef TOOLS_TARGET_H
#define TOOLS_TARGET_H

#include "tools/options.h"

/**
 * target_find() - find an object, or say why not
 * @common: options of the subcommand
 * @conn: of its device
 * @name: with the service manager; NULL: the context manager itself
 * @object: receives it, for ab_object_put(); NULL after a failure
 *
 * Return: an exit code.
 */
int target_find(const struct common *common, ab_conn *conn, const char *name,
		ab_object **object);

/** target_text() - @name, or words for the context manager */
const char *target_text(const char *name);

/** target_lost() - say that there is no context manager. Return: EXIT_FAILED. */
int target_lost(const struct common *common);

/**
 * target_deadline() - end the program with words when an object does not answer in time
 * @name: of the object; kept
 * @seconds: 0 takes the deadline back
 */
void target_deadline(const char *name, unsigned int seconds);

#endif
