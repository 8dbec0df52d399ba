/* SPDX-License-Identifier: MIT */
/* The command line. */
#ifndef SM_OPTIONS_H
#define SM_OPTIONS_H

#include "anybinder.h"

/**
 * struct sm_options - what was asked for
 * @policy: NULL: the usual file, if it is there
 * @ready_fd: -1: none
 * @check: only read the policy
 */
struct sm_options {
	const char *device, *policy;
	enum ab_variant variant;
	int ready_fd;
	bool check;
};

int sm_options_parse(struct sm_options *options, int argc, char **argv);

#endif
