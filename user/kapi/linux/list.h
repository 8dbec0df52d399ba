/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Circular doubly linked lists with the kernel's names. Stricter than a kernel
 * without list debugging: removing an entry that its neighbours do not know
 * aborts, and a removed entry points nowhere.
 */
#ifndef USER_KAPI_LIST_H
#define USER_KAPI_LIST_H

#include <binder_kapi.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* Addresses that fault when followed. */
#define BINDER_LIST_POISON1 ((struct list_head *)0x100)
#define BINDER_LIST_POISON2 ((struct list_head *)0x122)

#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *head)
{
	return READ_ONCE(head->next) == head;
}

static inline void binder_list_join(struct list_head *prev, struct list_head *next)
{
	next->prev = prev;
	WRITE_ONCE(prev->next, next);
}

static inline void binder_list_insert(struct list_head *entry, struct list_head *prev,
				      struct list_head *next)
{
	if (unlikely(next->prev != prev || prev->next != next || entry == prev || entry == next))
		binder_kapi_fatal("list corrupted: adding %p between %p and %p", (void *)entry,
				  (void *)prev, (void *)next);
	entry->next = next;
	entry->prev = prev;
	next->prev = entry;
	WRITE_ONCE(prev->next, entry);
}

static inline void binder_list_unlink(struct list_head *entry)
{
	if (unlikely(entry->next == BINDER_LIST_POISON1 || entry->prev == BINDER_LIST_POISON2))
		binder_kapi_fatal("list corrupted: removing %p, already removed", (void *)entry);
	if (unlikely(entry->prev->next != entry || entry->next->prev != entry))
		binder_kapi_fatal("list corrupted: removing %p, unknown to its neighbours",
				  (void *)entry);
	binder_list_join(entry->prev, entry->next);
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	binder_list_insert(entry, head, head->next);
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	binder_list_insert(entry, head->prev, head);
}

static inline void list_del(struct list_head *entry)
{
	binder_list_unlink(entry);
	entry->next = BINDER_LIST_POISON1;
	entry->prev = BINDER_LIST_POISON2;
}

static inline void list_del_init(struct list_head *entry)
{
	binder_list_unlink(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	binder_list_unlink(entry);
	binder_list_insert(entry, head->prev, head);
}

static inline void binder_list_splice(struct list_head *from, struct list_head *prev,
				      struct list_head *next)
{
	if (list_empty(from))
		return;
	binder_list_join(prev, from->next);
	binder_list_join(from->prev, next);
	INIT_LIST_HEAD(from);
}

static inline void list_splice_init(struct list_head *from, struct list_head *head)
{
	binder_list_splice(from, head, head->next);
}

static inline void list_splice_tail_init(struct list_head *from, struct list_head *head)
{
	binder_list_splice(from, head->prev, head);
}

static inline bool list_is_last(const struct list_head *entry, const struct list_head *head)
{
	return entry->next == head;
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_next_entry(pos, member) list_entry((pos)->member.next, typeof(*(pos)), member)
#define list_prev_entry(pos, member) list_entry((pos)->member.prev, typeof(*(pos)), member)

#define list_first_entry_or_null(head, type, member) ({			\
	struct list_head *binder_head = (head);				\
	struct list_head *binder_first = READ_ONCE(binder_head->next);	\
	binder_first != binder_head ? list_entry(binder_first, type, member) : NULL; })

#define list_for_each_entry(pos, head, member)				\
	for (pos = list_first_entry(head, typeof(*pos), member);	\
	     &pos->member != (head);					\
	     pos = list_next_entry(pos, member))

/* @pos may be removed in the body; @next is the one after it. */
#define list_for_each_entry_safe(pos, next_, head, member)		\
	for (pos = list_first_entry(head, typeof(*pos), member),	\
	     next_ = list_next_entry(pos, member);			\
	     &pos->member != (head);					\
	     pos = next_, next_ = list_next_entry(next_, member))

#endif
