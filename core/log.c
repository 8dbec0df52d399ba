// SPDX-License-Identifier: GPL-2.0-only
#include "core/log.h"

#include "core/host.h"
#include "core/proc.h"
#include "core/text.h"
#include "uapi/binder.h"

struct binder_stats binder_stats_all;
atomic_t binder_obj_created[BINDER_OBJ_COUNT];
atomic_t binder_obj_deleted[BINDER_OBJ_COUNT];
struct binder_log binder_log_all;
struct binder_log binder_log_failed;

unsigned int binder_debug_mask = BINDER_DEBUG_USER_ERROR | BINDER_DEBUG_FAILED_TRANSACTION;

static atomic_t last_debug_id = ATOMIC_INIT(0);

/** binder_log_init() - once, before anything is logged. Context: any. */
void binder_log_init(void)
{
	binder_spin_init(&binder_log_all.lock, BINDER_RANK_LOG);
	binder_spin_init(&binder_log_failed.lock, BINDER_RANK_LOG);
}

/** binder_next_debug_id() - a number, unique until it wraps; never 0. Context: any. */
int binder_next_debug_id(void)
{
	int id = atomic_inc_return(&last_debug_id);

	return id ? id : atomic_inc_return(&last_debug_id);
}

/** binder_stats_bc() - count a command of @proc. Context: any. */
void binder_stats_bc(struct binder_proc *proc, u32 cmd)
{
	if (_IOC_NR(cmd) >= BINDER_NR_BC)
		return;
	atomic_inc(&binder_stats_all.bc[_IOC_NR(cmd)]);
	atomic_inc(&proc->stats.bc[_IOC_NR(cmd)]);
}

/** binder_stats_br() - count a return to @proc. Context: any. */
void binder_stats_br(struct binder_proc *proc, u32 cmd)
{
	if (_IOC_NR(cmd) >= BINDER_NR_BR)
		return;
	atomic_inc(&binder_stats_all.br[_IOC_NR(cmd)]);
	atomic_inc(&proc->stats.br[_IOC_NR(cmd)]);
}

static void log_add(struct binder_log *log, const struct binder_log_entry *entry)
{
	spin_lock(&log->lock);
	log->entries[log->next++ % BINDER_LOG_ENTRIES] = *entry;
	spin_unlock(&log->lock);
}

/** binder_log_add() - remember a transaction, and again if it failed. Context: any. */
void binder_log_add(const struct binder_log_entry *entry)
{
	log_add(&binder_log_all, entry);
	if (entry->return_error != BR_OK)
		log_add(&binder_log_failed, entry);
}

static const char *kind_name(enum binder_log_kind kind)
{
	switch (kind) {
	case BINDER_LOG_CALL:
		return "call";
	case BINDER_LOG_ONEWAY:
		return "async";
	default:
		return "reply";
	}
}

/** binder_log_failure() - say in the log why a transaction failed. Context: no spinlocks held. */
void binder_log_failure(const struct binder_log_entry *entry)
{
	if (!(READ_ONCE(binder_debug_mask) & BINDER_DEBUG_FAILED_TRANSACTION))
		return;
	pr_info_ratelimited("%d:%d transaction %s to %d:%d failed %d/%u/%d, "
			    "context %s handle %u node %d, size %zu-%zu line %u: %s\n",
			    entry->from_pid, entry->from_tid, kind_name(entry->kind),
			    entry->to_pid, entry->to_tid, entry->debug_id, entry->return_error,
			    entry->error, entry->context, entry->handle, entry->node_id,
			    entry->data_size, entry->offsets_size, entry->line, entry->why);
}

/** binder_log_entry_to_text() - one line of transaction_log. Context: any. */
void binder_log_entry_to_text(struct binder_text *text, const struct binder_log_entry *entry)
{
	binder_text_add(text,
			"%d: %s from %d:%d to %d:%d context %s node %d handle %u size %zu:%zu ret %u/%d l=%u",
			entry->debug_id, kind_name(entry->kind), entry->from_pid, entry->from_tid,
			entry->to_pid, entry->to_tid, entry->context, entry->node_id,
			entry->handle, entry->data_size, entry->offsets_size,
			entry->return_error == BR_OK ? 0 : entry->return_error, entry->error,
			entry->line);
	if (entry->why)
		binder_text_add(text, " %s", entry->why);
	binder_text_add(text, "\n");
}
