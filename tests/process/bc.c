// SPDX-License-Identifier: MIT
#include "bc.h"

#include "child.h"
#include "driver.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/**
 * bc_try_open() - open and map a device
 * @device: the name of one of the driver under test, or the path of another's
 * @map_size: 0: do not map
 * Return: 0 or -errno, with nothing left open.
 */
int bc_try_open(struct bc *b, const char *device, int flags, size_t map_size)
{
	char path[PATH_MAX + 256];
	void *map = NULL;

	if (device[0] == '/')
		snprintf(path, sizeof(path), "%s", device);
	else
		snprintf(path, sizeof(path), "%s/%s", driver_dir(), device);
	memset(b, 0, sizeof(*b));
	b->fd = open(path, O_RDWR | O_CLOEXEC | flags);
	if (b->fd < 0)
		return -errno;
	if (map_size)
		map = mmap(NULL, map_size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, b->fd, 0);
	if (map == MAP_FAILED) {
		int err = -errno;

		close(b->fd);
		return err;
	}
	b->nonblock = flags & O_NONBLOCK;
	b->map = map;
	b->map_size = map_size;
	return 0;
}

/** bc_open_device() - open and map a device that must be there. */
void bc_open_device(struct bc *b, const char *device, size_t map_size)
{
	int err = bc_try_open(b, device, 0, map_size);

	if (err)
		FAIL("open %s/%s: %s", driver_dir(), device, strerror(-err));
}

/** bc_open() - open and map the device "binder"; @map_size 0 means BC_MAP_SIZE. */
void bc_open(struct bc *b, size_t map_size)
{
	bc_open_device(b, "binder", map_size ? map_size : BC_MAP_SIZE);
}

/** bc_open_nonblock() - as bc_open(), with O_NONBLOCK. */
void bc_open_nonblock(struct bc *b, size_t map_size)
{
	int err = bc_try_open(b, "binder", O_NONBLOCK, map_size ? map_size : BC_MAP_SIZE);

	if (err)
		FAIL("open %s/binder: %s", driver_dir(), strerror(-err));
}

/** bc_close() - unmap and close. */
void bc_close(struct bc *b)
{
	if (b->map)
		munmap((void *)b->map, b->map_size);
	close(b->fd);
	b->map = NULL;
	b->fd = -1;
}

/** bc_become_manager() - Return: 0 or -errno. */
int bc_become_manager(struct bc *b)
{
	int32_t zero = 0;

	return ioctl(b->fd, BINDER_SET_CONTEXT_MGR, &zero) ? -errno : 0;
}

/** msg_init() - an empty message. */
void msg_init(struct msg *m)
{
	m->size = m->nr = 0;
	m->ext = NULL;
	m->ext_size = 0;
}

/** msg_bytes() - append bytes. */
void msg_bytes(struct msg *m, const void *p, size_t n)
{
	CHECK(m->size + n <= sizeof(m->buf));
	memcpy(m->buf + m->size, p, n);
	m->size += n;
}

/** msg_u32() - append a number. */
void msg_u32(struct msg *m, uint32_t v)
{
	msg_bytes(m, &v, sizeof(v));
}

/** msg_ext() - let the payload be @p, which must live until it was sent. */
void msg_ext(struct msg *m, const void *p, size_t n)
{
	m->ext = p;
	m->ext_size = n;
}

/** msg_object() - append an object and its offset. */
void msg_object(struct msg *m, const void *obj, size_t n)
{
	CHECK(m->nr < MSG_OBJS);
	m->offs[m->nr++] = m->size;
	msg_bytes(m, obj, n);
}

/** msg_flat() - append a flat object of any type. */
void msg_flat(struct msg *m, uint32_t type, uint64_t binder_or_handle, uint64_t cookie,
	      uint32_t flags)
{
	struct flat_binder_object fbo = { 0 };

	fbo.hdr.type = type;
	fbo.flags = flags;
	if (type == BINDER_TYPE_BINDER || type == BINDER_TYPE_WEAK_BINDER)
		fbo.binder = binder_or_handle;
	else
		fbo.handle = binder_or_handle;
	fbo.cookie = cookie;
	msg_object(m, &fbo, sizeof(fbo));
}

/** msg_binder() - append an object of our own. */
void msg_binder(struct msg *m, uint64_t ptr, uint64_t cookie)
{
	msg_flat(m, BINDER_TYPE_BINDER, ptr, cookie, 0);
}

/** msg_handle() - append somebody else's object. */
void msg_handle(struct msg *m, uint32_t handle)
{
	msg_flat(m, BINDER_TYPE_HANDLE, handle, 0, 0);
}

/** br_name() - a return's name, for messages. */
const char *br_name(uint32_t cmd)
{
	static const char *const names[] = {
		"BR_ERROR", "BR_OK", "BR_TRANSACTION", "BR_REPLY", "BR_ACQUIRE_RESULT",
		"BR_DEAD_REPLY", "BR_TRANSACTION_COMPLETE", "BR_INCREFS", "BR_ACQUIRE",
		"BR_RELEASE", "BR_DECREFS", "BR_ATTEMPT_ACQUIRE", "BR_NOOP", "BR_SPAWN_LOOPER",
		"BR_FINISHED", "BR_DEAD_BINDER", "BR_CLEAR_DEATH_NOTIFICATION_DONE",
		"BR_FAILED_REPLY", "BR_FROZEN_REPLY", "BR_ONEWAY_SPAM_SUSPECT",
		"BR_TRANSACTION_PENDING_FROZEN", "BR_FROZEN_BINDER",
		"BR_CLEAR_FREEZE_NOTIFICATION_DONE",
	};
	unsigned int nr = _IOC_NR(cmd);

	return _IOC_TYPE(cmd) == 'r' && nr < ARRAY_SIZE(names) ? names[nr] : "an unknown return";
}

/** bt_init() - start a thread's conversation. */
void bt_init(struct bt *t, struct bc *b)
{
	memset(t, 0, sizeof(*t));
	t->b = b;
}

/** bt_put() - queue raw bytes of commands. */
void bt_put(struct bt *t, const void *p, size_t n)
{
	CHECK(t->out_len + n <= sizeof(t->out));
	memcpy(t->out + t->out_len, p, n);
	t->out_len += n;
}

/** bt_cmd() - queue a command without payload. */
void bt_cmd(struct bt *t, uint32_t cmd)
{
	bt_put(t, &cmd, sizeof(cmd));
}

/** bt_ref() - queue BC_INCREFS, ACQUIRE, RELEASE or DECREFS. */
void bt_ref(struct bt *t, uint32_t cmd, uint32_t handle)
{
	bt_cmd(t, cmd);
	bt_put(t, &handle, sizeof(handle));
}

/** bt_done() - queue BC_INCREFS_DONE or BC_ACQUIRE_DONE. */
void bt_done(struct bt *t, uint32_t cmd, uint64_t ptr, uint64_t cookie)
{
	struct binder_ptr_cookie pc = { ptr, cookie };

	bt_cmd(t, cmd);
	bt_put(t, &pc, sizeof(pc));
}

/** bt_death() - queue BC_REQUEST or CLEAR_DEATH_NOTIFICATION. */
void bt_death(struct bt *t, uint32_t cmd, uint32_t handle, uint64_t cookie)
{
	struct binder_handle_cookie hc = { .handle = handle, .cookie = cookie };

	bt_cmd(t, cmd);
	bt_put(t, &hc, sizeof(hc));
}

/** bt_cookie() - queue a command whose payload is one 64-bit number. */
void bt_cookie(struct bt *t, uint32_t cmd, uint64_t cookie)
{
	bt_cmd(t, cmd);
	bt_put(t, &cookie, sizeof(cookie));
}

/** bt_free() - queue BC_FREE_BUFFER. */
void bt_free(struct bt *t, uint64_t addr)
{
	bt_cookie(t, BC_FREE_BUFFER, addr);
}

/** bt_raw() - queue BC_TRANSACTION or BC_REPLY as given. */
void bt_raw(struct bt *t, uint32_t cmd, const struct binder_transaction_data *tr)
{
	bt_cmd(t, cmd);
	bt_put(t, tr, sizeof(*tr));
}

/** bt_send() - queue BC_TRANSACTION or BC_REPLY; @m must live until it was sent. */
void bt_send(struct bt *t, uint32_t cmd, uint32_t handle, uint32_t code, uint32_t flags,
	     const struct msg *m)
{
	struct binder_transaction_data tr = { 0 };

	tr.target.handle = handle;
	tr.code = code;
	tr.flags = flags;
	if (m) {
		tr.data_size = m->ext ? m->ext_size : m->size;
		tr.data.ptr.buffer = (uintptr_t)(m->ext ? m->ext : m->buf);
		tr.offsets_size = m->nr * sizeof(m->offs[0]);
		tr.data.ptr.offsets = (uintptr_t)m->offs;
	}
	bt_raw(t, cmd, &tr);
}

/**
 * bt_ioctl() - one BINDER_WRITE_READ with all queued commands
 * @want_read: also read; all returns of the last read must have been taken
 *
 * Commands the driver did not consume stay queued.
 * Return: 0 or -errno.
 */
int bt_ioctl(struct bt *t, bool want_read)
{
	struct binder_write_read bwr = {
		.write_size = t->out_len,
		.write_buffer = (uintptr_t)t->out,
		.read_size = want_read ? sizeof(t->in) : 0,
		.read_buffer = (uintptr_t)t->in,
	};
	int err;

	if (want_read)
		CHECK_EQ(t->in_pos, t->in_len);
	t->ioctls++;
	err = ioctl(t->b->fd, BINDER_WRITE_READ, &bwr) < 0 ? -errno : 0;
	CHECK(bwr.write_consumed <= t->out_len && bwr.read_consumed <= sizeof(t->in));
	t->out_len -= bwr.write_consumed;
	memmove(t->out, t->out + bwr.write_consumed, t->out_len);
	if (want_read) {
		t->in_len = bwr.read_consumed;
		t->in_pos = 0;
	}
	return err;
}

/** bt_flush() - write all queued commands, read nothing. */
void bt_flush(struct bt *t)
{
	int err;

	while (t->out_len) {
		size_t left = t->out_len;

		err = bt_ioctl(t, false);
		if (err && err != -EINTR)
			FAIL("BINDER_WRITE_READ (write): %s", strerror(-err));
		if (t->out_len == left && !err)
			FAIL("%zu bytes of commands are not consumed", left);
	}
}

/**
 * bt_next() - the next return of the last read, but BR_NOOP and BR_SPAWN_LOOPER
 * Return: false when there is none left.
 */
bool bt_next(struct bt *t, struct bt_ret *ret)
{
	while (t->in_pos < t->in_len) {
		uint32_t cmd;
		size_t size;

		CHECK(t->in_len - t->in_pos >= sizeof(cmd));
		memcpy(&cmd, t->in + t->in_pos, sizeof(cmd));
		if (_IOC_TYPE(cmd) != 'r' || _IOC_NR(cmd) >= 32)
			FAIL("return %#x at byte %zu of %zu is none", cmd, t->in_pos, t->in_len);
		size = _IOC_SIZE(cmd);
		t->in_pos += sizeof(cmd);
		CHECK(t->in_len - t->in_pos >= size && size <= sizeof(*ret) - 8);
		ret->cmd = cmd;
		memcpy(&ret->tr, t->in + t->in_pos, size);
		t->in_pos += size;
		BT_GOT(t, cmd)++;
		if (cmd != BR_NOOP && cmd != BR_SPAWN_LOOPER)
			return true;
	}
	return false;
}

/* Reads until there is a return; the error that ended it, or 0. */
static int wait_return(struct bt *t, struct bt_ret *ret)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;

	while (!bt_next(t, ret)) {
		int err = bt_ioctl(t, true);

		if (test_failed())
			_exit(1);
		if (err == -EAGAIN && test_now_ms() < end)
			test_sleep_ms(1);
		else if (err && err != -EINTR)
			return err;
	}
	return 0;
}

/** bt_wait() - the next return, reading as often as needed. */
void bt_wait(struct bt *t, struct bt_ret *ret)
{
	int err = wait_return(t, ret);

	if (err)
		FAIL("BINDER_WRITE_READ: %s", strerror(-err));
}

/* Answers a reference command; false if @ret is none. */
static bool answer_ref(struct bt *t, const struct bt_ret *ret)
{
	switch (ret->cmd) {
	case BR_INCREFS:
		bt_done(t, BC_INCREFS_DONE, ret->ref.ptr, ret->ref.cookie);
		return true;
	case BR_ACQUIRE:
		bt_done(t, BC_ACQUIRE_DONE, ret->ref.ptr, ret->ref.cookie);
		return true;
	case BR_RELEASE:
	case BR_DECREFS:
		return true;
	}
	return false;
}

/** bt_expect_at() - the next return must be @cmd; see bt_expect(). */
void bt_expect_at(const char *file, int line, struct bt *t, uint32_t cmd, struct bt_ret *ret)
{
	struct bt_ret own;
	int err;

	if (!ret)
		ret = &own;
	err = wait_return(t, ret);
	if (err)
		test_fail(file, line, "got %s, wanted %s", strerror(-err), br_name(cmd));
	if (ret->cmd != cmd)
		test_fail(file, line, "got %s, wanted %s", br_name(ret->cmd), br_name(cmd));
}

/** bt_quiet_at() - there must be nothing to read now; see bt_quiet(). */
void bt_quiet_at(const char *file, int line, struct bt *t)
{
	struct bt_ret ret;
	int err;

	if (bt_next(t, &ret))
		test_fail(file, line, "got %s, wanted nothing", br_name(ret.cmd));
	CHECK(t->b->nonblock);
	err = bt_ioctl(t, true);
	if (!err && bt_next(t, &ret))
		test_fail(file, line, "got %s, wanted nothing", br_name(ret.cmd));
	if (err != -EAGAIN && err)
		test_fail(file, line, "a read that finds nothing says %s", strerror(-err));
}

/** bt_until_at() - answer reference commands until @cmd comes; see bt_until(). */
void bt_until_at(const char *file, int line, struct bt *t, uint32_t cmd, struct bt_ret *ret)
{
	struct bt_ret own;
	int err;

	if (!ret)
		ret = &own;
	for (;;) {
		err = wait_return(t, ret);
		if (err)
			test_fail(file, line, "got %s, wanted %s", strerror(-err), br_name(cmd));
		if (ret->cmd == cmd)
			return;
		if (!answer_ref(t, ret))
			test_fail(file, line, "got %s, wanted %s", br_name(ret->cmd), br_name(cmd));
	}
}

/** bt_settle() - answer all reference commands that are there; nothing else may be. */
void bt_settle(struct bt *t)
{
	struct bt_ret ret;
	int err = 0;

	CHECK(t->b->nonblock);
	while (err != -EAGAIN) {
		while (bt_next(t, &ret))
			if (!answer_ref(t, &ret))
				FAIL("got %s, wanted reference commands only", br_name(ret.cmd));
		err = bt_ioctl(t, true);
		if (err && err != -EAGAIN)
			FAIL("BINDER_WRITE_READ: %s", strerror(-err));
	}
}

/**
 * bt_event() - the next return that is not bookkeeping
 * Answers reference commands (the answers go out with the next ioctl), counts
 * completions.
 */
uint32_t bt_event(struct bt *t, struct bt_ret *ret)
{
	for (;;) {
		bt_wait(t, ret);
		if (!answer_ref(t, ret) && ret->cmd != BR_TRANSACTION_COMPLETE)
			return ret->cmd;
	}
}

/**
 * bt_try() - as bt_event(), but do not wait
 * Return: false if there is nothing now.
 */
bool bt_try(struct bt *t, struct bt_ret *ret)
{
	CHECK(t->b->nonblock);
	for (;;) {
		while (bt_next(t, ret))
			if (!answer_ref(t, ret) && ret->cmd != BR_TRANSACTION_COMPLETE)
				return true;
		if (bt_ioctl(t, true) == -EAGAIN)
			return false;
	}
}

/**
 * bt_finish() - wait for the outcome of a call that was queued or sent
 * Serves calls that come meanwhile.
 * Return: for a call BR_REPLY (and *@reply) or the error return; for a one-way
 * call BR_TRANSACTION_COMPLETE or the error return.
 */
uint32_t bt_finish(struct bt *t, bool oneway, struct binder_transaction_data *reply)
{
	struct bt_ret ret;

	for (;;) {
		if (oneway)
			bt_wait(t, &ret);
		else
			bt_event(t, &ret);
		switch (ret.cmd) {
		case BR_TRANSACTION:
			if (!t->handler)
				FAIL("got BR_TRANSACTION while waiting for a reply");
			bt_serve(t, &ret.tr);
			break;
		case BR_DEAD_BINDER:
			t->dead = ret.cookie;
			bt_cookie(t, BC_DEAD_BINDER_DONE, ret.cookie);
			break;
		case BR_CLEAR_DEATH_NOTIFICATION_DONE:
			break;
		case BR_REPLY:
			if (reply)
				*reply = ret.tr;
			return ret.cmd;
		default:
			if (!answer_ref(t, &ret))
				return ret.cmd;
		}
	}
}

/** bt_call() - send and wait; see bt_finish(). The caller frees the reply's buffer. */
uint32_t bt_call(struct bt *t, uint32_t handle, uint32_t code, uint32_t flags,
		 const struct msg *m, struct binder_transaction_data *reply)
{
	bt_send(t, BC_TRANSACTION, handle, code, flags, m);
	return bt_finish(t, flags & TF_ONE_WAY, reply);
}

/** bt_call_ok_at() - a call that must be answered; see bt_call_ok(). */
void bt_call_ok_at(const char *file, int line, struct bt *t, uint32_t handle, uint32_t code,
		   const struct msg *m, struct binder_transaction_data *reply)
{
	uint32_t got = bt_call(t, handle, code, 0, m, reply);
	struct binder_extended_error ee = { 0 };

	if (got == BR_REPLY)
		return;
	ioctl(t->b->fd, BINDER_GET_EXTENDED_ERROR, &ee);
	test_fail(file, line, "call of handle %u code %u: %s (%s %d)", handle, code, br_name(got),
		  br_name(ee.command), ee.param);
}

/** bt_ping_at() - an empty call that must be answered, reply freed; see bt_ping(). */
void bt_ping_at(const char *file, int line, struct bt *t, uint32_t handle, uint32_t code)
{
	struct binder_transaction_data reply;

	bt_call_ok_at(file, line, t, handle, code, NULL, &reply);
	bt_free(t, reply.data.ptr.buffer);
	bt_flush(t);
}

/** bt_enter() - become a looper. */
void bt_enter(struct bt *t)
{
	bt_cmd(t, BC_ENTER_LOOPER);
	bt_flush(t);
}

/** bt_serve() - run the handler; queue the reply and the release of the buffer. */
void bt_serve(struct bt *t, const struct binder_transaction_data *tr)
{
	struct msg *reply = &t->replies[t->depth];

	CHECK(t->depth + 1 < BT_DEPTH);
	t->depth++;
	msg_init(reply);
	t->handler(t, tr, reply);
	t->depth--;
	if (!(tr->flags & TF_ONE_WAY))
		bt_send(t, BC_REPLY, 0, 0, t->reply_flags, reply);
	if (!t->keep_buffers)
		bt_free(t, tr->data.ptr.buffer);
}

/** bt_serve_one() - wait for one call and serve it; the reply is only queued. */
void bt_serve_one(struct bt *t)
{
	struct bt_ret ret;

	for (;;) {
		uint32_t cmd = bt_event(t, &ret);

		switch (cmd) {
		case BR_TRANSACTION:
			bt_serve(t, &ret.tr);
			return;
		case BR_DEAD_BINDER:
			t->dead = ret.cookie;
			bt_cookie(t, BC_DEAD_BINDER_DONE, ret.cookie);
			break;
		case BR_CLEAR_DEATH_NOTIFICATION_DONE:
		case BR_DEAD_REPLY: /* our caller has gone */
		case BR_FAILED_REPLY:
			break;
		default:
			FAIL("a server got %s", br_name(cmd));
		}
	}
}

/** bt_loop() - serve until killed. */
void bt_loop(struct bt *t)
{
	for (;;)
		bt_serve_one(t);
}

/** bt_warm() - do a thread's first read, which returns at once whatever there is. */
void bt_warm(struct bt *t)
{
	int err = bt_ioctl(t, true);

	/* a thread whose first ioctl was another one */
	if (err != -EAGAIN || !t->b->nonblock)
		CHECK_EQ(err, 0);
	CHECK_LE(t->in_len, 4);
	t->in_pos = t->in_len;
}

/** bc_works() - is the device still of use? */
void bc_works(struct bc *b)
{
	struct binder_version v = { 0 };

	if (ioctl(b->fd, BINDER_VERSION, &v))
		FAIL("BINDER_VERSION: %s", strerror(errno));
	CHECK_EQ(v.protocol_version, BINDER_CURRENT_PROTOCOL_VERSION);
}

/** tr_data() - a received payload. */
const void *tr_data(const struct binder_transaction_data *tr)
{
	return (const void *)(uintptr_t)tr->data.ptr.buffer;
}

/** tr_u32() - a number of a received payload. */
uint32_t tr_u32(const struct binder_transaction_data *tr, size_t index)
{
	CHECK(tr->data_size >= (index + 1) * 4);
	return ((const uint32_t *)tr_data(tr))[index];
}

/** tr_object() - an object of a received payload. */
const struct flat_binder_object *tr_object(const struct binder_transaction_data *tr, size_t index)
{
	const binder_size_t *offs = (const void *)(uintptr_t)tr->data.ptr.offsets;

	CHECK(tr->offsets_size >= (index + 1) * sizeof(*offs));
	return (const void *)((const uint8_t *)tr_data(tr) + offs[index]);
}

/** bt_error() - take the thread's last error. */
void bt_error(struct bt *t, struct binder_extended_error *ee)
{
	memset(ee, 0, sizeof(*ee));
	if (ioctl(t->b->fd, BINDER_GET_EXTENDED_ERROR, ee))
		FAIL("BINDER_GET_EXTENDED_ERROR: %s", strerror(errno));
}

/**
 * bt_expect_error_at() - the thread's last error; see bt_expect_error()
 * @param: negative errno; 1 means any negative number
 */
void bt_expect_error_at(const char *file, int line, struct bt *t, uint32_t cmd, int param)
{
	struct binder_extended_error ee;

	bt_error(t, &ee);
	if (ee.command != cmd || (param == 1 ? ee.param >= 0 : ee.param != param))
		test_fail(file, line, "extended error is %s %d, wanted %s %d", br_name(ee.command),
			  ee.param, br_name(cmd), param);
}
