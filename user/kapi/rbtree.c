// SPDX-License-Identifier: GPL-2.0-only
/*
 * Red-black trees as in the textbooks. Invariants: the root is black, a red
 * node has no red child, and every path from a node down to a missing child
 * passes the same number of black nodes. A missing child counts as black.
 */
#include <linux/rbtree.h>

static bool is_red(const struct rb_node *node)
{
	return node && node->red;
}

/* @with takes the place of @node under its parent; children are not touched. */
static void replace_child(struct rb_root *root, struct rb_node *node, struct rb_node *with)
{
	struct rb_node *parent = node->parent;

	if (!parent)
		root->rb_node = with;
	else if (parent->rb_left == node)
		parent->rb_left = with;
	else
		parent->rb_right = with;
	if (with)
		with->parent = parent;
}

static void rotate_left(struct rb_root *root, struct rb_node *node)
{
	struct rb_node *up = node->rb_right;

	replace_child(root, node, up);
	node->rb_right = up->rb_left;
	if (node->rb_right)
		node->rb_right->parent = node;
	up->rb_left = node;
	node->parent = up;
}

static void rotate_right(struct rb_root *root, struct rb_node *node)
{
	struct rb_node *up = node->rb_left;

	replace_child(root, node, up);
	node->rb_left = up->rb_right;
	if (node->rb_left)
		node->rb_left->parent = node;
	up->rb_right = node;
	node->parent = up;
}

void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent, *grand, *uncle;

	/* Only "red node under a red parent" can be wrong; a red parent has a parent. */
	while (is_red(parent = node->parent)) {
		bool left;

		grand = parent->parent;
		left = parent == grand->rb_left;
		uncle = left ? grand->rb_right : grand->rb_left;
		if (is_red(uncle)) {
			parent->red = false;
			uncle->red = false;
			grand->red = true;
			node = grand;
			continue;
		}
		/* An inner grandchild becomes an outer one first. */
		if (left && node == parent->rb_right) {
			rotate_left(root, parent);
			parent = node;
		} else if (!left && node == parent->rb_left) {
			rotate_right(root, parent);
			parent = node;
		}
		parent->red = false;
		grand->red = true;
		if (left)
			rotate_right(root, grand);
		else
			rotate_left(root, grand);
		break;
	}
	root->rb_node->red = false;
}

/*
 * The side of @parent with @node (maybe missing) is one black short, and the
 * sibling is on the right. Return: whether the shortage moved up to @parent.
 */
static bool refill_left(struct rb_root *root, struct rb_node *parent)
{
	struct rb_node *sibling = parent->rb_right;

	if (sibling->red) {
		sibling->red = false;
		parent->red = true;
		rotate_left(root, parent);
		sibling = parent->rb_right;
	}
	if (!is_red(sibling->rb_left) && !is_red(sibling->rb_right)) {
		sibling->red = true;
		return true;
	}
	if (!is_red(sibling->rb_right)) {
		sibling->rb_left->red = false;
		sibling->red = true;
		rotate_right(root, sibling);
		sibling = parent->rb_right;
	}
	sibling->red = parent->red;
	parent->red = false;
	sibling->rb_right->red = false;
	rotate_left(root, parent);
	return false;
}

/* The mirror image of refill_left(). */
static bool refill_right(struct rb_root *root, struct rb_node *parent)
{
	struct rb_node *sibling = parent->rb_left;

	if (sibling->red) {
		sibling->red = false;
		parent->red = true;
		rotate_right(root, parent);
		sibling = parent->rb_left;
	}
	if (!is_red(sibling->rb_left) && !is_red(sibling->rb_right)) {
		sibling->red = true;
		return true;
	}
	if (!is_red(sibling->rb_left)) {
		sibling->rb_right->red = false;
		sibling->red = true;
		rotate_left(root, sibling);
		sibling = parent->rb_left;
	}
	sibling->red = parent->red;
	parent->red = false;
	sibling->rb_left->red = false;
	rotate_right(root, parent);
	return false;
}

/* Below @parent, the side of @node lost a black node. */
static void erase_color(struct rb_root *root, struct rb_node *parent, struct rb_node *node)
{
	while (parent && !is_red(node)) {
		bool up = node == parent->rb_left ? refill_left(root, parent)
						  : refill_right(root, parent);

		if (!up)
			return;
		node = parent;
		parent = node->parent;
	}
	if (node)
		node->red = false;
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *child, *parent;
	bool lost_red = node->red;

	if (!node->rb_left || !node->rb_right) {
		child = node->rb_left ? node->rb_left : node->rb_right;
		parent = node->parent;
		replace_child(root, node, child);
	} else {
		/* The successor moves here and takes this colour; its own place loses one. */
		struct rb_node *next = node->rb_right;

		while (next->rb_left)
			next = next->rb_left;
		lost_red = next->red;
		child = next->rb_right;
		parent = next->parent;
		if (parent == node) {
			parent = next;
		} else {
			replace_child(root, next, child);
			next->rb_right = node->rb_right;
			next->rb_right->parent = next;
		}
		replace_child(root, node, next);
		next->rb_left = node->rb_left;
		next->rb_left->parent = next;
		next->red = node->red;
	}
	if (!lost_red)
		erase_color(root, parent, child);
}

struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *node = root->rb_node;

	while (node && node->rb_left)
		node = node->rb_left;
	return node;
}

struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *at;

	if (RB_EMPTY_NODE(node))
		return NULL;
	if (node->rb_right) {
		for (at = node->rb_right; at->rb_left; at = at->rb_left)
			;
		return at;
	}
	for (at = node->parent; at && node == at->rb_right; at = at->parent)
		node = at;
	return at;
}

struct rb_node *rb_prev(const struct rb_node *node)
{
	struct rb_node *at;

	if (RB_EMPTY_NODE(node))
		return NULL;
	if (node->rb_left) {
		for (at = node->rb_left; at->rb_right; at = at->rb_right)
			;
		return at;
	}
	for (at = node->parent; at && node == at->rb_left; at = at->parent)
		node = at;
	return at;
}
