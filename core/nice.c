// SPDX-License-Identifier: GPL-2.0-only
/*
 * At which nice value a transaction is served. A call runs at the better of
 * its caller's and the least that the node asks for; a one-way call is only
 * raised to the latter. A thread gets back what it had when it has replied;
 * before it waits for the next call it goes to its process's default, which is
 * the host's business, like all waiting.
 */
#include "core/nice.h"

#include "core/host.h"
#include "core/node.h"
#include "core/transaction.h"

/**
 * binder_nice_wanted() - the nice value to serve a transaction at
 * @thread: its sender
 * @node: its target, NULL for a reply
 * @sync: somebody waits for it
 * Context: any.
 * Return: a nice value; perhaps beyond the range, which says "the worst".
 */
int binder_nice_wanted(struct binder_thread *thread, const struct binder_node *node, bool sync)
{
	int least = node ? (int)(node->flags & FLAT_BINDER_FLAG_PRIORITY_MASK) : 0;

	return sync ? min(least, binder_host_nice(thread)) : least;
}

/** binder_nice_inherit() - @thread is about to serve @t. Context: no locks held. */
void binder_nice_inherit(struct binder_thread *thread, struct binder_transaction *t)
{
	t->saved_nice = binder_host_nice(thread);
	if (t->from || t->nice < t->saved_nice)
		binder_host_set_nice(thread, t->nice);
}

/** binder_nice_restore() - @thread has served @call. Context: no locks held. */
void binder_nice_restore(struct binder_thread *thread, const struct binder_transaction *call)
{
	binder_host_set_nice(thread, call->saved_nice);
}
