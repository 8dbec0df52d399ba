/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spinlocks of a world in which one thing happens at a time: only the witness
 * is left. A lock that would have to wait is a deadlock and is reported.
 */
#ifndef SIM_KAPI_SPINLOCK_H
#define SIM_KAPI_SPINLOCK_H

#include <binder_witness.h>
#include <linux/compiler.h>
#include <sim_lock.h>

typedef struct {
	struct binder_witness witness;
} spinlock_t;

#define DEFINE_SPINLOCK(name_) \
	spinlock_t name_ = { .witness = BINDER_WITNESS_INIT(#name_, BINDER_WITNESS_SPIN) }

#define binder_kapi_spin_init(lock, rank, name) \
	binder_witness_init(&(lock)->witness, rank, name, BINDER_WITNESS_SPIN)
#define spin_lock_init(lock) binder_kapi_spin_init(lock, BINDER_WITNESS_UNRANKED, #lock)

#define spin_lock(lock) sim_lock(&(lock)->witness, BINDER_SITE)
#define spin_trylock(lock) sim_trylock(&(lock)->witness, BINDER_SITE)
#define spin_unlock(lock) binder_witness_unlock(&(lock)->witness, BINDER_SITE)

#endif
