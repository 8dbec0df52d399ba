// SPDX-License-Identifier: GPL-2.0-only
/*
 * Death notifications.
 *
 * A request is idle until the owner dies; then it is queued (BR_DEAD_BINDER),
 * delivered (in delivered_death until BC_DEAD_BINDER_DONE), and idle again
 * until its reference goes or it is cleared. A clear of an idle request is
 * confirmed at once; of one under way, after its acknowledgement.
 */
#include "core/death.h"

#include "core/node.h"
#include "core/ref.h"
#include "core/thread.h"

/* A notice about @thread's own doing: to it if it will read, else to the process. */
static void death_queue_locked(struct binder_thread *thread, struct binder_death *death)
	__must_hold(&thread->proc->lock)
{
	lockdep_assert_held(&thread->proc->lock);
	if (thread->looper & (BINDER_LOOPER_REGISTERED | BINDER_LOOPER_ENTERED))
		binder_thread_queue_locked(thread, &death->work);
	else
		binder_proc_queue_locked(thread->proc, &death->work);
}

/* The owner is dead: queue the notice, once. */
static void death_announce_locked(struct binder_ref *ref)
	__must_hold(&ref->proc->refs_lock)
{
	struct binder_proc *proc = ref->proc;

	lockdep_assert_held(&proc->refs_lock);
	if (!ref->death || ref->death->announced)
		return;
	ref->death->announced = true;
	spin_lock(&proc->lock);
	ref->death->work.type = BINDER_WORK_DEAD_BINDER;
	binder_proc_queue_locked(proc, &ref->death->work);
	spin_unlock(&proc->lock);
}

static const char *death_request_locked(struct binder_proc *proc, u32 handle,
					struct binder_death *death)
	__must_hold(&proc->refs_lock)
{
	struct binder_ref *ref = binder_ref_find_locked(proc, handle);
	bool dead;

	lockdep_assert_held(&proc->refs_lock);
	if (!ref)
		return "no such handle";
	if (ref->death)
		return "one was requested already";
	ref->death = death;
	/* An owner that dies after this look finds the request by itself. */
	spin_lock(&ref->node->proc->lock);
	dead = ref->node->proc->dead;
	spin_unlock(&ref->node->proc->lock);
	if (dead)
		death_announce_locked(ref);
	return NULL;
}

/**
 * binder_death_request() - BC_REQUEST_DEATH_NOTIFICATION
 * An already dead owner is announced at once. Misuse is logged only; when
 * memory is short nothing is requested and BR_ERROR says so.
 * Context: may sleep; no locks held.
 */
void binder_death_request(struct binder_thread *thread, u32 handle, binder_uintptr_t cookie)
{
	struct binder_proc *proc = thread->proc;
	struct binder_death *death = kzalloc(sizeof(*death), GFP_KERNEL);
	const char *wrong;

	if (!death) {
		spin_lock(&proc->lock);
		binder_thread_set_error_locked(thread, BR_ERROR);
		spin_unlock(&proc->lock);
		return;
	}
	binder_work_init(&death->work, BINDER_WORK_DEAD_BINDER);
	death->cookie = cookie;
	binder_obj_count(BINDER_OBJ_DEATH);

	spin_lock(&proc->refs_lock);
	wrong = death_request_locked(proc, handle, death);
	spin_unlock(&proc->refs_lock);
	if (wrong) {
		binder_user_error(thread, "BC_REQUEST_DEATH_NOTIFICATION of handle %u refused: %s\n",
				  handle, wrong);
		binder_death_free(death);
	}
}

/** binder_death_free() - free a request in no list and of no reference. Context: any. */
void binder_death_free(struct binder_death *death)
{
	kfree(death);
	binder_obj_uncount(BINDER_OBJ_DEATH);
}

/**
 * binder_death_clear() - BC_CLEAR_DEATH_NOTIFICATION
 * Misuse is logged only. Context: no locks held.
 */
void binder_death_clear(struct binder_thread *thread, u32 handle, binder_uintptr_t cookie)
{
	struct binder_proc *proc = thread->proc;
	struct binder_death *death = NULL;
	const char *wrong = NULL;
	struct binder_ref *ref;

	spin_lock(&proc->refs_lock);
	ref = binder_ref_find_locked(proc, handle);
	if (!ref)
		wrong = "no such handle";
	else if (!ref->death)
		wrong = "none was requested";
	else if (ref->death->cookie != cookie)
		wrong = "the cookie is another";
	if (!wrong) {
		death = ref->death;
		ref->death = NULL;
		spin_lock(&proc->lock);
		if (binder_work_queued(&death->work)) {
			death->work.type = BINDER_WORK_DEAD_BINDER_AND_CLEAR;
		} else {
			death->work.type = BINDER_WORK_CLEAR_DEATH;
			death_queue_locked(thread, death);
		}
		spin_unlock(&proc->lock);
	}
	spin_unlock(&proc->refs_lock);
	if (wrong)
		binder_user_error(thread, "BC_CLEAR_DEATH_NOTIFICATION of handle %u refused: %s\n",
				  handle, wrong);
}

/**
 * binder_death_done() - BC_DEAD_BINDER_DONE, from any thread of the process
 * Misuse is logged only. Context: no locks held.
 */
void binder_death_done(struct binder_thread *thread, binder_uintptr_t cookie)
{
	struct binder_proc *proc = thread->proc;
	struct binder_death *death;
	bool found = false;

	spin_lock(&proc->lock);
	list_for_each_entry(death, &proc->delivered_death, work.entry) {
		if (death->cookie != cookie)
			continue;
		found = true;
		list_del_init(&death->work.entry);
		if (death->work.type == BINDER_WORK_DEAD_BINDER_AND_CLEAR) {
			death->work.type = BINDER_WORK_CLEAR_DEATH;
			death_queue_locked(thread, death);
		}
		break;
	}
	spin_unlock(&proc->lock);
	if (!found)
		binder_user_error(thread, "BC_DEAD_BINDER_DONE %llx: no such notice was delivered\n",
				  (u64)cookie);
}

/* Announce to one holder; the reference may have gone meanwhile. */
static void death_announce_to(struct binder_proc *proc, struct binder_node *node)
{
	struct binder_ref *ref;

	spin_lock(&proc->refs_lock);
	ref = binder_ref_find_node_locked(proc, node);
	if (ref)
		death_announce_locked(ref);
	spin_unlock(&proc->refs_lock);
}

/**
 * binder_death_announce() - tell everyone who asked that a node's owner died
 * @node: kept by a temporary reference; its owner is marked dead
 *
 * A holder's refs_lock ranks before the owner's lock, so the list of holders
 * cannot be walked in one go: each round takes the first, moves it to the end
 * and works on it unlocked. Holders added meanwhile see the owner dead.
 *
 * Context: may sleep; no locks held.
 */
void binder_death_announce(struct binder_node *node)
{
	struct binder_proc *owner = node->proc, *holder;
	struct binder_ref *ref;
	unsigned long rounds = 0;

	spin_lock(&owner->lock);
	list_for_each_entry(ref, &node->refs, node_entry)
		rounds++;
	while (rounds-- && !list_empty(&node->refs)) {
		ref = list_first_entry(&node->refs, struct binder_ref, node_entry);
		list_move_tail(&ref->node_entry, &node->refs);
		holder = binder_proc_get(ref->proc);
		spin_unlock(&owner->lock);
		death_announce_to(holder, node);
		binder_proc_put(holder);
		spin_lock(&owner->lock);
	}
	spin_unlock(&owner->lock);
}
