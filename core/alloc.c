// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of an allocator, and of a buffer between a sender and the receiver
 * that frees it. How buffers are chosen, split and joined is buffer.c's, where
 * their pages come from pages.c's.
 *
 * Nothing under alloc->lock sleeps, allocates, frees or touches a buffer's
 * contents: structures are allocated before and freed after, contents are
 * cleared before the buffer is given back. Loops over all buffers drop the
 * lock on the way, because how many there are is up to user space.
 */
#include "core/alloc.h"

#include "core/buffer.h"
#include "core/text.h"

/* A full mapping is reported once in this time, with numbers that cost a walk to get. */
#define NO_SPACE_INTERVAL_MS 1000

/* ---- life -------------------------------------------------------------- */

/**
 * binder_alloc_new() - an allocator that has no mapping yet
 * @proc: owner; not referenced
 * @pid: of @proc, for messages
 * Context: may sleep.
 * Return: the allocator with one reference, or NULL when out of memory.
 */
struct binder_alloc *binder_alloc_new(struct binder_proc *proc, pid_t pid)
{
	struct binder_alloc *alloc = kzalloc(sizeof(*alloc), GFP_KERNEL);

	if (!alloc)
		return NULL;
	binder_spin_init(&alloc->lock, BINDER_RANK_ALLOC);
	binder_rt_mutex_init(&alloc->install_mutex, BINDER_RANK_INSTALL);
	INIT_LIST_HEAD(&alloc->buffers);
	alloc->free_buffers = RB_ROOT;
	alloc->allocated_buffers = RB_ROOT;
	alloc->proc = proc;
	alloc->pid = pid;
	refcount_set(&alloc->refs, 1);
	return alloc;
}

/** binder_alloc_get() - one more reference. Context: any. Return: @alloc. */
struct binder_alloc *binder_alloc_get(struct binder_alloc *alloc)
{
	refcount_inc(&alloc->refs);
	return alloc;
}

/**
 * binder_alloc_put() - drop a reference
 *
 * The owner calls binder_alloc_release() before it drops its own. So the last
 * reference, which may be dropped in reclaim by a shrinker that lost the race
 * with a release, is worth one kfree() and nothing else.
 *
 * Context: any but under @alloc's own locks.
 */
void binder_alloc_put(struct binder_alloc *alloc)
{
	if (refcount_dec_and_test(&alloc->refs))
		kfree(alloc);
}

/* Return: whether the mapping is now @alloc's; it takes over @pages and @buffer then. */
static bool map_publish(struct binder_alloc *alloc, u64 user_addr, size_t size,
			struct binder_page *pages, struct binder_buffer *buffer)
{
	bool first;

	spin_lock(&alloc->lock);
	first = !alloc->sealed;
	if (first) {
		alloc->sealed = true;
		alloc->mapped = true;
		alloc->user_addr = user_addr;
		alloc->size = size;
		alloc->pages = pages;
		alloc->free_async_space = size / 2;
		binder_buffer_add_first_locked(alloc, buffer);
	}
	spin_unlock(&alloc->lock);
	return first;
}

/**
 * binder_alloc_map() - the process has mapped the device
 * @user_addr: where, page aligned
 * @size: bytes; cut to whole pages and to BINDER_MAP_MAX without an error
 *
 * May be called by several threads at once; one wins.
 *
 * Context: may sleep; no spinlock held. Does not take install_mutex, as the
 * address-space lock may be held.
 * Return: 0; -EBUSY when there is or was a mapping, or the process has been
 * released; -EINVAL for a bad address or less than a page; -ENOMEM, after
 * which it may be tried again.
 */
int binder_alloc_map(struct binder_alloc *alloc, u64 user_addr, size_t size)
{
	struct binder_page *pages;
	struct binder_buffer *buffer;
	u64 end;

	size = min_t(size_t, size, BINDER_MAP_MAX) & PAGE_MASK;
	if (!size || !IS_ALIGNED(user_addr, PAGE_SIZE) ||
	    check_add_overflow(user_addr, (u64)size, &end))
		return -EINVAL;
	pages = binder_pages_alloc(alloc, size >> PAGE_SHIFT);
	if (!pages)
		return -ENOMEM;
	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	if (!buffer) {
		kvfree(pages);
		return -ENOMEM;
	}
	if (!map_publish(alloc, user_addr, size, pages, buffer)) {
		kfree(buffer);
		kvfree(pages);
		return -EBUSY;
	}
	return 0;
}

/**
 * binder_alloc_unmap() - the mapping is gone; there will be no new buffers
 *
 * Buffers that exist stay until they are freed, and so do their pages. There
 * cannot be another mapping, even if there was none before.
 *
 * Context: any but under @alloc's lock; the address-space lock may be held,
 * which is why this does not take install_mutex.
 */
void binder_alloc_unmap(struct binder_alloc *alloc)
{
	spin_lock(&alloc->lock);
	alloc->mapped = false;
	alloc->sealed = true;
	spin_unlock(&alloc->lock);
}

/** binder_alloc_mapped() - is there a mapping now? Context: any but under @alloc's lock. */
bool binder_alloc_mapped(struct binder_alloc *alloc)
{
	bool mapped;

	spin_lock(&alloc->lock);
	mapped = alloc->mapped;
	spin_unlock(&alloc->lock);
	return mapped;
}

/* ---- freeing ------------------------------------------------------------ */

static void buffers_free(struct list_head *buffers)
{
	struct binder_buffer *buffer, *next;

	list_for_each_entry_safe(buffer, next, buffers, entry)
		kfree(buffer);
}

/* Give a buffer back as it is. */
static void buffer_discard(struct binder_alloc *alloc, struct binder_buffer *buffer)
{
	LIST_HEAD(spare);

	spin_lock(&alloc->lock);
	binder_buffer_free_locked(alloc, buffer, &spare);
	spin_unlock(&alloc->lock);
	buffers_free(&spare);
}

/**
 * binder_alloc_free_buffer() - give a buffer back
 * @buffer: owned by the caller, gone afterwards; what it refers to (@objects,
 *          @target_node) must have been released
 *
 * Clears the contents first if the transaction asked for it, without the lock.
 *
 * Context: may sleep; no locks held but install_mutex.
 */
void binder_alloc_free_buffer(struct binder_alloc *alloc, struct binder_buffer *buffer)
{
	size_t size;

	if (buffer->clear_on_free) {
		spin_lock(&alloc->lock);
		size = binder_alloc_size_locked(alloc, buffer);
		spin_unlock(&alloc->lock);
		binder_host_zero_buffer(alloc, buffer->offset, size);
	}
	buffer_discard(alloc, buffer);
}

/**
 * binder_alloc_release() - take the allocator apart; only the structure is left
 *
 * Nobody may own a buffer of it any more: no sender fills one, no
 * BC_FREE_BUFFER is at work on one. Buffers that are left are freed, but not
 * what they refer to.
 *
 * install_mutex is held from the first to the last step: a shrinker still at
 * work on a page is waited for, and no other gets at pages[] until it is gone.
 * The spinlock is not: it is dropped for each buffer and each page, so that a
 * process cannot keep preemption off by what it leaves behind.
 *
 * Context: sleeps; no locks held, the address-space lock least of all.
 */
void binder_alloc_release(struct binder_alloc *alloc)
{
	struct binder_buffer *buffer;
	LIST_HEAD(rest);

	rt_mutex_lock(&alloc->install_mutex);
	binder_alloc_unmap(alloc);
	while ((buffer = binder_alloc_first_buffer(alloc)))
		binder_alloc_free_buffer(alloc, buffer);
	binder_pages_free(alloc);

	spin_lock(&alloc->lock);
	list_splice_init(&alloc->buffers, &rest);
	alloc->free_buffers = RB_ROOT;
	alloc->nr_free = 0;
	spin_unlock(&alloc->lock);
	buffers_free(&rest);
	rt_mutex_unlock(&alloc->install_mutex);
	binder_host_map_fini(alloc);
}

/* ---- allocating --------------------------------------------------------- */

/* Return: bytes a buffer for @request needs, 0 when that is no number. */
static size_t request_size(const struct binder_alloc_request *request)
{
	const size_t parts[] = { request->data_size, request->offsets_size, request->extra_size };
	size_t total = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t part;

		if (check_add_overflow(parts[i], sizeof(u64) - 1, &part) ||
		    check_add_overflow(total, part & ~(sizeof(u64) - 1), &total))
			return 0;
	}
	/* So that every buffer has an address of its own. */
	return max_t(size_t, total, sizeof(u64));
}

/* Return: a buffer for @request; -ESRCH or -ENOSPC. */
static struct binder_buffer *take_locked(struct binder_alloc *alloc, size_t size,
					 const struct binder_alloc_request *request,
					 struct binder_buffer **spare)
	__must_hold(&alloc->lock)
{
	struct binder_buffer *buffer;

	lockdep_assert_held(&alloc->lock);
	if (!alloc->mapped)
		return ERR_PTR(-ESRCH);
	buffer = binder_buffer_take_locked(alloc, size, request->oneway, spare);
	if (IS_ERR(buffer))
		return buffer;
	buffer->may_free = false;
	buffer->clear_on_free = request->clear_on_free;
	buffer->debug_id = request->debug_id;
	buffer->data_size = request->data_size;
	buffer->offsets_size = request->offsets_size;
	buffer->extra_size = request->extra_size;
	buffer->target_node = NULL;
	buffer->objects = NULL;
	return buffer;
}

/* Is it time to report a full mapping again? */
static bool no_space_due_locked(struct binder_alloc *alloc, u64 now)
	__must_hold(&alloc->lock)
{
	lockdep_assert_held(&alloc->lock);
	if (now < alloc->no_space_next_ms)
		return false;
	alloc->no_space_next_ms = now + NO_SPACE_INTERVAL_MS;
	return true;
}

static void no_space_report(struct binder_alloc *alloc, size_t size, bool oneway)
{
	struct binder_alloc_space space;
	u64 now = binder_host_now_ms();
	bool due;

	spin_lock(&alloc->lock);
	due = no_space_due_locked(alloc, now);
	spin_unlock(&alloc->lock);
	if (!due)
		return;
	binder_alloc_space(alloc, &space);
	if (oneway)
		pr_warn_ratelimited("%d: no space for a one-way buffer of %zu bytes: %zu of the async budget left; allocated %zu in %zu (largest %zu), free %zu in %zu (largest %zu)\n",
				    alloc->pid, size, space.free_async,
				    space.allocated_bytes, space.allocated_count,
				    space.allocated_largest, space.free_bytes, space.free_count,
				    space.free_largest);
	else
		pr_warn_ratelimited("%d: no space for a buffer of %zu bytes: allocated %zu in %zu (largest %zu), free %zu in %zu (largest %zu)\n",
				    alloc->pid, size,
				    space.allocated_bytes, space.allocated_count,
				    space.allocated_largest, space.free_bytes, space.free_count,
				    space.free_largest);
}

/**
 * binder_alloc_buffer() - a buffer for a transaction, with all its pages in place
 *
 * Context: may sleep; no locks held. Takes install_mutex only if a page is
 * missing.
 * Return: the buffer, owned by the caller; ERR_PTR: -ESRCH no mapping, -EINVAL
 * sizes that cannot be added, -ENOSPC no fit or not within the asynchronous
 * budget, -ENOMEM, or why a page could not be inserted.
 */
struct binder_buffer *binder_alloc_buffer(struct binder_alloc *alloc,
					  const struct binder_alloc_request *request)
{
	size_t size = request_size(request);
	struct binder_buffer *buffer, *spare;
	size_t first = 0, end = 0;
	bool missing = false;
	int err;

	if (!size)
		return ERR_PTR(binder_alloc_mapped(alloc) ? -EINVAL : -ESRCH);
	spare = kzalloc(sizeof(*spare), GFP_KERNEL);
	if (!spare)
		return ERR_PTR(-ENOMEM);

	spin_lock(&alloc->lock);
	buffer = take_locked(alloc, size, request, &spare);
	if (!IS_ERR(buffer)) {
		first = buffer->offset >> PAGE_SHIFT;
		end = DIV_ROUND_UP(buffer->offset + size, PAGE_SIZE);
		missing = binder_pages_use_locked(alloc, first, end);
	}
	spin_unlock(&alloc->lock);

	kfree(spare);
	if (IS_ERR(buffer)) {
		if (PTR_ERR(buffer) == -ENOSPC)
			no_space_report(alloc, size, request->oneway);
		return buffer;
	}
	if (missing) {
		err = binder_pages_install(alloc, first, end);
		if (err) {
			buffer_discard(alloc, buffer);
			return ERR_PTR(err);
		}
	}
	return buffer;
}

/* ---- handing a buffer to user space, and getting it back ----------------- */

/**
 * binder_alloc_allow_free() - user space is about to learn of @buffer
 * From here it belongs to the BC_FREE_BUFFER that names it.
 * Context: any but under @alloc's lock.
 */
void binder_alloc_allow_free(struct binder_alloc *alloc, struct binder_buffer *buffer)
{
	spin_lock(&alloc->lock);
	buffer->may_free = true;
	spin_unlock(&alloc->lock);
}

/**
 * binder_alloc_prepare_to_free() - claim the buffer a BC_FREE_BUFFER names
 * @user_addr: must be exactly where a delivered buffer starts
 * Context: any but under @alloc's lock.
 * Return: the buffer, now the caller's and nobody else's; NULL when there is
 * none that user space may free.
 */
struct binder_buffer *binder_alloc_prepare_to_free(struct binder_alloc *alloc, u64 user_addr)
{
	struct binder_buffer *buffer;
	u64 offset;

	spin_lock(&alloc->lock);
	/* Wraps to a large number below the mapping, where there is no buffer. */
	offset = user_addr - alloc->user_addr;
	buffer = binder_buffer_from_locked(alloc, offset);
	if (buffer && buffer->offset == offset && buffer->may_free)
		buffer->may_free = false;
	else
		buffer = NULL;
	spin_unlock(&alloc->lock);
	return buffer;
}

/**
 * binder_alloc_first_buffer() - the allocated buffer at the lowest address
 * For the release of a process, which frees them one by one.
 * Context: any but under @alloc's lock.
 * Return: a buffer that is the caller's only if nothing else of the process
 * runs any more; NULL when none is allocated.
 */
struct binder_buffer *binder_alloc_first_buffer(struct binder_alloc *alloc)
{
	struct binder_buffer *buffer;

	spin_lock(&alloc->lock);
	buffer = binder_buffer_from_locked(alloc, 0);
	spin_unlock(&alloc->lock);
	return buffer;
}

/* ---- numbers and text ---------------------------------------------------- */

/** binder_alloc_buffer_count() - allocated buffers. Context: any but under @alloc's lock. */
size_t binder_alloc_buffer_count(struct binder_alloc *alloc)
{
	size_t count;

	spin_lock(&alloc->lock);
	count = alloc->nr_allocated;
	spin_unlock(&alloc->lock);
	return count;
}

/**
 * binder_alloc_space() - the allocator in numbers
 * All of one moment but @space->allocated_largest, which takes a walk.
 * Context: any but under @alloc's lock.
 */
void binder_alloc_space(struct binder_alloc *alloc, struct binder_alloc_space *space)
{
	struct binder_page_count pages;
	struct binder_buffer *buffer;
	struct binder_walk walk = { 0 };
	size_t largest = 0;

	spin_lock(&alloc->lock);
	binder_pages_count_locked(alloc, &pages);
	*space = (struct binder_alloc_space){
		.allocated_bytes = alloc->allocated_bytes,
		.allocated_count = alloc->nr_allocated,
		.free_bytes = alloc->nr_free ? alloc->size - alloc->allocated_bytes : 0,
		.free_count = alloc->nr_free,
		.free_largest = binder_buffer_largest_free_locked(alloc),
		.free_async = alloc->free_async_space,
		.pages_active = pages.in_use,
		.pages_lru = pages.idle,
		.pages_free = pages.empty,
		.pages_high = alloc->pages_high,
	};
	while ((buffer = binder_buffer_next_locked(alloc, &walk)))
		largest = max_t(size_t, largest, binder_alloc_size_locked(alloc, buffer));
	spin_unlock(&alloc->lock);
	space->allocated_largest = largest;
}

/**
 * binder_alloc_to_text() - the allocated buffers, a line each
 *
 *   buffer 17: 1000 size 100:8:0 delivered
 *
 * is the buffer of transaction 17 at offset 0x1000 with 100 bytes of data, 8 of
 * offsets and no more; "active" when user space may not free it. What
 * binder_alloc_space() gives is not repeated here.
 *
 * Context: any but under @alloc's lock.
 */
void binder_alloc_to_text(struct binder_text *text, struct binder_alloc *alloc)
{
	struct binder_buffer *buffer;
	struct binder_walk walk = { 0 };

	spin_lock(&alloc->lock);
	while (!text->truncated && (buffer = binder_buffer_next_locked(alloc, &walk)))
		binder_text_add(text, "  buffer %d: %zx size %zu:%zu:%zu %s\n", buffer->debug_id,
				buffer->offset, buffer->data_size, buffer->offsets_size,
				buffer->extra_size, buffer->may_free ? "delivered" : "active");
	spin_unlock(&alloc->lock);
}
