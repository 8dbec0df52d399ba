// SPDX-License-Identifier: MIT
/*
 * Who else touches the mapping of a kernel driver's device, and its pages: the
 * kernel for system calls, for other processes, for a core dump; madvise and
 * mlock. What was received stays readable, and is what was sent.
 */
#include "bc.h"
#include "child.h"
#include "harness.h"
#include "mapping.h"
#include "server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- madvise, mlock ------------------------------------------------------------ */

/* Skip the case if senders put pages in: then one that is taken out is gone. */
static void need_faults(struct pair *p, bool ours)
{
	struct bt_ret ret;
	bool present;

	mapping_receive(p, 5 * PAGE, 1, &ret);
	present = mapping_has_page((const uint8_t *)tr_data(&ret.tr) + 3 * PAGE);
	mapping_answer(p, &ret);
	CHECK(!present || !ours);
	if (present)
		test_skip("the driver puts pages in when it sends, not when they are touched");
}

static void test_madvise_dontneed_is_filled_again(void)
{
	bool ours = driver_has_defer();
	struct pair *p = pair_open();
	struct bt_ret ret;

	need_faults(p, ours);
	for (int i = 0; i < 5; i++) {
		const uint8_t *data;

		mapping_receive(p, 70000, i, &ret);
		data = tr_data(&ret.tr);
		for (int j = 0; j < 3; j++) {
			pattern_check(data, 70000, i);
			CHECK(mapping_has_page(data + 5 * PAGE));
			CHECK_EQ(madvise((void *)p->sb.map, BC_MAP_SIZE, MADV_DONTNEED), 0);
			CHECK(!mapping_has_page(data + 5 * PAGE));
		}
		/* the last page first, one alone */
		CHECK_EQ(mapping_touch(data + 69999), 0);
		pattern_check(data, 70000, i);
		mapping_answer(p, &ret);
	}
	pair_close(p);
}

static void test_madvise_of_any_kind_keeps_the_data(void)
{
	/* but those that poison memory, forget it (see above) or make fork copy it */
	static const int advices[] = {
		MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_FREE, MADV_REMOVE,
		MADV_DONTFORK, MADV_MERGEABLE, MADV_UNMERGEABLE, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
		MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK, MADV_KEEPONFORK, MADV_COLD,
		MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE, 25,
	};
	struct pair *p = pair_open();
	uint8_t *at = (uint8_t *)p->sb.map;
	unsigned char in[BC_MAP_SIZE / PAGE];
	struct bt_ret ret;

	for (size_t i = 0; i < ARRAY_SIZE(advices); i++) {
		mapping_receive(p, 50000, i, &ret);
		(void)!madvise(at, BC_MAP_SIZE, advices[i]);
		(void)!madvise(at + 2 * PAGE, PAGE, advices[i]);
		CHECK_EQ(mincore(at, BC_MAP_SIZE, in), 0);
		(void)!msync(at, BC_MAP_SIZE, MS_SYNC | MS_INVALIDATE);
		pattern_check(tr_data(&ret.tr), 50000, i);
		mapping_answer(p, &ret);
	}
	/* for writing it cannot be prepared, for reading only where something is */
	CHECK(madvise(at, BC_MAP_SIZE, MADV_POPULATE_WRITE) < 0);
	mapping_round_trip(p, 100000, 1);
	pair_close(p);
}

static void test_mlockall_serves(void)
{
	struct pair *p = pair_open(), *q;

	CHECK_EQ(mlockall(MCL_CURRENT), 0);
	mapping_round_trip(p, 100000, 1);
	CHECK_EQ(mlockall(MCL_CURRENT | MCL_FUTURE), 0);
	mapping_round_trip(p, 100000, 2);
	/* mapped when all must be resident */
	pair_close(p);
	q = pair_open();
	mapping_round_trip(q, 100000, 3);
	(void)!mlock(q->sb.map, BC_MAP_SIZE);
	mapping_round_trip(q, 60000, 4);
	CHECK_EQ(munlockall(), 0);
	mapping_round_trip(q, 100000, 5);
	pair_close(q);
	q = pair_open_unmapped();
	pair_map(q, BC_MAP_SIZE, MAP_PRIVATE | MAP_LOCKED | MAP_POPULATE, 0);
	mapping_round_trip(q, 100000, 6);
	pair_close(q);
}

/* ---- who else reads it --------------------------------------------------------- */

struct look {
	pid_t pid;
	const uint8_t *data;
	size_t n;
};

static void read_by_process_vm(void *arg)
{
	struct look *l = arg;
	uint8_t *got = malloc(l->n);
	struct iovec to = { got, l->n }, from = { (void *)l->data, l->n };

	CHECK_EQ(process_vm_readv(l->pid, &to, 1, &from, 1, 0), l->n);
	pattern_check(got, l->n, 2);
}

static void read_by_mem(void *arg)
{
	struct look *l = arg;
	uint8_t *got = malloc(l->n);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", l->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_GE(fd, 0);
	CHECK_EQ(pread(fd, got, l->n, (uintptr_t)l->data), l->n);
	pattern_check(got, l->n, 2);
}

static void by_pipe(struct look *l)
{
	uint8_t *got = malloc(l->n);
	int fds[2];

	CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
	CHECK_EQ(write(fds[1], l->data, l->n), l->n);
	CHECK_EQ(read(fds[0], got, l->n), l->n);
	pattern_check(got, l->n, 2);
	close(fds[0]);
	close(fds[1]);
	free(got);
}

static void by_process_vm(struct look *l)
{
	test_join(test_spawn(read_by_process_vm, l));
}

static void by_mem(struct look *l)
{
	test_join(test_spawn(read_by_mem, l));
}

/* The kernel reads, and the receiver never has: write(), other processes. */
static void test_untouched_buffer_is_read_by_others(void)
{
	static void (*const ways[])(struct look *l) = { by_pipe, by_process_vm, by_mem };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct pair *p = pair_open();
		struct look l = { .pid = getpid(), .n = 50000 };
		struct bt_ret ret;

		mapping_receive(p, l.n, 2, &ret);
		l.data = tr_data(&ret.tr);
		ways[i](&l);
		pattern_check(l.data, l.n, 2);
		mapping_answer(p, &ret);
		pair_close(p);
	}
}

/* The driver itself reads it, for a call in a call. */
static void test_untouched_buffer_is_sent_on(void)
{
	struct pair *p = pair_open();
	struct binder_transaction_data reply;
	struct bt_ret ret;
	struct msg m;

	mapping_receive(p, 60000, 2, &ret);
	msg_init(&m);
	msg_ext(&m, tr_data(&ret.tr), 60000);
	bt_call_ok(&p->s, 0, CODE_ECHO, &m, &reply);
	CHECK_EQ(reply.data_size, 60000);
	/* and the reply, untouched, back to the first caller */
	msg_ext(&m, tr_data(&reply), 60000);
	reply_to(&p->s, &ret, 9, &m);
	bt_free(&p->s, reply.data.ptr.buffer);
	bt_flush(&p->s);
	CHECK_EQ(bt_event(&p->c, &ret), BR_REPLY);
	pattern_check(tr_data(&ret.tr), 60000, 2);
	bt_free(&p->c, ret.tr.data.ptr.buffer);
	bt_flush(&p->c);
	pair_close(p);
}

/* A page that somebody holds outlives its place in the mapping. */
static void test_page_in_a_pipe_outlives_buffer_and_mapping(void)
{
	const size_t n = 8 * PAGE;

	for (int way = 0; way < 3; way++) {
		struct pair *p = pair_open();
		uint8_t *got = malloc(n);
		struct iovec iov;
		struct bt_ret ret;
		int fds[2];

		mapping_receive(p, n, 2, &ret);
		iov = (struct iovec){ (void *)tr_data(&ret.tr), n };
		CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
		CHECK_EQ(vmsplice(fds[1], &iov, 1, 0), n);
		mapping_answer(p, &ret);
		if (way)
			drop_caches();
		if (way == 2)
			pair_close(p);
		CHECK_EQ(read(fds[0], got, n), n);
		pattern_check(got, n, 2);
		if (way < 2) {
			mapping_round_trip(p, n, 3);
			pair_close(p);
		}
		close(fds[0]);
		close(fds[1]);
		free(got);
	}
}

static void write_proc(const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

static void test_proc_files_show_the_mapping(void)
{
	static const char *const names[] = { "maps", "smaps", "smaps_rollup", "numa_maps" };
	struct pair *p = pair_open();
	char start[32];

	snprintf(start, sizeof(start), "%lx-", (unsigned long)p->sb.map);
	for (int i = 0; i < 3; i++) {
		struct bt_ret ret;

		mapping_receive(p, 50000, i, &ret);
		for (size_t j = 0; j < ARRAY_SIZE(names); j++) {
			char path[64], *text;

			snprintf(path, sizeof(path), "/proc/self/%s", names[j]);
			text = test_read_file(path);
			/* a kernel without NUMA lacks the last */
			CHECK(text || j == 3);
			CHECK(j > 1 || strstr(text, start));
			free(text);
		}
		write_proc("clear_refs", "1");
		write_proc("clear_refs", "4");
		pattern_check(tr_data(&ret.tr), 50000, i);
		mapping_answer(p, &ret);
	}
	pair_close(p);
}

#define CORE_DATA 50000

static void dump_core(void *arg)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct client *c = client_open();
	struct bt_ret ret;

	CHECK_EQ(setrlimit(RLIMIT_CORE, &limit), 0);
	write_proc("coredump_filter", "0xff");
	registry_put(&c->t, 6, 0x600, 0x601);
	bt_enter(&c->t);
	test_post(arg);
	CHECK_EQ(bt_event(&c->t, &ret), BR_TRANSACTION);
	CHECK_EQ(chdir("/tmp"), 0);
	abort();
}

static char *find_core(pid_t pid, char *path, size_t size)
{
	char *how = test_read_file("/proc/sys/kernel/core_pattern");

	if (!how || strcmp(how, "core\n"))
		test_skip("cores do not go to a file here");
	free(how);
	snprintf(path, size, "/tmp/core.%d", pid);
	if (access(path, R_OK))
		snprintf(path, size, "/tmp/core");
	return path;
}

/* The kernel writes what the dying process has received and not touched. */
static void test_core_dump_has_the_buffer(void)
{
	atomic_int *ready = test_share(sizeof(*ready));
	uint8_t *data = pattern_new(CORE_DATA, 4);
	struct server m = { 0 };
	struct client *c;
	char path[64];
	struct msg msg;
	uint8_t *core;
	int status, fd;
	off_t size;
	pid_t pid;

	server_start(&m);
	c = client_open();
	pid = test_spawn(dump_core, ready);
	test_await(ready, 1);
	msg_init(&msg);
	msg_ext(&msg, data, CORE_DATA);
	CHECK_EQ(bt_call(&c->t, registry_get(&c->t, 6), 1, 0, &msg, NULL), BR_DEAD_REPLY);
	CHECK(test_reap(pid, &status, TEST_WAIT_S));
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	fd = open(find_core(pid, path, sizeof(path)), O_RDONLY | O_CLOEXEC);
	CHECK_GE(fd, 0);
	CHECK_EQ(unlink(path), 0);
	size = lseek(fd, 0, SEEK_END);
	core = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(core != MAP_FAILED);
	CHECK(memmem(core, size, data, CORE_DATA));
	bt_ping(&c->t, 0, CODE_NULL);
}

static const struct test_case cases[] = {
	QUICK(test_madvise_dontneed_is_filled_again),
	QUICK(test_madvise_of_any_kind_keeps_the_data),
	QUICK(test_mlockall_serves),
	QUICK(test_untouched_buffer_is_read_by_others),
	QUICK(test_untouched_buffer_is_sent_on),
	QUICK(test_page_in_a_pipe_outlives_buffer_and_mapping),
	QUICK(test_proc_files_show_the_mapping),
	QUICK(test_core_dump_has_the_buffer),
};

TEST_MAIN(cases)
