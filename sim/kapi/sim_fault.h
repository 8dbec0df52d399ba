/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The knobs of the simulated kapi: make an allocation or a trylock fail,
 * count what was allocated and what was not given back.
 *
 * The loop that visits every allocation of an operation:
 *
 *	for (n = 1; ; n++) {
 *		set the world up;
 *		sim_fault_arm(n);
 *		do the operation;
 *		if (!sim_fault_fired())
 *			break;		// it has fewer than n allocations
 *		check that it failed properly, and that nothing is left;
 *	}
 */
#ifndef SIM_KAPI_SIM_FAULT_H
#define SIM_KAPI_SIM_FAULT_H

#include <linux/types.h>

/** sim_fault_arm() - the @nth allocation from now fails (1 is the next), once; 0 disarms */
void sim_fault_arm(unsigned long nth);
/** sim_fault_arm_from() - the @nth from now fails, and all after it, until disarmed */
void sim_fault_arm_from(unsigned long nth);
/** sim_fault_fired() - has an allocation failed since the last arm? */
bool sim_fault_fired(void);
/** sim_fault_site() - where the last one failed, "file:line"; NULL if none has */
const char *sim_fault_site(void);

/** sim_alloc_hook - called in front of every allocation that may sleep; NULL: nothing is */
extern void (*sim_alloc_hook)(void);

/** sim_alloc_count() - allocations tried since start, pages included */
unsigned long sim_alloc_count(void);
/** sim_alloc_live() - allocations not yet freed, pages included */
unsigned long sim_alloc_live(void);
/** sim_alloc_dump() - print the live ones, size and site, to stderr */
void sim_alloc_dump(void);
/** sim_alloc_check_freed() - fatal if recently freed memory was written to */
void sim_alloc_check_freed(void);

/** SIM_ANY_RANK - also locks without a rank */
#define SIM_ANY_RANK (-1)
/**
 * sim_trylock_fail() - the next @times trylocks of locks of @rank fail
 * Replaces what an earlier call asked for.
 */
void sim_trylock_fail(int rank, unsigned int times);
/** sim_trylock_failed() - trylocks refused by sim_trylock_fail() since it was called */
unsigned int sim_trylock_failed(void);

/* ---- for other sources of memory in sim/ ------------------------------ */

/** sim_fault_hit() - count one allocation at @site. Return: it must fail. */
bool sim_fault_hit(const char *site);
/** sim_page_count() - one page more (1) or less (-1) is live */
void sim_page_count(int change);

#endif
