/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects inside a transaction: checking where they are, and translating
 * between the sender's names for nodes and the receiver's.
 *
 * What the receiver's buffer holds on to is kept here, in core memory, so
 * that freeing the buffer never needs to read it.
 */
#ifndef CORE_OBJECT_H
#define CORE_OBJECT_H

#include "core/kapi.h"
#include "uapi/binder.h"

struct binder_proc;
struct binder_thread;
struct binder_node;
struct binder_transaction;

/**
 * struct binder_object - one object of a transaction
 * @offset: where it stands in the data
 * @size: bytes of the data from @offset on that are kept in @raw: the object
 *        and perhaps some of what follows
 * @type: once translated: as received
 * @raw: as sent until translated, then as received
 * @handle: of the reference the receiver's buffer holds (type HANDLE)
 * @node_id: debug id of the node held or referred to
 * @node: the node the buffer holds (type BINDER)
 */
struct binder_object {
	binder_size_t offset;
	u32 size;
	u32 type;
	u32 handle;
	int node_id;
	struct binder_node *node;
	union {
		struct binder_object_header hdr;
		struct flat_binder_object fbo;
		struct binder_fd_object fd;
		struct binder_fd_array_object fda;
		struct binder_buffer_object ptr;
	} raw;
};

/**
 * struct binder_objects - the objects of one transaction
 * @nr: how many
 * @nr_held: how many were translated and hold a reference; cleanup releases
 *           these and no others
 * @v: the objects, in order of offset
 */
struct binder_objects {
	u32 nr;
	u32 nr_held;
	struct binder_object v[];
};

/**
 * struct binder_failure - why a transaction failed
 * @cmd: what its sender is told: BR_FAILED_REPLY or BR_DEAD_REPLY
 * @error: negative errno for the extended error
 * @line: source line that refused, for the transaction log
 * @why: words, a string constant
 */
struct binder_failure {
	u32 cmd;
	int error;
	u32 line;
	const char *why;
};

/** binder_fail() - record a failure and pass its errno up */
#define binder_fail(failure, code, err, words) \
	((failure)->cmd = (code), (failure)->line = __LINE__, (failure)->why = (words), \
	 (failure)->error = (err))

int binder_objects_fetch(struct binder_thread *thread, const struct binder_transaction_data *tr,
			 struct binder_objects **objects, struct binder_failure *failure);
int binder_objects_copy(struct binder_transaction *t, struct binder_thread *thread,
			const struct binder_transaction_data *tr, struct binder_failure *failure);
int binder_objects_translate(struct binder_transaction *t, struct binder_thread *thread,
			     struct binder_failure *failure);
void binder_objects_put(struct binder_proc *receiver, struct binder_objects *objects);

#endif
