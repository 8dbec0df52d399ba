// SPDX-License-Identifier: MIT
/*
 * The mapping of a kernel driver's device with many at it: threads that fault
 * at once, caches dropped under live buffers, mappings that come and go.
 */
#include "bc.h"
#include "child.h"
#include "harness.h"
#include "mapping.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned int next(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

/* ---- many threads read one buffer ---------------------------------------------- */

#define READERS 6
#define SHARED_BYTES (512 * 1024ul)

struct readers {
	const uint8_t *data;
	unsigned int seed;
	bool forgets;
	pthread_barrier_t start;
};

struct reader {
	struct readers *all;
	size_t from;
};

/* From a place of its own, once around. */
static void *read_all(void *arg)
{
	struct reader *r = arg;
	struct readers *all = r->all;
	size_t pages = SHARED_BYTES / PAGE;
	uint8_t *want = malloc(SHARED_BYTES);

	pattern_fill(want, SHARED_BYTES, all->seed);
	pthread_barrier_wait(&all->start);
	for (size_t i = 0; i < pages; i++) {
		size_t at = (r->from + i) % pages * PAGE;

		CHECK_MEM(all->data + at, want + at, PAGE);
		/* with the page gone again under the others, who must get it back */
		if (all->forgets && i % 7 == 0)
			CHECK_EQ(madvise((void *)((uintptr_t)(all->data + at) & ~(PAGE - 1)), PAGE,
					 MADV_DONTNEED), 0);
	}
	free(want);
	return NULL;
}

static void read_by_threads(struct readers *all)
{
	struct reader r[READERS];
	pthread_t threads[READERS];

	pthread_barrier_init(&all->start, NULL, READERS);
	for (int i = 0; i < READERS; i++) {
		r[i] = (struct reader){ all, i * (SHARED_BYTES / PAGE) / READERS };
		threads[i] = test_thread(read_all, &r[i]);
	}
	for (int i = 0; i < READERS; i++)
		test_thread_join(threads[i]);
	pthread_barrier_destroy(&all->start);
}

static void share_buffers(bool forgets)
{
	bool ours = driver_has_defer();
	struct pair *p = pair_open_sized(2 * SHARED_BYTES, 0);
	struct readers all = { .forgets = forgets };
	struct bt_ret ret;

	for (unsigned int i = 0; i < 4; i++) {
		mapping_receive(p, SHARED_BYTES, i, &ret);
		all.data = tr_data(&ret.tr);
		all.seed = i;
		/* nobody has touched the first one */
		if (forgets && !i && mapping_has_page(all.data + 3 * PAGE)) {
			CHECK(!ours);
			test_skip("the driver puts pages in when it sends: one forgotten is gone");
		}
		read_by_threads(&all);
		mapping_answer(p, &ret);
		drop_caches();
	}
	pair_close(p);
}

static void test_buffer_read_by_many_threads_at_once(void)
{
	share_buffers(false);
}

static void test_buffer_read_by_many_threads_while_it_is_forgotten(void)
{
	share_buffers(true);
}

/* ---- caches dropped -------------------------------------------------------------- */

#define DROP_CLIENTS 3
#define DROP_CALLS 120
#define DROP_BYTES 100000
#define DROP_HELD 4

static void drop_forever(void *arg)
{
	for (;;) {
		drop_caches();
		test_post(arg);
	}
}

/* Reads what it got only when others have called, and caches were dropped, meanwhile. */
static void echo_late(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	test_sleep_ms(tr->data_size % 4);
	msg_ext(reply, tr_data(tr), tr->data_size);
}

struct held {
	struct binder_transaction_data tr;
	unsigned int seed;
};

static void release_held(struct client *c, struct held *h)
{
	if (!h->tr.data.ptr.buffer)
		return;
	pattern_check(tr_data(&h->tr), h->tr.data_size, h->seed);
	bt_free(&c->t, h->tr.data.ptr.buffer);
	bt_flush(&c->t);
	h->tr.data.ptr.buffer = 0;
}

/* Keeps some replies, which it looks at late; untouched until then. */
static void call_with_all_sizes(void *arg)
{
	unsigned int random = *(int *)arg + 1;
	struct client *c = calloc(1, sizeof(*c));
	struct held held[DROP_HELD] = { 0 };
	uint8_t *data = malloc(DROP_BYTES);
	struct msg m;

	bc_open(&c->b, 1024 * 1024);
	bt_init(&c->t, &c->b);
	for (unsigned int i = 0; i < DROP_CALLS; i++) {
		struct held *h = &held[next(&random) % DROP_HELD];
		size_t n = next(&random) % DROP_BYTES >> next(&random) % 8;

		release_held(c, h);
		pattern_fill(data, n, i);
		msg_init(&m);
		msg_ext(&m, data, n);
		bt_call_ok(&c->t, 0, CODE_OWN, &m, &h->tr);
		CHECK_EQ(h->tr.data_size, n);
		h->seed = i;
	}
	for (int i = 0; i < DROP_HELD; i++)
		release_held(c, &held[i]);
}

static void test_data_is_right_while_caches_are_dropped(void)
{
	struct server s = { .threads = 3, .map_size = 1024 * 1024, .own = echo_late };
	atomic_int *dropped = test_share(sizeof(*dropped));
	int number[DROP_CLIENTS];
	pid_t pids[DROP_CLIENTS], dropper;

	drop_caches();
	server_start(&s);
	dropper = test_spawn(drop_forever, dropped);
	test_await(dropped, 1);
	for (int i = 0; i < DROP_CLIENTS; i++) {
		number[i] = i;
		pids[i] = test_spawn(call_with_all_sizes, &number[i]);
	}
	for (int i = 0; i < DROP_CLIENTS; i++)
		test_join(pids[i]);
	test_kill(dropper);
	CHECK_EQ(atomic_load(&s.shared->served), DROP_CLIENTS * DROP_CALLS);
	server_stop(&s);
}

/* ---- mappings come and go ----------------------------------------------------------- */

#define RESIDENTS 3
#define ROUNDS 12
#define STORM_BYTES 3000

static struct storm {
	atomic_int answered;
	atomic_int refused;
	atomic_int over;
} *storm;

static void echo(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	msg_ext(reply, tr_data(tr), tr->data_size);
}

/* What came before the mapping went cannot be read any more. */
static void answer_blindly(struct bt *t, const struct binder_transaction_data *tr,
			   struct msg *reply)
{
}

static void *fork_and_touch(void *arg)
{
	struct bc *b = arg;

	for (int i = 0; i < 3; i++) {
		int status;
		pid_t pid = fork();

		CHECK_GE(pid, 0);
		if (!pid) {
			(void)*(volatile const uint8_t *)b->map;
			_exit(1); /* it was there */
		}
		CHECK(test_reap(pid, &status, TEST_WAIT_S));
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	}
	return NULL;
}

static void serve_for(struct bt *t, int ms)
{
	long long end = test_now_ms() + ms;
	struct bt_ret ret;

	while (test_now_ms() < end) {
		if (!bt_try(t, &ret))
			test_sleep_ms(1);
		else if (ret.cmd == BR_TRANSACTION)
			bt_serve(t, &ret.tr);
	}
	bt_flush(t);
}

static void lose(struct bc *b, unsigned int way)
{
	uint8_t *at = (uint8_t *)b->map;

	switch (way) {
	case 0:
		CHECK_EQ(munmap(at, b->map_size), 0);
		b->map = NULL;
		break;
	case 1:
		CHECK_EQ(munmap(at + b->map_size - PAGE, PAGE), 0);
		break;
	case 2:
		CHECK(mmap(at, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		      at);
		break;
	case 3:
		b->map = mremap(at, b->map_size, b->map_size, MREMAP_MAYMOVE | MREMAP_FIXED,
				mmap(NULL, b->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				     0));
		CHECK(b->map != MAP_FAILED);
		break;
	}
}

static void live_once(unsigned int id, unsigned int *random)
{
	static const size_t sizes[] = { 16 * 1024, 64 * 1024, 1024 * 1024, 2 * BC_MAP_MAX };
	struct bt *t = calloc(1, sizeof(*t));
	struct bc b;
	pthread_t thread;

	bc_open_nonblock(&b, sizes[next(random) % ARRAY_SIZE(sizes)]);
	bt_init(t, &b);
	registry_drop(t, id);
	registry_put(t, id, SERVER_PTR(id), SERVER_COOKIE(id));
	t->handler = echo;
	bt_enter(t);
	thread = test_thread(fork_and_touch, &b);
	serve_for(t, 40);
	test_thread_join(thread);
	t->handler = answer_blindly;
	t->reply_flags = TF_STATUS_CODE;
	lose(&b, next(random) % 5);
	serve_for(t, 20);
	bc_close(&b);
	free(t);
}

static void live_and_die(void *arg)
{
	unsigned int id = *(int *)arg, random = id * 977;

	for (int i = 0; i < ROUNDS; i++)
		live_once(id, &random);
	test_post(&storm->over);
}

static void call_one(struct client *c, uint32_t handle, uint8_t *data, unsigned int i)
{
	struct binder_transaction_data reply;
	struct msg m;
	uint32_t got;

	pattern_fill(data, STORM_BYTES, i);
	msg_init(&m);
	msg_ext(&m, data, STORM_BYTES);
	got = bt_call(&c->t, handle, 1, 0, &m, &reply);
	if (got != BR_REPLY) {
		CHECK(got == BR_DEAD_REPLY || got == BR_FAILED_REPLY);
		test_post(&storm->refused);
		return;
	}
	if (!(reply.flags & TF_STATUS_CODE)) {
		CHECK_EQ(reply.data_size, STORM_BYTES);
		pattern_check(tr_data(&reply), STORM_BYTES, i);
		test_post(&storm->answered);
	}
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
}

static void call_whoever_lives(void *arg)
{
	struct client *c = client_open();
	uint8_t *data = malloc(STORM_BYTES);

	for (unsigned int i = 0; atomic_load(&storm->over) < RESIDENTS; i++) {
		uint32_t handle;

		if (!registry_find(&c->t, 1 + i % RESIDENTS, &handle))
			continue;
		for (int j = 0; j < 5; j++)
			call_one(c, handle, data, i + j);
		bt_ref(&c->t, BC_RELEASE, handle);
		bt_flush(&c->t);
	}
}

static void test_storm_of_mmap_munmap_and_fork_with_calls(void)
{
	struct server m = { 0 };
	int number[RESIDENTS];
	pid_t residents[RESIDENTS], clients[2], dropper;
	atomic_int *dropped = test_share(sizeof(*dropped));

	storm = test_share(sizeof(*storm));
	drop_caches();
	server_start(&m);
	dropper = test_spawn(drop_forever, dropped);
	for (int i = 0; i < RESIDENTS; i++) {
		number[i] = i + 1;
		residents[i] = test_spawn(live_and_die, &number[i]);
	}
	for (int i = 0; i < 2; i++)
		clients[i] = test_spawn(call_whoever_lives, NULL);
	for (int i = 0; i < RESIDENTS; i++)
		test_join(residents[i]);
	for (int i = 0; i < 2; i++)
		test_join(clients[i]);
	test_kill(dropper);
	/* it was about something */
	CHECK_GE(atomic_load(&storm->answered), RESIDENTS);
	CHECK_GE(atomic_load(&storm->refused), 1);
	server_stop(&m);
}

/* Many threads of one process want to be the one that maps it. */
static void *race_to_map(void *arg)
{
	struct bc *b = arg;
	void *at = mmap(NULL, BC_MAP_SIZE, PROT_READ, MAP_PRIVATE, b->fd, 0);

	CHECK(at != MAP_FAILED || errno == EBUSY);
	return at == MAP_FAILED ? NULL : at;
}

static void test_mmap_by_many_threads_lets_one_win(void)
{
	struct server m = { 0 };

	server_start(&m);
	for (int i = 0; i < 20; i++) {
		struct client *c = calloc(1, sizeof(*c));
		pthread_t threads[READERS];
		int won = 0;

		CHECK_EQ(bc_try_open(&c->b, "binder", 0, 0), 0);
		bt_init(&c->t, &c->b);
		for (int j = 0; j < READERS; j++)
			threads[j] = test_thread(race_to_map, &c->b);
		for (int j = 0; j < READERS; j++) {
			void *at = NULL;

			CHECK_EQ(pthread_join(threads[j], &at), 0);
			won += !!at;
			if (at)
				c->b.map = at;
		}
		CHECK_EQ(won, 1);
		c->b.map_size = BC_MAP_SIZE;
		bt_ping(&c->t, 0, CODE_NULL);
		bc_close(&c->b);
		free(c);
	}
	server_stop(&m);
}

static const struct test_case cases[] = {
	QUICK(test_buffer_read_by_many_threads_at_once),
	QUICK(test_buffer_read_by_many_threads_while_it_is_forgotten),
	CASE_FLAGS(test_data_is_right_while_caches_are_dropped, TEST_LONG),
	CASE_FLAGS(test_storm_of_mmap_munmap_and_fork_with_calls, TEST_LONG),
	QUICK(test_mmap_by_many_threads_lets_one_win),
};

TEST_MAIN(cases)
