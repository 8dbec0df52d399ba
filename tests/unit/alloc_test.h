/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the allocator's tests share: checks, a random number, an allocator in
 * the simulated world, and the invariants that hold whenever alloc->lock is
 * free. Header only, because each test is one program.
 */
#ifndef TESTS_UNIT_ALLOC_TEST_H
#define TESTS_UNIT_ALLOC_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"
#include "core/alloc.h"
#include "core/text.h"

#define CHECK(cond) do {							\
	if (!(cond)) {								\
		fprintf(stderr, "%s:%d: %s: check failed: %s\n", __FILE__, __LINE__,	\
			__func__, #cond);					\
		exit(1);							\
	}									\
} while (0)

#define CHECK_EQ(got, want) do {						\
	long long check_got = (long long)(got), check_want = (long long)(want);	\
	if (check_got != check_want) {						\
		fprintf(stderr, "%s:%d: %s: %s is %lld, want %s = %lld\n", __FILE__,	\
			__LINE__, __func__, #got, check_got, #want, check_want);	\
		exit(1);							\
	}									\
} while (0)

#define TEST_PID 4711

/* A hung test is a failed test. */
#define TEST_TIMEOUT_S 600

static inline u64 test_random(u64 *state)
{
	/* xorshift64*; the state must not be 0 */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static inline struct binder_alloc *test_alloc_new(size_t size)
{
	struct binder_alloc *alloc = binder_alloc_new(NULL, TEST_PID);

	CHECK(alloc);
	CHECK_EQ(sim_alloc_mmap(alloc, size), 0);
	return alloc;
}

static inline void test_alloc_end(struct binder_alloc *alloc)
{
	binder_alloc_release(alloc);
	binder_alloc_put(alloc);
}

static inline struct binder_buffer *test_get_oneway(struct binder_alloc *alloc, size_t size)
{
	const struct binder_alloc_request request = { .data_size = size, .oneway = true };

	return binder_alloc_buffer(alloc, &request);
}

static inline struct binder_buffer *test_try(struct binder_alloc *alloc, size_t size)
{
	const struct binder_alloc_request request = { .data_size = size };

	return binder_alloc_buffer(alloc, &request);
}

/* A buffer that must be had. */
static inline struct binder_buffer *test_get(struct binder_alloc *alloc, size_t size)
{
	struct binder_buffer *buffer = test_try(alloc, size);

	if (IS_ERR(buffer))
		CHECK_EQ(PTR_ERR(buffer), 0);
	return buffer;
}

static inline struct binder_alloc_space test_space(struct binder_alloc *alloc)
{
	struct binder_alloc_space space;

	binder_alloc_space(alloc, &space);
	return space;
}

static inline size_t test_buffer_size(struct binder_alloc *alloc, struct binder_buffer *buffer)
{
	size_t size;

	spin_lock(&alloc->lock);
	size = binder_alloc_size_locked(alloc, buffer);
	spin_unlock(&alloc->lock);
	return size;
}

/* What the process sees at @offset. */
static inline const u8 *test_seen(struct binder_alloc *alloc, size_t offset)
{
	return (const u8 *)(uintptr_t)alloc->user_addr + offset;
}

static inline bool test_seen_all(struct binder_alloc *alloc, size_t offset, size_t len, u8 byte)
{
	const u8 *mem = test_seen(alloc, offset);

	while (len--)
		if (*mem++ != byte)
			return false;
	return true;
}

static inline void test_write(struct binder_alloc *alloc, size_t offset, size_t len, u8 byte)
{
	u8 *mem = malloc(len);

	CHECK(mem);
	memset(mem, byte, len);
	binder_host_write_buffer(alloc, offset, mem, len);
	free(mem);
}

/* A page that a live buffer touches is in place and off the LRU; any other is idle or not there. */
static inline void test_check_pages(struct binder_alloc *alloc)
{
	size_t nr = alloc->size / PAGE_SIZE;
	bool *live = calloc(nr, sizeof(*live));
	struct binder_buffer *buffer;

	CHECK(live);
	list_for_each_entry(buffer, &alloc->buffers, entry) {
		size_t end = buffer->offset + test_buffer_size(alloc, buffer);

		for (size_t at = buffer->offset; !buffer->free && at < end; at++)
			live[at / PAGE_SIZE] = true;
	}
	for (size_t i = 0; i < nr; i++) {
		CHECK_EQ(!!alloc->pages[i].page, sim_page_present(alloc, i));
		CHECK(live[i] ? !!alloc->pages[i].page : true);
		CHECK_EQ(list_empty(&alloc->pages[i].lru), live[i] || !alloc->pages[i].page);
	}
	free(live);
}

/* The buffers tile the mapping, no two free ones touch, trees and counters agree with the list. */
static inline void test_check_buffers(struct binder_alloc *alloc)
{
	struct binder_alloc_space space = test_space(alloc);
	size_t at = 0, nr[2] = { 0 }, bytes[2] = { 0 }, largest[2] = { 0 }, in_tree[2] = { 0 };
	struct binder_buffer *buffer;
	bool was_free = false;

	list_for_each_entry(buffer, &alloc->buffers, entry) {
		size_t size = test_buffer_size(alloc, buffer);

		CHECK_EQ(buffer->offset, at);
		CHECK(size >= 8 && IS_ALIGNED(size, 8));
		CHECK(!(was_free && buffer->free));
		was_free = buffer->free;
		nr[was_free]++;
		bytes[was_free] += size;
		largest[was_free] = max(largest[was_free], size);
		at += size;
	}
	CHECK_EQ(at, alloc->size);
	for (struct rb_node *n = rb_first(&alloc->free_buffers); n; n = rb_next(n))
		in_tree[true] += rb_entry(n, struct binder_buffer, rb_node)->free;
	for (struct rb_node *n = rb_first(&alloc->allocated_buffers); n; n = rb_next(n))
		in_tree[false] += !rb_entry(n, struct binder_buffer, rb_node)->free;
	CHECK_EQ(in_tree[true], nr[true]);
	CHECK_EQ(in_tree[false], nr[false]);
	CHECK_EQ(space.free_count, nr[true]);
	CHECK_EQ(space.free_bytes, bytes[true]);
	CHECK_EQ(space.free_largest, largest[true]);
	CHECK_EQ(space.allocated_count, nr[false]);
	CHECK_EQ(space.allocated_bytes, bytes[false]);
	CHECK_EQ(space.allocated_largest, largest[false]);
	CHECK_EQ(binder_alloc_buffer_count(alloc), nr[false]);
}

/* All of it; walks every byte, so not for the innermost loop of a long test. */
static inline void test_check(struct binder_alloc *alloc)
{
	test_check_buffers(alloc);
	test_check_pages(alloc);
}

static const char *test_blocks_on;

static void test_blocks_hook(const char *text)
{
	/* The two words of the lock checker for "would wait for its own thread". */
	if (strstr(text, test_blocks_on) &&
	    (strstr(text, "locked twice") || strstr(text, "would wait for ever")))
		_exit(0);
	fprintf(stderr, "instead of waiting for %s: %s\n", test_blocks_on, text);
	_exit(1);
}

/*
 * @scenario must come to the point where it waits for @lock (a rank's name).
 * In a world of one thread that is a deadlock, which the lock checker reports;
 * it happens in a child, because there is no way back from it.
 */
static inline void test_must_block(const char *lock, void (*scenario)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		test_blocks_on = lock;
		binder_kapi_fatal_hook = test_blocks_hook;
		scenario();
		fprintf(stderr, "nothing waited for %s\n", lock);
		_exit(1);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* One test in a world of its own. */
static inline void test_run(const char *name, void (*test)(void))
{
	sim_start();
	test();
	sim_end();
	printf("ok %s\n", name);
}

#define RUN(test) test_run(#test, test)

#endif
