// SPDX-License-Identifier: MIT
/*
 * Tracepoints of a kernel's driver: that they are there under the names and
 * with the fields that tools know, and that what they say of a call fits
 * together. Each case has a trace buffer of its own.
 */
#include "bc.h"
#include "child.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory with events/, and the driver's system there. */
static char root[64];
static const char *sys_name;
/* The case's own buffer. */
static char instance[128];

static void need_tracing(void)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	static const char *const names[] = { "anybinder", "binder" };

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		for (size_t j = 0; j < ARRAY_SIZE(names); j++) {
			char path[128];

			snprintf(path, sizeof(path), "%s/events/%s", roots[i], names[j]);
			if (access(path, R_OK))
				continue;
			snprintf(root, sizeof(root), "%s", roots[i]);
			sys_name = names[j];
			return;
		}
	test_skip("no tracefs, or no events of a binder driver in it");
}

static void write_to(const char *path, const char *text)
{
	/* the file "trace" is emptied so */
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		FAIL("write \"%s\" to %s: %s", text, path, strerror(errno));
	close(fd);
}

/* Turn an event of the system, or all (""), on or off in the case's buffer. */
static void set_event(const char *event, bool on)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/events/%s/%s/enable", instance, sys_name, event);
	write_to(path, on ? "1" : "0");
}

static void buffer_set(const char *file, const char *text)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", instance, file);
	write_to(path, text);
}

static void tracing_begin(const char *name)
{
	need_tracing();
	snprintf(instance, sizeof(instance), "%s/instances/binder-test-%d-%s", root, getpid(),
		 name);
	if (mkdir(instance, 0755))
		test_skip("no trace buffer of its own: %s", strerror(errno));
	buffer_set("buffer_size_kb", "512");
	/* one order for all processors */
	buffer_set("trace_clock", "global");
}

/* The text of the buffer, which the caller frees. */
static char *tracing_text(void)
{
	char path[192], *text;

	set_event("", false);
	snprintf(path, sizeof(path), "%s/trace", instance);
	text = test_read_file(path);
	CHECK(text);
	return text;
}

static void tracing_end(void)
{
	set_event("", false);
	CHECK_EQ(rmdir(instance), 0);
}

/* ---- lines -------------------------------------------------------------------------- */

/* The next line of @event at or after @from, or NULL; *@end is behind it. */
static const char *find_line(const char *from, const char *event, const char **end)
{
	char word[96];
	const char *at;

	snprintf(word, sizeof(word), ": %s: ", event);
	at = from ? strstr(from, word) : NULL;
	if (!at)
		return NULL;
	at += strlen(word);
	*end = at + strcspn(at, "\n");
	return at;
}

static unsigned int count_lines(const char *text, const char *event)
{
	unsigned int n = 0;

	while (find_line(text, event, &text))
		n++;
	return n;
}

/* The number after "@field=" in a line. */
static long field(const char *line, const char *end, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = line; at < end; at++)
		if ((at == line || at[-1] == ' ') && !strncmp(at, name, n) && at[n] == '=')
			return strtol(at + n + 1, NULL, 0);
	FAIL("no %s in \"%.*s\"", name, (int)(end - line), line);
}

/* A line of @event at or after @from in which @name is @value, or NULL. */
static const char *find_with(const char *from, const char *event, const char *name, long value,
			     const char **end)
{
	const char *line;

	while ((line = find_line(from, event, end))) {
		if (field(line, *end, name) == value)
			return line;
		from = *end;
	}
	return NULL;
}

/* ---- what there is -------------------------------------------------------------------- */

static const struct {
	const char *name;
	const char *fields;
} events[] = {
	{ "binder_ioctl", "cmd arg" },
	{ "binder_ioctl_done", "ret" },
	{ "binder_write_done", "ret" },
	{ "binder_read_done", "ret" },
	{ "binder_wait_for_work", "proc_work transaction_stack thread_todo" },
	{ "binder_transaction",
	  "debug_id target_node to_proc to_thread reply code flags" },
	{ "binder_transaction_received", "debug_id" },
	{ "binder_transaction_node_to_ref", "debug_id node_debug_id" },
	{ "binder_transaction_ref_to_node", "debug_id node_debug_id" },
	{ "binder_transaction_ref_to_ref", "debug_id node_debug_id" },
	{ "binder_transaction_alloc_buf", "debug_id data_size offsets_size extra_buffers_size" },
	{ "binder_transaction_buffer_release",
	  "debug_id data_size offsets_size extra_buffers_size" },
	{ "binder_transaction_failed_buffer_release",
	  "debug_id data_size offsets_size extra_buffers_size" },
	{ "binder_alloc_page_start", "proc page_index" },
	{ "binder_alloc_page_end", "proc page_index" },
	{ "binder_unmap_user_start", "proc page_index" },
	{ "binder_unmap_user_end", "proc page_index" },
	{ "binder_command", "cmd" },
	{ "binder_return", "cmd" },
};

static void has_fields(const char *name, const char *fields, const char *format)
{
	char copy[128], word[64], *rest = copy, *f;

	snprintf(copy, sizeof(copy), "%s", fields);
	while ((f = strsep(&rest, " "))) {
		snprintf(word, sizeof(word), " %s;", f);
		if (!strstr(format, word))
			FAIL("%s has no field %s:\n%s", name, f, format);
	}
}

static void test_every_event_is_there_with_its_fields(void)
{
	need_tracing();
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		char path[192], *format;

		snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, sys_name,
			 events[i].name);
		format = test_read_file(path);
		if (!format)
			FAIL("no event %s", events[i].name);
		has_fields(events[i].name, events[i].fields, format);
		free(format);
	}
}

/* ---- what they say -------------------------------------------------------------------- */

/* Each transaction that was sent was received, later and once. Return: how many. */
static unsigned int check_received(const char *text)
{
	const char *at = text, *line, *end;
	unsigned int n = 0;

	while ((line = find_line(at, "binder_transaction", &end))) {
		long id = field(line, end, "transaction");
		const char *after = end;

		at = end;
		CHECK(find_with(after, "binder_transaction_received", "transaction", id, &after));
		CHECK(!find_with(after, "binder_transaction_received", "transaction", id, &after));
		n++;
	}
	return n;
}

static void test_call_and_reply_fit_together(void)
{
	struct server s = { 0 };
	const char *line, *end;
	struct client *c;
	char *text;
	long node;

	tracing_begin("own");
	server_start(&s);
	c = client_open();
	set_event("", true);
	for (int i = 0; i < 5; i++)
		bt_ping(&c->t, 0, CODE_NULL);
	test_await_blocked(s.pid);
	text = tracing_text();
	CHECK_EQ(count_lines(text, "binder_transaction"), 10);
	CHECK_EQ(check_received(text), 10);
	/* a call goes to a node and a process, its reply to a thread */
	line = find_with(text, "binder_transaction", "reply", 0, &end);
	CHECK(line);
	CHECK_EQ(field(line, end, "dest_proc"), s.pid);
	CHECK_EQ(field(line, end, "code"), CODE_NULL);
	CHECK_EQ(field(line, end, "flags"), 0);
	node = field(line, end, "dest_node");
	CHECK_GE(node, 1);
	line = find_with(end, "binder_transaction", "reply", 1, &end);
	CHECK(line);
	CHECK_EQ(field(line, end, "dest_proc"), getpid());
	CHECK_EQ(field(line, end, "dest_thread"), test_gettid());
	line = find_with(end, "binder_transaction", "reply", 0, &end);
	CHECK(line);
	CHECK_EQ(field(line, end, "dest_node"), node);
	free(text);
	tracing_end();
}

static void test_commands_and_returns_are_seen(void)
{
	static const struct {
		const char *event;
		uint32_t cmd;
	} wanted[] = {
		{ "binder_command", BC_TRANSACTION }, { "binder_command", BC_REPLY },
		{ "binder_command", BC_FREE_BUFFER }, { "binder_return", BR_TRANSACTION },
		{ "binder_return", BR_REPLY }, { "binder_return", BR_TRANSACTION_COMPLETE },
	};
	struct server s = { 0 };
	struct client *c;
	const char *end;
	char *text;

	tracing_begin("own");
	server_start(&s);
	c = client_open();
	set_event("", true);
	bt_ping(&c->t, 0, CODE_NULL);
	bt_ping(&c->t, 0, CODE_NULL);
	test_await_blocked(s.pid);
	text = tracing_text();
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		CHECK(find_with(text, wanted[i].event, "cmd", wanted[i].cmd, &end));
	CHECK(find_with(text, "binder_ioctl", "cmd", BINDER_WRITE_READ, &end));
	CHECK_GE(count_lines(text, "binder_wait_for_work"), 1);
	free(text);
	tracing_end();
}

/* One thread: what begins has ended when it looks. */
static void test_ioctls_end_as_they_say(void)
{
	struct bc b;
	const char *line, *end;
	char *text;

	tracing_begin("own");
	bc_open_nonblock(&b, 0);
	set_event("", true);
	for (int i = 0; i < 7; i++)
		bc_works(&b);
	CHECK_EQ(bc_become_manager(&b), 0);
	CHECK_EQ(bc_become_manager(&b), -EBUSY);
	text = tracing_text();
	CHECK_EQ(count_lines(text, "binder_ioctl"), 9);
	CHECK_EQ(count_lines(text, "binder_ioctl_done"), 9);
	line = find_with(text, "binder_ioctl", "cmd", BINDER_SET_CONTEXT_MGR, &end);
	CHECK(line);
	line = find_line(end, "binder_ioctl_done", &end);
	CHECK(line && field(line, end, "ret") == 0);
	line = find_line(end, "binder_ioctl_done", &end);
	CHECK(line && field(line, end, "ret") == -EBUSY);
	free(text);
	bc_close(&b);
	tracing_end();
}

static void test_objects_change_names(void)
{
	struct pair *p;
	const char *line, *end, *r;
	struct bt_ret ret;
	struct msg m;
	char *text;
	long node;

	tracing_begin("own");
	p = pair_open();
	set_event("", true);
	/* an own object to another, which sends it home */
	msg_init(&m);
	msg_binder(&m, 0x700, 0x701);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, &m);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	msg_init(&m);
	msg_handle(&m, tr_object(&ret.tr, 0)->handle);
	reply_to(&p->s, &ret, 9, &m);
	CHECK_EQ(take_reply(&p->c), 9);
	/* and somebody else's from one to the next */
	registry_put(&p->c, 5, 0x710, 0x711);
	registry_get(&p->s, 5);
	text = tracing_text();
	line = find_line(text, "binder_transaction_node_to_ref", &end);
	CHECK(line);
	node = field(line, end, "node");
	CHECK_GE(field(line, end, "transaction"), 1);
	r = find_line(text, "binder_transaction_ref_to_node", &end);
	CHECK(r);
	CHECK_EQ(field(r, end, "node"), node);
	CHECK(find_line(text, "binder_transaction_ref_to_ref", &end));
	free(text);
	pair_close(p);
	tracing_end();
}

/* The numbers of a buffer, from its making to its end; what fails is given back as well. */
static void test_buffers_are_made_and_released(void)
{
	const char *line, *end, *rest;
	uint8_t data[160] = { 0 };
	struct pair *p;
	struct bt_ret ret;
	struct msg m;
	char *text;
	long id;

	tracing_begin("own");
	p = pair_open();
	set_event("", true);
	msg_init(&m);
	msg_bytes(&m, data, sizeof(data));
	msg_binder(&m, 0x700, 0x701);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, &m);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	reply_to(&p->s, &ret, 9, NULL);
	CHECK_EQ(take_reply(&p->c), 9);
	/* a handle that is none */
	msg_init(&m);
	msg_handle(&m, 12345);
	CHECK_EQ(bt_call(&p->c, p->h, 2, 0, &m, NULL), BR_FAILED_REPLY);
	text = tracing_text();
	line = find_with(text, "binder_transaction_alloc_buf", "data_size", 184, &end);
	CHECK(line);
	CHECK_EQ(field(line, end, "offsets_size"), 8);
	CHECK_EQ(field(line, end, "extra_buffers_size"), 0);
	id = field(line, end, "transaction");
	line = find_with(end, "binder_transaction_buffer_release", "transaction", id, &end);
	CHECK(line);
	CHECK_EQ(field(line, end, "data_size"), 184);
	line = find_line(text, "binder_transaction_failed_buffer_release", &rest);
	CHECK(line);
	CHECK_EQ(field(line, rest, "data_size"), sizeof(struct flat_binder_object));
	free(text);
	pair_close(p);
	tracing_end();
}

static void test_pages_come_and_go(void)
{
	static uint8_t large[60000];
	const char *line, *end;
	struct pair *p;
	struct bt_ret ret;
	struct msg m;
	char *text;
	long index;

	tracing_begin("own");
	p = pair_open();
	set_event("", true);
	msg_init(&m);
	msg_ext(&m, large, sizeof(large));
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, &m);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	reply_to(&p->s, &ret, 9, NULL);
	CHECK_EQ(take_reply(&p->c), 9);
	write_to("/proc/sys/vm/drop_caches", "2");
	text = tracing_text();
	CHECK_GE(count_lines(text, "binder_alloc_page_start"), 14);
	CHECK_EQ(count_lines(text, "binder_alloc_page_start"),
		 count_lines(text, "binder_alloc_page_end"));
	line = find_line(text, "binder_alloc_page_start", &end);
	CHECK_EQ(field(line, end, "proc"), getpid());
	index = field(line, end, "page_index");
	/* one that came, goes */
	line = find_with(end, "binder_unmap_user_start", "page_index", index, &end);
	CHECK(line);
	CHECK_EQ(field(line, end, "proc"), getpid());
	CHECK(find_with(end, "binder_unmap_user_end", "page_index", index, &end));
	free(text);
	pair_close(p);
	tracing_end();
}

static void test_lent_priority_is_seen(void)
{
	struct server s = { 0 };
	const char *line, *end;
	char path[192], *text;
	struct client *c;

	need_tracing();
	snprintf(path, sizeof(path), "%s/events/%s/binder_set_priority", root, sys_name);
	if (access(path, R_OK) && !strcmp(sys_name, "binder"))
		test_skip("the driver in this tree has no binder_set_priority");
	tracing_begin("own");
	server_start(&s);
	c = client_open();
	bt_ping(&c->t, 0, CODE_NULL);
	set_event("", true);
	if (nice(-6) == -1)
		test_skip("nice values cannot be set");
	bt_ping(&c->t, 0, CODE_NULL);
	test_await_blocked(s.pid);
	text = tracing_text();
	line = find_with(text, "binder_set_priority", "thread", s.pid, &end);
	CHECK(line);
	CHECK_EQ(field(line, end, "old"), 0);
	CHECK_EQ(field(line, end, "new"), -6);
	line = find_with(end, "binder_set_priority", "thread", s.pid, &end);
	CHECK(line);
	CHECK_EQ(field(line, end, "old"), -6);
	CHECK_EQ(field(line, end, "new"), 0);
	free(text);
	tracing_end();
}

/* ---- under load ------------------------------------------------------------------------- */

static void ping_until_told(void *arg)
{
	struct client *c = client_open();
	atomic_int *stop = arg;

	for (int i = 0; !atomic_load(stop); i++) {
		struct msg m;

		msg_init(&m);
		msg_binder(&m, 0x100 + i, 1);
		CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, TF_ONE_WAY, &m, NULL),
			 BR_TRANSACTION_COMPLETE);
		bt_ping(&c->t, 0, CODE_ECHO);
	}
}

/*
 * Buffers that have every event on all the time, of which there are two, so
 * that another one's switch changes who is told, and no code: a processor that
 * is emulated (qemu's TCG, with a thread for each) can miss that another has
 * changed an instruction, and then traps there forever.
 */
static void hold_events_on(char held[2][sizeof(instance)])
{
	for (int i = 0; i < 2; i++) {
		tracing_begin(i ? "second" : "first");
		set_event("", true);
		memcpy(held[i], instance, sizeof(instance));
	}
}

static void release_events(char held[2][sizeof(instance)])
{
	for (int i = 0; i < 2; i++) {
		memcpy(instance, held[i], sizeof(instance));
		tracing_end();
	}
}

static void test_events_switched_under_load_harm_nobody(void)
{
	atomic_int *stop = test_share(sizeof(*stop));
	struct server s = { .threads = 1 };
	char held[2][sizeof(instance)];
	unsigned int seen = 0;
	pid_t pids[3];

	hold_events_on(held);
	tracing_begin("own");
	server_start(&s);
	for (int i = 0; i < 3; i++)
		pids[i] = test_spawn(ping_until_told, stop);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		char *text;

		CHECK(!test_failed());
		set_event(events[i].name, true);
		test_sleep_ms(5);
		set_event(events[i].name, false);
		set_event("", true);
		test_sleep_ms(5);
		text = tracing_text();
		seen += count_lines(text, "binder_transaction");
		free(text);
		buffer_set("trace", "0");
	}
	test_post(stop);
	for (int i = 0; i < 3; i++)
		test_join(pids[i]);
	CHECK_GE(seen, 1);
	tracing_end();
	release_events(held);
}

static const struct test_case cases[] = {
	QUICK(test_every_event_is_there_with_its_fields),
	QUICK(test_call_and_reply_fit_together),
	QUICK(test_commands_and_returns_are_seen),
	QUICK(test_ioctls_end_as_they_say),
	QUICK(test_objects_change_names),
	QUICK(test_buffers_are_made_and_released),
	QUICK(test_pages_come_and_go),
	QUICK(test_lent_priority_is_seen),
	CASE(test_events_switched_under_load_harm_nobody),
};

TEST_MAIN(cases)
