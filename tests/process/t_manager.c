// SPDX-License-Identifier: MIT
/* The context manager: who may be it, who reaches it, what happens when it goes. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NOBODY 65534

static void test_second_manager_is_refused_with_ebusy(void)
{
	struct server s = { 0 };
	struct client *c, *d;

	server_start(&s);
	c = client_open();
	d = client_open();
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(bc_become_manager(&c->b), -EBUSY);
		CHECK_EQ(bc_become_manager(&d->b), -EBUSY);
	}
	bt_ping(&c->t, 0, CODE_NULL);
	bt_ping(&d->t, 0, CODE_NULL);
}

static void manager_twice(void *arg)
{
	struct client *c = client_open(), *d = client_open();

	CHECK_EQ(bc_become_manager(&c->b), 0);
	CHECK_EQ(bc_become_manager(&c->b), -EBUSY);
	CHECK_EQ(bc_become_manager(&d->b), -EBUSY);
	bc_close(&c->b);
	/* the release may take a moment */
	for (int i = 0; i < 10000; i++) {
		if (!bc_become_manager(&d->b))
			return;
		test_sleep_ms(1);
	}
	FAIL("a closed manager blocks the next");
}

static void test_manager_twice_from_one_process_is_refused(void)
{
	test_join(test_spawn(manager_twice, NULL));
}

/* Calls with handle 0 always reach the manager of the day. */
static void test_manager_restarted_is_reached_by_old_clients(void)
{
	struct server s = { 0 };
	struct client *c = client_open();
	struct binder_transaction_data reply;

	for (int i = 0; i < 5; i++) {
		server_start(&s);
		bt_call_ok(&c->t, 0, CODE_WHO, NULL, &reply);
		CHECK_EQ(tr_u32(&reply, 2), s.pid);
		bt_ref(&c->t, BC_ACQUIRE, 0);
		bt_free(&c->t, reply.data.ptr.buffer);
		bt_flush(&c->t);
		server_stop(&s);
		CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, 0, NULL, NULL), BR_DEAD_REPLY);
	}
}

static void test_manager_call_to_itself_fails_with_einval(void)
{
	struct client *c = client_open();

	CHECK_EQ(bc_become_manager(&c->b), 0);
	bt_enter(&c->t);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(bt_call(&c->t, 0, 1, 0, NULL, NULL), BR_FAILED_REPLY);
		bt_expect_error(&c->t, BR_FAILED_REPLY, -EINVAL);
		CHECK_EQ(bt_call(&c->t, 0, 1, TF_ONE_WAY, NULL, NULL), BR_FAILED_REPLY);
		bt_expect_error(&c->t, BR_FAILED_REPLY, -EINVAL);
	}
}

static void manager_of_other_uid(void *arg)
{
	struct client *c = client_open();

	CHECK_EQ(setresuid(NOBODY, NOBODY, NOBODY), 0);
	CHECK_EQ(bc_become_manager(&c->b), -EPERM);
	bc_works(&c->b);
}

/* The user of the first manager is remembered, also when it is gone. */
static void test_manager_of_other_uid_is_refused_with_eperm(void)
{
	struct server s = { 0 };

	if (geteuid())
		test_skip("needs root");
	server_start(&s);
	server_stop(&s);
	test_join(test_spawn(manager_of_other_uid, NULL));
	server_start(&s);
}

static void expect_target(uint64_t ptr, uint64_t cookie, bool ext)
{
	struct client *c = client_open();
	struct flat_binder_object fbo = { .binder = ptr, .cookie = cookie };
	atomic_int *done = test_share(sizeof(*done));
	struct bt_ret ret;
	pid_t pid;

	fbo.hdr.type = BINDER_TYPE_BINDER;
	fbo.flags = 0x7f;
	if (ext)
		CHECK_EQ(ioctl(c->b.fd, BINDER_SET_CONTEXT_MGR_EXT, &fbo), 0);
	else
		CHECK_EQ(bc_become_manager(&c->b), 0);
	pid = fork();
	if (!pid) {
		struct client *d = client_open();

		bt_ping(&d->t, 0, 77);
		_exit(0);
	}
	bt_enter(&c->t);
	CHECK_EQ(bt_event(&c->t, &ret), BR_TRANSACTION);
	CHECK_EQ(ret.tr.code, 77);
	CHECK_EQ(ret.tr.target.ptr, ptr);
	CHECK_EQ(ret.tr.cookie, cookie);
	bt_send(&c->t, BC_REPLY, 0, 0, 0, NULL);
	bt_free(&c->t, ret.tr.data.ptr.buffer);
	bt_flush(&c->t);
	test_join(pid);
}

static void plain_manager(void *arg)
{
	expect_target(0, 0, false);
}

static void ext_manager(void *arg)
{
	expect_target(0x123456780, 0xfedcba987, true);
}

static void test_manager_is_called_as_0_0(void)
{
	test_join(test_spawn(plain_manager, NULL));
}

static void test_manager_ext_is_called_as_it_asked(void)
{
	test_join(test_spawn(ext_manager, NULL));
}

static void test_manager_death_is_announced(void)
{
	struct server s = { 0 };
	struct client *c = client_open();
	struct bt_ret ret;

	server_start(&s);
	bt_ref(&c->t, BC_ACQUIRE, 0);
	bt_death(&c->t, BC_REQUEST_DEATH_NOTIFICATION, 0, 0x99);
	bt_enter(&c->t);
	bt_ping(&c->t, 0, CODE_NULL);
	server_stop(&s);
	CHECK_EQ(bt_event(&c->t, &ret), BR_DEAD_BINDER);
	CHECK_EQ(ret.cookie, 0x99);
	bt_cookie(&c->t, BC_DEAD_BINDER_DONE, 0x99);
	bt_flush(&c->t);
}

struct race {
	atomic_int start;
	atomic_int won;
	atomic_int lost;
	atomic_int stop;
};

static void race_main(void *arg)
{
	struct race *r = arg;
	struct client *c = client_open();
	int err;

	test_await(&r->start, 1);
	err = bc_become_manager(&c->b);
	CHECK(err == 0 || err == -EBUSY);
	test_post(err ? &r->lost : &r->won);
	test_await(&r->stop, 1);
}

static void test_manager_race_has_one_winner(void)
{
	for (int round = 0; round < 5; round++) {
		struct race *r = test_share(sizeof(*r));
		pid_t pids[8];

		for (int i = 0; i < 8; i++)
			pids[i] = test_spawn(race_main, r);
		test_post(&r->start);
		test_await(&r->lost, 7);
		test_await(&r->won, 1);
		CHECK_EQ(atomic_load(&r->won), 1);
		test_post(&r->stop);
		for (int i = 0; i < 8; i++)
			test_join(pids[i]);
	}
}

/* Each device has a manager of its own. */
static void test_devices_have_their_own_managers(void)
{
	struct server s = { 0 }, other = { .device = "hwbinder" };
	struct binder_transaction_data reply;
	struct client *c;
	struct bc b;
	struct bt t;

	if (bc_try_open(&b, "hwbinder", 0, BC_MAP_SIZE))
		test_skip("no device hwbinder");
	bt_init(&t, &b);
	server_start(&s);
	CHECK_EQ(bt_call(&t, 0, CODE_NULL, 0, NULL, NULL), BR_DEAD_REPLY);
	server_start(&other);
	c = client_open();
	bt_call_ok(&t, 0, CODE_WHO, NULL, &reply);
	CHECK_EQ(tr_u32(&reply, 2), other.pid);
	bt_call_ok(&c->t, 0, CODE_WHO, NULL, &reply);
	CHECK_EQ(tr_u32(&reply, 2), s.pid);
	server_stop(&s);
	bt_ping(&t, 0, CODE_NULL);
}

static const struct test_case cases[] = {
	QUICK(test_second_manager_is_refused_with_ebusy),
	QUICK(test_manager_twice_from_one_process_is_refused),
	QUICK(test_manager_restarted_is_reached_by_old_clients),
	QUICK(test_manager_call_to_itself_fails_with_einval),
	QUICK(test_manager_of_other_uid_is_refused_with_eperm),
	QUICK(test_manager_is_called_as_0_0),
	QUICK(test_manager_ext_is_called_as_it_asked),
	QUICK(test_manager_death_is_announced),
	QUICK(test_manager_race_has_one_winner),
	QUICK(test_devices_have_their_own_managers),
};

TEST_MAIN(cases)
