// SPDX-License-Identifier: MIT
/*
 * kill -9 in every wait state. Nobody may hang, nobody may stay unkillable
 * (test_kill() watches), and everything must come back (the harness watches).
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/**
 * struct caller - a process that makes one call
 * @id, @code: of whom and what
 * @then: with it, the number it passes on (CODE_CALL)
 */
struct caller {
	unsigned int id;
	uint32_t code;
	unsigned int then;
	uint32_t then_code;
	uint32_t flags;
	atomic_int tid;
	atomic_int got;
	atomic_int inner;
	pid_t pid;
};

static void caller_main(void *arg)
{
	struct caller *ca = arg;
	struct client *c = client_open();
	struct binder_transaction_data reply;
	uint32_t h = ca->id ? registry_get(&c->t, ca->id) : 0;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, ca->then);
	msg_u32(&m, ca->then_code);
	test_set(&ca->tid, test_gettid());
	bt_send(&c->t, BC_TRANSACTION, h, ca->code, ca->flags, &m);
	atomic_store(&ca->got, bt_finish(&c->t, ca->flags & TF_ONE_WAY, &reply));
	if ((uint32_t)atomic_load(&ca->got) == BR_REPLY && reply.data_size >= 4)
		atomic_store(&ca->inner, tr_u32(&reply, 0));
}

static struct caller *call_start(unsigned int id, uint32_t code)
{
	struct caller *ca = test_share(sizeof(*ca));

	ca->id = id;
	ca->code = code;
	return ca;
}

static void call_run(struct caller *ca)
{
	ca->pid = test_spawn(caller_main, ca);
	test_await(&ca->tid, 1);
	test_await_blocked(ca->tid);
}

static void call_expect(struct caller *ca, uint32_t got)
{
	test_join(ca->pid);
	if ((uint32_t)atomic_load(&ca->got) != got)
		FAIL("the caller got %s, wanted %s", br_name(atomic_load(&ca->got)),
		     br_name(got));
}

static void ping(unsigned int id)
{
	struct client *c = client_open();

	bt_ping(&c->t, id ? registry_get(&c->t, id) : 0, CODE_NULL);
	bc_close(&c->b);
}

static void test_client_killed_waiting_for_reply_server_goes_on(void)
{
	struct server s = { 0 };

	server_start(&s);
	for (int i = 1; i < 6; i++) {
		struct caller *ca = call_start(0, CODE_HOLD);

		atomic_store(&s.shared->go, 0);
		call_run(ca);
		test_await(&s.shared->held, i);
		test_kill(ca->pid);
		test_post(&s.shared->go);
		ping(0);
	}
}

static void test_client_killed_before_server_reads_server_goes_on(void)
{
	struct server s = { 0 };
	struct caller *holder = call_start(0, CODE_HOLD), *queued[4];

	server_start(&s);
	call_run(holder);
	test_await(&s.shared->held, 1);
	for (int i = 0; i < 4; i++) {
		queued[i] = call_start(0, CODE_NULL);
		call_run(queued[i]);
	}
	for (int i = 0; i < 4; i++)
		test_kill(queued[i]->pid);
	test_post(&s.shared->go);
	call_expect(holder, BR_REPLY);
	ping(0);
}

static void test_server_killed_idle_callers_get_dead(void)
{
	struct server s = { 0 };
	struct client *c = client_open();

	server_start(&s);
	bt_ping(&c->t, 0, CODE_NULL);
	test_await_blocked(s.pid);
	server_stop(&s);
	CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, 0, NULL, NULL), BR_DEAD_REPLY);
	CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, TF_ONE_WAY, NULL, NULL), BR_DEAD_REPLY);
}

static void test_server_killed_in_a_call_caller_gets_dead(void)
{
	struct server s = { 0 };

	for (int i = 0; i < 3; i++) {
		struct caller *ca = call_start(0, CODE_HOLD);

		server_start(&s);
		call_run(ca);
		test_await(&s.shared->held, i + 1);
		server_stop(&s);
		call_expect(ca, BR_DEAD_REPLY);
	}
}

static void test_server_killed_with_calls_queued_all_get_dead(void)
{
	struct server s = { 0 };
	struct caller *ca[10];

	server_start(&s);
	for (int i = 0; i < 10; i++) {
		ca[i] = call_start(0, CODE_HOLD);
		call_run(ca[i]);
	}
	server_stop(&s);
	for (int i = 0; i < 10; i++)
		call_expect(ca[i], BR_DEAD_REPLY);
}

/* The whole pool of the server is busy; half of the callers are in it. */
static void test_server_killed_with_a_busy_pool_all_get_dead(void)
{
	struct server s = { .threads = 4 };
	struct caller *ca[10];

	server_start(&s);
	for (int i = 0; i < 10; i++) {
		ca[i] = call_start(0, CODE_HOLD);
		call_run(ca[i]);
	}
	test_await(&s.shared->held, 5);
	server_stop(&s);
	for (int i = 0; i < 10; i++)
		call_expect(ca[i], BR_DEAD_REPLY);
}

/* A calls B calls C, which holds. */
struct chain {
	struct server m, c;
	struct caller *a;
};

static void chain_start(struct chain *ch)
{
	*ch = (struct chain){ .c = { .id = 2 } };
	server_start(&ch->m); /* b is the manager: it passes calls on */
	server_start(&ch->c);
	ch->a = call_start(0, CODE_CALL);
	ch->a->then = 2;
	ch->a->then_code = CODE_HOLD;
	call_run(ch->a);
	test_await(&ch->c.shared->held, 1);
	test_await_blocked(ch->m.pid);
}

static void test_chain_outermost_killed_others_go_on(void)
{
	struct chain ch;

	chain_start(&ch);
	test_kill(ch.a->pid);
	test_post(&ch.c.shared->go);
	ping(0);
	ping(2);
}

static void test_chain_middle_killed_outermost_gets_dead(void)
{
	struct chain ch;

	chain_start(&ch);
	server_stop(&ch.m);
	test_post(&ch.c.shared->go);
	call_expect(ch.a, BR_DEAD_REPLY);
	/* c's answer found nobody, and it still serves the next manager's clients */
	test_await_blocked(ch.c.pid);
}

static void test_chain_innermost_killed_middle_gets_dead_and_answers(void)
{
	struct chain ch;

	chain_start(&ch);
	server_stop(&ch.c);
	call_expect(ch.a, BR_REPLY);
	CHECK_EQ((uint32_t)atomic_load(&ch.a->inner), BR_DEAD_REPLY);
	ping(0);
}

static void test_chain_all_killed_at_once(void)
{
	for (int i = 0; i < 4; i++) {
		struct chain ch;

		chain_start(&ch);
		kill(ch.m.pid, SIGKILL);
		kill(ch.c.pid, SIGKILL);
		kill(ch.a->pid, SIGKILL);
		test_kill(ch.a->pid);
		test_kill(ch.c.pid);
		test_kill(ch.m.pid);
	}
}

/* A and B in each other's calls, six deep. */
static void handle_bounce(struct bt *t, const struct binder_transaction_data *tr,
			  struct msg *reply)
{
	struct server *s = t->priv;
	uint32_t n = tr_u32(tr, 0);
	struct binder_transaction_data inner;
	struct msg m;

	if (!n) {
		test_post(&s->shared->held);
		test_await(&s->shared->go, 1);
		return;
	}
	msg_init(&m);
	msg_u32(&m, n - 1);
	if (bt_call(t, registry_get(t, 3 - s->id), CODE_OWN, 0, &m, &inner) == BR_REPLY)
		bt_free(t, inner.data.ptr.buffer);
}

static void test_mutual_calls_one_side_killed_other_unwinds(void)
{
	for (int victim = 0; victim < 2; victim++) {
		struct server_shared *shared = test_share(sizeof(*shared));
		struct server m = { .threads = 2 };
		struct server s[2] = { { .id = 1, .own = handle_bounce, .shared = shared },
				       { .id = 2, .own = handle_bounce, .shared = shared } };
		struct caller *ca = call_start(1, CODE_OWN);

		server_start(&m);
		server_start(&s[0]);
		server_start(&s[1]);
		ca->then = 6;
		call_run(ca);
		test_await(&shared->held, 1);
		server_stop(&s[victim]);
		test_post(&shared->go);
		test_join(ca->pid);
		CHECK_EQ((uint32_t)atomic_load(&ca->got), victim ? BR_REPLY : BR_DEAD_REPLY);
		if (victim)
			ping(1);
		server_stop(&s[1 - victim]);
		server_stop(&m);
	}
}

static void test_oneway_backlog_receiver_killed_senders_go_on(void)
{
	struct server s = { .map_size = 1 << 20 };
	struct caller *holder = call_start(0, CODE_HOLD);
	struct client *c = client_open();

	server_start(&s);
	call_run(holder);
	test_await(&s.shared->held, 1);
	for (int i = 0; i < 500; i++)
		CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, TF_ONE_WAY, NULL, NULL),
			 BR_TRANSACTION_COMPLETE);
	server_stop(&s);
	call_expect(holder, BR_DEAD_REPLY);
	CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, TF_ONE_WAY, NULL, NULL), BR_DEAD_REPLY);
}

static void oneway_sender(void *arg)
{
	struct client *c = client_open();

	for (;;)
		bt_call(&c->t, 0, CODE_NULL, TF_ONE_WAY, NULL, NULL);
}

static void test_oneway_sender_killed_receiver_goes_on(void)
{
	struct server s = { 0 };

	server_start(&s);
	for (int i = 0; i < 5; i++) {
		int served = atomic_load(&s.shared->served);
		pid_t pid = test_spawn(oneway_sender, NULL);

		test_await(&s.shared->served, served + 50);
		test_kill(pid);
	}
	ping(0);
}

/* Asks for death notifications and then never reads. */
static void mourner(void *arg)
{
	struct client *c = client_open();
	uint32_t h = registry_get(&c->t, 1);

	bt_death(&c->t, BC_REQUEST_DEATH_NOTIFICATION, h, 0x1);
	bt_ref(&c->t, BC_ACQUIRE, 0);
	bt_death(&c->t, BC_REQUEST_DEATH_NOTIFICATION, 0, 0x2);
	bt_flush(&c->t);
	test_post(arg);
	pause();
}

static void test_death_pending_listener_killed(void)
{
	for (int order = 0; order < 2; order++) {
		atomic_int *ready = test_share(sizeof(*ready));
		struct server m = { 0 }, s = { .id = 1 };
		pid_t pid;

		server_start(&m);
		server_start(&s);
		pid = test_spawn(mourner, ready);
		test_await(ready, 1);
		if (order)
			test_kill(pid);
		server_stop(&s);
		server_stop(&m);
		if (!order)
			test_kill(pid);
	}
}

/* Gives away objects and never answers BR_INCREFS and BR_ACQUIRE. */
static void silent_owner(void *arg)
{
	struct client *c = client_open();
	struct bt_ret ret;
	struct msg m;

	for (uint32_t i = 1; i < 5; i++) {
		msg_init(&m);
		msg_u32(&m, i);
		msg_u32(&m, 0);
		msg_binder(&m, 0x100 * i, i);
		bt_send(&c->t, BC_TRANSACTION, 0, CODE_PUT, 0, &m);
		do
			bt_wait(&c->t, &ret);
		while (ret.cmd != BR_REPLY);
	}
	test_post(arg);
	pause();
}

static void test_owner_killed_with_references_unanswered(void)
{
	struct server m = { 0 };

	server_start(&m);
	for (int i = 0; i < 3; i++) {
		atomic_int *ready = test_share(sizeof(*ready));
		pid_t pid = test_spawn(silent_owner, ready);
		struct client *c;

		test_await(ready, 1);
		c = client_open();
		test_kill(pid);
		for (uint32_t id = 1; id < 5; id++)
			CHECK_EQ(bt_call(&c->t, registry_get(&c->t, id), 1, 0, NULL, NULL),
				 BR_DEAD_REPLY);
		bc_close(&c->b);
	}
}

/* The holder of the references goes, with the owner silent. */
static void test_holder_killed_with_references_unanswered(void)
{
	atomic_int *ready = test_share(sizeof(*ready));
	struct server m = { 0 };
	pid_t pid;

	server_start(&m);
	pid = test_spawn(silent_owner, ready);
	test_await(ready, 1);
	server_stop(&m);
	test_kill(pid);
}

/* Replies received and not freed, and one not even read. */
static void hoarder(void *arg)
{
	struct client *c = client_open();
	uint8_t data[1000] = { 1 };
	struct msg m;

	msg_init(&m);
	msg_ext(&m, data, sizeof(data));
	for (int i = 0; i < 20; i++)
		CHECK_EQ(bt_call(&c->t, 0, CODE_ECHO, 0, &m, NULL), BR_REPLY);
	bt_send(&c->t, BC_TRANSACTION, 0, CODE_ECHO, 0, &m);
	bt_flush(&c->t);
	test_post(arg);
	pause();
}

static void test_client_killed_with_replies_unread_and_unfreed(void)
{
	struct server s = { 0 };

	server_start(&s);
	for (int i = 1; i < 5; i++) {
		atomic_int *ready = test_share(sizeof(*ready));
		pid_t pid = test_spawn(hoarder, ready);

		test_await(ready, 1);
		test_await(&s.shared->served, i * 21);
		test_kill(pid);
	}
	ping(0);
}

struct crowd {
	struct bc b;
	atomic_int blocked[8];
};

static struct crowd *crowd;

static void *crowd_thread(void *arg)
{
	struct bt *t = calloc(1, sizeof(*t));
	int i = (uintptr_t)arg;

	bt_init(t, &crowd->b);
	if (i % 2) {
		bt_enter(t);
		test_set(&crowd->blocked[i], test_gettid());
		bt_ioctl(t, true);
	}
	test_set(&crowd->blocked[i], test_gettid());
	bt_call(t, 0, CODE_HOLD, 0, NULL, NULL);
	return NULL;
}

static void crowd_main(void *arg)
{
	bc_open(&crowd->b, 0);
	for (uintptr_t i = 0; i < 8; i++)
		test_thread(crowd_thread, (void *)i);
	pause();
}

/* Some of its threads wait for calls, some for replies. */
static void test_process_with_many_waiting_threads_killed(void)
{
	struct server s = { .threads = 1 };

	server_start(&s);
	for (int round = 0; round < 4; round++) {
		pid_t pid;

		crowd = test_share(sizeof(*crowd));
		atomic_store(&s.shared->go, 0);
		pid = test_spawn(crowd_main, NULL);
		for (int i = 0; i < 8; i++) {
			test_await(&crowd->blocked[i], 1);
			test_await_blocked(crowd->blocked[i]);
		}
		test_kill(pid);
		test_post(&s.shared->go);
		ping(0);
	}
}

static void poller(void *arg)
{
	atomic_int *tid = arg;
	struct client *c = client_open();
	struct pollfd pfd = { c->b.fd, POLLIN, 0 };

	bt_enter(&c->t);
	test_set(tid, test_gettid());
	poll(&pfd, 1, -1);
	FAIL("poll returned");
}

static void test_process_in_poll_killed(void)
{
	for (int i = 0; i < 3; i++) {
		atomic_int *tid = test_share(sizeof(*tid));
		pid_t pid = test_spawn(poller, tid);

		test_await(tid, 1);
		while (test_state(pid) != 'S')
			test_sleep_ms(1);
		test_kill(pid);
	}
}

/* Payloads large enough that a kill often hits the copy. */
static void large_caller(void *arg)
{
	struct client *c = client_open();
	uint8_t *data = calloc(1, 700 * 1024);
	struct msg m;

	msg_init(&m);
	msg_ext(&m, data, 700 * 1024);
	for (;;)
		bt_call(&c->t, 0, CODE_NULL, 0, &m, NULL);
}

static void test_clients_killed_in_the_middle_of_large_copies(void)
{
	struct server s = { .threads = 1, .map_size = 2 << 20 };
	unsigned int seed = 77;

	server_start(&s);
	for (int i = 0; i < 25; i++) {
		pid_t pid = test_spawn(large_caller, NULL);

		test_sleep_ms(1 + rand_r(&seed) % 20);
		test_kill(pid);
	}
	ping(0);
}

static void ask_for_death(struct bt *t, const struct binder_transaction_data *reply,
			  uint64_t cookie)
{
	if (reply->offsets_size && tr_object(reply, 0)->hdr.type == BINDER_TYPE_HANDLE) {
		bt_ref(t, BC_ACQUIRE, tr_object(reply, 0)->handle);
		bt_death(t, BC_REQUEST_DEATH_NOTIFICATION, tr_object(reply, 0)->handle, cookie);
	}
	bt_free(t, reply->data.ptr.buffer);
}

/*
 * Everything at once, killed at random times. The kernel's own driver (seen on
 * 6.1 and 7.2) leaves a few nodes behind here.
 */
static void random_client(void *arg)
{
	unsigned int seed = (uintptr_t)arg;
	struct client *c = client_open();
	uint8_t data[3000] = { 2 };

	for (;;) {
		struct binder_transaction_data reply;
		struct msg m;

		msg_init(&m);
		switch (rand_r(&seed) % 6) {
		case 0:
			msg_ext(&m, data, rand_r(&seed) % sizeof(data));
			bt_call(&c->t, 0, CODE_NULL, TF_ONE_WAY, &m, NULL);
			break;
		case 1:
			msg_u32(&m, 10 + rand_r(&seed) % 20);
			msg_u32(&m, 0);
			msg_binder(&m, 0x1000 + rand_r(&seed) % 9 * 8, 0);
			if (bt_call(&c->t, 0, CODE_PUT, 0, &m, &reply) == BR_REPLY)
				bt_free(&c->t, reply.data.ptr.buffer);
			break;
		case 2:
			msg_u32(&m, 10 + rand_r(&seed) % 20);
			if (bt_call(&c->t, 0, CODE_GET, 0, &m, &reply) == BR_REPLY)
				ask_for_death(&c->t, &reply, rand_r(&seed));
			break;
		case 3:
			msg_u32(&m, 1 + rand_r(&seed) % 2);
			msg_u32(&m, CODE_NULL);
			if (bt_call(&c->t, 0, CODE_CALL, 0, &m, &reply) == BR_REPLY)
				bt_free(&c->t, reply.data.ptr.buffer);
			break;
		default:
			msg_ext(&m, data, rand_r(&seed) % sizeof(data));
			if (bt_call(&c->t, 0, CODE_ECHO, 0, &m, &reply) == BR_REPLY)
				bt_free(&c->t, reply.data.ptr.buffer);
		}
	}
}

static void kill_storm(unsigned int seed, int kills)
{
	struct server m = { .threads = 3, .map_size = 1 << 20 };
	struct server s[2] = { { .id = 1, .threads = 1 }, { .id = 2 } };
	pid_t pids[6];

	server_start(&m);
	server_start(&s[0]);
	server_start(&s[1]);
	for (int i = 0; i < 6; i++)
		pids[i] = test_spawn(random_client, (void *)(uintptr_t)(seed + i));
	for (int k = 0; k < kills; k++) {
		int who = rand_r(&seed) % 8;

		test_sleep_ms(rand_r(&seed) % 12);
		if (who < 6) {
			test_kill(pids[who]);
			pids[who] = test_spawn(random_client, (void *)(uintptr_t)(seed + k));
		} else {
			server_stop(&s[who - 6]);
			server_start(&s[who - 6]);
		}
	}
	ping(0);
	/* and the manager first of all the rest */
	server_stop(&m);
}

static void test_random_kills_short(void)
{
	kill_storm(1234, 40);
}

static void test_random_kills_long(void)
{
	for (unsigned int round = 0; round < 6; round++)
		kill_storm(9000 + round * 17, 120);
}

static const struct test_case cases[] = {
	QUICK(test_client_killed_waiting_for_reply_server_goes_on),
	QUICK(test_client_killed_before_server_reads_server_goes_on),
	QUICK(test_server_killed_idle_callers_get_dead),
	QUICK(test_server_killed_in_a_call_caller_gets_dead),
	QUICK(test_server_killed_with_calls_queued_all_get_dead),
	QUICK(test_server_killed_with_a_busy_pool_all_get_dead),
	QUICK(test_chain_outermost_killed_others_go_on),
	QUICK(test_chain_middle_killed_outermost_gets_dead),
	QUICK(test_chain_innermost_killed_middle_gets_dead_and_answers),
	QUICK(test_chain_all_killed_at_once),
	QUICK(test_mutual_calls_one_side_killed_other_unwinds),
	QUICK(test_oneway_backlog_receiver_killed_senders_go_on),
	QUICK(test_oneway_sender_killed_receiver_goes_on),
	QUICK(test_death_pending_listener_killed),
	QUICK(test_owner_killed_with_references_unanswered),
	QUICK(test_holder_killed_with_references_unanswered),
	QUICK(test_client_killed_with_replies_unread_and_unfreed),
	QUICK(test_process_with_many_waiting_threads_killed),
	QUICK(test_process_in_poll_killed),
	CASE(test_clients_killed_in_the_middle_of_large_copies),
	CASE(test_random_kills_short),
	CASE_FLAGS(test_random_kills_long, TEST_LONG),
};

TEST_MAIN(cases)
