// SPDX-License-Identifier: MIT
/* What binder_logs show, as parsers of those files expect it. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *must_read(const char *name)
{
	char *text;

	need_logs();
	text = driver_read(name);
	if (!text && !driver_is_own())
		test_skip("the driver has no file %s", name);
	if (!text)
		FAIL("cannot read %s", name);
	return text;
}

/* The part of a file about one process: from "proc PID" to the next. */
static char *proc_part(const char *file, pid_t pid)
{
	char *text = must_read(file), head[32], *from, *to;

	snprintf(head, sizeof(head), "\nproc %d\n", pid);
	from = strstr(text, head);
	if (!from)
		FAIL("%s has nothing of process %d:\n%s", file, pid, text);
	from++;
	to = strstr(from, "\nproc ");
	if (to)
		to[1] = '\0';
	return from;
}

/* A line that @fmt matches with @want conversions, "%n" not counted. */
#define EXPECT_LINE(text, want, fmt, ...)                                              \
	do {                                                                           \
		char *copy_ = strdup(text), *rest_ = copy_, *line_;                    \
		bool found_ = false;                                                   \
		while (!found_ && (line_ = strsep(&rest_, "\n")))                      \
			found_ = sscanf(line_, fmt, __VA_ARGS__) == (want);            \
		free(copy_);                                                           \
		if (!found_)                                                           \
			FAIL("no line like \"%s\" in:\n%s", fmt, text);                \
	} while (0)

static void test_stats_count_commands_and_objects(void)
{
	struct pair *p = pair_open();
	char *text;
	int n, m;
	struct bt_ret ret;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	reply_to(&p->s, &ret, 0, NULL);
	take_reply(&p->c);
	text = must_read("stats");
	EXPECT_LINE(text, 1, "BC_TRANSACTION: %d", &n);
	CHECK_GE(n, 1);
	EXPECT_LINE(text, 1, "BC_REPLY: %d", &n);
	EXPECT_LINE(text, 1, "BC_FREE_BUFFER: %d", &n);
	EXPECT_LINE(text, 1, "BR_TRANSACTION: %d", &n);
	EXPECT_LINE(text, 1, "BR_REPLY: %d", &n);
	EXPECT_LINE(text, 1, "BR_TRANSACTION_COMPLETE: %d", &n);
	EXPECT_LINE(text, 2, "proc: active %d total %d", &n, &m);
	CHECK_EQ(n, 3);
	CHECK_GE(m, n);
	EXPECT_LINE(text, 2, "thread: active %d total %d", &n, &m);
	CHECK_GE(n, 3);
	EXPECT_LINE(text, 2, "node: active %d total %d", &n, &m);
	CHECK_GE(n, 2);
	EXPECT_LINE(text, 2, "ref: active %d total %d", &n, &m);
	CHECK_GE(n, 1);
	EXPECT_LINE(text, 2, "transaction: active %d total %d", &n, &m);
	EXPECT_LINE(text, 2, "transaction_complete: active %d total %d", &n, &m);
	pair_close(p);
}

static void test_stats_of_a_process_are_complete(void)
{
	struct pair *p = pair_open();
	struct server s = { .id = 9, .map_size = 65536, .threads = 2 };
	char context[64], *text;
	int a, b, c;

	server_start(&s);
	test_await_blocked(s.pid);
	text = proc_part("stats", s.pid);
	EXPECT_LINE(text, 1, "context %63s", context);
	CHECK(!strcmp(context, "binder"));
	EXPECT_LINE(text, 1, " threads: %d", &a);
	CHECK_EQ(a, 3);
	EXPECT_LINE(text, 3, " requested threads: %d+%d/%d", &a, &b, &c);
	CHECK_EQ(a, 0);
	CHECK_EQ(b, 0);
	CHECK_EQ(c, 0);
	EXPECT_LINE(text, 1, " ready threads %d", &a);
	EXPECT_LINE(text, 1, " free async space %d", &a);
	CHECK_EQ(a, 32768);
	EXPECT_LINE(text, 1, " nodes: %d", &a);
	CHECK_EQ(a, 1);
	EXPECT_LINE(text, 3, " refs: %d s %d w %d", &a, &b, &c);
	EXPECT_LINE(text, 1, " buffers: %d", &a);
	CHECK_EQ(a, 0);
	EXPECT_LINE(text, 3, " pages: %d:%d:%d", &a, &b, &c);
	CHECK_EQ(a + b + c, 16);
	EXPECT_LINE(text, 1, " pages high watermark: %d", &a);
	CHECK_GE(a, 1);
	EXPECT_LINE(text, 1, " pending transactions: %d", &a);
	CHECK_EQ(a, 0);
	EXPECT_LINE(text, 1, " BC_ENTER_LOOPER: %d", &a);
	CHECK_EQ(a, 3);
	pair_close(p);
}

/* A call in the hands of a server shows on both sides. */
struct seen_call {
	struct server s;
	struct caller_end {
		atomic_int tid;
		pid_t pid;
	} *c;
};

static void calling(void *arg)
{
	struct caller_end *ce = arg;
	struct client *c = client_open();
	struct msg m;

	msg_init(&m);
	msg_bytes(&m, "0123456789abcdefghij", 20);
	test_set(&ce->tid, test_gettid());
	bt_call(&c->t, 0, CODE_HOLD, 0, &m, NULL);
}

static struct seen_call *seen_call_start(void)
{
	struct seen_call *sc = calloc(1, sizeof(*sc));

	server_start(&sc->s);
	sc->c = test_share(sizeof(*sc->c));
	sc->c->pid = test_spawn(calling, sc->c);
	test_await(&sc->s.shared->held, 1);
	test_await_blocked(sc->c->tid);
	return sc;
}

static void test_state_shows_threads_nodes_and_transactions(void)
{
	struct seen_call *sc = seen_call_start();
	int id, tid, bits, need, fp, ft, tp, tt, code;
	char *text = proc_part("state", sc->s.pid);
	unsigned long long ptr, cookie;

	EXPECT_LINE(text, 2, " thread %d: l %x", &tid, &bits);
	CHECK_EQ(tid, sc->s.pid);
	CHECK_EQ(bits & 2, 2);
	EXPECT_LINE(text, 3, " thread %d: l %x need_return %d", &tid, &bits, &need);
	EXPECT_LINE(text, 3, " node %d: u%llx c%llx", &id, &ptr, &cookie);
	CHECK_EQ(ptr, 0);
	if (!strstr(text, "incoming transaction"))
		FAIL("no incoming transaction in:\n%s", text);
	text = strstr(text, "incoming transaction") + strlen("incoming transaction ");
	CHECK_EQ(sscanf(text, "%d:", &id), 1);
	/* between the two some drivers print an address */
	text = strstr(text, " from ");
	CHECK(text);
	CHECK_EQ(sscanf(text, " from %d:%d to %d:%d code %x", &fp, &ft, &tp, &tt, &code), 5);
	CHECK_EQ(fp, sc->c->pid);
	CHECK_EQ(ft, sc->c->tid);
	CHECK_EQ(tp, sc->s.pid);
	CHECK_EQ(tt, sc->s.pid);
	CHECK_EQ(code, CODE_HOLD);
	text = proc_part("state", sc->c->pid);
	if (!strstr(text, "outgoing transaction"))
		FAIL("no outgoing transaction in:\n%s", text);
}

static void test_state_shows_refs_and_buffers(void)
{
	struct pair *p = pair_open();
	struct server s = { .id = 5 };
	int id, desc, node, strong, weak, size, offs, extra;
	char *text;

	server_start(&s);
	/* the manager holds the object of s */
	text = proc_part("state", p->manager.pid);
	EXPECT_LINE(text, 5, " ref %d: desc %d node %d s %d w %d", &id, &desc, &node, &strong,
		    &weak);
	CHECK_EQ(strong, 1);
	text = proc_part("state", s.pid);
	{
		char needle[64];

		snprintf(needle, sizeof(needle), "node %d: u%016llx", node,
			 (unsigned long long)SERVER_PTR(5));
		if (!strstr(text, needle))
			FAIL("no \"%s\" in:\n%s", needle, text);
	}
	/* a buffer that was received and not freed */
	{
		struct client *c = client_open();
		struct binder_transaction_data reply;
		struct msg m;

		msg_init(&m);
		msg_bytes(&m, "0123456789abcdefghij", 20);
		bt_call_ok(&c->t, registry_get(&c->t, 5), CODE_LEAK, &m, &reply);
	}
	text = proc_part("state", s.pid);
	if (!strstr(text, "delivered"))
		FAIL("no delivered buffer in:\n%s", text);
	text = strstr(text, "size 20:");
	CHECK(text);
	CHECK_EQ(sscanf(text, "size %d:%d:%d", &size, &offs, &extra), 3);
	CHECK_EQ(offs, 0);
	CHECK_EQ(extra, 0);
	pair_close(p);
}

static void test_proc_file_is_the_part_of_state(void)
{
	struct seen_call *sc = seen_call_start();
	char name[32], head[32], *text;

	snprintf(name, sizeof(name), "proc/%d", sc->s.pid);
	text = must_read(name);
	snprintf(head, sizeof(head), "proc %d\n", sc->s.pid);
	if (!strstr(text, head) || !strstr(text, "incoming transaction"))
		FAIL("proc/%d is:\n%s", sc->s.pid, text);
	snprintf(head, sizeof(head), "proc %d\n", sc->c->pid);
	CHECK(!strstr(text, head));
	/* one that never used binder has none, one that ends loses it */
	snprintf(name, sizeof(name), "proc/%d", getppid());
	CHECK(!driver_read(name));
}

/* Two devices open in one process: one file, both in it. */
static void test_proc_file_has_all_contexts(void)
{
	struct client *c = client_open();
	char name[32], *text;
	struct bc b;

	if (bc_try_open(&b, "hwbinder", 0, BC_MAP_SIZE))
		test_skip("no device hwbinder");
	bc_works(&c->b);
	bc_works(&b);
	snprintf(name, sizeof(name), "proc/%d", getpid());
	text = must_read(name);
	if (!strstr(text, "context binder") || !strstr(text, "context hwbinder"))
		FAIL("proc/%d is:\n%s", getpid(), text);
	bc_close(&b);
	text = must_read(name);
	CHECK(strstr(text, "context binder"));
}

static void test_transactions_file_shows_those_in_flight(void)
{
	struct seen_call *sc = seen_call_start();
	char *text = must_read("transactions");
	char needle[64];

	snprintf(needle, sizeof(needle), "from %d:%d to %d:", sc->c->pid, atomic_load(&sc->c->tid),
		 sc->s.pid);
	if (!strstr(text, needle))
		FAIL("no \"%s\" in transactions:\n%s", needle, text);
}

static void test_transaction_log_keeps_the_last_32(void)
{
	struct pair *p = pair_open();
	char *text, kind[16], *line, *rest;
	int id, fp, ft, tp, tt, lines = 0;
	struct bt_ret ret;
	struct msg m;

	for (int i = 0; i < 40; i++) {
		msg_init(&m);
		msg_bytes(&m, "0123456789abcdefghijklm", 23);
		bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, &m);
		bt_flush(&p->c);
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		reply_to(&p->s, &ret, 0, NULL);
		take_reply(&p->c);
	}
	CHECK_EQ(bt_call(&p->c, p->h, 1, TF_ONE_WAY, NULL, NULL), BR_TRANSACTION_COMPLETE);
	text = must_read("transaction_log");
	for (rest = strdup(text); rest && (line = strsep(&rest, "\n"));)
		if (sscanf(line, "%d: %15s from %d:%d to %d:%d", &id, kind, &fp, &ft, &tp, &tt) == 6)
			lines++;
	CHECK_EQ(lines, 32);
	EXPECT_LINE(text, 3, "%d: call from %d:%d", &id, &fp, &ft);
	CHECK_EQ(fp, getpid());
	EXPECT_LINE(text, 3, "%d: reply from %d:%d", &id, &fp, &ft);
	EXPECT_LINE(text, 3, "%d: async from %d:%d", &id, &fp, &ft);
	CHECK(strstr(text, "context binder"));
	CHECK(strstr(text, "size 23:0"));
	pair_close(p);
}

static void test_failed_log_names_the_errno(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	char *text;

	send_to(&p->c, 54321, 1);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	text = must_read("failed_transaction_log");
	if (!strstr(text, "54321") || !strstr(text, "29201/-22"))
		FAIL("no handle 54321 with 29201/-22 in:\n%s", text);
	pair_close(p);
}

static void test_closed_process_is_not_listed(void)
{
	struct server s = { 0 };
	char head[32], *text;

	need_logs();
	server_start(&s);
	proc_part("state", s.pid);
	server_stop(&s);
	snprintf(head, sizeof(head), "\nproc %d\n", s.pid);
	for (int i = 0; i < 5000; i++) {
		text = must_read("state");
		if (!strstr(text, head))
			return;
		free(text);
		test_sleep_ms(1);
	}
	FAIL("process %d stays in state", s.pid);
}

/* Reading while everything changes: complete texts, no errors. */
static void churn(void *arg)
{
	atomic_int *stop = arg;

	while (!atomic_load(stop)) {
		struct client *c = client_open();

		for (int i = 0; i < 20; i++)
			bt_ping(&c->t, 0, CODE_NULL);
		bc_close(&c->b);
	}
}

static void test_logs_read_under_traffic_are_whole(void)
{
	static const char *const files[] = {
		"state", "stats", "transactions", "transaction_log", "failed_transaction_log",
	};
	atomic_int *stop = test_share(sizeof(*stop));
	struct server s = { .threads = 1 };
	pid_t pids[4];

	need_logs();
	server_start(&s);
	for (int i = 0; i < 4; i++)
		pids[i] = test_spawn(churn, stop);
	for (int i = 0; i < 150; i++)
		for (size_t f = 0; f < ARRAY_SIZE(files); f++) {
			char *text = driver_read(files[f]);
			size_t len = text ? strlen(text) : 0;

			CHECK(text || !driver_is_own());
			if (f < 2)
				CHECK(len > 40 && text[len - 1] == '\n');
			free(text);
		}
	test_post(stop);
	for (int i = 0; i < 4; i++)
		test_join(pids[i]);
}

static const struct test_case cases[] = {
	QUICK(test_stats_count_commands_and_objects),
	QUICK(test_stats_of_a_process_are_complete),
	QUICK(test_state_shows_threads_nodes_and_transactions),
	QUICK(test_state_shows_refs_and_buffers),
	QUICK(test_proc_file_is_the_part_of_state),
	QUICK(test_proc_file_has_all_contexts),
	QUICK(test_transactions_file_shows_those_in_flight),
	QUICK(test_transaction_log_keeps_the_last_32),
	QUICK(test_failed_log_names_the_errno),
	QUICK(test_closed_process_is_not_listed),
	CASE(test_logs_read_under_traffic_are_whole),
};

TEST_MAIN(cases)
