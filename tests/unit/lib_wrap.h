/* SPDX-License-Identifier: MIT */
/* Allocations that fail when a test wants it: the linker sends them here, with --wrap. */
#ifndef TESTS_UNIT_LIB_WRAP_H
#define TESTS_UNIT_LIB_WRAP_H

#include "lib_fake.h"

/* While this is true allocations are counted, and the one of number wrap_fail_at fails. */
extern bool wrap_armed;
extern unsigned int wrap_allocations, wrap_fail_at;

#endif
