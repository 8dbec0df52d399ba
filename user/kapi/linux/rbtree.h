/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Red-black trees with the kernel's interface: the caller searches, links the
 * node at the leaf it found and asks for rebalancing.
 */
#ifndef USER_KAPI_RBTREE_H
#define USER_KAPI_RBTREE_H

#include <linux/kernel.h>
#include <linux/types.h>

struct rb_node {
	struct rb_node *parent;		/* NULL for the root; the node itself when in no tree */
	struct rb_node *rb_left;
	struct rb_node *rb_right;
	bool red;
};

struct rb_root {
	struct rb_node *rb_node;
};

#define RB_ROOT ((struct rb_root){ NULL })
#define RB_EMPTY_NODE(node) ((node)->parent == (node))
#define RB_CLEAR_NODE(node) ((node)->parent = (node))

#define rb_entry(ptr, type, member) container_of(ptr, type, member)

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent,
				struct rb_node **link)
{
	node->parent = parent;
	node->rb_left = NULL;
	node->rb_right = NULL;
	node->red = true;
	*link = node;
}

/** rb_insert_color() - rebalance after rb_link_node() */
void rb_insert_color(struct rb_node *node, struct rb_root *root);
/** rb_erase() - take @node out; it is not cleared (RB_CLEAR_NODE() does) */
void rb_erase(struct rb_node *node, struct rb_root *root);

/** rb_first() - the leftmost node, NULL for an empty tree */
struct rb_node *rb_first(const struct rb_root *root);
/** rb_next() - the in-order successor, NULL at the end or for a cleared node */
struct rb_node *rb_next(const struct rb_node *node);
/** rb_prev() - the in-order predecessor, NULL at the start or for a cleared node */
struct rb_node *rb_prev(const struct rb_node *node);

#endif
