/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the conformance tests of the kapi. Each file is built twice, against
 * user/kapi and against sim/kapi.
 */
#ifndef TESTS_UNIT_KAPI_CHECK_H
#define TESTS_UNIT_KAPI_CHECK_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <binder_kapi.h>
#include "core/kapi.h"

#define CHECK(cond) do {							\
	if (!(cond)) {								\
		fprintf(stderr, "%s: failed: %s\n", BINDER_SITE, #cond);	\
		exit(1);							\
	}									\
} while (0)

static __thread jmp_buf kapi_fatal_jump;
static __thread bool kapi_fatal_expected;
static __thread char kapi_fatal_text[512];

/* Returning makes the kapi abort, which is right when nothing was expected. */
static void kapi_fatal_hook(const char *text)
{
	if (!kapi_fatal_expected)
		return;
	kapi_fatal_expected = false;
	snprintf(kapi_fatal_text, sizeof(kapi_fatal_text), "%s", text);
	longjmp(kapi_fatal_jump, 1);
}

/**
 * kapi_must_die() - run @fn, which must end in binder_kapi_fatal()
 * @words: part of the message it must end with
 * Return: true if it did; otherwise says what happened instead.
 */
static inline bool kapi_must_die(void (*fn)(void), const char *name, const char *words)
{
	binder_kapi_fatal_hook = kapi_fatal_hook;
	kapi_fatal_text[0] = '\0';
	if (!setjmp(kapi_fatal_jump)) {
		kapi_fatal_expected = true;
		fn();
		kapi_fatal_expected = false;
		fprintf(stderr, "%s: should have been caught and was not\n", name);
		return false;
	}
	if (!strstr(kapi_fatal_text, words)) {
		fprintf(stderr, "%s: caught as \"%s\" instead of \"%s\"\n", name, kapi_fatal_text,
			words);
		return false;
	}
	return true;
}

#define CHECK_DIES(fn, words) CHECK(kapi_must_die(fn, #fn, words))

#endif
