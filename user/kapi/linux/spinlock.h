/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spinlocks: a pthread mutex that spins a little before it sleeps, under the
 * witness, which forbids to sleep while one is held. What a user-space
 * program cannot give is "never preempted while held".
 */
#ifndef USER_KAPI_SPINLOCK_H
#define USER_KAPI_SPINLOCK_H

#include <pthread.h>
#include <binder_witness.h>
#include <linux/compiler.h>

typedef struct {
	pthread_mutex_t raw;
	struct binder_witness witness;
} spinlock_t;

#define DEFINE_SPINLOCK(name_) spinlock_t name_ = {			\
	.raw = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP,			\
	.witness = BINDER_WITNESS_INIT(#name_, BINDER_WITNESS_SPIN) }

/** binder_kapi_spin_init() - spin_lock_init() with a rank and a name for messages */
void binder_kapi_spin_init(spinlock_t *lock, int rank, const char *name);
#define spin_lock_init(lock) binder_kapi_spin_init(lock, BINDER_WITNESS_UNRANKED, #lock)

static inline void binder_kapi_spin_lock(spinlock_t *lock, const char *site)
{
	binder_witness_lock(&lock->witness, site);
	pthread_mutex_lock(&lock->raw);
	binder_witness_locked(&lock->witness, site);
}

static inline bool binder_kapi_spin_trylock(spinlock_t *lock, const char *site)
{
	if (binder_witness_held(&lock->witness) || pthread_mutex_trylock(&lock->raw))
		return false;
	binder_witness_locked(&lock->witness, site);
	return true;
}

static inline void binder_kapi_spin_unlock(spinlock_t *lock, const char *site)
{
	binder_witness_unlock(&lock->witness, site);
	pthread_mutex_unlock(&lock->raw);
}

#define spin_lock(lock) binder_kapi_spin_lock(lock, BINDER_SITE)
#define spin_trylock(lock) binder_kapi_spin_trylock(lock, BINDER_SITE)
#define spin_unlock(lock) binder_kapi_spin_unlock(lock, BINDER_SITE)

#endif
