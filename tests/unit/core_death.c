// SPDX-License-Identifier: GPL-2.0-only
/* Death notifications: every state a request can be in, and what may happen to it there. */
#include "core_test.h"

#include "core/death.h"
#include "core/proc.h"

#define WATCH 0xdead1

static struct sim_proc *manager_proc, *owner_proc, *client_proc;
static struct sim_thread *manager, *owner, *client;
static u32 handle;

/* The client holds a node of the owner's. */
static void start(void)
{
	manager_proc = open_proc(100);
	owner_proc = open_proc(200);
	client_proc = open_proc(300);
	manager = manager_of(manager_proc, 101);
	owner = thread_of(owner_proc, 201);
	client = looper_of(client_proc, 301);
	handle = pass(manager, give(owner, manager, 0x10), client);
	command(manager, BC_RELEASE, 1);
}

static void request(u64 cookie)
{
	put_death(client, BC_REQUEST_DEATH_NOTIFICATION, handle, cookie);
	send(client);
}

static void clear(u64 cookie)
{
	put_death(client, BC_CLEAR_DEATH_NOTIFICATION, handle, cookie);
	send(client);
}

static void told_dead(u64 cookie)
{
	fetch(client);
	take_cookie(client, BR_DEAD_BINDER, cookie);
	take_end(client);
}

static void told_clear(u64 cookie)
{
	fetch(client);
	take_cookie(client, BR_CLEAR_DEATH_NOTIFICATION_DONE, cookie);
	take_end(client);
}

static void acknowledge(u64 cookie)
{
	command(client, BC_DEAD_BINDER_DONE, cookie);
}

static void test_death_is_told_and_acknowledged(void)
{
	start();
	request(WATCH);
	fetch_nothing(client);
	submit_waits(client);
	sim_kill(owner_proc);
	EXPECT_EQ(sim_run(), 1);
	take_cookie(client, BR_DEAD_BINDER, WATCH);
	take_end(client);
	acknowledge(WATCH);
	EXPECT(!logged());
	fetch_nothing(client);
	acknowledge(WATCH);
	EXPECT(logged());
}

static void test_death_of_the_dead_is_told_at_once(void)
{
	start();
	sim_kill(owner_proc);
	request(WATCH);
	told_dead(WATCH);
	acknowledge(WATCH);
	EXPECT(!logged());
	/* One request at a time, also when it has been told. */
	request(WATCH + 1);
	EXPECT(logged());
	fetch_nothing(client);
}

static void test_death_requested_twice_is_told_once(void)
{
	start();
	request(WATCH);
	request(WATCH);
	EXPECT(logged());
	request(WATCH + 1);
	EXPECT(logged());
	sim_kill(owner_proc);
	told_dead(WATCH);
	fetch_nothing(client);
}

static void test_death_cleared_before(void)
{
	start();
	request(WATCH);
	clear(WATCH);
	told_clear(WATCH);
	sim_kill(owner_proc);
	fetch_nothing(client);
	EXPECT(!logged());
}

static void test_death_cleared_while_queued(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	clear(WATCH);
	told_dead(WATCH);
	fetch_nothing(client);
	acknowledge(WATCH);
	told_clear(WATCH);
	EXPECT(!logged());
}

static void test_death_cleared_while_delivered(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	told_dead(WATCH);
	clear(WATCH);
	fetch_nothing(client);
	acknowledge(WATCH);
	told_clear(WATCH);
	EXPECT(!logged());
}

static void test_death_cleared_after_the_acknowledgement(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	told_dead(WATCH);
	acknowledge(WATCH);
	clear(WATCH);
	told_clear(WATCH);
	/* And from the start. */
	request(WATCH + 1);
	told_dead(WATCH + 1);
	EXPECT(!logged());
}

static void test_death_cleared_and_requested_again(void)
{
	start();
	request(WATCH);
	clear(WATCH);
	/* The old one is still on its way to be confirmed. */
	request(WATCH + 1);
	told_clear(WATCH);
	sim_kill(owner_proc);
	told_dead(WATCH + 1);
	EXPECT(!logged());
}

static void test_death_misuse_is_without_effect(void)
{
	start();
	clear(WATCH);
	EXPECT(logged());
	put_death(client, BC_REQUEST_DEATH_NOTIFICATION, 99, WATCH);
	send(client);
	EXPECT(logged());
	put_death(client, BC_CLEAR_DEATH_NOTIFICATION, 99, WATCH);
	send(client);
	EXPECT(logged());
	/* No reference to the manager is held. */
	put_death(client, BC_REQUEST_DEATH_NOTIFICATION, 0, WATCH);
	send(client);
	EXPECT(logged());
	request(WATCH);
	clear(WATCH + 1);
	EXPECT(logged());
	acknowledge(WATCH);
	EXPECT(logged());
	fetch_nothing(client);
	sim_kill(owner_proc);
	/* It is not delivered yet. */
	acknowledge(WATCH);
	EXPECT(logged());
	told_dead(WATCH);
}

static void test_death_reference_dropped_while_idle(void)
{
	start();
	request(WATCH);
	command(client, BC_RELEASE, handle);
	sim_kill(owner_proc);
	fetch_nothing(client);
}

static void test_death_reference_dropped_while_queued(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	command(client, BC_RELEASE, handle);
	fetch_nothing(client);
}

static void test_death_reference_dropped_while_delivered(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	told_dead(WATCH);
	command(client, BC_RELEASE, handle);
	EXPECT(!logged());
	acknowledge(WATCH);
	EXPECT(logged());
}

static void test_death_reference_dropped_while_being_cleared(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	told_dead(WATCH);
	clear(WATCH);
	command(client, BC_RELEASE, handle);
	acknowledge(WATCH);
	told_clear(WATCH);
	EXPECT(!logged());
}

static void test_death_one_a_read(void)
{
	u32 first;

	start();
	first = handle;
	request(1);
	handle = pass(manager, give(owner, manager, 0x20), client);
	/* Cookies need not differ. */
	request(1);
	sim_kill(owner_proc);
	told_dead(1);
	told_dead(1);
	acknowledge(1);
	acknowledge(1);
	EXPECT(!logged());
	acknowledge(1);
	EXPECT(logged());
	handle = first;
	clear(1);
	told_clear(1);
}

static void test_death_is_told_to_everybody(void)
{
	struct sim_thread *other;
	u32 second, others;

	start();
	second = give(owner, manager, 0x20);
	other = looper_of(open_proc(400), 401);
	others = pass(manager, second, other);
	request(WATCH);
	put_death(other, BC_REQUEST_DEATH_NOTIFICATION, others, 2);
	send(other);
	put_death(manager, BC_REQUEST_DEATH_NOTIFICATION, second, 3);
	send(manager);
	sim_kill(owner_proc);
	told_dead(WATCH);
	fetch(other);
	take_cookie(other, BR_DEAD_BINDER, 2);
	fetch(manager);
	take_cookie(manager, BR_DEAD_BINDER, 3);
}

static void test_death_by_a_weak_handle(void)
{
	start();
	command(client, BC_INCREFS, handle);
	command(client, BC_RELEASE, handle);
	request(WATCH);
	sim_kill(owner_proc);
	told_dead(WATCH);
	command(client, BC_DECREFS, handle);
	EXPECT(!logged());
}

static void test_death_of_the_manager(void)
{
	start();
	command(client, BC_ACQUIRE, 0);
	handle = 0;
	request(WATCH);
	sim_kill(manager_proc);
	told_dead(WATCH);
	acknowledge(WATCH);
	command(client, BC_RELEASE, 0);
	EXPECT(!logged());
}

static void test_death_confirmation_goes_to_whoever_reads(void)
{
	struct sim_thread *plain;

	start();
	/* This one never reads; a looper will. */
	plain = thread_of(client_proc, 302);
	put_death(plain, BC_REQUEST_DEATH_NOTIFICATION, handle, WATCH);
	put_death(plain, BC_CLEAR_DEATH_NOTIFICATION, handle, WATCH);
	submit_waits(client);
	send(plain);
	EXPECT_EQ(sim_run(), 1);
	take_cookie(client, BR_CLEAR_DEATH_NOTIFICATION_DONE, WATCH);
}

static void test_death_confirmation_outlives_the_thread(void)
{
	struct sim_thread *second;

	start();
	second = looper_of(client_proc, 302);
	request(WATCH);
	clear(WATCH);
	thread_exit(client);
	fetch(second);
	take_cookie(second, BR_CLEAR_DEATH_NOTIFICATION_DONE, WATCH);
}

static void test_death_without_memory_is_an_error(void)
{
	s32 param;

	start();
	put_death(client, BC_REQUEST_DEATH_NOTIFICATION, handle, WATCH);
	sim_put(client, BC_ENTER_LOOPER, NULL);
	sim_fault_arm(1);
	submit(client);
	EXPECT(sim_fault_fired());
	EXPECT_EQ(client->bwr.write_consumed, 4 + sizeof(struct binder_handle_cookie));
	take(client, BR_ERROR, &param);
	EXPECT_EQ(param, -ENOMEM);
	take_end(client);
	/* Nothing was requested; it can be again. */
	request(WATCH);
	EXPECT(!logged());
	sim_kill(owner_proc);
	told_dead(WATCH);
}

/* ---- the one who asked dies ------------------------------------------------- */

static void asker_dies(void)
{
	sim_kill(client_proc);
	core_check();
	if (owner_proc->proc)
		sim_kill(owner_proc);
}

static void test_death_asker_dies_idle(void)
{
	start();
	request(WATCH);
	asker_dies();
}

static void test_death_asker_dies_queued(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	asker_dies();
}

static void test_death_asker_dies_delivered(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	told_dead(WATCH);
	asker_dies();
}

static void test_death_asker_dies_confirmed_unread(void)
{
	start();
	request(WATCH);
	clear(WATCH);
	asker_dies();
}

static void test_death_asker_dies_queued_and_cleared(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	clear(WATCH);
	asker_dies();
}

static void test_death_asker_dies_delivered_and_cleared(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	told_dead(WATCH);
	clear(WATCH);
	asker_dies();
}

static void test_death_asker_dies_acknowledged(void)
{
	start();
	request(WATCH);
	sim_kill(owner_proc);
	told_dead(WATCH);
	acknowledge(WATCH);
	asker_dies();
}

static const struct core_case cases[] = {
	CASE(test_death_is_told_and_acknowledged),
	CASE(test_death_of_the_dead_is_told_at_once),
	CASE(test_death_requested_twice_is_told_once),
	CASE(test_death_cleared_before),
	CASE(test_death_cleared_while_queued),
	CASE(test_death_cleared_while_delivered),
	CASE(test_death_cleared_after_the_acknowledgement),
	CASE(test_death_cleared_and_requested_again),
	CASE(test_death_misuse_is_without_effect),
	CASE(test_death_reference_dropped_while_idle),
	CASE(test_death_reference_dropped_while_queued),
	CASE(test_death_reference_dropped_while_delivered),
	CASE(test_death_reference_dropped_while_being_cleared),
	CASE(test_death_one_a_read),
	CASE(test_death_is_told_to_everybody),
	CASE(test_death_by_a_weak_handle),
	CASE(test_death_of_the_manager),
	CASE(test_death_confirmation_goes_to_whoever_reads),
	CASE(test_death_confirmation_outlives_the_thread),
	CASE_PLAIN(test_death_without_memory_is_an_error),
	CASE(test_death_asker_dies_idle),
	CASE(test_death_asker_dies_queued),
	CASE(test_death_asker_dies_delivered),
	CASE(test_death_asker_dies_confirmed_unread),
	CASE(test_death_asker_dies_queued_and_cleared),
	CASE(test_death_asker_dies_delivered_and_cleared),
	CASE(test_death_asker_dies_acknowledged),
};

GROUP(death);
