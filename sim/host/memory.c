// SPDX-License-Identifier: GPL-2.0-only
/* User memory: this program's own, where a test said that it is valid. */
#include <stdlib.h>

#include "sim.h"
#include "core/alloc.h"
#include "core/proc.h"
#include "core/thread.h"

/* Not valid in the process; keeps the alignment of malloc(). */
#define USER_GAP 16

struct sim_range {
	struct list_head entry;
	u64 addr;
	size_t len;
	bool writable;
	void *owned;	/* to free with the process */
};

static unsigned long fail_countdown;
static bool fail_fired;

void sim_user_reset(void)
{
	sim_user_fail(0);
}

void sim_user_fail(unsigned long nth)
{
	fail_countdown = nth;
	fail_fired = false;
}

bool sim_user_failed(void)
{
	return fail_fired;
}

static bool copy_must_fail(void)
{
	if (!fail_countdown || --fail_countdown)
		return false;
	fail_fired = true;
	return true;
}

static struct sim_range *range_new(struct sim_proc *proc, const void *ptr, size_t len)
{
	struct sim_range *range = calloc(1, sizeof(*range));

	if (!range)
		abort();
	range->addr = (u64)(uintptr_t)ptr;
	range->len = len;
	list_add_tail(&range->entry, &proc->ranges);
	return range;
}

void sim_user_add(struct sim_proc *proc, const void *ptr, size_t len, bool writable)
{
	range_new(proc, ptr, len)->writable = writable;
}

static void range_free(struct sim_range *range)
{
	list_del(&range->entry);
	free(range->owned);
	free(range);
}

void sim_user_del(struct sim_proc *proc, const void *ptr)
{
	struct sim_range *range;

	list_for_each_entry(range, &proc->ranges, entry) {
		if (range->addr == (u64)(uintptr_t)ptr) {
			range_free(range);
			return;
		}
	}
	binder_kapi_fatal("sim_user_del: no range starts at %p", ptr);
}

void *sim_user_alloc(struct sim_proc *proc, size_t len)
{
	/* Something in front, or what an allocator packs densely would have no end. */
	u8 *mem = calloc(1, USER_GAP + (len ? len : 1));
	struct sim_range *range;

	if (!mem)
		abort();
	range = range_new(proc, mem + USER_GAP, len);
	range->writable = true;
	range->owned = mem;
	return mem + USER_GAP;
}

void *sim_user_dup(struct sim_proc *proc, const void *src, size_t len)
{
	return memcpy(sim_user_alloc(proc, len), src, len);
}

void sim_user_release(struct sim_proc *proc)
{
	struct sim_range *range, *next;

	list_for_each_entry_safe(range, next, &proc->ranges, entry)
		range_free(range);
}

/* Bytes from @addr on that are valid in @proc, at most @len. */
static size_t valid_run(struct sim_proc *proc, u64 addr, size_t len, bool write)
{
	size_t run = 0;

	while (run < len) {
		u64 at = addr + run;
		size_t more = 0;
		struct sim_range *range;

		list_for_each_entry(range, &proc->ranges, entry)
			if (at >= range->addr && at - range->addr < range->len &&
			    (range->writable || !write))
				more = range->len - (size_t)(at - range->addr);
		/* Its own mapping it may read but not write. */
		if (!more && !write && proc->proc && sim_map_readable(proc->proc->alloc, at))
			more = PAGE_SIZE - offset_in_page(at);
		if (!more)
			break;
		run += more;
	}
	return min(run, len);
}

static const void *user_ptr(u64 addr)
{
	return (const void *)(uintptr_t)addr;
}

size_t binder_host_read_user(struct binder_thread *thread, void *dst, u64 uaddr, size_t len)
{
	binder_witness_assert_none(BINDER_SITE);
	sim_point(SIM_READ_USER);
	if (copy_must_fail())
		return 0;
	len = valid_run(thread->proc->host.sim, uaddr, len, false);
	if (len) /* or the address may be NULL, which memcpy() may not be given */
		memcpy(dst, user_ptr(uaddr), len);
	return len;
}

int binder_host_write_user(struct binder_thread *thread, u64 uaddr, const void *src, size_t len)
{
	size_t run;

	binder_witness_assert_none(BINDER_SITE);
	sim_point(SIM_WRITE_USER);
	if (copy_must_fail())
		return -EFAULT;
	run = valid_run(thread->proc->host.sim, uaddr, len, true);
	if (run)
		memcpy((void *)(uintptr_t)uaddr, src, run);
	return run == len ? 0 : -EFAULT;
}

int binder_host_copy_payload(struct binder_thread *thread, u64 uaddr, struct binder_alloc *alloc,
			     const struct binder_segment *segs, unsigned int nr)
{
	binder_witness_assert_none(BINDER_SITE);
	sim_point(SIM_COPY_PAYLOAD);
	if (copy_must_fail())
		return -EFAULT;
	for (unsigned int i = 0; i < nr; i++) {
		size_t run = valid_run(thread->proc->host.sim, uaddr, segs[i].len, false);

		/* As much as there is, like a real copy that meets a bad page. */
		if (run && segs[i].mem)
			memcpy(segs[i].mem, user_ptr(uaddr), run);
		else if (run)
			sim_map_write(alloc, segs[i].offset, user_ptr(uaddr), run);
		if (run < segs[i].len)
			return -EFAULT;
		uaddr += run;
	}
	return 0;
}
