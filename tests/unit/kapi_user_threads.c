// SPDX-License-Identifier: GPL-2.0-only
/* user/kapi only: its locks exclude, and the checker costs no correctness under contention. */
#include <pthread.h>

#include "kapi_check.h"

#define NR_THREADS 4
#define ROUNDS 20000

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(mutex);
static unsigned long by_spin, by_mutex, by_try, tried;

static void *work(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		mutex_lock(&mutex);
		by_mutex++;
		spin_lock(&spin);
		lockdep_assert_held(&spin);
		by_spin++;
		spin_unlock(&spin);
		mutex_unlock(&mutex);
		if (spin_trylock(&spin)) {
			by_try++;
			spin_unlock(&spin);
			__atomic_fetch_add(&tried, 1, __ATOMIC_RELAXED);
		}
		if (mutex_trylock(&mutex)) {
			by_mutex++;
			by_mutex--;
			mutex_unlock(&mutex);
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, NULL));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(by_mutex == NR_THREADS * ROUNDS);
	CHECK(by_spin == NR_THREADS * ROUNDS);
	CHECK(by_try == tried);
	return 0;
}
