/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef USER_KAPI_MUTEX_H
#define USER_KAPI_MUTEX_H

#include <pthread.h>
#include <binder_witness.h>
#include <linux/compiler.h>

struct mutex {
	pthread_mutex_t raw;
	struct binder_witness witness;
};

#define DEFINE_MUTEX(name_) struct mutex name_ = {	\
	.raw = PTHREAD_MUTEX_INITIALIZER,		\
	.witness = BINDER_WITNESS_INIT(#name_, 0) }

/** binder_kapi_mutex_init() - mutex_init() with a rank and a name for messages */
void binder_kapi_mutex_init(struct mutex *mutex, int rank, const char *name);
#define mutex_init(mutex) binder_kapi_mutex_init(mutex, BINDER_WITNESS_UNRANKED, #mutex)

static inline void binder_kapi_mutex_lock(struct mutex *mutex, const char *site)
{
	binder_witness_lock(&mutex->witness, site);
	pthread_mutex_lock(&mutex->raw);
	binder_witness_locked(&mutex->witness, site);
}

/* Allowed under a spinlock, as in the kernel: it does not wait. */
static inline bool binder_kapi_mutex_trylock(struct mutex *mutex, const char *site)
{
	if (binder_witness_held(&mutex->witness) || pthread_mutex_trylock(&mutex->raw))
		return false;
	binder_witness_locked(&mutex->witness, site);
	return true;
}

static inline void binder_kapi_mutex_unlock(struct mutex *mutex, const char *site)
{
	binder_witness_unlock(&mutex->witness, site);
	pthread_mutex_unlock(&mutex->raw);
}

#define mutex_lock(mutex) binder_kapi_mutex_lock(mutex, BINDER_SITE)
#define mutex_trylock(mutex) binder_kapi_mutex_trylock(mutex, BINDER_SITE)
#define mutex_unlock(mutex) binder_kapi_mutex_unlock(mutex, BINDER_SITE)

#endif
