/* SPDX-License-Identifier: GPL-2.0-only */
/* A shrinker is ours and registered (to 6.6), or the kernel's and allocated. */
#ifndef KMOD_COMPAT_SHRINKER_H
#define KMOD_COMPAT_SHRINKER_H

#include <linux/errno.h>
#include <linux/shrinker.h>

typedef unsigned long binder_shrinker_fn(struct shrinker *shrinker, struct shrink_control *sc);

#ifdef HAVE_SHRINKER_ALLOC

struct binder_shrinker {
	struct shrinker *shrinker;
};

static inline int binder_shrinker_register(struct binder_shrinker *s, const char *name,
					   binder_shrinker_fn *count, binder_shrinker_fn *scan)
{
	s->shrinker = shrinker_alloc(0, "%s", name);
	if (!s->shrinker)
		return -ENOMEM;
	s->shrinker->count_objects = count;
	s->shrinker->scan_objects = scan;
	shrinker_register(s->shrinker);
	return 0;
}

static inline void binder_shrinker_unregister(struct binder_shrinker *s)
{
	shrinker_free(s->shrinker);
}

#else

struct binder_shrinker {
	struct shrinker shrinker;
};

static inline int binder_shrinker_register(struct binder_shrinker *s, const char *name,
					   binder_shrinker_fn *count, binder_shrinker_fn *scan)
{
	s->shrinker.count_objects = count;
	s->shrinker.scan_objects = scan;
	s->shrinker.seeks = DEFAULT_SEEKS;
	return register_shrinker(&s->shrinker, "%s", name);
}

static inline void binder_shrinker_unregister(struct binder_shrinker *s)
{
	unregister_shrinker(&s->shrinker);
}

#endif

#endif
