/* SPDX-License-Identifier: MIT */
/* What `anybinder call` writes and reads. */
#ifndef TOOLS_CALL_H
#define TOOLS_CALL_H

#include "tools/options.h"

/**
 * call_write() - write what the words of the command line say
 * @parcel: to be written to
 * @words: TYPE VALUE TYPE VALUE ..., some types without a value; NULL at the end
 *
 * Return: an exit code; EXIT_USAGE after a message.
 */
int call_write(const struct common *common, ab_conn *conn, ab_parcel *parcel, char **words);

/** call_types_known() - may call_print() be given this? */
bool call_types_known(const char *types);

/**
 * call_print() - print a reply
 * @types: what it holds, with commas between; NULL: guess, and show the bytes
 *
 * Return: an exit code.
 */
int call_print(const struct common *common, ab_conn *conn, ab_parcel *reply, const char *types);

#endif
