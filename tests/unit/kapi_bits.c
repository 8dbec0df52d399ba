// SPDX-License-Identifier: GPL-2.0-only
/* Arithmetic, bitmaps, error pointers, and that system headers still work beside ours. */
#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/user.h>

#include "kapi_check.h"
#include <binder_witness.h>

static void test_bitmap_find_matches_slow_search(void)
{
	/* Sizes around the word borders; patterns with runs. */
	static const unsigned int sizes[] = { 1, 2, 63, 64, 65, 127, 128, 129, 200 };

	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		unsigned int n = sizes[s];
		unsigned long *map = kvcalloc(BITS_TO_LONGS(n), sizeof(long), GFP_KERNEL);

		CHECK(map);
		for (unsigned int round = 0; round < 64; round++) {
			for (unsigned int i = 0; i < n; i++) {
				if ((i / (round % 7 + 1) + round) % (round % 5 + 2))
					__set_bit(i, map);
				else
					__clear_bit(i, map);
			}
			for (unsigned int start = 0; start <= n; start++) {
				unsigned long zero = start;

				while (zero < n && test_bit(zero, map))
					zero++;
				CHECK(find_next_zero_bit(map, n, start) == zero);
			}
		}
		kvfree(map);
	}
}

static void test_bitmap_edges(void)
{
	unsigned long map[2] = { 0, 0 }, copy[3] = { 7, 7, 7 };

	CHECK(BITS_PER_LONG == 64);
	CHECK(find_next_zero_bit(map, 128, 128) == 128);
	CHECK(find_next_zero_bit(map, 128, 1000) == 128);
	/* Bits past the end do not count. */
	map[1] = ~0UL;
	map[0] = ~0UL;
	CHECK(find_next_zero_bit(map, 70, 0) == 70);
	bitmap_copy(copy, map, 65);
	CHECK(copy[0] == ~0UL && copy[1] == ~0UL && copy[2] == 7);
	kvfree(NULL);
}

static void test_overflow_is_found(void)
{
	size_t size;
	u32 small;
	int number;

	CHECK(!check_add_overflow((size_t)1, (size_t)2, &size) && size == 3);
	CHECK(check_add_overflow(SIZE_MAX, (size_t)1, &size) && size == 0);
	CHECK(!check_mul_overflow((size_t)3, (size_t)4, &size) && size == 12);
	CHECK(check_mul_overflow(SIZE_MAX / 2, (size_t)3, &size));
	CHECK(check_add_overflow(U32_MAX, 1U, &small) && small == 0);
	CHECK(check_add_overflow(INT_MAX, 1, &number) && number == INT_MIN);
}

static void test_rounding(void)
{
	CHECK(ALIGN(0, 8) == 0 && ALIGN(1, 8) == 8 && ALIGN(8, 8) == 8 && ALIGN(9UL, 8) == 16);
	CHECK(IS_ALIGNED(16UL, 8) && !IS_ALIGNED(12UL, 8));
	CHECK(DIV_ROUND_UP(0, 4) == 0 && DIV_ROUND_UP(1, 4) == 1 && DIV_ROUND_UP(8, 4) == 2);
	CHECK(PAGE_ALIGN(1UL) == PAGE_SIZE && PAGE_ALIGN(PAGE_SIZE) == PAGE_SIZE);
	CHECK(offset_in_page(PAGE_SIZE + 5) == 5);
	CHECK(PAGE_SIZE == 1UL << PAGE_SHIFT && PAGE_MASK == ~(PAGE_SIZE - 1));
}

static void test_min_max_evaluate_once(void)
{
	int i = 1, j = 5;

	CHECK(min(i++, j++) == 1 && i == 2 && j == 6);
	CHECK(max(i++, j++) == 6 && i == 3 && j == 7);
	CHECK(min(1, min(2, min(3, 0))) == 0);
	CHECK(min_t(u32, -1, 5) == 5 && max_t(s64, -1, 5) == 5);
}

struct outer {
	int before;
	int member;
};

static void test_pointers(void)
{
	struct outer outer;
	int *member = &outer.member;
	int array[7];

	CHECK(container_of(member, struct outer, member) == &outer);
	CHECK(ARRAY_SIZE(array) == 7);
	CHECK(IS_ERR(ERR_PTR(-ENOMEM)) && PTR_ERR(ERR_PTR(-ENOMEM)) == -ENOMEM);
	CHECK(IS_ERR(ERR_PTR(-MAX_ERRNO)) && !IS_ERR(ERR_PTR(-MAX_ERRNO - 1)));
	CHECK(!IS_ERR(NULL) && !IS_ERR(member));
}

static void test_once_accesses_keep_values(void)
{
	struct outer *pointer = NULL, outer;
	bool flag = false;
	u64 number = 0;

	WRITE_ONCE(number, 1ULL << 40);
	WRITE_ONCE(flag, true);
	WRITE_ONCE(pointer, &outer);
	CHECK(READ_ONCE(number) == 1ULL << 40 && READ_ONCE(flag) && READ_ONCE(pointer) == &outer);
}

static void test_allocation(void)
{
	static const char text[] = "text";
	char *copy;
	u8 *mem;

	mem = kzalloc(100, GFP_KERNEL);
	CHECK(mem && !mem[0] && !mem[99]);
	kfree(mem);
	mem = kcalloc(10, 10, GFP_KERNEL);
	CHECK(mem && !mem[0] && !mem[99]);
	kfree(mem);
	mem = kvcalloc(10, 10, GFP_KERNEL);
	CHECK(mem && !mem[0] && !mem[99]);
	kvfree(mem);
	mem = kvzalloc(100, GFP_KERNEL);
	CHECK(mem && !mem[0] && !mem[99]);
	kvfree(mem);
	mem = kmalloc(0, GFP_KERNEL);
	CHECK(mem);
	kfree(mem);
	mem = kmalloc(100, GFP_KERNEL);
	CHECK(mem && !((uintptr_t)mem % 16));
	kfree(mem);
	copy = kstrdup(text, GFP_KERNEL);
	CHECK(copy && copy != text && !strcmp(copy, text));
	kfree(copy);
	CHECK(!kstrdup(NULL, GFP_KERNEL));
	kfree(NULL);
	kvfree(NULL);
}

static void test_allocation_overflow_is_no_memory(void)
{
	/* Not constants, or the compiler refuses the call. */
	volatile size_t n = SIZE_MAX / 4, size = 8;

	CHECK(!kcalloc(n, size, GFP_KERNEL));
	CHECK(!kvcalloc(n, size, GFP_KERNEL));
}

static_assert(sizeof(u8) == 1 && sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8);
static_assert(sizeof(s32) == 4 && sizeof(s64) == 8, "with words");

int main(void)
{
	BUILD_BUG_ON(sizeof(struct fuse_in_header) != 40);
	test_bitmap_find_matches_slow_search();
	test_bitmap_edges();
	test_overflow_is_found();
	test_rounding();
	test_min_max_evaluate_once();
	test_pointers();
	test_once_accesses_keep_values();
	test_allocation();
	test_allocation_overflow_is_no_memory();
	CHECK(binder_kapi_warnings == 0);
	return 0;
}
