// SPDX-License-Identifier: GPL-2.0-only
#include "core/context.h"

#include "core/log.h"
#include "core/node.h"
#include "core/thread.h"

/**
 * binder_context_alloc() - make a device's context
 * @name: copied
 * Context: may sleep.
 * Return: the context with one reference, or NULL when out of memory.
 */
struct binder_context *binder_context_alloc(const char *name)
{
	struct binder_context *context = kzalloc(sizeof(*context), GFP_KERNEL);

	if (!context)
		return NULL;
	context->name = kstrdup(name, GFP_KERNEL);
	if (!context->name) {
		kfree(context);
		return NULL;
	}
	binder_spin_init(&context->lock, BINDER_RANK_CONTEXT);
	refcount_set(&context->refs, 1);
	return context;
}

/** binder_context_get() - one more reference. Context: any. Return: @context. */
struct binder_context *binder_context_get(struct binder_context *context)
{
	refcount_inc(&context->refs);
	return context;
}

/** binder_context_put() - drop a reference. Context: no locks held. */
void binder_context_put(struct binder_context *context)
{
	if (!refcount_dec_and_test(&context->refs))
		return;
	kfree(context->name);
	kfree(context);
}

static int manager_may_be_set_locked(struct binder_context *context, struct binder_thread *thread)
	__must_hold(&context->lock)
{
	lockdep_assert_held(&context->lock);
	if (context->manager)
		return -EBUSY;
	if (context->manager_uid_set &&
	    !binder_host_uid_eq(context->manager_uid, binder_host_uid(thread)))
		return -EPERM;
	return 0;
}

static void manager_refused(struct binder_context *context, struct binder_thread *thread, int why)
{
	pid_t pid = 0;

	spin_lock(&context->lock);
	if (context->manager)
		pid = context->manager->proc->pid;
	spin_unlock(&context->lock);
	if (why == -EBUSY)
		binder_user_error(thread, "context %s has a manager, process %d: stop it first\n",
				  context->name, pid);
	else
		binder_user_error(thread, "context %s belongs to the uid that managed it first\n",
				  context->name);
}

/**
 * binder_context_set_manager() - make one of the caller's nodes handle 0
 * @thread: the caller
 * @fbo: ptr, cookie and flags of the node
 *
 * The node starts with a count of each kind, known to its owner, so that no
 * BR_INCREFS or BR_ACQUIRE is ever sent for it (uapi 1.1).
 *
 * Context: may sleep; no locks held.
 * Return: 0; -EBUSY when there is one; -EPERM when another uid was manager
 * before; what a security module says; -EINVAL when the ptr is in use with another cookie; -ENOMEM.
 */
int binder_context_set_manager(struct binder_thread *thread, const struct flat_binder_object *fbo)
{
	struct binder_context *context = thread->proc->context;
	struct binder_node *node;
	int ret;

	spin_lock(&context->lock);
	ret = manager_may_be_set_locked(context, thread);
	spin_unlock(&context->lock);
	if (ret) {
		manager_refused(context, thread, ret);
		return ret;
	}
	ret = binder_host_may_manage(thread->proc);
	if (ret) {
		binder_user_error(thread, "a security module forbids to manage context %s\n",
				  context->name);
		return ret;
	}

	node = binder_node_find_or_new(thread->proc, fbo);
	if (IS_ERR(node))
		return PTR_ERR(node);

	spin_lock(&context->lock);
	ret = manager_may_be_set_locked(context, thread);
	if (!ret) {
		context->manager = node; /* with our temporary reference */
		context->manager_uid = binder_host_uid(thread);
		context->manager_uid_set = true;
		binder_node_make_manager(node);
	}
	spin_unlock(&context->lock);
	if (ret) {
		binder_node_put_tmp(node);
		manager_refused(context, thread, ret);
	}
	return ret;
}

/**
 * binder_context_managed_by() - is @proc the one that owns the manager's node?
 * Context: takes the CONTEXT lock.
 * Return: true also means that it stays so until @proc is released.
 */
bool binder_context_managed_by(struct binder_context *context, const struct binder_proc *proc)
{
	bool manages;

	spin_lock(&context->lock);
	manages = context->manager && context->manager->proc == proc;
	spin_unlock(&context->lock);
	return manages;
}

/**
 * binder_context_lookup_manager() - the node behind handle 0
 * Context: takes the CONTEXT and PROC locks.
 * Return: the node with a local strong count, or NULL.
 */
struct binder_node *binder_context_lookup_manager(struct binder_context *context)
{
	struct binder_node *node;

	spin_lock(&context->lock);
	node = context->manager;
	if (node)
		binder_node_inc_local(node, true);
	spin_unlock(&context->lock);
	return node;
}

/**
 * binder_context_drop_manager() - @proc is dying: it manages nothing any more
 * Context: may sleep; no locks held.
 */
void binder_context_drop_manager(struct binder_context *context, struct binder_proc *proc)
{
	struct binder_node *node = NULL;

	spin_lock(&context->lock);
	if (context->manager && context->manager->proc == proc) {
		node = context->manager;
		context->manager = NULL;
	}
	spin_unlock(&context->lock);
	if (node)
		binder_node_put_tmp(node);
}
