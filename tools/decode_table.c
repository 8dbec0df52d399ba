// SPDX-License-Identifier: MIT
#include "tools/decode.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "anybinder.h"
#include "uapi/binder.h"
#include "uapi/binderfs.h"

#define ERRNO_MAX 4095
#define NR(array) (sizeof(array) / sizeof((array)[0]))

/** struct entry - @number has a @name; @words may be NULL */
struct entry {
	uint32_t number;
	const char *name, *words;
};

#define SAYS(name, words) { name, #name, words }

static const struct entry returns[] = {
	SAYS(BR_ERROR, "the driver could not go on for this thread"),
	SAYS(BR_OK, "nothing went wrong"),
	SAYS(BR_TRANSACTION_SEC_CTX, "a call has come, with the caller's security context"),
	SAYS(BR_TRANSACTION, "a call has come"),
	SAYS(BR_REPLY, "the reply to a call of this thread's"),
	SAYS(BR_ACQUIRE_RESULT, "not used"),
	SAYS(BR_DEAD_REPLY, "nobody is there. In endless \"29189/-22\" lines: nobody is context "
	     "manager, no service manager runs on this device, or it died. Start it before its "
	     "clients (anybinder-servicemanager, or the container that has Android's); "
	     "`anybinder doctor` looks closer. Otherwise: the process that was called has died"),
	SAYS(BR_TRANSACTION_COMPLETE, "the driver has taken a call or a reply"),
	SAYS(BR_INCREFS, "somebody holds an object of this process's weakly"),
	SAYS(BR_ACQUIRE, "somebody holds an object of this process's"),
	SAYS(BR_RELEASE, "nobody holds an object of this process's any more"),
	SAYS(BR_DECREFS, "nobody holds it weakly any more"),
	SAYS(BR_ATTEMPT_ACQUIRE, "not used"),
	SAYS(BR_NOOP, "nothing"),
	SAYS(BR_SPAWN_LOOPER, "the driver asks the process for one more thread"),
	SAYS(BR_FINISHED, "not used"),
	SAYS(BR_DEAD_BINDER, "the process of an object has died"),
	SAYS(BR_CLEAR_DEATH_NOTIFICATION_DONE, "a link to a death has ended"),
	SAYS(BR_FAILED_REPLY, "the driver refused a call: the errno behind it says why; most "
	     "often no space in the receiver's mapping (-28), a handle or object that makes no "
	     "sense (-22), or a security module (-1). The driver's failed_transaction_log has "
	     "who and whom"),
	SAYS(BR_FROZEN_REPLY, "the process that was called is frozen"),
	SAYS(BR_ONEWAY_SPAM_SUSPECT, "this process fills a receiver with one-way calls"),
	SAYS(BR_TRANSACTION_PENDING_FROZEN, "a one-way call waits until its receiver is thawed"),
	SAYS(BR_FROZEN_BINDER, "a process was frozen, or thawed"),
	SAYS(BR_CLEAR_FREEZE_NOTIFICATION_DONE, "a link to its freezing has ended"),
};

static const struct entry commands[] = {
	SAYS(BC_TRANSACTION, "call"),
	SAYS(BC_REPLY, "reply"),
	SAYS(BC_ACQUIRE_RESULT, "no driver takes it"),
	SAYS(BC_FREE_BUFFER, "give a received message back"),
	SAYS(BC_INCREFS, "hold an object of somebody's weakly"),
	SAYS(BC_ACQUIRE, "hold an object of somebody's"),
	SAYS(BC_RELEASE, "let go of it"),
	SAYS(BC_DECREFS, "let go of it weakly"),
	SAYS(BC_INCREFS_DONE, "answers BR_INCREFS"),
	SAYS(BC_ACQUIRE_DONE, "answers BR_ACQUIRE"),
	SAYS(BC_ATTEMPT_ACQUIRE, "no driver takes it"),
	SAYS(BC_REGISTER_LOOPER, "a thread that the driver asked for"),
	SAYS(BC_ENTER_LOOPER, "a thread of the process's own serves"),
	SAYS(BC_EXIT_LOOPER, "this thread serves no longer"),
	SAYS(BC_REQUEST_DEATH_NOTIFICATION, "link to the death of an object's process"),
	SAYS(BC_CLEAR_DEATH_NOTIFICATION, "end a link to a death"),
	SAYS(BC_DEAD_BINDER_DONE, "answers BR_DEAD_BINDER"),
	SAYS(BC_TRANSACTION_SG, "call, with buffers"),
	SAYS(BC_REPLY_SG, "reply, with buffers"),
	SAYS(BC_REQUEST_FREEZE_NOTIFICATION, "link to a process being frozen"),
	SAYS(BC_CLEAR_FREEZE_NOTIFICATION, "end such a link"),
	SAYS(BC_FREEZE_NOTIFICATION_DONE, "answers BR_FROZEN_BINDER"),
};

static const struct entry ioctls[] = {
	SAYS(BINDER_WRITE_READ, "all calls and replies"),
	SAYS(BINDER_SET_IDLE_TIMEOUT, "no driver takes it: -22"),
	SAYS(BINDER_SET_MAX_THREADS, "how many threads the driver may ask for"),
	SAYS(BINDER_SET_IDLE_PRIORITY, "no driver takes it: -22"),
	SAYS(BINDER_SET_CONTEXT_MGR, "become the context manager; -16: somebody is, -1: another "
	     "user was"),
	SAYS(BINDER_THREAD_EXIT, "this thread ends its part"),
	SAYS(BINDER_VERSION, "protocol version; -22 or -25: not a binder device"),
	SAYS(BINDER_GET_NODE_DEBUG_INFO, "the next object of the process's own"),
	SAYS(BINDER_GET_NODE_INFO_FOR_REF, "how many hold an object; -1: only the context "
	     "manager may ask"),
	SAYS(BINDER_SET_CONTEXT_MGR_EXT, "become the context manager; -16: somebody is, -1: "
	     "another user was"),
	SAYS(BINDER_FREEZE, "freeze or thaw a process; -11: it has calls under way"),
	SAYS(BINDER_GET_FROZEN_INFO, "what came for a frozen process"),
	SAYS(BINDER_ENABLE_ONEWAY_SPAM_DETECTION, "-22: the driver cannot; harmless"),
	SAYS(BINDER_GET_EXTENDED_ERROR, "why this thread's last call failed; -22: the driver is "
	     "older than that"),
	SAYS(BINDER_CTL_ADD, "make a device in binderfs"),
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

static const struct entry flags_of_calls[] = {
	SAYS(TF_ONE_WAY, "nobody waits for a reply"),
	SAYS(TF_ROOT_OBJECT, "without a meaning today"),
	SAYS(TF_STATUS_CODE, "a reply that holds nothing but an error's number"),
	SAYS(TF_ACCEPT_FDS, "file descriptors may come back"),
	SAYS(TF_CLEAR_BUF, "the driver clears each copy when it is done with it"),
	SAYS(TF_UPDATE_TXN, "replaces an older one that waits for a frozen process"),
	SAYS(TF_DEFER_COMPLETE, "its completion comes with the thread's next return"),
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
	{ BR_DEAD_REPLY, -EINVAL, "nobody is context manager on this device: no service manager runs, "
	  "or it has died. Start it before its clients (anybinder-servicemanager, or the container "
	  "that has Android's); `anybinder doctor` looks closer, `anybinder wait` waits for it" },
	{ BR_DEAD_REPLY, -ESRCH, "the process that was called has died" },
	{ BR_DEAD_REPLY, 0, "the process that was called has died, or there is no context manager" },
	{ BR_FAILED_REPLY, -ENOSPC, "the receiver's mapping has no space: it does not read what came "
	  "before (half of the mapping at most is for one-way calls), or the message is too large. "
	  "`anybinder stats` shows whose buffers are not given back" },
	{ BR_FAILED_REPLY, -EINVAL, "a handle that is not held, or an object or offset that makes "
	  "no sense: usually the sending program's mistake" },
	{ BR_FAILED_REPLY, -EPERM, "a security module forbids it, or a call of a kind that may not be "
	  "sent: dmesg | grep -i denied" },
	{ BR_FAILED_REPLY, -EFAULT, "memory of the sender's that cannot be read" },
	{ BR_FAILED_REPLY, -EPROTO, "a reply to nothing, or a call out of turn" },
	{ BR_FAILED_REPLY, -EBADF, "a file descriptor in it that is not open" },
	{ BR_FAILED_REPLY, -ENOMEM, "out of memory" },
	{ BR_FAILED_REPLY, -ESRCH, "the receiver is going: its memory is unmapped already" },
	{ BR_FAILED_REPLY, -EOPNOTSUPP, "it has what this driver does not carry, such as a file "
	  "descriptor" },
	{ BR_FROZEN_REPLY, -EAGAIN, "the receiver is frozen: thaw it" },
};

#define MAPPING_OF_LIBRARIES (1024 * 1024 - 2 * 4096)

const char *decode_pair(uint32_t command, int error, uint64_t size)
{
	if (command == BR_FAILED_REPLY && error == -ENOSPC && size > MAPPING_OF_LIBRARIES)
		return "the message is larger than what libraries map for receiving (1 MiB less 8 KiB): "
		       "send less at once, a descriptor of shared memory, or have the receiver map "
		       "more, at most 4 MiB";
	for (size_t i = 0; i < NR(pairs); i++) {
		if (pairs[i].command == command && pairs[i].error == error)
			return pairs[i].words;
	}
	return NULL;
}

/* What drivers and Android's libraries say without a number, or where it says little. */
static const struct {
	const char *phrase, *words;
} phrases[] = {
	{ "no async space left", "the half of the receiver's mapping that is for one-way calls is "
	  "full: it does not read them as fast as they come" },
	{ "failed, no address space", "the receiver's mapping is full or in pieces: the message is too "
	  "large, or buffers are not given back" },
	{ "no vma", "the receiver is going, or has not mapped the device yet" },
	{ "BINDER_SET_CONTEXT_MGR already set", "a second service manager was started on this device: "
	  "end one, or give each a device of its own" },
	{ "BINDER_SET_CONTEXT_MGR bad uid", "another user was context manager on this device: start it "
	  "as that one, or make the device anew" },
	{ "undelivered transaction", "a process ended with calls to it that it had not read" },
	{ "undelivered death notification", "a process ended before it heard of another's death; "
	  "harmless" },
	{ "still active", "a process ended while calls of its were under way; harmless by itself" },
	{ "Waiting for service ", "a client waits for a name that nobody has registered: "
	  "`anybinder ls` lists those there are, `anybinder wait NAME` waits" },
	{ "FAILED BINDER TRANSACTION", "the driver refused a call: most often larger than the "
	  "receiver's space" },
	{ "DeadObjectException", "the process that was called has died, or its space is full: the "
	  "driver's failed_transaction_log tells which" },
	{ "Required key not available", "Secure Boot: the module is not signed with an enrolled key: "
	  "docs/kmod.md" },
};

const char *decode_phrase(const char *line)
{
	for (size_t i = 0; i < NR(phrases); i++) {
		if (strstr(line, phrases[i].phrase))
			return phrases[i].words;
	}
	return NULL;
}

static size_t search(const struct entry *entries, size_t nr, int64_t number, const char *kind,
		     struct meaning *meanings, size_t found)
{
	for (size_t i = 0; i < nr && found < MEANINGS_MAX; i++) {
		/* Programs print those above 0x80000000 with a sign, too. */
		if ((int64_t)entries[i].number == number || (int32_t)entries[i].number == number)
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
	if (number >= 0 || number < -ERRNO_MAX || !strerrorname_np((int)-number))
		return found;
	for (size_t i = 0; i < NR(errors); i++) {
		if (errors[i].error == number)
			words = errors[i].words;
	}
	meanings[found++] = (struct meaning){ "errno", strerrorname_np((int)-number),
					      words ? words : strerrordesc_np((int)-number) };
	return found;
}

/* Where a number is looked for, the likeliest first. */
static const struct {
	const struct entry *entries;
	size_t nr;
	const char *kind;
} lists[] = {
	{ returns, NR(returns), "return of the driver" },
	{ commands, NR(commands), "command to the driver" },
	{ ioctls, NR(ioctls), "ioctl" },
	{ metas, NR(metas), "code of a call" },
	{ types, NR(types), "type of an object" },
};

size_t decode_number(int64_t number, struct meaning *meanings)
{
	size_t found = 0;

	/* 0x80000000 and above may have been printed without its sign. */
	if (number >= INT64_C(0x80000000) && number <= INT64_C(0x80000010))
		number -= INT64_C(0x100000000);
	for (size_t i = 0; i < NR(lists); i++)
		found = search(lists[i].entries, lists[i].nr, number, lists[i].kind, meanings,
			       found);
	return found < MEANINGS_MAX - 1 ? search_errors(number, meanings, found) : found;
}

/* Codes of meta calls are known by the four letters that they are made of. */
static bool has_letters(const struct entry *entry, const char *name)
{
	uint32_t letters;

	if (strlen(name) != sizeof(letters) || name[0] != '_')
		return false;
	letters = (uint32_t)name[0] << 24 | (uint32_t)name[1] << 16 | (uint32_t)name[2] << 8 |
		  (uint32_t)name[3];
	return letters == entry->number;
}

size_t decode_name(const char *name, struct meaning *meanings)
{
	for (size_t i = 0; i < NR(lists); i++) {
		for (size_t k = 0; k < lists[i].nr; k++) {
			const struct entry *entry = &lists[i].entries[k];

			if (strcmp(entry->name, name) && !has_letters(entry, name))
				continue;
			meanings[0] = (struct meaning){ lists[i].kind, entry->name, entry->words };
			return 1;
		}
	}
	for (int error = 1; error <= ERRNO_MAX; error++) {
		const char *known = strerrorname_np(error);

		if (known && !strcmp(known, name))
			return search_errors(-error, meanings, 0);
	}
	for (size_t i = 0; i < NR(statuses); i++) {
		if (!strcmp(statuses[i].name, name))
			return search_errors(statuses[i].number, meanings, 0);
	}
	return 0;
}

size_t decode_flags(uint32_t *flags, struct meaning *meanings)
{
	size_t found = 0;

	for (size_t i = 0; i < NR(flags_of_calls) && found < MEANINGS_MAX; i++) {
		if (!(*flags & flags_of_calls[i].number))
			continue;
		*flags &= ~flags_of_calls[i].number;
		meanings[found++] = (struct meaning){ "flag of a call", flags_of_calls[i].name,
						      flags_of_calls[i].words };
	}
	return found;
}

const char *decode_command(uint32_t number)
{
	struct meaning meanings[MEANINGS_MAX];
	size_t found = search(returns, NR(returns), number, "", meanings, 0);

	found = search(commands, NR(commands), number, "", meanings, found);
	return found ? meanings[0].name : NULL;
}
