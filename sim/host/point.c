// SPDX-License-Identifier: GPL-2.0-only
/* Running something else in the middle of a host call or an allocation. */
#include "sim.h"
#include "core/pages.h"

static enum sim_point at_point;
static unsigned int at_countdown;
static void (*at_fn)(void *arg);
static void *at_arg;

static unsigned long reclaim_nr;
static bool reclaiming;

void sim_at(enum sim_point point, unsigned int nth, void (*fn)(void *arg), void *arg)
{
	at_point = point;
	at_countdown = nth;
	at_fn = fn;
	at_arg = arg;
}

bool sim_at_pending(void)
{
	return at_fn;
}

void sim_reclaim(unsigned long nr)
{
	reclaim_nr = nr;
}

static void alloc_point(void)
{
	sim_point(SIM_ALLOC);
}

void sim_point_reset(void)
{
	at_fn = NULL;
	reclaim_nr = 0;
	sim_alloc_hook = alloc_point;
}

static void reclaim(void)
{
	/* Reclaim frees pages and allocates none; be sure it does not recurse. */
	if (reclaiming)
		binder_kapi_fatal("reclaim allocates");
	reclaiming = true;
	binder_pages_shrink(reclaim_nr);
	reclaiming = false;
}

void sim_point(enum sim_point point)
{
	void (*fn)(void *arg) = at_fn;

	if (reclaim_nr && (point == SIM_PAGE_ALLOC || point == SIM_PAGE_INSERT))
		reclaim();
	if (!fn || point != at_point || --at_countdown)
		return;
	at_fn = NULL;
	fn(at_arg);
}
