// SPDX-License-Identifier: GPL-2.0-only
#include <linux/refcount.h>

void binder_refcount_broken(refcount_t *r, const char *what)
{
	static bool printed;

	atomic_set(&r->refs, REFCOUNT_SATURATED);
	binder_kapi_warn(BINDER_SITE, what, &printed);
}
