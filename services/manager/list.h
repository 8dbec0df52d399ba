/* SPDX-License-Identifier: MIT */
/* Lists, doubly linked through a member of what is listed; the head is one more of them. */
#ifndef SM_LIST_H
#define SM_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct sm_list {
	struct sm_list *next, *prev;
};

/* What @ptr is the @member of. */
#define sm_container(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

static inline void sm_list_init(struct sm_list *list)
{
	list->next = list->prev = list;
}

static inline bool sm_list_empty(const struct sm_list *list)
{
	return list->next == list;
}

static inline void sm_list_add_tail(struct sm_list *list, struct sm_list *item)
{
	item->prev = list->prev;
	item->next = list;
	list->prev->next = item;
	list->prev = item;
}

/* Afterwards @item is a list of its own, so that deleting it again does no harm. */
static inline void sm_list_del(struct sm_list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	sm_list_init(item);
}

/* @item may not be deleted within; what comes after it may. */
#define sm_list_each(item, list) \
	for ((item) = (list)->next; (item) != (list); (item) = (item)->next)

#endif
