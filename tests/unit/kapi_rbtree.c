// SPDX-License-Identifier: GPL-2.0-only
/*
 * Red-black trees against a model: random inserts and erases, the invariants
 * and the order checked after each. KAPI_SEED=N repeats a run.
 */
#include <time.h>

#include "kapi_check.h"

#define NR_KEYS 128
#define NR_STEPS 20000

struct item {
	struct rb_node node;
	int key;
	bool in;	/* the model */
};

static struct item items[NR_KEYS];
static struct rb_root tree = RB_ROOT;
static u64 random_state;

static unsigned int random_below(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state >> 32) % n;
}

static void insert(struct item *item)
{
	struct rb_node **link = &tree.rb_node;
	struct rb_node *parent = NULL;

	while (*link) {
		parent = *link;
		link = item->key < rb_entry(parent, struct item, node)->key ? &parent->rb_left
									   : &parent->rb_right;
	}
	rb_link_node(&item->node, parent, link);
	rb_insert_color(&item->node, &tree);
	item->in = true;
}

static void erase(struct item *item)
{
	rb_erase(&item->node, &tree);
	RB_CLEAR_NODE(&item->node);
	item->in = false;
}

/* Return: number of black nodes on each path down from @node. */
static int check_subtree(const struct rb_node *node, const struct rb_node *parent)
{
	int left, right;

	if (!node)
		return 0;
	CHECK(node->parent == parent);
	if (node->red) {
		CHECK(parent && !parent->red);
		CHECK(!node->rb_left || !node->rb_left->red);
		CHECK(!node->rb_right || !node->rb_right->red);
	}
	left = check_subtree(node->rb_left, node);
	right = check_subtree(node->rb_right, node);
	CHECK(left == right);
	return left + !node->red;
}

static void check_tree(void)
{
	struct rb_node *node = rb_first(&tree), *last = NULL;

	check_subtree(tree.rb_node, NULL);
	for (int i = 0; i < NR_KEYS; i++) {
		if (!items[i].in) {
			CHECK(RB_EMPTY_NODE(&items[i].node));
			CHECK(!rb_next(&items[i].node) && !rb_prev(&items[i].node));
			continue;
		}
		CHECK(node == &items[i].node && !RB_EMPTY_NODE(node));
		last = node;
		node = rb_next(node);
	}
	CHECK(!node);
	for (int i = NR_KEYS - 1; i >= 0; i--) {
		if (!items[i].in)
			continue;
		CHECK(last == &items[i].node);
		last = rb_prev(last);
	}
	CHECK(!last);
}

static void test_rbtree_empty_has_no_first(void)
{
	CHECK(!rb_first(&tree));
	check_tree();
}

static void test_rbtree_random_matches_model(void)
{
	/* The bias swings, so that the tree grows full and shrinks to nothing. */
	for (int step = 0; step < NR_STEPS; step++) {
		struct item *item = &items[random_below(NR_KEYS)];
		bool grow = random_below(100) < (step / 1000 % 2 ? 15u : 85u);

		if (grow && !item->in)
			insert(item);
		else if (!grow && item->in)
			erase(item);
		else
			continue;
		check_tree();
	}
}

static void test_rbtree_ordered_insert_erase(void)
{
	for (int i = 0; i < NR_KEYS; i++)
		if (items[i].in)
			erase(&items[i]);
	for (int i = 0; i < NR_KEYS; i++) {
		insert(&items[i]);
		check_tree();
	}
	for (int i = 0; i < NR_KEYS; i++) {
		erase(i % 2 ? &items[i / 2] : &items[NR_KEYS - 1 - i / 2]);
		check_tree();
	}
	CHECK(!tree.rb_node);
}

int main(void)
{
	const char *given = getenv("KAPI_SEED");
	u64 seed = given ? strtoull(given, NULL, 0) : (u64)time(NULL) * 0x9e3779b97f4a7c15ULL;

	random_state = seed ? seed : 1;
	printf("replay: KAPI_SEED=%llu\n", seed);
	fflush(stdout);
	for (int i = 0; i < NR_KEYS; i++) {
		items[i].key = i;
		RB_CLEAR_NODE(&items[i].node);
	}
	test_rbtree_empty_has_no_first();
	test_rbtree_random_matches_model();
	test_rbtree_ordered_insert_erase();
	return 0;
}
