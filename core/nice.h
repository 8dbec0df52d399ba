/* SPDX-License-Identifier: GPL-2.0-only */
/* Priority inheritance as mainline has it: nice values only (uapi 2.14). */
#ifndef CORE_NICE_H
#define CORE_NICE_H

#include "core/kapi.h"

struct binder_node;
struct binder_thread;
struct binder_transaction;

int binder_nice_wanted(struct binder_thread *thread, const struct binder_node *node, bool sync);
void binder_nice_inherit(struct binder_thread *thread, struct binder_transaction *t);
void binder_nice_restore(struct binder_thread *thread, const struct binder_transaction *call);

#endif
