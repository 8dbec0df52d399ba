/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line. */
#ifndef USER_HOST_OPTIONS_H
#define USER_HOST_OPTIONS_H

#include <linux/types.h>

#include "user/host/mapping.h"

struct binder_options {
	const char *mountpoint;
	const char *devices;
	u32 max_devices;
	u32 mode;
	enum binder_mapping mapping;
	u32 workers; /* 0: one for each CPU */
	u32 idle_reclaim_s; /* 0: never */
	int ready_fd; /* -1: none */
	bool verbose;
};

int binder_options_parse(struct binder_options *o, int argc, char **argv);

#endif
