// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random operations on two allocators against a model that is too simple to be
 * wrong: an array of pieces in address order, an array of page states, an array
 * for the LRU, every question answered by looking at all of it. After each step
 * all that can be seen of the allocator must equal the model.
 *
 * usage: alloc_model [SEED [STEPS]]     without: a fixed list of seeds
 */
#include "alloc_test.h"

#define NR_ALLOCS 2
#define NR_PAGES 16
#define MAP (NR_PAGES * PAGE_SIZE)
#define MAX_PIECES (MAP / 8)
#define STEPS 4000
#define SEEDS 60

enum page_state { EMPTY, IN_USE, IDLE };

struct piece {
	size_t offset;
	size_t size;
	bool live;
	bool oneway;
	bool clear;
	bool delivered;
	u8 fill;
	struct binder_buffer *buffer;
};

struct model {
	struct piece pieces[MAX_PIECES];
	size_t nr;
	enum page_state pages[NR_PAGES];
	size_t async;
	size_t high;
	bool mapped;
};

struct idle {
	int alloc;
	size_t page;
};

static struct binder_alloc *allocs[NR_ALLOCS];
static struct model models[NR_ALLOCS];
static struct idle lru[NR_ALLOCS * NR_PAGES];
static size_t nr_lru;
static u64 rnd;
static u64 seed;
static unsigned int step;

#define SAME(got, want) do {							\
	long long same_got = (long long)(got), same_want = (long long)(want);	\
	if (same_got != same_want) {						\
		fprintf(stderr, "seed %llu step %u: %s is %lld, model says %s = %lld\n"	\
			"again: alloc_model %llu %u\n", (unsigned long long)seed, step,	\
			#got, same_got, #want, same_want, (unsigned long long)seed,	\
			step + 1);						\
		exit(1);							\
	}									\
} while (0)

static u64 below(u64 n)
{
	return test_random(&rnd) % n;
}

/* ---- the model -------------------------------------------------------------- */

static void lru_remove(int a, size_t page)
{
	for (size_t i = 0; i < nr_lru; i++) {
		if (lru[i].alloc != a || lru[i].page != page)
			continue;
		memmove(&lru[i], &lru[i + 1], (nr_lru - i - 1) * sizeof(*lru));
		nr_lru--;
		return;
	}
	CHECK(!"the page is in the model's LRU");
}

static bool page_is_live(const struct model *m, size_t page)
{
	for (size_t i = 0; i < m->nr; i++) {
		const struct piece *p = &m->pieces[i];

		if (p->live && p->offset < (page + 1) * PAGE_SIZE &&
		    p->offset + p->size > page * PAGE_SIZE)
			return true;
	}
	return false;
}

/* Whatever is in use and no piece covers any more becomes idle. */
static void model_idle(int a)
{
	struct model *m = &models[a];

	for (size_t page = 0; page < NR_PAGES; page++) {
		if (m->pages[page] != IN_USE || page_is_live(m, page))
			continue;
		m->pages[page] = IDLE;
		lru[nr_lru++] = (struct idle){ a, page };
	}
}

static struct piece *model_best(struct model *m, size_t size)
{
	struct piece *best = NULL;

	for (size_t i = 0; i < m->nr; i++) {
		struct piece *p = &m->pieces[i];

		if (!p->live && p->size >= size && (!best || p->size < best->size))
			best = p;
	}
	return best;
}

static void model_split(struct model *m, struct piece *p, size_t size)
{
	if (p->size == size)
		return;
	memmove(p + 2, p + 1, (size_t)(&m->pieces[m->nr] - (p + 1)) * sizeof(*p));
	m->nr++;
	p[1] = (struct piece){ .offset = p->offset + size, .size = p->size - size };
	p->size = size;
}

static void model_free(int a, struct piece *p)
{
	struct model *m = &models[a];

	p->live = false;
	m->async += p->oneway ? p->size : 0;
	for (size_t i = 0; i + 1 < m->nr;) {
		struct piece *q = &m->pieces[i];

		if (q[0].live || q[1].live) {
			i++;
			continue;
		}
		q->size += q[1].size;
		memmove(q + 1, q + 2, (size_t)(&m->pieces[m->nr] - (q + 2)) * sizeof(*q));
		m->nr--;
	}
	model_idle(a);
}

/*
 * @nth: which allocation fails, 0 for none: 1 is the spare structure, then two
 * for each missing page. Return: 0 or -errno.
 */
static int model_alloc(int a, size_t size, bool oneway, unsigned long nth, struct piece **piece)
{
	struct model *m = &models[a];
	struct piece *p;
	int err = 0;

	if (nth == 1)
		return -ENOMEM;
	if (!m->mapped)
		return -ESRCH;
	if (oneway && size > m->async)
		return -ENOSPC;
	p = model_best(m, size);
	if (!p)
		return -ENOSPC;
	model_split(m, p, size);
	p->live = true;
	p->oneway = oneway;
	m->async -= oneway ? size : 0;
	nth = nth ? nth - 1 : 0;
	for (size_t page = 0; page < NR_PAGES; page++) {
		if (!page_is_live(m, page) || m->pages[page] == IN_USE)
			continue;
		if (m->pages[page] == IDLE) {
			lru_remove(a, page);
			m->pages[page] = IN_USE;
			continue;
		}
		if (err || (nth && nth <= 2)) {
			err = -ENOMEM;
			continue;
		}
		nth = nth ? nth - 2 : 0;
		m->pages[page] = IN_USE;
		m->high = max(m->high, page + 1);
	}
	if (err)
		model_free(a, p);
	else
		*piece = p;
	return err;
}

/* @refused: the first so many trylocks fail */
static unsigned long model_shrink(unsigned long nr, size_t refused)
{
	unsigned long freed = 0;

	for (size_t left = nr_lru; left && freed < nr; left--) {
		struct idle first = lru[0];

		memmove(&lru[0], &lru[1], --nr_lru * sizeof(*lru));
		if (refused) {
			refused--;
			lru[nr_lru++] = first;
			continue;
		}
		models[first.alloc].pages[first.page] = EMPTY;
		freed++;
	}
	return freed;
}

/* ---- comparing ---------------------------------------------------------------- */

static void compare_buffers(struct binder_alloc *alloc, const struct model *m)
{
	struct binder_buffer *buffer;
	size_t i = 0;

	list_for_each_entry(buffer, &alloc->buffers, entry) {
		SAME(i < m->nr, true);
		SAME(buffer->offset, m->pieces[i].offset);
		SAME(test_buffer_size(alloc, buffer), m->pieces[i].size);
		SAME(buffer->free, !m->pieces[i].live);
		if (m->pieces[i].live)
			SAME(buffer == m->pieces[i].buffer, true);
		i++;
	}
	SAME(i, m->nr);
}

static void compare_space(struct binder_alloc *alloc, const struct model *m)
{
	struct binder_alloc_space space = test_space(alloc);
	size_t nr[2] = { 0 }, bytes[2] = { 0 }, largest[2] = { 0 }, pages[3] = { 0 };

	for (size_t i = 0; i < m->nr; i++) {
		const struct piece *p = &m->pieces[i];

		nr[p->live]++;
		bytes[p->live] += p->size;
		largest[p->live] = max(largest[p->live], p->size);
	}
	for (size_t i = 0; i < NR_PAGES; i++)
		pages[m->pages[i]]++;
	SAME(space.allocated_count, nr[1]);
	SAME(space.allocated_bytes, bytes[1]);
	SAME(space.allocated_largest, largest[1]);
	SAME(space.free_count, nr[0]);
	SAME(space.free_bytes, bytes[0]);
	SAME(space.free_largest, largest[0]);
	SAME(space.free_async, m->async);
	SAME(space.pages_active, pages[IN_USE]);
	SAME(space.pages_lru, pages[IDLE]);
	SAME(space.pages_free, pages[EMPTY]);
	SAME(space.pages_high, m->high);
}

static void compare(void)
{
	for (int a = 0; a < NR_ALLOCS; a++) {
		struct model *m = &models[a];

		compare_buffers(allocs[a], m);
		compare_space(allocs[a], m);
		for (size_t i = 0; i < NR_PAGES; i++) {
			SAME(!!allocs[a]->pages[i].page, m->pages[i] != EMPTY);
			SAME(list_empty(&allocs[a]->pages[i].lru), m->pages[i] != IDLE);
			if (m->mapped)
				SAME(sim_page_present(allocs[a], i), m->pages[i] != EMPTY);
		}
	}
	SAME(binder_pages_idle_count(), nr_lru);
}

/* ---- steps ---------------------------------------------------------------------- */

static size_t random_size(void)
{
	switch (below(8)) {
	case 0: return below(3) * 8;
	case 1: return PAGE_SIZE / 2 + below(PAGE_SIZE);
	case 2: return PAGE_SIZE * (1 + below(3));
	case 3: return below(MAP);
	default: return below(400);
	}
}

static void step_alloc(int a)
{
	size_t parts[3] = { random_size(), below(4) ? 0 : below(20) * 8, below(8) ? 0 : below(99) };
	const struct binder_alloc_request request = {
		.data_size = parts[0], .offsets_size = parts[1], .extra_size = parts[2],
		.oneway = !below(3), .clear_on_free = !below(6), .debug_id = (int)step,
	};
	size_t size = ALIGN(parts[0], 8) + ALIGN(parts[1], 8) + ALIGN(parts[2], 8);
	unsigned long nth = below(8) ? 0 : 1 + below(8);
	struct binder_buffer *buffer;
	struct piece *p = NULL;
	int err;

	sim_fault_arm(nth);
	buffer = binder_alloc_buffer(allocs[a], &request);
	sim_fault_arm(0);
	err = model_alloc(a, max(size, (size_t)8), request.oneway, nth, &p);
	SAME(IS_ERR(buffer) ? PTR_ERR(buffer) : 0, err);
	if (err)
		return;
	p->buffer = buffer;
	p->clear = request.clear_on_free;
	p->delivered = below(2);
	p->fill = (u8)(1 + below(255));
	test_write(allocs[a], p->offset, p->size, p->fill);
	if (p->delivered)
		binder_alloc_allow_free(allocs[a], buffer);
}

static void step_free(int a)
{
	struct model *m = &models[a];
	struct binder_alloc *alloc = allocs[a];
	struct piece *p = &m->pieces[below(m->nr)];
	u64 addr = alloc->user_addr + p->offset;
	struct piece was = *p;

	SAME(!!binder_alloc_prepare_to_free(alloc, addr + 1 + below(7)), false);
	if (!p->live) {
		SAME(!!binder_alloc_prepare_to_free(alloc, addr), false);
		return;
	}
	SAME(binder_alloc_prepare_to_free(alloc, addr) == p->buffer, p->delivered);
	SAME(!!binder_alloc_prepare_to_free(alloc, addr), false);
	if (m->mapped)
		SAME(test_seen_all(alloc, p->offset, p->size, p->fill), true);
	binder_alloc_free_buffer(alloc, p->buffer);
	model_free(a, p);
	if (m->mapped)
		SAME(test_seen_all(alloc, was.offset, was.size, was.clear ? 0 : was.fill), true);
}

static void step_shrink(void)
{
	unsigned long nr = below(12);
	unsigned int refused = below(3) ? 0 : (unsigned int)below(6);
	int rank = below(2) ? BINDER_RANK_INSTALL : BINDER_RANK_ALLOC;

	sim_trylock_fail(rank, refused);
	SAME(binder_pages_shrink(nr), model_shrink(nr, refused));
	sim_trylock_fail(rank, 0);
}

static void world_begin(void)
{
	sim_start();
	nr_lru = 0;
	for (int a = 0; a < NR_ALLOCS; a++) {
		allocs[a] = test_alloc_new(MAP);
		memset(&models[a], 0, sizeof(models[a]));
		models[a].pieces[0].size = MAP;
		models[a].nr = 1;
		models[a].async = MAP / 2;
		models[a].mapped = true;
	}
}

static void run(u64 run_seed, unsigned int steps)
{
	seed = run_seed;
	rnd = seed * 0x9e3779b97f4a7c15ULL + 1;
	world_begin();
	for (step = 0; step < steps; step++) {
		int a = (int)below(NR_ALLOCS);

		/* Phases that fill and phases that drain. */
		if (below(100) < (step / 256 % 2 ? 35 : 55))
			step_alloc(a);
		else if (below(10))
			step_free(a);
		else
			step_shrink();
		if (step == steps - steps / 8) {
			sim_alloc_munmap(allocs[0]);
			models[0].mapped = false;
		}
		compare();
	}
	for (int a = 0; a < NR_ALLOCS; a++)
		test_alloc_end(allocs[a]);
	sim_end();
}

int main(int argc, char **argv)
{
	alarm(TEST_TIMEOUT_S);
	if (argc > 1) {
		run(strtoull(argv[1], NULL, 0), argc > 2 ? (unsigned int)atoi(argv[2]) : STEPS);
		return 0;
	}
	for (u64 s = 1; s <= SEEDS; s++)
		run(s, STEPS);
	printf("ok seeds 1 to %d, %d steps each\n", SEEDS, STEPS);
	return 0;
}
