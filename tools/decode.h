/* SPDX-License-Identifier: MIT */
/* Names and words for the numbers that drivers and programs print. */
#ifndef TOOLS_DECODE_H
#define TOOLS_DECODE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct meaning - what a number can be
 * @kind: such as "return of the driver"
 * @name: as programs spell it; NULL: none
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

/**
 * decode_pair() - the driver's "29189/-22": a return and its errno
 * Return: what usually is the reason and what to do; a constant, NULL if nothing is known.
 */
const char *decode_pair(uint32_t command, int error);

/** decode_command() - the name of a return or command, or NULL */
const char *decode_command(uint32_t number);

#endif
