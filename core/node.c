// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes and the reference protocol with their owners.
 *
 * Counts change first; then binder_node_tell_locked() (a count went up) or
 * binder_node_settle_locked() (one went down) compares what is with what the
 * owner has been told, and queues the node's one work item if they differ.
 * The reader (return.c) sends whatever is true by then.
 */
#include "core/node.h"

#include "core/death.h"
#include "core/log.h"
#include "core/text.h"
#include "core/ref.h"
#include "core/thread.h"
#include "core/transaction.h"

/** binder_node_strong_locked() - does anything hold it strongly? */
bool binder_node_strong_locked(const struct binder_node *node)
{
	lockdep_assert_held(&node->proc->lock);
	return node->internal_strong || node->local_strong;
}

/** binder_node_weak_locked() - does anything hold it at all? */
bool binder_node_weak_locked(const struct binder_node *node)
{
	lockdep_assert_held(&node->proc->lock);
	return binder_node_strong_locked(node) || !list_empty(&node->refs) || node->local_weak ||
	       node->tmp_refs;
}

/**
 * binder_node_find_locked() - a node by its owner's name for it
 * Context: @proc->lock held.
 * Return: the node, no reference taken, or NULL.
 */
struct binder_node *binder_node_find_locked(struct binder_proc *proc, binder_uintptr_t ptr)
{
	struct rb_node *n = proc->nodes.rb_node;

	lockdep_assert_held(&proc->lock);
	while (n) {
		struct binder_node *node = rb_entry(n, struct binder_node, rb_node);

		if (ptr < node->ptr)
			n = n->rb_left;
		else if (ptr > node->ptr)
			n = n->rb_right;
		else
			return node;
	}
	return NULL;
}

static void node_insert_locked(struct binder_proc *proc, struct binder_node *node)
	__must_hold(&proc->lock)
{
	struct rb_node **p = &proc->nodes.rb_node;
	struct rb_node *parent = NULL;

	lockdep_assert_held(&proc->lock);
	while (*p) {
		parent = *p;
		if (node->ptr < rb_entry(parent, struct binder_node, rb_node)->ptr)
			p = &parent->rb_left;
		else
			p = &parent->rb_right;
	}
	rb_link_node(&node->rb_node, parent, p);
	rb_insert_color(&node->rb_node, &proc->nodes);
}

static struct binder_node *node_alloc(struct binder_proc *proc,
				      const struct flat_binder_object *fbo)
{
	struct binder_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (!node)
		return NULL;
	node->proc = binder_proc_get(proc);
	node->ptr = fbo->binder;
	node->cookie = fbo->cookie;
	node->flags = fbo->flags;
	node->debug_id = binder_next_debug_id();
	RB_CLEAR_NODE(&node->rb_node);
	binder_work_init(&node->work, BINDER_WORK_NODE);
	INIT_LIST_HEAD(&node->refs);
	INIT_LIST_HEAD(&node->async_todo);
	binder_obj_count(BINDER_OBJ_NODE);
	return node;
}

/**
 * binder_node_free() - free a node that settled
 * @node: binder_node_settle_locked() said so: out of every list and tree
 * Context: may sleep; no spinlocks held (drops a reference to the owner).
 */
void binder_node_free(struct binder_node *node)
{
	struct binder_proc *proc = node->proc;

	kfree(node);
	binder_obj_uncount(BINDER_OBJ_NODE);
	binder_proc_put(proc);
}

/**
 * binder_node_find_or_new() - the node for an object its owner sends
 * @proc: the owner, alive because it is calling
 * @fbo: ptr names the node; cookie and flags are taken from the first sight
 *
 * Context: may sleep; no locks held.
 * Return: the node with a temporary reference; -EINVAL when it is known by
 * another cookie; -ENOMEM.
 */
struct binder_node *binder_node_find_or_new(struct binder_proc *proc,
					    const struct flat_binder_object *fbo)
{
	struct binder_node *node, *new = NULL;

	spin_lock(&proc->lock);
	node = binder_node_find_locked(proc, fbo->binder);
	if (!node) {
		spin_unlock(&proc->lock);
		new = node_alloc(proc, fbo);
		if (!new)
			return ERR_PTR(-ENOMEM);
		spin_lock(&proc->lock);
		node = binder_node_find_locked(proc, fbo->binder);
		if (!node) {
			node_insert_locked(proc, new);
			node = new;
			new = NULL;
		}
	}
	if (node->cookie == fbo->cookie)
		node->tmp_refs++;
	else
		node = ERR_PTR(-EINVAL);
	spin_unlock(&proc->lock);
	if (new)
		binder_node_free(new);
	return node;
}

/** binder_node_put_tmp() - let go of a pointer to a node. Context: no spinlocks held. */
void binder_node_put_tmp(struct binder_node *node)
{
	bool gone;

	spin_lock(&node->proc->lock);
	node->tmp_refs--;
	gone = binder_node_settle_locked(node);
	spin_unlock(&node->proc->lock);
	if (gone)
		binder_node_free(node);
}

/**
 * binder_node_enter_target() - begin sending to a node
 * @node: the caller has a count on it
 *
 * Makes the caller a user of the owner's mapping until binder_proc_leave().
 *
 * Context: takes the owner's PROC lock.
 * Return: false when the owner is dead.
 */
bool binder_node_enter_target(struct binder_node *node)
{
	struct binder_proc *proc = node->proc;
	bool alive;

	spin_lock(&proc->lock);
	alive = !proc->dead;
	if (alive)
		proc->users++;
	spin_unlock(&proc->lock);
	return alive;
}

/**
 * binder_node_inc_local() - a count for a buffer in the owner's hands, or for a sender
 * @node: kept by another count, under that one's lock
 * Context: takes the owner's PROC lock.
 */
void binder_node_inc_local(struct binder_node *node, bool strong)
{
	spin_lock(&node->proc->lock);
	if (strong)
		node->local_strong++;
	else
		node->local_weak++;
	binder_node_tell_locked(node, NULL);
	spin_unlock(&node->proc->lock);
}

/** binder_node_dec_local() - undo binder_node_inc_local(). Context: no spinlocks held. */
void binder_node_dec_local(struct binder_node *node, bool strong)
{
	bool gone;

	spin_lock(&node->proc->lock);
	if (strong)
		node->local_strong--;
	else
		node->local_weak--;
	gone = binder_node_settle_locked(node);
	spin_unlock(&node->proc->lock);
	if (gone)
		binder_node_free(node);
}

/**
 * binder_node_make_manager() - give the node the counts of a context manager
 * Context: takes the owner's PROC lock.
 */
void binder_node_make_manager(struct binder_node *node)
{
	spin_lock(&node->proc->lock);
	WRITE_ONCE(node->is_manager, true);
	node->local_strong++;
	node->local_weak++;
	node->has_strong = true;
	node->has_weak = true;
	spin_unlock(&node->proc->lock);
}

/**
 * binder_node_count() - how many hold the node, for its context's manager
 * @node: kept by a reference, under its holder's REFS lock
 * @strong: receives the processes that refer to it strongly, with one each,
 *          and the strong counts that are no process's reference: of calls to
 *          it whose buffer is not freed, of its owner's buffers, of an
 *          unanswered BR_ACQUIRE, and the context's own on its manager
 * @weak: receives the weak counts that are no process's reference
 *
 * Context: takes the owner's PROC lock.
 */
void binder_node_count(struct binder_node *node, u32 *strong, u32 *weak)
{
	spin_lock(&node->proc->lock);
	*strong = node->internal_strong + node->local_strong;
	*weak = node->local_weak;
	spin_unlock(&node->proc->lock);
}

static struct binder_node *node_find_above_locked(struct binder_proc *proc, binder_uintptr_t ptr)
	__must_hold(&proc->lock)
{
	struct rb_node *n = proc->nodes.rb_node;
	struct binder_node *above = NULL;

	lockdep_assert_held(&proc->lock);
	while (n) {
		struct binder_node *node = rb_entry(n, struct binder_node, rb_node);

		if (ptr < node->ptr) {
			above = node;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return above;
}

/**
 * binder_node_debug_info() - BINDER_GET_NODE_DEBUG_INFO: the next of the caller's nodes
 * @proc: the caller
 * @info: ptr is where the last one was; receives the node with the next
 *        greater ptr, and what its owner has been told; all zero behind the last
 *
 * So that from 0 on each node is seen but one whose ptr is 0, which is the
 * manager's as a rule (uapi 1.1).
 *
 * Context: takes the PROC lock.
 */
void binder_node_debug_info(struct binder_proc *proc, struct binder_node_debug_info *info)
{
	struct binder_node *node;

	spin_lock(&proc->lock);
	node = node_find_above_locked(proc, info->ptr);
	*info = (struct binder_node_debug_info){};
	if (node) {
		info->ptr = node->ptr;
		info->cookie = node->cookie;
		info->has_strong_ref = node->has_strong;
		info->has_weak_ref = node->has_weak;
	}
	spin_unlock(&proc->lock);
}

/**
 * binder_node_tell_locked() - a count went up: the owner may have to be told
 * @tell: a thread of the owner that just sent the object. It is told with its
 *        next return, hence before its call ends and it may drop its own hold
 *        on the object. NULL: any thread of the owner.
 *
 * Context: the owner's PROC lock held.
 */
void binder_node_tell_locked(struct binder_node *node, struct binder_thread *tell)
{
	lockdep_assert_held(&node->proc->lock);
	if (node->proc->dead)
		return;
	if (node->has_weak && (node->has_strong || !binder_node_strong_locked(node)))
		return;
	if (tell) {
		list_del_init(&node->work.entry);
		binder_thread_queue_deferred_locked(tell, &node->work);
	} else if (!binder_work_queued(&node->work)) {
		binder_proc_queue_locked(node->proc, &node->work);
	}
}

/**
 * binder_node_settle_locked() - a count went down
 *
 * Queues the owner's notice if it must hear of it; finds out whether anything
 * is left that keeps the node.
 *
 * Context: the owner's PROC lock held.
 * Return: true when nothing does: the caller drops the lock and calls
 * binder_node_free().
 */
bool binder_node_settle_locked(struct binder_node *node)
{
	bool weak = binder_node_weak_locked(node);

	lockdep_assert_held(&node->proc->lock);
	if (!node->proc->dead) {
		bool stale = (node->has_strong && !binder_node_strong_locked(node)) ||
			     (node->has_weak && !weak);

		if (stale && !binder_work_queued(&node->work))
			binder_proc_queue_locked(node->proc, &node->work);
		if (node->has_strong || node->has_weak)
			return false;
	}
	if (weak)
		return false;
	list_del_init(&node->work.entry);
	if (!RB_EMPTY_NODE(&node->rb_node)) {
		rb_erase(&node->rb_node, &node->proc->nodes);
		RB_CLEAR_NODE(&node->rb_node);
	}
	return true;
}

/**
 * binder_node_done() - BC_INCREFS_DONE or BC_ACQUIRE_DONE
 * Misuse is logged and otherwise without effect (uapi 1.7).
 * Context: no locks held.
 */
void binder_node_done(struct binder_thread *thread, u32 cmd, binder_uintptr_t ptr,
		      binder_uintptr_t cookie)
{
	const char *name = cmd == BC_ACQUIRE_DONE ? "BC_ACQUIRE_DONE" : "BC_INCREFS_DONE";
	struct binder_proc *proc = thread->proc;
	const char *wrong = NULL;
	struct binder_node *node;
	bool gone = false;

	spin_lock(&proc->lock);
	node = binder_node_find_locked(proc, ptr);
	if (!node) {
		wrong = "no such node";
	} else if (node->cookie != cookie) {
		wrong = "the cookie is another";
	} else if (cmd == BC_ACQUIRE_DONE && node->pending_strong) {
		node->pending_strong = false;
		node->local_strong--;
		gone = binder_node_settle_locked(node);
	} else if (cmd == BC_INCREFS_DONE && node->pending_weak) {
		node->pending_weak = false;
		node->local_weak--;
		gone = binder_node_settle_locked(node);
	} else {
		wrong = "nothing was asked";
	}
	spin_unlock(&proc->lock);
	if (wrong)
		binder_user_error(thread, "%s ptr %llx cookie %llx: %s\n", name, (u64)ptr,
				  (u64)cookie, wrong);
	if (gone)
		binder_node_free(node);
}

/**
 * binder_node_async_done() - a one-way call to the node is over
 * The next one that waits goes to the process queue (uapi 2.7).
 * Context: no locks held.
 */
void binder_node_async_done(struct binder_node *node)
{
	struct binder_proc *proc = node->proc;
	struct binder_work *next;

	spin_lock(&proc->lock);
	next = list_first_entry_or_null(&node->async_todo, struct binder_work, entry);
	if (next) {
		list_del_init(&next->entry);
		binder_proc_queue_locked(proc, next);
	} else {
		node->has_async = false;
	}
	spin_unlock(&proc->lock);
}

/*
 * Take one node out of its dead owner's tree and drop the counts that were
 * the owner's. What others hold keeps the node.
 */
static struct binder_node *node_orphan_locked(struct binder_proc *proc,
					      struct list_head *undelivered)
	__must_hold(&proc->lock)
{
	struct rb_node *first = rb_first(&proc->nodes);
	struct binder_node *node;

	lockdep_assert_held(&proc->lock);
	if (!first)
		return NULL;
	node = rb_entry(first, struct binder_node, rb_node);
	rb_erase(&node->rb_node, &proc->nodes);
	RB_CLEAR_NODE(&node->rb_node);
	list_del_init(&node->work.entry);
	list_splice_tail_init(&node->async_todo, undelivered);
	node->local_strong -= node->pending_strong + node->is_manager;
	node->local_weak -= node->pending_weak + node->is_manager;
	node->pending_strong = node->pending_weak = false;
	node->tmp_refs++;
	return node;
}

/**
 * binder_node_release_all() - the owner died: orphan its nodes, tell who asked
 * @proc: marked dead
 * Context: may sleep; no locks held.
 */
void binder_node_release_all(struct binder_proc *proc)
{
	struct binder_transaction *t, *next;
	struct binder_node *node;
	LIST_HEAD(undelivered);

	for (;;) {
		spin_lock(&proc->lock);
		node = node_orphan_locked(proc, &undelivered);
		spin_unlock(&proc->lock);
		if (!node)
			break;
		list_for_each_entry_safe(t, next, &undelivered, work.entry) {
			list_del_init(&t->work.entry);
			binder_transaction_discard(t);
		}
		binder_death_announce(node);
		binder_node_put_tmp(node);
	}
}

/** binder_node_to_text() - one line of binder_logs. Context: the owner's PROC lock held. */
void binder_node_to_text(struct binder_text *text, const struct binder_node *node)
{
	struct binder_ref *ref;
	int count = 0;

	list_for_each_entry(ref, &node->refs, node_entry)
		count++;
	binder_text_add(text, "  node %d: u%016llx c%016llx hs %d hw %d ls %d lw %d is %d iw %d tr %d",
			node->debug_id, (u64)node->ptr, (u64)node->cookie, node->has_strong,
			node->has_weak, node->local_strong, node->local_weak,
			node->internal_strong, count, node->tmp_refs);
	if (count) {
		binder_text_add(text, " proc");
		list_for_each_entry(ref, &node->refs, node_entry)
			binder_text_add(text, " %d", ref->proc->pid);
	}
	binder_text_add(text, "\n");
	if (!list_empty(&node->async_todo)) {
		struct binder_transaction *t;

		list_for_each_entry(t, &node->async_todo, work.entry)
			binder_transaction_to_text(text, "    pending async transaction", t, true);
	}
}
