// SPDX-License-Identifier: GPL-2.0-only
#include "core/buffer.h"

#include "core/alloc.h"

/* Buffers visited in one hold of the lock. */
#define WALK_BATCH 64

static bool buffer_is_last_locked(struct binder_alloc *alloc, const struct binder_buffer *buffer)
	__must_hold(&alloc->lock)
{
	lockdep_assert_held(&alloc->lock);
	return list_is_last(&buffer->entry, &alloc->buffers);
}

/**
 * binder_alloc_size_locked() - bytes of a buffer, free or allocated
 * At least what was asked for; constant while the buffer is allocated.
 * Context: alloc->lock held.
 */
size_t binder_alloc_size_locked(struct binder_alloc *alloc, const struct binder_buffer *buffer)
{
	lockdep_assert_held(&alloc->lock);
	if (buffer_is_last_locked(alloc, buffer))
		return alloc->size - buffer->offset;
	return list_next_entry(buffer, entry)->offset - buffer->offset;
}

/* By size, then by offset: the leftmost that fits is the best one, lowest first. */
static void free_insert_locked(struct binder_alloc *alloc, struct binder_buffer *buffer)
	__must_hold(&alloc->lock)
{
	struct rb_node **link = &alloc->free_buffers.rb_node;
	struct rb_node *parent = NULL;
	size_t size;

	lockdep_assert_held(&alloc->lock);
	size = binder_alloc_size_locked(alloc, buffer);
	while (*link) {
		struct binder_buffer *at = rb_entry(*link, struct binder_buffer, rb_node);
		size_t at_size = binder_alloc_size_locked(alloc, at);

		parent = *link;
		if (size < at_size || (size == at_size && buffer->offset < at->offset))
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&buffer->rb_node, parent, link);
	rb_insert_color(&buffer->rb_node, &alloc->free_buffers);
	alloc->nr_free++;
}

/* Before the size of a free buffer changes, or it goes. */
static void free_erase_locked(struct binder_alloc *alloc, struct binder_buffer *buffer)
	__must_hold(&alloc->lock)
{
	lockdep_assert_held(&alloc->lock);
	rb_erase(&buffer->rb_node, &alloc->free_buffers);
	alloc->nr_free--;
}

static struct binder_buffer *free_best_locked(struct binder_alloc *alloc, size_t size)
	__must_hold(&alloc->lock)
{
	struct rb_node *node = alloc->free_buffers.rb_node;
	struct binder_buffer *best = NULL;

	lockdep_assert_held(&alloc->lock);
	while (node) {
		struct binder_buffer *at = rb_entry(node, struct binder_buffer, rb_node);

		if (binder_alloc_size_locked(alloc, at) >= size) {
			best = at;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return best;
}

/** binder_buffer_largest_free_locked() - bytes of the largest hole. Context: alloc->lock held. */
size_t binder_buffer_largest_free_locked(struct binder_alloc *alloc)
{
	struct rb_node *node = alloc->free_buffers.rb_node;

	lockdep_assert_held(&alloc->lock);
	if (!node)
		return 0;
	while (node->rb_right)
		node = node->rb_right;
	return binder_alloc_size_locked(alloc, rb_entry(node, struct binder_buffer, rb_node));
}

static void allocated_insert_locked(struct binder_alloc *alloc, struct binder_buffer *buffer)
	__must_hold(&alloc->lock)
{
	struct rb_node **link = &alloc->allocated_buffers.rb_node;
	struct rb_node *parent = NULL;

	lockdep_assert_held(&alloc->lock);
	while (*link) {
		struct binder_buffer *at = rb_entry(*link, struct binder_buffer, rb_node);

		parent = *link;
		if (buffer->offset < at->offset)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&buffer->rb_node, parent, link);
	rb_insert_color(&buffer->rb_node, &alloc->allocated_buffers);
	alloc->nr_allocated++;
	alloc->allocated_bytes += binder_alloc_size_locked(alloc, buffer);
}

/**
 * binder_buffer_from_locked() - the first allocated buffer that starts at @offset or after it
 * Context: alloc->lock held.
 * Return: the buffer, or NULL.
 */
struct binder_buffer *binder_buffer_from_locked(struct binder_alloc *alloc, u64 offset)
{
	struct rb_node *node = alloc->allocated_buffers.rb_node;
	struct binder_buffer *found = NULL;

	lockdep_assert_held(&alloc->lock);
	while (node) {
		struct binder_buffer *at = rb_entry(node, struct binder_buffer, rb_node);

		if (at->offset >= offset) {
			found = at;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/**
 * binder_buffer_next_locked() - the next allocated buffer of a walk, in address order
 *
 * There can be half a million of them, so the lock is dropped now and then:
 * what was returned before may be gone, what is returned is good until the
 * next call.
 *
 * Context: alloc->lock held, and dropped and taken again.
 * Return: NULL at the end.
 */
struct binder_buffer *binder_buffer_next_locked(struct binder_alloc *alloc,
						struct binder_walk *walk)
{
	struct binder_buffer *buffer;

	lockdep_assert_held(&alloc->lock);
	if (walk->held++ == WALK_BATCH) {
		walk->held = 1;
		spin_unlock(&alloc->lock);
		spin_lock(&alloc->lock);
	}
	buffer = binder_buffer_from_locked(alloc, walk->offset);
	if (buffer)
		walk->offset = buffer->offset + binder_alloc_size_locked(alloc, buffer);
	return buffer;
}

/**
 * binder_buffer_add_first_locked() - the whole mapping as one free buffer
 * @buffer: zeroed, @alloc's from here
 * Context: alloc->lock held.
 */
void binder_buffer_add_first_locked(struct binder_alloc *alloc, struct binder_buffer *buffer)
{
	lockdep_assert_held(&alloc->lock);
	buffer->free = true;
	list_add(&buffer->entry, &alloc->buffers);
	free_insert_locked(alloc, buffer);
}

/**
 * binder_buffer_take_locked() - take the best fit out of the free buffers
 * @size: bytes, rounded
 * @oneway: charge the asynchronous budget
 * @spare: what is more than @size becomes a free buffer made of *@spare, which
 *         is NULL then; else it stays the caller's
 *
 * Context: alloc->lock held.
 * Return: the buffer, allocated but not filled in; ERR_PTR(-ENOSPC).
 */
struct binder_buffer *binder_buffer_take_locked(struct binder_alloc *alloc, size_t size,
						bool oneway, struct binder_buffer **spare)
{
	struct binder_buffer *buffer;

	lockdep_assert_held(&alloc->lock);
	if (oneway && alloc->free_async_space < size)
		return ERR_PTR(-ENOSPC);
	buffer = free_best_locked(alloc, size);
	if (!buffer)
		return ERR_PTR(-ENOSPC);
	free_erase_locked(alloc, buffer);
	if (binder_alloc_size_locked(alloc, buffer) > size) {
		struct binder_buffer *rest = *spare;

		*spare = NULL;
		rest->offset = buffer->offset + size;
		rest->free = true;
		list_add(&rest->entry, &buffer->entry);
		free_insert_locked(alloc, rest);
	}
	buffer->free = false;
	buffer->oneway = oneway;
	if (oneway)
		alloc->free_async_space -= size;
	allocated_insert_locked(alloc, buffer);
	return buffer;
}

/**
 * binder_buffer_free_locked() - make a buffer free and join it with its free neighbours
 * @buffer: allocated, owned by the caller
 * @spare: gets the structures the joining leaves over, for the caller to free
 *         without the lock; @buffer may be one of them
 *
 * Neighbours of the joined buffer are allocated, so a page at its edge that is
 * not wholly inside it belongs to one of them too, and stays in use.
 *
 * Context: alloc->lock held.
 */
void binder_buffer_free_locked(struct binder_alloc *alloc, struct binder_buffer *buffer,
			       struct list_head *spare)
{
	size_t size, first, end;

	lockdep_assert_held(&alloc->lock);
	size = binder_alloc_size_locked(alloc, buffer);
	first = buffer->offset >> PAGE_SHIFT;
	end = DIV_ROUND_UP(buffer->offset + size, PAGE_SIZE);
	rb_erase(&buffer->rb_node, &alloc->allocated_buffers);
	alloc->nr_allocated--;
	alloc->allocated_bytes -= size;
	if (buffer->oneway)
		alloc->free_async_space += size;
	buffer->free = true;
	buffer->may_free = false;

	if (!buffer_is_last_locked(alloc, buffer)) {
		struct binder_buffer *next = list_next_entry(buffer, entry);

		if (next->free) {
			free_erase_locked(alloc, next);
			list_move_tail(&next->entry, spare);
		}
	}
	if (alloc->buffers.next != &buffer->entry) {
		struct binder_buffer *prev = list_prev_entry(buffer, entry);

		if (prev->free) {
			free_erase_locked(alloc, prev);
			list_move_tail(&buffer->entry, spare);
			buffer = prev;
		}
	}
	free_insert_locked(alloc, buffer);

	size = binder_alloc_size_locked(alloc, buffer);
	first = max_t(size_t, first, DIV_ROUND_UP(buffer->offset, PAGE_SIZE));
	end = min_t(size_t, end, (buffer->offset + size) >> PAGE_SHIFT);
	binder_pages_idle_locked(alloc, first, end);
}
