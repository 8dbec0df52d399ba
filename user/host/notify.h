/* SPDX-License-Identifier: GPL-2.0-only */
/* Telling whoever started the daemon that it serves. */
#ifndef USER_HOST_NOTIFY_H
#define USER_HOST_NOTIFY_H

void binder_notify_ready(int fd);
void binder_notify_stopping(void);

#endif
