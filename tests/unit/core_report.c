// SPDX-License-Identifier: GPL-2.0-only
/* What binder_logs say of a world with one of everything in it. */
#include "core_test.h"

#include "core/log.h"
#include "core/proc.h"
#include "core/report.h"
#include "core/text.h"

static struct sim_proc *server_proc, *client_proc;
static struct sim_thread *server, *client;

static char buf[64 * 1024];
static struct binder_text text;

static void begin(void)
{
	binder_text_init(&text, buf, sizeof(buf));
}

#define EXPECT_SAYS(words) \
	core_expect(strstr(buf, words) != NULL, __FILE__, __LINE__, "the report says " words)

/* Calls in every state, a dead owner, a death notice and an error. */
static void start(void)
{
	struct binder_transaction_data tr;
	struct sim_thread *owner, *second;
	u32 handle;

	server_proc = open_proc(100);
	client_proc = open_proc(200);
	server = manager_of(server_proc, 101);
	client = thread_of(client_proc, 201);
	owner = thread_of(open_proc(300), 301);
	handle = pass(server, give(owner, server, 0x10), client);
	put_death(client, BC_REQUEST_DEATH_NOTIFICATION, handle, 0x77);
	send(client);
	sim_kill(owner->proc);
	put_call(client, 0, TF_ONE_WAY, "1");
	put_call(client, 0, TF_ONE_WAY, "22222222");
	submit(client);
	fetch(server);
	take(server, BR_TRANSACTION, &tr);
	call_taken(client, 0, server, "question", &tr);
	second = thread_of(client_proc, 202);
	put_call(second, 0, 0, "unread");
	submit_waits(second);
	EXPECT(sim_interrupt(second));
	put_call(second, 99, TF_ONE_WAY, "fails");
	send(second);
}

static void test_report_state(void)
{
	start();
	begin();
	binder_report_state(&text);
	EXPECT_SAYS("binder state:\nproc 100\ncontext binder\n  thread 101: l 02 need_return 0");
	EXPECT_SAYS("incoming transaction");
	EXPECT_SAYS("outgoing transaction");
	EXPECT_SAYS("from 200:201 to 100:101 code 2a flags 0 pri 0:0 r1 elapsed ");
	EXPECT_SAYS("pending transaction");
	EXPECT_SAYS("pending async transaction");
	EXPECT_SAYS("transaction complete");
	EXPECT_SAYS("transaction error");
	EXPECT_SAYS("has dead binder");
	EXPECT_SAYS("desc 1 dead node");
	EXPECT_SAYS("  buffer ");
	EXPECT(!text.truncated);
	begin();
	binder_report_proc(&text, 200);
	EXPECT_SAYS("proc 200");
	EXPECT(!strstr(buf, "proc 100\n"));
	begin();
	binder_report_transactions(&text);
	EXPECT_SAYS("binder transactions:");
	EXPECT_SAYS("pending transaction");
}

static void test_report_stats(void)
{
	start();
	begin();
	binder_report_stats(&text);
	EXPECT_SAYS("BC_TRANSACTION: ");
	EXPECT_SAYS("BR_NOOP: ");
	EXPECT_SAYS("proc: active 3 total ");
	EXPECT_SAYS("  requested threads: 0+0/0\n");
	EXPECT_SAYS("  pending transactions: 1\n");
	EXPECT_SAYS("  free async space ");
}

static void test_report_logs(void)
{
	start();
	begin();
	binder_report_log(&text, &binder_log_failed);
	EXPECT_SAYS("async from 200:202 to 0:0 context binder node 0 handle 99 size 8:0 ret ");
	EXPECT_SAYS("/-22 l=");
	EXPECT_SAYS("the sender holds no such handle\n");
	begin();
	binder_report_log(&text, &binder_log_all);
	EXPECT_SAYS("call from 200:201 to 100:0 context binder node ");
	EXPECT_SAYS("reply from 100:101 to 200:201 context binder node ");
}

/* What stands in queues of every kind. */
static void test_report_queues(void)
{
	struct parcel parcel = {};
	struct sim_thread *owner, *waiter;
	u32 handle;

	server_proc = open_proc(100);
	server = manager_of(server_proc, 101);
	client = thread_of(open_proc(200), 201);
	owner = thread_of(open_proc(400), 401);
	handle = pass(server, give(owner, server, 0x40), client);
	put_death(client, BC_REQUEST_DEATH_NOTIFICATION, handle, 0x88);
	PARCEL_BINDER(&parcel, 0x50);
	put_parcel(client, 0, TF_ONE_WAY, &parcel);
	send(client);
	begin();
	binder_report_proc(&text, 200);
	EXPECT_SAYS("    node work ");
	sim_kill(owner->proc);
	begin();
	binder_report_proc(&text, 200);
	EXPECT_SAYS("  has dead binder\n");
	put_death(client, BC_CLEAR_DEATH_NOTIFICATION, handle, 0x88);
	send(client);
	begin();
	binder_report_proc(&text, 200);
	EXPECT_SAYS("  has cleared dead binder\n");
	/* After what is the thread's own. */
	fetch(client);
	fetch(client);
	begin();
	binder_report_proc(&text, 200);
	EXPECT_SAYS("  has delivered dead binder\n");
	command(client, BC_DEAD_BINDER_DONE, 0x88);
	begin();
	binder_report_proc(&text, 200);
	EXPECT_SAYS("  has cleared death notification\n");
	waiter = looper_of(server_proc, 105);
	fetch(waiter);
	submit_waits(waiter);
	begin();
	binder_report_stats(&text);
	EXPECT_SAYS("  ready threads 1\n");
	begin();
	binder_report_proc(&text, 200);
	EXPECT_SAYS(" hs 1 hw 1 ls 1 lw 1 is 1 iw 1 tr 0 proc 100\n");
}

/* However little room there is. */
static void test_report_into_small_texts(void)
{
	size_t whole;

	start();
	begin();
	binder_report_state(&text);
	whole = text.len;
	EXPECT(!text.truncated);
	for (size_t size = 1; size <= whole + 1; size++) {
		memset(buf, '#', sizeof(buf));
		binder_text_init(&text, buf, size);
		binder_report_state(&text);
		EXPECT(text.truncated && strlen(buf) == size - 1 && buf[size] == '#');
		binder_text_init(&text, buf, size);
		binder_report_transactions(&text);
		EXPECT(strlen(buf) < size && buf[size] == '#');
	}
}

static const struct core_case cases[] = {
	CASE(test_report_state),
	CASE(test_report_stats),
	CASE(test_report_logs),
	CASE(test_report_queues),
	CASE(test_report_into_small_texts),
};

GROUP(report);
