/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A context is one binder device: a name, and at most one context manager,
 * the node every process reaches as handle 0.
 */
#ifndef CORE_CONTEXT_H
#define CORE_CONTEXT_H

#include "core/host.h"

struct binder_node;
struct binder_thread;
struct binder_text;
struct flat_binder_object;

/**
 * struct binder_context - one binder device
 * @lock: rank CONTEXT
 * @manager: the manager's node, holding a temporary reference; NULL when there
 *           is none
 * @manager_uid_set: a manager has once been set: from then on only its uid may
 * @manager_uid: that uid
 * @refs: one for the device, one for each process that opened it
 * @name: owned; immutable
 */
struct binder_context {
	spinlock_t lock;
	struct binder_node *manager __guarded_by(&lock);
	bool manager_uid_set __guarded_by(&lock);
	binder_uid_t manager_uid __guarded_by(&lock);
	/* atomic: */
	refcount_t refs;
	/* immutable after alloc: */
	char *name;
};

struct binder_context *binder_context_alloc(const char *name);
struct binder_context *binder_context_get(struct binder_context *context);
void binder_context_put(struct binder_context *context);

int binder_context_set_manager(struct binder_thread *thread, const struct flat_binder_object *fbo);
bool binder_context_managed_by(struct binder_context *context, const struct binder_proc *proc);
struct binder_node *binder_context_lookup_manager(struct binder_context *context);
void binder_context_drop_manager(struct binder_context *context, struct binder_proc *proc);

#endif
