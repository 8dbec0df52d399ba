/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's state as files, in binder_logs/ of a binderfs that was mounted
 * with stats=global and in debugfs:
 *
 *   state stats transactions transaction_log failed_transaction_log
 *   proc/PID    one for each process, whatever devices it has open
 */
#ifndef KMOD_HOST_LOGS_H
#define KMOD_HOST_LOGS_H

#include <linux/types.h>

struct dentry;

int binder_logs_init(void);
void binder_logs_exit(void);
int binder_logs_add(struct dentry *root);
void binder_logs_proc_add(pid_t pid);
void binder_logs_proc_del(pid_t pid);

#endif
