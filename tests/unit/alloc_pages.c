// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages: when they come, when they are idle, how they go, and what must not
 * happen in between. Tests named after a row of the list of wrong turns that
 * the two locks are the answer to say so ("Guards:").
 */
#include "alloc_test.h"

#define MAP (32 * PAGE_SIZE)

/* An allocator with @nr idle pages at its start. */
static struct binder_alloc *alloc_with_idle(size_t nr)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);

	binder_alloc_free_buffer(alloc, test_get(alloc, nr * PAGE_SIZE));
	CHECK_EQ(test_space(alloc).pages_lru, nr);
	return alloc;
}

static bool lock_is_free(struct mutex *mutex)
{
	if (!mutex_trylock(mutex))
		return false;
	mutex_unlock(mutex);
	return true;
}

static bool spin_is_free(spinlock_t *lock)
{
	if (!spin_trylock(lock))
		return false;
	spin_unlock(lock);
	return true;
}

/* ---- in use, idle, empty ------------------------------------------------- */

static void test_pages_come_on_demand_and_shared_ones_once(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *a, *b, *c;

	CHECK_EQ(sim_pages_live(alloc), 0);
	a = test_get(alloc, 8);
	CHECK_EQ(sim_pages_live(alloc), 1);
	b = test_get(alloc, PAGE_SIZE);
	CHECK_EQ(sim_pages_live(alloc), 2);
	c = test_get(alloc, PAGE_SIZE - 8);
	CHECK_EQ(sim_pages_live(alloc), 2);
	test_check(alloc);
	CHECK_EQ(test_space(alloc).pages_active, 2);
	/* Both pages of b are also a neighbour's. */
	binder_alloc_free_buffer(alloc, b);
	CHECK_EQ(binder_pages_idle_count(), 0);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, c);
	CHECK_EQ(binder_pages_idle_count(), 1);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, a);
	CHECK_EQ(binder_pages_idle_count(), 2);
	test_check(alloc);
	test_alloc_end(alloc);
}

static void test_page_shared_across_a_hole_stays_in_use(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *a = test_get(alloc, 8), *hole = test_get(alloc, 8);
	struct binder_buffer *b = test_get(alloc, 8), *hole2 = test_get(alloc, 8);
	struct binder_buffer *c = test_get(alloc, PAGE_SIZE);

	/* b's neighbours are free, but a and c live in its page. */
	binder_alloc_free_buffer(alloc, hole);
	binder_alloc_free_buffer(alloc, hole2);
	binder_alloc_free_buffer(alloc, b);
	CHECK_EQ(binder_pages_idle_count(), 0);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, a);
	CHECK_EQ(binder_pages_idle_count(), 0);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, c);
	CHECK_EQ(binder_pages_idle_count(), 2);
	test_check(alloc);
	test_alloc_end(alloc);
}

static void test_idle_pages_are_reused(void)
{
	struct binder_alloc *alloc = alloc_with_idle(5);
	unsigned long tried = sim_alloc_count();
	struct binder_buffer *buffer = test_get(alloc, 3 * PAGE_SIZE);

	/* Only the spare structure, no page. */
	CHECK_EQ(sim_alloc_count(), tried + 1);
	CHECK_EQ(test_space(alloc).pages_active, 3);
	CHECK_EQ(test_space(alloc).pages_lru, 2);
	CHECK_EQ(test_space(alloc).pages_free, MAP / PAGE_SIZE - 5);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, buffer);
	CHECK_EQ(test_space(alloc).pages_lru, 5);
	test_alloc_end(alloc);
}

static void test_high_water_mark_stays(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);

	CHECK_EQ(test_space(alloc).pages_high, 0);
	binder_alloc_free_buffer(alloc, test_get(alloc, 7 * PAGE_SIZE + 1));
	CHECK_EQ(test_space(alloc).pages_high, 8);
	binder_alloc_free_buffer(alloc, test_get(alloc, 3 * PAGE_SIZE));
	CHECK_EQ(binder_pages_shrink(100), 8);
	CHECK_EQ(test_space(alloc).pages_high, 8);
	binder_alloc_free_buffer(alloc, test_get(alloc, MAP));
	CHECK_EQ(test_space(alloc).pages_high, MAP / PAGE_SIZE);
	test_alloc_end(alloc);
}

/* ---- shrinking ------------------------------------------------------------ */

static void test_shrink_takes_longest_idle_first_and_no_more_than_asked(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *a = test_get(alloc, PAGE_SIZE), *b = test_get(alloc, PAGE_SIZE);
	struct binder_buffer *c = test_get(alloc, PAGE_SIZE), *d = test_get(alloc, PAGE_SIZE);

	binder_alloc_free_buffer(alloc, c);
	binder_alloc_free_buffer(alloc, a);
	binder_alloc_free_buffer(alloc, d);
	CHECK_EQ(binder_pages_idle_count(), 3);
	CHECK_EQ(binder_pages_shrink(0), 0);
	CHECK_EQ(binder_pages_shrink(1), 1);
	CHECK(!sim_page_present(alloc, 2) && sim_page_present(alloc, 0));
	CHECK_EQ(binder_pages_shrink(1), 1);
	CHECK(!sim_page_present(alloc, 0) && sim_page_present(alloc, 3));
	test_check(alloc);
	CHECK_EQ(binder_pages_shrink(100), 1);
	CHECK_EQ(binder_pages_shrink(100), 0);
	CHECK_EQ(sim_pages_live(alloc), 1);
	CHECK(sim_page_present(alloc, 1));
	test_check(alloc);
	binder_alloc_free_buffer(alloc, b);
	test_alloc_end(alloc);
}

static void test_shrink_marked_takes_what_was_idle_at_the_mark_and_since(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *a = test_get(alloc, PAGE_SIZE), *b = test_get(alloc, PAGE_SIZE);
	struct binder_buffer *c = test_get(alloc, PAGE_SIZE);

	binder_alloc_free_buffer(alloc, a);
	CHECK_EQ(binder_pages_shrink_marked(100), 0);
	binder_alloc_free_buffer(alloc, b);
	binder_pages_mark();
	binder_alloc_free_buffer(alloc, c);
	/* used again, and idle again: young */
	binder_alloc_free_buffer(alloc, test_get(alloc, PAGE_SIZE));
	CHECK_EQ(binder_pages_shrink_marked(100), 1);
	CHECK(sim_page_present(alloc, 0) && !sim_page_present(alloc, 1));
	CHECK_EQ(binder_pages_shrink_marked(100), 0);
	/* Who does not ask for old ones sees no mark, wherever it stands. */
	CHECK_EQ(binder_pages_shrink(1), 1);
	CHECK_EQ(binder_pages_idle_count(), 1);
	binder_pages_mark();
	binder_pages_mark();
	CHECK_EQ(binder_pages_shrink_marked(100), 1);
	CHECK_EQ(binder_pages_shrink(100), 0);
	test_check(alloc);
	test_alloc_end(alloc);
}

static void test_gap_is_the_run_of_empty_slots(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *a = test_get(alloc, 2 * PAGE_SIZE), *b = test_get(alloc, PAGE_SIZE);
	size_t nr = MAP / PAGE_SIZE;

	binder_alloc_free_buffer(alloc, a);
	CHECK_EQ(binder_pages_shrink(100), 2);
	binder_pages_hold(alloc, 0);
	CHECK_EQ(binder_pages_gap(alloc, 0, nr), 2);
	CHECK_EQ(binder_pages_gap(alloc, 0, 1), 1);
	CHECK_EQ(binder_pages_gap(alloc, 2, nr), 0);
	CHECK_EQ(binder_pages_gap(alloc, 3, nr), nr - 3);
	/* Outside the mapping there is nothing. */
	CHECK_EQ(binder_pages_gap(alloc, 3, nr + 5), nr + 5 - 3);
	CHECK_EQ(binder_pages_gap(alloc, nr + 1, nr + 5), 4);
	binder_pages_unhold(alloc);
	binder_alloc_free_buffer(alloc, b);
	test_alloc_end(alloc);
}

static void test_shrunk_page_comes_back_zeroed(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *buffer = test_get(alloc, PAGE_SIZE);

	test_write(alloc, 0, PAGE_SIZE, 0x55);
	binder_alloc_free_buffer(alloc, buffer);
	CHECK(test_seen_all(alloc, 0, PAGE_SIZE, 0x55));
	CHECK_EQ(binder_pages_shrink(1), 1);
	CHECK(!sim_page_present(alloc, 0));
	buffer = test_get(alloc, PAGE_SIZE);
	CHECK(test_seen_all(alloc, 0, PAGE_SIZE, 0));
	binder_alloc_free_buffer(alloc, buffer);
	test_alloc_end(alloc);
}

/* Guards: "shrinker takes install_mutex blocking" (a busy allocator costs it nothing else). */
static void test_shrink_skips_allocators_whose_install_mutex_is_held(void)
{
	struct binder_alloc *busy = alloc_with_idle(4), *other = alloc_with_idle(3);

	mutex_lock(&busy->install_mutex);
	CHECK_EQ(binder_pages_shrink(100), 3);
	CHECK_EQ(sim_pages_live(other), 0);
	CHECK_EQ(sim_pages_live(busy), 4);
	/* Everything that is left is skipped: an end all the same. */
	CHECK_EQ(binder_pages_shrink(100), 0);
	CHECK_EQ(binder_pages_idle_count(), 4);
	mutex_unlock(&busy->install_mutex);
	CHECK_EQ(refcount_read(&busy->refs), 1);
	test_check(busy);
	CHECK_EQ(binder_pages_shrink(100), 4);
	test_alloc_end(busy);
	test_alloc_end(other);
}

static void test_shrink_skips_what_a_trylock_refuses_and_goes_on(void)
{
	static const int ranks[] = { BINDER_RANK_INSTALL, BINDER_RANK_ALLOC };

	for (size_t i = 0; i < ARRAY_SIZE(ranks); i++) {
		struct binder_alloc *alloc = alloc_with_idle(5);

		sim_trylock_fail(ranks[i], 2);
		/* Five are looked at, two of them in vain. */
		CHECK_EQ(binder_pages_shrink(100), 3);
		CHECK_EQ(sim_trylock_failed(), 2);
		CHECK_EQ(binder_pages_idle_count(), 2);
		CHECK(sim_page_present(alloc, 0) && sim_page_present(alloc, 1));
		sim_trylock_fail(ranks[i], 1);
		/* The refused one does not stand in the way of the next. */
		CHECK_EQ(binder_pages_shrink(1), 1);
		CHECK(sim_page_present(alloc, 0) && !sim_page_present(alloc, 1));
		sim_trylock_fail(SIM_ANY_RANK, 1000);
		CHECK_EQ(binder_pages_shrink(100), 0);
		sim_trylock_fail(SIM_ANY_RANK, 0);
		CHECK(lock_is_free(&alloc->install_mutex) && spin_is_free(&alloc->lock));
		CHECK_EQ(refcount_read(&alloc->refs), 1);
		test_check(alloc);
		CHECK_EQ(binder_pages_shrink(100), 1);
		test_alloc_end(alloc);
	}
}

/*
 * Guards: "-EAGAIN retry while the other side is a lower-priority task" and
 * "the preallocated next buffer is reused after a retry": allocating and
 * freeing never try a lock, so there is nothing to retry.
 */
static void test_allocating_uses_no_trylock(void)
{
	struct binder_alloc *alloc = alloc_with_idle(2);

	sim_trylock_fail(SIM_ANY_RANK, 1000);
	binder_alloc_free_buffer(alloc, test_get(alloc, PAGE_SIZE));
	binder_alloc_free_buffer(alloc, test_get(alloc, 4 * PAGE_SIZE));
	CHECK_EQ(sim_trylock_failed(), 0);
	sim_trylock_fail(SIM_ANY_RANK, 0);
	test_check(alloc);
	test_alloc_end(alloc);
}

/* The hot path: with all pages in place nobody waits for page-table work. */
static void test_install_mutex_is_not_taken_when_pages_are_in_place(void)
{
	struct binder_alloc *alloc = alloc_with_idle(4);
	struct binder_buffer *a, *b;

	mutex_lock(&alloc->install_mutex);
	a = test_get(alloc, PAGE_SIZE + 8);
	b = test_get(alloc, 2 * PAGE_SIZE);
	binder_alloc_allow_free(alloc, a);
	CHECK(binder_alloc_prepare_to_free(alloc, alloc->user_addr) == a);
	binder_alloc_free_buffer(alloc, a);
	binder_alloc_free_buffer(alloc, b);
	CHECK_EQ(PTR_ERR(test_get_oneway(alloc, MAP)), -ENOSPC);
	test_space(alloc);
	mutex_unlock(&alloc->install_mutex);
	test_check(alloc);
	test_alloc_end(alloc);
}

/* ---- installing against installing ---------------------------------------- */

static struct binder_alloc *racing_alloc;
static struct binder_buffer *racing_buffer;

static void racer_gets_buffer(void *arg)
{
	CHECK(spin_is_free(&racing_alloc->lock) && lock_is_free(&racing_alloc->install_mutex));
	racing_buffer = test_get(racing_alloc, *(size_t *)arg);
}

/* Guards: "an unexpectedly populated slot is retried". A bad run does not end. */
static void test_slot_filled_meanwhile_is_taken_as_it_is(void)
{
	struct binder_alloc *alloc = racing_alloc = test_alloc_new(MAP);
	size_t size = 2 * PAGE_SIZE;
	struct binder_buffer *first;

	/* While the first waits for its page 0, the second fills 0, 1 and 2. */
	sim_at(SIM_PAGE_ALLOC, 1, racer_gets_buffer, &size);
	first = test_get(alloc, 100);
	CHECK(!sim_at_pending());
	CHECK_EQ(first->offset, 0);
	CHECK_EQ(racing_buffer->offset, 104);
	CHECK_EQ(sim_pages_live(alloc), 3);
	test_check(alloc);
	/* One more layer: the second page of three is the contended one. */
	binder_alloc_free_buffer(alloc, racing_buffer);
	CHECK_EQ(binder_pages_shrink(100), 2);
	sim_at(SIM_PAGE_ALLOC, 2, racer_gets_buffer, &size);
	binder_alloc_free_buffer(alloc, test_get(alloc, 3 * PAGE_SIZE));
	CHECK(!sim_at_pending());
	binder_alloc_free_buffer(alloc, racing_buffer);
	binder_alloc_free_buffer(alloc, first);
	test_check(alloc);
	test_alloc_end(alloc);
}

static void racer_gets_and_gives_back(void *arg)
{
	racer_gets_buffer(arg);
	binder_alloc_free_buffer(racing_alloc, racing_buffer);
}

static void test_page_of_a_failed_neighbour_is_kept(void)
{
	struct binder_alloc *alloc = racing_alloc = test_alloc_new(MAP);
	size_t size = 8;
	struct binder_buffer *first;

	/* The neighbour fills the shared page and is gone before we look. */
	sim_at(SIM_PAGE_ALLOC, 1, racer_gets_and_gives_back, &size);
	first = test_get(alloc, 100);
	CHECK_EQ(sim_pages_live(alloc), 1);
	CHECK_EQ(binder_pages_idle_count(), 0);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, first);
	test_alloc_end(alloc);
}

/* ---- installing against shrinking ------------------------------------------ */

/*
 * Guards: "shrinker takes install_mutex blocking": the installer's own page
 * allocation and insert reclaim, on its thread, with install_mutex held.
 */
static void test_reclaim_inside_install_makes_progress(void)
{
	struct binder_alloc *alloc = alloc_with_idle(2), *other = alloc_with_idle(2);
	struct binder_buffer *hold = test_get(alloc, PAGE_SIZE), *buffer;

	/* Idle: page 1 of ours, 0 and 1 of the other. Insert may have the other's only. */
	sim_reclaim(1);
	buffer = test_get(alloc, 3 * PAGE_SIZE);
	sim_reclaim(0);
	CHECK_EQ(buffer->offset, PAGE_SIZE);
	CHECK_EQ(sim_pages_live(other), 0);
	CHECK_EQ(sim_pages_live(alloc), 4);
	test_check(alloc);
	test_check(other);
	binder_alloc_free_buffer(alloc, buffer);
	/* From page_alloc, where no lock is held, its own idle ones go too. */
	sim_reclaim(100);
	buffer = test_get(alloc, MAP - PAGE_SIZE);
	sim_reclaim(0);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, buffer);
	binder_alloc_free_buffer(alloc, hold);
	test_alloc_end(alloc);
	test_alloc_end(other);
}

/* The pages of a buffer under construction, also those it found idle, are nobody else's. */
static void shrink_everything(void *arg)
{
	CHECK_EQ(binder_pages_shrink(1000), *(size_t *)arg);
}

static void test_pages_of_a_buffer_being_installed_are_not_idle(void)
{
	struct binder_alloc *alloc = alloc_with_idle(2);
	struct binder_buffer *buffer;
	size_t none = 0;

	sim_at(SIM_PAGE_ALLOC, 2, shrink_everything, &none);
	buffer = test_get(alloc, 4 * PAGE_SIZE);
	CHECK(!sim_at_pending());
	CHECK_EQ(test_space(alloc).pages_active, 4);
	test_check(alloc);
	binder_alloc_free_buffer(alloc, buffer);
	test_alloc_end(alloc);
}

static void check_slot_is_empty(void *arg)
{
	struct binder_alloc *alloc = arg;

	CHECK(spin_is_free(&alloc->lock));
	CHECK(!lock_is_free(&alloc->install_mutex));
	CHECK_EQ(refcount_read(&alloc->refs), 2);
	CHECK(!alloc->pages[0].page && list_empty(&alloc->pages[0].lru));
	CHECK_EQ(test_space(alloc).pages_lru, 2);
	CHECK_EQ(binder_alloc_buffer_count(alloc), 0);
}

/*
 * Guards: "pages[index] = NULL under install_mutex instead of alloc->lock":
 * from the moment alloc->lock is free, page and LRU say the same. (The window
 * itself is alloc_threads' to find.)
 */
static void test_slot_and_lru_change_before_the_zap(void)
{
	struct binder_alloc *alloc = alloc_with_idle(3);

	sim_at(SIM_PAGE_ZAP, 1, check_slot_is_empty, alloc);
	CHECK_EQ(binder_pages_shrink(1), 1);
	CHECK(!sim_at_pending());
	test_check(alloc);
	test_alloc_end(alloc);
}

static void check_install_mutex_is_held(void *arg)
{
	struct binder_alloc *alloc = arg;

	CHECK(!lock_is_free(&alloc->install_mutex));
	CHECK(spin_is_free(&alloc->lock));
	/* Nor does a second shrinker get at any page of this allocator. */
	CHECK_EQ(binder_pages_shrink(1000), 0);
	/* Whatever needs no page work goes on: here what fits in the hole at the start. */
	binder_alloc_free_buffer(alloc, test_get(alloc, 8));
}

/*
 * Guards: "spinlock only, no install mutex": insert and publish on one side,
 * clear, zap and free on the other exclude each other as wholes. A bad run
 * inserts into the slot that is still to be zapped, or has its new page zapped.
 */
static void test_install_and_zap_exclude_each_other(void)
{
	static const enum sim_point points[] = { SIM_PAGE_INSERT, SIM_PAGE_ZAP, SIM_PAGE_FREE };

	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		struct binder_alloc *alloc = test_alloc_new(MAP);
		struct binder_buffer *hole = test_get(alloc, 8);
		struct binder_buffer *first = test_get(alloc, PAGE_SIZE - 8);

		binder_alloc_free_buffer(alloc, test_get(alloc, PAGE_SIZE));
		binder_alloc_free_buffer(alloc, hole);
		CHECK_EQ(test_space(alloc).pages_lru, 1);
		sim_at(points[i], 1, check_install_mutex_is_held, alloc);
		if (points[i] == SIM_PAGE_INSERT)
			binder_alloc_free_buffer(alloc, test_get(alloc, 3 * PAGE_SIZE));
		else
			CHECK_EQ(binder_pages_shrink(1), 1);
		CHECK(!sim_at_pending());
		CHECK(lock_is_free(&alloc->install_mutex));
		test_check(alloc);
		binder_alloc_free_buffer(alloc, first);
		test_alloc_end(alloc);
	}
}

/*
 * A host that fills its mapping by page faults holds the slot while it inserts:
 * a bad run inserts a page that the shrinker has zapped and freed.
 */
static void test_page_held_for_a_fault_is_not_reclaimed(void)
{
	struct binder_alloc *alloc = alloc_with_idle(2);

	CHECK(binder_pages_hold(alloc, 1));
	CHECK(!lock_is_free(&alloc->install_mutex));
	CHECK_EQ(binder_pages_shrink(10), 0);
	binder_pages_unhold(alloc);
	CHECK(lock_is_free(&alloc->install_mutex));
	CHECK_EQ(binder_pages_shrink(10), 2);

	/* An empty slot, and the first beyond the mapping. */
	CHECK(!binder_pages_hold(alloc, 1));
	binder_pages_unhold(alloc);
	CHECK(!binder_pages_hold(alloc, MAP / PAGE_SIZE));
	binder_pages_unhold(alloc);
	test_alloc_end(alloc);
}

static void test_page_of_a_released_allocator_cannot_be_held(void)
{
	struct binder_alloc *alloc = alloc_with_idle(2);

	binder_alloc_release(alloc);
	CHECK(!binder_pages_hold(alloc, 0));
	binder_pages_unhold(alloc);
	binder_alloc_put(alloc);
}

/*
 * Guards: "install mutex held across a blocking acquire of the address-space
 * lock while the other side takes them in the opposite order": what runs with
 * that lock held (mmap, munmap, a fault that reclaims) never waits for
 * install_mutex. The checker knows the order; a bad run is reported by it.
 */
static void test_nothing_under_the_address_space_lock_waits_for_install(void)
{
	struct binder_alloc *alloc = alloc_with_idle(3), *other = alloc_with_idle(1);

	mutex_lock(&alloc->host.mm_lock);
	CHECK_EQ(binder_pages_shrink(2), 2);
	mutex_unlock(&alloc->host.mm_lock);
	/* The other side: install_mutex is held, by somebody who waits for that lock. */
	mutex_lock(&alloc->install_mutex);
	sim_alloc_munmap(alloc);
	CHECK_EQ(binder_pages_shrink(10), 1);
	CHECK_EQ(sim_pages_live(other), 0);
	mutex_unlock(&alloc->install_mutex);
	CHECK_EQ(binder_alloc_map(alloc, alloc->user_addr, MAP), -EBUSY);
	test_alloc_end(alloc);
	test_alloc_end(other);
}

/* ---- inserts that fail ------------------------------------------------------ */

static void test_failed_insert_is_reported_and_leaves_nothing(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	struct binder_buffer *buffer;
	unsigned int logged = sim_log_count();
	unsigned long fault_at[] = { 3, 5, 7 };

	for (size_t i = 0; i < ARRAY_SIZE(fault_at); i++) {
		/* Allocation 1 is the spare structure, 2n the n-th page, 2n+1 its insert. */
		sim_fault_arm(fault_at[i]);
		CHECK_EQ(PTR_ERR(test_try(alloc, 3 * PAGE_SIZE)), -ENOMEM);
		CHECK(sim_fault_fired());
		sim_fault_arm(0);
		CHECK_EQ(sim_log_count(), logged + i + 1);
		CHECK_EQ(sim_pages_live(alloc), i);
		CHECK_EQ(binder_pages_idle_count(), i);
		CHECK(lock_is_free(&alloc->install_mutex));
		test_check(alloc);
		CHECK_EQ(binder_pages_shrink(100), i);
	}
	CHECK(!strcmp(sim_log_last(), "4711: cannot insert the page at offset 8192 of "
				      "the mapping: error -12\n"));
	buffer = test_get(alloc, 3 * PAGE_SIZE);
	binder_alloc_free_buffer(alloc, buffer);
	test_alloc_end(alloc);
}

static void unmap(void *arg)
{
	sim_alloc_munmap(arg);
}

static void test_mapping_that_goes_during_install_is_dead(void)
{
	struct binder_alloc *alloc = test_alloc_new(MAP);
	unsigned int logged = sim_log_count();

	/* Before the look: seen, so nothing is tried and nothing is said. */
	sim_at(SIM_PAGE_ALLOC, 2, unmap, alloc);
	CHECK_EQ(PTR_ERR(test_try(alloc, 3 * PAGE_SIZE)), -ESRCH);
	CHECK_EQ(sim_log_count(), logged);
	CHECK_EQ(sim_pages_live(alloc), 1);
	CHECK_EQ(binder_pages_idle_count(), 1);
	CHECK_EQ(binder_alloc_buffer_count(alloc), 0);
	test_alloc_end(alloc);

	/* After it: the insert finds out. */
	alloc = test_alloc_new(MAP);
	sim_at(SIM_PAGE_INSERT, 2, unmap, alloc);
	CHECK_EQ(PTR_ERR(test_get_oneway(alloc, 3 * PAGE_SIZE)), -ESRCH);
	CHECK_EQ(sim_log_count(), logged + 1);
	CHECK(strstr(sim_log_last(), "4711: cannot insert the page at offset 4096"));
	CHECK(strstr(sim_log_last(), "error -3"));
	CHECK_EQ(sim_pages_live(alloc), 1);
	CHECK_EQ(binder_alloc_buffer_count(alloc), 0);
	CHECK_EQ(test_space(alloc).free_async, MAP / 2);
	test_alloc_end(alloc);
}

/* ---- clearing and release ---------------------------------------------------- */

static unsigned int nr_lock_checks;

/* Guards: "release keeps the spinlock across memset and page free". */
static void check_spinlock_is_free(void *arg)
{
	struct binder_alloc *alloc = arg;

	CHECK(spin_is_free(&alloc->lock));
	nr_lock_checks++;
}

static void test_contents_are_cleared_without_the_spinlock(void)
{
	const struct binder_alloc_request request = { .data_size = 64, .clear_on_free = true };
	struct binder_alloc *alloc = test_alloc_new(MAP);

	nr_lock_checks = 0;
	sim_at(SIM_ZERO_BUFFER, 1, check_spinlock_is_free, alloc);
	binder_alloc_free_buffer(alloc, binder_alloc_buffer(alloc, &request));
	CHECK_EQ(nr_lock_checks, 1);
	test_alloc_end(alloc);
}

static void check_release_locks(void *arg)
{
	struct binder_alloc *alloc = arg;

	check_spinlock_is_free(arg);
	/* Guards: "release does not take install_mutex". */
	CHECK(!lock_is_free(&alloc->install_mutex));
	/* What is left is nobody's to reclaim. */
	CHECK_EQ(binder_pages_shrink(1000), 0);
}

static void test_release_holds_install_mutex_and_drops_the_spinlock(void)
{
	const struct binder_alloc_request request = { .data_size = 64, .clear_on_free = true };
	static const enum sim_point points[] = { SIM_ZERO_BUFFER, SIM_PAGE_ZAP, SIM_PAGE_FREE };

	nr_lock_checks = 0;
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		for (unsigned int nth = 1; nth <= 2; nth++) {
			struct binder_alloc *alloc = alloc_with_idle(3);

			for (int b = 0; b < 3; b++)
				CHECK(!IS_ERR(binder_alloc_buffer(alloc, &request)));
			sim_at(points[i], nth, check_release_locks, alloc);
			binder_alloc_release(alloc);
			CHECK(!sim_at_pending());
			CHECK(lock_is_free(&alloc->install_mutex));
			CHECK_EQ(refcount_read(&alloc->refs), 1);
			binder_alloc_put(alloc);
		}
	}
	CHECK_EQ(nr_lock_checks, 6);
}

static void release(void *arg)
{
	binder_alloc_release(arg);
}

static void release_during_zap(void)
{
	struct binder_alloc *alloc = alloc_with_idle(2);

	sim_at(SIM_PAGE_ZAP, 1, release, alloc);
	binder_pages_shrink(1);
}

static void release_while_page_is_freed(void)
{
	struct binder_alloc *alloc = alloc_with_idle(2);

	sim_at(SIM_PAGE_FREE, 1, release, alloc);
	binder_pages_shrink(1);
}

/* Guards: "release does not take install_mutex". A bad run frees the slots of a page in flight. */
static void test_release_waits_for_a_shrinker_in_flight(void)
{
	test_must_block("BINDER_RANK_INSTALL", release_during_zap);
	test_must_block("BINDER_RANK_INSTALL", release_while_page_is_freed);
}

static void test_last_reference_after_release_frees_only_the_structure(void)
{
	struct binder_alloc *alloc = alloc_with_idle(2);
	unsigned long live;

	/* As a shrinker that has let go of install_mutex and not yet of its reference. */
	binder_alloc_get(alloc);
	test_alloc_end(alloc);
	live = sim_alloc_live();
	CHECK_EQ(refcount_read(&alloc->refs), 1);
	binder_alloc_put(alloc);
	CHECK_EQ(sim_alloc_live(), live - 1);
}

int main(void)
{
	alarm(TEST_TIMEOUT_S);
	RUN(test_pages_come_on_demand_and_shared_ones_once);
	RUN(test_page_shared_across_a_hole_stays_in_use);
	RUN(test_idle_pages_are_reused);
	RUN(test_high_water_mark_stays);
	RUN(test_shrink_takes_longest_idle_first_and_no_more_than_asked);
	RUN(test_shrink_marked_takes_what_was_idle_at_the_mark_and_since);
	RUN(test_gap_is_the_run_of_empty_slots);
	RUN(test_shrunk_page_comes_back_zeroed);
	RUN(test_shrink_skips_allocators_whose_install_mutex_is_held);
	RUN(test_shrink_skips_what_a_trylock_refuses_and_goes_on);
	RUN(test_allocating_uses_no_trylock);
	RUN(test_install_mutex_is_not_taken_when_pages_are_in_place);
	RUN(test_slot_filled_meanwhile_is_taken_as_it_is);
	RUN(test_page_of_a_failed_neighbour_is_kept);
	RUN(test_reclaim_inside_install_makes_progress);
	RUN(test_pages_of_a_buffer_being_installed_are_not_idle);
	RUN(test_slot_and_lru_change_before_the_zap);
	RUN(test_install_and_zap_exclude_each_other);
	RUN(test_nothing_under_the_address_space_lock_waits_for_install);
	RUN(test_failed_insert_is_reported_and_leaves_nothing);
	RUN(test_mapping_that_goes_during_install_is_dead);
	RUN(test_page_held_for_a_fault_is_not_reclaimed);
	RUN(test_page_of_a_released_allocator_cannot_be_held);
	RUN(test_contents_are_cleared_without_the_spinlock);
	RUN(test_release_holds_install_mutex_and_drops_the_spinlock);
	RUN(test_release_waits_for_a_shrinker_in_flight);
	RUN(test_last_reference_after_release_frees_only_the_structure);
	return 0;
}
