// SPDX-License-Identifier: MIT
/*
 * The mapping of a kernel driver's device: what mmap accepts, what is at which
 * address, and what becomes of it under mprotect, munmap, mremap and fork. See
 * t_mmap_look.c for who reads it, t_mmap_load.c for many at once.
 */
#include "bc.h"
#include "child.h"
#include "harness.h"
#include "mapping.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void *map(int fd, size_t size, int prot, int flags)
{
	return mmap(NULL, size, prot, flags, fd, 0);
}

/* ---- what mmap accepts ------------------------------------------------------ */

static void test_mmap_writable_is_refused_with_eperm(void)
{
	static const int prots[] = { PROT_WRITE, PROT_READ | PROT_WRITE };
	static const int flags[] = { MAP_PRIVATE, MAP_SHARED };
	struct pair *p = pair_open_unmapped();

	for (size_t i = 0; i < ARRAY_SIZE(prots); i++)
		for (size_t j = 0; j < ARRAY_SIZE(flags); j++)
			CHECK(map(p->sb.fd, BC_MAP_SIZE, prots[i], flags[j]) == MAP_FAILED &&
			      errno == EPERM);
	/* which did not count */
	pair_map(p, BC_MAP_SIZE, MAP_PRIVATE, 0);
	mapping_round_trip(p, 20000, 1);
	pair_close(p);
}

static bool write_mem(const void *at)
{
	int fd = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
	ssize_t n;

	CHECK_GE(fd, 0);
	n = pwrite(fd, "x", 1, (uintptr_t)at);
	close(fd);
	return n == 1;
}

static void test_mmap_cannot_be_written_later(void)
{
	static const int flags[] = { MAP_PRIVATE, MAP_SHARED };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		struct pair *p = pair_open_unmapped();
		struct iovec from = { "x", 1 }, to;
		struct bt_ret ret;
		int fds[2];
		void *at;

		pair_map(p, BC_MAP_SIZE, flags[i], 0);
		at = (void *)p->sb.map;
		mapping_receive(p, 20000, 3, &ret);
		CHECK(mprotect(at, BC_MAP_SIZE, PROT_READ | PROT_WRITE) < 0 && errno == EACCES);
		CHECK(mprotect((uint8_t *)at + PAGE, PAGE, PROT_WRITE) < 0 && errno == EACCES);
		/* nor by the kernel for anybody */
		CHECK(!write_mem(tr_data(&ret.tr)));
		to = (struct iovec){ (void *)tr_data(&ret.tr), 1 };
		CHECK(process_vm_writev(getpid(), &from, 1, &to, 1, 0) < 0 && errno == EFAULT);
		CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
		CHECK_EQ(write(fds[1], "x", 1), 1);
		CHECK(read(fds[0], (void *)tr_data(&ret.tr), 1) < 0 && errno == EFAULT);
		pattern_check(tr_data(&ret.tr), 20000, 3);
		mapping_answer(p, &ret);
		pair_close(p);
	}
}

static void test_mmap_shared_and_read_only_serves(void)
{
	struct pair *p = pair_open_unmapped();

	pair_map(p, BC_MAP_SIZE, MAP_SHARED, 0);
	for (int i = 0; i < 5; i++)
		mapping_round_trip(p, 100000, i);
	mapping_unmap(&p->sb);
	mapping_is_dead(p);
	pair_close(p);
}

static void test_mmap_offset_means_nothing(void)
{
	struct pair *p = pair_open_unmapped();

	pair_map(p, BC_MAP_SIZE, MAP_PRIVATE, 77 * PAGE);
	for (int i = 0; i < 5; i++)
		mapping_round_trip(p, 100000, i);
	pair_close(p);
}

static void test_mmap_beyond_4_mib_is_cut(void)
{
	struct pair *p = pair_open_unmapped();
	const size_t n = BC_MAP_MAX - 8 * PAGE;

	pair_map(p, 2 * BC_MAP_MAX, MAP_PRIVATE | MAP_NORESERVE, 0);
	mapping_round_trip(p, n, 5);
	for (size_t at = BC_MAP_MAX; at < 2 * BC_MAP_MAX; at += 101 * PAGE)
		CHECK_EQ(mapping_touch(p->sb.map + at), SIGBUS);
	CHECK_EQ(mapping_touch(p->sb.map + BC_MAP_MAX), SIGBUS);
	CHECK_EQ(mapping_touch(p->sb.map + 2 * BC_MAP_MAX - 1), SIGBUS);
	mapping_round_trip(p, n, 6);
	pair_close(p);
}

static void test_mmap_empty_page_says_sigbus(void)
{
	struct pair *p = pair_open_unmapped();
	struct bt_ret ret;
	int fds[2];

	pair_map(p, BC_MAP_SIZE, MAP_PRIVATE, 0);
	for (size_t at = 2 * PAGE; at < BC_MAP_SIZE; at += PAGE)
		CHECK_EQ(mapping_touch(p->sb.map + at), SIGBUS);
	mapping_receive(p, 5 * PAGE, 7, &ret);
	pattern_check(tr_data(&ret.tr), 5 * PAGE, 7);
	for (size_t at = 10 * PAGE; at < BC_MAP_SIZE; at += PAGE)
		CHECK_EQ(mapping_touch(p->sb.map + at), SIGBUS);
	mapping_answer(p, &ret);
	/* to the kernel that is a bad address */
	CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
	CHECK(write(fds[1], p->sb.map + 20 * PAGE, 8) < 0 && errno == EFAULT);
	pair_close(p);
}

static void second_is_busy(int fd)
{
	static const size_t sizes[] = { PAGE, BC_MAP_SIZE, 2 * BC_MAP_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK(map(fd, sizes[i], PROT_READ, MAP_PRIVATE) == MAP_FAILED && errno == EBUSY);
		CHECK(map(fd, sizes[i], PROT_READ, MAP_SHARED) == MAP_FAILED && errno == EBUSY);
	}
}

static void test_mmap_second_is_ebusy(void)
{
	struct pair *p = pair_open();

	for (int i = 0; i < 5; i++) {
		second_is_busy(p->sb.fd);
		mapping_round_trip(p, 50000, i);
	}
	mapping_unmap(&p->sb);
	second_is_busy(p->sb.fd);
	mapping_is_dead(p);
	pair_close(p);
}

/* In place of the first: that goes before the second is refused. */
static void test_mmap_over_the_first_is_ebusy_and_ends_it(void)
{
	struct pair *p = pair_open();

	mapping_round_trip(p, 50000, 1);
	CHECK(mmap((void *)p->sb.map, BC_MAP_SIZE, PROT_READ, MAP_PRIVATE | MAP_FIXED, p->sb.fd,
		   0) == MAP_FAILED && errno == EBUSY);
	mapping_is_dead(p);
	pair_close(p);
}

/* ---- other processes -------------------------------------------------------- */

static void send_fd(int sock, int fd)
{
	char buf[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec iov = { "x", 1 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = buf,
			     .msg_controllen = sizeof(buf) };
	struct cmsghdr *cm = CMSG_FIRSTHDR(&mh);

	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(sock, &mh, 0), 1);
}

static int receive_fd(int sock)
{
	char buf[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))), byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = buf,
			     .msg_controllen = sizeof(buf) };
	int fd;

	CHECK_EQ(recvmsg(sock, &mh, MSG_CMSG_CLOEXEC), 1);
	CHECK(CMSG_FIRSTHDR(&mh));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&mh)), sizeof(fd));
	return fd;
}

static void map_is_refused(int fd)
{
	CHECK(map(fd, BC_MAP_SIZE, PROT_READ, MAP_PRIVATE) == MAP_FAILED && errno == EINVAL);
	CHECK(map(fd, BC_MAP_SIZE, PROT_READ, MAP_SHARED) == MAP_FAILED && errno == EINVAL);
}

static void map_received(void *arg)
{
	map_is_refused(receive_fd(*(int *)arg));
}

static void map_inherited(void *arg)
{
	map_is_refused(*(int *)arg);
}

/* The same memory, but another process. */
static int map_in_same_memory(void *arg)
{
	map_is_refused(*(int *)arg);
	return 0;
}

static void test_mmap_by_another_process_is_einval(void)
{
	struct pair *p = pair_open_unmapped();
	char *stack = malloc(65536);
	int socks[2];
	pid_t pid;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
	pid = test_spawn(map_received, &socks[1]);
	send_fd(socks[0], p->sb.fd);
	test_join(pid);
	test_join(test_spawn(map_inherited, &p->sb.fd));
	pid = clone(map_in_same_memory, stack + 65536, CLONE_VM | SIGCHLD, &p->sb.fd);
	CHECK_GE(pid, 0);
	test_join(pid);
	/* none of which counted */
	pair_map(p, BC_MAP_SIZE, MAP_PRIVATE, 0);
	mapping_round_trip(p, 20000, 1);
	pair_close(p);
}

static void touch_all(void *arg)
{
	struct bc *b = arg;

	for (size_t at = 0; at < b->map_size; at += PAGE)
		CHECK_EQ(mapping_touch(b->map + at), SIGSEGV);
}

static void test_mmap_is_not_inherited_by_fork(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	for (int i = 0; i < 3; i++) {
		mapping_receive(p, 20000, i, &ret);
		pattern_check(tr_data(&ret.tr), 20000, i);
		test_join(test_spawn(touch_all, &p->sb));
		mapping_answer(p, &ret);
	}
	pair_close(p);
}

static void touch_what_is_there(void *arg)
{
	struct bc *b = arg;

	for (size_t at = 0; at < b->map_size; at += PAGE)
		mapping_touch(b->map + at);
}

/*
 * Who asks for inheritance gets what a munmap in the child then means: perhaps
 * the end of the mapping, but nothing for anybody else.
 */
static void test_mmap_made_inheritable_harms_nobody_else(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	/* Newer kernels refuse to ask for it. */
	bool asked = !madvise((void *)p->sb.map, p->sb.map_size, MADV_DOFORK);

	if (!asked)
		CHECK_EQ(errno, EINVAL);
	mapping_receive(p, 50000, 1, &ret);
	if (asked)
		test_join(test_spawn(touch_what_is_there, &p->sb));
	pattern_check(tr_data(&ret.tr), 50000, 1);
	mapping_answer(p, &ret);
	send_to(&p->c, p->h, 1);
	if (bt_try(&p->s, &ret)) {
		CHECK_EQ(ret.cmd, BR_TRANSACTION);
		mapping_answer(p, &ret);
	} else {
		CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	}
	bt_ping(&p->c, 0, CODE_NULL);
	pair_close(p);
}

/* ---- the end of the mapping --------------------------------------------------- */

static void test_munmap_senders_get_dead_reply(void)
{
	struct pair *p = pair_open();
	struct bt_ret held, ret;

	mapping_receive(p, 20000, 1, &held);
	mapping_unmap(&p->sb);
	/* what was received can be answered */
	mapping_answer(p, &held);
	for (int i = 0; i < 3; i++)
		mapping_is_dead(p);
	bt_expect_error(&p->c, BR_DEAD_REPLY, -ESRCH);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, TF_ONE_WAY, NULL);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	/* it can still call, but not be answered */
	bt_send(&p->s, BC_TRANSACTION, 0, CODE_NULL, 0, NULL);
	bt_flush(&p->s);
	CHECK_EQ(bt_event(&p->s, &ret), BR_DEAD_REPLY);
	pair_close(p);
}

static void test_munmap_of_the_caller_fails_the_reply(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	mapping_receive(p, 20000, 1, &ret);
	mapping_unmap(&p->cb);
	reply_to(&p->s, &ret, 9, NULL);
	CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	bt_quiet(&p->s);
	pair_close(p);
}

static void *somewhere(size_t size)
{
	void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void lose_first_page(struct bc *b)
{
	CHECK_EQ(munmap((void *)b->map, PAGE), 0);
}

static void lose_middle(struct bc *b)
{
	CHECK_EQ(munmap((void *)(b->map + b->map_size / 2), PAGE), 0);
}

static void lose_last_page(struct bc *b)
{
	CHECK_EQ(munmap((void *)(b->map + b->map_size - PAGE), PAGE), 0);
}

static void lose_by_shrinking(struct bc *b)
{
	CHECK(mremap((void *)b->map, b->map_size, b->map_size / 2, 0) == b->map);
}

static void lose_by_cover(struct bc *b)
{
	CHECK(mmap((void *)b->map, b->map_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0) == b->map);
}

static void lose_by_cover_of_a_part(struct bc *b)
{
	CHECK(mmap((void *)(b->map + 3 * PAGE), PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == b->map + 3 * PAGE);
}

static void lose_by_move(struct bc *b)
{
	void *to = somewhere(b->map_size);

	CHECK(mremap((void *)b->map, b->map_size, b->map_size, MREMAP_MAYMOVE | MREMAP_FIXED,
		     to) == to);
	/* what was there is at the new place */
	CHECK_EQ(mapping_touch(b->map + 2 * PAGE), SIGSEGV);
	CHECK_EQ(mapping_touch((uint8_t *)to + 2 * PAGE), 0);
	b->map = to;
}

static void lose_by_move_of_a_part(struct bc *b)
{
	void *to = somewhere(b->map_size);

	CHECK(mremap((void *)(b->map + PAGE), 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		     to) == to);
	for (size_t at = 0; at < 4 * PAGE; at += PAGE)
		mapping_touch((uint8_t *)to + at);
	CHECK_EQ(munmap(to, b->map_size), 0);
}

/* A mapping with a hole, or elsewhere: the addresses that receivers are told would be wrong. */
static void test_mapping_that_loses_a_part_is_dead(void)
{
	static void (*const ways[])(struct bc *b) = {
		lose_first_page, lose_middle, lose_last_page, lose_by_shrinking, lose_by_cover,
		lose_by_cover_of_a_part, lose_by_move, lose_by_move_of_a_part,
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct pair *p = pair_open();
		struct bt_ret ret;

		for (int j = 0; j < 2; j++)
			mapping_round_trip(p, 30000, i);
		mapping_receive(p, 30000, i, &ret);
		ways[i](&p->sb);
		for (size_t at = 0; at < p->sb.map_size; at += PAGE)
			mapping_touch(p->sb.map + at);
		mapping_answer(p, &ret);
		mapping_is_dead(p);
		pair_close(p);
	}
}

/* What is refused leaves everything as it was. */
static void test_mapping_cannot_grow_or_be_doubled(void)
{
	static const int flags[] = { MAP_PRIVATE, MAP_SHARED };
	bool ours = driver_has_defer();

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		struct pair *p = pair_open_unmapped();
		const size_t size = BC_MAP_SIZE;
		void *at;

		pair_map(p, size, flags[i], 0);
		mapping_round_trip(p, 100000, i);
		at = (void *)p->sb.map;
		if (mremap(at, size, 2 * size, MREMAP_MAYMOVE) != MAP_FAILED && !ours)
			test_skip("the driver lets its mapping grow");
		CHECK(mremap(at, size, 2 * size, MREMAP_MAYMOVE) == MAP_FAILED);
		CHECK(mremap(at, size, 2 * size, 0) == MAP_FAILED);
		CHECK(mremap(at, 0, size, MREMAP_MAYMOVE) == MAP_FAILED);
		CHECK(mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL) ==
		      MAP_FAILED);
		mapping_round_trip(p, 100000, i + 10);
		pair_close(p);
	}
}

/* Splits it, but takes nothing away. */
static void test_mapping_split_by_mprotect_serves(void)
{
	bool ours = driver_has_defer();
	struct pair *p = pair_open();
	uint8_t *at = (uint8_t *)p->sb.map;
	struct bt_ret ret;

	for (int i = 0; i < 4; i++) {
		CHECK_EQ(mprotect(at + 2 * PAGE, 2 * PAGE, PROT_NONE), 0);
		CHECK_EQ(mprotect(at + 8 * PAGE, BC_MAP_SIZE - 8 * PAGE, PROT_NONE), 0);
		CHECK_EQ(mapping_touch(at + 9 * PAGE), SIGSEGV);
		CHECK_EQ(mprotect(at, BC_MAP_SIZE, PROT_READ), 0);
		mapping_send(p, 100000, i);
		if (!bt_try(&p->s, &ret)) {
			CHECK(!ours);
			test_skip("the driver cannot put pages into a mapping in pieces");
		}
		CHECK_EQ(ret.cmd, BR_TRANSACTION);
		pattern_check(tr_data(&ret.tr), 100000, i);
		mapping_answer(p, &ret);
		mapping_round_trip(p, 100000, i);
	}
	pair_close(p);
}

/* The pages outlive the descriptor, the process's part ends with the mapping. */
static void test_mapping_outlives_its_descriptor(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	mapping_receive(p, 50000, 1, &ret);
	CHECK_EQ(close(p->sb.fd), 0);
	p->sb.fd = -1;
	pattern_check(tr_data(&ret.tr), 50000, 1);
	bt_quiet(&p->c);
	mapping_unmap(&p->sb);
	CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
	pair_close(p);
}

static const struct test_case cases[] = {
	QUICK(test_mmap_writable_is_refused_with_eperm),
	QUICK(test_mmap_cannot_be_written_later),
	QUICK(test_mmap_shared_and_read_only_serves),
	QUICK(test_mmap_offset_means_nothing),
	QUICK(test_mmap_beyond_4_mib_is_cut),
	QUICK(test_mmap_empty_page_says_sigbus),
	QUICK(test_mmap_second_is_ebusy),
	QUICK(test_mmap_over_the_first_is_ebusy_and_ends_it),
	QUICK(test_mmap_by_another_process_is_einval),
	QUICK(test_mmap_is_not_inherited_by_fork),
	QUICK(test_mmap_made_inheritable_harms_nobody_else),
	QUICK(test_munmap_senders_get_dead_reply),
	QUICK(test_munmap_of_the_caller_fails_the_reply),
	QUICK(test_mapping_that_loses_a_part_is_dead),
	QUICK(test_mapping_cannot_grow_or_be_doubled),
	QUICK(test_mapping_split_by_mprotect_serves),
	QUICK(test_mapping_outlives_its_descriptor),
};

TEST_MAIN(cases)
