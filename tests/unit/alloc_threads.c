// SPDX-License-Identifier: GPL-2.0-only
/*
 * Install against shrink against unmap against release, by real threads: the
 * windows between two locks, which a test of one thread cannot stand in. Most
 * meaningful under ThreadSanitizer and AddressSanitizer; without them the
 * lock checker and the page table's own checks are at work.
 *
 * Rows of the list of wrong turns it is there for: install racing the zap (no
 * install mutex), both lock orders against the address-space lock, self-
 * deadlock through reclaim, a slot cleared without alloc->lock, release
 * without install_mutex. Each process lives through: several threads map it
 * at once, senders fill and free buffers, reclaim comes from threads of its
 * own and from inside page allocation, insert and munmap; half are unmapped
 * while in use; then released under the shrinkers' hands.
 *
 * usage: alloc_threads [GENERATIONS [SEED]]
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <binder_kapi.h>

#include "fake_host.h"

#define NR_ALLOCS 2
#define SENDERS 3	/* of each allocator */
#define SHRINKERS 2
#define NR_PAGES 12
#define MAP (NR_PAGES * PAGE_SIZE)
#define BUFFERS 6	/* held by one sender at a time */
#define STEPS 300
#define TIMEOUT_S 900

struct world {
	struct binder_alloc *alloc;
	int mapped;	/* atomic: how many binder_alloc_map() calls won */
	bool unmap;
	pthread_barrier_t start;
};

struct sender {
	pthread_t thread;
	struct world *world;
	unsigned int nr;
};

struct held {
	struct binder_buffer *buffer;
	size_t size;
	u8 byte;
};

static u64 seed = 1;
static __thread u64 rnd;
static bool stop;			/* atomic */
static unsigned long nr_reclaimed;	/* atomic */
static unsigned long nr_buffers;	/* atomic */

static u64 below(u64 n)
{
	rnd ^= rnd >> 12;
	rnd ^= rnd << 25;
	rnd ^= rnd >> 27;
	return (rnd * 0x2545f4914f6cdd1dULL >> 33) % n;
}

static void seed_thread(unsigned int a, unsigned int b)
{
	rnd = (seed << 32 | a << 16 | b) * 0x9e3779b97f4a7c15ULL | 1;
}

static void reclaim(unsigned long nr)
{
	__atomic_fetch_add(&nr_reclaimed, binder_pages_shrink(nr), __ATOMIC_RELAXED);
}

/* With two CPUs, preemption rarely hits a window by itself. */
static void on_pause(struct binder_alloc *alloc, bool may_reclaim)
{
	(void)alloc;
	switch (below(4)) {
	case 0:
		sched_yield();
		break;
	case 1:
		if (may_reclaim)
			reclaim(1 + below(4));
		break;
	}
}

/* ---- one sender ---------------------------------------------------------------- */

static void give_back(struct binder_alloc *alloc, struct held *held)
{
	u64 addr;

	if (!held->buffer)
		return;
	addr = alloc->user_addr + held->buffer->offset;
	fake_verify(alloc, held->buffer->offset, held->size, held->byte);
	binder_alloc_allow_free(alloc, held->buffer);
	FAKE_CHECK(binder_alloc_prepare_to_free(alloc, addr) == held->buffer);
	FAKE_CHECK(binder_alloc_prepare_to_free(alloc, addr) != held->buffer);
	binder_alloc_free_buffer(alloc, held->buffer);
	held->buffer = NULL;
}

/* Return: false when the mapping is gone. */
static bool take(struct binder_alloc *alloc, struct held *held)
{
	const struct binder_alloc_request request = {
		.data_size = 1 + (below(3) ? below(600) : below(3 * PAGE_SIZE)),
		.oneway = !below(4),
		.clear_on_free = !below(4),
	};
	struct binder_buffer *buffer = binder_alloc_buffer(alloc, &request);

	if (IS_ERR(buffer)) {
		FAKE_CHECK(PTR_ERR(buffer) == -ENOSPC || PTR_ERR(buffer) == -ESRCH);
		return PTR_ERR(buffer) != -ESRCH;
	}
	held->buffer = buffer;
	held->size = request.data_size;
	held->byte = (u8)below(256);
	fake_fill(alloc, buffer->offset, held->size, held->byte);
	__atomic_fetch_add(&nr_buffers, 1, __ATOMIC_RELAXED);
	return true;
}

static void look(struct binder_alloc *alloc)
{
	struct binder_alloc_space space;

	binder_alloc_space(alloc, &space);
	FAKE_CHECK(space.pages_active + space.pages_lru + space.pages_free == NR_PAGES);
	FAKE_CHECK(space.free_bytes + space.allocated_bytes == MAP);
	FAKE_CHECK(space.pages_high <= NR_PAGES);
}

static void *sender_main(void *arg)
{
	struct sender *sender = arg;
	struct world *world = sender->world;
	struct binder_alloc *alloc = world->alloc;
	struct held held[BUFFERS] = { 0 };
	int err;

	seed_thread(1, sender->nr);
	pthread_barrier_wait(&world->start);
	err = fake_mmap(alloc, MAP);
	FAKE_CHECK(!err || err == -EBUSY);
	__atomic_fetch_add(&world->mapped, !err, __ATOMIC_RELAXED);
	for (int step = 0; step < STEPS; step++) {
		struct held *slot = &held[below(BUFFERS)];

		if (slot->buffer)
			give_back(alloc, slot);
		else if (!take(alloc, slot))
			break;
		if (!below(32))
			look(alloc);
		if (world->unmap && step > STEPS / 2 && !below(STEPS / 4))
			fake_munmap(alloc);
	}
	/* Some are left for the release. */
	for (int i = 0; i < BUFFERS; i++)
		if (below(4))
			give_back(alloc, &held[i]);
	return NULL;
}

/* ---- the life of a process ------------------------------------------------------- */

static void world_live(struct world *world, unsigned int nr, bool unmap)
{
	struct sender senders[SENDERS];
	struct binder_alloc *alloc = binder_alloc_new(NULL, (pid_t)nr);

	FAKE_CHECK(alloc);
	binder_mutex_init(&alloc->host.mm_lock, BINDER_RANK_MM);
	world->alloc = alloc;
	world->mapped = 0;
	world->unmap = unmap;
	FAKE_CHECK(!pthread_barrier_init(&world->start, NULL, SENDERS));
	for (unsigned int i = 0; i < SENDERS; i++) {
		senders[i].world = world;
		senders[i].nr = nr * SENDERS + i;
		FAKE_CHECK(!pthread_create(&senders[i].thread, NULL, sender_main, &senders[i]));
	}
	for (unsigned int i = 0; i < SENDERS; i++)
		pthread_join(senders[i].thread, NULL);
	pthread_barrier_destroy(&world->start);
	FAKE_CHECK(world->mapped == 1);
	binder_alloc_release(alloc);
	FAKE_CHECK(READ_ONCE(alloc->host.over));
	binder_alloc_put(alloc);
}

struct lifetime {
	pthread_t thread;
	unsigned int nr;
	unsigned int generations;
};

static void *lifetime_main(void *arg)
{
	struct lifetime *life = arg;
	struct world world;

	seed_thread(2, life->nr);
	for (unsigned int g = 0; g < life->generations; g++)
		world_live(&world, g * NR_ALLOCS + life->nr, below(2));
	return NULL;
}

static void *shrinker_main(void *arg)
{
	seed_thread(3, (unsigned int)(uintptr_t)arg);
	while (!READ_ONCE(stop)) {
		reclaim(1 + below(8));
		if (below(2))
			sched_yield();
	}
	return NULL;
}

/* Full mappings and failed inserts are what it is about, thousands of them. */
static void drop_message(int level, const char *text)
{
	(void)level;
	(void)text;
}

int main(int argc, char **argv)
{
	unsigned int generations = argc > 1 ? (unsigned int)atoi(argv[1]) : 300;
	struct lifetime lives[NR_ALLOCS];
	pthread_t shrinkers[SHRINKERS];

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	alarm(TIMEOUT_S);
	seed_thread(0, 0);
	binder_pages_init();
	fake_pause = on_pause;
	binder_kapi_log_hook = drop_message;
	for (uintptr_t i = 0; i < SHRINKERS; i++)
		FAKE_CHECK(!pthread_create(&shrinkers[i], NULL, shrinker_main, (void *)i));
	for (unsigned int i = 0; i < NR_ALLOCS; i++) {
		lives[i].nr = i;
		lives[i].generations = generations;
		FAKE_CHECK(!pthread_create(&lives[i].thread, NULL, lifetime_main, &lives[i]));
	}
	for (unsigned int i = 0; i < NR_ALLOCS; i++)
		pthread_join(lives[i].thread, NULL);
	WRITE_ONCE(stop, true);
	for (unsigned int i = 0; i < SHRINKERS; i++)
		pthread_join(shrinkers[i], NULL);
	FAKE_CHECK(!binder_pages_idle_count());
	FAKE_CHECK(!binder_kapi_warnings);
	printf("%u processes, %lu buffers, %lu pages reclaimed (seed %llu)\n",
	       generations * NR_ALLOCS, nr_buffers, nr_reclaimed, (unsigned long long)seed);
	/* Otherwise it tested nothing. */
	FAKE_CHECK(nr_buffers > generations && nr_reclaimed > generations);
	return 0;
}
