// SPDX-License-Identifier: GPL-2.0-only
/*
 * Putting pages into the slots of a mapping, and taking idle ones back.
 *
 * The two sides meet at one slot. The installer goes install_mutex, look,
 * insert, publish; the shrinker goes LRU lock, try install_mutex, try
 * alloc->lock, clear the slot, drop the spinlocks, zap. install_mutex makes
 * "insert and publish" and "clear and zap" exclude each other as wholes,
 * alloc->lock alone decides what a slot is. So a slot read under alloc->lock
 * is never half way: page and LRU membership change in one hold.
 *
 * Nobody retries: an empty slot is filled by whoever gets install_mutex first,
 * the others find it filled and drop their page.
 */
#include "core/pages.h"

#include "core/alloc.h"
#include "core/trace.h"

/*
 * Idle pages of all allocators, longest idle first. In front of the mark are
 * those that have been idle since it was set: that is all a host needs to tell
 * how long, and costs the slots nothing.
 */
static struct {
	spinlock_t lock; /* rank LRU */
	struct list_head slots;
	struct list_head mark; /* among @slots */
	unsigned long nr;
} lru;

/** binder_pages_init() - once, before the first allocator. Context: any. */
void binder_pages_init(void)
{
	binder_spin_init(&lru.lock, BINDER_RANK_LRU);
	INIT_LIST_HEAD(&lru.slots);
	list_add(&lru.mark, &lru.slots);
	lru.nr = 0;
}

/**
 * binder_pages_alloc() - the slots of a mapping, all empty
 * @nr: pages of the mapping
 *
 * kvcalloc(): the array of a 4 MiB mapping is too big to ask for in one
 * physically contiguous piece on a machine whose memory is fragmented.
 *
 * Context: may sleep; no locks held.
 * Return: the array, for the caller to kvfree() or to make alloc->pages; NULL
 * when out of memory.
 */
struct binder_page *binder_pages_alloc(struct binder_alloc *alloc, size_t nr)
{
	struct binder_page *pages = kvcalloc(nr, sizeof(*pages), GFP_KERNEL);
	size_t i;

	if (!pages)
		return NULL;
	for (i = 0; i < nr; i++) {
		INIT_LIST_HEAD(&pages[i].lru);
		pages[i].alloc = alloc;
	}
	return pages;
}

/* Make a slot empty. Return: what was in it, now the caller's; NULL if nothing. */
static struct page *slot_clear_locked(struct binder_alloc *alloc, struct binder_page *slot)
	__must_hold(&alloc->lock) __must_hold(&lru.lock)
{
	struct page *page = slot->page;

	lockdep_assert_held(&alloc->lock);
	lockdep_assert_held(&lru.lock);
	slot->page = NULL;
	if (!list_empty(&slot->lru)) {
		list_del_init(&slot->lru);
		lru.nr--;
	}
	return page;
}

/* A page that is in no slot any more: out of the mapping, back to the system. */
static void page_dispose(struct binder_alloc *alloc, size_t index, struct page *page)
{
	trace_binder_unmap_user_start(alloc, index);
	binder_host_page_zap(alloc, index, page);
	trace_binder_unmap_user_end(alloc, index);
	binder_host_page_free(alloc, index, page);
}

/**
 * binder_pages_free() - free all pages of an allocator, and its slots
 *
 * The lock is dropped around each page: a process that exits with a full
 * mapping must not keep preemption off for a thousand of them. install_mutex
 * is what keeps a shrinker away from pages[] meanwhile. Pages are zapped as
 * the shrinker does, because a host's mapping may outlive its last descriptor.
 *
 * Context: sleeps; install_mutex held, no spinlock; no buffer is left.
 */
void binder_pages_free(struct binder_alloc *alloc)
{
	struct binder_page *pages = alloc->pages;
	size_t nr = alloc->size >> PAGE_SHIFT;
	size_t i;

	lockdep_assert_held(&alloc->install_mutex);
	if (!pages)
		return;
	for (i = 0; i < nr; i++) {
		struct page *page;

		spin_lock(&alloc->lock);
		spin_lock(&lru.lock);
		page = slot_clear_locked(alloc, &pages[i]);
		spin_unlock(&lru.lock);
		spin_unlock(&alloc->lock);
		if (page)
			page_dispose(alloc, i, page);
	}
	spin_lock(&alloc->lock);
	alloc->pages = NULL;
	spin_unlock(&alloc->lock);
	kvfree(pages);
}

/**
 * binder_pages_use_locked() - the slots [@first, @end) belong to a live buffer
 *
 * Takes their pages off the LRU. From here to binder_pages_idle_locked() no
 * shrinker touches them.
 *
 * Context: alloc->lock held.
 * Return: whether some are empty, and so need binder_pages_install().
 */
bool binder_pages_use_locked(struct binder_alloc *alloc, size_t first, size_t end)
{
	bool missing = false;
	size_t i;

	lockdep_assert_held(&alloc->lock);
	spin_lock(&lru.lock);
	for (i = first; i < end; i++) {
		struct binder_page *slot = &alloc->pages[i];

		if (!slot->page) {
			missing = true;
		} else if (!list_empty(&slot->lru)) {
			list_del_init(&slot->lru);
			lru.nr--;
		}
	}
	spin_unlock(&lru.lock);
	return missing;
}

/**
 * binder_pages_idle_locked() - no live buffer touches the slots [@first, @end) any more
 *
 * Those with a page go to the end of the LRU. One can be empty: its buffer
 * failed to get all its pages.
 *
 * Context: alloc->lock held.
 */
void binder_pages_idle_locked(struct binder_alloc *alloc, size_t first, size_t end)
{
	size_t i;

	lockdep_assert_held(&alloc->lock);
	spin_lock(&lru.lock);
	for (i = first; i < end; i++) {
		struct binder_page *slot = &alloc->pages[i];

		/* On the list already: a page was idle under a live buffer. */
		if (!slot->page || WARN_ON_ONCE(!list_empty(&slot->lru)))
			continue;
		list_add_tail(&slot->lru, &lru.slots);
		lru.nr++;
	}
	spin_unlock(&lru.lock);
}

/** binder_pages_count_locked() - how many slots are in which state. Context: alloc->lock held. */
void binder_pages_count_locked(struct binder_alloc *alloc, struct binder_page_count *count)
{
	size_t nr = alloc->pages ? alloc->size >> PAGE_SHIFT : 0;
	size_t i;

	lockdep_assert_held(&alloc->lock);
	*count = (struct binder_page_count){ 0 };
	spin_lock(&lru.lock);
	for (i = 0; i < nr; i++) {
		struct binder_page *slot = &alloc->pages[i];

		if (!slot->page)
			count->empty++;
		else if (list_empty(&slot->lru))
			count->in_use++;
		else
			count->idle++;
	}
	spin_unlock(&lru.lock);
}

/* Return: 0 when empty, -EEXIST when filled, -ESRCH when empty and the mapping is gone. */
static int slot_look(struct binder_alloc *alloc, size_t index)
{
	int err = 0;

	spin_lock(&alloc->lock);
	if (alloc->pages[index].page)
		err = -EEXIST;
	else if (!alloc->mapped)
		err = -ESRCH;
	spin_unlock(&alloc->lock);
	return err;
}

static void slot_publish(struct binder_alloc *alloc, size_t index, struct page *page)
{
	spin_lock(&alloc->lock);
	alloc->pages[index].page = page;
	alloc->pages_high = max_t(size_t, alloc->pages_high, index + 1);
	spin_unlock(&alloc->lock);
}

/*
 * Fill one slot with *@page; *@page is NULL afterwards if it was used.
 * Return: 0; -EEXIST when somebody filled it meanwhile; another -errno.
 */
static int slot_fill_locked(struct binder_alloc *alloc, size_t index, struct page **page)
	__must_hold(&alloc->install_mutex)
{
	int err;

	lockdep_assert_held(&alloc->install_mutex);
	err = slot_look(alloc, index);
	if (err)
		return err;
	err = binder_host_page_insert(alloc, index, *page);
	if (err) {
		pr_err_ratelimited("%d: cannot insert the page at offset %zu of the mapping: error %d\n",
				   alloc->pid, index << PAGE_SHIFT, err);
		/* Not "somebody filled it": only a filled slot may count as one. */
		return err == -EEXIST ? -EINVAL : err;
	}
	slot_publish(alloc, index, *page);
	*page = NULL;
	return 0;
}

/* Return: 0 when the slot is filled, by us or not; -errno. */
static int slot_install(struct binder_alloc *alloc, size_t index)
{
	struct page *page;
	int err = slot_look(alloc, index);

	if (!err) {
		trace_binder_alloc_page_start(alloc, index);
		page = binder_host_page_alloc(alloc, index);
		trace_binder_alloc_page_end(alloc, index);
		if (!page)
			return -ENOMEM;
		rt_mutex_lock(&alloc->install_mutex);
		err = slot_fill_locked(alloc, index, &page);
		rt_mutex_unlock(&alloc->install_mutex);
		if (page)
			binder_host_page_free(alloc, index, page);
	}
	return err == -EEXIST ? 0 : err;
}

/**
 * binder_pages_install() - fill the empty ones of the slots [@first, @end)
 * @alloc: where the caller owns a buffer that covers them
 *
 * The page comes from outside every lock, as getting it may mean reclaim, and
 * reclaim may mean binder_pages_shrink() on this very thread.
 *
 * Context: may sleep; no locks held. Takes install_mutex and, in the host, the
 * address-space lock inside it.
 * Return: 0; -ENOMEM; -ESRCH when the mapping is gone; another -errno from the
 * host. After an error some slots may have been filled; they stay.
 */
int binder_pages_install(struct binder_alloc *alloc, size_t first, size_t end)
{
	size_t i;
	int err;

	for (i = first; i < end; i++) {
		err = slot_install(alloc, i);
		if (err)
			return err;
	}
	return 0;
}

/**
 * binder_pages_hold() - keep the page of a slot where it is, to put it into the mapping
 * @index: of the slot; may be outside the mapping
 *
 * For hosts that fill a mapping by page faults. Until binder_pages_unhold() no
 * shrinker takes the page, so it cannot be zapped before it is inserted.
 *
 * Context: sleeps; takes install_mutex, for binder_pages_unhold(). The
 * address-space lock may be held, if binder_host_page_insert() does not take it.
 * Return: the page, or NULL when the slot is empty, and unhold is due all the same.
 */
struct page *binder_pages_hold(struct binder_alloc *alloc, size_t index)
{
	rt_mutex_lock(&alloc->install_mutex);
	return binder_pages_held(alloc, index);
}

/**
 * binder_pages_held() - the page of another slot, between hold and unhold
 * Context: install_mutex held.
 * Return: as binder_pages_hold().
 */
struct page *binder_pages_held(struct binder_alloc *alloc, size_t index)
{
	struct page *page = NULL;

	lockdep_assert_held(&alloc->install_mutex);
	spin_lock(&alloc->lock);
	if (alloc->pages && index < alloc->size >> PAGE_SHIFT)
		page = alloc->pages[index].page;
	spin_unlock(&alloc->lock);
	return page;
}

/**
 * binder_pages_gap() - how many slots in a row are empty, between hold and unhold
 * @first: the first slot to look at
 * @end: the first one not to; both may be outside the mapping, where all are empty
 *
 * For hosts whose mapping a client can fill by itself: while install_mutex is
 * held nobody fills a slot, nor stores into the page of an empty one.
 *
 * Context: install_mutex held.
 * Return: their number, 0 when slot @first has a page.
 */
size_t binder_pages_gap(struct binder_alloc *alloc, size_t first, size_t end)
{
	size_t nr, i;

	lockdep_assert_held(&alloc->install_mutex);
	spin_lock(&alloc->lock);
	nr = alloc->pages ? alloc->size >> PAGE_SHIFT : 0;
	for (i = first; i < min_t(size_t, end, nr) && !alloc->pages[i].page; i++)
		;
	spin_unlock(&alloc->lock);
	return (i < nr ? i : end) - first;
}

/** binder_pages_unhold() - undo binder_pages_hold(). Context: as it left it. */
void binder_pages_unhold(struct binder_alloc *alloc)
{
	lockdep_assert_held(&alloc->install_mutex);
	rt_mutex_unlock(&alloc->install_mutex);
}

/** binder_pages_idle_count() - pages a shrinker could get. Context: any but under the LRU lock. */
unsigned long binder_pages_idle_count(void)
{
	unsigned long nr;

	spin_lock(&lru.lock);
	nr = lru.nr;
	spin_unlock(&lru.lock);
	return nr;
}

/**
 * binder_pages_mark() - what is idle now is old for binder_pages_shrink_marked() from here on
 * Unless it is used meanwhile. A page that was marked before stays so.
 * Context: any but under the LRU lock.
 */
void binder_pages_mark(void)
{
	spin_lock(&lru.lock);
	list_move_tail(&lru.mark, &lru.slots);
	spin_unlock(&lru.lock);
}

/* The slot idle longest, or NULL; with @marked only one in front of the mark. */
static struct binder_page *lru_first_locked(bool marked)
	__must_hold(&lru.lock)
{
	struct list_head *at = &lru.slots;

	lockdep_assert_held(&lru.lock);
	if (at->next == &lru.mark) {
		if (marked)
			return NULL;
		at = &lru.mark;
	}
	return at->next == &lru.slots ? NULL : list_first_entry(at, struct binder_page, lru);
}

/*
 * Take the page that is idle longest out of its slot.
 *
 * Only trylocks. install_mutex: an installer may have come here through its
 * own allocation and hold it; we hold a spinlock; and waiting for it could
 * close a cycle with the address-space lock our caller may hold. alloc->lock:
 * its order is before the LRU's. A slot that cannot be had goes to the end,
 * so that the next try meets another.
 *
 * Return: -ENOENT when no page is idle; -EAGAIN when one was skipped; 0 with
 * *@slot and *@page, both the caller's until it drops the slot's install_mutex
 * and the reference to its allocator that it got.
 */
static int lru_take(struct binder_page **slot, struct page **page, bool marked)
{
	struct binder_page *s;
	struct binder_alloc *alloc;

	spin_lock(&lru.lock);
	s = lru_first_locked(marked);
	if (!s) {
		spin_unlock(&lru.lock);
		return -ENOENT;
	}
	/* Alive: it cannot be released without taking this slot off the list. */
	alloc = s->alloc;
	if (!rt_mutex_trylock(&alloc->install_mutex))
		goto err_skip;
	binder_alloc_get(alloc);
	if (!spin_trylock(&alloc->lock))
		goto err_unlock_install;
	*page = slot_clear_locked(alloc, s);
	*slot = s;
	spin_unlock(&lru.lock);
	spin_unlock(&alloc->lock);
	return 0;

err_unlock_install:
	list_move_tail(&s->lru, &lru.slots);
	spin_unlock(&lru.lock);
	rt_mutex_unlock(&alloc->install_mutex);
	binder_alloc_put(alloc);
	return -EAGAIN;

err_skip:
	list_move_tail(&s->lru, &lru.slots);
	spin_unlock(&lru.lock);
	return -EAGAIN;
}

/* Finish what lru_take() began, and let go of the slot. */
static void slot_reclaim(struct binder_page *slot, struct page *page)
{
	struct binder_alloc *alloc = slot->alloc;
	/* pages[] is stable: release needs the install_mutex we hold. */
	size_t index = slot - alloc->pages;

	page_dispose(alloc, index, page);
	rt_mutex_unlock(&alloc->install_mutex);
	/* The last one, if release was waiting for the mutex and its owner is done. */
	binder_alloc_put(alloc);
}

/*
 * Looks at as many pages as were idle at the start, so it ends even if every
 * one is skipped and while others add more.
 */
static unsigned long shrink(unsigned long nr, bool marked)
{
	unsigned long left = binder_pages_idle_count();
	unsigned long freed = 0;

	for (; left && freed < nr; left--) {
		struct binder_page *slot;
		struct page *page;
		int err = lru_take(&slot, &page, marked);

		if (err == -ENOENT)
			break;
		if (err)
			continue;
		slot_reclaim(slot, page);
		freed++;
	}
	return freed;
}

/**
 * binder_pages_shrink() - give idle pages back to the system
 * @nr: how many are wanted
 *
 * Context: may be reclaim: on the thread of an installer that holds
 * install_mutex, or under an address-space lock. Waits for no lock but the
 * LRU's. No spinlock held.
 * Return: pages freed.
 */
unsigned long binder_pages_shrink(unsigned long nr)
{
	return shrink(nr, false);
}

/**
 * binder_pages_shrink_marked() - the same for pages idle since binder_pages_mark()
 * One that is skipped because somebody is busy with it counts as just idle.
 * Context: as of binder_pages_shrink().
 * Return: pages freed.
 */
unsigned long binder_pages_shrink_marked(unsigned long nr)
{
	return shrink(nr, true);
}
