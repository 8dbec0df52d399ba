// SPDX-License-Identifier: GPL-2.0-only
/* Reference counts and atomics: what they return, and that wrong counts stick and warn. */
#include <pthread.h>

#include "kapi_check.h"

static int warnings_since(void)
{
	return __atomic_exchange_n(&binder_kapi_warnings, 0, __ATOMIC_RELAXED);
}

static void test_refcount_counts(void)
{
	refcount_t r;

	refcount_set(&r, 1);
	CHECK(refcount_read(&r) == 1);
	refcount_inc(&r);
	CHECK(refcount_inc_not_zero(&r));
	CHECK(refcount_read(&r) == 3);
	CHECK(!refcount_dec_and_test(&r));
	CHECK(!refcount_dec_and_test(&r));
	CHECK(refcount_dec_and_test(&r));
	CHECK(refcount_read(&r) == 0);
	CHECK(!refcount_inc_not_zero(&r));
	CHECK(refcount_read(&r) == 0);
	CHECK(warnings_since() == 0);
}

static void check_saturated(refcount_t *r)
{
	CHECK(warnings_since() == 1);
	CHECK((int)refcount_read(r) == REFCOUNT_SATURATED);
	/* Once saturated it stays far from 0, whatever is done to it. */
	refcount_inc(r);
	CHECK(!refcount_dec_and_test(r));
	CHECK(refcount_inc_not_zero(r));
	CHECK((int)refcount_read(r) == REFCOUNT_SATURATED);
	CHECK(warnings_since() == 3);
}

static void test_refcount_misuse_saturates_and_warns(void)
{
	refcount_t r;

	refcount_set(&r, 0);
	refcount_inc(&r);
	check_saturated(&r);
	refcount_set(&r, 0);
	CHECK(!refcount_dec_and_test(&r));
	check_saturated(&r);
	refcount_set(&r, INT_MAX);
	refcount_inc(&r);
	check_saturated(&r);
	refcount_set(&r, INT_MAX);
	CHECK(refcount_inc_not_zero(&r));
	check_saturated(&r);
}

static void test_atomic_counts(void)
{
	atomic_t a = ATOMIC_INIT(5);

	CHECK(atomic_read(&a) == 5);
	atomic_inc(&a);
	atomic_add(10, &a);
	CHECK(atomic_inc_return(&a) == 17);
	atomic_dec(&a);
	atomic_sub(16, &a);
	CHECK(atomic_read(&a) == 0);
	atomic_dec(&a);
	CHECK(atomic_read(&a) == -1);
	atomic_set(&a, INT_MAX);
	CHECK(atomic_inc_return(&a) == INT_MIN);
}

/* The last put frees: ThreadSanitizer must see that the others came before. */
struct shared {
	refcount_t refs;
	int value[4];
};

static int frees;

static void *use_and_put(void *arg)
{
	struct shared *shared = arg;
	static atomic_t next;
	int mine = (atomic_inc_return(&next) - 1) % 4;

	shared->value[mine] = 1;
	if (refcount_dec_and_test(&shared->refs)) {
		for (int i = 0; i < 4; i++)
			CHECK(shared->value[i] == 1);
		free(shared);
		__atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void test_refcount_last_put_sees_all(void)
{
	for (int round = 0; round < 50; round++) {
		struct shared *shared = calloc(1, sizeof(*shared));
		pthread_t threads[4];

		CHECK(shared);
		refcount_set(&shared->refs, 4);
		for (int i = 0; i < 4; i++)
			CHECK(!pthread_create(&threads[i], NULL, use_and_put, shared));
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	CHECK(frees == 50);
}

static void log_drop(int level, const char *text)
{
}

int main(void)
{
	test_refcount_counts();
	test_atomic_counts();
	test_refcount_last_put_sees_all();
	binder_kapi_log_hook = log_drop;
	test_refcount_misuse_saturates_and_warns();
	return 0;
}
