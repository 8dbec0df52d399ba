// SPDX-License-Identifier: MIT
#include "harness.h"

#include "child.h"
#include "driver.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum outcome { PASSED, FAILED, SKIPPED };

/* Shared by all processes of a case. */
static struct {
	atomic_int failed;
} *shared;

/**
 * test_fail() - say why and end the process; the case fails
 * The harness sees the flag and ends the rest of the case.
 */
void test_fail(const char *file, int line, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "  %s:%d: process %d task %d: %s\n", strrchr(file, '/') ?
		strrchr(file, '/') + 1 : file, line, getpid(), test_gettid(), text);
	fflush(stderr);
	if (shared)
		atomic_store(&shared->failed, 1);
	_exit(1);
}

/** test_skip() - say why and end the process; the case is skipped if it is the leader. */
void test_skip(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "  skipped: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	fflush(stderr);
	_exit(TEST_SKIP);
}

/** test_failed() - has some process of the case failed? */
bool test_failed(void)
{
	return shared && atomic_load(&shared->failed);
}

/* Kills the case's process group; false if a process of it survives. */
static bool end_group(pid_t pgid)
{
	long long end = test_now_ms() + 20000;
	int status;

	for (;;) {
		pid_t got;

		kill(-pgid, SIGKILL);
		while ((got = waitpid(-pgid, &status, WNOHANG)) > 0)
			;
		if (got < 0 && errno == ECHILD)
			return true;
		if (test_now_ms() > end)
			break;
		test_sleep_ms(2);
	}
	fprintf(stderr, "  processes of the case survive SIGKILL:\n");
	test_dump_group(pgid);
	return false;
}

static int limit_s(void)
{
	const char *given = getenv("TEST_CASE_SECONDS");

	return given && atoi(given) > 0 ? atoi(given) : TEST_CASE_S;
}

/** test_wait_s() - seconds that something may take which must happen; slow guests get more */
int test_wait_s(void)
{
	return limit_s() * 2 / 3;
}

static int case_limit_s(const struct test_case *c)
{
	if (c->flags & TEST_ENDLESS)
		return INT_MAX;
	return c->flags & TEST_LONG ? 5 * limit_s() : limit_s();
}

/* Waits for the leader of the case. */
static enum outcome watch_leader(pid_t pid, const struct test_case *c)
{
	long long end = test_now_ms() + case_limit_s(c) * 1000LL;
	int status, nap = 1;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (test_failed()) {
			test_sleep_ms(50);
			return FAILED;
		}
		if (test_now_ms() > end) {
			fprintf(stderr, "  hangs; its tasks:\n");
			test_dump_group(pid);
			return FAILED;
		}
		test_sleep_ms(nap);
		nap = nap < 10 ? nap + 1 : 10;
	}
	if (test_failed())
		return FAILED;
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "  died of signal %d\n", WTERMSIG(status));
		return FAILED;
	}
	if (WEXITSTATUS(status) == TEST_SKIP)
		return SKIPPED;
	return WEXITSTATUS(status) ? FAILED : PASSED;
}

static enum outcome run_case(const struct test_case *c)
{
	enum outcome outcome;
	pid_t pid;

	if (c->flags & TEST_OWN_DAEMON && !driver_is_own()) {
		fprintf(stderr, "  skipped: about the daemon, and the driver is another\n");
		return SKIPPED;
	}
	atomic_store(&shared->failed, 0);
	driver_snapshot();
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		c->fn();
		fflush(NULL);
		_exit(0);
	}
	setpgid(pid, pid);
	outcome = watch_leader(pid, c);
	if (!end_group(pid)) {
		driver_restart_after_crash();
		end_group(pid);
		return FAILED;
	}
	if (!driver_check())
		outcome = FAILED;
	if (driver_is_own() && (outcome == FAILED || !driver_own_pid())) {
		char *log = driver_own_log();

		fprintf(stderr, "  the daemon's log ends:\n%s\n",
			log && strlen(log) > 4000 ? log + strlen(log) - 4000 : log);
		free(log);
		driver_restart_after_crash();
	}
	return outcome;
}

static bool wanted(const struct test_case *c, int argc, char **argv, bool quick)
{
	bool named = false;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		named = true;
		if (!fnmatch(argv[i], c->name, 0))
			return true;
	}
	return !named && (!quick || c->flags & TEST_QUICK);
}

static int usage(const char *prog)
{
	printf("%s [--list] [--quick] [--repeat=N] [CASE...]\n"
	       "  CASE may be a pattern. BINDER_DIR names the devices' directory; without it\n"
	       "  ANYBINDERD names the daemon to start. Exit: 0 passed, 77 skipped, else failed.\n"
	       "  TEST_CASE_SECONDS: bound of a case; TEST_SEED: of garbage; TEST_KEEP: leave the\n"
	       "  private directory with the daemon's log.\n",
	       prog);
	return 0;
}

static int list_cases(const struct test_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		printf("%s%s\n", cases[i].name, cases[i].flags & TEST_QUICK ? " quick" : "");
	return 0;
}

/* A mount of ours must not outlive us, nor be seen by others. */
static void hide_mounts(void)
{
	if (!unshare(CLONE_NEWNS))
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static int run_all(int argc, char **argv, const struct test_case *cases, size_t nr, bool quick)
{
	static const char *const words[] = { "ok", "FAILED", "skipped" };
	int count[3] = { 0, 0, 0 };

	for (size_t i = 0; i < nr; i++) {
		long long start = test_now_ms();
		enum outcome outcome;

		if (!wanted(&cases[i], argc, argv, quick))
			continue;
		fprintf(stderr, "%s\n", cases[i].name);
		outcome = run_case(&cases[i]);
		count[outcome]++;
		fprintf(stderr, "  %s (%lld ms)\n", words[outcome], test_now_ms() - start);
	}
	fprintf(stderr, "%d passed, %d failed, %d skipped\n", count[PASSED], count[FAILED],
		count[SKIPPED]);
	if (count[FAILED])
		return 1;
	return count[PASSED] || !count[SKIPPED] ? 0 : TEST_SKIP;
}

/** test_main() - the whole program: options, driver, cases. Return: exit status. */
int test_main(int argc, char **argv, const struct test_case *cases, size_t nr)
{
	bool quick = false;
	int ret = 0, repeat = 1;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--list"))
			return list_cases(cases, nr);
		if (!strcmp(argv[i], "--quick"))
			quick = true;
		else if (!strncmp(argv[i], "--repeat=", 9))
			repeat = atoi(argv[i] + 9);
		else if (argv[i][0] == '-')
			return usage(argv[0]);
	}
	setvbuf(stderr, NULL, _IOLBF, 4096);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	if (!getenv("BINDER_DIR"))
		hide_mounts();
	if (!driver_open())
		return 1;
	while (repeat-- > 0 && ret != 1)
		ret = run_all(argc, argv, cases, nr, quick);
	if (!driver_close())
		ret = 1;
	return ret;
}
