/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver remembers for people: counters by command and object, and
 * the rings of recent and of failed transactions. report.h prints them.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include "core/kapi.h"

struct binder_proc;
struct binder_text;

/* What goes to the kernel or daemon log: bits of binder_debug_mask, as uapi 1.12 numbers them. */
enum {
	BINDER_DEBUG_USER_ERROR = 1 << 0,
	BINDER_DEBUG_FAILED_TRANSACTION = 1 << 1,
};

/* Written by the administrator at any time; read without a lock. */
extern unsigned int binder_debug_mask;

/** binder_user_error() - a client did something it should not; to the kernel or daemon log */
#define binder_user_error(thread, fmt, ...) do {					\
	if (READ_ONCE(binder_debug_mask) & BINDER_DEBUG_USER_ERROR)			\
		pr_info_ratelimited("%d:%d " fmt, (thread)->proc->pid, (thread)->tid,	\
				    ##__VA_ARGS__);					\
} while (0)

#define BINDER_NR_BC 22
#define BINDER_NR_BR 23
#define BINDER_LOG_ENTRIES 32

enum binder_log_kind {
	BINDER_LOG_CALL,
	BINDER_LOG_ONEWAY,
	BINDER_LOG_REPLY,
};

enum binder_object_kind {
	BINDER_OBJ_PROC,
	BINDER_OBJ_THREAD,
	BINDER_OBJ_NODE,
	BINDER_OBJ_REF,
	BINDER_OBJ_DEATH,
	BINDER_OBJ_TRANSACTION,
	BINDER_OBJ_COMPLETE,
	BINDER_OBJ_COUNT
};

/** struct binder_stats - how often each command was seen; of a process, or all */
struct binder_stats {
	atomic_t bc[BINDER_NR_BC];
	atomic_t br[BINDER_NR_BR];
};

/**
 * struct binder_log_entry - one transaction, as it was when it ended being sent
 * @debug_id: 0 in an unused entry
 * @to_tid: 0 when no thread was chosen by the sender
 * @return_error, @error, @line, @why: BR_OK and zeros when nothing failed
 */
struct binder_log_entry {
	int debug_id;
	enum binder_log_kind kind;
	pid_t from_pid;
	pid_t from_tid;
	pid_t to_pid;
	pid_t to_tid;
	int node_id;
	u32 handle;
	u32 code;
	u32 flags;
	size_t data_size;
	size_t offsets_size;
	u32 return_error;
	int error;
	u32 line;
	const char *why; /* a string constant */
	char context[32];
};

struct binder_log {
	spinlock_t lock;
	u32 next;
	struct binder_log_entry entries[BINDER_LOG_ENTRIES];
};

extern struct binder_stats binder_stats_all;
extern atomic_t binder_obj_created[BINDER_OBJ_COUNT];
extern atomic_t binder_obj_deleted[BINDER_OBJ_COUNT];
extern struct binder_log binder_log_all;
extern struct binder_log binder_log_failed;

void binder_log_init(void);
void binder_log_add(const struct binder_log_entry *entry);
void binder_log_failure(const struct binder_log_entry *entry);
void binder_stats_bc(struct binder_proc *proc, u32 cmd);
void binder_stats_br(struct binder_proc *proc, u32 cmd);
void binder_log_entry_to_text(struct binder_text *text, const struct binder_log_entry *entry);
int binder_next_debug_id(void);

static inline void binder_obj_count(enum binder_object_kind kind)
{
	atomic_inc(&binder_obj_created[kind]);
}

static inline void binder_obj_uncount(enum binder_object_kind kind)
{
	atomic_inc(&binder_obj_deleted[kind]);
}

#endif
