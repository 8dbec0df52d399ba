/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMOD_COMPAT_MM_H
#define KMOD_COMPAT_MM_H

#include <linux/mm.h>

/* Not needed from 6.3 on. */
#ifndef HAVE_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
}
#endif

#endif
