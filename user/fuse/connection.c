// SPDX-License-Identifier: GPL-2.0-only
#include "user/fuse/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/kapi.h"
#include "user/fuse/abi.h"
#include "user/host/say.h"

/* The largest ioctl argument that comes back: struct binderfs_device. */
#define IOCTL_OUT_MAX 512

static int channel_fd[BINDER_CHANNELS] = { -1, -1 };

/**
 * binder_fuse_open() - open the FUSE device
 * Return: 0, or -errno after saying what is wrong and what to do.
 */
int binder_fuse_open(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		int err = errno;

		binder_say("cannot open /dev/fuse: %s\n", strerror(err));
		if (err == ENOENT || err == ENODEV || err == ENXIO)
			binder_say("  there is no FUSE here: `modprobe fuse`; in a container, start it with --device /dev/fuse\n");
		else if (err == EACCES || err == EPERM)
			binder_say("  run anybinderd as root; in a container, allow the device (--device /dev/fuse)\n");
		return -err;
	}
	channel_fd[BINDER_CHANNEL_MAIN] = fd;
	return 0;
}

/** binder_fuse_fd() - the descriptor that mount(2) wants to know */
int binder_fuse_fd(void)
{
	return channel_fd[BINDER_CHANNEL_MAIN];
}

/**
 * binder_fuse_read() - the next request
 * Context: blocks on the main channel.
 * Return: its length; -EINTR, -EAGAIN, -ENOENT: none this time; -ENODEV: the
 * filesystem is unmounted; other -errno.
 */
ssize_t binder_fuse_read(int channel, void *buf, size_t size)
{
	ssize_t n = read(channel_fd[channel], buf, size);

	if (n < 0)
		return errno == ECONNABORTED ? -ENODEV : -errno;
	return n;
}

/* A caller that is gone (ENOENT) needs no answer, and an unmounted filesystem nobody. */
static int sent(ssize_t n, const char *what)
{
	int err = errno;

	if (n >= 0)
		return 0;
	if (err != ENOENT && err != ENODEV && err != ECONNABORTED)
		pr_err_ratelimited("FUSE refused %s: %s\n", what, strerror(err));
	return -err;
}

/**
 * binder_fuse_error() - answer a request that carries no data
 * @error: 0 or -errno
 */
void binder_fuse_error(int channel, u64 unique, int error)
{
	struct fuse_out_header out = { .len = sizeof(out), .error = error, .unique = unique };

	sent(write(channel_fd[channel], &out, sizeof(out)), "an answer");
}

/**
 * binder_fuse_reply() - answer a request with data
 * Return: 0 when the kernel took it, else -errno: nobody got the answer.
 */
int binder_fuse_reply(int channel, u64 unique, const void *data, size_t len)
{
	struct fuse_out_header out = { .len = sizeof(out) + len, .unique = unique };
	struct iovec iov[2] = {
		{ .iov_base = &out, .iov_len = sizeof(out) },
		{ .iov_base = (void *)data, .iov_len = len },
	};

	return sent(writev(channel_fd[channel], iov, 2), "data");
}

/*
 * writev() of memory that a sender may be storing into: of a page that holds a
 * buffer that is being filled, beside the one this is about. Whoever fills it
 * pushes it when it is complete, so it does not matter what of it goes along;
 * ThreadSanitizer, which watches libc, need not know.
 */
static ssize_t writev_live(int channel, const struct iovec *iov, int nr)
{
	return syscall(SYS_writev, channel_fd[channel], iov, nr);
}

/**
 * binder_fuse_reply_live() - binder_fuse_reply() with memory that clients map
 * Return: as of that.
 */
int binder_fuse_reply_live(int channel, u64 unique, const void *data, size_t len)
{
	struct fuse_out_header out = { .len = sizeof(out) + len, .unique = unique };
	struct iovec iov[2] = {
		{ .iov_base = &out, .iov_len = sizeof(out) },
		{ .iov_base = (void *)data, .iov_len = len },
	};

	return sent(writev_live(channel, iov, 2), "a page");
}

/**
 * binder_fuse_reply_ioctl() - answer an ioctl
 * @result: what the ioctl returns: 0 or -errno. The argument goes back to the
 *          caller's memory all the same.
 * @data: the argument, @len bytes, at most IOCTL_OUT_MAX
 */
int binder_fuse_reply_ioctl(int channel, u64 unique, int result, const void *data, size_t len)
{
	struct {
		struct fuse_out_header out;
		struct fuse_ioctl_out ioctl;
		u8 data[IOCTL_OUT_MAX];
	} msg;
	size_t total = offsetof(typeof(msg), data) + len;

	if (WARN_ON_ONCE(len > sizeof(msg.data)))
		return -EIO;
	msg.out = (struct fuse_out_header){ .len = total, .unique = unique };
	msg.ioctl = (struct fuse_ioctl_out){ .result = result };
	if (len)
		memcpy(msg.data, data, len);
	return sent(write(channel_fd[channel], &msg, total), "an ioctl's answer");
}

/** binder_fuse_notify_poll() - whoever polls open @kh shall look again */
void binder_fuse_notify_poll(u64 kh)
{
	struct {
		struct fuse_out_header out;
		struct fuse_notify_poll_wakeup_out poll;
	} msg = {
		.out = { .len = sizeof(msg), .error = FUSE_NOTIFY_POLL },
		.poll = { .kh = kh },
	};

	sent(write(channel_fd[BINDER_CHANNEL_MAIN], &msg, sizeof(msg)), "a poll notice");
}

/* Notices that are answered: 0; -ENOENT also when all is unmounted; other -errno. */
static int noticed(ssize_t n)
{
	if (n >= 0)
		return 0;
	return errno == ENODEV || errno == ECONNABORTED ? -ENOENT : -errno;
}

/**
 * binder_fuse_notify_store() - put data into the page cache of an inode
 * Context: may sleep until reads and writes of these pages are answered.
 * Return: 0; -ENOENT: there is no such inode any more; other -errno, when some
 * of it may have been put there.
 */
int binder_fuse_notify_store(u64 nodeid, u64 offset, const void *data, size_t len)
{
	struct {
		struct fuse_out_header out;
		struct fuse_notify_store_out store;
	} msg = {
		.out = { .len = sizeof(msg) + len, .error = FUSE_NOTIFY_STORE },
		.store = { .nodeid = nodeid, .offset = offset, .size = len },
	};
	struct iovec iov[2] = {
		{ .iov_base = &msg, .iov_len = sizeof(msg) },
		{ .iov_base = (void *)data, .iov_len = len },
	};

	return noticed(writev_live(BINDER_CHANNEL_MAIN, iov, 2));
}

/**
 * binder_fuse_notify_inval() - drop pages from the page cache of an inode
 * Context and return: as binder_fuse_notify_store().
 */
int binder_fuse_notify_inval(u64 nodeid, u64 offset, u64 len)
{
	struct {
		struct fuse_out_header out;
		struct fuse_notify_inval_inode_out inval;
	} msg = {
		.out = { .len = sizeof(msg), .error = FUSE_NOTIFY_INVAL_INODE },
		.inval = { .ino = nodeid, .off = offset, .len = len },
	};

	return noticed(write(channel_fd[BINDER_CHANNEL_MAIN], &msg, sizeof(msg)));
}

/**
 * binder_fuse_backing_open() - make a file one that opens can be backed by
 * Return: its id, for binder_fuse_backing_close(), or -errno.
 */
int binder_fuse_backing_open(int fd)
{
	struct binder_fuse_backing_map map = { .fd = fd };
	int id = ioctl(channel_fd[BINDER_CHANNEL_MAIN], BINDER_FUSE_BACKING_OPEN, &map);

	return id < 0 ? -errno : id;
}

/** binder_fuse_backing_close() - opens that use it already keep it */
void binder_fuse_backing_close(int id)
{
	u32 arg = id;

	if (ioctl(channel_fd[BINDER_CHANNEL_MAIN], BINDER_FUSE_BACKING_CLOSE, &arg))
		pr_err_ratelimited("FUSE cannot close backing file %d: %s\n", id, strerror(errno));
}

static bool passthrough_offered(const struct fuse_init_in *init)
{
	u64 offered = init->flags | ((u64)init->flags2 << 32);

	return init->minor >= BINDER_FUSE_MINOR_MAX && (offered & FUSE_PASSTHROUGH);
}

static int init_answer(const struct fuse_in_header *in, const struct fuse_init_in *init,
		       bool passthrough)
{
	u64 offered = init->flags | ((u64)init->flags2 << 32);
	u64 wanted = FUSE_INIT_EXT | FUSE_PARALLEL_DIROPS | FUSE_ATOMIC_O_TRUNC | FUSE_MAX_PAGES |
		     (passthrough ? FUSE_PASSTHROUGH : 0);
	struct binder_fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = min_t(u32, init->minor, BINDER_FUSE_MINOR_MAX),
		/* No read-ahead: a client shall have the pages it was sent, and no others. */
		.max_readahead = 0,
		.max_background = 64,
		.congestion_threshold = 48,
		.max_write = 4096,
		.time_gran = 1,
		.max_pages = 32, /* of a READ: binder_logs can be long */
		/* A backing file may itself not be on a stacked filesystem. */
		.max_stack_depth = passthrough,
	};

	if (init->major != FUSE_KERNEL_VERSION || init->minor < BINDER_FUSE_MINOR_MIN ||
	    !(init->flags & FUSE_INIT_EXT)) {
		binder_fuse_error(BINDER_CHANNEL_MAIN, in->unique, -EPROTO);
		binder_say("this kernel's FUSE (%u.%u) is too old\n  use Linux 5.17 or newer\n",
			   init->major, init->minor);
		return -EPROTO;
	}
	out.flags = (u32)(wanted & offered);
	out.flags2 = (u32)((wanted & offered) >> 32);
	return binder_fuse_reply(BINDER_CHANNEL_MAIN, in->unique, &out, sizeof(out));
}

/* Opens need backing files; find out now whether we may have them. */
static int backing_try(void)
{
	int fd = memfd_create("anybinder-try", MFD_CLOEXEC);
	int id;

	if (fd < 0)
		return -errno;
	id = binder_fuse_backing_open(fd);
	close(fd);
	if (id < 0)
		return id;
	binder_fuse_backing_close(id);
	return 0;
}

/* How clients will map, and in words why. @offered: the kernel has passthrough. */
static int mapping_choose(enum binder_mapping wanted, bool offered)
{
	int refused = offered && wanted != BINDER_MAPPING_STORE ? backing_try() : 0;
	const char *why = wanted == BINDER_MAPPING_STORE ? "as asked for" :
			  !offered ? "this kernel's FUSE has no passthrough" :
			  "FUSE passthrough is refused";
	const char *mend = !offered ?
		"it needs Linux 6.9 or newer, built with CONFIG_FUSE_PASSTHROUGH=y" :
		refused == -EPERM ?
		"it needs CAP_SYS_ADMIN in the initial user namespace: run as root outside a user namespace, in a container with --privileged" :
		strerror(-refused);

	if (wanted != BINDER_MAPPING_STORE && offered && !refused) {
		binder_mapping = BINDER_MAPPING_PASSTHROUGH;
		pr_info("clients map memory of the daemon's: FUSE passthrough\n");
		return 0;
	}
	if (wanted == BINDER_MAPPING_PASSTHROUGH) {
		binder_say("%s\n  %s; or leave out --mapping=passthrough\n", why, mend);
		return refused ? refused : -EOPNOTSUPP;
	}
	binder_mapping = BINDER_MAPPING_STORE;
	if (wanted == BINDER_MAPPING_STORE)
		pr_info("payloads are copied into clients' mappings (store), as asked for\n");
	else
		pr_info("payloads are copied into clients' mappings (store): %s; %s\n", why, mend);
	return 0;
}

static int control_channel_open(void)
{
	u32 from = channel_fd[BINDER_CHANNEL_MAIN];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || ioctl(fd, FUSE_DEV_IOC_CLONE, &from)) {
		int err = errno;

		binder_say("cannot open a second channel to FUSE: %s\n", strerror(err));
		if (fd >= 0)
			close(fd);
		return -err;
	}
	channel_fd[BINDER_CHANNEL_CONTROL] = fd;
	return 0;
}

/**
 * binder_fuse_handshake() - agree with the kernel on the protocol, and how clients map
 * @wanted: how they should; sets binder_mapping
 * Once, after mount(2), before any other thread reads requests.
 * Context: sleeps until the kernel speaks.
 * Return: 0, or -errno after saying what is wrong.
 */
int binder_fuse_handshake(enum binder_mapping wanted)
{
	static u8 buf[BINDER_REQUEST_MAX] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const void *)buf;
	const struct fuse_init_in *init = (const void *)(in + 1);
	bool offered;
	ssize_t n;
	int ret;

	do
		n = binder_fuse_read(BINDER_CHANNEL_MAIN, buf, sizeof(buf));
	while (n == -EINTR);
	if (n < 0) {
		binder_say("FUSE said no word after mount: %s\n", strerror((int)-n));
		return (int)n;
	}
	if (in->opcode != FUSE_INIT || (size_t)n < sizeof(*in) + sizeof(struct fuse_init_in)) {
		binder_say("FUSE began with request %u instead of INIT\n", in->opcode);
		return -EPROTO;
	}
	offered = passthrough_offered(init);
	ret = init_answer(in, init, offered && wanted != BINDER_MAPPING_STORE);
	if (!ret)
		ret = mapping_choose(wanted, offered);
	if (!ret)
		ret = control_channel_open();
	return ret;
}
