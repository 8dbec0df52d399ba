// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of a transaction: fetch the offsets and check them, copy (the payload
 * around the objects goes straight to the receiver's buffer, they come here),
 * translate, and write them to the buffer as the receiver is to see them.
 *
 * Every byte of a payload is read from the sender once: what is checked is
 * what is used.
 */
#include "core/object.h"

#include "core/alloc.h"
#include "core/context.h"
#include "core/node.h"
#include "core/ref.h"
#include "core/thread.h"
#include "core/trace.h"
#include "core/transaction.h"

/* Segments on the stack for one copy: enough for 15 objects; more are allocated. */
#define SEGMENTS_SMALL 32

/* Size by type; 0 for a type there is none of. */
static u32 object_size(u32 type)
{
	switch (type) {
	case BINDER_TYPE_BINDER:
	case BINDER_TYPE_WEAK_BINDER:
	case BINDER_TYPE_HANDLE:
	case BINDER_TYPE_WEAK_HANDLE:
		return sizeof(struct flat_binder_object);
	case BINDER_TYPE_FD:
		return sizeof(struct binder_fd_object);
	case BINDER_TYPE_PTR:
		return sizeof(struct binder_buffer_object);
	case BINDER_TYPE_FDA:
		return sizeof(struct binder_fd_array_object);
	default:
		return 0;
	}
}

static bool object_is_node(u32 type)
{
	return object_size(type) == sizeof(struct flat_binder_object) &&
	       type != BINDER_TYPE_FD;
}

/*
 * One object's place: aligned, after the one before, its header inside the
 * data. How much of it is brought over is bounded by the largest object, the
 * next one and the end; whether that is enough is known with its type.
 */
static int place_check(const struct binder_transaction_data *tr, struct binder_objects *objects,
		       u32 i, struct binder_failure *failure)
{
	struct binder_object *object = &objects->v[i];
	binder_size_t end = i + 1 < objects->nr ? object[1].offset : tr->data_size;

	if (!IS_ALIGNED(object->offset, sizeof(u32)))
		return binder_fail(failure, BR_FAILED_REPLY, -EINVAL, "object offset is not aligned");
	if (object->offset >= tr->data_size)
		return binder_fail(failure, BR_FAILED_REPLY, -EINVAL, "object is outside the data");
	if (end > tr->data_size)
		end = tr->data_size;
	if (end < object->offset || end - object->offset < sizeof(object->raw.hdr))
		return binder_fail(failure, BR_FAILED_REPLY, -EINVAL,
				   "objects overlap, are out of order, or cut off");
	object->size = min_t(binder_size_t, sizeof(object->raw), end - object->offset);
	return 0;
}

static int offsets_fetch(struct binder_thread *thread, const struct binder_transaction_data *tr,
			 struct binder_objects *objects, struct binder_failure *failure)
{
	binder_size_t chunk[32];
	u32 i, n, done;

	for (done = 0; done < objects->nr; done += n) {
		n = min_t(u32, objects->nr - done, ARRAY_SIZE(chunk));
		if (binder_host_read_user(thread, chunk,
					  tr->data.ptr.offsets + done * sizeof(chunk[0]),
					  n * sizeof(chunk[0])) != n * sizeof(chunk[0]))
			return binder_fail(failure, BR_FAILED_REPLY, -EFAULT,
					   "the offsets cannot be read");
		for (i = 0; i < n; i++)
			objects->v[done + i].offset = chunk[i];
	}
	return 0;
}

/**
 * binder_objects_fetch() - read and check where the objects of a payload are
 * @thread: the sender
 * @tr: as sent; offsets_size is a multiple of 8 and not larger than a mapping
 * @objects: receives the list, owned by the caller; NULL when there are none
 *
 * Context: may sleep; no locks held.
 * Return: 0 or -errno with @failure filled.
 */
int binder_objects_fetch(struct binder_thread *thread, const struct binder_transaction_data *tr,
			 struct binder_objects **objects, struct binder_failure *failure)
{
	u32 nr = tr->offsets_size / sizeof(binder_size_t);
	struct binder_objects *list;
	u32 i;
	int ret;

	*objects = NULL;
	if (!nr)
		return 0;
	/* Before memory is spent on a list that cannot be right. */
	if (nr > tr->data_size / sizeof(struct binder_object_header))
		return binder_fail(failure, BR_FAILED_REPLY, -EINVAL,
				   "there are more objects than the data has room for");
	list = kvzalloc(sizeof(*list) + nr * sizeof(list->v[0]), GFP_KERNEL);
	if (!list)
		return binder_fail(failure, BR_FAILED_REPLY, -ENOMEM, "out of memory for the objects");
	list->nr = nr;
	ret = offsets_fetch(thread, tr, list, failure);
	for (i = 0; !ret && i < nr; i++)
		ret = place_check(tr, list, i, failure);
	if (ret) {
		kvfree(list);
		return ret;
	}
	*objects = list;
	return 0;
}

static unsigned int segments_fill(struct binder_segment *segs, struct binder_objects *objects,
				  size_t start, size_t data_size)
{
	unsigned int n = 0;
	size_t at = 0;
	u32 i;

	for (i = 0; objects && i < objects->nr; i++) {
		struct binder_object *object = &objects->v[i];

		if (object->offset > at)
			segs[n++] = (struct binder_segment){ NULL, start + at,
							     object->offset - at };
		segs[n++] = (struct binder_segment){ &object->raw, 0, object->size };
		at = object->offset + object->size;
	}
	if (data_size > at)
		segs[n++] = (struct binder_segment){ NULL, start + at, data_size - at };
	return n;
}

/**
 * binder_objects_copy() - bring over the payload of @t
 * @t: has its buffer, which has the list of objects
 * @thread: the sender
 *
 * Context: may sleep; no locks held.
 * Return: 0 or -errno with @failure filled.
 */
int binder_objects_copy(struct binder_transaction *t, struct binder_thread *thread,
			const struct binder_transaction_data *tr, struct binder_failure *failure)
{
	struct binder_segment small[SEGMENTS_SMALL], *segs = small;
	struct binder_objects *objects = t->buffer->objects;
	unsigned int n;
	int ret = 0;

	if (objects && 2 * objects->nr + 1 > ARRAY_SIZE(small)) {
		segs = kvcalloc(2 * objects->nr + 1, sizeof(*segs), GFP_KERNEL);
		if (!segs)
			return binder_fail(failure, BR_FAILED_REPLY, -ENOMEM,
					   "out of memory for the copy");
	}
	n = segments_fill(segs, objects, t->buffer->offset, tr->data_size);
	if (n && binder_host_copy_payload(thread, tr->data.ptr.buffer, t->to_proc->alloc, segs, n))
		ret = binder_fail(failure, BR_FAILED_REPLY, -EFAULT, "the data cannot be read");
	if (segs != small)
		kvfree(segs);
	return ret;
}

/* The object becomes the receiver's handle for @node. */
static int object_to_handle(struct binder_object *object, struct binder_proc *to,
			    struct binder_node *node, bool strong, struct binder_thread *tell,
			    struct binder_failure *failure)
{
	struct flat_binder_object *fbo = &object->raw.fbo;
	int ret = binder_ref_inc_for_node(to, node, strong, tell, &object->handle);

	if (ret)
		return binder_fail(failure, BR_FAILED_REPLY, ret, "no memory for a reference");
	object->type = strong ? BINDER_TYPE_HANDLE : BINDER_TYPE_WEAK_HANDLE;
	object->node_id = node->debug_id;
	fbo->hdr.type = object->type;
	fbo->binder = 0; /* the whole word, handle is half of it */
	fbo->handle = object->handle;
	fbo->cookie = 0;
	return 0;
}

static int translate_binder(struct binder_object *object, struct binder_thread *thread,
			    const struct binder_transaction *t, struct binder_failure *failure)
{
	struct binder_proc *to = t->to_proc;
	bool strong = object->type == BINDER_TYPE_BINDER;
	struct binder_node *node;
	int ret;

	node = binder_node_find_or_new(thread->proc, &object->raw.fbo);
	if (IS_ERR(node))
		return PTR_ERR(node) == -ENOMEM ?
			binder_fail(failure, BR_FAILED_REPLY, -ENOMEM, "no memory for a node") :
			binder_fail(failure, BR_FAILED_REPLY, -EINVAL,
				    "the object is known by another cookie");
	ret = object_to_handle(object, to, node, strong, thread, failure);
	if (!ret)
		trace_binder_transaction_node_to_ref(t, node->debug_id, 0, object->handle);
	binder_node_put_tmp(node);
	return ret;
}

static int translate_handle(struct binder_object *object, struct binder_thread *thread,
			    const struct binder_transaction *t, struct binder_failure *failure)
{
	bool strong = object->type == BINDER_TYPE_HANDLE;
	struct flat_binder_object *fbo = &object->raw.fbo;
	u32 handle = fbo->handle;
	struct binder_node *node;
	int ret = 0;

	node = binder_ref_lookup_node(thread->proc, fbo->handle, strong);
	if (!node)
		return binder_fail(failure, BR_FAILED_REPLY, -EINVAL,
				   "the data has a handle its sender does not hold");
	if (node->proc == t->to_proc) { /* it comes home; the count is the buffer's */
		object->type = strong ? BINDER_TYPE_BINDER : BINDER_TYPE_WEAK_BINDER;
		object->node = node;
		object->node_id = node->debug_id;
		fbo->hdr.type = object->type;
		fbo->binder = node->ptr;
		fbo->cookie = node->cookie;
		trace_binder_transaction_ref_to_node(t, node->debug_id, handle, 0);
	} else {
		ret = object_to_handle(object, t->to_proc, node, strong, NULL, failure);
		if (!ret)
			trace_binder_transaction_ref_to_ref(t, node->debug_id, handle,
							    object->handle);
		binder_node_dec_local(node, strong);
	}
	return ret;
}

static int object_translate(struct binder_object *object, struct binder_thread *thread,
			    const struct binder_transaction *t, struct binder_failure *failure)
{
	u32 size = object_size(object->raw.hdr.type);

	if (!size)
		return binder_fail(failure, BR_FAILED_REPLY, -EINVAL, "unknown object type");
	if (size > object->size)
		return binder_fail(failure, BR_FAILED_REPLY, -EINVAL,
				   "object is cut off by the next one or the end of the data");
	object->type = object->raw.hdr.type;
	if (object_is_node(object->type) && binder_host_may_transfer(thread->proc, t->to_proc))
		return binder_fail(failure, BR_FAILED_REPLY, -EPERM,
				   "a security module forbids to hand over the object");
	switch (object->type) {
	case BINDER_TYPE_BINDER:
	case BINDER_TYPE_WEAK_BINDER:
		return translate_binder(object, thread, t, failure);
	case BINDER_TYPE_HANDLE:
	case BINDER_TYPE_WEAK_HANDLE:
		return translate_handle(object, thread, t, failure);
	case BINDER_TYPE_FD:
		return binder_fail(failure, BR_FAILED_REPLY, -EPERM,
				   "file descriptors are not passed by this driver");
	default:
		return binder_fail(failure, BR_FAILED_REPLY, -EOPNOTSUPP,
				   "scatter-gather objects are not passed by this driver");
	}
}

/* The offsets, as the receiver sees them, behind the data. */
static void offsets_write(struct binder_transaction *t, const struct binder_objects *objects)
{
	size_t to = t->buffer->offset + ALIGN(t->buffer->data_size, sizeof(u64));
	binder_size_t chunk[32];
	u32 i, n, done;

	for (done = 0; done < objects->nr; done += n) {
		n = min_t(u32, objects->nr - done, ARRAY_SIZE(chunk));
		for (i = 0; i < n; i++)
			chunk[i] = objects->v[done + i].offset;
		binder_host_write_buffer(t->to_proc->alloc, to + done * sizeof(chunk[0]), chunk,
					 n * sizeof(chunk[0]));
	}
}

/**
 * binder_objects_translate() - turn the sender's names into the receiver's
 * @t: its buffer has the payload; its objects are here
 * @thread: the sender
 *
 * Translated objects hold counts; on failure nr_held says how many do, and
 * binder_objects_put() drops just those.
 *
 * Context: may sleep; no locks held.
 * Return: 0 or -errno with @failure filled.
 */
int binder_objects_translate(struct binder_transaction *t, struct binder_thread *thread,
			     struct binder_failure *failure)
{
	struct binder_objects *objects = t->buffer->objects;
	u32 i;
	int ret;

	if (!objects)
		return 0;
	for (i = 0; i < objects->nr; i++) {
		struct binder_object *object = &objects->v[i];

		ret = object_translate(object, thread, t, failure);
		if (ret)
			return ret;
		objects->nr_held = i + 1;
		binder_host_write_buffer(t->to_proc->alloc, t->buffer->offset + object->offset,
					 &object->raw, object->size);
	}
	offsets_write(t, objects);
	return 0;
}

/**
 * binder_objects_put() - a buffer goes: drop what its objects hold, and the list
 * @receiver: the process the buffer is of; when it is dead its references are
 *            gone already, which is fine
 * Context: may sleep; no locks held.
 */
void binder_objects_put(struct binder_proc *receiver, struct binder_objects *objects)
{
	u32 i;

	if (!objects)
		return;
	for (i = 0; i < objects->nr_held; i++) {
		struct binder_object *object = &objects->v[i];
		bool strong = object->type == BINDER_TYPE_BINDER ||
			      object->type == BINDER_TYPE_HANDLE;

		if (object->node)
			binder_node_dec_local(object->node, strong);
		else
			binder_ref_dec(receiver, object->handle, strong, object->node_id);
	}
	kvfree(objects);
}
