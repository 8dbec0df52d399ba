/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reference: one process's hold on one node, named by a handle. Guarded by
 * the holder's refs_lock, except its place in node->refs, which is the node's.
 *
 * A reference exists while its strong or weak count is above zero. Handles are
 * the lowest free number; 0 is the context manager.
 */
#ifndef CORE_REF_H
#define CORE_REF_H

#include "core/proc.h"
#include "uapi/binder.h"

struct binder_death;
struct binder_node;
struct binder_text;
struct binder_thread;

struct binder_ref {
	/* immutable after alloc: */
	struct binder_proc *proc;
	struct binder_node *node; /* alive: this reference counts in node->refs */
	u32 handle;
	int debug_id;

	/* guarded by proc->refs_lock: */
	struct rb_node rb_handle;
	struct rb_node rb_node;
	int strong;
	int weak;
	struct binder_death *death;

	/* guarded by node->proc->lock: */
	struct list_head node_entry;
};

struct binder_ref *binder_ref_find_locked(struct binder_proc *proc, u32 handle)
	__must_hold(&proc->refs_lock);
struct binder_ref *binder_ref_find_node_locked(struct binder_proc *proc,
					       const struct binder_node *node)
	__must_hold(&proc->refs_lock);
struct binder_node *binder_ref_lookup_node(struct binder_proc *proc, u32 handle, bool strong);
int binder_ref_inc_for_node(struct binder_proc *proc, struct binder_node *node, bool strong,
			    struct binder_thread *tell, u32 *handle);
int binder_ref_dec(struct binder_proc *proc, u32 handle, bool strong, int node_id);
int binder_ref_node_info(struct binder_thread *thread, struct binder_node_info_for_ref *info);
int binder_ref_command(struct binder_thread *thread, u32 cmd, u32 handle);
void binder_ref_release_all(struct binder_proc *proc);
void binder_ref_to_text(struct binder_text *text, const struct binder_ref *ref);

#endif
