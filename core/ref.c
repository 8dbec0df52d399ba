// SPDX-License-Identifier: GPL-2.0-only
/*
 * References and handles. Lock order: the holder's refs_lock, then the PROC
 * lock of the node's owner. Nothing is freed under either: what falls off
 * goes into a struct ref_trash, emptied after the locks are dropped.
 */
#include "core/ref.h"

#include "core/context.h"
#include "core/death.h"
#include "core/node.h"
#include "core/text.h"
#include "core/thread.h"

#define HANDLES_MIN BITS_PER_LONG

struct ref_trash {
	struct binder_ref *ref;
	struct binder_death *death;
	struct binder_node *node;
};

static void ref_free(struct binder_ref *ref)
{
	kfree(ref);
	binder_obj_uncount(BINDER_OBJ_REF);
}

static void ref_trash_empty(struct ref_trash *trash)
{
	if (trash->death)
		binder_death_free(trash->death);
	if (trash->ref)
		ref_free(trash->ref);
	if (trash->node)
		binder_node_free(trash->node);
}

/**
 * binder_ref_find_locked() - a reference by handle
 * Context: @proc->refs_lock held.
 * Return: the reference or NULL.
 */
struct binder_ref *binder_ref_find_locked(struct binder_proc *proc, u32 handle)
{
	struct rb_node *n = proc->refs_by_handle.rb_node;

	lockdep_assert_held(&proc->refs_lock);
	while (n) {
		struct binder_ref *ref = rb_entry(n, struct binder_ref, rb_handle);

		if (handle < ref->handle)
			n = n->rb_left;
		else if (handle > ref->handle)
			n = n->rb_right;
		else
			return ref;
	}
	return NULL;
}

/**
 * binder_ref_find_node_locked() - a reference by node
 * Context: @proc->refs_lock held.
 * Return: the reference or NULL.
 */
struct binder_ref *binder_ref_find_node_locked(struct binder_proc *proc,
					       const struct binder_node *node)
{
	struct rb_node *n = proc->refs_by_node.rb_node;

	lockdep_assert_held(&proc->refs_lock);
	while (n) {
		struct binder_ref *ref = rb_entry(n, struct binder_ref, rb_node);

		if (node < ref->node)
			n = n->rb_left;
		else if (node > ref->node)
			n = n->rb_right;
		else
			return ref;
	}
	return NULL;
}

static void ref_insert_locked(struct binder_proc *proc, struct binder_ref *new)
	__must_hold(&proc->refs_lock)
{
	struct rb_node **p = &proc->refs_by_handle.rb_node;
	struct rb_node *parent = NULL;

	lockdep_assert_held(&proc->refs_lock);
	while (*p) {
		parent = *p;
		if (new->handle < rb_entry(parent, struct binder_ref, rb_handle)->handle)
			p = &parent->rb_left;
		else
			p = &parent->rb_right;
	}
	rb_link_node(&new->rb_handle, parent, p);
	rb_insert_color(&new->rb_handle, &proc->refs_by_handle);

	p = &proc->refs_by_node.rb_node;
	parent = NULL;
	while (*p) {
		parent = *p;
		if (new->node < rb_entry(parent, struct binder_ref, rb_node)->node)
			p = &parent->rb_left;
		else
			p = &parent->rb_right;
	}
	rb_link_node(&new->rb_node, parent, p);
	rb_insert_color(&new->rb_node, &proc->refs_by_node);
}

/* Lowest free handle; 0 only for a context manager. U32_MAX: the bitmap is full. */
static u32 handle_find_locked(struct binder_proc *proc, bool manager)
	__must_hold(&proc->refs_lock)
{
	unsigned long bit;

	lockdep_assert_held(&proc->refs_lock);
	if (!proc->nr_handles)
		return U32_MAX;
	bit = find_next_zero_bit(proc->handles, proc->nr_handles, manager ? 0 : 1);
	return bit < proc->nr_handles ? (u32)bit : U32_MAX;
}

/* Double the handle bitmap. Called and returns with refs_lock held; drops it meanwhile. */
static int handles_grow_locked(struct binder_proc *proc) __must_hold(&proc->refs_lock)
{
	unsigned int nr = proc->nr_handles ? proc->nr_handles * 2 : HANDLES_MIN;
	unsigned long *bits, *old;

	lockdep_assert_held(&proc->refs_lock);
	if (nr <= proc->nr_handles) /* more than can be counted */
		return -ENOMEM;
	spin_unlock(&proc->refs_lock);
	bits = kvcalloc(BITS_TO_LONGS(nr), sizeof(*bits), GFP_KERNEL);
	spin_lock(&proc->refs_lock);
	if (!bits)
		return -ENOMEM;
	old = bits;
	if (nr > proc->nr_handles) { /* nobody else grew it meanwhile */
		if (proc->nr_handles)
			bitmap_copy(bits, proc->handles, proc->nr_handles);
		old = proc->handles;
		proc->handles = bits;
		proc->nr_handles = nr;
	}
	spin_unlock(&proc->refs_lock);
	kvfree(old);
	spin_lock(&proc->refs_lock);
	return 0;
}

static struct binder_ref *ref_alloc(struct binder_proc *proc, struct binder_node *node)
{
	struct binder_ref *ref = kzalloc(sizeof(*ref), GFP_KERNEL);

	if (!ref)
		return NULL;
	ref->proc = proc;
	ref->node = node;
	ref->debug_id = binder_next_debug_id();
	INIT_LIST_HEAD(&ref->node_entry);
	binder_obj_count(BINDER_OBJ_REF);
	return ref;
}

/*
 * Find or make the reference to @node. Drops refs_lock to allocate; holds it
 * again on return. A new reference has no counts: the caller adds the first.
 */
static struct binder_ref *ref_find_or_new_locked(struct binder_proc *proc, struct binder_node *node)
	__must_hold(&proc->refs_lock)
{
	struct binder_ref *ref, *spare = NULL;
	u32 handle;

	lockdep_assert_held(&proc->refs_lock);
	for (;;) {
		ref = binder_ref_find_node_locked(proc, node);
		if (ref)
			break;
		handle = handle_find_locked(proc, READ_ONCE(node->is_manager));
		if (handle == U32_MAX) {
			if (handles_grow_locked(proc))
				break;
			continue;
		}
		if (spare) {
			ref = spare;
			spare = NULL;
			ref->handle = handle;
			__set_bit(handle, proc->handles);
			ref_insert_locked(proc, ref);
			spin_lock(&node->proc->lock);
			list_add_tail(&ref->node_entry, &node->refs);
			spin_unlock(&node->proc->lock);
			break;
		}
		spin_unlock(&proc->refs_lock);
		spare = ref_alloc(proc, node);
		spin_lock(&proc->refs_lock);
		if (!spare)
			break;
	}
	if (spare)
		ref_free(spare);
	return ref;
}

/* Add a count. @may_tell: the owner may be told of a first strong count. */
static int ref_inc_locked(struct binder_ref *ref, bool strong, bool may_tell,
			  struct binder_thread *tell)
	__must_hold(&ref->proc->refs_lock)
{
	struct binder_node *node = ref->node;
	int ret = 0;

	lockdep_assert_held(&ref->proc->refs_lock);
	if ((strong ? ref->strong : ref->weak) == INT_MAX)
		return -EOVERFLOW;
	spin_lock(&node->proc->lock);
	if (strong && !ref->strong) {
		if (may_tell || node->internal_strong || (node->is_manager && node->has_strong))
			node->internal_strong++;
		else
			ret = -EINVAL; /* a weak hold cannot make itself strong */
	}
	if (!ret)
		binder_node_tell_locked(node, tell);
	spin_unlock(&node->proc->lock);
	if (ret)
		return ret;
	if (strong)
		ref->strong++;
	else
		ref->weak++;
	return 0;
}

/* Forget a reference whose counts are gone. */
static void ref_erase_locked(struct binder_ref *ref, struct ref_trash *trash)
	__must_hold(&ref->proc->refs_lock)
{
	struct binder_proc *proc = ref->proc;

	lockdep_assert_held(&proc->refs_lock);
	rb_erase(&ref->rb_handle, &proc->refs_by_handle);
	rb_erase(&ref->rb_node, &proc->refs_by_node);
	__clear_bit(ref->handle, proc->handles);
	if (ref->death) {
		spin_lock(&proc->lock);
		list_del_init(&ref->death->work.entry);
		spin_unlock(&proc->lock);
		trash->death = ref->death;
	}
	trash->ref = ref;
}

static int ref_dec_locked(struct binder_ref *ref, bool strong, struct ref_trash *trash)
	__must_hold(&ref->proc->refs_lock)
{
	struct binder_node *node = ref->node;
	bool last;

	lockdep_assert_held(&ref->proc->refs_lock);
	if ((strong ? ref->strong : ref->weak) == 0)
		return -EINVAL;
	if (strong)
		ref->strong--;
	else
		ref->weak--;
	last = !ref->strong && !ref->weak;
	if (last)
		ref_erase_locked(ref, trash);
	if (last || (strong && !ref->strong)) {
		spin_lock(&node->proc->lock);
		if (strong && !ref->strong)
			node->internal_strong--;
		if (last)
			list_del_init(&ref->node_entry);
		if (binder_node_settle_locked(node))
			trash->node = node;
		spin_unlock(&node->proc->lock);
	}
	return 0;
}

/**
 * binder_ref_lookup_node() - the node behind a handle
 * @strong: a weak reference will not do
 *
 * The count is taken while the reference still has its own. If the two were
 * apart, the holder could drop its last in between and the owner be told
 * BR_RELEASE; a strong count after that would be on an object that is gone.
 *
 * Context: no PROC lock held.
 * Return: the node with a local count of that kind, or NULL.
 */
struct binder_node *binder_ref_lookup_node(struct binder_proc *proc, u32 handle, bool strong)
{
	struct binder_node *node = NULL;
	struct binder_ref *ref;

	spin_lock(&proc->refs_lock);
	ref = binder_ref_find_locked(proc, handle);
	if (ref && (ref->strong || !strong)) {
		node = ref->node;
		binder_node_inc_local(node, strong);
	}
	spin_unlock(&proc->refs_lock);
	return node;
}

/**
 * binder_ref_inc_for_node() - give @proc a count on a node it may not know yet
 * @proc: the future holder, alive or kept by binder_proc.users
 * @node: the caller has a count on it as strong, or sends for its owner
 * @tell: see binder_node_tell_locked()
 * @handle: receives the handle
 *
 * Context: may sleep; no locks held.
 * Return: 0, -ENOMEM, -EOVERFLOW.
 */
int binder_ref_inc_for_node(struct binder_proc *proc, struct binder_node *node, bool strong,
			    struct binder_thread *tell, u32 *handle)
{
	struct binder_ref *ref;
	int ret = -ENOMEM;

	spin_lock(&proc->refs_lock);
	ref = ref_find_or_new_locked(proc, node);
	if (ref) {
		*handle = ref->handle;
		/* Cannot fail for a new one, which has no counts yet. */
		ret = ref_inc_locked(ref, strong, true, tell);
	}
	spin_unlock(&proc->refs_lock);
	return ret;
}

/**
 * binder_ref_dec() - drop a count by handle
 * @node_id: debug id of the node the handle must refer to, or 0 for any:
 *           a holder that over-released may see its handle reused
 *
 * Context: no locks held.
 * Return: 0, -ENOENT for an unknown handle, -EINVAL when the count is 0.
 */
int binder_ref_dec(struct binder_proc *proc, u32 handle, bool strong, int node_id)
{
	struct ref_trash trash = {};
	struct binder_ref *ref;
	int ret = -ENOENT;

	spin_lock(&proc->refs_lock);
	ref = binder_ref_find_locked(proc, handle);
	if (ref && (!node_id || ref->node->debug_id == node_id))
		ret = ref_dec_locked(ref, strong, &trash);
	spin_unlock(&proc->refs_lock);
	ref_trash_empty(&trash);
	return ret;
}

/* The counts of the node behind a strong handle. */
static int ref_count_node(struct binder_proc *proc, u32 handle, u32 *strong, u32 *weak)
{
	struct binder_ref *ref;
	int ret = -EINVAL;

	spin_lock(&proc->refs_lock);
	ref = binder_ref_find_locked(proc, handle);
	if (ref && ref->strong) {
		binder_node_count(ref->node, strong, weak);
		ret = 0;
	}
	spin_unlock(&proc->refs_lock);
	return ret;
}

/**
 * binder_ref_node_info() - BINDER_GET_NODE_INFO_FOR_REF: who else holds a service?
 * @thread: the caller, of the context manager
 * @info: its handle, all else zero; receives the counts of binder_node_count(),
 *        the caller's own reference among them
 *
 * Context: takes the CONTEXT, REFS and PROC locks.
 * Return: 0; -EINVAL when a field other than the handle is set, or when the
 * caller has no strong reference by that handle; -EPERM when it is not the
 * manager. @info is then as it was.
 */
int binder_ref_node_info(struct binder_thread *thread, struct binder_node_info_for_ref *info)
{
	struct binder_proc *proc = thread->proc;
	u32 strong, weak;
	int ret;

	if (info->strong_count || info->weak_count || info->reserved1 || info->reserved2 ||
	    info->reserved3) {
		binder_user_error(thread, "node info: all but the handle must be 0\n");
		return -EINVAL;
	}
	if (!binder_context_managed_by(proc->context, proc)) {
		binder_user_error(thread, "node info is for the manager of context %s only\n",
				  proc->context->name);
		return -EPERM;
	}
	ret = ref_count_node(proc, info->handle, &strong, &weak);
	if (ret) {
		binder_user_error(thread, "node info: handle %u is not held strongly\n",
				  info->handle);
		return ret;
	}
	info->strong_count = strong;
	info->weak_count = weak;
	return 0;
}

static int ref_inc_manager(struct binder_proc *proc, bool strong, bool *self)
{
	struct binder_node *node = binder_context_lookup_manager(proc->context);
	u32 handle;
	int ret;

	if (!node)
		return -ENOENT;
	*self = node->proc == proc;
	ret = *self ? -EINVAL : binder_ref_inc_for_node(proc, node, strong, NULL, &handle);
	binder_node_dec_local(node, true);
	return ret;
}

static int ref_inc(struct binder_proc *proc, u32 handle, bool strong)
{
	struct binder_ref *ref;
	int ret = -ENOENT;

	spin_lock(&proc->refs_lock);
	ref = binder_ref_find_locked(proc, handle);
	if (ref)
		ret = ref_inc_locked(ref, strong, false, NULL);
	spin_unlock(&proc->refs_lock);
	return ret;
}

/**
 * binder_ref_command() - BC_INCREFS, BC_ACQUIRE, BC_RELEASE, BC_DECREFS
 *
 * Handle 0 comes into being with the first count on it. Misuse is logged and
 * otherwise without effect, but for a manager that wants a reference to
 * itself (uapi 1.7).
 *
 * Context: may sleep; no locks held.
 * Return: 0, or -EINVAL for that one case.
 */
int binder_ref_command(struct binder_thread *thread, u32 cmd, u32 handle)
{
	bool strong = cmd == BC_ACQUIRE || cmd == BC_RELEASE;
	bool inc = cmd == BC_INCREFS || cmd == BC_ACQUIRE;
	struct binder_proc *proc = thread->proc;
	bool self = false;
	int ret = -ENOENT;

	if (inc && !handle)
		ret = ref_inc_manager(proc, strong, &self);
	if (self) {
		binder_user_error(thread, "the context manager cannot refer to itself\n");
		return -EINVAL;
	}
	if (ret == -ENOENT)
		ret = inc ? ref_inc(proc, handle, strong) : binder_ref_dec(proc, handle, strong, 0);
	if (ret)
		binder_user_error(thread, "%s %s of handle %u refused: %s\n", strong ? "strong" : "weak",
				  inc ? "increment" : "decrement", handle,
				  ret == -ENOENT ? "no such handle" :
				  ret == -ENOMEM ? "out of memory" :
				  ret == -EOVERFLOW ? "the count is at its limit" :
				  inc ? "it is held weakly" : "the count is zero");
	return 0;
}

/**
 * binder_ref_release_all() - the holder died
 * @proc: marked dead: no reference is added any more but by senders under way,
 *        whose buffers are freed after this and drop theirs; see
 *        binder_proc_leave(), which calls this once more
 * Context: may sleep; no locks held.
 */
void binder_ref_release_all(struct binder_proc *proc)
{
	for (;;) {
		struct ref_trash trash = {};
		struct rb_node *first;
		struct binder_ref *ref;

		spin_lock(&proc->refs_lock);
		first = rb_first(&proc->refs_by_handle);
		if (!first) {
			spin_unlock(&proc->refs_lock);
			return;
		}
		ref = rb_entry(first, struct binder_ref, rb_handle);
		ref->weak = ref->weak ? 1 : 0;
		if (ref->strong > 1)
			ref->strong = 1;
		if (ref->strong && ref->weak)
			ref->weak = 0;
		ref_dec_locked(ref, ref->strong != 0, &trash);
		spin_unlock(&proc->refs_lock);
		ref_trash_empty(&trash);
	}
}

/** binder_ref_to_text() - one line of binder_logs. Context: the holder's refs_lock held. */
void binder_ref_to_text(struct binder_text *text, const struct binder_ref *ref)
{
	bool dead;

	spin_lock(&ref->node->proc->lock);
	dead = ref->node->proc->dead;
	spin_unlock(&ref->node->proc->lock);
	binder_text_add(text, "  ref %d: desc %u %snode %d s %d w %d d %d\n", ref->debug_id,
			ref->handle, dead ? "dead " : "", ref->node->debug_id, ref->strong,
			ref->weak, ref->death != NULL);
}
