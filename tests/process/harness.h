/* SPDX-License-Identifier: MIT */
/*
 * Runs named cases against one binder driver, each case in a process group of
 * its own, and checks after each that the driver is as it was before.
 *
 * Which driver: BINDER_DIR names the directory with the devices. Without it
 * the harness starts the daemon that ANYBINDERD names, in a private directory,
 * and also watches its log, its descriptors and its end.
 *
 * A case is a function that returns, or ends in a failed CHECK or test_skip().
 * A CHECK that fails in any process or thread of the case fails the case.
 */
#ifndef TESTS_PROCESS_HARNESS_H
#define TESTS_PROCESS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define TEST_SKIP 77

/* Bound of every wait for something that must happen: shorter than that of a case. */
#define TEST_WAIT_S test_wait_s()
/* Bound of a case. */
#define TEST_CASE_S 60

/* struct test_case.flags */
#define TEST_QUICK 0x1 /* also in the quick tier */
#define TEST_OWN_DAEMON 0x2 /* only runs when the harness starts the daemon */
#define TEST_LONG 0x4 /* five times the time bound */
#define TEST_ENDLESS 0x8 /* none: it watches itself */

/**
 * struct test_case - one case
 * @name: test_<thing>_<condition>_<expectation>
 */
struct test_case {
	const char *name;
	void (*fn)(void);
	unsigned int flags;
};

#define CASE(fn) { #fn, fn, 0 }
#define QUICK(fn) { #fn, fn, TEST_QUICK }
#define CASE_FLAGS(fn, flags) { #fn, fn, flags }

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

int test_main(int argc, char **argv, const struct test_case *cases, size_t nr);

#define TEST_MAIN(cases)                                                  \
	int main(int argc, char **argv)                                   \
	{                                                                 \
		return test_main(argc, argv, cases, ARRAY_SIZE(cases));   \
	}

void test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void test_skip(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
bool test_failed(void);
int test_wait_s(void);

#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(cond)                                    \
	do {                                           \
		if (!(cond))                           \
			FAIL("not true: %s", #cond);   \
	} while (0)

#define CHECK_OP(a, op, b)                                                        \
	do {                                                                      \
		long long a_ = (long long)(a);                                    \
		long long b_ = (long long)(b);                                    \
		if (!(a_ op b_))                                                  \
			FAIL("%s is %lld, wanted %s %lld (%s)", #a, a_, #op, b_, #b); \
	} while (0)

#define CHECK_EQ(a, b) CHECK_OP(a, ==, b)
#define CHECK_NE(a, b) CHECK_OP(a, !=, b)
#define CHECK_LE(a, b) CHECK_OP(a, <=, b)
#define CHECK_GE(a, b) CHECK_OP(a, >=, b)

#define CHECK_MEM(got, want, n)                                                    \
	do {                                                                       \
		if (memcmp(got, want, n))                                          \
			FAIL("%zu bytes of %s differ from %s", (size_t)(n), #got, #want); \
	} while (0)

#endif
