// SPDX-License-Identifier: MIT
/* Payload sizes, the layout of a buffer, and the limits of a mapping. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the driver may need of a buffer for itself (one-way budget of old kernels). */
#define SLACK 256

static uint8_t *pattern(size_t size, unsigned int seed)
{
	uint8_t *p = malloc(size + 1);

	for (size_t i = 0; i < size; i++)
		p[i] = (i * 7 + (i >> 8) * 13 + seed) & 0xff;
	return p;
}

/* Sends from c to s without waiting. */
static void send_bytes(struct pair *p, uint32_t flags, const void *data, size_t size)
{
	struct msg m;

	msg_init(&m);
	msg_ext(&m, data, size);
	bt_send(&p->c, BC_TRANSACTION, p->h, CODE_OWN, flags, &m);
	bt_flush(&p->c);
}

/* Sends, and the far end must get it as sent; it answers with as much. */
static void round_trip(struct pair *p, size_t size)
{
	uint8_t *data = pattern(size, size);
	struct bt_ret ret;
	struct msg m;

	send_bytes(p, 0, data, size);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.data_size, size);
	CHECK_EQ(ret.tr.offsets_size, 0);
	CHECK_EQ(ret.tr.data.ptr.buffer % 8, 0);
	CHECK(ret.tr.data.ptr.buffer >= (uintptr_t)p->sb.map);
	CHECK(ret.tr.data.ptr.buffer + size <= (uintptr_t)p->sb.map + p->sb.map_size);
	CHECK_MEM(tr_data(&ret.tr), data, size);
	msg_init(&m);
	msg_ext(&m, tr_data(&ret.tr), size);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, &m);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	bt_flush(&p->s);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	CHECK_EQ(ret.tr.data_size, size);
	CHECK_MEM(tr_data(&ret.tr), data, size);
	bt_free(&p->c, ret.tr.data.ptr.buffer);
	bt_flush(&p->c);
	free(data);
}

/* Sends what does not fit. */
static void must_fail(struct pair *p, uint32_t flags, size_t size, int param)
{
	uint8_t *data = pattern(size, 1);
	struct bt_ret ret;

	send_bytes(p, flags, data, size);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, param);
	bt_quiet(&p->c);
	free(data);
}

static void test_size_zero_bytes_arrive(void)
{
	struct pair *p = pair_open();

	for (int i = 0; i < 20; i++)
		round_trip(p, 0);
	pair_close(p);
}

static void test_size_every_small_one_arrives(void)
{
	struct pair *p = pair_open();

	for (size_t size = 1; size <= 130; size++)
		round_trip(p, size);
	pair_close(p);
}

static void test_size_around_page_borders_arrives(void)
{
	struct pair *p = pair_open();

	for (size_t page = 4096; page <= 8 * 4096; page += 4096)
		for (int d = -9; d <= 9; d++)
			round_trip(p, page + d);
	pair_close(p);
}

static void test_size_powers_of_two_arrive(void)
{
	struct pair *p = pair_open_sized(BC_MAP_MAX, BC_MAP_MAX);

	for (size_t size = 1; size <= 2 * 1024 * 1024; size *= 2)
		for (int d = -1; d <= 1; d++)
			round_trip(p, size + d);
	pair_close(p);
}

static void test_size_1056768_bytes_arrive(void)
{
	struct pair *p = pair_open_sized(BC_MAP_MAX, BC_MAP_MAX);

	for (int i = 0; i < 8; i++)
		round_trip(p, 1056768);
	pair_close(p);
}

static void test_size_whole_map_arrives(void)
{
	struct pair *p = pair_open_sized(65536, 65536);

	for (int i = 0; i < 4; i++) {
		round_trip(p, 65536);
		must_fail(p, 0, 65537, -ENOSPC);
		round_trip(p, 65535);
		must_fail(p, 0, 65536 + 4096, -ENOSPC);
	}
	pair_close(p);
}

static void test_size_map_of_one_page_serves(void)
{
	struct pair *p = pair_open_sized(4096, 4096);

	round_trip(p, 4096);
	must_fail(p, 0, 4097, -ENOSPC);
	round_trip(p, 1);
	pair_close(p);
}

static void test_size_map_not_a_multiple_of_pages_is_rounded_up(void)
{
	struct pair *p = pair_open_sized(5000, 5000);

	round_trip(p, 5000);
	p->sb.map_size = p->cb.map_size = 8192;
	round_trip(p, 8192);
	must_fail(p, 0, 8193, -ENOSPC);
	p->sb.map_size = p->cb.map_size = 5000;
	pair_close(p);
}

/* Mappings are cut to 4 MiB without an error. */
static void test_size_map_beyond_4_mib_is_capped(void)
{
	struct pair *p = pair_open_sized(2 * BC_MAP_MAX, 2 * BC_MAP_MAX);

	round_trip(p, BC_MAP_MAX);
	must_fail(p, 0, BC_MAP_MAX + 1, -ENOSPC);
	round_trip(p, 100);
	pair_close(p);
}

static void test_size_oneway_half_of_map_arrives(void)
{
	struct pair *p = pair_open_sized(65536, 0);
	uint8_t *data = pattern(32768, 3);
	struct bt_ret ret;

	for (int i = 0; i < 4; i++) {
		must_fail(p, TF_ONE_WAY, 32768 + 1, -ENOSPC);
		send_bytes(p, TF_ONE_WAY, data, 32768 - SLACK);
		bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
		bt_expect(&p->s, BR_TRANSACTION, &ret);
		CHECK_EQ(ret.tr.data_size, 32768 - SLACK);
		CHECK_MEM(tr_data(&ret.tr), data, 32768 - SLACK);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
	}
	pair_close(p);
}

/* The offsets come behind the data, at a multiple of 8. */
static void test_size_offsets_count_and_are_placed_behind_data(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	struct msg m;

	for (size_t tail = 0; tail < 9; tail++) {
		msg_init(&m);
		msg_u32(&m, 1);
		msg_u32(&m, 2);
		msg_binder(&m, 0x9000, 0x9001);
		msg_bytes(&m, "12345678", tail);
		bt_send(&p->c, BC_TRANSACTION, p->h, CODE_OWN, 0, &m);
		bt_flush(&p->c);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		CHECK_EQ(ret.tr.data_size, 32 + tail);
		CHECK_EQ(ret.tr.offsets_size, 8);
		CHECK_EQ(ret.tr.data.ptr.offsets,
			 ret.tr.data.ptr.buffer + (32 + tail + 7) / 8 * 8);
		CHECK_EQ(*(uint64_t *)(uintptr_t)ret.tr.data.ptr.offsets, 8);
		CHECK_EQ(tr_object(&ret.tr, 0)->hdr.type, BINDER_TYPE_HANDLE);
		CHECK_EQ(tr_u32(&ret.tr, 0), 1);
		CHECK_MEM((const uint8_t *)tr_data(&ret.tr) + 32, "12345678", tail);
		bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
		bt_free(&p->c, ret.tr.data.ptr.buffer);
		bt_flush(&p->c);
	}
	pair_close(p);
}

/* Sizes that no buffer has, and sums that wrap. */
static void test_size_absurd_numbers_fail_and_do_no_harm(void)
{
	static const struct { uint64_t data, offsets; } sizes[] = {
		{ UINT64_MAX, 0 }, { UINT64_MAX - 7, 0 }, { UINT64_MAX - 8, 8 },
		{ 8, UINT64_MAX - 7 }, { UINT64_MAX - 7, 16 }, { 1ull << 63, 1ull << 63 },
		{ 1ull << 32, 0 }, { (1ull << 32) + 8, 0 }, { 0, 1ull << 32 },
		{ INT64_MAX, 8 }, { 1ull << 31, 0 }, { 0xfffffff8, 0x8 },
	};
	struct pair *p = pair_open();
	uint64_t zero[4] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct binder_transaction_data tr = {
			.target.handle = p->h,
			.data_size = sizes[i].data,
			.offsets_size = sizes[i].offsets,
			.data.ptr.buffer = (uintptr_t)zero,
			.data.ptr.offsets = (uintptr_t)zero,
		};
		struct bt_ret ret;

		bt_raw(&p->c, BC_TRANSACTION, &tr);
		bt_flush(&p->c);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, 1);
		round_trip(p, 64);
	}
	pair_close(p);
}

static void test_size_offsets_not_multiple_of_8_fails(void)
{
	struct pair *p = pair_open();
	uint64_t zero[8] = { 0 };

	for (int n = 1; n < 8; n++) {
		struct binder_transaction_data tr = {
			.target.handle = p->h, .data_size = 32, .offsets_size = n,
			.data.ptr.buffer = (uintptr_t)zero, .data.ptr.offsets = (uintptr_t)zero,
		};
		struct bt_ret ret;

		bt_raw(&p->c, BC_TRANSACTION, &tr);
		bt_flush(&p->c);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, -EINVAL);
	}
	round_trip(p, 8);
	pair_close(p);
}

/* The caller gets the error, the replier a completion. */
static void test_size_reply_too_large_fails_at_the_caller(void)
{
	struct pair *p = pair_open_sized(0, 4096);
	uint8_t *data = pattern(8192, 1);
	struct bt_ret ret;
	struct msg m;

	for (int i = 0; i < 3; i++) {
		send_bytes(p, 0, NULL, 0);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		msg_init(&m);
		msg_ext(&m, data, 4097);
		bt_send(&p->s, BC_REPLY, 0, 0, 0, &m);
		bt_flush(&p->s);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_expect(&p->s, BR_TRANSACTION_COMPLETE, NULL);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, -ENOSPC);
		round_trip(p, 4096);
	}
	pair_close(p);
}

static void test_target_without_map_is_dead(void)
{
	struct bc b;
	struct bt *t = malloc(sizeof(*t));
	struct pair *p = pair_open();
	struct bt_ret ret;
	uint32_t h;

	CHECK_EQ(bc_try_open(&b, "binder", O_NONBLOCK, 0), 0);
	bt_init(t, &b);
	bt_warm(t);
	/* without a mapping it gets no reply, but its object is registered */
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 5);
	msg_u32(&m, 0);
	msg_binder(&m, 0x7000, 0x7001);
	bt_send(t, BC_TRANSACTION, 0, CODE_PUT, 0, &m);
	bt_flush(t);
	for (;;) {
		bt_wait(t, &ret);
		if (ret.cmd == BR_DEAD_REPLY || ret.cmd == BR_FAILED_REPLY)
			break;
	}
	CHECK_EQ(ret.cmd, BR_DEAD_REPLY);
	h = registry_get(&p->c, 5);
	CHECK_EQ(bt_call(&p->c, h, 1, 0, NULL, NULL), BR_DEAD_REPLY);
	CHECK_EQ(bt_call(&p->c, h, 1, TF_ONE_WAY, NULL, NULL), BR_DEAD_REPLY);
	round_trip(p, 10);
	pair_close(p);
}

/*
 * After munmap nothing can be delivered. A driver that is not told of munmap
 * may deliver; either way nothing else may suffer.
 */
static void test_target_unmapped_is_dead_or_still_served(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	round_trip(p, 100);
	CHECK_EQ(munmap((void *)p->sb.map, p->sb.map_size), 0);
	p->sb.map = NULL;
	send_bytes(p, 0, "hello", 5);
	if (bt_try(&p->s, &ret)) {
		CHECK_EQ(ret.cmd, BR_TRANSACTION);
		bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
		bt_free(&p->c, ret.tr.data.ptr.buffer);
		bt_flush(&p->c);
	} else {
		CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	}
	pair_close(p);
}

/* EBUSY, or (a driver that is not told of mmap) the first stays in use. */
static void test_second_map_does_not_disturb_the_first(void)
{
	struct pair *p = pair_open();
	void *second;

	round_trip(p, 1000);
	second = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, p->sb.fd, 0);
	if (second == MAP_FAILED)
		CHECK_EQ(errno, EBUSY);
	round_trip(p, 50000);
	if (second != MAP_FAILED)
		munmap(second, 8192);
	round_trip(p, 50000);
	pair_close(p);
}

/*
 * EPERM, or (user-space driver) the client can write into its own buffers:
 * then whatever it writes there must hurt nobody, also while it is the driver's
 * turn to look at a buffer (free, reply from it).
 */
static void test_writable_map_is_refused_or_harmless(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	uint8_t *map;
	struct bc b;

	CHECK_EQ(bc_try_open(&b, "binder", 0, 0), 0);
	map = mmap(NULL, BC_MAP_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, 0);
	if (map == MAP_FAILED) {
		CHECK_EQ(errno, EPERM);
		return;
	}
	map = mmap(NULL, p->sb.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, p->sb.fd, 0);
	CHECK(map != MAP_FAILED);
	for (int i = 0; i < 50; i++) {
		struct msg m;

		msg_init(&m);
		msg_binder(&m, 0x100 + i, 1);
		bt_send(&p->c, BC_TRANSACTION, p->h, CODE_OWN, 0, &m);
		bt_flush(&p->c);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		memset(map, i * 37, p->sb.map_size);
		bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
		bt_free(&p->c, ret.tr.data.ptr.buffer);
		bt_settle(&p->c);
	}
	munmap(map, p->sb.map_size);
	round_trip(p, 30000);
	pair_close(p);
}

/* A file that can be shrunk under its mappings would kill who reads them. */
static void test_device_write_and_truncate_are_refused_or_harmless(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	uint8_t junk[4096];

	memset(junk, 0xff, sizeof(junk));
	send_bytes(p, 0, "payload", 7);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	(void)!ftruncate(p->sb.fd, 0);
	(void)!ftruncate(p->sb.fd, 1 << 30);
	(void)!fallocate(p->sb.fd, 0x03, 0, 1 << 20);
	(void)!pwrite(p->sb.fd, junk, sizeof(junk), 1 << 19);
	(void)!pread(p->sb.fd, junk, sizeof(junk), 0);
	(void)!lseek(p->sb.fd, 100, SEEK_SET);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	bt_flush(&p->s);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	bt_free(&p->c, ret.tr.data.ptr.buffer);
	bt_flush(&p->c);
	round_trip(p, 100000);
	pair_close(p);
}

/* The sender's memory may be its own mapping, also a part never touched. */
static void test_payload_from_own_mapping_arrives(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	for (int i = 0; i < 4; i++) {
		send_bytes(p, 0, (const uint8_t *)p->cb.map + 4096 * i, 4096);
		/* memory nobody ever used may be refused, not hang */
		if (bt_try(&p->c, &ret)) {
			CHECK_EQ(ret.cmd, BR_FAILED_REPLY);
			bt_expect_error(&p->c, BR_FAILED_REPLY, -EFAULT);
			continue;
		}
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		CHECK_EQ(ret.tr.data_size, 4096);
		bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
		bt_free(&p->c, ret.tr.data.ptr.buffer);
		bt_flush(&p->c);
	}
	round_trip(p, 10000);
	pair_close(p);
}

/* Between real processes, every size class, contents checked at both ends. */
static void test_size_echo_between_processes(void)
{
	static const size_t sizes[] = { 0, 1, 4, 255, 4095, 4096, 4097, 65536, 300000, 500000 };
	struct server s = { .map_size = 1024 * 1024 };
	struct client *c;

	server_start(&s);
	c = calloc(1, sizeof(*c));
	bc_open(&c->b, 1024 * 1024);
	bt_init(&c->t, &c->b);
	for (int round = 0; round < 5; round++)
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			uint8_t *data = pattern(sizes[i], round);
			struct binder_transaction_data reply;
			struct msg m;

			msg_init(&m);
			msg_ext(&m, data, sizes[i]);
			bt_call_ok(&c->t, 0, CODE_ECHO, &m, &reply);
			CHECK_EQ(reply.data_size, sizes[i]);
			CHECK_MEM(tr_data(&reply), data, sizes[i]);
			bt_free(&c->t, reply.data.ptr.buffer);
			bt_flush(&c->t);
			free(data);
		}
	server_stop(&s);
}

static const struct test_case cases[] = {
	QUICK(test_size_zero_bytes_arrive),
	QUICK(test_size_every_small_one_arrives),
	CASE(test_size_around_page_borders_arrives),
	CASE(test_size_powers_of_two_arrive),
	QUICK(test_size_1056768_bytes_arrive),
	QUICK(test_size_whole_map_arrives),
	QUICK(test_size_map_of_one_page_serves),
	QUICK(test_size_map_not_a_multiple_of_pages_is_rounded_up),
	QUICK(test_size_map_beyond_4_mib_is_capped),
	QUICK(test_size_oneway_half_of_map_arrives),
	QUICK(test_size_offsets_count_and_are_placed_behind_data),
	QUICK(test_size_absurd_numbers_fail_and_do_no_harm),
	QUICK(test_size_offsets_not_multiple_of_8_fails),
	QUICK(test_size_reply_too_large_fails_at_the_caller),
	QUICK(test_target_without_map_is_dead),
	QUICK(test_target_unmapped_is_dead_or_still_served),
	QUICK(test_second_map_does_not_disturb_the_first),
	QUICK(test_writable_map_is_refused_or_harmless),
	QUICK(test_device_write_and_truncate_are_refused_or_harmless),
	QUICK(test_payload_from_own_mapping_arrives),
	QUICK(test_size_echo_between_processes),
};

TEST_MAIN(cases)
