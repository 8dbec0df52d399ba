// SPDX-License-Identifier: MIT
/* Who is calling: pid and euid, as the receiver's namespaces see them. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

/**
 * struct who - what a server saw of a caller
 */
struct who {
	atomic_int done;
	atomic_int ready;
	atomic_int go;
	uint32_t pid;
	uint32_t euid;
	uint32_t reply_pid;
	uint32_t reply_euid;
};

static struct who *who_new(void)
{
	return test_share(sizeof(struct who));
}

static void ask(struct client *c, struct who *w)
{
	struct binder_transaction_data reply;

	bt_call_ok(&c->t, 0, CODE_WHO, NULL, &reply);
	w->pid = tr_u32(&reply, 0);
	w->euid = tr_u32(&reply, 1);
	w->reply_pid = reply.sender_pid;
	w->reply_euid = reply.sender_euid;
	bt_free(&c->t, reply.data.ptr.buffer);
	bt_flush(&c->t);
	test_post(&w->done);
}

static void need_root(void)
{
	if (geteuid())
		test_skip("needs root");
}

static void test_sender_is_the_process_and_its_euid(void)
{
	struct server s = { 0 };
	struct who *w = who_new();

	server_start(&s);
	ask(client_open(), w);
	CHECK_EQ(w->pid, getpid());
	CHECK_EQ(w->euid, geteuid());
}

/* Replies carry the server's user but no pid. */
static void test_reply_names_no_pid_but_the_euid(void)
{
	struct server s = { 0 };
	struct who *w = who_new();

	server_start(&s);
	ask(client_open(), w);
	CHECK_EQ(w->reply_pid, 0);
	CHECK_EQ(w->reply_euid, geteuid());
}

struct thread_ask {
	struct client *c;
	struct who *w;
};

static void *ask_in_thread(void *arg)
{
	struct thread_ask *ta = arg;
	struct client *c = calloc(1, sizeof(*c));

	c->b = ta->c->b;
	bt_init(&c->t, &c->b);
	ask(c, ta->w);
	return NULL;
}

static void test_sender_of_a_thread_is_its_process(void)
{
	struct server s = { 0 };
	struct thread_ask ta = { client_open(), who_new() };

	server_start(&s);
	test_thread_join(test_thread(ask_in_thread, &ta));
	CHECK_EQ(ta.w->pid, getpid());
}

static void ask_as_nobody(void *arg)
{
	struct client *c = client_open();

	CHECK_EQ(setresgid(NOBODY, NOBODY, NOBODY), 0);
	CHECK_EQ(setresuid(NOBODY, NOBODY, NOBODY), 0);
	ask(c, arg);
}

static void test_sender_of_other_uid_is_seen(void)
{
	struct server s = { 0 };
	struct who *w = who_new();
	pid_t pid;

	need_root();
	server_start(&s);
	pid = test_spawn(ask_as_nobody, w);
	test_join(pid);
	CHECK_EQ(w->pid, pid);
	CHECK_EQ(w->euid, NOBODY);
	CHECK_EQ(w->reply_euid, 0);
}

static void ask_with_euid(void *arg)
{
	struct client *c = client_open();
	struct who *w = arg;

	ask(c, w);
	CHECK_EQ(w->euid, 0);
	CHECK_EQ(setresuid(0, NOBODY, 0), 0);
	ask(c, w);
	CHECK_EQ(w->euid, NOBODY);
	CHECK_EQ(setresuid(0, 0, 0), 0);
	ask(c, w);
	CHECK_EQ(w->euid, 0);
}

static void test_sender_euid_follows_the_effective_one(void)
{
	struct server s = { 0 };

	need_root();
	server_start(&s);
	test_join(test_spawn(ask_with_euid, who_new()));
}

/* An unprivileged client with all it needs: copies, objects, notifications. */
static void live_as_nobody(void *arg)
{
	static uint8_t data[60000];
	struct binder_transaction_data reply;
	struct client *c = client_open();
	struct msg m;
	uint32_t h;

	CHECK_EQ(setresgid(NOBODY, NOBODY, NOBODY), 0);
	CHECK_EQ(setresuid(NOBODY, NOBODY, NOBODY), 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 3;
	for (int i = 0; i < 20; i++) {
		msg_init(&m);
		msg_ext(&m, data, sizeof(data) - i * 777);
		bt_call_ok(&c->t, 0, CODE_ECHO, &m, &reply);
		CHECK_EQ(reply.data_size, sizeof(data) - i * 777);
		CHECK_MEM(tr_data(&reply), data, reply.data_size);
		bt_free(&c->t, reply.data.ptr.buffer);
	}
	registry_put(&c->t, 3, 0x300, 0x301);
	h = registry_get(&c->t, 1);
	bt_ping(&c->t, h, CODE_NULL);
	bt_death(&c->t, BC_REQUEST_DEATH_NOTIFICATION, h, 1);
	bt_death(&c->t, BC_CLEAR_DEATH_NOTIFICATION, h, 1);
	bt_flush(&c->t);
	CHECK_EQ(bt_call(&c->t, h, CODE_NULL, TF_ONE_WAY, NULL, NULL), BR_TRANSACTION_COMPLETE);
}

static void test_unprivileged_client_has_the_whole_service(void)
{
	struct server m = { .map_size = 1 << 20 }, s = { .id = 1 };

	need_root();
	server_start(&m);
	server_start(&s);
	for (int i = 0; i < 3; i++)
		test_join(test_spawn(live_as_nobody, NULL));
}

static void ask_undumpable(void *arg)
{
	struct client *c = client_open();

	CHECK_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
	ask(c, arg);
}

/* A process that debuggers may not touch is still a client. */
static void test_undumpable_client_is_served(void)
{
	struct server s = { 0 };
	struct who *w = who_new();
	pid_t pid;

	need_root();
	server_start(&s);
	pid = test_spawn(ask_undumpable, w);
	test_join(pid);
	CHECK_EQ(w->pid, pid);
}

/* @fn as pid 1 of a new pid namespace; Return: its pid here. */
static pid_t spawn_in_pid_ns(void (*fn)(void *), void *arg)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		test_skip("no pid namespaces: %s", strerror(errno));
	pid = test_spawn(fn, arg);
	/* our later children go to the old one again */
	{
		int fd = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

		CHECK_GE(fd, 0);
		CHECK_EQ(setns(fd, CLONE_NEWPID), 0);
		close(fd);
	}
	return pid;
}

static void ask_as_init(void *arg)
{
	CHECK_EQ(getpid(), 1);
	ask(client_open(), arg);
}

static void test_sender_in_a_child_pid_namespace_is_seen_from_outside(void)
{
	struct server s = { 0 };
	struct who *w = who_new();
	pid_t pid;

	need_root();
	server_start(&s);
	pid = spawn_in_pid_ns(ask_as_init, w);
	test_join(pid);
	CHECK_EQ(w->pid, pid);
}

static void serve_as_init(void *arg)
{
	struct who *w = arg;
	struct client *c = client_open();
	struct bt_ret ret;

	CHECK_EQ(getpid(), 1);
	CHECK_EQ(bc_become_manager(&c->b), 0);
	bt_enter(&c->t);
	test_post(&w->ready);
	for (;;) {
		struct msg m;

		CHECK_EQ(bt_event(&c->t, &ret), BR_TRANSACTION);
		msg_init(&m);
		msg_u32(&m, ret.tr.sender_pid);
		msg_u32(&m, ret.tr.sender_euid);
		bt_send(&c->t, BC_REPLY, 0, 0, 0, &m);
		bt_free(&c->t, ret.tr.data.ptr.buffer);
		bt_flush(&c->t);
	}
}

/* The receiver has no name for a sender outside. */
static void test_sender_outside_the_receivers_pid_namespace_is_0(void)
{
	struct who *w = who_new();
	pid_t pid;

	need_root();
	pid = spawn_in_pid_ns(serve_as_init, w);
	test_await(&w->ready, 1);
	ask(client_open(), w);
	CHECK_EQ(w->pid, 0);
	CHECK_EQ(w->euid, geteuid());
	test_kill(pid);
}

static void ask_from_inside(void *arg)
{
	CHECK_NE(getpid(), 1);
	ask(client_open(), arg);
}

/* Both inside: the pid of inside. */
static void both_inside(void *arg)
{
	struct who *w = arg;
	pid_t server, pid;

	server = fork();
	if (!server) {
		struct client *c = client_open();
		struct bt_ret ret;

		CHECK_EQ(bc_become_manager(&c->b), 0);
		bt_enter(&c->t);
		test_post(&w->ready);
		CHECK_EQ(bt_event(&c->t, &ret), BR_TRANSACTION);
		w->pid = ret.tr.sender_pid;
		bt_send(&c->t, BC_REPLY, 0, 0, 0,
			&(struct msg){ .ext = (uint32_t[]){ w->pid, 0 }, .ext_size = 8 });
		bt_free(&c->t, ret.tr.data.ptr.buffer);
		bt_flush(&c->t);
		pause();
	}
	test_await(&w->ready, 1);
	pid = test_spawn(ask_from_inside, w);
	test_join(pid);
	CHECK_EQ(w->pid, pid);
}

static void test_sender_and_receiver_in_one_namespace_use_its_pids(void)
{
	struct who *w = who_new();

	need_root();
	test_join(spawn_in_pid_ns(both_inside, w));
}

static bool write_map(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* A user namespace in which our uid is called 5, and no other exists. */
static void enter_user_ns(void)
{
	char map[32];

	snprintf(map, sizeof(map), "5 %d 1", geteuid());
	if (unshare(CLONE_NEWUSER))
		test_skip("no user namespaces: %s", strerror(errno));
	if (!write_map("/proc/self/setgroups", "deny") || !write_map("/proc/self/uid_map", map))
		test_skip("no map for a user namespace: %s", strerror(errno));
	CHECK_EQ(geteuid(), 5);
}

static void serve_in_user_ns(void *arg)
{
	struct who *w = arg;
	struct client *c;
	struct bt_ret ret;

	enter_user_ns();
	c = client_open();
	CHECK_EQ(bc_become_manager(&c->b), 0);
	bt_enter(&c->t);
	test_post(&w->ready);
	for (;;) {
		struct msg m;

		CHECK_EQ(bt_event(&c->t, &ret), BR_TRANSACTION);
		msg_init(&m);
		msg_u32(&m, ret.tr.sender_pid);
		msg_u32(&m, ret.tr.sender_euid);
		bt_send(&c->t, BC_REPLY, 0, 0, 0, &m);
		bt_free(&c->t, ret.tr.data.ptr.buffer);
		bt_flush(&c->t);
	}
}

static void user_ns_started(struct who *w, pid_t pid)
{
	int status;

	while (!atomic_load(&w->ready)) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIP)
				_exit(TEST_SKIP);
			FAIL("the server in the namespace ended");
		}
		test_sleep_ms(1);
	}
}

static void test_sender_euid_is_as_the_receivers_user_namespace_sees_it(void)
{
	struct who *w = who_new();
	pid_t pid = test_spawn(serve_in_user_ns, w);

	user_ns_started(w, pid);
	ask(client_open(), w);
	CHECK_EQ(w->pid, getpid());
	CHECK_EQ(w->euid, 5);
	CHECK_EQ(w->reply_euid, geteuid());
	if (!geteuid()) {
		/* a user the namespace does not know */
		test_join(test_spawn(ask_as_nobody, w));
		CHECK(w->euid == (uint32_t)-1 || w->euid == NOBODY);
	}
	test_kill(pid);
}

static void ask_in_user_ns(void *arg)
{
	struct client *c;

	enter_user_ns();
	c = client_open();
	ask(c, arg);
}

static void test_sender_in_a_user_namespace_is_seen_from_outside(void)
{
	struct server s = { 0 };
	struct who *w = who_new();
	pid_t pid;

	server_start(&s);
	pid = test_spawn(ask_in_user_ns, w);
	test_join(pid);
	CHECK_EQ(w->pid, pid);
	CHECK_EQ(w->euid, geteuid());
	CHECK_EQ(w->reply_euid, 5);
}

static const struct test_case cases[] = {
	QUICK(test_sender_is_the_process_and_its_euid),
	QUICK(test_reply_names_no_pid_but_the_euid),
	QUICK(test_sender_of_a_thread_is_its_process),
	QUICK(test_sender_of_other_uid_is_seen),
	QUICK(test_sender_euid_follows_the_effective_one),
	QUICK(test_unprivileged_client_has_the_whole_service),
	QUICK(test_undumpable_client_is_served),
	QUICK(test_sender_in_a_child_pid_namespace_is_seen_from_outside),
	QUICK(test_sender_outside_the_receivers_pid_namespace_is_0),
	QUICK(test_sender_and_receiver_in_one_namespace_use_its_pids),
	QUICK(test_sender_euid_is_as_the_receivers_user_namespace_sees_it),
	QUICK(test_sender_in_a_user_namespace_is_seen_from_outside),
};

TEST_MAIN(cases)
