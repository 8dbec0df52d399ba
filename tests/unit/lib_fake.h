/* SPDX-License-Identifier: MIT */
/*
 * A scripted driver in place of lib/sys.c.
 *
 * A device is opened by a path of one letter. Each read of it is answered with
 * the next step of its script, and waits for ab_stop() when there is none.
 * What the library writes becomes text:
 *
 *   rw:FREE(0) REPLY(4 43 defer)   one ioctl that also reads
 *   w:EXIT                         one that only writes
 *   ~CALL(...)                     offered, but not taken by this ioctl
 *
 * Received data lies in memory of its own, given back at BC_FREE_BUFFER, so
 * that the address sanitizer sees who looks at it too long.
 */
#ifndef TESTS_UNIT_LIB_FAKE_H
#define TESTS_UNIT_LIB_FAKE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/anybinder.h"
#include "uapi/binder.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define CHECK(cond) do {								\
	if (!(cond)) {									\
		fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #cond);	\
		exit(1);								\
	}										\
} while (0)

#define CHECK_EQ(a, b) do {								\
	long long a_ = (long long)(a), b_ = (long long)(b);				\
	if (a_ != b_) {									\
		fprintf(stderr, "%s:%d: %s is %lld, wanted %lld\n", __FILE__, __LINE__,	\
			#a, a_, b_);							\
		exit(1);								\
	}										\
} while (0)

#define CHECK_STR(a, b) do {								\
	const char *a_ = (a), *b_ = (b);						\
	if (strcmp(a_, b_)) {								\
		fprintf(stderr, "%s:%d: %s is\n%s\nwanted\n%s\n", __FILE__, __LINE__,	\
			#a, a_, b_);							\
		exit(1);								\
	}										\
} while (0)

/** CHECK_LOG() - what was written since the last time, and forget it */
#define CHECK_LOG(fake, want) do {							\
	CHECK_STR((fake)->log, want);							\
	(fake)->log_len = 0;								\
	(fake)->log[0] = '\0';								\
} while (0)

struct fake_case {
	const char *name;
	void (*run)(void);
};

#define FAKE_HANDLES 32

#define FAKE_CASE(fn) { #fn, fn }

#define FAKE_MAIN(tests)								\
	int main(void)									\
	{										\
		for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {			\
			fake_reset();							\
			(tests)[i].run();						\
			fake_reset();							\
			printf("ok %s\n", (tests)[i].name);				\
			fflush(stdout);							\
		}									\
		return 0;								\
	}

/**
 * struct fake_step - the answer to one reading ioctl
 * @take: how many commands it takes; all when negative
 * @hook: called before the ioctl returns, without a lock
 */
struct fake_step {
	uint8_t in[1024];
	size_t len;
	int ret;
	int take;
	void (*hook)(void);
};

struct fake {
	pthread_mutex_t lock; /* guards all but the settings */
	pthread_cond_t changed;
	struct fake_step steps[24];
	size_t nr_steps, next_step;
	char log[8192];
	size_t log_len;
	unsigned int kicks; /* each makes the next read of every thread return */
	uint64_t cookies[FAKE_HANDLES]; /* of the last death request for a handle */
	/* what the library has taken and not given back; of the first handles */
	int strong[FAKE_HANDLES], weak[FAKE_HANDLES];
	atomic_uint opened, closed, mapped, unmapped;
	unsigned int registered, exited, threads_gone;
	unsigned int asleep; /* threads that read where the script has nothing more */
	size_t map_size;
	uint32_t max_threads;
	/* settings */
	bool quiet; /* nothing is logged */
	int open_error, map_error, version_error, max_threads_error, manager_error;
	int write_error; /* of the next ioctl that only writes, which takes nothing then */
	int32_t version;
	struct binder_extended_error extended;
	struct binder_node_info_for_ref node_info;
	int node_info_error;
};

/* What receives an object with a handle, and never says anything; see fake_proxy(). */
#define FAKE_TARGET 5

void fake_reset(void);
struct fake *fake_at(const char *path);
struct fake_step *fake_step(struct fake *fake);
void fake_return(struct fake_step *step, uint32_t cmd, const void *payload);
unsigned int fake_incoming(struct fake_step *step, uint32_t cmd, ab_object *object,
			   uint32_t flags, const ab_parcel *parcel);
void fake_complete(struct fake *fake);
struct fake_step *fake_step_reply(struct fake *fake, const ab_parcel *reply);
void fake_return_death(struct fake_step *step, struct fake *fake, uint32_t handle);
void fake_return_reference(struct fake_step *step, uint32_t cmd, ab_object *object);
void fake_write_handle(ab_parcel *parcel, uint32_t type, uint32_t handle);
ab_parcel *fake_parcel(int32_t value);
ab_object *fake_proxy(ab_conn *conn, uint32_t handle);
void fake_wait_log(struct fake *fake, const char *want);
void fake_wait_asleep(struct fake *fake, unsigned int nr);
void fake_wait_registered(struct fake *fake, unsigned int nr);
unsigned int fake_buffers_live(void);
void fake_forget_buffers(void);

#endif
