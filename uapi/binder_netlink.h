/* SPDX-License-Identifier: MIT */
/*
 * The generic netlink family "binder", or "anybinder" where another driver has
 * that name: one message for each transaction that failed, to the multicast
 * group "report". There are no requests.
 */
#ifndef UAPI_BINDER_NETLINK_H
#define UAPI_BINDER_NETLINK_H

#define BINDER_FAMILY_NAME	"binder"
#define BINDER_FAMILY_VERSION	1
#define BINDER_MCGRP_REPORT	"report"

enum {
	BINDER_A_REPORT_ERROR = 1,	/* u32: the BR_ code that the sender, or caller, got */
	BINDER_A_REPORT_CONTEXT,	/* string: the device's name */
	BINDER_A_REPORT_FROM_PID,	/* u32, as in the initial pid namespace, like all here */
	BINDER_A_REPORT_FROM_TID,	/* u32 */
	BINDER_A_REPORT_TO_PID,		/* u32; absent when there was no target */
	BINDER_A_REPORT_TO_TID,		/* u32; absent when it was to no certain thread */
	BINDER_A_REPORT_IS_REPLY,	/* flag */
	BINDER_A_REPORT_FLAGS,		/* u32: TF_ */
	BINDER_A_REPORT_CODE,		/* u32 */
	BINDER_A_REPORT_DATA_SIZE,	/* u32: bytes */

	BINDER_A_REPORT_END,
	BINDER_A_REPORT_MAX = BINDER_A_REPORT_END - 1
};

enum {
	BINDER_CMD_REPORT = 1,
};

#endif
