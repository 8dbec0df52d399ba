// SPDX-License-Identifier: GPL-2.0-only
/* Threads: loopers and spawning, waiting, interrupts, flush and poll. */
#include "core_test.h"

#include "core/proc.h"
#include "core/thread.h"

static struct sim_proc *server_proc, *client_proc;
static struct sim_thread *server, *client;

static void start(void)
{
	server_proc = open_proc(100);
	client_proc = open_proc(200);
	server = manager_of(server_proc, 101);
	client = thread_of(client_proc, 201);
}

static void set_max_threads(struct sim_thread *thread, u32 max)
{
	EXPECT_EQ(sim_ioctl(thread, BINDER_SET_MAX_THREADS, &max), 0);
}

static u32 first_word(struct sim_thread *thread)
{
	u32 word;

	EXPECT(thread->bwr.read_consumed >= sizeof(word));
	memcpy(&word, thread->in, sizeof(word));
	return word;
}

static u32 looper_bits(struct sim_thread *thread)
{
	struct rb_node *n;

	for (n = rb_first(&thread->proc->proc->threads); n; n = rb_next(n)) {
		struct binder_thread *record = rb_entry(n, struct binder_thread, rb_node);

		if (record->tid == thread->tid)
			return record->looper;
	}
	return ~0u;
}

static void send_oneway(const char *text)
{
	put_call(client, 0, TF_ONE_WAY, text);
	submit(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
}

static void test_thread_first_read_does_not_wait(void)
{
	struct sim_thread *fresh;

	start();
	fresh = sim_thread(server_proc, 150);
	submit(fresh);
	EXPECT_EQ(fresh->bwr.read_consumed, 4);
	EXPECT_EQ(first_word(fresh), BR_NOOP);
	submit_waits(fresh);
}

static void test_looper_bits(void)
{
	struct sim_thread *a, *b;

	start();
	EXPECT_EQ(looper_bits(server), BINDER_LOOPER_ENTERED);
	submit_waits(server);
	EXPECT_EQ(looper_bits(server), BINDER_LOOPER_ENTERED | BINDER_LOOPER_WAITING);
	EXPECT(sim_interrupt(server));
	sim_put(server, BC_EXIT_LOOPER, NULL);
	send(server);
	EXPECT_EQ(looper_bits(server), BINDER_LOOPER_ENTERED | BINDER_LOOPER_EXITED);
	/* Entered twice is no error. */
	sim_put(server, BC_ENTER_LOOPER, NULL);
	send(server);
	EXPECT(!logged());

	a = thread_of(server_proc, 110);
	sim_put(a, BC_REGISTER_LOOPER, NULL);
	send(a);
	EXPECT_EQ(looper_bits(a), BINDER_LOOPER_REGISTERED | BINDER_LOOPER_INVALID);
	EXPECT(logged());
	sim_put(a, BC_ENTER_LOOPER, NULL);
	send(a);
	EXPECT(logged());
	b = looper_of(server_proc, 111);
	sim_put(b, BC_REGISTER_LOOPER, NULL);
	send(b);
	EXPECT(looper_bits(b) & BINDER_LOOPER_INVALID);
	EXPECT(logged());
	/* It keeps working. */
	submit_waits(b);
	send_oneway("x");
	sim_run();
	take_text(b, BR_TRANSACTION, "x", NULL);
}

static void test_spawn_is_asked_when_nobody_waits(void)
{
	struct sim_thread *second, *third;

	start();
	set_max_threads(server, 2);
	send_oneway("1");
	submit(server);
	EXPECT_EQ(first_word(server), BR_SPAWN_LOOPER);
	take(server, BR_SPAWN_LOOPER, NULL);
	take_text(server, BR_TRANSACTION, "1", NULL);
	/* One request at a time. */
	send_oneway("2");
	submit(server);
	EXPECT_EQ(first_word(server), BR_NOOP);
	take_text(server, BR_TRANSACTION, "2", NULL);

	second = thread_of(server_proc, 102);
	sim_put(second, BC_REGISTER_LOOPER, NULL);
	send(second);
	EXPECT_EQ(looper_bits(second), BINDER_LOOPER_REGISTERED);
	/* Now it could ask again, but one waits. */
	submit_waits(second);
	put_call(server, 1, 0, "fails");
	submit(server);
	EXPECT_EQ(first_word(server), BR_NOOP);
	EXPECT(sim_interrupt(second));
	logged();
	send_oneway("3");
	submit(second);
	EXPECT_EQ(first_word(second), BR_SPAWN_LOOPER);
	take(second, BR_SPAWN_LOOPER, NULL);
	take_text(second, BR_TRANSACTION, "3", NULL);
	third = thread_of(server_proc, 103);
	sim_put(third, BC_REGISTER_LOOPER, NULL);
	send(third);
	/* Two were started, and that is the limit. */
	send_oneway("4");
	submit(third);
	EXPECT_EQ(first_word(third), BR_NOOP);
	EXPECT(!logged());
	EXPECT_EQ(server_proc->proc->requested_threads_started, 2);
}

static void test_spawn_is_not_asked(void)
{
	struct sim_thread *plain, *second;
	struct binder_write_read later = { .read_size = SIM_STREAM_SIZE, .read_consumed = 4 };

	start();
	/* No limit was set. */
	send_oneway("1");
	submit(server);
	EXPECT_EQ(first_word(server), BR_NOOP);
	take_text(server, BR_TRANSACTION, "1", NULL);
	set_max_threads(server, ~0u);
	/* Another waits. */
	second = looper_of(server_proc, 102);
	submit_waits(second);
	submit_waits(server);
	send_oneway("2");
	sim_run();
	EXPECT_EQ(first_word(server), BR_NOOP);
	take_text(server, BR_TRANSACTION, "2", NULL);
	EXPECT(sim_interrupt(second));
	/* The reader is no looper. */
	plain = thread_of(server_proc, 103);
	send_oneway("3");
	submit(plain);
	EXPECT_EQ(first_word(plain), BR_NOOP);
	take_text(plain, BR_TRANSACTION, "3", NULL);
	/* There is no first word to put it in. */
	send_oneway("4");
	later.read_buffer = (uintptr_t)server->in;
	EXPECT_EQ(sim_write_read(server, &later, false), 0);
	server->next_pos = 4;
	take_text(server, BR_TRANSACTION, "4", NULL);
	send_oneway("5");
	submit(server);
	EXPECT_EQ(first_word(server), BR_SPAWN_LOOPER);
}

static void test_read_without_waiting(void)
{
	start();
	fetch_nothing(server);
	send_oneway("x");
	fetch(server);
	take_text(server, BR_TRANSACTION, "x", NULL);
	fetch_nothing(server);
}

static void test_interrupt_claims_a_wait_once(void)
{
	struct binder_thread *record;

	start();
	EXPECT(!sim_interrupt(server));
	submit_waits(server);
	record = server->record;
	EXPECT(sim_interrupt(server));
	EXPECT_EQ(server->ret, -EINTR);
	EXPECT(!binder_thread_unpark(record));
	EXPECT(!sim_interrupt(server));
	/* What comes meanwhile waits for the next read. */
	send_oneway("x");
	EXPECT_EQ(sim_run(), 0);
	submit(server);
	take_text(server, BR_TRANSACTION, "x", NULL);
}

static void test_interrupt_loses_against_a_wake(void)
{
	start();
	submit_waits(server);
	send_oneway("x");
	/* Woken, and not run yet. */
	EXPECT(!sim_interrupt(server));
	EXPECT(server->parked);
	EXPECT_EQ(sim_run(), 1);
	EXPECT_EQ(server->ret, 0);
	take_text(server, BR_TRANSACTION, "x", NULL);
}

/* The host refuses to read for a thread that was woken for work of the process. */
static void test_decline_leaves_the_work_to_another(void)
{
	struct binder_proc *proc;
	struct sim_thread *other;
	struct binder_work *work;

	start();
	other = looper_of(server->proc, 150);
	proc = server->proc->proc;
	submit_waits(server);
	submit_waits(other);
	work = binder_work_complete_new();
	EXPECT(work);
	spin_lock(&proc->lock);
	binder_proc_queue_locked(proc, work);
	spin_unlock(&proc->lock);
	EXPECT_EQ(other->record->park, BINDER_READY);
	EXPECT_EQ(server->record->park, BINDER_PARKED);
	binder_thread_decline(other->record);
	EXPECT_EQ(server->record->park, BINDER_READY);
	/* It is there to be read for all the same. */
	EXPECT_EQ(sim_run(), 1);
}

static void test_interrupt_of_a_caller_keeps_its_call(void)
{
	struct binder_transaction_data tr;

	start();
	put_call(client, 0, 0, "question");
	submit_waits(client);
	EXPECT(sim_interrupt(client));
	fetch_nothing(client);
	fetch(server);
	take_text(server, BR_TRANSACTION, "question", &tr);
	put_u64(server, BC_FREE_BUFFER, tr.data.ptr.buffer);
	put_reply(server, 0, "answer");
	submit(server);
	submit(client);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_text(client, BR_REPLY, "answer", NULL);
}

static void test_woken_thread_that_finds_nothing_waits_on(void)
{
	struct binder_transaction_data tr;
	struct sim_thread *second;

	start();
	second = looper_of(server_proc, 102);
	send_oneway("1");
	send_oneway("2");
	fetch(second);
	take_text(second, BR_TRANSACTION, "1", &tr);
	submit_waits(server);
	/* This wakes it, but somebody else is faster. */
	free_buffer(second, &tr);
	fetch(second);
	take_text(second, BR_TRANSACTION, "2", NULL);
	EXPECT_EQ(sim_run(), 0);
	EXPECT(server->parked);
	/* It waits in the list again. */
	put_call(client, 0, 0, "y");
	submit_waits(client);
	EXPECT_EQ(sim_run(), 1);
	take_text(server, BR_TRANSACTION, "y", NULL);
}

/* Woken for the work of the process, it has no room for it: somebody else must see to it. */
static void test_woken_thread_that_has_no_room_wakes_another(void)
{
	struct binder_write_read small = { .read_size = 8 };
	struct binder_transaction_data tr;
	struct sim_thread *second, *third;

	start();
	second = looper_of(server_proc, 102);
	third = looper_of(server_proc, 103);
	send_oneway("1");
	send_oneway("2");
	fetch(third);
	take_text(third, BR_TRANSACTION, "1", &tr);
	submit_waits(second);
	small.read_buffer = (uintptr_t)server->in;
	EXPECT_EQ(sim_write_read(server, &small, false), BINDER_PARK);
	free_buffer(third, &tr);
	EXPECT_EQ(sim_run(), 2);
	EXPECT_EQ(server->bwr.read_consumed, 4);
	take_text(second, BR_TRANSACTION, "2", NULL);
}

static void test_flush_ends_every_wait(void)
{
	struct sim_thread *second;

	start();
	second = looper_of(server_proc, 102);
	submit_waits(second);
	put_call(client, 0, 0, "x");
	submit_waits(client);
	EXPECT_EQ(sim_run(), 1);
	submit_waits(second);
	binder_proc_flush(server_proc->proc);
	binder_proc_flush(client_proc->proc);
	EXPECT_EQ(sim_run(), 2);
	EXPECT_EQ(first_word(second), BR_NOOP);
	take_end(second);
	take(client, BR_TRANSACTION_COMPLETE, NULL);
	take_end(client);
	/* Who did not wait returns at once, once. */
	submit(server);
	take_end(server);
	submit_waits(server);
}

static void test_poll_tells_of_work(void)
{
	struct binder_transaction_data tr;
	unsigned int wakes;

	start();
	EXPECT(!sim_poll(server));
	wakes = server_proc->poll_wakes;
	send_oneway("x");
	EXPECT(server_proc->poll_wakes > wakes);
	EXPECT(sim_poll(server));
	fetch(server);
	take_text(server, BR_TRANSACTION, "x", &tr);
	EXPECT(!sim_poll(server));
	/* Its own doing, too. */
	wakes = server_proc->poll_wakes;
	put_reply(server, 0, "to whom?");
	send(server);
	EXPECT(server_proc->poll_wakes > wakes);
	EXPECT(sim_poll(server));
	fetch(server);
	take(server, BR_FAILED_REPLY, NULL);
	/* A new record reads at once. */
	EXPECT(sim_poll(sim_thread(server_proc, 150)));
}

static void test_poll_in_a_call_sees_no_work_of_the_process(void)
{
	struct sim_thread *second, *other;
	struct binder_transaction_data tr;

	start();
	other = thread_of(client_proc, 202);
	EXPECT(!sim_poll(server));
	call_taken(client, 0, server, "question", &tr);
	put_call(other, 0, TF_ONE_WAY, "x");
	send(other);
	EXPECT(!sim_poll(server));
	second = looper_of(server_proc, 102);
	EXPECT(sim_poll(second));
	answer(server, &tr, client, "answer");
	EXPECT(sim_poll(server));
}

static void test_poll_is_woken_by_exit_and_flush(void)
{
	unsigned int wakes;

	start();
	EXPECT(!sim_poll(server));
	wakes = server_proc->poll_wakes;
	thread_exit(server);
	EXPECT(server_proc->poll_wakes > wakes);
	wakes = server_proc->poll_wakes;
	binder_proc_flush(server_proc->proc);
	EXPECT(server_proc->poll_wakes > wakes);
	EXPECT(sim_poll(server));
}

static const struct core_case cases[] = {
	CASE(test_thread_first_read_does_not_wait),
	CASE(test_looper_bits),
	CASE(test_spawn_is_asked_when_nobody_waits),
	CASE(test_spawn_is_not_asked),
	CASE(test_read_without_waiting),
	CASE(test_interrupt_claims_a_wait_once),
	CASE(test_interrupt_loses_against_a_wake),
	CASE_PLAIN(test_decline_leaves_the_work_to_another),
	CASE(test_interrupt_of_a_caller_keeps_its_call),
	CASE(test_woken_thread_that_finds_nothing_waits_on),
	CASE(test_woken_thread_that_has_no_room_wakes_another),
	CASE(test_flush_ends_every_wait),
	CASE(test_poll_tells_of_work),
	CASE(test_poll_in_a_call_sees_no_work_of_the_process),
	CASE(test_poll_is_woken_by_exit_and_flush),
};

GROUP(looper);
