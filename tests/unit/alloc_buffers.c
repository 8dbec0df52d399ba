// SPDX-License-Identifier: GPL-2.0-only
/* Buffers: which one is chosen, splitting and joining, budgets, who may free what. */
#include "alloc_test.h"

#define MAP (32 * PAGE_SIZE)

static void test_sizes_are_rounded_and_never_zero(void)
{
	static const struct { size_t data, offsets, extra, want; } cases[] = {
		{ 0, 0, 0, 8 }, { 1, 0, 0, 8 }, { 8, 0, 0, 8 }, { 9, 0, 0, 16 },
		{ 0, 8, 0, 8 }, { 0, 0, 1, 8 }, { 1, 1, 1, 24 }, { 7, 8, 9, 32 },
		{ 4095, 0, 0, 4096 }, { 4096, 8, 0, 4104 }, { MAP, 0, 0, MAP },
		{ MAP - 8, 1, 0, MAP }, { MAP - 7, 0, 0, MAP },
	};
	struct binder_alloc *alloc = test_alloc_new(MAP);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct binder_alloc_request request = {
			.data_size = cases[i].data, .offsets_size = cases[i].offsets,
			.extra_size = cases[i].extra, .debug_id = 5,
		};
		struct binder_buffer *buffer = binder_alloc_buffer(alloc, &request);

		CHECK(!IS_ERR(buffer));
		CHECK_EQ(test_buffer_size(alloc, buffer), cases[i].want);
		CHECK_EQ(buffer->offset, 0);
		CHECK_EQ(buffer->data_size, cases[i].data);
		CHECK_EQ(buffer->offsets_size, cases[i].offsets);
		CHECK_EQ(buffer->extra_size, cases[i].extra);
		CHECK_EQ(buffer->debug_id, 5);
		CHECK(!buffer->objects && !buffer->target_node && !buffer->may_free);
		test_check(alloc);
		binder_alloc_free_buffer(alloc, buffer);
		test_check(alloc);
	}
	test_alloc_end(alloc);
}

static void test_zero_byte_buffers_have_addresses_of_their_own(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	size_t nr = MAP / 8;
	struct binder_buffer *buffer;

	for (size_t i = 0; i < nr; i++)
		CHECK_EQ(test_get(alloc, 0)->offset, i * 8);
	CHECK_EQ(binder_alloc_buffer_count(alloc), nr);
	CHECK_EQ(PTR_ERR(test_try(alloc, 0)), -ENOSPC);
	test_check(alloc);
	while ((buffer = binder_alloc_first_buffer(alloc)))
		binder_alloc_free_buffer(alloc, buffer);
	test_check(alloc);
	CHECK_EQ(test_space(alloc).free_largest, MAP);
	test_alloc_end(alloc);
}

static void test_impossible_sizes_are_refused(void)
{
	static const struct { struct binder_alloc_request request; int want; } cases[] = {
		{ { .data_size = SIZE_MAX }, -EINVAL },
		{ { .data_size = SIZE_MAX - 6 }, -EINVAL },
		{ { .data_size = SIZE_MAX - 7 }, -ENOSPC },
		{ { .data_size = SIZE_MAX - 7, .offsets_size = 8 }, -EINVAL },
		{ { .data_size = SIZE_MAX / 2 + 1, .offsets_size = SIZE_MAX / 2 + 1 }, -EINVAL },
		{ { .data_size = SIZE_MAX / 2, .extra_size = SIZE_MAX / 2 + 1 }, -EINVAL },
		{ { .extra_size = SIZE_MAX }, -EINVAL },
		{ { .offsets_size = SIZE_MAX, .oneway = true }, -EINVAL },
		{ { .data_size = MAP + 1 }, -ENOSPC },
		{ { .data_size = MAP, .extra_size = 1 }, -ENOSPC },
	};
	struct binder_alloc *alloc = test_alloc_new(MAP);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK_EQ(PTR_ERR(binder_alloc_buffer(alloc, &cases[i].request)), cases[i].want);
		test_check(alloc);
	}
	test_alloc_end(alloc);
}

static void test_best_fit_takes_smallest_hole_then_lowest(void)
{
	static const size_t sizes[] = { 256, 8, 128, 8, 64, 8, 128, 8, 512, 8 };
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *buffers[ARRAY_SIZE(sizes)];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		buffers[i] = test_get(alloc, sizes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i += 2)
		binder_alloc_free_buffer(alloc, buffers[i]);
	test_check(alloc);
	/* Two holes of 128: the lower first; then the next larger; the tail last. */
	CHECK_EQ(test_get(alloc, 128)->offset, 264);
	CHECK_EQ(test_get(alloc, 100)->offset, 264 + 128 + 8 + 64 + 8);
	CHECK_EQ(test_get(alloc, 128)->offset, 0);
	CHECK_EQ(test_get(alloc, 128)->offset, 128);
	CHECK_EQ(test_get(alloc, 65)->offset, 608);
	CHECK_EQ(test_get(alloc, 64)->offset, 400);
	CHECK_EQ(test_get(alloc, 441)->offset, 1128);
	test_check(alloc);
	test_alloc_end(alloc);
}

static void test_remainder_is_split_off_and_joined_again(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *a = test_get(alloc, 100), *b = test_get(alloc, 200);
	struct binder_buffer *c = test_get(alloc, 300), *d = test_get(alloc, MAP - 608);

	CHECK_EQ(test_space(alloc).free_count, 0);
	CHECK_EQ(test_space(alloc).free_bytes, 0);
	/* No neighbour free, the next free, the previous free, both free. */
	binder_alloc_free_buffer(alloc, b);
	CHECK_EQ(test_space(alloc).free_count, 1);
	CHECK_EQ(test_space(alloc).free_bytes, 200);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, a);
	CHECK_EQ(test_space(alloc).free_count, 1);
	CHECK_EQ(test_space(alloc).free_bytes, 304);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, d);
	CHECK_EQ(test_space(alloc).free_count, 2);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, c);
	CHECK_EQ(test_space(alloc).free_count, 1);
	CHECK_EQ(test_space(alloc).free_largest, MAP);
	test_check(alloc);
	/* An exact fit leaves nothing over. */
	a = test_get(alloc, MAP);
	CHECK_EQ(test_space(alloc).free_count, 0);
	binder_alloc_free_buffer(alloc, a);
	test_alloc_end(alloc);
}

static void test_fragmented_space_does_not_add_up(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *buffers[MAP / 1024];

	for (size_t i = 0; i < ARRAY_SIZE(buffers); i++)
		buffers[i] = test_get(alloc, 1024);
	for (size_t i = 0; i < ARRAY_SIZE(buffers); i += 2)
		binder_alloc_free_buffer(alloc, buffers[i]);
	test_check(alloc);
	CHECK_EQ(test_space(alloc).free_bytes, MAP / 2);
	CHECK_EQ(test_space(alloc).free_count, MAP / 2048);
	CHECK_EQ(PTR_ERR(test_try(alloc, 1025)), -ENOSPC);
	binder_alloc_free_buffer(alloc, buffers[1]);
	CHECK_EQ(test_get(alloc, 3072)->offset, 0);
	test_check(alloc);
	test_alloc_end(alloc);
}

static void test_no_space_is_reported_in_numbers_once_a_second(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	unsigned int count = sim_log_count();

	test_get(alloc, 1000);
	binder_alloc_free_buffer(alloc, test_get(alloc, 2000));
	test_get(alloc, 3000);
	CHECK_EQ(PTR_ERR(test_try(alloc, MAP)), -ENOSPC);
	CHECK_EQ(sim_log_count(), count + 1);
	CHECK(!strcmp(sim_log_last(),
		      "4711: no space for a buffer of 131072 bytes: "
		      "allocated 4000 in 2 (largest 3000), "
		      "free 127072 in 1 (largest 127072)\n"));
	CHECK_EQ(PTR_ERR(test_try(alloc, MAP)), -ENOSPC);
	CHECK_EQ(sim_log_count(), count + 1);
	sim_advance(1000);
	CHECK_EQ(PTR_ERR(test_get_oneway(alloc, MAP / 2 + 1)), -ENOSPC);
	CHECK_EQ(sim_log_count(), count + 2);
	CHECK(!strcmp(sim_log_last(),
		      "4711: no space for a one-way buffer of 65544 bytes: "
		      "65536 of the async budget left; "
		      "allocated 4000 in 2 (largest 3000), "
		      "free 127072 in 1 (largest 127072)\n"));
	test_alloc_end(alloc);
}

static void test_largest_is_found_among_more_buffers_than_one_lock_hold(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);

	for (int i = 0; i < 1000; i++)
		test_get(alloc, i == 777 ? 64 : 32);
	CHECK_EQ(test_space(alloc).allocated_count, 1000);
	CHECK_EQ(test_space(alloc).allocated_largest, 64);
	test_alloc_end(alloc);
}

static void test_async_budget_is_half_and_charged_rounded(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *a, *b, *sync;

	CHECK_EQ(test_space(alloc).free_async, MAP / 2);
	a = test_get_oneway(alloc, 1);
	CHECK(!IS_ERR(a) && a->oneway);
	CHECK_EQ(test_space(alloc).free_async, MAP / 2 - 8);
	CHECK_EQ(PTR_ERR(test_get_oneway(alloc, MAP / 2 - 7)), -ENOSPC);
	CHECK_EQ(test_space(alloc).free_async, MAP / 2 - 8);
	b = test_get_oneway(alloc, MAP / 2 - 8);
	CHECK(!IS_ERR(b));
	CHECK_EQ(test_space(alloc).free_async, 0);
	CHECK_EQ(PTR_ERR(test_get_oneway(alloc, 0)), -ENOSPC);
	/* Calls are not bound by it and do not charge it. */
	sync = test_get(alloc, MAP / 2);
	CHECK_EQ(test_space(alloc).free_async, 0);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, a);
	CHECK_EQ(test_space(alloc).free_async, 8);
	binder_alloc_free_buffer(alloc, sync);
	CHECK_EQ(test_space(alloc).free_async, 8);
	binder_alloc_free_buffer(alloc, b);
	CHECK_EQ(test_space(alloc).free_async, MAP / 2);
	/* Within the budget, but there is no hole. */
	sync = test_get(alloc, MAP - 8);
	CHECK_EQ(PTR_ERR(test_get_oneway(alloc, 9)), -ENOSPC);
	CHECK_EQ(test_space(alloc).free_async, MAP / 2);
	/* A structure that carried a one-way buffer is charged by its new use. */
	binder_alloc_free_buffer(alloc, sync);
	binder_alloc_free_buffer(alloc, test_get_oneway(alloc, 100));
	binder_alloc_free_buffer(alloc, test_get(alloc, 100));
	CHECK_EQ(test_space(alloc).free_async, MAP / 2);
	test_alloc_end(alloc);
}

static void test_clear_on_free_zeroes_all_bytes_and_only_its_own(void)
{
	const struct binder_alloc_request request = {
		.data_size = 2 * PAGE_SIZE + 100, .extra_size = 3, .clear_on_free = true,
	};
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *before = test_get(alloc, 48), *cleared, *after, *plain;
	size_t size;

	cleared = binder_alloc_buffer(alloc, &request);
	CHECK(!IS_ERR(cleared));
	size = test_buffer_size(alloc, cleared);
	CHECK_EQ(size, 2 * PAGE_SIZE + 104 + 8);
	after = test_get(alloc, 48);
	test_write(alloc, 0, 48, 0x11);
	test_write(alloc, cleared->offset, size, 0x22);
	test_write(alloc, after->offset, 48, 0x33);
	binder_alloc_free_buffer(alloc, cleared);
	CHECK(test_seen_all(alloc, 48, size, 0));
	CHECK(test_seen_all(alloc, 0, 48, 0x11));
	CHECK(test_seen_all(alloc, after->offset, 48, 0x33));
	/* The next user of the structure did not ask for it. */
	plain = test_get(alloc, size);
	CHECK_EQ(plain->offset, 48);
	test_write(alloc, plain->offset, size, 0x44);
	binder_alloc_free_buffer(alloc, plain);
	CHECK(test_seen_all(alloc, 48, size, 0x44));
	binder_alloc_free_buffer(alloc, before);
	binder_alloc_free_buffer(alloc, after);
	test_alloc_end(alloc);
}

static void test_user_space_frees_only_what_it_was_given_and_once(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	u64 base = alloc->user_addr;
	struct binder_buffer *a = test_get(alloc, 100), *b = test_get(alloc, 100);

	CHECK(!binder_alloc_prepare_to_free(alloc, base));
	binder_alloc_allow_free(alloc, a);
	binder_alloc_allow_free(alloc, b);
	CHECK(!binder_alloc_prepare_to_free(alloc, base + 1));
	CHECK(!binder_alloc_prepare_to_free(alloc, base + 8));
	CHECK(!binder_alloc_prepare_to_free(alloc, base + 208));
	CHECK(!binder_alloc_prepare_to_free(alloc, base + MAP));
	CHECK(!binder_alloc_prepare_to_free(alloc, base - 8));
	CHECK(!binder_alloc_prepare_to_free(alloc, 0));
	CHECK(!binder_alloc_prepare_to_free(alloc, ~0ULL));
	CHECK(binder_alloc_prepare_to_free(alloc, base + 104) == b);
	CHECK(!binder_alloc_prepare_to_free(alloc, base + 104));
	binder_alloc_free_buffer(alloc, b);
	CHECK(!binder_alloc_prepare_to_free(alloc, base + 104));
	/* At the same address, but nobody has been told of it. */
	CHECK(test_get(alloc, 100) && !binder_alloc_prepare_to_free(alloc, base + 104));
	CHECK(binder_alloc_prepare_to_free(alloc, base) == a);
	CHECK(binder_alloc_first_buffer(alloc) == a);
	binder_alloc_free_buffer(alloc, a);
	CHECK_EQ(binder_alloc_first_buffer(alloc)->offset, 104);
	test_check(alloc);
	test_alloc_end(alloc);
}

static void test_map_checks_and_cuts_the_size(void)
{
	static const struct { size_t size, want; } good[] = {
		{ PAGE_SIZE, PAGE_SIZE }, { PAGE_SIZE + 1, PAGE_SIZE },
		{ 3 * PAGE_SIZE - 1, 2 * PAGE_SIZE }, { 254 * PAGE_SIZE, 254 * PAGE_SIZE },
		{ BINDER_MAP_MAX, BINDER_MAP_MAX }, { BINDER_MAP_MAX + 1, BINDER_MAP_MAX },
		{ 2 * BINDER_MAP_MAX, BINDER_MAP_MAX },
	};
	static const struct { u64 addr; size_t size; } bad[] = {
		{ PAGE_SIZE, 0 }, { PAGE_SIZE, 1 }, { PAGE_SIZE, PAGE_SIZE - 1 },
		{ PAGE_SIZE + 8, PAGE_SIZE }, { -2 * PAGE_SIZE, 2 * PAGE_SIZE },
		{ -PAGE_SIZE, SIZE_MAX },
	};
	struct binder_alloc *alloc;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		alloc = test_alloc_new(good[i].size);
		CHECK_EQ(alloc->size, good[i].want);
		CHECK_EQ(test_space(alloc).free_largest, good[i].want);
		CHECK_EQ(test_space(alloc).free_async, good[i].want / 2);
		CHECK_EQ(test_space(alloc).pages_free, good[i].want / PAGE_SIZE);
		test_check(alloc);
		CHECK_EQ(PTR_ERR(test_try(alloc, good[i].want + 1)), -ENOSPC);
		test_get(alloc, good[i].want);
		test_alloc_end(alloc);
	}
	alloc = binder_alloc_new(NULL, TEST_PID);
	CHECK(alloc);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(binder_alloc_map(alloc, bad[i].addr, bad[i].size), -EINVAL);
	CHECK(!binder_alloc_mapped(alloc));
	/* None of that was the one mapping it may have. */
	CHECK_EQ(sim_alloc_mmap(alloc, PAGE_SIZE), 0);
	CHECK(binder_alloc_mapped(alloc));
	test_alloc_end(alloc);
}

static void test_there_is_one_mapping_and_its_end_is_final(void)
{
	struct binder_alloc *alloc = binder_alloc_new(NULL, TEST_PID);
	const struct binder_alloc_request wrong = { .data_size = SIZE_MAX };
	struct binder_buffer *a, *b;
	u64 addr;

	CHECK(alloc);
	CHECK_EQ(PTR_ERR(test_try(alloc, 8)), -ESRCH);
	CHECK_EQ(PTR_ERR(binder_alloc_buffer(alloc, &wrong)), -ESRCH);
	CHECK(!binder_alloc_first_buffer(alloc));
	CHECK(!binder_alloc_prepare_to_free(alloc, 0));
	CHECK_EQ(test_space(alloc).free_bytes, 0);
	CHECK_EQ(test_space(alloc).pages_free, 0);

	CHECK_EQ(sim_alloc_mmap(alloc, MAP), 0);
	CHECK_EQ(sim_alloc_mmap(alloc, MAP), -EBUSY);
	a = test_get(alloc, 100);
	b = test_get(alloc, 2 * PAGE_SIZE);
	addr = alloc->user_addr;
	binder_alloc_allow_free(alloc, a);

	sim_alloc_munmap(alloc);
	CHECK(!binder_alloc_mapped(alloc));
	CHECK_EQ(PTR_ERR(test_try(alloc, 8)), -ESRCH);
	CHECK_EQ(PTR_ERR(test_get_oneway(alloc, MAP)), -ESRCH);
	CHECK_EQ(PTR_ERR(binder_alloc_buffer(alloc, &wrong)), -ESRCH);
	CHECK_EQ(binder_alloc_map(alloc, addr, MAP), -EBUSY);
	/* What was there is still the process's to free. */
	CHECK(binder_alloc_prepare_to_free(alloc, addr) == a);
	binder_alloc_free_buffer(alloc, a);
	binder_alloc_free_buffer(alloc, b);
	test_check_buffers(alloc);
	CHECK_EQ(binder_pages_idle_count(), 3);
	CHECK_EQ(binder_pages_shrink(1), 1);
	binder_alloc_release(alloc);
	CHECK_EQ(binder_alloc_map(alloc, addr, MAP), -EBUSY);
	CHECK_EQ(PTR_ERR(test_try(alloc, 8)), -ESRCH);
	CHECK_EQ(test_space(alloc).free_count, 0);
	binder_alloc_put(alloc);
}

static void test_released_without_mapping_stays_without(void)
{
	struct binder_alloc *alloc = binder_alloc_new(NULL, TEST_PID);

	CHECK(alloc);
	binder_alloc_release(alloc);
	CHECK_EQ(binder_alloc_map(alloc, 16 * PAGE_SIZE, MAP), -EBUSY);
	binder_alloc_put(alloc);

	alloc = binder_alloc_new(NULL, TEST_PID);
	CHECK(alloc);
	binder_alloc_unmap(alloc);
	CHECK_EQ(binder_alloc_map(alloc, 16 * PAGE_SIZE, MAP), -EBUSY);
	test_alloc_end(alloc);
}

static void test_text_lists_allocated_buffers(void)
{
	const struct binder_alloc_request request = {
		.data_size = 100, .offsets_size = 16, .extra_size = 5, .debug_id = 17,
	};
	struct binder_alloc *alloc = test_alloc_new(MAP);
	char buf[128], small[24], *big = malloc(1 << 20);
	struct binder_text text = BINDER_TEXT(buf), cut = BINDER_TEXT(small), whole;
	size_t lines = 0;

	CHECK(big);
	binder_alloc_to_text(&text, alloc);
	CHECK_EQ(text.len, 0);
	test_get(alloc, PAGE_SIZE);
	binder_alloc_allow_free(alloc, binder_alloc_buffer(alloc, &request));
	binder_alloc_to_text(&text, alloc);
	CHECK(!strcmp(buf, "  buffer 0: 0 size 4096:0:0 active\n"
			   "  buffer 17: 1000 size 100:16:5 delivered\n"));
	binder_alloc_to_text(&cut, alloc);
	CHECK(cut.truncated && !strncmp(small, buf, sizeof(small) - 1));
	/* More than one hold of the lock: none is skipped, none comes twice. */
	for (int i = 0; i < 1000; i++)
		test_get(alloc, 8);
	binder_text_init(&whole, big, 1 << 20);
	binder_alloc_to_text(&whole, alloc);
	for (const char *at = big; (at = strchr(at, '\n')); at++)
		lines++;
	CHECK_EQ(lines, 1002);
	CHECK(!whole.truncated);
	free(big);
	test_alloc_end(alloc);
}

static void test_release_frees_what_is_left(void)
{
	const struct binder_alloc_request request = { .data_size = 5000, .clear_on_free = true };
	struct binder_alloc *alloc = test_alloc_new(MAP);

	for (int i = 0; i < 10; i++) {
		test_get(alloc, 1000);
		test_get_oneway(alloc, 24);
		binder_alloc_buffer(alloc, &request);
	}
	CHECK_EQ(binder_alloc_buffer_count(alloc), 30);
	binder_alloc_release(alloc);
	CHECK_EQ(binder_alloc_buffer_count(alloc), 0);
	CHECK_EQ(binder_pages_idle_count(), 0);
	/* The host's part of it is gone too. */
	CHECK(!alloc->host.arena);
	binder_alloc_put(alloc);
}

int main(void)
{
	alarm(TEST_TIMEOUT_S);
	/* First, while the rate limit of the messages is fresh. */
	RUN(test_no_space_is_reported_in_numbers_once_a_second);
	RUN(test_sizes_are_rounded_and_never_zero);
	RUN(test_zero_byte_buffers_have_addresses_of_their_own);
	RUN(test_impossible_sizes_are_refused);
	RUN(test_best_fit_takes_smallest_hole_then_lowest);
	RUN(test_remainder_is_split_off_and_joined_again);
	RUN(test_fragmented_space_does_not_add_up);
	RUN(test_largest_is_found_among_more_buffers_than_one_lock_hold);
	RUN(test_async_budget_is_half_and_charged_rounded);
	RUN(test_clear_on_free_zeroes_all_bytes_and_only_its_own);
	RUN(test_user_space_frees_only_what_it_was_given_and_once);
	RUN(test_map_checks_and_cuts_the_size);
	RUN(test_there_is_one_mapping_and_its_end_is_final);
	RUN(test_released_without_mapping_stays_without);
	RUN(test_text_lists_allocated_buffers);
	RUN(test_release_frees_what_is_left);
	return 0;
}
