// SPDX-License-Identifier: GPL-2.0-only
/* sim/kapi only: failing on demand, counting, poison. */
#include "kapi_check.h"
#include <sim_fault.h>

/* Five allocations through every function there is; gives all back on failure. */
static bool five_allocations(void)
{
	void *a = kmalloc(8, GFP_KERNEL);
	void *b = a ? kzalloc(8, GFP_KERNEL) : NULL;
	void *c = b ? kvcalloc(2, 8, GFP_KERNEL) : NULL;
	char *d = c ? kstrdup("d", GFP_KERNEL) : NULL;
	unsigned long *e = d ? kvcalloc(1, 8, GFP_KERNEL) : NULL;

	kvfree(e);
	kfree(d);
	kvfree(c);
	kfree(b);
	kfree(a);
	return e;
}

static void test_fault_nth_fails_once(void)
{
	unsigned long n;

	for (n = 1;; n++) {
		bool ok;

		sim_fault_arm(n);
		CHECK(!sim_fault_fired() && !sim_fault_site());
		ok = five_allocations();
		CHECK(ok == !sim_fault_fired());
		CHECK(sim_alloc_live() == 0);
		if (ok)
			break;
		CHECK(strstr(sim_fault_site(), "kapi_sim_fault.c:"));
		CHECK(five_allocations());
	}
	CHECK(n == 6);
	sim_fault_arm(0);
}

static void test_fault_from_keeps_failing(void)
{
	sim_fault_arm_from(3);
	CHECK(!five_allocations());
	CHECK(!kmalloc(1, GFP_KERNEL) && !kmalloc(1, GFP_KERNEL));
	sim_fault_arm(0);
	CHECK(five_allocations());
}

static void test_counts_and_poison(void)
{
	unsigned long tried = sim_alloc_count();
	u8 *mem = kmalloc(16, GFP_KERNEL);

	CHECK(mem && mem[0] == 0xa5 && mem[15] == 0xa5);
	CHECK(sim_alloc_live() == 1 && sim_alloc_count() == tried + 1);
	sim_page_count(1);
	CHECK(sim_alloc_live() == 2);
	sim_page_count(-1);
	kfree(mem);
	CHECK(sim_alloc_live() == 0);
}

static void test_trylock_fails_on_demand(void)
{
	struct mutex mutex;
	spinlock_t spin;

	binder_kapi_mutex_init(&mutex, 1, "mutex");
	binder_kapi_spin_init(&spin, 2, "spin");
	sim_trylock_fail(2, 2);
	CHECK(mutex_trylock(&mutex));
	CHECK(!spin_trylock(&spin) && !spin_trylock(&spin) && sim_trylock_failed() == 2);
	CHECK(spin_trylock(&spin));
	spin_unlock(&spin);
	mutex_unlock(&mutex);
	sim_trylock_fail(SIM_ANY_RANK, 1);
	CHECK(!mutex_trylock(&mutex) && mutex_trylock(&mutex));
	mutex_unlock(&mutex);
	sim_trylock_fail(SIM_ANY_RANK, 0);
}

#ifndef __SANITIZE_ADDRESS__
/* AddressSanitizer stops at these by itself, earlier and with more to say. */
static void *volatile kept;

static void free_twice(void)
{
	kept = kmalloc(8, GFP_KERNEL);
	kfree(kept);
	kfree(kept);
}

static void write_after_free(void)
{
	u8 *mem = kmalloc(8, GFP_KERNEL);

	kept = mem;
	kfree(mem);
	((volatile u8 *)kept)[3] = 1;
	sim_alloc_check_freed();
}
#endif

int main(void)
{
	test_fault_nth_fails_once();
	test_fault_from_keeps_failing();
	test_counts_and_poison();
	test_trylock_fails_on_demand();
#ifndef __SANITIZE_ADDRESS__
	CHECK_DIES(free_twice, "freed twice");
	CHECK_DIES(write_after_free, "byte 3 of the 8 allocated at");
#endif
	return 0;
}
