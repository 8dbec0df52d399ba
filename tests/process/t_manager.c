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

/*
 * Handle 0 over a change of managers. A call goes to the manager of the day.
 * A reference, and the death request on it, stay with the one that they were
 * taken on, and as long as it is held the next one's has another number.
 */
#define LINK 0x99ul

enum hold {
	HOLD_NOTHING,
	HOLD_WEAK,
	HOLD_STRONG,
	HOLD_LINK, /* strong, and a death request */
	HOLDS,
};

static void acquire_and_link(struct bt *t, uint64_t cookie)
{
	bt_ref(t, BC_ACQUIRE, 0);
	bt_death(t, BC_REQUEST_DEATH_NOTIFICATION, 0, cookie);
	bt_flush(t);
}

static void expect_cookie(struct bt *t, uint32_t cmd, uint64_t cookie)
{
	struct bt_ret ret;

	bt_expect(t, cmd, &ret);
	CHECK_EQ(ret.cookie, cookie);
}

static struct client *looper_open(void)
{
	struct client *c = calloc(1, sizeof(*c));

	end_open(&c->b, &c->t);
	bt_enter(&c->t);
	return c;
}

/* A client that held @s this way when it died, and @s started again. */
static struct client *survivor_of(struct server *s, enum hold hold)
{
	struct client *c = looper_open();

	server_start(s);
	if (hold == HOLD_WEAK)
		bt_ref(&c->t, BC_INCREFS, 0);
	else if (hold == HOLD_STRONG)
		bt_ref(&c->t, BC_ACQUIRE, 0);
	else if (hold == HOLD_LINK)
		acquire_and_link(&c->t, LINK);
	bt_ping(&c->t, 0, CODE_NULL);
	server_stop(s);
	if (hold == HOLD_LINK)
		expect_cookie(&c->t, BR_DEAD_BINDER, LINK);
	server_start(s);
	return c;
}

static void expect_manager(struct client *c, const struct server *s)
{
	struct binder_transaction_data reply;

	bt_call_ok(&c->t, 0, CODE_WHO, NULL, &reply);
	CHECK_EQ(tr_u32(&reply, 2), s->pid);
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
}

/*
 * Ends @s. When this returns there is no manager, and who linked to it before
 * has been told: who came later is told later. (A call that fails does not say
 * so much. It may be just that the memory of the dying is gone already.)
 */
static void end_of(struct server *s)
{
	struct client *later = looper_open();

	acquire_and_link(&later->t, LINK);
	bt_ping(&later->t, 0, CODE_NULL);
	server_stop(s);
	expect_cookie(&later->t, BR_DEAD_BINDER, LINK);
	bc_close(&later->b);
	free(later);
}

/* Ends @s; true if @c is told so, with LINK + 1; false if it is told nothing. */
static bool hears_of_the_end(struct client *c, struct server *s)
{
	struct bt_ret ret;

	end_of(s);
	if (!bt_try(&c->t, &ret))
		return false;
	CHECK_EQ(ret.cmd, BR_DEAD_BINDER);
	CHECK_EQ(ret.cookie, LINK + 1);
	return true;
}

static void test_new_manager_is_called_whatever_is_held_of_the_old(void)
{
	for (int hold = 0; hold < HOLDS; hold++) {
		struct server s = { 0 };
		struct client *c = survivor_of(&s, hold);

		expect_manager(c, &s);
		bc_close(&c->b);
		server_stop(&s);
	}
}

static void test_new_manager_can_be_linked_to_when_nothing_is_held(void)
{
	struct server s = { 0 };
	struct client *c = survivor_of(&s, HOLD_NOTHING);

	acquire_and_link(&c->t, LINK + 1);
	bt_quiet(&c->t);
	CHECK(hears_of_the_end(c, &s));
}

/* The link is to the old one, and it is dead: so says the driver at once. */
static void test_old_hold_takes_a_new_link_for_its_own(void)
{
	for (int hold = HOLD_WEAK; hold <= HOLD_STRONG; hold++) {
		struct server s = { 0 };
		struct client *c = survivor_of(&s, hold);

		acquire_and_link(&c->t, LINK + 1);
		expect_cookie(&c->t, BR_DEAD_BINDER, LINK + 1);
		bt_cookie(&c->t, BC_DEAD_BINDER_DONE, LINK + 1);
		bt_flush(&c->t);
		CHECK(!hears_of_the_end(c, &s));
		bc_close(&c->b);
	}
}

/* And where the old one has its link still, a second request is misuse. */
static void test_old_link_takes_no_second(void)
{
	for (int done = 0; done < 2; done++) {
		struct server s = { 0 };
		struct client *c = survivor_of(&s, HOLD_LINK);

		if (done)
			bt_cookie(&c->t, BC_DEAD_BINDER_DONE, LINK);
		acquire_and_link(&c->t, LINK + 1);
		bt_quiet(&c->t);
		CHECK(!hears_of_the_end(c, &s));
		bc_close(&c->b);
	}
}

static void let_go(struct client *c, enum hold hold, bool done, bool clear)
{
	if (done)
		bt_cookie(&c->t, BC_DEAD_BINDER_DONE, LINK);
	if (clear)
		bt_death(&c->t, BC_CLEAR_DEATH_NOTIFICATION, 0, LINK);
	bt_ref(&c->t, hold == HOLD_WEAK ? BC_DECREFS : BC_RELEASE, 0);
}

/* All in one write: nothing has to be waited for. */
static void test_old_hold_let_go_makes_room_for_the_new(void)
{
	for (int hold = HOLD_WEAK; hold <= HOLD_STRONG; hold++) {
		struct server s = { 0 };
		struct client *c = survivor_of(&s, hold);

		let_go(c, hold, false, false);
		acquire_and_link(&c->t, LINK + 1);
		bt_quiet(&c->t);
		expect_manager(c, &s);
		CHECK(hears_of_the_end(c, &s));
		bc_close(&c->b);
	}
}

/* The last release drops the link with it, done or not, cleared or not. */
static void test_old_link_let_go_makes_room_for_the_new(void)
{
	for (int how = 0; how < 4; how++) {
		struct server s = { 0 };
		struct client *c = survivor_of(&s, HOLD_LINK);
		bool done = how & 1, clear = how & 2;

		let_go(c, HOLD_LINK, done, clear);
		acquire_and_link(&c->t, LINK + 1);
		bt_flush(&c->t);
		if (!done) /* without the link it is misuse, and no harm */
			bt_cookie(&c->t, BC_DEAD_BINDER_DONE, LINK);
		/* a clear is answered after both, whether or not the reference is still there */
		if (clear)
			expect_cookie(&c->t, BR_CLEAR_DEATH_NOTIFICATION_DONE, LINK);
		bt_quiet(&c->t);
		expect_manager(c, &s);
		CHECK(hears_of_the_end(c, &s));
		bc_close(&c->b);
	}
}

/* As the protocol has it: done, clear, wait for the answer, release. */
static void test_old_link_cleared_first_is_answered(void)
{
	struct server s = { 0 };
	struct client *c = survivor_of(&s, HOLD_LINK);

	bt_cookie(&c->t, BC_DEAD_BINDER_DONE, LINK);
	bt_death(&c->t, BC_CLEAR_DEATH_NOTIFICATION, 0, LINK);
	expect_cookie(&c->t, BR_CLEAR_DEATH_NOTIFICATION_DONE, LINK);
	bt_ref(&c->t, BC_RELEASE, 0);
	acquire_and_link(&c->t, LINK + 1);
	bt_quiet(&c->t);
	CHECK(hears_of_the_end(c, &s));
}

static void own_node(struct bt *t, const struct binder_transaction_data *tr, struct msg *reply)
{
	(void)t;
	(void)tr;
	msg_binder(reply, 0, 0);
}

/* The manager's own object, kept once. */
static uint32_t own_handle(struct client *c)
{
	struct binder_transaction_data reply;
	uint32_t handle;

	bt_call_ok(&c->t, 0, CODE_OWN, NULL, &reply);
	CHECK_EQ(tr_object(&reply, 0)->hdr.type, BINDER_TYPE_HANDLE);
	handle = tr_object(&reply, 0)->handle;
	bt_ref(&c->t, BC_ACQUIRE, handle);
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
	return handle;
}

/* A count asked for by handle 0 is then the new one's, under a number that nobody is told. */
static void test_old_hold_gives_the_new_another_handle(void)
{
	struct server s = { .own = own_node };
	struct client *c = survivor_of(&s, HOLD_STRONG);

	bt_ref(&c->t, BC_ACQUIRE, 0);
	CHECK_EQ(own_handle(c), 1);
	bt_ref(&c->t, BC_RELEASE, 1);
	bt_ref(&c->t, BC_RELEASE, 1);
	bt_ref(&c->t, BC_RELEASE, 0);
	CHECK_EQ(own_handle(c), 0);
	bt_ref(&c->t, BC_RELEASE, 0);
	bt_flush(&c->t);
	/* Held first by what it sent, it has handle 0 as well. */
	server_stop(&s);
	server_start(&s);
	CHECK_EQ(own_handle(c), 0);
	bt_death(&c->t, BC_REQUEST_DEATH_NOTIFICATION, 0, LINK + 1);
	bt_flush(&c->t);
	bt_quiet(&c->t);
	CHECK(hears_of_the_end(c, &s));
}

/* As long as it has that other number, handle 0 is nobody's but for calls and counts. */
static void test_new_handle_stays_when_the_old_hold_goes(void)
{
	struct server s = { .own = own_node };
	struct client *c = survivor_of(&s, HOLD_STRONG);

	bt_ref(&c->t, BC_ACQUIRE, 0);
	bt_ref(&c->t, BC_RELEASE, 0);
	acquire_and_link(&c->t, LINK + 1);
	bt_quiet(&c->t);
	CHECK_EQ(own_handle(c), 1);
	expect_manager(c, &s);
	/* three counts: two by handle 0, one of own_handle() */
	for (int i = 0; i < 3; i++)
		bt_ref(&c->t, BC_RELEASE, 1);
	acquire_and_link(&c->t, LINK + 1);
	bt_quiet(&c->t);
	CHECK(hears_of_the_end(c, &s));
}

/* Between managers: misuse of a handle that is not there, which nobody is told. */
static void test_acquire_without_a_manager_does_nothing(void)
{
	struct server s = { 0 };
	struct client *c = looper_open();

	server_start(&s);
	end_of(&s);
	CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, 0, NULL, NULL), BR_DEAD_REPLY);
	acquire_and_link(&c->t, LINK + 1);
	bt_quiet(&c->t);
	server_start(&s);
	expect_manager(c, &s);
	bt_quiet(&c->t);
	CHECK(!hears_of_the_end(c, &s));
}

/* With the old one held it counts there: a release more is needed. */
static void test_acquire_without_a_manager_counts_on_the_old(void)
{
	struct server s = { 0 };
	struct client *c = looper_open();

	server_start(&s);
	bt_ref(&c->t, BC_ACQUIRE, 0);
	bt_ping(&c->t, 0, CODE_NULL);
	end_of(&s);
	bt_ref(&c->t, BC_ACQUIRE, 0);
	bt_flush(&c->t);
	server_start(&s);
	bt_ref(&c->t, BC_RELEASE, 0);
	bt_death(&c->t, BC_REQUEST_DEATH_NOTIFICATION, 0, LINK);
	expect_cookie(&c->t, BR_DEAD_BINDER, LINK);
	bt_cookie(&c->t, BC_DEAD_BINDER_DONE, LINK);
	bt_ref(&c->t, BC_RELEASE, 0);
	acquire_and_link(&c->t, LINK + 1);
	bt_quiet(&c->t);
	CHECK(hears_of_the_end(c, &s));
}

/* The way to find out whether handle 0 is held: send it to its owner, who may ignore it. */
static void test_handle_0_as_an_object_must_be_held(void)
{
	struct server s = { 0 };
	struct binder_transaction_data reply;
	struct client *c = looper_open();
	struct msg m;

	server_start(&s);
	msg_init(&m);
	msg_handle(&m, 0);
	CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, 0, &m, NULL), BR_FAILED_REPLY);
	acquire_and_link(&c->t, LINK);
	bt_call_ok(&c->t, 0, CODE_NULL, &m, &reply);
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
	server_stop(&s);
	expect_cookie(&c->t, BR_DEAD_BINDER, LINK);
	CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, 0, &m, NULL), BR_DEAD_REPLY);
	/* It does not say of whom: the old one's will do. */
	server_start(&s);
	bt_call_ok(&c->t, 0, CODE_NULL, &m, &reply);
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_ref(&c->t, BC_RELEASE, 0);
	CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, 0, &m, NULL), BR_FAILED_REPLY);
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
	QUICK(test_new_manager_is_called_whatever_is_held_of_the_old),
	QUICK(test_new_manager_can_be_linked_to_when_nothing_is_held),
	QUICK(test_old_hold_takes_a_new_link_for_its_own),
	QUICK(test_old_link_takes_no_second),
	QUICK(test_old_hold_let_go_makes_room_for_the_new),
	QUICK(test_old_link_let_go_makes_room_for_the_new),
	QUICK(test_old_link_cleared_first_is_answered),
	QUICK(test_old_hold_gives_the_new_another_handle),
	QUICK(test_new_handle_stays_when_the_old_hold_goes),
	QUICK(test_acquire_without_a_manager_does_nothing),
	QUICK(test_acquire_without_a_manager_counts_on_the_old),
	QUICK(test_handle_0_as_an_object_must_be_held),
	QUICK(test_manager_race_has_one_winner),
	QUICK(test_devices_have_their_own_managers),
};

TEST_MAIN(cases)
