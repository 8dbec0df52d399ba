// SPDX-License-Identifier: MIT
/*
 * Clients whose memory cannot be read for now, or ever: pages that wait for a
 * userfaultfd. Whoever copies from them hangs; nobody else may.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534
#define PAGE 4096ul

/* Which memory of the call is the one that hangs. */
enum where { IN_PAYLOAD, IN_OFFSETS, IN_COMMANDS, IN_RETURNS, WHERES };

struct stuck {
	enum where where;
	unsigned int uid;
	bool finish; /* see the call through */
	atomic_int tid;
	atomic_int outcome;
	atomic_int done;
	int uffd;
	uint64_t addr;
	pid_t pid;
};

/* A page that nobody has touched and only the userfaultfd can give; at @at if not NULL. */
static uint8_t *absent_page(struct stuck *st, void *at)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { 0 };
	uint8_t *page;

	st->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (st->uffd < 0)
		test_skip("no userfaultfd: %s", strerror(errno));
	CHECK_EQ(ioctl(st->uffd, UFFDIO_API, &api), 0);
	page = mmap(at, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
	CHECK(page != MAP_FAILED);
	reg.range.start = (uintptr_t)page;
	reg.range.len = PAGE;
	reg.mode = UFFDIO_REGISTER_MODE_MISSING;
	CHECK_EQ(ioctl(st->uffd, UFFDIO_REGISTER, &reg), 0);
	st->addr = (uintptr_t)page;
	return page;
}

static void stuck_main(void *arg)
{
	static uint64_t zero[8];
	struct stuck *st = arg;
	struct client *c = client_open();
	uint8_t *page = absent_page(st, NULL);
	struct binder_transaction_data tr = {
		.code = CODE_NULL, .data_size = 64, .data.ptr.buffer = (uintptr_t)zero,
	};
	struct binder_write_read bwr = { 0 };
	int err;

	bt_warm(&c->t);
	if (st->uid) {
		CHECK_EQ(setresgid(st->uid, st->uid, st->uid), 0);
		CHECK_EQ(setresuid(st->uid, st->uid, st->uid), 0);
	}
	if (st->where == IN_PAYLOAD)
		tr.data.ptr.buffer = (uintptr_t)page;
	if (st->where == IN_OFFSETS) {
		tr.data.ptr.offsets = (uintptr_t)page;
		tr.offsets_size = 8;
	}
	bt_raw(&c->t, BC_TRANSACTION, &tr);
	bwr.write_size = c->t.out_len;
	bwr.write_buffer = (uintptr_t)(st->where == IN_COMMANDS ? page : c->t.out);
	bwr.read_size = 1024;
	bwr.read_buffer = (uintptr_t)(st->where == IN_RETURNS ? page : c->t.in);
	test_set(&st->tid, test_gettid());
	err = ioctl(c->b.fd, BINDER_WRITE_READ, &bwr) ? errno : 0;
	atomic_store(&st->outcome, err);
	if (!st->finish) {
		test_post(&st->done);
		return;
	}
	CHECK(bwr.write_consumed == 0 || bwr.write_consumed == bwr.write_size);
	if (bwr.write_consumed)
		c->t.out_len = 0;
	c->t.in_pos = 0;
	c->t.in_len = bwr.read_consumed;
	CHECK_EQ(bt_finish(&c->t, false, NULL), BR_REPLY);
	test_post(&st->done);
}

static struct stuck *stuck_new(enum where where, unsigned int uid)
{
	struct stuck *st = test_share(sizeof(*st));

	st->where = where;
	st->uid = uid;
	return st;
}

static void stuck_run(struct stuck *st)
{
	st->pid = test_spawn(stuck_main, st);
	for (int i = 0; !atomic_load(&st->tid); i++) {
		int status;

		if (i > TEST_WAIT_S * 1000 || test_failed())
			FAIL("a client does not start");
		if (test_state(st->pid) == 'Z' && test_reap(st->pid, &status, 1))
			_exit(status >> 8 ? status >> 8 : 1);
		test_sleep_ms(1);
	}
	test_await_blocked(st->tid);
}

static struct stuck *stuck_start(enum where where, unsigned int uid)
{
	struct stuck *st = stuck_new(where, uid);

	stuck_run(st);
	return st;
}

/* Gives the page, with zeroes, from outside. */
static void stuck_resolve(struct stuck *st)
{
	struct uffdio_zeropage zp = { .range = { st->addr, PAGE } };
	int pidfd, fd;

	pidfd = syscall(SYS_pidfd_open, st->pid, 0);
	CHECK_GE(pidfd, 0);
	fd = syscall(SYS_pidfd_getfd, pidfd, st->uffd, 0);
	CHECK_GE(fd, 0);
	CHECK_EQ(ioctl(fd, UFFDIO_ZEROPAGE, &zp), 0);
	close(fd);
	close(pidfd);
}

static void bystanders_work(struct client *c, int n)
{
	for (int i = 0; i < n; i++)
		bt_ping(&c->t, 0, CODE_NULL);
	bc_works(&client_open()->b);
	if (driver_is_own())
		CHECK(driver_has_logs());
}

/* As many as hang, of a user, others are served, and it ends well. */
static void hang_and_resolve(int n, unsigned int uid)
{
	struct server s = { .threads = 1 };
	struct stuck *st[16];
	struct client *c;

	if (geteuid())
		test_skip("needs root");
	server_start(&s);
	c = client_open();
	bt_ping(&c->t, 0, CODE_NULL);
	for (int i = 0; i < n; i++) {
		st[i] = stuck_start(i % WHERES, uid);
		bystanders_work(c, 10);
	}
	bystanders_work(c, 100);
	for (int i = 0; i < n; i++)
		stuck_resolve(st[i]);
	for (int i = 0; i < n; i++) {
		test_await(&st[i]->done, 1);
		/* commands of zeroes are none */
		CHECK_EQ(atomic_load(&st[i]->outcome), i % WHERES == IN_COMMANDS ? EINVAL : 0);
		test_join(st[i]->pid);
		bystanders_work(c, 10);
	}
}

static void call_from_one_place(void *arg)
{
	uint8_t *place = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	struct stuck *st = arg;
	struct client *c = client_open();
	struct binder_transaction_data reply, tr = {
		.code = CODE_NULL, .data_size = 64, .data.ptr.buffer = (uintptr_t)place,
	};

	CHECK(place != MAP_FAILED);
	for (int i = 0; i < 10; i++) {
		bt_raw(&c->t, BC_TRANSACTION, &tr);
		CHECK_EQ(bt_finish(&c->t, false, &reply), BR_REPLY);
		bt_free(&c->t, reply.data.ptr.buffer);
	}
	absent_page(st, place);
	bt_flush(&c->t);
	test_post(&st->done);
}

/* Where a thread's payloads always were is nothing to a call that has none. */
static void test_memory_that_no_command_names_is_left_alone(void)
{
	struct server s = { .threads = 1 };
	struct stuck *st = stuck_new(IN_PAYLOAD, 0);

	if (geteuid())
		test_skip("needs root");
	server_start(&s);
	test_join(test_spawn(call_from_one_place, st));
	CHECK_EQ(atomic_load(&st->done), 1);
}

static void test_memory_that_hangs_for_a_while_holds_up_nobody_else(void)
{
	hang_and_resolve(4, NOBODY);
}

static void test_memory_of_12_clients_hangs_and_others_are_served(void)
{
	hang_and_resolve(12, NOBODY);
}

/* kill -9 of such a client: it must go, and what it held must come back. */
static void test_client_killed_while_its_memory_hangs_goes(void)
{
	struct server s = { .threads = 1 };
	struct client *c;

	if (geteuid())
		test_skip("needs root");
	if (driver_is_own())
		test_skip("the daemon cannot give up a copy it is in: docs/hosts.md");
	server_start(&s);
	c = client_open();
	for (int i = 0; i < WHERES; i++) {
		struct stuck *st = stuck_start(i, NOBODY);

		bystanders_work(c, 10);
		test_kill(st->pid);
		bystanders_work(c, 10);
	}
}

static void on_signal(int sig)
{
}

/* A signal, then the memory: the call is sent once. */
static void test_signal_while_memory_hangs_sends_the_call_once(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct server s = { 0 };

	if (geteuid())
		test_skip("needs root");
	CHECK_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
	server_start(&s);
	for (int i = 0; i < 5; i++) {
		struct stuck *st = stuck_new(IN_PAYLOAD, 0);

		st->finish = true;
		stuck_run(st);
		CHECK_EQ(kill(st->pid, SIGUSR1), 0);
		test_sleep_ms(i);
		stuck_resolve(st);
		test_await(&st->done, 1);
		CHECK(atomic_load(&st->outcome) == 0 || atomic_load(&st->outcome) == EINTR);
		test_join(st->pid);
		CHECK_EQ(atomic_load(&s.shared->served), i + 1);
	}
}

static const struct test_case cases[] = {
	QUICK(test_memory_that_no_command_names_is_left_alone),
	QUICK(test_memory_that_hangs_for_a_while_holds_up_nobody_else),
	CASE(test_memory_of_12_clients_hangs_and_others_are_served),
	QUICK(test_signal_while_memory_hangs_sends_the_call_once),
	CASE(test_client_killed_while_its_memory_hangs_goes),
};

TEST_MAIN(cases)
