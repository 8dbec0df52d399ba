/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints, trace_binder_x(): real ones in a kernel, nothing elsewhere. */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include <binder_trace.h>

#endif
