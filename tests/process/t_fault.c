// SPDX-License-Identifier: MIT
/* Pointers into nowhere, buffers that end too soon, commands that are none. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul

/* Four pages, of which the last cannot be touched. */
static uint8_t *fenced(void)
{
	uint8_t *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK_EQ(mprotect(p + 3 * PAGE, PAGE, PROT_NONE), 0);
	return p;
}

static int write_read(struct bc *b, struct binder_write_read *bwr)
{
	return ioctl(b->fd, BINDER_WRITE_READ, bwr) ? -errno : 0;
}

/* The pair still works from end to end. */
static void works(struct pair *p)
{
	static uint32_t code = 100;
	struct bt_ret ret;

	send_to(&p->c, p->h, ++code);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.code, code);
	reply_to(&p->s, &ret, code, NULL);
	CHECK_EQ(take_reply(&p->c), code);
}

static void test_write_buffer_not_readable_says_efault(void)
{
	struct pair *p = pair_open();
	const uint64_t bad[] = {
		0, 8, (uintptr_t)(fenced() + 3 * PAGE), UINT64_MAX - 3, UINT64_MAX - 4095,
		0xffff800000000000ul, 0x0000800000000000ul, 1ull << 63,
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		for (uint64_t size = 4; size <= 8192; size *= 8) {
			struct binder_write_read bwr = {
				.write_buffer = bad[i], .write_size = size,
			};

			int err = write_read(&p->cb, &bwr);

			/* the kernel's driver takes a buffer that wraps for an empty one */
			if (driver_is_own() || bad[i] + size > bad[i])
				CHECK_EQ(err, -EFAULT);
			CHECK_EQ(bwr.write_consumed, 0);
			CHECK_EQ(bwr.read_consumed, 0);
		}
	works(p);
	pair_close(p);
}

/* What was in front of the fence is done, and counted. */
static void test_write_buffer_ending_at_a_fence_is_done_up_to_it(void)
{
	struct pair *p = pair_open();
	uint8_t *fence = fenced() + 3 * PAGE;
	struct binder_transaction_data tr = { .target.handle = p->h, .flags = TF_ONE_WAY };
	uint32_t cmd = BC_TRANSACTION;
	struct bt_ret ret;

	for (size_t cut = 1; cut < 4 + sizeof(tr); cut += 7) {
		uint8_t *at = fence - (4 + sizeof(tr)) - cut;
		struct binder_write_read bwr = {
			.write_buffer = (uintptr_t)at, .write_size = 2 * (4 + sizeof(tr)),
		};
		uint8_t second[4 + sizeof(tr)];

		tr.code = cut;
		memcpy(at, &cmd, 4);
		memcpy(at + 4, &tr, sizeof(tr));
		memcpy(second, &cmd, 4);
		memcpy(second + 4, &tr, sizeof(tr));
		memcpy(at + 4 + sizeof(tr), second, cut);
		CHECK_EQ(write_read(&p->cb, &bwr), -EFAULT);
		CHECK_EQ(bwr.write_consumed, 4 + sizeof(tr));
		bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		CHECK_EQ(ret.tr.code, cut);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
		CHECK(!bt_try(&p->s, &ret));
	}
	works(p);
	pair_close(p);
}

/*
 * write_size cuts a command in two, with readable memory behind. The kernel's
 * driver reads on there; one that keeps to the size says EFAULT.
 */
static void test_command_cut_by_write_size_is_refused_or_harmless(void)
{
	struct pair *p = pair_open();

	for (size_t size = 1; size < 12; size++) {
		struct { uint32_t cmd; uint64_t arg; uint8_t pad[64]; }
			__attribute__((packed)) buf = { .cmd = BC_FREE_BUFFER };
		struct binder_write_read bwr = {
			.write_buffer = (uintptr_t)&buf, .write_size = size,
		};
		int err = write_read(&p->cb, &bwr);

		if (driver_is_own()) {
			CHECK_EQ(err, -EFAULT);
			CHECK_EQ(bwr.write_consumed, 0);
		}
	}
	works(p);
	pair_close(p);
}

static void test_unknown_commands_are_refused_with_einval(void)
{
	static const uint32_t cmds[] = {
		0, 1, 0xffffffff, _IO('c', 22), _IO('c', 23), _IO('c', 99), _IO('c', 255),
		_IOW('c', 40, uint64_t), BR_NOOP, BR_TRANSACTION, BINDER_WRITE_READ,
		_IO('b', 3), _IO('d', 12), _IO('c', 0), _IOW('c', 4, uint64_t),
	};
	struct pair *p = pair_open();
	uint8_t buf[128] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		struct binder_write_read bwr = {
			.write_buffer = (uintptr_t)buf, .write_size = sizeof(buf),
			.read_buffer = (uintptr_t)buf, .read_size = sizeof(buf),
		};

		memcpy(buf, &cmds[i], 4);
		CHECK_EQ(write_read(&p->cb, &bwr), -EINVAL);
		CHECK_EQ(bwr.read_consumed, 0);
		CHECK_LE(bwr.write_consumed, 4);
	}
	works(p);
	pair_close(p);
}

/* A good command in front of an unknown one is done and counted. */
static void test_command_before_an_unknown_one_is_done(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 7, TF_ONE_WAY, NULL);
	bt_cmd(&p->c, 0x12345678);
	bt_send(&p->c, BC_TRANSACTION, p->h, 8, TF_ONE_WAY, NULL);
	CHECK_EQ(bt_ioctl(&p->c, true), -EINVAL);
	CHECK(p->c.out_len == 8 + sizeof(struct binder_transaction_data) ||
	      p->c.out_len == 4 + sizeof(struct binder_transaction_data) + 4);
	p->c.out_len = 0;
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.code, 7);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	bt_flush(&p->s);
	CHECK(!bt_try(&p->s, &ret));
	bt_expect(&p->c, BR_TRANSACTION_COMPLETE, NULL);
	works(p);
	pair_close(p);
}

static void test_payload_or_offsets_crossing_a_fence_fails_the_call(void)
{
	struct pair *p = pair_open();
	uint8_t *fence = fenced() + 3 * PAGE;
	struct bt_ret ret;

	memset(fence - 3 * PAGE, 0, 3 * PAGE);
	for (int i = 0; i < 6; i++) {
		static const size_t sizes[] = { 8, 4096, 8192, 12000, 12288, 60000 };
		size_t room = sizes[i] < 12288 ? sizes[i] - 4 : 1000;
		struct binder_transaction_data tr = {
			.target.handle = p->h, .data_size = sizes[i],
			.data.ptr.buffer = (uintptr_t)fence - room,
		};

		bt_raw(&p->c, BC_TRANSACTION, &tr);
		bt_flush(&p->c);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, -EFAULT);
		tr.data.ptr.buffer = (uintptr_t)fence - 3 * PAGE;
		tr.data_size = 64;
		tr.offsets_size = 16;
		tr.data.ptr.offsets = (uintptr_t)fence - 8;
		bt_raw(&p->c, BC_TRANSACTION, &tr);
		bt_flush(&p->c);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, 1);
	}
	CHECK(!bt_try(&p->s, &ret));
	works(p);
	pair_close(p);
}

/* Objects that were translated before the fault are given back. */
static void test_fault_behind_objects_undoes_them(void)
{
	struct pair *p = pair_open();
	uint8_t *fence = fenced() + 3 * PAGE;
	struct flat_binder_object fbo = { .binder = 0x8000, .cookie = 1 };
	uint64_t offset = 0;
	struct bt_ret ret;
	uint32_t h;

	fbo.hdr.type = BINDER_TYPE_BINDER;
	memcpy(fence - 64, &fbo, sizeof(fbo));
	bt_enter(&p->c);
	for (int i = 0; i < 5; i++) {
		struct binder_transaction_data tr = {
			.target.handle = p->h, .data_size = 128, .offsets_size = 8,
			.data.ptr.buffer = (uintptr_t)fence - 64,
			.data.ptr.offsets = (uintptr_t)&offset,
		};

		bt_raw(&p->c, BC_TRANSACTION, &tr);
		bt_flush(&p->c);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, -EFAULT);
		bt_settle(&p->c);
	}
	CHECK_EQ(BT_GOT(&p->c, BR_INCREFS), BT_GOT(&p->c, BR_DECREFS));
	CHECK_EQ(BT_GOT(&p->c, BR_ACQUIRE), BT_GOT(&p->c, BR_RELEASE));
	pair_give(p, 0x9000, 1, BINDER_TYPE_BINDER, &h);
	CHECK_EQ(h, 2);
	works(p);
	pair_close(p);
}

static void test_reply_payload_not_readable_fails_at_the_caller(void)
{
	struct pair *p = pair_open();
	struct binder_transaction_data tr = {
		.data_size = 100, .data.ptr.buffer = (uintptr_t)(fenced() + 3 * PAGE),
	};
	struct bt_ret ret;

	for (int i = 0; i < 3; i++) {
		send_to(&p->c, p->h, 1);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		bt_raw(&p->s, BC_REPLY, &tr);
		bt_flush(&p->s);
		bt_expect(&p->s, BR_TRANSACTION_COMPLETE, NULL);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, -EFAULT);
	}
	works(p);
	pair_close(p);
}

/*
 * A read buffer that cannot be written. Either the driver keeps the call for
 * the next read, or it fails it at the caller: it must not be lost.
 */
static void answered_or_failed(struct pair *p)
{
	struct bt_ret ret;

	if (bt_try(&p->s, &ret)) {
		CHECK_EQ(ret.cmd, BR_TRANSACTION);
		reply_to(&p->s, &ret, 5, NULL);
		CHECK_EQ(take_reply(&p->c), 5);
	} else {
		uint32_t cmd = bt_event(&p->c, &ret);

		CHECK(cmd == BR_FAILED_REPLY || cmd == BR_DEAD_REPLY);
	}
	works(p);
}

static void read_into(struct pair *p, uint64_t addr, uint64_t size)
{
	struct binder_write_read bwr = { .read_buffer = addr, .read_size = size };

	CHECK_EQ(write_read(&p->sb, &bwr), -EFAULT);
	CHECK_LE(bwr.read_consumed, size);
}

static void test_read_buffer_not_writable_loses_no_call(void)
{
	struct pair *p = pair_open();
	uint8_t *mem = fenced();

	CHECK_EQ(mprotect(mem, PAGE, PROT_READ), 0);
	for (int i = 0; i < 3; i++) {
		send_to(&p->c, p->h, 1);
		read_into(p, (uintptr_t)mem, 512);
		answered_or_failed(p);
		send_to(&p->c, p->h, 1);
		read_into(p, 0, 512);
		answered_or_failed(p);
		send_to(&p->c, p->h, 1);
		read_into(p, (uintptr_t)mem + 3 * PAGE, 512);
		answered_or_failed(p);
		send_to(&p->c, p->h, 1);
		read_into(p, 0xffff800000000000ul, 512);
		answered_or_failed(p);
	}
	pair_close(p);
}

/* The first word fits, the transaction does not. */
static void test_read_buffer_crossing_a_fence_loses_no_call(void)
{
	struct pair *p = pair_open();
	uint8_t *fence = fenced() + 3 * PAGE;

	for (size_t room = 4; room < 72; room += 4) {
		send_to(&p->c, p->h, 1);
		read_into(p, (uintptr_t)fence - room, 512);
		answered_or_failed(p);
	}
	pair_close(p);
}

/* The caller's read buffer, when the reply comes. */
static void test_read_buffer_of_caller_not_writable_fails_cleanly(void)
{
	struct pair *p = pair_open();
	uint8_t *fence = fenced() + 3 * PAGE;
	struct bt_ret ret;

	for (size_t room = 0; room < 72; room += 8) {
		struct binder_write_read bwr = {
			.read_buffer = (uintptr_t)fence - room, .read_size = 512,
		};

		send_to(&p->c, p->h, 1);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		reply_to(&p->s, &ret, 5, NULL);
		CHECK_EQ(write_read(&p->cb, &bwr), -EFAULT);
		/* the reply, or a failure, or (kernel) nothing any more */
		while (bt_try(&p->c, &ret)) {
			CHECK(ret.cmd == BR_REPLY || ret.cmd == BR_FAILED_REPLY);
			if (ret.cmd == BR_REPLY)
				bt_free(&p->c, ret.tr.data.ptr.buffer);
		}
		bt_flush(&p->c);
		works(p);
	}
	pair_close(p);
}

/* The read buffer may be memory that nobody has touched yet. */
static void test_read_buffer_untouched_memory_is_filled(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	for (int i = 0; i < 4; i++) {
		uint8_t *mem = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct binder_write_read bwr = {
			.read_buffer = (uintptr_t)mem + PAGE - 30, .read_size = 512,
		};
		uint32_t cmd;

		send_to(&p->c, p->h, 1);
		CHECK_EQ(write_read(&p->sb, &bwr), 0);
		memcpy(&cmd, mem + PAGE - 30 + 4, 4);
		CHECK_EQ(cmd, BR_TRANSACTION);
		memcpy(&ret.tr, mem + PAGE - 30 + 8, sizeof(ret.tr));
		reply_to(&p->s, &ret, 0, NULL);
		take_reply(&p->c);
	}
	pair_close(p);
}

/* Write and read buffer overlap, or are the struct itself: no harm. */
static void test_buffers_that_overlap_do_no_harm(void)
{
	struct pair *p = pair_open();
	struct {
		struct binder_write_read bwr;
		uint8_t room[512];
	} all;

	for (int i = 0; i < 4; i++) {
		memset(&all, 0, sizeof(all));
		all.bwr.read_size = 256;
		all.bwr.read_buffer = (uintptr_t)&all.bwr + i * 16;
		ioctl(p->cb.fd, BINDER_WRITE_READ, &all.bwr);
		memset(&all, 0, sizeof(all));
		all.bwr.write_size = 48;
		all.bwr.write_buffer = (uintptr_t)&all.bwr;
		all.bwr.read_size = 256;
		all.bwr.read_buffer = (uintptr_t)&all.bwr;
		ioctl(p->cb.fd, BINDER_WRITE_READ, &all.bwr);
	}
	works(p);
	pair_close(p);
}

static void test_consumed_beyond_size_is_taken_for_nothing_left(void)
{
	struct pair *p = pair_open();
	uint8_t buf[64] = { 0xff };
	struct binder_write_read bwr = {
		.write_buffer = (uintptr_t)buf, .write_size = 16, .write_consumed = 1000,
	};

	write_read(&p->cb, &bwr);
	bwr.write_consumed = UINT64_MAX;
	write_read(&p->cb, &bwr);
	bwr = (struct binder_write_read){
		.read_buffer = (uintptr_t)buf, .read_size = 16, .read_consumed = UINT64_MAX - 3,
	};
	if (driver_is_own())
		write_read(&p->cb, &bwr);
	works(p);
	pair_close(p);
}

/* Many threads unmap and remap what others hand to the driver. */
struct mess {
	struct bc *b;
	uint8_t *mem;
	uint32_t h;
	atomic_int stop;
};

static void *unmapper(void *arg)
{
	struct mess *m = arg;

	while (!atomic_load(&m->stop)) {
		mprotect(m->mem, PAGE, PROT_NONE);
		mprotect(m->mem, PAGE, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

static void *messy_caller(void *arg)
{
	struct mess *m = arg;
	struct bt *t = calloc(1, sizeof(*t));

	bt_init(t, m->b);
	for (int i = 0; i < 2000; i++) {
		struct binder_transaction_data tr = {
			.target.handle = m->h, .code = CODE_NULL, .flags = 0, .data_size = 600,
			.data.ptr.buffer = (uintptr_t)m->mem + PAGE - 300,
		}, reply;
		uint32_t got;

		bt_raw(t, BC_TRANSACTION, &tr);
		got = bt_finish(t, false, &reply);
		CHECK(got == BR_REPLY || got == BR_FAILED_REPLY);
		if (got == BR_REPLY)
			bt_free(t, reply.data.ptr.buffer);
	}
	return NULL;
}

static void test_memory_that_comes_and_goes_fails_calls_cleanly(void)
{
	struct server s = { 0 };
	struct client *c;
	struct mess m;
	pthread_t threads[3];

	server_start(&s);
	c = client_open();
	m = (struct mess){ .b = &c->b, .mem = fenced() };
	threads[0] = test_thread(unmapper, &m);
	threads[1] = test_thread(messy_caller, &m);
	threads[2] = test_thread(messy_caller, &m);
	test_thread_join(threads[1]);
	test_thread_join(threads[2]);
	atomic_store(&m.stop, 1);
	test_thread_join(threads[0]);
	bt_ping(&c->t, 0, CODE_NULL);
}

static const struct test_case cases[] = {
	QUICK(test_write_buffer_not_readable_says_efault),
	QUICK(test_write_buffer_ending_at_a_fence_is_done_up_to_it),
	QUICK(test_command_cut_by_write_size_is_refused_or_harmless),
	QUICK(test_unknown_commands_are_refused_with_einval),
	QUICK(test_command_before_an_unknown_one_is_done),
	QUICK(test_payload_or_offsets_crossing_a_fence_fails_the_call),
	QUICK(test_fault_behind_objects_undoes_them),
	QUICK(test_reply_payload_not_readable_fails_at_the_caller),
	QUICK(test_read_buffer_not_writable_loses_no_call),
	QUICK(test_read_buffer_crossing_a_fence_loses_no_call),
	QUICK(test_read_buffer_of_caller_not_writable_fails_cleanly),
	QUICK(test_read_buffer_untouched_memory_is_filled),
	QUICK(test_buffers_that_overlap_do_no_harm),
	QUICK(test_consumed_beyond_size_is_taken_for_nothing_left),
	CASE(test_memory_that_comes_and_goes_fails_calls_cleanly),
};

TEST_MAIN(cases)
