/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices in /dev, without a binderfs: for those who open /dev/binder. */
#ifndef KMOD_HOST_DEVICES_H
#define KMOD_HOST_DEVICES_H

int binder_devices_init(const char *names);
void binder_devices_exit(void);

#endif
