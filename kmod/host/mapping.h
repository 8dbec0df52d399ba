/* SPDX-License-Identifier: GPL-2.0-only */
/* The receiver's mapping of a device, and the shrinker of its idle pages. */
#ifndef KMOD_HOST_MAPPING_H
#define KMOD_HOST_MAPPING_H

#include <linux/fs.h>

struct binder_alloc;

void binder_mapping_attach(struct binder_alloc *alloc, struct file *file);

int binder_shrinker_init(void);
void binder_shrinker_exit(void);

#endif
