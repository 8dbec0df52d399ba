// SPDX-License-Identifier: GPL-2.0-only
/* 6.3: vm_flags are changed through functions. */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYWRITE);
}
