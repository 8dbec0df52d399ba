/* SPDX-License-Identifier: MIT */
/* What the sample service understands. */
#ifndef SAMPLE_H
#define SAMPLE_H

enum {
	SAMPLE_ECHO = 1, /* String16 -> String16 */
	SAMPLE_ADD = 2,	 /* int32, int32 -> int32 */
	SAMPLE_WHO = 3,	 /* -> int32 pid, int32 euid of the caller */
};

#endif
