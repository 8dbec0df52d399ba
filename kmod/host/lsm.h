/* SPDX-License-Identifier: GPL-2.0-only */
/* Security modules, where the kernel lets a module ask them. */
#ifndef KMOD_HOST_LSM_H
#define KMOD_HOST_LSM_H

void binder_lsm_announce(void);

#endif
