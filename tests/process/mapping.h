/* SPDX-License-Identifier: MIT */
/*
 * For cases about the mapping of a device: payloads of a pattern from one end
 * of a pair to the other, whose mapping is looked at.
 */
#ifndef TESTS_PROCESS_MAPPING_H
#define TESTS_PROCESS_MAPPING_H

#include "server.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE 4096ul

void pattern_fill(uint8_t *p, size_t n, unsigned int seed);
uint8_t *pattern_new(size_t n, unsigned int seed);
void pattern_check(const void *got, size_t n, unsigned int seed);
int mapping_touch(const volatile uint8_t *p);
void mapping_send(struct pair *p, size_t n, unsigned int seed);
void mapping_receive(struct pair *p, size_t n, unsigned int seed, struct bt_ret *ret);
void mapping_answer(struct pair *p, const struct bt_ret *ret);
void mapping_round_trip(struct pair *p, size_t n, unsigned int seed);
void mapping_unmap(struct bc *b);
void mapping_is_dead(struct pair *p);
struct pair *pair_open_unmapped(void);
void pair_map(struct pair *p, size_t size, int flags, off_t offset);
bool mapping_has_page(const void *at);
size_t mapping_resident(const void *at, size_t size);
void drop_caches(void);

#endif
