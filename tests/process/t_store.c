// SPDX-License-Identifier: MIT
/*
 * What clients see of their mappings, and sending from them, with one worker:
 * whoever waits for a page must not wait for the worker that waits for it.
 * Meant for both ways of mapping: ANYBINDERD_OPTIONS says which.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define BIG (3 * PAGE + 100)

static bool stores(void)
{
	const char *options = getenv("ANYBINDERD_OPTIONS");

	return options && strstr(options, "--mapping=store");
}

/* Nothing of the device's page cache stays, if it has one: the next touch reads. */
static void cache_drop(const struct bc *b)
{
	CHECK_EQ(posix_fadvise(b->fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	CHECK_EQ(madvise((void *)b->map, b->map_size, MADV_DONTNEED), 0);
}

static size_t cached_pages(const struct bc *b)
{
	unsigned char in[BC_MAP_MAX / PAGE];
	size_t i, nr = 0;

	CHECK_EQ(mincore((void *)b->map, b->map_size, in), 0);
	for (i = 0; i < b->map_size / PAGE; i++)
		nr += in[i] & 1;
	return nr;
}

static uint8_t *pattern(size_t size, unsigned int seed)
{
	uint8_t *p = malloc(size);

	CHECK(p);
	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)(seed + i * 7 + (i >> 8));
	return p;
}

/* Echoes @size bytes at @from; the reply's buffer stays the caller's. */
static void echo(struct client *c, const void *from, size_t size,
		 struct binder_transaction_data *reply)
{
	struct binder_transaction_data tr = {
		.code = CODE_ECHO, .data_size = size, .data.ptr.buffer = (uintptr_t)from,
	};

	bt_raw(&c->t, BC_TRANSACTION, &tr);
	CHECK_EQ(bt_finish(&c->t, false, reply), BR_REPLY);
	CHECK_EQ(reply->data_size, size);
}

/* ---- what is seen -------------------------------------------------------------- */

static void test_mapping_untouched_is_all_zero(void)
{
	static const uint8_t zero[PAGE];
	struct bc b;

	bc_open(&b, BC_MAP_MAX);
	for (size_t i = 0; i < BC_MAP_MAX; i += PAGE)
		CHECK_MEM(b.map + i, zero, PAGE);
	bc_close(&b);
}

static void test_payload_whose_pages_were_dropped_is_read_again(void)
{
	struct server s = { .map_size = BC_MAP_SIZE };
	struct binder_transaction_data reply;
	uint8_t *data = pattern(BIG, 1);
	struct client *c;

	server_start(&s);
	c = client_open();
	for (int i = 0; i < 20; i++) {
		echo(c, data, BIG, &reply);
		cache_drop(&c->b);
		CHECK_MEM(tr_data(&reply), data, BIG);
		bt_free(&c->t, reply.data.ptr.buffer);
	}
	bt_flush(&c->t);
	free(data);
}

/* Small payloads share pages, and each must be whole whoever's page it is in. */
static void test_payloads_that_share_a_page_do_not_disturb_each_other(void)
{
	struct server s = { .map_size = BC_MAP_SIZE };
	struct binder_transaction_data reply[64];
	struct client *c;

	server_start(&s);
	c = client_open();
	for (int round = 0; round < 10; round++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(reply); i++) {
			uint8_t *data = pattern(200, round * 100 + i);

			echo(c, data, 200, &reply[i]);
			free(data);
		}
		if (round & 1)
			cache_drop(&c->b);
		for (unsigned int i = 0; i < ARRAY_SIZE(reply); i++) {
			uint8_t *data = pattern(200, round * 100 + i);

			CHECK_MEM(tr_data(&reply[i]), data, 200);
			free(data);
			bt_free(&c->t, reply[i].data.ptr.buffer);
		}
		bt_flush(&c->t);
	}
}

/* A payload comes with its whole page, so that no client has to read it. */
static void test_payload_received_is_there(void)
{
	struct server s = { .map_size = BC_MAP_SIZE };
	struct binder_transaction_data reply;
	uint8_t *data = pattern(100, 1);
	struct client *c;

	server_start(&s);
	c = client_open();
	CHECK_EQ(cached_pages(&c->b), 0);
	echo(c, data, 100, &reply);
	CHECK_EQ(cached_pages(&c->b), 1);
	CHECK_MEM(tr_data(&reply), data, 100);
	free(data);
}

struct toucher {
	const struct bc *b;
	atomic_int stop;
	uint64_t sum;
};

static void *touch(void *arg)
{
	struct toucher *t = arg;

	while (!atomic_load(&t->stop)) {
		cache_drop(t->b);
		for (size_t i = 0; i < 8 * PAGE; i += PAGE)
			t->sum += *(const volatile uint8_t *)(t->b->map + i);
	}
	return NULL;
}

/* Its pages are read, dropped and pushed at the same time. */
static void test_payload_is_whole_while_its_page_is_read(void)
{
	struct server s = { .map_size = BC_MAP_SIZE };
	struct binder_transaction_data reply;
	struct client *c;
	struct toucher t = { 0 };
	pthread_t thread;

	server_start(&s);
	c = client_open();
	t.b = &c->b;
	thread = test_thread(touch, &t);
	for (unsigned int i = 0; i < 150; i++) {
		size_t size = i % 3 ? 64 + i : BIG;
		uint8_t *data = pattern(size, i);

		echo(c, data, size, &reply);
		CHECK_MEM(tr_data(&reply), data, size);
		bt_free(&c->t, reply.data.ptr.buffer);
		free(data);
	}
	bt_flush(&c->t);
	atomic_store(&t.stop, 1);
	test_thread_join(thread);
}

/* A client that writes to its mapping harms nobody, and is still served. */
static void test_mapping_shared_and_dirty_is_served(void)
{
	struct server s = { .map_size = BC_MAP_SIZE };
	struct binder_transaction_data reply;
	struct client *c;
	uint8_t *map;

	server_start(&s);
	c = client_open();
	map = mmap(NULL, BC_MAP_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, c->b.fd, 0);
	if (map == MAP_FAILED)
		test_skip("the driver refuses such a mapping");
	for (unsigned int i = 0; i < 20; i++) {
		uint8_t *data = pattern(BIG, i);

		memset(map, 0xff, BC_MAP_SIZE);
		echo(c, data, BIG, &reply);
		CHECK_MEM(tr_data(&reply), data, BIG);
		bt_free(&c->t, reply.data.ptr.buffer);
		free(data);
	}
	bt_flush(&c->t);
	munmap(map, BC_MAP_SIZE);
}

/* ---- sending from it -------------------------------------------------------------- */

static void test_payload_from_the_own_mapping_untouched_is_sent(void)
{
	struct server s = { .map_size = BC_MAP_SIZE };
	struct binder_transaction_data first, second;
	uint8_t *data = pattern(BIG, 3);
	struct client *c;

	server_start(&s);
	c = client_open();
	for (int i = 0; i < 10; i++) {
		echo(c, data, BIG, &first);
		cache_drop(&c->b);
		echo(c, (const void *)(uintptr_t)first.data.ptr.buffer, BIG, &second);
		CHECK_MEM(tr_data(&second), data, BIG);
		bt_free(&c->t, first.data.ptr.buffer);
		bt_free(&c->t, second.data.ptr.buffer);
		/* From pages that never held anything, and across the mapping's start. */
		cache_drop(&c->b);
		echo(c, c->b.map + c->b.map_size - BIG, BIG, &second);
		CHECK_EQ(*(const uint8_t *)tr_data(&second), 0);
		bt_free(&c->t, second.data.ptr.buffer);
	}
	bt_flush(&c->t);
	free(data);
}

static void test_offsets_from_the_own_mapping_untouched_are_read(void)
{
	struct server s = { .map_size = BC_MAP_SIZE };
	struct binder_transaction_data tr = { 0 }, reply;
	struct client *c;
	uint8_t zero[64] = { 0 };

	server_start(&s);
	c = client_open();
	echo(c, zero, sizeof(zero), &reply);
	cache_drop(&c->b);
	tr.code = CODE_ECHO;
	tr.data_size = sizeof(zero);
	tr.data.ptr.buffer = (uintptr_t)zero;
	tr.offsets_size = 8;
	tr.data.ptr.offsets = reply.data.ptr.buffer;
	bt_raw(&c->t, BC_TRANSACTION, &tr);
	/* An object of type 0 at offset 0 is none. */
	CHECK_EQ(bt_finish(&c->t, false, NULL), BR_FAILED_REPLY);
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
}

/* The driver has not heard of that mapping, as nothing was sent to it. */
static void test_payload_from_another_mapping_untouched_is_sent(void)
{
	struct server s = { .map_size = BC_MAP_SIZE };
	static const uint8_t zero[BIG];
	struct binder_transaction_data reply;
	struct client *c;
	struct bc other;

	server_start(&s);
	c = client_open();
	for (int i = 0; i < 5; i++) {
		bc_open(&other, 0);
		echo(c, other.map, BIG, &reply);
		CHECK_MEM(tr_data(&reply), zero, BIG);
		bt_free(&c->t, reply.data.ptr.buffer);
		bt_flush(&c->t);
		bc_close(&other);
	}
}

static void is_5a(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	const uint8_t *data = tr_data(tr);

	CHECK_EQ(tr->data_size, BIG);
	for (size_t i = 0; i < BIG; i++)
		CHECK_EQ(data[i], 0x5a);
	msg_init(reply);
}

/* What is where a mapping was is what counts: nobody tells a driver of munmap. */
static void test_payload_from_where_the_mapping_was_is_what_is_there_now(void)
{
	struct server s = { .map_size = BC_MAP_SIZE, .own = is_5a };
	struct binder_transaction_data reply;
	uint8_t *data = pattern(BIG, 9), *now;
	struct client *c;

	server_start(&s);
	c = client_open();
	echo(c, data, BIG, &reply);
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
	free(data);
	now = mmap((void *)c->b.map, c->b.map_size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK(now == c->b.map);
	memset(now, 0x5a, BIG);
	bt_send(&c->t, BC_TRANSACTION, 0, CODE_OWN, 0,
		&(struct msg){ .ext = now, .ext_size = BIG });
	CHECK_EQ(bt_finish(&c->t, false, NULL), BR_REPLY);
	munmap(now, c->b.map_size);
}

/* ---- which way it is ---------------------------------------------------------------- */

static bool feature(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/features/%s", driver_dir(), name);
	return !access(path, R_OK);
}

static void test_features_name_the_way_of_mapping(void)
{
	CHECK(feature("mapping_store") != feature("mapping_passthrough"));
	if (stores())
		CHECK(feature("mapping_store"));
}

static void test_mapping_that_there_is_none_of_is_refused(void)
{
	const char *path = getenv("ANYBINDERD");
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl(path, path, "--mapping=wishful", "/", NULL);
		_exit(127);
	}
	CHECK(test_reap(pid, &status, TEST_WAIT_S));
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 2);
}

/* In a kernel driver's mapping there are pages for buffers, and no others. */
static const struct test_case cases[] = {
	CASE_FLAGS(test_mapping_untouched_is_all_zero, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_payload_whose_pages_were_dropped_is_read_again,
		   TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_payloads_that_share_a_page_do_not_disturb_each_other,
		   TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_payload_received_is_there, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_payload_is_whole_while_its_page_is_read, TEST_OWN_DAEMON),
	CASE_FLAGS(test_mapping_shared_and_dirty_is_served, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_payload_from_the_own_mapping_untouched_is_sent,
		   TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_offsets_from_the_own_mapping_untouched_are_read,
		   TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_payload_from_another_mapping_untouched_is_sent,
		   TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_payload_from_where_the_mapping_was_is_what_is_there_now,
		   TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_features_name_the_way_of_mapping, TEST_OWN_DAEMON | TEST_QUICK),
	CASE_FLAGS(test_mapping_that_there_is_none_of_is_refused, TEST_OWN_DAEMON | TEST_QUICK),
};

/* One worker, and all on one CPU. */
int main(int argc, char **argv)
{
	const char *given = getenv("ANYBINDERD_OPTIONS");
	char options[256];
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	snprintf(options, sizeof(options), "%s --workers=1", given ? given : "");
	setenv("ANYBINDERD_OPTIONS", options, 1);
	return test_main(argc, argv, cases, ARRAY_SIZE(cases));
}
