// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks and their checker. The table at the end says of each sequence whether
 * it should pass or should fail, and with which words; each runs in a thread
 * of its own.
 */
#include <pthread.h>

#include "kapi_check.h"
#include <binder_witness.h>

/* Ranks of this test: mutex and spinlock of each. */
enum { OUTER, MIDDLE, INNER };

struct with_lock {
	int before;
	spinlock_t lock;
};

static spinlock_t spin_outer, spin_middle, spin_inner;
static struct mutex mutex_outer, mutex_middle, mutex_inner;
static spinlock_t spin_any, spin_any2;
static struct mutex mutex_any, mutex_any2;
static DEFINE_SPINLOCK(spin_static);
static DEFINE_MUTEX(mutex_static);

static void init_all(void)
{
	binder_kapi_spin_init(&spin_outer, OUTER, "spin_outer");
	binder_kapi_spin_init(&spin_middle, MIDDLE, "spin_middle");
	binder_kapi_spin_init(&spin_inner, INNER, "spin_inner");
	binder_kapi_mutex_init(&mutex_outer, OUTER, "mutex_outer");
	binder_kapi_mutex_init(&mutex_middle, MIDDLE, "mutex_middle");
	binder_kapi_mutex_init(&mutex_inner, INNER, "mutex_inner");
	spin_lock_init(&spin_any);
	spin_lock_init(&spin_any2);
	mutex_init(&mutex_any);
	mutex_init(&mutex_any2);
}

/* What a sequence that was caught half way still holds. */
static void release_all(void)
{
	spinlock_t *const spins[] = {
		&spin_outer, &spin_middle, &spin_inner, &spin_any, &spin_any2, &spin_static,
	};
	struct mutex *const mutexes[] = {
		&mutex_outer, &mutex_middle, &mutex_inner, &mutex_any, &mutex_any2, &mutex_static,
	};

	for (size_t i = 0; i < ARRAY_SIZE(spins); i++)
		if (binder_witness_held(&spins[i]->witness))
			spin_unlock(spins[i]);
	for (size_t i = 0; i < ARRAY_SIZE(mutexes); i++)
		if (binder_witness_held(&mutexes[i]->witness))
			mutex_unlock(mutexes[i]);
}

/* ---- sequences that are right -------------------------------------------- */

static void in_order(void)
{
	mutex_lock(&mutex_outer);
	mutex_lock(&mutex_middle);
	spin_lock(&spin_inner);
	spin_unlock(&spin_inner);
	mutex_unlock(&mutex_middle);
	spin_lock(&spin_middle);
	spin_lock(&spin_inner);
	CHECK(binder_witness_depth() == 3);
	/* Not in reverse. */
	spin_unlock(&spin_middle);
	mutex_unlock(&mutex_outer);
	lockdep_assert_held(&spin_inner);
	spin_unlock(&spin_inner);
	CHECK(binder_witness_depth() == 0);
}

static void again_after_release(void)
{
	for (int i = 0; i < 3; i++) {
		spin_lock(&spin_inner);
		spin_unlock(&spin_inner);
		mutex_lock(&mutex_outer);
		mutex_unlock(&mutex_outer);
	}
}

/* Nothing is known of their order; what is wrong with it ThreadSanitizer has to find. */
static void unranked_among_others(void)
{
	mutex_lock(&mutex_outer);
	mutex_lock(&mutex_any);
	mutex_lock(&mutex_any2);
	mutex_unlock(&mutex_any);
	spin_lock(&spin_inner);
	spin_lock(&spin_any);
	spin_unlock(&spin_any);
	spin_unlock(&spin_inner);
	mutex_unlock(&mutex_any2);
	mutex_unlock(&mutex_outer);
}

static void static_locks(void)
{
	mutex_lock(&mutex_static);
	spin_lock(&spin_static);
	lockdep_assert_held(&mutex_static);
	lockdep_assert_held(&spin_static);
	spin_unlock(&spin_static);
	mutex_unlock(&mutex_static);
}

/* What a shrinker does: from the inner lock outwards, trying. */
static void trylock_against_order(void)
{
	spin_lock(&spin_inner);
	CHECK(mutex_trylock(&mutex_outer));
	CHECK(spin_trylock(&spin_middle));
	lockdep_assert_held(&mutex_outer);
	lockdep_assert_held(&spin_middle);
	spin_unlock(&spin_middle);
	spin_unlock(&spin_inner);
	binder_might_sleep(BINDER_SITE);
	mutex_unlock(&mutex_outer);
}

/* Reclaim that recurses into the thread that holds the lock. */
static void trylock_of_own_lock_fails(void)
{
	mutex_lock(&mutex_outer);
	CHECK(!mutex_trylock(&mutex_outer));
	mutex_unlock(&mutex_outer);
	spin_lock(&spin_outer);
	CHECK(!spin_trylock(&spin_outer));
	spin_unlock(&spin_outer);
	CHECK(spin_trylock(&spin_outer));
	spin_unlock(&spin_outer);
}

static void sleep_under_mutex(void)
{
	mutex_lock(&mutex_outer);
	kfree(kmalloc(8, GFP_KERNEL));
	kvfree(kvcalloc(1, 8, GFP_KERNEL));
	mutex_unlock(&mutex_outer);
}

static void atomic_alloc_under_spinlock(void)
{
	spin_lock(&spin_outer);
	kfree(kmalloc(8, 0));
	spin_unlock(&spin_outer);
}

static void free_beside_held_lock(void)
{
	struct with_lock *object = kzalloc(sizeof(*object), GFP_KERNEL);
	void *other = kmalloc(64, GFP_KERNEL);

	CHECK(object && other);
	spin_lock_init(&object->lock);
	spin_lock(&object->lock);
	kfree(other);
	spin_unlock(&object->lock);
	kfree(object);
}

/* ---- sequences that are wrong -------------------------------------------- */

static void spin_aa(void)
{
	spin_lock(&spin_outer);
	spin_lock(&spin_outer);
}

static void mutex_aa(void)
{
	mutex_lock(&mutex_outer);
	mutex_lock(&mutex_outer);
}

static void unranked_aa(void)
{
	mutex_lock(&mutex_any);
	mutex_lock(&mutex_any);
}

static void static_aa(void)
{
	spin_lock(&spin_static);
	spin_lock(&spin_static);
}

/* The second half is the wrong one, though nobody else runs. */
static void spin_abba(void)
{
	spin_lock(&spin_outer);
	spin_lock(&spin_inner);
	spin_unlock(&spin_inner);
	spin_unlock(&spin_outer);
	spin_lock(&spin_inner);
	spin_lock(&spin_outer);
}

static void mutex_abba(void)
{
	mutex_lock(&mutex_outer);
	mutex_lock(&mutex_inner);
	mutex_unlock(&mutex_inner);
	mutex_unlock(&mutex_outer);
	mutex_lock(&mutex_inner);
	mutex_lock(&mutex_outer);
}

static void spin_abbcca(void)
{
	spin_lock(&spin_outer);
	spin_lock(&spin_middle);
	spin_unlock(&spin_outer);
	spin_lock(&spin_inner);
	spin_unlock(&spin_middle);
	spin_lock(&spin_outer);
}

static void two_of_one_rank(void)
{
	mutex_lock(&mutex_middle);
	spin_lock(&spin_middle);
}

/* The highest held counts, not the last taken. */
static void below_an_earlier_one(void)
{
	spin_lock(&spin_inner);
	CHECK(spin_trylock(&spin_outer));
	spin_lock(&spin_middle);
}

static void spin_double_unlock(void)
{
	spin_lock(&spin_outer);
	spin_unlock(&spin_outer);
	spin_unlock(&spin_outer);
}

static void mutex_double_unlock(void)
{
	mutex_lock(&mutex_outer);
	mutex_unlock(&mutex_outer);
	mutex_unlock(&mutex_outer);
}

static void mutex_under_spinlock(void)
{
	spin_lock(&spin_outer);
	mutex_lock(&mutex_inner);
}

static void kmalloc_under_spinlock(void)
{
	spin_lock(&spin_outer);
	kfree(kmalloc(8, GFP_KERNEL));
}

static void kvcalloc_under_spinlock(void)
{
	spin_lock(&spin_outer);
	kvfree(kvcalloc(1, 8, GFP_KERNEL));
}

static void kstrdup_under_spinlock(void)
{
	spin_lock(&spin_outer);
	kfree(kstrdup("x", GFP_KERNEL));
}

static void bitmap_under_spinlock(void)
{
	spin_lock(&spin_outer);
	kvfree(kvcalloc(1, 8, GFP_KERNEL));
}

static void kvfree_under_spinlock(void)
{
	spin_lock(&spin_outer);
	kvfree(NULL);
}

static void sleep_under_tried_spinlock(void)
{
	CHECK(spin_trylock(&spin_outer));
	binder_might_sleep(BINDER_SITE);
}

static struct with_lock *freed_too_early;

static void spin_free_while_held(void)
{
	struct with_lock *object = kzalloc(sizeof(*object), GFP_KERNEL);

	CHECK(object);
	freed_too_early = object;
	spin_lock_init(&object->lock);
	spin_lock(&object->lock);
	kfree(object);
}

static void assert_free_lock(void)
{
	lockdep_assert_held(&spin_outer);
}

static void assert_other_lock(void)
{
	mutex_lock(&mutex_outer);
	lockdep_assert_held(&mutex_any);
}

static void assert_none_fails(void)
{
	mutex_lock(&mutex_outer);
	binder_witness_assert_none(BINDER_SITE);
}

/* ---- the same, between two threads ---------------------------------------- */

static void (*other_fn)(void);

static void *run_other(void *arg)
{
	other_fn();
	return NULL;
}

/* Run @fn in another thread, to its end, while this one holds what it holds. */
static void in_other_thread(void (*fn)(void))
{
	pthread_t thread;

	other_fn = fn;
	CHECK(!pthread_create(&thread, NULL, run_other, NULL));
	pthread_join(thread, NULL);
}

static void unlock_spin_outer(void)
{
	spin_unlock(&spin_outer);
}

static void unlock_mutex_outer(void)
{
	mutex_unlock(&mutex_outer);
}

static void expect_wrong_owner_spin(void)
{
	CHECK_DIES(unlock_spin_outer, "unlocked by a thread that does not hold it");
}

static void expect_wrong_owner_mutex(void)
{
	CHECK_DIES(unlock_mutex_outer, "unlocked by a thread that does not hold it");
}

static void expect_not_held(void)
{
	CHECK(!spin_trylock(&spin_outer));
	CHECK(!mutex_trylock(&mutex_outer));
	CHECK_DIES(assert_free_lock, "is not held by this thread");
	CHECK(binder_witness_depth() == 0);
}

static void wrong_owner(void)
{
	mutex_lock(&mutex_outer);
	in_other_thread(expect_wrong_owner_mutex);
	mutex_unlock(&mutex_outer);
	spin_lock(&spin_outer);
	in_other_thread(expect_wrong_owner_spin);
	/* It is still held here, properly. */
	lockdep_assert_held(&spin_outer);
	spin_unlock(&spin_outer);
}

static void held_elsewhere(void)
{
	mutex_lock(&mutex_outer);
	CHECK(spin_trylock(&spin_outer));
	in_other_thread(expect_not_held);
	spin_unlock(&spin_outer);
	mutex_unlock(&mutex_outer);
}

/* ---- table ----------------------------------------------------------------- */

static const struct sequence {
	const char *name;
	void (*fn)(void);
	const char *caught;	/* NULL: should pass; else: should fail with these words */
} sequences[] = {
#define PASS(fn) { #fn, fn, NULL }
#define FAIL(fn, words) { #fn, fn, words }
	PASS(in_order),
	PASS(again_after_release),
	PASS(unranked_among_others),
	PASS(static_locks),
	PASS(trylock_against_order),
	PASS(trylock_of_own_lock_fails),
	PASS(sleep_under_mutex),
	PASS(atomic_alloc_under_spinlock),
	PASS(free_beside_held_lock),
	PASS(wrong_owner),
	PASS(held_elsewhere),
	FAIL(spin_aa, "spin_outer locked twice"),
	FAIL(mutex_aa, "mutex_outer locked twice"),
	FAIL(unranked_aa, "mutex_any locked twice"),
	FAIL(static_aa, "spin_static locked twice"),
	FAIL(spin_abba, "wrong lock order: spin_outer"),
	FAIL(mutex_abba, "wrong lock order: mutex_outer"),
	FAIL(spin_abbcca, "wrong lock order: spin_outer"),
	FAIL(two_of_one_rank, "wrong lock order: spin_middle"),
	FAIL(below_an_earlier_one, "wrong lock order: spin_middle"),
	FAIL(spin_double_unlock, "spin_outer unlocked but not held"),
	FAIL(mutex_double_unlock, "mutex_outer unlocked but not held"),
	FAIL(mutex_under_spinlock, "sleeps while spinlock spin_outer is held"),
	FAIL(kmalloc_under_spinlock, "sleeps while spinlock spin_outer is held"),
	FAIL(kvcalloc_under_spinlock, "sleeps while spinlock spin_outer is held"),
	FAIL(kstrdup_under_spinlock, "sleeps while spinlock spin_outer is held"),
	FAIL(bitmap_under_spinlock, "sleeps while spinlock spin_outer is held"),
	FAIL(kvfree_under_spinlock, "sleeps while spinlock spin_outer is held"),
	FAIL(sleep_under_tried_spinlock, "sleeps while spinlock spin_outer is held"),
	FAIL(spin_free_while_held, "frees memory that contains &object->lock, held"),
	FAIL(assert_free_lock, "spin_outer is not held by this thread"),
	FAIL(assert_other_lock, "&mutex_any is not held by this thread"),
	FAIL(assert_none_fails, "mutex_outer is held here"),
};

static int failures;

static void *run_sequence(void *arg)
{
	const struct sequence *sequence = arg;

	init_all();
	binder_kapi_fatal_hook = kapi_fatal_hook;
	if (!sequence->caught)
		sequence->fn();
	else if (!kapi_must_die(sequence->fn, sequence->name, sequence->caught))
		failures++;
	release_all();
	if (freed_too_early) {
		spin_unlock(&freed_too_early->lock);
		kfree(freed_too_early);
		freed_too_early = NULL;
	}
	return NULL;
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++) {
		pthread_t thread;

		CHECK(!pthread_create(&thread, NULL, run_sequence, (void *)&sequences[i]));
		pthread_join(thread, NULL);
	}
	CHECK(binder_kapi_warnings == 0);
	return failures != 0;
}
