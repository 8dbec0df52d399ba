// SPDX-License-Identifier: GPL-2.0-only
/* Memory pressure reaches the core's list of idle pages through one shrinker. */
#include "core/pages.h"
#include "kmod/compat/shrinker.h"
#include "kmod/host/mapping.h"

static unsigned long shrinker_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long nr = binder_pages_idle_count();

	return nr ? nr : SHRINK_EMPTY;
}

static unsigned long shrinker_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long freed = binder_pages_shrink(sc->nr_to_scan);

	/* Nothing but pages whose allocators are busy: come again another time. */
	return freed ? freed : SHRINK_STOP;
}

static struct binder_shrinker shrinker;

/** binder_shrinker_init() - once. Context: may sleep. Return: 0 or -ENOMEM. */
int binder_shrinker_init(void)
{
	return binder_shrinker_register(&shrinker, "anybinder", shrinker_count, shrinker_scan);
}

/** binder_shrinker_exit() - undo binder_shrinker_init(). Waits for one at work. Context: sleeps. */
void binder_shrinker_exit(void)
{
	binder_shrinker_unregister(&shrinker);
}
