// SPDX-License-Identifier: MIT
/*
 * Reports of failed transactions by generic netlink, from a kernel's driver:
 * each failure is told once, with what it was about, to all who listen in the
 * first network namespace; and no listener can disturb anybody.
 */
#include "bc.h"
#include "child.h"
#include "harness.h"
#include "server.h"
#include "uapi/binder_netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE 300000

/* ---- netlink ------------------------------------------------------------------ */

struct request {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	uint8_t attrs[256];
};

static void attr_put(struct request *r, uint16_t type, const void *data, size_t n)
{
	struct nlattr *a = (void *)((uint8_t *)r + NLMSG_ALIGN(r->nl.nlmsg_len));

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + n;
	memcpy((uint8_t *)a + NLA_HDRLEN, data, n);
	r->nl.nlmsg_len = NLMSG_ALIGN(r->nl.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

/* The attribute of a type among those in [@p, @p + @n), or NULL. */
static const struct nlattr *attr_find(const void *p, size_t n, uint16_t type)
{
	const uint8_t *at = p;

	while (n >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)at;
		size_t step = NLA_ALIGN(a->nla_len);

		CHECK(a->nla_len >= NLA_HDRLEN && a->nla_len <= n);
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		at += step;
		n -= step < n ? step : n;
	}
	return NULL;
}

static const void *attr_data(const struct nlattr *a)
{
	return (const uint8_t *)a + NLA_HDRLEN;
}

static size_t attr_size(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

static uint32_t attr_u32(const struct nlattr *a)
{
	uint32_t v;

	CHECK_EQ(attr_size(a), sizeof(v));
	memcpy(&v, attr_data(a), sizeof(v));
	return v;
}

static int genl_socket(void)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);

	if (sock < 0)
		test_skip("no generic netlink: %s", strerror(errno));
	CHECK_EQ(bind(sock, (void *)&to, sizeof(to)), 0);
	return sock;
}

/*
 * Ask, and wait for the first message that comes.
 * Return: its bytes, or the error that the kernel answers, negative.
 */
static ssize_t ask(int sock, struct request *r, void *buf, size_t size)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct pollfd p = { sock, POLLIN, 0 };
	struct nlmsghdr *nl = buf;
	ssize_t n;

	CHECK_EQ(sendto(sock, r, r->nl.nlmsg_len, 0, (void *)&to, sizeof(to)), r->nl.nlmsg_len);
	CHECK_EQ(poll(&p, 1, TEST_WAIT_S * 1000), 1);
	n = recv(sock, buf, size, 0);
	CHECK_GE(n, NLMSG_HDRLEN);
	if (nl->nlmsg_type == NLMSG_ERROR)
		return ((struct nlmsgerr *)NLMSG_DATA(nl))->error;
	return n;
}

static struct request request(uint16_t type, uint8_t cmd)
{
	return (struct request){
		.nl = { .nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN), .nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST },
		.genl = { .cmd = cmd, .version = 1 },
	};
}

struct family {
	uint16_t id;
	uint32_t group;
};

static void find_group(const struct nlattr *groups, struct family *f)
{
	const uint8_t *at = attr_data(groups);
	size_t left = attr_size(groups);

	while (left >= NLA_HDRLEN) {
		const struct nlattr *g = (const void *)at, *name, *id;
		size_t step = NLA_ALIGN(g->nla_len);

		name = attr_find(attr_data(g), attr_size(g), CTRL_ATTR_MCAST_GRP_NAME);
		id = attr_find(attr_data(g), attr_size(g), CTRL_ATTR_MCAST_GRP_ID);
		CHECK(name && id);
		if (!strcmp(attr_data(name), BINDER_MCGRP_REPORT))
			f->group = attr_u32(id);
		at += step;
		left -= step < left ? step : left;
	}
}

static bool find_family(int sock, const char *name, struct family *f)
{
	struct request r = request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	uint8_t buf[8192] __attribute__((aligned(8)));
	const struct nlattr *a;
	const uint8_t *attrs;
	ssize_t n;

	attr_put(&r, CTRL_ATTR_FAMILY_NAME, name, strlen(name) + 1);
	n = ask(sock, &r, buf, sizeof(buf));
	if (n == -ENOENT)
		return false;
	CHECK_GE(n, NLMSG_LENGTH(GENL_HDRLEN));
	attrs = buf + NLMSG_LENGTH(GENL_HDRLEN);
	n -= NLMSG_LENGTH(GENL_HDRLEN);
	memset(f, 0, sizeof(*f));
	a = attr_find(attrs, n, CTRL_ATTR_FAMILY_ID);
	CHECK(a && attr_size(a) == 2);
	memcpy(&f->id, attr_data(a), 2);
	a = attr_find(attrs, n, CTRL_ATTR_VERSION);
	CHECK(a && attr_u32(a) == BINDER_FAMILY_VERSION);
	a = attr_find(attrs, n, CTRL_ATTR_MCAST_GROUPS);
	CHECK(a);
	find_group(a, f);
	CHECK(f->group);
	return true;
}

/* Our driver's, whatever it had to call itself; else another's. */
static bool find_any_family(int sock, struct family *f)
{
	return find_family(sock, "any" BINDER_FAMILY_NAME, f) ||
	       find_family(sock, BINDER_FAMILY_NAME, f);
}

/* Return: 0 or -errno. */
static int join(int sock, const struct family *f)
{
	uint32_t group = f->group;

	if (setsockopt(sock, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		return -errno;
	return 0;
}

/* A socket that hears the reports. */
static int listener(void)
{
	int sock = genl_socket();
	struct family f;

	if (!find_any_family(sock, &f))
		test_skip("the driver has no netlink family");
	CHECK_EQ(join(sock, &f), 0);
	return sock;
}

/**
 * struct report - what a message said
 * @seen: bit N: attribute N was there
 */
struct report {
	uint32_t value[BINDER_A_REPORT_END];
	char context[64];
	unsigned int seen;
};

/* Return: false if there is none now. */
static bool take_report(int sock, struct report *out)
{
	uint8_t buf[4096] __attribute__((aligned(8)));
	const struct nlmsghdr *nl = (void *)buf;
	const struct genlmsghdr *genl = NLMSG_DATA(nl);
	ssize_t n = recv(sock, buf, sizeof(buf), 0);

	memset(out, 0, sizeof(*out));
	if (n < 0) {
		CHECK_EQ(errno, EAGAIN);
		return false;
	}
	CHECK_GE(n, NLMSG_LENGTH(GENL_HDRLEN));
	/* one report, one message */
	CHECK_EQ(nl->nlmsg_len, n);
	CHECK_EQ(genl->cmd, BINDER_CMD_REPORT);
	for (int i = BINDER_A_REPORT_ERROR; i < BINDER_A_REPORT_END; i++) {
		const struct nlattr *a = attr_find(buf + NLMSG_LENGTH(GENL_HDRLEN),
						   n - NLMSG_LENGTH(GENL_HDRLEN), i);

		if (!a)
			continue;
		out->seen |= 1u << i;
		if (i == BINDER_A_REPORT_CONTEXT)
			snprintf(out->context, sizeof(out->context), "%s",
				 (const char *)attr_data(a));
		else if (i == BINDER_A_REPORT_IS_REPLY)
			CHECK_EQ(attr_size(a), 0);
		else
			out->value[i] = attr_u32(a);
	}
	return true;
}

/* It may come after the one whom it is about was told. */
static void await_report(int sock, struct report *out)
{
	struct pollfd p = { sock, POLLIN, 0 };

	CHECK_EQ(poll(&p, 1, TEST_WAIT_S * 1000), 1);
	CHECK(take_report(sock, out));
}

static bool said(const struct report *r, int attr)
{
	return r->seen >> attr & 1;
}

static void is_silent(int sock)
{
	struct report r;

	if (take_report(sock, &r))
		FAIL("a report of %s, wanted none", br_name(r.value[BINDER_A_REPORT_ERROR]));
}

/* ---- what fails ----------------------------------------------------------------- */

static uint8_t large[LARGE];

/* Too large for whoever gets it. */
static void fail_call(struct client *c, uint32_t code, uint32_t flags)
{
	struct msg m;

	msg_init(&m);
	msg_ext(&m, large, LARGE);
	CHECK_EQ(bt_call(&c->t, 0, code, flags, &m, NULL), BR_FAILED_REPLY);
}

static void answer_too_much(struct bt *t, const struct binder_transaction_data *tr,
			    struct msg *reply)
{
	msg_ext(reply, large, LARGE);
}

static void check_common(const struct report *r, uint32_t error, uint32_t code, uint32_t flags)
{
	CHECK_EQ(r->value[BINDER_A_REPORT_ERROR], error);
	CHECK(!strcmp(r->context, "binder"));
	CHECK_EQ(r->value[BINDER_A_REPORT_CODE], code);
	CHECK_EQ(r->value[BINDER_A_REPORT_FLAGS], flags);
	CHECK(said(r, BINDER_A_REPORT_FLAGS) && said(r, BINDER_A_REPORT_CODE));
	CHECK_EQ(r->value[BINDER_A_REPORT_DATA_SIZE], LARGE);
}

static void test_failed_call_is_reported_once(void)
{
	struct server s = { 0 };
	int sock = listener();
	struct client *c;
	struct report r;

	server_start(&s);
	c = client_open();
	for (uint32_t i = 0; i < 5; i++) {
		fail_call(c, 77 + i, TF_ACCEPT_FDS);
		CHECK(take_report(sock, &r));
		check_common(&r, BR_FAILED_REPLY, 77 + i, TF_ACCEPT_FDS);
		CHECK_EQ(r.value[BINDER_A_REPORT_FROM_PID], getpid());
		CHECK_EQ(r.value[BINDER_A_REPORT_FROM_TID], test_gettid());
		CHECK_EQ(r.value[BINDER_A_REPORT_TO_PID], s.pid);
		/* it was to no certain thread */
		CHECK(!said(&r, BINDER_A_REPORT_TO_TID));
		CHECK(!said(&r, BINDER_A_REPORT_IS_REPLY));
		is_silent(sock);
	}
}

static void test_failed_oneway_call_is_reported_once(void)
{
	struct server s = { 0 };
	int sock = listener();
	struct client *c;
	struct report r;

	server_start(&s);
	c = client_open();
	fail_call(c, 5, TF_ONE_WAY);
	CHECK(take_report(sock, &r));
	check_common(&r, BR_FAILED_REPLY, 5, TF_ONE_WAY);
	CHECK_EQ(r.value[BINDER_A_REPORT_FROM_PID], getpid());
	CHECK_EQ(r.value[BINDER_A_REPORT_TO_PID], s.pid);
	is_silent(sock);
}

static void test_failed_reply_is_reported_once(void)
{
	struct server s = { .own = answer_too_much };
	int sock = listener();
	struct client *c;
	struct report r;

	server_start(&s);
	c = client_open();
	CHECK_EQ(bt_call(&c->t, 0, CODE_OWN, 0, NULL, NULL), BR_FAILED_REPLY);
	await_report(sock, &r);
	check_common(&r, BR_FAILED_REPLY, 0, 0);
	CHECK(said(&r, BINDER_A_REPORT_IS_REPLY));
	CHECK_EQ(r.value[BINDER_A_REPORT_FROM_PID], s.pid);
	CHECK_EQ(r.value[BINDER_A_REPORT_FROM_TID], s.pid);
	CHECK_EQ(r.value[BINDER_A_REPORT_TO_PID], getpid());
	CHECK_EQ(r.value[BINDER_A_REPORT_TO_TID], test_gettid());
	is_silent(sock);
}

static void test_what_goes_well_is_not_reported(void)
{
	struct server s = { 0 };
	int sock = listener();
	struct client *c;

	server_start(&s);
	c = client_open();
	for (int i = 0; i < 50; i++)
		bt_ping(&c->t, 0, CODE_NULL);
	CHECK_EQ(bt_call(&c->t, 0, CODE_NULL, TF_ONE_WAY, NULL, NULL), BR_TRANSACTION_COMPLETE);
	bt_ping(&c->t, 0, CODE_NULL);
	is_silent(sock);
	server_stop(&s);
	bc_close(&c->b);
	is_silent(sock);
}

/* ---- who listens ------------------------------------------------------------------ */

static void test_every_listener_is_told(void)
{
	struct server s = { 0 };
	struct client *c;
	struct report r;
	int socks[8];

	for (size_t i = 0; i < ARRAY_SIZE(socks); i++)
		socks[i] = listener();
	server_start(&s);
	c = client_open();
	for (int i = 0; i < 3; i++) {
		fail_call(c, i, 0);
		for (size_t j = 0; j < ARRAY_SIZE(socks); j++) {
			CHECK(take_report(socks[j], &r));
			CHECK_EQ(r.value[BINDER_A_REPORT_CODE], i);
			is_silent(socks[j]);
		}
	}
}

/* Its queue is full soon; the next one hears everything all the same. */
static void test_listener_that_never_reads_disturbs_nobody(void)
{
	int deaf = listener(), sock = listener(), size = 1;
	struct server s = { 0 };
	struct client *c;
	struct report r;
	char buf[4096];
	int n = 0;

	CHECK_EQ(setsockopt(deaf, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
	server_start(&s);
	c = client_open();
	for (uint32_t i = 0; i < 300; i++) {
		fail_call(c, i, 0);
		CHECK(take_report(sock, &r));
		CHECK_EQ(r.value[BINDER_A_REPORT_CODE], i);
		bt_ping(&c->t, 0, CODE_NULL);
	}
	is_silent(sock);
	/* it has lost some, and is told so */
	while (recv(deaf, buf, sizeof(buf), 0) > 0)
		n++;
	CHECK_EQ(errno, ENOBUFS);
	CHECK_LE(n, 299);
}

static void listen_unprivileged(void *arg)
{
	atomic_int *ready = arg;
	struct report r;
	int sock;

	CHECK_EQ(setresgid(65534, 65534, 65534), 0);
	CHECK_EQ(setresuid(65534, 65534, 65534), 0);
	sock = listener();
	test_post(ready);
	await_report(sock, &r);
	CHECK_EQ(r.value[BINDER_A_REPORT_CODE], 4711);
	is_silent(sock);
}

/* As with the driver in the tree. */
static void test_unprivileged_listener_is_told(void)
{
	atomic_int *ready = test_share(sizeof(*ready));
	struct server s = { 0 };
	struct client *c;
	pid_t pid;

	close(listener());
	server_start(&s);
	c = client_open();
	pid = test_spawn(listen_unprivileged, ready);
	test_await(ready, 1);
	fail_call(c, 4711, 0);
	test_join(pid);
}

struct elsewhere {
	atomic_int ready;
	atomic_int failed;
	atomic_int called;
	pid_t caller;
};

static void listen_elsewhere(void *arg)
{
	struct elsewhere *e = arg;
	struct client *c;
	struct family f;
	int sock;

	if (unshare(CLONE_NEWNET))
		test_skip("no network namespaces: %s", strerror(errno));
	sock = genl_socket();
	/* it is there, as families are, and silent */
	CHECK(find_any_family(sock, &f));
	CHECK_EQ(join(sock, &f), 0);
	test_post(&e->ready);
	test_await(&e->failed, 1);
	is_silent(sock);
	/* what fails in this namespace is told in the first one */
	c = client_open();
	e->caller = getpid();
	fail_call(c, 2, 0);
	is_silent(sock);
	test_post(&e->called);
}

static void test_other_namespace_sees_nothing(void)
{
	struct elsewhere *e = test_share(sizeof(*e));
	int sock = listener();
	struct server s = { 0 };
	struct client *c;
	struct report r;
	pid_t pid;

	server_start(&s);
	c = client_open();
	pid = test_spawn(listen_elsewhere, e);
	while (!atomic_load(&e->ready)) {
		int status;

		if (waitpid(pid, &status, WNOHANG) == pid)
			_exit(WEXITSTATUS(status));
		test_sleep_ms(5);
	}
	fail_call(c, 1, 0);
	CHECK(take_report(sock, &r));
	test_post(&e->failed);
	test_await(&e->called, 1);
	test_join(pid);
	CHECK(take_report(sock, &r));
	CHECK_EQ(r.value[BINDER_A_REPORT_CODE], 2);
	CHECK_EQ(r.value[BINDER_A_REPORT_FROM_PID], e->caller);
	is_silent(sock);
}

/* There are no requests. */
static void test_request_is_refused(void)
{
	uint8_t buf[8192] __attribute__((aligned(8)));
	int sock = genl_socket();
	struct family f;

	if (!find_any_family(sock, &f))
		test_skip("the driver has no netlink family");
	for (int cmd = 0; cmd < 4; cmd++) {
		struct request r = request(f.id, cmd);

		r.nl.nlmsg_flags |= NLM_F_ACK;
		CHECK_EQ(ask(sock, &r, buf, sizeof(buf)), -EOPNOTSUPP);
		r.nl.nlmsg_flags |= NLM_F_DUMP;
		CHECK_EQ(ask(sock, &r, buf, sizeof(buf)), -EOPNOTSUPP);
	}
}

static void come_and_go(void *arg)
{
	for (;;) {
		int sock = listener();
		struct report r;

		take_report(sock, &r);
		close(sock);
		test_post(arg);
	}
}

static void fail_often(void *arg)
{
	struct client *c = client_open();

	for (int i = 0; i < 200; i++) {
		fail_call(c, i, i & 1 ? TF_ONE_WAY : 0);
		bt_ping(&c->t, 0, CODE_NULL);
	}
}

static void test_listeners_that_come_and_go_disturb_nobody(void)
{
	atomic_int *came = test_share(sizeof(*came));
	struct server s = { .threads = 1 };
	pid_t listeners[2], callers[2];

	close(listener());
	server_start(&s);
	for (int i = 0; i < 2; i++)
		listeners[i] = test_spawn(come_and_go, came);
	test_await(came, 2);
	for (int i = 0; i < 2; i++)
		callers[i] = test_spawn(fail_often, NULL);
	for (int i = 0; i < 2; i++)
		test_join(callers[i]);
	for (int i = 0; i < 2; i++)
		test_kill(listeners[i]);
}

static const struct test_case cases[] = {
	QUICK(test_failed_call_is_reported_once),
	QUICK(test_failed_oneway_call_is_reported_once),
	QUICK(test_failed_reply_is_reported_once),
	QUICK(test_what_goes_well_is_not_reported),
	QUICK(test_every_listener_is_told),
	QUICK(test_listener_that_never_reads_disturbs_nobody),
	QUICK(test_unprivileged_listener_is_told),
	QUICK(test_other_namespace_sees_nothing),
	QUICK(test_request_is_refused),
	CASE(test_listeners_that_come_and_go_disturb_nobody),
};

TEST_MAIN(cases)
