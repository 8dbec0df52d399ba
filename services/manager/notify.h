/* SPDX-License-Identifier: MIT */
/* Telling whoever started the manager how it is. */
#ifndef SM_NOTIFY_H
#define SM_NOTIFY_H

#include <stdint.h>

void sm_notify(const char *state);
void sm_notify_reloading(void);
void sm_notify_ready(int fd);
uint64_t sm_notify_watchdog_ms(void);

#endif
