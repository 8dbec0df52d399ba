// SPDX-License-Identifier: MIT
/*
 * Features that a driver may lack: descriptors, scatter-gather, freezing, spam
 * detection, security contexts. Lacking one means to refuse it with the proper
 * outcome, never to ignore it. Where the driver has the feature the case is
 * skipped; its own tests are elsewhere.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void works(struct pair *p)
{
	struct bt_ret ret;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	reply_to(&p->s, &ret, 2, NULL);
	CHECK_EQ(take_reply(&p->c), 2);
}

/* A call that must be refused with BR_FAILED_REPLY and a negative errno. */
static void call_refused(struct pair *p, uint32_t flags, const struct msg *m, const char *what)
{
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 1, flags, m);
	bt_flush(&p->c);
	if (bt_try(&p->s, &ret))
		test_skip("the driver delivers %s", what);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, 1);
	CHECK(!bt_try(&p->c, &ret));
	works(p);
}

/* A reply that must be refused, at the caller. */
static void reply_refused(struct pair *p, const struct msg *m, const char *what)
{
	struct bt_ret ret;

	bt_send(&p->c, BC_TRANSACTION, p->h, 1, TF_ACCEPT_FDS, NULL);
	bt_flush(&p->c);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, m);
	bt_flush(&p->s);
	bt_until(&p->s, BR_TRANSACTION_COMPLETE, NULL);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	bt_flush(&p->s);
	if (bt_event(&p->c, &ret) == BR_REPLY)
		test_skip("the driver delivers %s in replies", what);
	CHECK_EQ(ret.cmd, BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, 1);
	works(p);
}

static void fd_message(struct msg *m, int fd)
{
	struct binder_fd_object fdo = { 0 };

	msg_init(m);
	fdo.hdr.type = BINDER_TYPE_FD;
	fdo.fd = fd;
	msg_object(m, &fdo, sizeof(fdo));
}

static int open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_fd_object_is_refused(void)
{
	struct pair *p = pair_open();
	int before = open_fds();
	struct msg m;

	fd_message(&m, STDERR_FILENO);
	call_refused(p, 0, &m, "descriptors");
	call_refused(p, TF_ACCEPT_FDS, &m, "descriptors");
	fd_message(&m, 9999);
	call_refused(p, 0, &m, "descriptors");
	CHECK_EQ(open_fds(), before);
	pair_close(p);
}

static void test_fd_object_in_oneway_is_refused(void)
{
	struct pair *p = pair_open();
	struct msg m;

	fd_message(&m, STDERR_FILENO);
	call_refused(p, TF_ONE_WAY, &m, "descriptors");
	pair_close(p);
}

static void test_fd_object_in_reply_is_refused(void)
{
	struct pair *p = pair_open();
	struct msg m;

	fd_message(&m, STDERR_FILENO);
	reply_refused(p, &m, "descriptors");
	pair_close(p);
}

/* Objects in front of the refused one are given back. */
static void test_fd_object_behind_good_ones_undoes_them(void)
{
	struct pair *p = pair_open();
	struct binder_fd_object fdo = { 0 };
	struct msg m;
	uint32_t h;

	fdo.hdr.type = BINDER_TYPE_FD;
	fdo.fd = STDERR_FILENO;
	bt_enter(&p->c);
	for (int i = 0; i < 4; i++) {
		msg_init(&m);
		for (int j = 0; j < i; j++)
			msg_binder(&m, 0x100 * (j + 1), j);
		msg_object(&m, &fdo, sizeof(fdo));
		call_refused(p, 0, &m, "descriptors");
		bt_settle(&p->c);
	}
	CHECK_EQ(BT_GOT(&p->c, BR_ACQUIRE), BT_GOT(&p->c, BR_RELEASE));
	CHECK_EQ(BT_GOT(&p->c, BR_INCREFS), BT_GOT(&p->c, BR_DECREFS));
	pair_give(p, 0x9000, 1, BINDER_TYPE_BINDER, &h);
	CHECK_EQ(h, p->h + 1);
	pair_close(p);
}

static void ptr_message(struct msg *m, void *buffer, size_t length)
{
	struct binder_buffer_object ptr = { 0 };

	msg_init(m);
	ptr.hdr.type = BINDER_TYPE_PTR;
	ptr.buffer = (uintptr_t)buffer;
	ptr.length = length;
	msg_object(m, &ptr, sizeof(ptr));
}

/* Without room for it a PTR object is wrong on every driver. */
static void test_ptr_object_without_room_is_refused(void)
{
	struct pair *p = pair_open();
	char text[] = "text";
	struct msg m;

	ptr_message(&m, text, sizeof(text));
	call_refused(p, 0, &m, "a PTR object without room");
	pair_close(p);
}

static void sg_call(struct pair *p, const struct msg *m, uint64_t buffers_size)
{
	struct binder_transaction_data_sg sg = { 0 };

	sg.transaction_data.target.handle = p->h;
	sg.transaction_data.data_size = m->size;
	sg.transaction_data.data.ptr.buffer = (uintptr_t)m->buf;
	sg.transaction_data.offsets_size = m->nr * 8;
	sg.transaction_data.data.ptr.offsets = (uintptr_t)m->offs;
	sg.buffers_size = buffers_size;
	bt_cmd(&p->c, BC_TRANSACTION_SG);
	bt_put(&p->c, &sg, sizeof(sg));
	bt_flush(&p->c);
}

static void test_scatter_gather_call_is_refused(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	char text[] = "text5678";
	struct msg m;

	ptr_message(&m, text, 8);
	sg_call(p, &m, 8);
	if (bt_try(&p->s, &ret))
		test_skip("the driver has scatter-gather");
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, 1);
	works(p);
	pair_close(p);
}

/* Nothing to scatter: as a plain call, or refused; not ignored. */
static void test_scatter_gather_call_without_pieces_is_answered_or_refused(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	struct msg m;

	msg_init(&m);
	msg_u32(&m, 0x1234);
	sg_call(p, &m, 0);
	if (bt_try(&p->s, &ret)) {
		CHECK_EQ(ret.cmd, BR_TRANSACTION);
		CHECK_EQ(tr_u32(&ret.tr, 0), 0x1234);
		reply_to(&p->s, &ret, 1, NULL);
		CHECK_EQ(take_reply(&p->c), 1);
	} else {
		CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
		bt_expect_error(&p->c, BR_FAILED_REPLY, 1);
	}
	/* pieces that are not a multiple of 8 are wrong on every driver */
	sg_call(p, &m, 7);
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, 1);
	works(p);
	pair_close(p);
}

static void test_fd_array_is_refused(void)
{
	struct pair *p = pair_open();
	struct binder_fd_array_object fda = { 0 };
	uint32_t fds[2] = { 0, 1 };
	struct bt_ret ret;
	struct msg m;

	ptr_message(&m, fds, sizeof(fds));
	fda.hdr.type = BINDER_TYPE_FDA;
	fda.num_fds = 2;
	msg_object(&m, &fda, sizeof(fda));
	sg_call(p, &m, 8);
	if (bt_try(&p->s, &ret))
		test_skip("the driver has descriptor arrays");
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, 1);
	works(p);
	pair_close(p);
}

/* Commands about freezing are refused hard. */
static void test_freeze_commands_are_refused_with_einval(void)
{
	struct pair *p = pair_open();
	int err;

	bt_death(&p->c, BC_REQUEST_FREEZE_NOTIFICATION, p->h, 0x1);
	err = bt_ioctl(&p->c, true);
	if (!err && BT_GOT(&p->c, BR_FROZEN_BINDER) == 0) {
		struct bt_ret ret;

		if (bt_next(&p->c, &ret) && ret.cmd == BR_FROZEN_BINDER)
			test_skip("the driver has freeze notifications");
	}
	CHECK_EQ(err, -EINVAL);
	p->c.out_len = 0;
	bt_death(&p->c, BC_CLEAR_FREEZE_NOTIFICATION, p->h, 0x1);
	CHECK_EQ(bt_ioctl(&p->c, false), -EINVAL);
	p->c.out_len = 0;
	bt_cookie(&p->c, BC_FREEZE_NOTIFICATION_DONE, 0x1);
	CHECK_EQ(bt_ioctl(&p->c, false), -EINVAL);
	p->c.out_len = 0;
	works(p);
	pair_close(p);
}

static void ioctl_refused(struct pair *p, unsigned long cmd, void *arg, const char *what)
{
	if (!ioctl(p->cb.fd, cmd, arg))
		test_skip("the driver has %s", what);
	CHECK_EQ(errno, EINVAL);
	works(p);
}

static void test_freeze_ioctls_are_refused_with_einval(void)
{
	struct pair *p = pair_open();
	struct binder_freeze_info fi = { .pid = p->manager.pid, .enable = 0 };
	struct binder_frozen_status_info st = { .pid = p->manager.pid };

	ioctl_refused(p, BINDER_FREEZE, &fi, "freezing");
	fi.enable = 1;
	ioctl_refused(p, BINDER_FREEZE, &fi, "freezing");
	ioctl_refused(p, BINDER_GET_FROZEN_INFO, &st, "freezing");
	pair_close(p);
}

static void test_spam_detection_ioctl_is_refused_with_einval(void)
{
	struct pair *p = pair_open();
	uint32_t on = 1;

	ioctl_refused(p, BINDER_ENABLE_ONEWAY_SPAM_DETECTION, &on, "spam detection");
	pair_close(p);
}

/* Frozen targets are what TF_UPDATE_TXN is for; elsewhere it changes nothing. */
static void test_update_flag_without_freezing_is_delivered(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;

	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(bt_call(&p->c, p->h, 1, TF_ONE_WAY | TF_UPDATE_TXN, NULL, NULL),
			 BR_TRANSACTION_COMPLETE);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
		bt_free(&p->s, ret.tr.data.ptr.buffer);
		bt_flush(&p->s);
	}
	CHECK(!bt_try(&p->s, &ret));
	pair_close(p);
}

/* An object that wants security contexts: with one, or not at all. */
static void test_security_context_is_given_or_the_call_fails(void)
{
	struct pair *p = pair_open();
	struct bt_ret ret;
	struct msg m;
	uint32_t h;

	send_to(&p->c, p->h, 1);
	CHECK_EQ(bt_event(&p->s, &ret), BR_TRANSACTION);
	msg_init(&m);
	msg_flat(&m, BINDER_TYPE_BINDER, 0x7700, 0x7701, FLAT_BINDER_FLAG_TXN_SECURITY_CTX);
	bt_send(&p->s, BC_REPLY, 0, 0, 0, &m);
	bt_free(&p->s, ret.tr.data.ptr.buffer);
	bt_flush(&p->s);
	if (bt_event(&p->c, &ret) == BR_FAILED_REPLY)
		return; /* refused when the object was passed */
	CHECK_EQ(ret.cmd, BR_REPLY);
	h = tr_object(&ret.tr, 0)->handle;
	bt_ref(&p->c, BC_ACQUIRE, h);
	bt_flush(&p->c);
	bt_until(&p->s, BR_TRANSACTION_COMPLETE, NULL);
	bt_settle(&p->s);
	send_to(&p->c, h, 2);
	if (bt_try(&p->s, &ret)) {
		CHECK_EQ(ret.cmd, BR_TRANSACTION_SEC_CTX);
		test_skip("the driver has security contexts");
	}
	CHECK_EQ(bt_event(&p->c, &ret), BR_FAILED_REPLY);
	bt_expect_error(&p->c, BR_FAILED_REPLY, 1);
	works(p);
	pair_close(p);
}

static const struct test_case cases[] = {
	QUICK(test_fd_object_is_refused),
	QUICK(test_fd_object_in_oneway_is_refused),
	QUICK(test_fd_object_in_reply_is_refused),
	QUICK(test_fd_object_behind_good_ones_undoes_them),
	QUICK(test_ptr_object_without_room_is_refused),
	QUICK(test_scatter_gather_call_is_refused),
	QUICK(test_scatter_gather_call_without_pieces_is_answered_or_refused),
	QUICK(test_fd_array_is_refused),
	QUICK(test_freeze_commands_are_refused_with_einval),
	QUICK(test_freeze_ioctls_are_refused_with_einval),
	QUICK(test_spam_detection_ioctl_is_refused_with_einval),
	QUICK(test_update_flag_without_freezing_is_delivered),
	QUICK(test_security_context_is_given_or_the_call_fails),
};

TEST_MAIN(cases)
