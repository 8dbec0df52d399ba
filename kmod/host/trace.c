// SPDX-License-Identifier: GPL-2.0-only
/* Makes the tracepoints that the other files use. */
#define CREATE_TRACE_POINTS
#include "kmod/host/binder_trace.h"
