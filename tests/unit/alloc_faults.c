// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running out of memory at every allocation of every operation in turn: the
 * N-th fails for N = 1, 2, ... until the operation has fewer. Each time the
 * error is the right one, nothing is left behind, and the same operation works
 * when there is memory again.
 */
#include "alloc_test.h"

#define MAP (32 * PAGE_SIZE)

static void test_new(void)
{
	struct binder_alloc *alloc;
	unsigned long n;

	for (n = 1;; n++) {
		unsigned long live = sim_alloc_live();

		sim_fault_arm(n);
		alloc = binder_alloc_new(NULL, TEST_PID);
		if (!sim_fault_fired())
			break;
		CHECK(!alloc);
		CHECK_EQ(sim_alloc_live(), live);
	}
	CHECK_EQ(n, 2);
	sim_fault_arm(0);
	CHECK(alloc);
	test_alloc_end(alloc);
}

static void test_map(void)
{
	struct binder_alloc *alloc = binder_alloc_new(NULL, TEST_PID);
	unsigned long n;

	CHECK(alloc);
	for (n = 1;; n++) {
		unsigned long live = sim_alloc_live();
		int err;

		sim_fault_arm(n);
		err = sim_alloc_mmap(alloc, MAP);
		if (!sim_fault_fired()) {
			CHECK_EQ(err, 0);
			break;
		}
		CHECK_EQ(err, -ENOMEM);
		CHECK_EQ(sim_alloc_live(), live);
		CHECK(!binder_alloc_mapped(alloc));
		CHECK_EQ(PTR_ERR(test_try(alloc, 8)), -ESRCH);
		CHECK(list_empty(&alloc->buffers) && !alloc->pages);
	}
	CHECK_EQ(n, 3);
	sim_fault_arm(0);
	test_check(alloc);
	test_get(alloc, MAP);
	test_alloc_end(alloc);
}

/* One allocation and one insert a page, and the spare structure. */
static void alloc_with_every_fault(size_t size, size_t idle, bool oneway, bool clear)
{
	const struct binder_alloc_request request = {
		.data_size = size, .oneway = oneway, .clear_on_free = clear,
	};
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *hold = test_get(alloc, 8), *buffer;
	unsigned long n, missing;

	for (n = 1;; n++) {
		struct binder_alloc_space before, after;
		unsigned long live;

		if (idle)
			binder_alloc_free_buffer(alloc, test_get(alloc, idle));
		before = test_space(alloc);
		live = sim_alloc_live() - sim_pages_live(alloc);
		sim_fault_arm(n);
		buffer = binder_alloc_buffer(alloc, &request);
		if (!sim_fault_fired())
			break;
		CHECK(strstr(sim_fault_site(), n == 1 ? "alloc.c" : "map.c"));
		CHECK_EQ(PTR_ERR(buffer), -ENOMEM);
		after = test_space(alloc);
		CHECK_EQ(sim_alloc_live() - sim_pages_live(alloc), live);
		CHECK_EQ(after.allocated_bytes, before.allocated_bytes);
		CHECK_EQ(after.free_largest, before.free_largest);
		CHECK_EQ(after.free_count, before.free_count);
		CHECK_EQ(after.free_async, before.free_async);
		CHECK_EQ(after.pages_active, before.pages_active);
		CHECK(after.pages_lru >= before.pages_lru);
		test_check(alloc);
		/* Empty slots again for the next round. */
		binder_pages_shrink(1000);
		CHECK_EQ(sim_pages_live(alloc), 1);
	}
	sim_fault_arm(0);
	missing = DIV_ROUND_UP(8 + size, PAGE_SIZE) - DIV_ROUND_UP(8 + idle, PAGE_SIZE);
	CHECK_EQ(n, 2 + 2 * missing);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, buffer);
	binder_alloc_free_buffer(alloc, hold);
	test_check(alloc);
	test_alloc_end(alloc);
}

static void test_buffer(void)
{
	alloc_with_every_fault(8, 0, false, false);
	alloc_with_every_fault(PAGE_SIZE, 0, false, true);
	alloc_with_every_fault(5 * PAGE_SIZE, 0, true, false);
	alloc_with_every_fault(5 * PAGE_SIZE, 2 * PAGE_SIZE, true, true);
	alloc_with_every_fault(MAP - 8, 0, false, false);
}

/* The failing buffer's neighbours and holes stay as they are. */
static void test_buffer_in_a_hole(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *a = test_get(alloc, 100), *b = test_get(alloc, 2 * PAGE_SIZE);
	struct binder_buffer *c = test_get(alloc, 100);
	unsigned long n;

	binder_alloc_free_buffer(alloc, b);
	for (n = 1;; n++) {
		binder_pages_shrink(1000);
		sim_fault_arm(n);
		b = test_try(alloc, PAGE_SIZE + PAGE_SIZE / 2);
		if (!sim_fault_fired())
			break;
		CHECK_EQ(PTR_ERR(b), -ENOMEM);
		CHECK_EQ(test_space(alloc).free_count, 2);
		test_check(alloc);
	}
	sim_fault_arm(0);
	CHECK(!IS_ERR(b));
	CHECK_EQ(b->offset, 104);
	CHECK_EQ(n, 4);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, a);
	binder_alloc_free_buffer(alloc, c);
	binder_alloc_free_buffer(alloc, b);
	test_check(alloc);
	test_alloc_end(alloc);
}

/* Everything else needs no memory, so it works when there is none. */
static void test_freeing_and_reclaiming_without_any_memory(void)
{
	const struct binder_alloc_request request = { .data_size = 5000, .clear_on_free = true };
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *buffers[8];
	unsigned long tried;

	for (size_t i = 0; i < ARRAY_SIZE(buffers); i++)
		buffers[i] = binder_alloc_buffer(alloc, &request);
	tried = sim_alloc_count();
	sim_fault_arm_from(1);
	CHECK_EQ(PTR_ERR(test_try(alloc, 8)), -ENOMEM);
	for (size_t i = 0; i < ARRAY_SIZE(buffers); i += 2)
		binder_alloc_free_buffer(alloc, buffers[i]);
	test_space(alloc);
	CHECK(binder_pages_shrink(2) == 2);
	sim_alloc_munmap(alloc);
	binder_alloc_release(alloc);
	binder_alloc_put(alloc);
	CHECK_EQ(sim_alloc_count(), tried + 1);
}

int main(void)
{
	alarm(TEST_TIMEOUT_S);
	RUN(test_new);
	RUN(test_map);
	RUN(test_buffer);
	RUN(test_buffer_in_a_hole);
	RUN(test_freeing_and_reclaiming_without_any_memory);
	return 0;
}
