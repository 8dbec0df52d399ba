// SPDX-License-Identifier: GPL-2.0-only
/* Strings, messages, the rate limit, warnings. */
#include "kapi_check.h"

static char last[2048];
static int last_level;
static unsigned int messages;
static u64 now_ms;

static void log_keep(int level, const char *text)
{
	snprintf(last, sizeof(last), "%s", text);
	last_level = level;
	messages++;
}

static u64 clock_ms(void)
{
	return now_ms;
}

static void test_strscpy_fits_or_cuts(void)
{
	char buf[8];

	memset(buf, 'x', sizeof(buf));
	CHECK(strscpy(buf, "", sizeof(buf)) == 0 && !buf[0] && buf[1] == 'x');
	CHECK(strscpy(buf, "1234567", sizeof(buf)) == 7 && !strcmp(buf, "1234567"));
	CHECK(strscpy(buf, "12345678", sizeof(buf)) == -E2BIG && !strcmp(buf, "1234567"));
	CHECK(strscpy(buf, "abc", 1) == -E2BIG && !buf[0]);
	buf[0] = 'x';
	CHECK(strscpy(buf, "abc", 0) == -E2BIG && buf[0] == 'x');
}

static __printf(3, 4) int format(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vscnprintf(buf, size, fmt, args);
	va_end(args);
	return len;
}

static void test_vscnprintf_returns_what_was_stored(void)
{
	char buf[8];

	CHECK(format(buf, sizeof(buf), "%d", 123) == 3 && !strcmp(buf, "123"));
	CHECK(format(buf, sizeof(buf), "%s", "1234567") == 7);
	CHECK(format(buf, sizeof(buf), "%s", "123456789") == 7 && !strcmp(buf, "1234567"));
	CHECK(format(buf, 1, "%s", "abc") == 0 && !buf[0]);
	CHECK(format(NULL, 0, "%s", "abc") == 0);
}

static void test_log_reaches_hook_whole(void)
{
	char longer[3000];

	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	pr_info("number %d\n", 7);
	CHECK(last_level == BINDER_KAPI_INFO && !strcmp(last, "number 7\n"));
	pr_info("%s", longer);
	CHECK(strlen(last) > 500 && strlen(last) < sizeof(last) - 1);
}

static void limited(int value)
{
	pr_warn_ratelimited("limited %d\n", value);
}

static void test_ratelimit_is_ten_in_five_seconds(void)
{
	now_ms = 1000000;
	messages = 0;
	for (int i = 0; i < 100; i++)
		limited(i);
	CHECK(messages == 10 && !strcmp(last, "limited 9\n"));
	now_ms += 4999;
	limited(100);
	CHECK(messages == 10);
	now_ms += 1;
	limited(101);
	/* One line more: what was missed. */
	CHECK(messages == 12 && !strcmp(last, "limited 101\n"));
	/* Another place has a limit of its own. */
	pr_err_ratelimited("other\n");
	CHECK(messages == 13 && last_level == BINDER_KAPI_ERR);
	pr_info_ratelimited("other\n");
	CHECK(messages == 14 && last_level == BINDER_KAPI_INFO);
}

static bool warn_once(bool cond)
{
	return WARN_ON_ONCE(cond);
}

static void test_warnings_are_counted(void)
{
	messages = 0;
	CHECK(!WARN_ON(0));
	CHECK(!warn_once(false));
	CHECK(binder_kapi_warnings == 0 && messages == 0);
	for (int i = 0; i < 3; i++)
		CHECK(warn_once(true));
	CHECK(binder_kapi_warnings == 3 && messages == 1);
	CHECK(strstr(last, "kapi_text.c:") && strstr(last, "cond"));
	for (int i = 0; i < 3; i++)
		CHECK(WARN_ON(i + 1));
	CHECK(binder_kapi_warnings == 6 && messages == 4);
	binder_kapi_warnings = 0;
}

static void die(void)
{
	binder_kapi_fatal("number %d", 42);
}

int main(void)
{
	binder_kapi_log_hook = log_keep;
	binder_kapi_clock_ms = clock_ms;
	test_strscpy_fits_or_cuts();
	test_vscnprintf_returns_what_was_stored();
	test_log_reaches_hook_whole();
	test_ratelimit_is_ten_in_five_seconds();
	test_warnings_are_counted();
	CHECK_DIES(die, "number 42");
	return 0;
}
