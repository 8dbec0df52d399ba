/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every lock of the driver, outermost first: a lock may only be taken while
 * all locks held rank before it. From this one list come the table in
 * docs/locking.md, the ranks checked at run time in user/ and sim/, and the
 * lock class names in kmod/.
 *
 * X(NAME, kind, nests, guards, why it exists)
 *   kind   MUTEX may sleep and be held while sleeping; SPIN may not;
 *          EXTERN is not ours (the address-space lock), listed for its order
 *   nests  SAME if two locks of the class may be held at once, else ONE
 */
#ifndef CORE_LOCK_RANKS_H
#define CORE_LOCK_RANKS_H

#define BINDER_LOCK_RANKS(X) \
	X(INSTALL, MUTEX, ONE, \
	  "page-table work of one allocator: inserting a page against the shrinker's zap", \
	  "inserting may sleep, so it cannot be under a spinlock; priority-inheriting") \
	X(MM, EXTERN, ONE, \
	  "an address space", \
	  "taken in binder_host_page_insert(); in kmod by the fault, around INSTALL, and never inside") \
	X(PROCS, MUTEX, ONE, \
	  "the list of all processes", \
	  "printers walk the list and print each process under it") \
	X(CONTEXT, SPIN, ONE, \
	  "a context's manager node and remembered uid", \
	  "resolving handle 0 must not race the manager's death") \
	X(REFS, SPIN, ONE, \
	  "one process's handle table, its references and their death requests", \
	  "apart from PROC because translating a handle goes on to the owner's PROC lock") \
	X(PROC, SPIN, ONE, \
	  "one process's threads, queues, transaction stacks, and the nodes it owns", \
	  "choosing a thread, queueing to it and waking it must be one step") \
	X(ALLOC, SPIN, ONE, \
	  "one allocator's pages[], LRU membership, buffer trees and list, free async space", \
	  "the hot path of every transaction; never held across anything that sleeps") \
	X(LRU, SPIN, ONE, \
	  "the list of idle pages of all allocators", \
	  "the shrinker starts from it, and from there only tries INSTALL and ALLOC") \
	X(LOG, SPIN, ONE, \
	  "the transaction log rings", \
	  "written from any context, read by the printers")

enum binder_lock_rank {
#define X(name, kind, nests, guards, why) BINDER_RANK_##name,
	BINDER_LOCK_RANKS(X)
#undef X
	BINDER_RANK_COUNT
};

#endif
