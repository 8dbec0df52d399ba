// SPDX-License-Identifier: GPL-2.0-only
/* Making locks of pthread mutexes; taking them is inline in the headers. */
#include <linux/mutex.h>
#include <linux/spinlock.h>

void binder_kapi_spin_init(spinlock_t *lock, int rank, const char *name)
{
	pthread_mutexattr_t attr;

	/* A holder runs for less than a wake-up on another CPU costs: spin first. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&lock->raw, &attr);
	pthread_mutexattr_destroy(&attr);
	binder_witness_init(&lock->witness, rank, name, BINDER_WITNESS_SPIN);
}

void binder_kapi_mutex_init(struct mutex *mutex, int rank, const char *name)
{
	pthread_mutex_init(&mutex->raw, NULL);
	binder_witness_init(&mutex->witness, rank, name, 0);
}
