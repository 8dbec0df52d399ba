// SPDX-License-Identifier: MIT
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define BUCKETS_FIRST 64

/**
 * sm_table_init() - an empty table
 * Return: 0; -ENOMEM.
 */
int sm_table_init(struct sm_table *table)
{
	table->buckets = calloc(BUCKETS_FIRST, sizeof(*table->buckets));
	table->nr_buckets = BUCKETS_FIRST;
	table->count = 0;
	return table->buckets ? 0 : -ENOMEM;
}

/** sm_table_fini() - free the table; what is in it is the caller's */
void sm_table_fini(struct sm_table *table)
{
	free(table->buckets);
	*table = (struct sm_table){ 0 };
}

static struct sm_node **bucket(const struct sm_table *table, uint64_t hash)
{
	return &table->buckets[hash & (table->nr_buckets - 1)];
}

/* Longer chains if there is no memory. */
static void grow(struct sm_table *table)
{
	struct sm_table old = *table;
	struct sm_node *node;

	table->buckets = calloc(2 * old.nr_buckets, sizeof(*table->buckets));
	if (!table->buckets) {
		table->buckets = old.buckets;
		return;
	}
	table->nr_buckets = 2 * old.nr_buckets;
	for (size_t i = 0; i < old.nr_buckets; i++) {
		while ((node = old.buckets[i])) {
			old.buckets[i] = node->next;
			node->next = *bucket(table, node->hash);
			*bucket(table, node->hash) = node;
		}
	}
	free(old.buckets);
}

/** sm_table_add() - add what is not in it. Cannot fail. */
void sm_table_add(struct sm_table *table, struct sm_node *node, uint64_t hash)
{
	if (table->count >= table->nr_buckets)
		grow(table);
	node->hash = hash;
	node->next = *bucket(table, hash);
	*bucket(table, hash) = node;
	table->count++;
}

/** sm_table_del() - take out what is in it */
void sm_table_del(struct sm_table *table, struct sm_node *node)
{
	struct sm_node **at = bucket(table, node->hash);

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	table->count--;
}

static struct sm_node *same(struct sm_node *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

/** sm_table_find() - the first with a hash; is it the one? Return: NULL if none. */
struct sm_node *sm_table_find(const struct sm_table *table, uint64_t hash)
{
	return same(*bucket(table, hash), hash);
}

/** sm_table_find_next() - the next with the same hash as @node. Return: NULL if none. */
struct sm_node *sm_table_find_next(const struct sm_node *node)
{
	return same(node->next, node->hash);
}

/**
 * sm_table_next() - the one after @node, in no order
 * @table: not changed in between, except that what came before @node may go
 * @node: NULL for the first
 *
 * Return: NULL after the last.
 */
struct sm_node *sm_table_next(const struct sm_table *table, const struct sm_node *node)
{
	size_t i = 0;

	if (node && node->next)
		return node->next;
	if (node)
		i = (node->hash & (table->nr_buckets - 1)) + 1;
	while (i < table->nr_buckets && !table->buckets[i])
		i++;
	return i < table->nr_buckets ? table->buckets[i] : NULL;
}

/**
 * sm_hash() - a hash of bytes that others choose
 *
 * With a number of this process in it, so that nobody can prepare names that
 * all have the same.
 */
uint64_t sm_hash(const void *bytes, size_t len)
{
	static uint64_t seed;
	const unsigned char *at = bytes;
	uint64_t hash;

	while (!seed) {
		if (getrandom(&seed, sizeof(seed), 0) < 0)
			seed = (uint64_t)(uintptr_t)&seed;
	}
	hash = seed;
	while (len--) {
		hash = (hash ^ *at++) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash ^ hash >> 32;
}
