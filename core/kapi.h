/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel vocabulary the core relies on: the one file in core/ that names
 * <linux/...>. In kmod/ these are the kernel's own headers; user/kapi and
 * sim/kapi put headers of the same names first in the include path. The list
 * is closed: a name that is not below is not used in core/, so every host
 * knows exactly what it owes.
 *
 * Left out on purpose: wait queues (the core never sleeps for work), RCU and
 * bare memory barriers (ThreadSanitizer and the simulator must be able to
 * follow every ordering), list_lru and shrinkers (their interface moves
 * between kernel versions), files, mm and credentials (see host.h).
 */
#ifndef CORE_KAPI_H
#define CORE_KAPI_H

/* u8 u16 u32 u64 s32 s64 bool size_t pid_t uintptr_t gfp_t */
#include <linux/types.h>
/* __must_hold __guarded_by __printf likely unlikely READ_ONCE WRITE_ONCE fallthrough */
#include <linux/compiler.h>
/* EINVAL and friends; ERR_PTR PTR_ERR IS_ERR */
#include <linux/errno.h>
#include <linux/err.h>
/* container_of min max min_t max_t ALIGN IS_ALIGNED DIV_ROUND_UP ARRAY_SIZE U32_MAX INT_MAX
 * SIZE_MAX */
#include <linux/kernel.h>
/* BUILD_BUG_ON static_assert */
#include <linux/build_bug.h>
/* check_add_overflow check_mul_overflow */
#include <linux/overflow.h>
/* WARN_ON_ONCE WARN_ON */
#include <linux/bug.h>
/* pr_info pr_warn_ratelimited pr_info_ratelimited pr_err_ratelimited */
#include <linux/printk.h>
/* memcpy memset memcmp strcmp strlen strscpy kstrdup vscnprintf(kernel.h) */
#include <linux/string.h>
/* list_head: INIT_LIST_HEAD list_add list_add_tail list_del list_del_init list_empty
 * list_first_entry list_first_entry_or_null list_move_tail list_splice_init list_splice_tail_init
 * list_is_last list_next_entry list_prev_entry list_for_each_entry list_for_each_entry_safe
 * LIST_HEAD */
#include <linux/list.h>
/* rb_root rb_node RB_ROOT RB_EMPTY_NODE RB_CLEAR_NODE rb_first rb_next rb_prev rb_entry
 * rb_link_node rb_insert_color rb_erase */
#include <linux/rbtree.h>
/* refcount_t: set inc inc_not_zero dec_and_test read */
#include <linux/refcount.h>
/* atomic_t: ATOMIC_INIT set read inc dec inc_return add sub */
#include <linux/atomic.h>
/* spinlock_t: spin_lock spin_unlock spin_trylock lockdep_assert_held */
#include <linux/spinlock.h>
/* struct mutex: mutex_lock mutex_unlock lockdep_assert_held */
#include <linux/mutex.h>
/* struct rt_mutex: rt_mutex_lock rt_mutex_unlock rt_mutex_trylock lockdep_assert_held */
#include <linux/rtmutex.h>
/* kmalloc kzalloc kcalloc kfree; GFP_KERNEL */
#include <linux/slab.h>
/* PAGE_SIZE PAGE_SHIFT PAGE_MASK PAGE_ALIGN offset_in_page struct page; kvcalloc kvzalloc kvfree */
#include <linux/mm.h>
/* bitmap_copy find_next_zero_bit __set_bit __clear_bit BITS_PER_LONG BITS_TO_LONGS */
#include <linux/bitmap.h>

#endif
