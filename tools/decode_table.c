// SPDX-License-Identifier: MIT
#include "tools/decode.h"

#include <errno.h>
#include <string.h>

#include "anybinder.h"
#include "uapi/binder.h"
#include "uapi/binderfs.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/** struct entry - @number has a @name; @words may be NULL */
struct entry {
	uint32_t number;
	const char *name, *words;
};

#define NAMED(name) { name, #name, NULL }
#define SAYS(name, words) { name, #name, words }

static const struct entry returns[] = {
	SAYS(BR_ERROR, "the driver could not go on for this thread"),
	NAMED(BR_OK),
	SAYS(BR_TRANSACTION_SEC_CTX, "a call has come, with the caller's security context"),
	SAYS(BR_TRANSACTION, "a call has come"),
	SAYS(BR_REPLY, "the reply to a call of this thread's"),
	NAMED(BR_ACQUIRE_RESULT),
	SAYS(BR_DEAD_REPLY, "a call could not be delivered: nobody is context manager (no service "
	     "manager runs on this device), or the process that was called is dead. For handle 0, "
	     "as in endless \"29189/-22\" lines, it is the first: start the service manager "
	     "(anybinder-servicemanager, or Android itself) before its clients; `anybinder doctor` "
	     "looks closer"),
	SAYS(BR_TRANSACTION_COMPLETE, "the driver has taken a call or a reply"),
	NAMED(BR_INCREFS), NAMED(BR_ACQUIRE), NAMED(BR_RELEASE), NAMED(BR_DECREFS),
	NAMED(BR_ATTEMPT_ACQUIRE),
	SAYS(BR_NOOP, "nothing"),
	SAYS(BR_SPAWN_LOOPER, "the driver asks the process for one more thread"),
	NAMED(BR_FINISHED),
	SAYS(BR_DEAD_BINDER, "the process of an object has died"),
	NAMED(BR_CLEAR_DEATH_NOTIFICATION_DONE),
	SAYS(BR_FAILED_REPLY, "the driver refused a call: the errno behind it says why; most often "
	     "no space in the receiver's mapping (-28), a handle or object that makes no sense "
	     "(-22), or a security module (-1). The driver's failed_transaction_log has who and "
	     "whom"),
	SAYS(BR_FROZEN_REPLY, "the process that was called is frozen"),
	SAYS(BR_ONEWAY_SPAM_SUSPECT, "this process fills a receiver with one-way calls"),
	SAYS(BR_TRANSACTION_PENDING_FROZEN, "a one-way call waits until its receiver is thawed"),
	NAMED(BR_FROZEN_BINDER), NAMED(BR_CLEAR_FREEZE_NOTIFICATION_DONE),
};

static const struct entry commands[] = {
	SAYS(BC_TRANSACTION, "call"), SAYS(BC_REPLY, "reply"), NAMED(BC_ACQUIRE_RESULT),
	SAYS(BC_FREE_BUFFER, "give a received message back"), NAMED(BC_INCREFS), NAMED(BC_ACQUIRE),
	NAMED(BC_RELEASE), NAMED(BC_DECREFS), NAMED(BC_INCREFS_DONE), NAMED(BC_ACQUIRE_DONE),
	NAMED(BC_ATTEMPT_ACQUIRE), SAYS(BC_REGISTER_LOOPER, "a thread that the driver asked for"),
	SAYS(BC_ENTER_LOOPER, "a thread of the process's own serves"), NAMED(BC_EXIT_LOOPER),
	SAYS(BC_REQUEST_DEATH_NOTIFICATION, "link to the death of an object's process"),
	NAMED(BC_CLEAR_DEATH_NOTIFICATION), NAMED(BC_DEAD_BINDER_DONE),
	SAYS(BC_TRANSACTION_SG, "call, with buffers"), SAYS(BC_REPLY_SG, "reply, with buffers"),
	NAMED(BC_REQUEST_FREEZE_NOTIFICATION), NAMED(BC_CLEAR_FREEZE_NOTIFICATION),
	NAMED(BC_FREEZE_NOTIFICATION_DONE),
};

static const struct entry ioctls[] = {
	SAYS(BINDER_WRITE_READ, "all calls and replies"), NAMED(BINDER_SET_IDLE_TIMEOUT),
	NAMED(BINDER_SET_MAX_THREADS), NAMED(BINDER_SET_IDLE_PRIORITY),
	SAYS(BINDER_SET_CONTEXT_MGR, "become the context manager; -16: somebody is, -1: another "
	     "user was"),
	NAMED(BINDER_THREAD_EXIT),
	SAYS(BINDER_VERSION, "protocol version; -22 or -25: not a binder device"),
	NAMED(BINDER_GET_NODE_DEBUG_INFO), NAMED(BINDER_GET_NODE_INFO_FOR_REF),
	SAYS(BINDER_SET_CONTEXT_MGR_EXT, "become the context manager; -16: somebody is, -1: another "
	     "user was"),
	NAMED(BINDER_FREEZE), NAMED(BINDER_GET_FROZEN_INFO),
	SAYS(BINDER_ENABLE_ONEWAY_SPAM_DETECTION, "-22: the driver cannot; harmless"),
	NAMED(BINDER_GET_EXTENDED_ERROR), SAYS(BINDER_CTL_ADD, "make a device in binderfs"),
};

static const struct entry metas[] = {
	SAYS(AB_META_PING, "'_PNG': does the object answer?"),
	SAYS(AB_META_INTERFACE, "'_NTF': what is its interface?"),
	SAYS(AB_META_DUMP, "'_DMP': print its state"),
	SAYS(AB_META_EXTENSION, "'_EXT': its extension object"),
	SAYS(AB_META_DEBUG_PID, "'_PID': its process"),
	SAYS(AB_META_SHELL, "'_CMD': a shell command"),
	SAYS(AB_META_SYSPROPS, "'_SPR': system properties have changed"),
};

static const struct entry types[] = {
	SAYS(BINDER_TYPE_BINDER, "an object of the sender's, or the null object"),
	SAYS(BINDER_TYPE_WEAK_BINDER, "weakly, an object of the sender's"),
	SAYS(BINDER_TYPE_HANDLE, "an object of somebody else's"),
	SAYS(BINDER_TYPE_WEAK_HANDLE, "weakly, an object of somebody else's"),
	SAYS(BINDER_TYPE_FD, "a file descriptor"), SAYS(BINDER_TYPE_FDA, "file descriptors"),
	SAYS(BINDER_TYPE_PTR, "a buffer"),
};

/* What binder's drivers and libraries mean by an errno. */
static const struct {
	int error;
	const char *words;
} errors[] = {
	{ -EPERM, "not permitted: by a security module, or another user was context manager" },
	{ -ENOENT, "no such name; for a device: nothing is there" },
	{ -ESRCH, "the receiver is gone" },
	{ -EBADF, "a descriptor that is not open" },
	{ -EAGAIN, "the receiver is frozen, or nothing is there to read" },
	{ -ENOMEM, "out of memory" },
	{ -EACCES, "the device's permissions, or the service manager's policy" },
	{ -EFAULT, "memory that cannot be read or written" },
	{ -EBUSY, "somebody is context manager already" },
	{ -EINVAL, "something that makes no sense; with handle 0: nobody is context manager" },
	{ -ENOTTY, "not a binder device" },
	{ -ENOSPC, "no space in the receiver's mapping: the message is too large, or too many wait "
	  "unread" },
	{ -EPIPE, "DEAD_OBJECT: the other side is dead" },
	{ -ENODATA, "NOT_ENOUGH_DATA: a message is shorter than was read" },
	{ -EPROTO, "not the time for it: the thread waits for another reply" },
	{ -EBADMSG, "UNKNOWN_TRANSACTION: the object has no such call; another Android version?" },
	{ -ENOTCONN, "the daemon that was the driver has gone" },
};

static const struct {
	int64_t number;
	const char *name, *words;
} statuses[] = {
	{ AB_UNKNOWN_ERROR, "UNKNOWN_ERROR", NULL },
	{ AB_BAD_TYPE, "BAD_TYPE", "another interface's token, or something else than was read" },
	{ AB_FAILED_TRANSACTION, "FAILED_TRANSACTION",
	  "the driver refused a call: see failed_transaction_log; often larger than 1 MiB" },
	{ AB_FDS_NOT_ALLOWED, "FDS_NOT_ALLOWED", NULL },
	{ AB_UNEXPECTED_NULL, "UNEXPECTED_NULL", NULL },
};

/* "29189/-22" and the like: what it is nearly always. */
static const struct {
	uint32_t command;
	int error;
	const char *words;
} pairs[] = {
	{ BR_DEAD_REPLY, -EINVAL, "nobody is context manager on this device: no service manager "
	  "runs. Start it before its clients (anybinder-servicemanager, or the container that has "
	  "Android's); `anybinder doctor` looks closer, `anybinder wait` waits for it" },
	{ BR_DEAD_REPLY, -ESRCH, "the process that was called has died" },
	{ BR_DEAD_REPLY, 0, "the process that was called has died, or there is no context manager" },
	{ BR_FAILED_REPLY, -ENOSPC, "the receiver's mapping has no space: the message is too large "
	  "(most map 1 MiB, half of it for one-way calls), or it does not read what came before" },
	{ BR_FAILED_REPLY, -EINVAL, "a handle that is not held, or an object or offset that makes "
	  "no sense: usually the sending program's mistake" },
	{ BR_FAILED_REPLY, -EPERM, "a security module forbids it, or a one-way call of a kind that "
	  "may not be sent" },
	{ BR_FAILED_REPLY, -EFAULT, "memory of the sender's that cannot be read" },
	{ BR_FAILED_REPLY, -EPROTO, "a reply to nothing, or a call out of turn" },
	{ BR_FAILED_REPLY, -EBADF, "a file descriptor in it that is not open" },
	{ BR_FAILED_REPLY, -ENOMEM, "out of memory" },
	{ BR_FAILED_REPLY, -EOPNOTSUPP, "it has what this driver does not carry, such as a file "
	  "descriptor" },
	{ BR_FROZEN_REPLY, -EAGAIN, "the receiver is frozen: thaw it" },
};

const char *decode_pair(uint32_t command, int error)
{
	for (size_t i = 0; i < NR(pairs); i++) {
		if (pairs[i].command == command && pairs[i].error == error)
			return pairs[i].words;
	}
	return NULL;
}

static size_t search(const struct entry *entries, size_t nr, int64_t number, const char *kind,
		     struct meaning *meanings, size_t found)
{
	for (size_t i = 0; i < nr && found < MEANINGS_MAX; i++) {
		if ((int64_t)entries[i].number == number)
			meanings[found++] = (struct meaning){ kind, entries[i].name,
							      entries[i].words };
	}
	return found;
}

static size_t search_errors(int64_t number, struct meaning *meanings, size_t found)
{
	const char *words = NULL;

	for (size_t i = 0; i < NR(statuses); i++) {
		if (statuses[i].number == number)
			meanings[found++] = (struct meaning){ "Android's status",
							      statuses[i].name, statuses[i].words };
	}
	if (number >= 0 || number < -4095 || !strerrorname_np((int)-number))
		return found;
	for (size_t i = 0; i < NR(errors); i++) {
		if (errors[i].error == number)
			words = errors[i].words;
	}
	meanings[found++] = (struct meaning){ "errno", strerrorname_np((int)-number),
					      words ? words : strerrordesc_np((int)-number) };
	return found;
}

size_t decode_number(int64_t number, struct meaning *meanings)
{
	size_t found = 0;

	/* 0x80000000 and above may have been printed without its sign. */
	if (number >= INT64_C(0x80000000) && number <= INT64_C(0x80000010))
		number -= INT64_C(0x100000000);
	found = search(returns, NR(returns), number, "return of the driver", meanings, found);
	found = search(commands, NR(commands), number, "command to the driver", meanings, found);
	found = search(ioctls, NR(ioctls), number, "ioctl", meanings, found);
	found = search(metas, NR(metas), number, "code of a call", meanings, found);
	found = search(types, NR(types), number, "type of an object", meanings, found);
	return found < MEANINGS_MAX - 1 ? search_errors(number, meanings, found) : found;
}

const char *decode_command(uint32_t number)
{
	struct meaning meanings[MEANINGS_MAX];
	size_t found = search(returns, NR(returns), number, "", meanings, 0);

	found = search(commands, NR(commands), number, "", meanings, found);
	return found ? meanings[0].name : NULL;
}
