/* SPDX-License-Identifier: MIT */
/* Names and words for the numbers and lines that drivers and programs print. */
#ifndef TOOLS_DECODE_H
#define TOOLS_DECODE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct meaning - what a number can be
 * @kind: such as "return of the driver"
 * @name: as programs spell it
 * @words: what it says, and what to do; NULL: no more than the name
 */
struct meaning {
	const char *kind, *name, *words;
};

#define MEANINGS_MAX 8

/**
 * decode_number() - all that a number can be
 * @number: as it was printed
 * @meanings: receives at most MEANINGS_MAX, the likeliest first
 *
 * Return: how many.
 */
size_t decode_number(int64_t number, struct meaning *meanings);

/** decode_name() - a number by its name, such as BR_DEAD_REPLY or _PNG. Return: how many. */
size_t decode_name(const char *name, struct meaning *meanings);

/**
 * decode_flags() - flags of a transaction
 * @flags: of which those that are known are taken away
 *
 * Return: how many.
 */
size_t decode_flags(uint32_t *flags, struct meaning *meanings);

/**
 * decode_pair() - the driver's "29189/-22": a return and its errno
 * @size: of the transaction's data; 0 if that is not known
 *
 * Return: what usually is the reason and what to do; a constant, NULL if nothing is known.
 */
const char *decode_pair(uint32_t command, int error, uint64_t size);

/** decode_command() - the name of a return or command, or NULL */
const char *decode_command(uint32_t number);

/** decode_phrase() - a line of a log that says in words what is wrong. Return: more words, NULL. */
const char *decode_phrase(const char *line);

#endif
