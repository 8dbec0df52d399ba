/* SPDX-License-Identifier: GPL-2.0-only */
/* Failed transactions, told to whoever listens on generic netlink (uapi 1.11). */
#ifndef KMOD_HOST_NETLINK_H
#define KMOD_HOST_NETLINK_H

int binder_netlink_init(void);
void binder_netlink_exit(void);

#endif
