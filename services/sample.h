/* SPDX-License-Identifier: MIT */
/* What the sample service is called, and what it understands. */
#ifndef SAMPLE_H
#define SAMPLE_H

#define SAMPLE_NAME "org.anybinder.sample"
#define SAMPLE_INTERFACE "org.anybinder.ISample"

/* Requests begin with the interface's token, replies with a status, as AIDL's do. */
enum {
	SAMPLE_ECHO = 1, /* String16 -> String16 */
	SAMPLE_ADD = 2,	 /* int32, int32 -> int32 */
	SAMPLE_WHO = 3,	 /* -> int32 pid, int32 euid of the caller */
	SAMPLE_CALL_BACK = 4, /* object: is called with SAMPLE_HELLO, one-way */
};

#define SAMPLE_LISTENER_INTERFACE "org.anybinder.ISampleListener"

enum {
	SAMPLE_HELLO = 1, /* String16 */
};

#endif
