/* SPDX-License-Identifier: MIT */
/* Names of abstract UNIX sockets that nobody else has: no files, nothing to remove. */
#ifndef BENCH_LOCAL_NAME_H
#define BENCH_LOCAL_NAME_H

#define LOCAL_NAME_MAX 100

int local_name_new(void);
const char *local_name(char name[LOCAL_NAME_MAX], const char *scheme, int pair);

#endif
