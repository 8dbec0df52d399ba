// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must be true of the core whenever none of its functions runs and no
 * thread is ready: counts are what can be counted, every list is what the
 * headers say of it, and whoever waits for a reply will get one.
 *
 * First everything is found and counted (find_*), then compared (check_*).
 */
#include "core_test.h"

#include "core/alloc.h"
#include "core/context.h"
#include "core/death.h"
#include "core/node.h"
#include "core/proc.h"
#include "core/ref.h"
#include "core/thread.h"
#include "core/transaction.h"

#define THINGS_MAX 8192

/* A thing that was found, and what was counted of it. */
struct thing {
	const void *thing;
	int refs;
	int strong, weak;	/* of a node: what buffers in the owner's hands hold */
	int oneway;		/* of a node: one-way calls on their way, and not waiting */
	bool progress;		/* of a transaction: somebody will take it, or has */
	bool waited;		/* of a transaction: its caller waits */
};

struct things {
	struct thing v[THINGS_MAX];
	size_t nr;
};

static struct things procs, threads, nodes, transactions;
static int nr_refs, nr_deaths, nr_completes, nr_queued;

#define CHECK(cond) do {							\
	if (!(cond))								\
		binder_kapi_fatal("%s: the world is not sound: %s", BINDER_SITE, #cond);	\
} while (0)

static struct thing *thing_of(struct things *things, const void *key)
{
	struct thing *t;

	for (size_t i = 0; i < things->nr; i++)
		if (things->v[i].thing == key)
			return &things->v[i];
	CHECK(things->nr < THINGS_MAX);
	t = &things->v[things->nr++];
	*t = (struct thing){ .thing = key };
	return t;
}

/* Return: whether it is seen for the first time. */
static bool thing_new(struct things *things, const void *key, struct thing **found)
{
	size_t nr = things->nr;

	*found = thing_of(things, key);
	return things->nr > nr;
}

/* ---- finding ---------------------------------------------------------------- */

static void find_thread(struct binder_thread *thread)
{
	struct thing *found;

	if (!thing_new(&threads, thread, &found))
		return;
	thing_of(&procs, thread->proc)->refs++;
	if (thread->host.sim->record == thread)
		found->refs++;
}

static struct thing *find_node(struct binder_node *node)
{
	struct thing *found;

	if (thing_new(&nodes, node, &found))
		thing_of(&procs, node->proc)->refs++;
	return found;
}

static struct thing *find_transaction(struct binder_transaction *t)
{
	struct thing *found;

	if (!thing_new(&transactions, t, &found))
		return found;
	thing_of(&procs, t->to_proc)->refs++;
	if (t->from) {
		find_thread(t->from);
		thing_of(&threads, t->from)->refs++;
	}
	if (t->from_parent)
		find_transaction(t->from_parent)->refs++;
	return found;
}

static void find_queued(struct binder_proc *proc, struct binder_transaction *t)
{
	struct thing *found = find_transaction(t);

	CHECK(t->to_proc == proc && !t->to_thread);
	CHECK(t->buffer && !t->buffer->free && !t->buffer->may_free);
	CHECK(t->buffer->oneway == (!t->reply && (t->flags & TF_ONE_WAY) != 0));
	CHECK(!t->from == (t->reply || t->buffer->oneway));
	CHECK(!found->progress);
	found->progress = true;
	found->refs++;
	nr_queued++;
}

static void find_death(struct binder_proc *proc, struct binder_death *death)
{
	struct rb_node *n;
	bool of_ref = false;

	for (n = rb_first(&proc->refs_by_handle); n; n = rb_next(n))
		of_ref |= rb_entry(n, struct binder_ref, rb_handle)->death == death;
	CHECK(of_ref == (death->work.type == BINDER_WORK_DEAD_BINDER));
	nr_deaths += !of_ref;
}

/* Return: whether it ends a wait. @thread: whose queue it stands in, or NULL. */
static bool find_work(struct binder_proc *proc, struct binder_thread *thread,
		      struct binder_work *work)
{
	switch (work->type) {
	case BINDER_WORK_TRANSACTION:
		find_queued(proc, container_of(work, struct binder_transaction, work));
		return true;
	case BINDER_WORK_COMPLETE:
		CHECK(thread);
		nr_completes++;
		return false;
	case BINDER_WORK_ERROR:
		CHECK(thread);
		CHECK(work == &thread->return_error.work || work == &thread->reply_error.work);
		CHECK(container_of(work, struct binder_error, work)->cmd != BR_OK);
		return true;
	case BINDER_WORK_NODE:
		CHECK(container_of(work, struct binder_node, work)->proc == proc);
		CHECK(!proc->dead);
		return !thread;
	default:
		find_death(proc, container_of(work, struct binder_death, work));
		return true;
	}
}

/* A reply that waits for its caller to come back. */
static void find_answer(struct binder_proc *proc, struct binder_transaction *call)
{
	CHECK(call->answer->reply && call->verdict.command == BR_OK);
	CHECK(!binder_work_queued(&call->answer->work));
	find_queued(proc, call->answer);
}

static void find_stack(struct binder_thread *thread)
{
	struct binder_transaction *t = thread->stack;

	while (t) {
		struct thing *found = find_transaction(t);

		found->refs++;
		if (t->from == thread) {
			CHECK(!t->settled && !found->waited);
			found->waited = true;
			if (t->answer)
				find_answer(thread->proc, t);
			t = t->from_parent;
		} else {
			CHECK(t->to_thread == thread && t->to_proc == thread->proc);
			CHECK(t->from && !t->buffer && !found->progress);
			found->progress = true;
			t = t->to_parent;
		}
	}
}

static void find_thread_of(struct binder_proc *proc, struct binder_thread *thread)
{
	struct binder_work *work;
	bool flagged = false;
	u32 calls = 0;

	CHECK(thread->proc == proc && !thread->dead);
	CHECK(thread->lookups == (thread->host.sim->record == thread));
	find_thread(thread);
	thing_of(&threads, thread)->refs++;
	find_stack(thread);
	list_for_each_entry(work, &thread->todo, entry) {
		flagged |= find_work(proc, thread, work);
		calls += work->type == BINDER_WORK_TRANSACTION &&
			 container_of(work, struct binder_transaction, work)->from;
	}
	/* The flag may outlive what it was set for, and not the other way round. */
	CHECK(thread->flagged || !flagged);
	CHECK(thread->calls == calls);
}

static void find_buffers(struct binder_proc *proc)
{
	struct binder_alloc *alloc = proc->alloc;
	struct binder_buffer *buffer;
	size_t allocated = 0;
	int active = 0;

	list_for_each_entry(buffer, &alloc->buffers, entry) {
		struct binder_objects *objects = buffer->objects;

		if (buffer->free)
			continue;
		allocated++;
		active += !buffer->may_free;
		if (buffer->target_node) {
			CHECK(buffer->target_node->proc == proc);
			find_node(buffer->target_node)->strong++;
			find_node(buffer->target_node)->oneway += buffer->oneway;
		}
		CHECK(!buffer->oneway || buffer->target_node);
		for (u32 i = 0; objects && i < objects->nr_held; i++) {
			struct binder_object *o = &objects->v[i];

			if (!o->node)
				continue;
			CHECK(o->node->proc == proc);
			if (o->type == BINDER_TYPE_BINDER)
				find_node(o->node)->strong++;
			else
				find_node(o->node)->weak++;
		}
		CHECK(!objects || objects->nr_held == objects->nr);
	}
	CHECK(allocated == alloc->nr_allocated);
	/* A buffer is queued or user space's. */
	CHECK(active == nr_queued);
}

static void find_refs(struct binder_proc *proc)
{
	unsigned int bits = 0, refs = 0;
	struct rb_node *n;

	for (n = rb_first(&proc->refs_by_handle); n; n = rb_next(n)) {
		struct binder_ref *ref = rb_entry(n, struct binder_ref, rb_handle);

		CHECK(ref->proc == proc && ref->strong >= 0 && ref->weak >= 0);
		CHECK(ref->strong || ref->weak);
		CHECK(ref->handle || ref->node->is_manager);
		CHECK(ref->handle < proc->nr_handles);
		CHECK(find_next_zero_bit(proc->handles, ref->handle + 1, ref->handle) >
		      ref->handle);
		CHECK(!rb_next(n) ||
		      rb_entry(rb_next(n), struct binder_ref, rb_handle)->handle > ref->handle);
		find_node(ref->node);
		if (ref->death) {
			nr_deaths++;
			CHECK(ref->death->announced == ref->node->proc->dead);
		}
		refs++;
	}
	for (n = rb_first(&proc->refs_by_node); n; n = rb_next(n))
		refs--;
	CHECK(!refs);
	for (n = rb_first(&proc->refs_by_handle); n; n = rb_next(n))
		refs++;
	for (unsigned int bit = 0; bit < proc->nr_handles; bit++)
		bits += find_next_zero_bit(proc->handles, bit + 1, bit) > bit;
	CHECK(bits == refs);
	nr_refs += (int)refs;
}

static void find_proc(struct binder_proc *proc)
{
	struct binder_work *work;
	struct rb_node *n;

	CHECK(!proc->dead && proc->users == 1);
	thing_of(&procs, proc)->refs++;
	nr_queued = 0;
	for (n = rb_first(&proc->threads); n; n = rb_next(n))
		find_thread_of(proc, rb_entry(n, struct binder_thread, rb_node));
	list_for_each_entry(work, &proc->todo, entry)
		find_work(proc, NULL, work);
	list_for_each_entry(work, &proc->delivered_death, entry) {
		CHECK(work->type == BINDER_WORK_DEAD_BINDER ||
		      work->type == BINDER_WORK_DEAD_BINDER_AND_CLEAR);
		find_work(proc, NULL, work);
	}
	for (n = rb_first(&proc->nodes); n; n = rb_next(n)) {
		struct binder_node *node = rb_entry(n, struct binder_node, rb_node);

		CHECK(node->proc == proc);
		find_node(node);
		list_for_each_entry(work, &node->async_todo, entry) {
			find_work(proc, NULL, work);
			find_node(node)->oneway--;
		}
	}
	find_buffers(proc);
	find_refs(proc);
}

/* ---- comparing ---------------------------------------------------------------- */

static void check_transaction(const struct thing *found)
{
	const struct binder_transaction *t = found->thing;
	bool ended;

	CHECK((int)refcount_read(&t->refs) == found->refs);
	if (!found->waited) {
		CHECK(!t->answer);
		return;
	}
	/* Its caller waits: somebody has it or will take it, or the caller hears
	 * of its failure when the nested calls above it are answered. */
	ended = t->answer || t->verdict.command != BR_OK;
	CHECK(found->progress != ended);
	if (ended && t->from->stack == t) {
		struct binder_work *work;
		bool nested = false;

		list_for_each_entry(work, &t->from->todo, entry)
			nested |= work->type == BINDER_WORK_TRANSACTION &&
				  container_of(work, struct binder_transaction, work)->from;
		CHECK(nested);
	}
}

static void check_thread(const struct thing *found)
{
	struct binder_thread *thread = (struct binder_thread *)(uintptr_t)found->thing;
	struct binder_proc *proc = thread->proc;
	bool waiting = !list_empty(&thread->waiting_entry);

	CHECK((int)refcount_read(&thread->refs) == found->refs);
	CHECK(thread->park != BINDER_READY);
	if (thread->dead) {
		CHECK(!waiting && !thread->stack && list_empty(&thread->todo));
		return;
	}
	spin_lock(&proc->lock);
	CHECK((thread->park == BINDER_PARKED) == thread->host.sim->parked);
	CHECK(waiting == (thread->park == BINDER_PARKED &&
			  binder_thread_available_locked(thread)));
	CHECK(waiting == !!(thread->looper & BINDER_LOOPER_WAITING));
	/* Nobody waits though there is something for him. */
	CHECK(thread->park != BINDER_PARKED || !binder_thread_has_work_locked(thread));
	spin_unlock(&proc->lock);
}

static void check_node(const struct thing *found)
{
	struct binder_node *node = (struct binder_node *)(uintptr_t)found->thing;
	struct binder_proc *proc = node->proc;
	struct binder_context *context = proc->context;
	struct binder_ref *ref;
	int strong_refs = 0;

	spin_lock(&proc->lock);
	list_for_each_entry(ref, &node->refs, node_entry) {
		CHECK(ref->node == node);
		strong_refs += ref->strong > 0;
	}
	CHECK(node->internal_strong == strong_refs);
	CHECK(node->tmp_refs == (context->manager == node));
	CHECK(binder_node_weak_locked(node) || node->has_weak || node->has_strong);
	CHECK(RB_EMPTY_NODE(&node->rb_node) == proc->dead);
	CHECK(!node->pending_strong || node->has_strong);
	CHECK(!node->pending_weak || node->has_weak);
	if (proc->dead) {
		CHECK(!node->local_strong && !node->local_weak && !node->pending_strong);
		CHECK(!binder_work_queued(&node->work) && list_empty(&node->async_todo));
	} else {
		int own = node->is_manager;

		CHECK(node->local_strong == found->strong + node->pending_strong + own);
		CHECK(node->local_weak == found->weak + node->pending_weak + own);
		/* What the owner knows is true, or it is about to be told. */
		CHECK(binder_work_queued(&node->work) ||
		      (node->has_strong == binder_node_strong_locked(node) &&
		       node->has_weak == binder_node_weak_locked(node)));
		CHECK(found->oneway == node->has_async);
		CHECK(node->has_async || list_empty(&node->async_todo));
	}
	spin_unlock(&proc->lock);
}

static void check_proc(const struct thing *found)
{
	const struct binder_proc *proc = found->thing;

	CHECK((int)refcount_read(&proc->refs) == found->refs);
	CHECK(proc->dead ? !proc->users : proc->users == 1);
}

static int live(enum binder_object_kind kind)
{
	return atomic_read(&binder_obj_created[kind]) - atomic_read(&binder_obj_deleted[kind]);
}

/* Whatever exists was found: nothing hangs in the air. */
static void check_counts(void)
{
	CHECK(live(BINDER_OBJ_PROC) == (int)procs.nr);
	CHECK(live(BINDER_OBJ_THREAD) == (int)threads.nr);
	CHECK(live(BINDER_OBJ_NODE) == (int)nodes.nr);
	CHECK(live(BINDER_OBJ_TRANSACTION) == (int)transactions.nr);
	CHECK(live(BINDER_OBJ_REF) == nr_refs);
	CHECK(live(BINDER_OBJ_DEATH) == nr_deaths);
	CHECK(live(BINDER_OBJ_COMPLETE) == nr_completes);
}

void core_check(void)
{
	struct binder_proc *proc;

	procs.nr = threads.nr = nodes.nr = transactions.nr = 0;
	nr_refs = nr_deaths = nr_completes = 0;
	list_for_each_entry(proc, &binder_procs, entry)
		find_proc(proc);
	for (size_t i = 0; i < transactions.nr; i++)
		check_transaction(&transactions.v[i]);
	for (size_t i = 0; i < threads.nr; i++)
		check_thread(&threads.v[i]);
	for (size_t i = 0; i < nodes.nr; i++)
		check_node(&nodes.v[i]);
	for (size_t i = 0; i < procs.nr; i++)
		check_proc(&procs.v[i]);
	check_counts();
}
