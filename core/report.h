/* SPDX-License-Identifier: GPL-2.0-only */
/* What binder_logs shows: each function fills a text with one file's content. */
#ifndef CORE_REPORT_H
#define CORE_REPORT_H

#include "core/kapi.h"

struct binder_text;
struct binder_log;

void binder_report_state(struct binder_text *text);
void binder_report_stats(struct binder_text *text);
void binder_report_transactions(struct binder_text *text);
void binder_report_log(struct binder_text *text, struct binder_log *log);
void binder_report_proc(struct binder_text *text, pid_t pid);

#endif
