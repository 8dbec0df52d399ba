/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node: an object a process offers, named by its ptr. The node counts who
 * refers to it and tells the owner when the answer to "is anybody there?"
 * changes (BR_INCREFS, BR_ACQUIRE, BR_RELEASE, BR_DECREFS).
 *
 * The node holds a reference to its owner's process record for its whole
 * life, also after the owner died, so node->proc->lock always guards it and
 * no node ever changes hands.
 */
#ifndef CORE_NODE_H
#define CORE_NODE_H

#include "core/proc.h"
#include "core/work.h"
#include "uapi/binder.h"

struct binder_text;
struct binder_thread;

/**
 * struct binder_node - an object a process offers
 * @refs: references to it, by ref->node_entry
 * @internal_strong: references among @refs with a strong count
 * @local_strong: strong counts of buffers in the owner's hands, of senders at
 *                work, and of unanswered BR_ACQUIRE
 * @local_weak: the same, weak
 * @tmp_refs: pointers held by running code; keeps the memory, and counts as a
 *            weak reference
 * @has_strong: the owner has been told it is strongly referenced
 * @pending_strong: and has not yet answered BC_ACQUIRE_DONE
 * @has_weak: as @has_strong for BR_INCREFS
 * @pending_weak: as @pending_strong for BC_INCREFS_DONE
 * @is_manager: was made a context's manager: one local count of each kind is
 *              the context's until the owner dies, and its references get
 *              handle 0. Set once; may be read without the lock
 * @has_async: a one-way call is queued or its buffer not yet freed
 * @async_todo: one-way calls that wait for it, in order
 */
struct binder_node {
	/* immutable after alloc: */
	struct binder_proc *proc;
	binder_uintptr_t ptr;
	binder_uintptr_t cookie;
	u32 flags;
	int debug_id;

	/* guarded by proc->lock: */
	struct rb_node rb_node; /* in proc->nodes while the owner lives */
	struct binder_work work;
	struct list_head refs;
	int internal_strong;
	int local_strong;
	int local_weak;
	int tmp_refs;
	bool has_strong;
	bool pending_strong;
	bool has_weak;
	bool pending_weak;
	bool is_manager;
	bool has_async;
	struct list_head async_todo;
};

struct binder_node *binder_node_find_or_new(struct binder_proc *proc,
					    const struct flat_binder_object *fbo);
struct binder_node *binder_node_find_locked(struct binder_proc *proc, binder_uintptr_t ptr)
	__must_hold(&proc->lock);
void binder_node_put_tmp(struct binder_node *node);
bool binder_node_enter_target(struct binder_node *node);
void binder_node_inc_local(struct binder_node *node, bool strong);
void binder_node_dec_local(struct binder_node *node, bool strong);

void binder_node_make_manager(struct binder_node *node);
void binder_node_count(struct binder_node *node, u32 *strong, u32 *weak);
void binder_node_debug_info(struct binder_proc *proc, struct binder_node_debug_info *info);

bool binder_node_strong_locked(const struct binder_node *node) __must_hold(&node->proc->lock);
bool binder_node_weak_locked(const struct binder_node *node) __must_hold(&node->proc->lock);
void binder_node_tell_locked(struct binder_node *node, struct binder_thread *tell)
	__must_hold(&node->proc->lock);
bool binder_node_settle_locked(struct binder_node *node) __must_hold(&node->proc->lock);
void binder_node_free(struct binder_node *node);

void binder_node_done(struct binder_thread *thread, u32 cmd, binder_uintptr_t ptr,
		      binder_uintptr_t cookie);
void binder_node_async_done(struct binder_node *node);
void binder_node_release_all(struct binder_proc *proc);
void binder_node_to_text(struct binder_text *text, const struct binder_node *node);

#endif
