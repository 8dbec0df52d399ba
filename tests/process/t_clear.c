// SPDX-License-Identifier: MIT
/* TF_CLEAR_BUF: after the receiver freed the buffer, its content is gone. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* Reads a mapping that may have lost its page: no page is no content. */
static bool all_zero(uint64_t addr, size_t size)
{
	uint8_t *copy = calloc(1, size + 1);
	struct iovec to = { copy, size }, from = { (void *)(uintptr_t)addr, size };
	bool zero = true;

	for (size_t done = 0; done < size;) {
		ssize_t n;

		to.iov_base = copy + done;
		from.iov_base = (uint8_t *)(uintptr_t)addr + done;
		to.iov_len = from.iov_len = size - done < 4096 ? size - done : 4096;
		n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
		done += n > 0 ? (size_t)n : to.iov_len;
	}
	for (size_t i = 0; i < size; i++)
		zero = zero && !copy[i];
	free(copy);
	return zero;
}

static uint64_t receive(struct pair *p, uint32_t flags, const void *data, size_t size)
{
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_ext(&m, data, size);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, flags, &m);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.data_size, size);
	CHECK_MEM(tr_data(&ret.tr), data, size);
	if (!(flags & TF_ONE_WAY)) {
		bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&p->c, &(struct bt_ret){ 0 }), BR_REPLY);
	}
	return ret.tr.data.ptr.buffer;
}

static void release(struct pair *p, uint64_t addr)
{
	struct bt_ret ret;

	CHECK(!bt_try(&p->s, &ret));
	bt_free(&p->s, addr);
	bt_flush(&p->s);
}

static void test_clear_flag_zeroes_exactly_the_freed_buffer(void)
{
	static const size_t sizes[] = { 1, 7, 8, 100, 4088, 4096, 4097, 5000, 12288, 50000 };
	struct pair *p = pair_open();
	uint8_t *data = malloc(65536);

	memset(data, 0xc3, 65536);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t before = receive(p, 0, data, 100);
		uint64_t addr = receive(p, TF_CLEAR_BUF, data, sizes[i]);
		uint64_t after = receive(p, 0, data, 100);

		release(p, addr);
		CHECK(all_zero(addr, sizes[i]));
		CHECK_MEM((const void *)(uintptr_t)before, data, 100);
		CHECK_MEM((const void *)(uintptr_t)after, data, 100);
		release(p, before);
		release(p, after);
	}
	pair_close(p);
}

static void test_clear_flag_whole_map_is_zeroed(void)
{
	struct pair *p = pair_open_sized(65536, 0);
	uint8_t *data = malloc(65536);
	uint64_t addr;

	memset(data, 0x5a, 65536);
	for (int i = 0; i < 3; i++) {
		addr = receive(p, TF_CLEAR_BUF, data, 65536);
		release(p, addr);
		CHECK(all_zero(addr, 65536));
	}
	pair_close(p);
}

static void test_clear_flag_on_oneway_is_zeroed(void)
{
	struct pair *p = pair_open();
	uint8_t *data = malloc(10000);
	uint64_t addr;

	memset(data, 0x77, 10000);
	addr = receive(p, TF_CLEAR_BUF | TF_ONE_WAY, data, 10000);
	release(p, addr);
	CHECK(all_zero(addr, 10000));
	pair_close(p);
}

static void test_clear_flag_on_reply_is_zeroed(void)
{
	struct pair *p = pair_open();
	uint8_t *data = malloc(10000);
	struct bt_ret ret;
	struct msg m;

	memset(data, 0x77, 10000);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, NULL);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	msg_init(&m);
	msg_ext(&m, data, 10000);
	bt_send(&p->s, BC_REPLY, 0, 0, TF_CLEAR_BUF, &m);
	bt_flush(&p->s);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	CHECK_MEM(tr_data(&ret.tr), data, 10000);
	bt_free(&p->c, ret.tr.data.ptr.buffer);
	bt_flush(&p->c);
	CHECK(all_zero(ret.tr.data.ptr.buffer, 10000));
	pair_close(p);
}

/* Objects and their offsets lie in the buffer too. */
static void test_clear_flag_covers_objects_and_offsets(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 0x11111111);
	msg_u32(&m, 0x22222222);
	for (int i = 0; i < 4; i++)
		msg_binder(&m, 0x100 + i, 7);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, TF_CLEAR_BUF, &m);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, NULL);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	bt_flush(&p->s);
	CHECK(all_zero(ret.tr.data.ptr.buffer, 8 + 4 * 24 + 4 * 8));
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	pair_close(p);
}

/* A new buffer shows nothing of an older one beyond its own bytes. */
static void test_new_page_is_zero_behind_the_payload(void)
{
	struct pair *p = pair_open();
	uint8_t *data = malloc(8192);
	uint64_t addr;

	memset(data, 0x99, 8192);
	addr = receive(p, 0, data, 100);
	CHECK(all_zero(addr + 104, 4096 - 104 - addr % 4096));
	release(p, addr);
	pair_close(p);
}

static const struct test_case cases[] = {
	QUICK(test_clear_flag_zeroes_exactly_the_freed_buffer),
	QUICK(test_clear_flag_whole_map_is_zeroed),
	QUICK(test_clear_flag_on_oneway_is_zeroed),
	QUICK(test_clear_flag_on_reply_is_zeroed),
	QUICK(test_clear_flag_covers_objects_and_offsets),
	CASE(test_new_page_is_zero_behind_the_payload),
};

TEST_MAIN(cases)
