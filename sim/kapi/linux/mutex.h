/* SPDX-License-Identifier: GPL-2.0-only */
/* As sim's spinlock.h. */
#ifndef SIM_KAPI_MUTEX_H
#define SIM_KAPI_MUTEX_H

#include <binder_witness.h>
#include <linux/compiler.h>
#include <sim_lock.h>

struct mutex {
	struct binder_witness witness;
};

#define DEFINE_MUTEX(name_) struct mutex name_ = { .witness = BINDER_WITNESS_INIT(#name_, 0) }

#define binder_kapi_mutex_init(mutex, rank, name) \
	binder_witness_init(&(mutex)->witness, rank, name, 0)
#define mutex_init(mutex) binder_kapi_mutex_init(mutex, BINDER_WITNESS_UNRANKED, #mutex)

#define mutex_lock(mutex) sim_lock(&(mutex)->witness, BINDER_SITE)
#define mutex_trylock(mutex) sim_trylock(&(mutex)->witness, BINDER_SITE)
#define mutex_unlock(mutex) binder_witness_unlock(&(mutex)->witness, BINDER_SITE)

#endif
