// SPDX-License-Identifier: GPL-2.0-only
/* Locks of a world without concurrency, and trylocks that fail on demand. */
#include <sim_fault.h>
#include <sim_lock.h>
#include <binder_kapi.h>

static int fail_rank;
static unsigned int fail_times;
static unsigned int failed;

void sim_trylock_fail(int rank, unsigned int times)
{
	fail_rank = rank;
	fail_times = times;
	failed = 0;
}

unsigned int sim_trylock_failed(void)
{
	return failed;
}

void sim_lock(struct binder_witness *w, const char *site)
{
	binder_witness_lock(w, site);
	if (w->owner)
		binder_kapi_fatal("%s: %s would wait for ever, its holder cannot run", site,
				  w->name);
	binder_witness_locked(w, site);
}

bool sim_trylock(struct binder_witness *w, const char *site)
{
	if (fail_times && (fail_rank == SIM_ANY_RANK || fail_rank == w->rank)) {
		fail_times--;
		failed++;
		return false;
	}
	if (w->owner)
		return false;
	binder_witness_locked(w, site);
	return true;
}
