/* SPDX-License-Identifier: MIT */
/* Lines on standard error, for people and for the journal. */
#ifndef SM_SAY_H
#define SM_SAY_H

#include <stddef.h>
#include <stdint.h>

/* Priorities of syslog(3). */
enum sm_level { SM_ERROR = 3, SM_WARNING = 4, SM_NOTICE = 5, SM_INFO = 6 };

void sm_say_init(void);
void sm_say(enum sm_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *sm_quote(const char *text, char *buf, size_t size);
const char *sm_number(uint64_t number, char buf[32]);

uint64_t sm_now_ms(void);

#endif
