// SPDX-License-Identifier: MIT
/* The ioctls themselves: which exist, what they answer, what they refuse. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static void *bad_address(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK_EQ(munmap(p, 4096), 0);
	return p;
}

static int ioctl_errno(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static void test_version_asked_answers_8(void)
{
	struct client *c = client_open();
	struct binder_version v = { -1 };

	CHECK_EQ(ioctl_errno(c->b.fd, BINDER_VERSION, &v), 0);
	CHECK_EQ(v.protocol_version, 8);
}

static void test_version_bad_pointer_fails(void)
{
	struct client *c = client_open();
	int err = ioctl_errno(c->b.fd, BINDER_VERSION, bad_address());

	CHECK(err == EINVAL || err == EFAULT);
}

static void test_unknown_ioctl_is_refused(void)
{
	struct client *c = client_open();
	uint8_t arg[512] = { 0 };

	CHECK_EQ(ioctl_errno(c->b.fd, _IOWR('b', 99, uint64_t), arg), EINVAL);
	CHECK_EQ(ioctl_errno(c->b.fd, _IO('b', 1), NULL), EINVAL);
	CHECK_EQ(ioctl_errno(c->b.fd, _IOW('b', 0, uint32_t), arg), EINVAL);
	CHECK_EQ(ioctl_errno(c->b.fd, _IOW('b', 3, int64_t), arg), EINVAL);
	CHECK_EQ(ioctl_errno(c->b.fd, _IOW('b', 6, int32_t), arg), EINVAL);
	bc_works(&c->b);
}

static void test_wrong_size_is_refused(void)
{
	struct client *c = client_open();
	uint8_t arg[512] = { 0 };

	CHECK_EQ(ioctl_errno(c->b.fd, _IOWR('b', 1, uint8_t[40]), arg), EINVAL);
	CHECK_EQ(ioctl_errno(c->b.fd, _IOWR('b', 1, uint8_t[56]), arg), EINVAL);
	CHECK_EQ(ioctl_errno(c->b.fd, _IOWR('b', 9, uint64_t), arg), EINVAL);
	CHECK_EQ(ioctl_errno(c->b.fd, _IOW('b', 5, uint64_t), arg), EINVAL);
	bc_works(&c->b);
}

/* Files in general take these; a driver that takes them too must not harm. */
static void test_file_ioctls_do_no_harm(void)
{
	struct client *c = client_open();
	int n = 0;

	ioctl(c->b.fd, FIONREAD, &n);
	ioctl(c->b.fd, TCGETS, &(char[128]){ 0 });
	bc_works(&c->b);
}

static void test_write_read_bad_struct_fails(void)
{
	struct client *c = client_open();

	CHECK_EQ(ioctl_errno(c->b.fd, BINDER_WRITE_READ, bad_address()), EFAULT);
	bc_works(&c->b);
}

static void test_write_read_empty_returns(void)
{
	struct client *c = client_open();
	struct binder_write_read bwr = { 0 };

	for (int i = 0; i < 100; i++)
		CHECK_EQ(ioctl_errno(c->b.fd, BINDER_WRITE_READ, &bwr), 0);
	CHECK_EQ(bwr.write_consumed, 0);
	CHECK_EQ(bwr.read_consumed, 0);
}

static void test_first_read_returns_noop_at_once(void)
{
	struct client *c = client_open();
	uint32_t word = 0;

	bt_warm(&c->t);
	CHECK_EQ(c->t.in_len, 4);
	memcpy(&word, c->t.in, 4);
	CHECK_EQ(word, BR_NOOP);
}

/* A duplicate that is closed flushes: every thread's next read returns. */
static void test_close_of_duplicate_makes_read_return(void)
{
	struct client *c = client_open();
	int copy;

	bt_warm(&c->t);
	copy = dup(c->b.fd);
	CHECK_GE(copy, 0);
	CHECK_EQ(close(copy), 0);
	bt_warm(&c->t);
	CHECK_EQ(c->t.in_len, 4);
}

struct blocked {
	struct bc *b;
	atomic_int tid;
	atomic_int done;
};

static void *read_twice(void *arg)
{
	struct blocked *bl = arg;
	struct bt t;

	bt_init(&t, bl->b);
	bt_cmd(&t, BC_ENTER_LOOPER);
	bt_warm(&t);
	test_set(&bl->tid, test_gettid());
	CHECK_EQ(bt_ioctl(&t, true), 0);
	test_post(&bl->done);
	return NULL;
}

static void test_close_of_duplicate_wakes_waiting_thread(void)
{
	struct client *c = client_open();
	struct blocked bl = { .b = &c->b };
	pthread_t thread = test_thread(read_twice, &bl);

	test_await(&bl.tid, 1);
	test_await_blocked(bl.tid);
	CHECK_EQ(atomic_load(&bl.done), 0);
	CHECK_EQ(close(dup(c->b.fd)), 0);
	test_await(&bl.done, 1);
	test_thread_join(thread);
}

static void test_nonblock_nothing_to_read_says_eagain(void)
{
	struct bc b;
	struct bt t;

	bc_open_nonblock(&b, 0);
	bt_init(&t, &b);
	bt_warm(&t);
	CHECK_EQ(bt_ioctl(&t, true), -EAGAIN);
	CHECK_EQ(bt_ioctl(&t, true), -EAGAIN);
}

/* Our daemon is told of the flag at open only (docs/hosts.md). */
static void test_nonblock_set_later_says_eagain(void)
{
	struct client *c = client_open();

	if (driver_is_own())
		test_skip("FUSE does not tell of fcntl: docs/hosts.md");
	bt_warm(&c->t);
	CHECK_EQ(fcntl(c->b.fd, F_SETFL, O_RDWR | O_NONBLOCK), 0);
	CHECK_EQ(bt_ioctl(&c->t, true), -EAGAIN);
}

/* The write half is done although the read half finds nothing. */
static void test_nonblock_eagain_keeps_write_consumed(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, CODE_NULL, 0, NULL);
	CHECK_EQ(bt_ioctl(&p->c, true), -EAGAIN);
	CHECK_EQ(p->c.out_len, 0);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	bt_quiet(&p->s);
	pair_close(p);
}

static void test_max_threads_any_number_is_taken(void)
{
	struct client *c = client_open();
	static const uint32_t numbers[] = { 0, 1, 15, 1000, 0x7fffffff, 0xffffffff };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint32_t n = numbers[i];

		CHECK_EQ(ioctl_errno(c->b.fd, BINDER_SET_MAX_THREADS, &n), 0);
	}
}

static void test_max_threads_bad_pointer_fails(void)
{
	struct client *c = client_open();
	int err = ioctl_errno(c->b.fd, BINDER_SET_MAX_THREADS, bad_address());

	CHECK(err == EINVAL || err == EFAULT);
}

static void test_extended_error_bad_pointer_fails(void)
{
	struct client *c = client_open();
	int err = ioctl_errno(c->b.fd, BINDER_GET_EXTENDED_ERROR, bad_address());

	CHECK(err == EINVAL || err == EFAULT);
}

static void test_manager_ext_bad_pointer_fails(void)
{
	struct client *c = client_open();
	int err = ioctl_errno(c->b.fd, BINDER_SET_CONTEXT_MGR_EXT, bad_address());

	CHECK(err == EINVAL || err == EFAULT);
	bc_works(&c->b);
}

/*
 * Nothing is written past the end of a too small buffer, and what waits is not
 * lost. The kernel's driver does overrun a buffer of less than one word.
 */
static void test_read_buffer_smaller_than_a_return_is_not_overrun(void)
{
	struct pair *p = pair_open();
	uint8_t in[128];
	struct binder_write_read bwr = { .read_buffer = (uintptr_t)in };
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, CODE_NULL, 0, NULL);
	bt_flush(&p->c);
	for (size_t size = driver_is_own() ? 1 : 4; size < 72; size++) {
		memset(in, 0xa5, sizeof(in));
		bwr.read_size = size;
		bwr.read_consumed = 0;
		ioctl_errno(p->sb.fd, BINDER_WRITE_READ, &bwr);
		CHECK_LE(bwr.read_consumed, size > 4 ? size : 4);
		for (size_t i = size > 4 ? size : 4; i < sizeof(in); i++)
			CHECK_EQ(in[i], 0xa5);
	}
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	pair_close(p);
}

/* read_consumed is an input: returns are appended, without another BR_NOOP. */
static void test_read_consumed_given_appends(void)
{
	struct pair *p = pair_open();
	uint8_t in[256];
	struct binder_write_read bwr = {
		.read_size = sizeof(in), .read_buffer = (uintptr_t)in, .read_consumed = 16,
	};
	uint32_t word;

	bt_send(&p->c, BC_TRANSACTION, p->h, 7777, 0, NULL);
	bt_flush(&p->c);
	memset(in, 0xa5, sizeof(in));
	CHECK_EQ(ioctl_errno(p->sb.fd, BINDER_WRITE_READ, &bwr), 0);
	for (size_t i = 0; i < 16; i++)
		CHECK_EQ(in[i], 0xa5);
	memcpy(&word, in + 16, 4);
	CHECK_EQ(word, BR_TRANSACTION);
	CHECK_EQ(bwr.read_consumed, 16 + 4 + sizeof(struct binder_transaction_data));
	pair_close(p);
}

static void test_write_consumed_given_goes_on_there(void)
{
	struct pair *p = pair_open();
	struct binder_write_read bwr = { 0 };
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, NULL);
	bt_send(&p->c, BC_TRANSACTION, p->h, 2, TF_ONE_WAY, NULL);
	bwr.write_buffer = (uintptr_t)p->c.out;
	bwr.write_size = p->c.out_len;
	bwr.write_consumed = p->c.out_len / 2;
	CHECK_EQ(ioctl_errno(p->cb.fd, BINDER_WRITE_READ, &bwr), 0);
	CHECK_EQ(bwr.write_consumed, bwr.write_size);
	bt_expect(&p->s, BR_TRANSACTION, &ret);
	CHECK_EQ(ret.tr.code, 2);
	bt_quiet(&p->s);
	pair_close(p);
}

/* Many devices open in one process, each a process of its own to the driver. */
static void test_many_opens_are_independent(void)
{
	enum { N = 40 };
	static struct bc b[N];
	static struct bt t[N];
	struct pair *p = pair_open();

	for (int i = 0; i < N; i++) {
		end_open(&b[i], &t[i]);
		registry_put(&p->s, 1, PAIR_PTR, PAIR_COOKIE);
		CHECK_EQ(registry_get(&t[i], 1), 1);
		bt_send(&t[i], BC_TRANSACTION, 1, i, 0, NULL);
		bt_flush(&t[i]);
	}
	for (int i = 0; i < N; i++) {
		struct bt_ret ret;

		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		CHECK_EQ(ret.tr.code, i);
		bt_send(&p->s, BC_REPLY, 0, i, 0, NULL);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
		CHECK_EQ(bt_event(&t[i], &ret), BR_REPLY);
		bt_free(&t[i], ret.tr.data.ptr.buffer);
		bt_flush(&t[i]);
	}
}

static void test_open_close_many_times_leaves_nothing(void)
{
	for (int i = 0; i < 300; i++) {
		struct client *c = client_open();

		if (i % 3)
			bt_warm(&c->t);
		bc_close(&c->b);
	}
}

static const struct test_case cases[] = {
	QUICK(test_version_asked_answers_8),
	QUICK(test_version_bad_pointer_fails),
	QUICK(test_unknown_ioctl_is_refused),
	QUICK(test_wrong_size_is_refused),
	QUICK(test_file_ioctls_do_no_harm),
	QUICK(test_write_read_bad_struct_fails),
	QUICK(test_write_read_empty_returns),
	QUICK(test_first_read_returns_noop_at_once),
	QUICK(test_close_of_duplicate_makes_read_return),
	QUICK(test_close_of_duplicate_wakes_waiting_thread),
	QUICK(test_nonblock_nothing_to_read_says_eagain),
	QUICK(test_nonblock_set_later_says_eagain),
	QUICK(test_nonblock_eagain_keeps_write_consumed),
	QUICK(test_max_threads_any_number_is_taken),
	QUICK(test_max_threads_bad_pointer_fails),
	QUICK(test_extended_error_bad_pointer_fails),
	QUICK(test_manager_ext_bad_pointer_fails),
	QUICK(test_read_buffer_smaller_than_a_return_is_not_overrun),
	QUICK(test_read_consumed_given_appends),
	QUICK(test_write_consumed_given_goes_on_there),
	QUICK(test_many_opens_are_independent),
	CASE(test_open_close_many_times_leaves_nothing),
};

TEST_MAIN(cases)
