/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who a client is, and how another client's namespaces name it. The daemon
 * knows everybody by the numbers of its own namespaces; FUSE hands those out.
 */
#ifndef USER_HOST_IDENTITY_H
#define USER_HOST_IDENTITY_H

#include <linux/types.h>
#include <binder_host_types.h>

int binder_identity_init(void);
pid_t binder_identity_tgid(pid_t tid);
int binder_identity_read(struct binder_host_proc *host, pid_t tgid);
void binder_identity_free(struct binder_host_proc *host);

#endif
