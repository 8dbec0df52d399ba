/* SPDX-License-Identifier: GPL-2.0-only */
/* The guess of where a payload is; the copies themselves are of core/host.h. */
#ifndef USER_HOST_MEMORY_H
#define USER_HOST_MEMORY_H

#include <binder_host_types.h>

void binder_guess_begin(struct binder_guess *guess, const struct binder_write_read *bwr);
void binder_guess_end(struct binder_guess *guess);

#endif
