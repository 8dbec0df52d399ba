/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_KAPI_SIM_LOCK_H
#define SIM_KAPI_SIM_LOCK_H

#include <binder_witness.h>

/** sim_lock() - take a lock that must be free; fatal if somebody has it */
void sim_lock(struct binder_witness *w, const char *site);
/** sim_trylock() - take it if it is free and sim_trylock_fail() does not forbid */
bool sim_trylock(struct binder_witness *w, const char *site);

#endif
