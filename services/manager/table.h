/* SPDX-License-Identifier: MIT */
/* Hash tables of things that contain a struct sm_node. */
#ifndef SM_TABLE_H
#define SM_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct sm_node {
	struct sm_node *next;
	uint64_t hash;
};

struct sm_table {
	struct sm_node **buckets;
	size_t nr_buckets; /* a power of 2 */
	size_t count;
};

int sm_table_init(struct sm_table *table);
void sm_table_fini(struct sm_table *table);
void sm_table_add(struct sm_table *table, struct sm_node *node, uint64_t hash);
void sm_table_del(struct sm_table *table, struct sm_node *node);
struct sm_node *sm_table_find(const struct sm_table *table, uint64_t hash);
struct sm_node *sm_table_find_next(const struct sm_node *node);
struct sm_node *sm_table_next(const struct sm_table *table, const struct sm_node *node);

uint64_t sm_hash(const void *bytes, size_t len);

#endif
