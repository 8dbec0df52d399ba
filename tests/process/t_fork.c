// SPDX-License-Identifier: MIT
/* fork, exec and descriptors that outlive who opened them. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Some drivers take a child for another thread of its parent. */
static void need_refusal(struct client *c)
{
	struct binder_write_read bwr = { 0 };

	if (!ioctl(c->b.fd, BINDER_WRITE_READ, &bwr)) {
		if (driver_is_own())
			FAIL("a child of fork is served");
		test_skip("the driver takes a child for a thread of its parent");
	}
	CHECK_EQ(errno, EINVAL);
}

static void child_tries(void *arg)
{
	struct client *c = arg;
	struct binder_write_read bwr = { 0 };

	need_refusal(c);
	bwr.read_size = 256;
	bwr.read_buffer = (uintptr_t)malloc(256);
	CHECK(ioctl(c->b.fd, BINDER_WRITE_READ, &bwr) < 0 && errno == EINVAL);
	CHECK_EQ(bc_become_manager(&c->b), -EINVAL);
	CHECK(ioctl(c->b.fd, BINDER_THREAD_EXIT, &(int32_t){ 0 }) < 0 && errno == EINVAL);
	CHECK(ioctl(c->b.fd, BINDER_SET_MAX_THREADS, &(uint32_t){ 3 }) < 0 && errno == EINVAL);
}

static void test_fork_child_is_refused_with_einval(void)
{
	struct server s = { 0 };
	struct client *c = client_open();

	server_start(&s);
	bt_ping(&c->t, 0, CODE_NULL);
	for (int i = 0; i < 3; i++) {
		test_join(test_spawn(child_tries, c));
		bt_ping(&c->t, 0, CODE_NULL);
	}
}

static void child_calls(void *arg)
{
	struct client *c = arg, *own;
	struct bt_ret ret;

	need_refusal(c);
	bt_send(&c->t, BC_TRANSACTION, 0, 666, 0, NULL);
	CHECK_EQ(bt_ioctl(&c->t, true), -EINVAL);
	CHECK(!bt_next(&c->t, &ret));
	/* and it may open the device anew */
	own = client_open();
	bt_ping(&own->t, 0, CODE_NULL);
}

/* In the middle of the parent's call. */
static void test_fork_child_cannot_disturb_its_parents_call(void)
{
	struct pair *p = pair_open();
	struct client *c = calloc(1, sizeof(*c));
	struct bt_ret ret;

	c->b = p->cb;
	bt_init(&c->t, &c->b);
	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	test_join(test_spawn(child_calls, c));
	reply_to(&p->s, &ret, 9, NULL);
	CHECK_EQ(take_reply(&p->c), 9);
	bt_quiet(&p->s);
	pair_close(p);
}

/* The mapping is not for the child; touching it may kill the child, no more. */
static void child_touches(void *arg)
{
	struct client *c = arg;
	volatile uint8_t sum = 0;

	for (size_t i = 0; i < c->b.map_size; i += 512)
		sum += c->b.map[i];
}

static void test_fork_child_touching_the_map_harms_nobody(void)
{
	struct server s = { 0 };
	struct client *c = client_open();
	int status;
	pid_t pid;

	server_start(&s);
	bt_ping(&c->t, 0, CODE_NULL);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		child_touches(c);
		_exit(0);
	}
	CHECK(test_reap(pid, &status, TEST_WAIT_S));
	for (int i = 0; i < 20; i++)
		bt_ping(&c->t, 0, CODE_NULL);
}

static void keep_descriptor(void *arg)
{
	test_await(arg, 1);
}

struct holder {
	struct pair *p;
	atomic_int forked;
	atomic_int release;
	atomic_int child_done;
};

static void server_with_child(void *arg)
{
	struct holder *ho = arg;
	struct client *c = client_open();
	struct bt_ret ret;
	pid_t pid;

	CHECK_EQ(bc_become_manager(&c->b), 0);
	bt_enter(&c->t);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		keep_descriptor(&ho->release);
		close(c->b.fd);
		test_post(&ho->child_done);
		_exit(0);
	}
	test_post(&ho->forked);
	CHECK_EQ(bt_event(&c->t, &ret), BR_TRANSACTION);
	test_post(&ho->forked);
	pause();
}

static void call_and_expect_dead(void *arg)
{
	struct client *c = client_open();

	CHECK_EQ(bt_call(&c->t, 0, 1, 0, NULL, NULL), BR_DEAD_REPLY);
}

/* The process record lives as long as a descriptor does; then callers are told. */
static void test_descriptor_kept_by_child_is_the_last_to_close(void)
{
	struct holder *ho = test_share(sizeof(*ho));
	pid_t server = test_spawn(server_with_child, ho), caller;

	test_await(&ho->forked, 1);
	caller = test_spawn(call_and_expect_dead, NULL);
	test_await(&ho->forked, 2);
	test_kill(server);
	test_post(&ho->release);
	test_join(caller);
}

static void child_closes(void *arg)
{
	struct client *c = arg;

	bc_close(&c->b);
}

static void test_child_that_closes_its_copy_leaves_the_parent_working(void)
{
	struct server s = { 0 };
	struct client *c = client_open();

	server_start(&s);
	for (int i = 0; i < 10; i++) {
		bt_ping(&c->t, 0, CODE_NULL);
		test_join(test_spawn(child_closes, c));
	}
	bt_ping(&c->t, 0, CODE_NULL);
}

static void exec_true(void *arg)
{
	struct client *c = client_open();

	bt_ping(&c->t, 0, CODE_NULL);
	execl("/bin/true", "true", NULL);
	FAIL("exec: %s", strerror(errno));
}

/* O_CLOEXEC: exec is the close. */
static void test_exec_closes_the_device(void)
{
	struct server s = { 0 };

	server_start(&s);
	for (int i = 0; i < 5; i++)
		test_join(test_spawn(exec_true, NULL));
}

/* fork in a process whose threads wait in the driver. */
struct forker {
	struct bc *b;
	atomic_int tid;
	atomic_int served;
};

static void *serve_one(void *arg)
{
	struct forker *f = arg;
	struct bt *t = calloc(1, sizeof(*t));
	struct bt_ret ret;

	bt_init(t, f->b);
	bt_enter(t);
	test_set(&f->tid, test_gettid());
	CHECK_EQ(bt_event(t, &ret), BR_TRANSACTION);
	bt_send(t, BC_REPLY, 0, 0, 0, NULL);
	bt_free(t, ret.tr.data.ptr.buffer);
	bt_flush(t);
	test_post(&f->served);
	return NULL;
}

static void return_at_once(void *arg)
{
}

static void test_fork_while_a_thread_waits_leaves_it_waiting(void)
{
	struct server m = { 0 };
	struct client *s, *c;
	struct forker f;
	pthread_t thread;
	uint32_t h;

	server_start(&m);
	s = client_open();
	c = client_open();
	registry_put(&s->t, 1, PAIR_PTR, PAIR_COOKIE);
	h = registry_get(&c->t, 1);
	f = (struct forker){ .b = &s->b };
	thread = test_thread(serve_one, &f);
	test_await(&f.tid, 1);
	test_await_blocked(f.tid);
	for (int i = 0; i < 10; i++)
		test_join(test_spawn(return_at_once, NULL));
	test_await_blocked(f.tid);
	bt_ping(&c->t, h, 1);
	test_thread_join(thread);
}

static const struct test_case cases[] = {
	QUICK(test_fork_child_is_refused_with_einval),
	QUICK(test_fork_child_cannot_disturb_its_parents_call),
	QUICK(test_fork_child_touching_the_map_harms_nobody),
	QUICK(test_descriptor_kept_by_child_is_the_last_to_close),
	QUICK(test_child_that_closes_its_copy_leaves_the_parent_working),
	QUICK(test_exec_closes_the_device),
	QUICK(test_fork_while_a_thread_waits_leaves_it_waiting),
};

TEST_MAIN(cases)
