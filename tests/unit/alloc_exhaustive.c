// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every way five buffers can lie to each other and to page edges, freed in
 * every order: 5^5 layouts, at the front and at the back of the mapping, times
 * 5! orders = 750,000 cases. A case goes through five steps and is checked
 * after each of them against what follows from the layout alone:
 *
 *   allocate      where they lie; pages in use are those they cover, no other exists
 *   free in order a page becomes idle with the last buffer on it, not before
 *   allocate      the same again, without a new page, nothing idle left
 *   free in order the same again
 *   shrink        no page is left
 *
 * usage: alloc_exhaustive [K]     every K-th case; without: all
 */
#include "alloc_test.h"

#define NR 5
#define KINDS 5
#define MAP (128 * 1024)
#define NR_PAGES (MAP / PAGE_SIZE)
#define SIZE_MIN (PAGE_SIZE / 8)
#define LAYOUTS (5 * 5 * 5 * 5 * 5)
#define ORDERS (5 * 4 * 3 * 2)
#define CASES ((unsigned long)LAYOUTS * 2 * ORDERS)

/* Where a buffer ends, seen from where the smallest possible one would end. */
enum end_kind {
	SAME_PAGE_UNALIGNED,
	SAME_PAGE_ALIGNED,
	NEXT_PAGE_UNALIGNED,
	NEXT_PAGE_ALIGNED,
	BEYOND_NEXT_PAGE,	/* the next page ends inside it */
};

struct layout {
	size_t start[NR];
	size_t end[NR];
};

static struct binder_alloc *alloc;
static struct binder_buffer *buffers[NR];
static unsigned long case_nr;

#define CASE_EQ(got, want) do {							\
	size_t case_got = (got), case_want = (want);				\
	if (case_got != case_want) {						\
		fprintf(stderr, "case %lu, line %d: %s is %zu, want %zu\n", case_nr,	\
			__LINE__, #got, case_got, case_want);			\
		exit(1);							\
	}									\
} while (0)

static size_t end_of(size_t start, enum end_kind kind)
{
	size_t end = start + SIZE_MIN;
	size_t edge = ALIGN(end, PAGE_SIZE);

	switch (kind) {
	case SAME_PAGE_UNALIGNED: return end;
	case SAME_PAGE_ALIGNED: return edge;
	case NEXT_PAGE_UNALIGNED: return edge + SIZE_MIN;
	case NEXT_PAGE_ALIGNED: return edge + PAGE_SIZE;
	case BEYOND_NEXT_PAGE: return edge + PAGE_SIZE + SIZE_MIN;
	}
	abort();
}

/*
 * Front: from the start of the mapping, the rest stays free. Back: the mirror
 * image, whose first buffer is as long as it takes to leave nothing free.
 */
static void layout_make(struct layout *layout, unsigned int nr, bool back)
{
	struct layout front;
	size_t at = 0;

	for (int i = 0; i < NR; i++, nr /= KINDS) {
		front.start[i] = at;
		at = front.end[i] = end_of(at, nr % KINDS);
	}
	CHECK(at <= MAP);
	*layout = front;
	if (!back)
		return;
	for (int i = 0; i < NR; i++) {
		layout->start[i] = MAP - front.end[NR - 1 - i];
		layout->end[i] = MAP - front.start[NR - 1 - i];
	}
	layout->start[0] = 0;
}

/* The @nr-th order: pick, each time, one of those that are left. */
static void order_make(int order[NR], unsigned int nr)
{
	int left[NR];

	for (int i = 0; i < NR; i++)
		left[i] = i;
	for (int i = 0; i < NR; i++) {
		unsigned int pick = nr % (unsigned int)(NR - i);

		nr /= (unsigned int)(NR - i);
		order[i] = left[pick];
		memmove(&left[pick], &left[pick + 1], (NR - 1 - pick) * sizeof(*left));
	}
}

static u32 pages_of(const struct layout *layout, int i)
{
	u32 pages = 0;

	for (size_t page = layout->start[i] / PAGE_SIZE;
	     page <= (layout->end[i] - 1) / PAGE_SIZE; page++)
		pages |= 1u << page;
	return pages;
}

/* Slots in @live are in use, those in @all and not in @live idle, the others empty. */
static void check_slots(u32 live, u32 all)
{
	static_assert(NR_PAGES <= 32, "a bit for each page");

	for (size_t i = 0; i < NR_PAGES; i++) {
		const struct binder_page *slot = &alloc->pages[i];
		u32 bit = 1u << i;

		CASE_EQ(!!slot->page, !!(all & bit));
		CASE_EQ(!list_empty(&slot->lru), !!(all & ~live & bit));
		CASE_EQ(sim_page_present(alloc, i), !!(all & bit));
	}
	CASE_EQ(binder_pages_idle_count(), (size_t)__builtin_popcount(all & ~live));
}

static void allocate(const struct layout *layout, u32 all)
{
	u32 live = 0;

	for (int i = 0; i < NR; i++) {
		buffers[i] = test_get(alloc, layout->end[i] - layout->start[i]);
		CASE_EQ(buffers[i]->offset, layout->start[i]);
		CASE_EQ(test_buffer_size(alloc, buffers[i]), layout->end[i] - layout->start[i]);
		live |= pages_of(layout, i);
		check_slots(live, live | all);
	}
}

static void free_in_order(const struct layout *layout, const int order[NR], u32 all)
{
	for (int i = 0; i < NR; i++) {
		u32 live = 0;

		binder_alloc_free_buffer(alloc, buffers[order[i]]);
		for (int j = i + 1; j < NR; j++)
			live |= pages_of(layout, order[j]);
		check_slots(live, all);
	}
	CASE_EQ(binder_alloc_buffer_count(alloc), 0);
	CASE_EQ(list_is_last(alloc->buffers.next, &alloc->buffers), true);
	CASE_EQ(list_first_entry(&alloc->buffers, struct binder_buffer, entry)->free, true);
}

static void run_case(const struct layout *layout, const int order[NR])
{
	unsigned long tried;
	u32 all = 0;

	for (int i = 0; i < NR; i++)
		all |= pages_of(layout, i);
	allocate(layout, 0);
	free_in_order(layout, order, all);
	tried = sim_alloc_count();
	allocate(layout, all);
	/* The spare structures, and no page. */
	CASE_EQ(sim_alloc_count() - tried, NR);
	free_in_order(layout, order, all);
	CASE_EQ(binder_pages_shrink(MAP), (size_t)__builtin_popcount(all));
	check_slots(0, 0);
}

int main(int argc, char **argv)
{
	unsigned long every = argc > 1 ? strtoul(argv[1], NULL, 0) : 1, ran = 0;

	CHECK(every);
	alarm(2 * TEST_TIMEOUT_S);
	sim_start();
	alloc = test_alloc_new(MAP);
	for (case_nr = 0; case_nr < CASES; case_nr += every) {
		struct layout layout;
		int order[NR];

		order_make(order, case_nr % ORDERS);
		layout_make(&layout, case_nr / ORDERS / 2, case_nr / ORDERS % 2);
		run_case(&layout, order);
		ran++;
	}
	test_alloc_end(alloc);
	sim_end();
	printf("%lu of %lu cases\n", ran, CASES);
	CHECK_EQ(CASES, 750000);
	CHECK_EQ(ran, DIV_ROUND_UP(CASES, every));
	return 0;
}
