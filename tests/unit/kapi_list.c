// SPDX-License-Identifier: GPL-2.0-only
/* Lists: order, empty lists, and that corruption is caught. */
#include "kapi_check.h"

struct item {
	int value;
	struct list_head entry;
};

/* The list must hold exactly these values, in both directions. */
static void check_values(struct list_head *head, const int *values, int nr)
{
	struct item *item;
	int i = 0;

	list_for_each_entry(item, head, entry) {
		CHECK(i < nr && item->value == values[i]);
		i++;
	}
	CHECK(i == nr);
	for (struct list_head *at = head->prev; at != head; at = at->prev)
		CHECK(container_of(at, struct item, entry)->value == values[--i]);
	CHECK(i == 0);
	CHECK(list_empty(head) == !nr);
}

#define CHECK_VALUES(head, ...) do {					\
	const int values_[] = { __VA_ARGS__ };				\
	check_values(head, values_, ARRAY_SIZE(values_));		\
} while (0)

static void test_list_empty_everything_does_nothing(void)
{
	LIST_HEAD(head);
	struct list_head other;
	struct item *item, *next;

	INIT_LIST_HEAD(&other);
	check_values(&head, NULL, 0);
	CHECK(list_empty(&head));
	CHECK(!list_first_entry_or_null(&head, struct item, entry));
	list_for_each_entry(item, &head, entry)
		CHECK(false);
	list_for_each_entry_safe(item, next, &head, entry)
		CHECK(false);
	list_splice_init(&other, &head);
	list_splice_tail_init(&other, &head);
	check_values(&head, NULL, 0);
	check_values(&other, NULL, 0);
	/* An entry that is alone is a list too: taking it out of itself is allowed. */
	list_del_init(&other);
	check_values(&other, NULL, 0);
}

static void test_list_add_keeps_order(void)
{
	struct item items[4] = { { 0 }, { 1 }, { 2 }, { 3 } };
	LIST_HEAD(head);

	list_add_tail(&items[1].entry, &head);
	list_add(&items[0].entry, &head);
	list_add_tail(&items[3].entry, &head);
	list_add(&items[2].entry, &items[1].entry);
	CHECK_VALUES(&head, 0, 1, 2, 3);
	CHECK(list_first_entry(&head, struct item, entry) == &items[0]);
	CHECK(list_first_entry_or_null(&head, struct item, entry) == &items[0]);
	CHECK(list_next_entry(&items[1], entry) == &items[2]);
	CHECK(list_prev_entry(&items[1], entry) == &items[0]);
	CHECK(list_is_last(&items[3].entry, &head));
	CHECK(!list_is_last(&items[2].entry, &head));
	list_move_tail(&items[1].entry, &head);
	CHECK_VALUES(&head, 0, 2, 3, 1);
	list_move_tail(&items[1].entry, &head);
	CHECK_VALUES(&head, 0, 2, 3, 1);
	list_del(&items[0].entry);
	list_del_init(&items[3].entry);
	CHECK(list_empty(&items[3].entry));
	CHECK_VALUES(&head, 2, 1);
}

static void test_list_splice_moves_all(void)
{
	struct item items[5] = { { 0 }, { 1 }, { 2 }, { 3 }, { 4 } };
	LIST_HEAD(from);
	LIST_HEAD(to);

	list_add_tail(&items[0].entry, &from);
	list_add_tail(&items[1].entry, &from);
	list_splice_tail_init(&from, &to);
	check_values(&from, NULL, 0);
	CHECK_VALUES(&to, 0, 1);
	list_add_tail(&items[2].entry, &from);
	list_splice_tail_init(&from, &to);
	CHECK_VALUES(&to, 0, 1, 2);
	list_add_tail(&items[3].entry, &from);
	list_add_tail(&items[4].entry, &from);
	list_splice_init(&from, &to);
	check_values(&from, NULL, 0);
	CHECK_VALUES(&to, 3, 4, 0, 1, 2);
}

static void test_list_safe_walk_removes_all(void)
{
	struct item items[3] = { { 0 }, { 1 }, { 2 } };
	struct item *item, *next;
	LIST_HEAD(head);
	int seen = 0;

	for (int i = 0; i < 3; i++)
		list_add_tail(&items[i].entry, &head);
	list_for_each_entry_safe(item, next, &head, entry) {
		CHECK(item->value == seen++);
		list_del(&item->entry);
		item->entry.next = NULL;
	}
	CHECK(seen == 3);
	check_values(&head, NULL, 0);
}

static void delete_twice(void)
{
	struct item item = { 0 };
	LIST_HEAD(head);

	list_add(&item.entry, &head);
	list_del(&item.entry);
	list_del(&item.entry);
}

static void add_twice(void)
{
	struct item item = { 0 };
	LIST_HEAD(head);

	list_add(&item.entry, &head);
	list_add(&item.entry, &head);
}

static void delete_with_wrong_neighbour(void)
{
	struct item items[2] = { { 0 }, { 1 } };
	LIST_HEAD(head);

	list_add(&items[0].entry, &head);
	items[1].entry = items[0].entry;
	list_del(&items[1].entry);
}

int main(void)
{
	test_list_empty_everything_does_nothing();
	test_list_add_keeps_order();
	test_list_splice_moves_all();
	test_list_safe_walk_removes_all();
	CHECK_DIES(delete_twice, "already removed");
	CHECK_DIES(add_twice, "list corrupted: adding");
	CHECK_DIES(delete_with_wrong_neighbour, "unknown to its neighbours");
	return 0;
}
