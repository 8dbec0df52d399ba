// SPDX-License-Identifier: MIT
#include "bench/local_name.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>

static uint64_t secret;

/** local_name_new() - begin a measurement with other names. Return: 0, or -1 with a message. */
int local_name_new(void)
{
	if (getrandom(&secret, sizeof(secret), 0) == sizeof(secret))
		return 0;
	perror("anybinder: getrandom");
	return -1;
}

/**
 * local_name() - of the socket of a pair of processes, the same in all processes
 * @scheme: how the library marks such a name, put before it
 * Return: @name.
 */
const char *local_name(char name[LOCAL_NAME_MAX], const char *scheme, int pair)
{
	snprintf(name, LOCAL_NAME_MAX, "%sanybinder-bench-%016llx-%d", scheme,
		 (unsigned long long)secret, pair);
	return name;
}
