// SPDX-License-Identifier: MIT
#include "child.h"

#include "harness.h"
#include "uapi/binder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/** test_now_ms() - monotonic milliseconds. */
long long test_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/** test_sleep_ms() - sleep; for polling, never to order two things. */
void test_sleep_ms(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/** test_gettid() - the calling thread's id. */
pid_t test_gettid(void)
{
	return syscall(SYS_gettid);
}

/**
 * test_read_file() - the whole of a file whose size is not known
 * Return: NUL-terminated text, the caller frees it; NULL if it cannot be read.
 */
char *test_read_file(const char *path)
{
	size_t size = 4096, len = 0;
	char *text;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = malloc(size);
	while (text && (n = read(fd, text + len, size - len - 1)) > 0) {
		len += n;
		if (size - len - 1 < 1024)
			text = realloc(text, size *= 2);
	}
	close(fd);
	if (text)
		text[len] = '\0';
	return text;
}

/** test_status_kb() - a number of /proc/PID/status that is in kB; it must be there. */
long test_status_kb(pid_t pid, const char *name)
{
	char path[64], key[32], *text, *at;
	long kb = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	snprintf(key, sizeof(key), "\n%s:", name);
	text = test_read_file(path);
	at = text ? strstr(text, key) : NULL;
	if (!at || sscanf(at + strlen(key), "%ld kB", &kb) != 1)
		FAIL("no %s in %s", name, path);
	free(text);
	return kb;
}

/** test_share() - zeroed memory that all processes of the case share. */
void *test_share(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(mem != MAP_FAILED);
	return mem;
}

/** test_spawn() - run @fn in a child process, which exits 0 when it returns. */
pid_t test_spawn(void (*fn)(void *arg), void *arg)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	CHECK_GE(pid, 0);
	if (!pid) {
		fn(arg);
		fflush(NULL);
		_exit(0);
	}
	return pid;
}

/**
 * test_reap() - wait for a child, for a bounded time
 * Return: false if it still runs (or cannot die) after @timeout_s.
 */
bool test_reap(pid_t pid, int *status, int timeout_s)
{
	long long end = test_now_ms() + timeout_s * 1000LL;

	for (;;) {
		pid_t got = waitpid(pid, status, WNOHANG);

		if (got == pid)
			return true;
		if (got < 0 && errno != EINTR)
			FAIL("waitpid(%d): %s", pid, strerror(errno));
		if (test_now_ms() > end)
			return false;
		test_sleep_ms(1);
	}
}

/** test_join() - wait for a child that must end by itself and with success. */
void test_join(pid_t pid)
{
	int status;

	if (!test_reap(pid, &status, TEST_WAIT_S)) {
		test_dump_group(getpgrp());
		FAIL("process %d does not end", pid);
	}
	if (WIFSIGNALED(status))
		FAIL("process %d died of signal %d", pid, WTERMSIG(status));
	if (WEXITSTATUS(status) == TEST_SKIP)
		_exit(TEST_SKIP);
	if (WEXITSTATUS(status))
		FAIL("process %d ended with %d", pid, WEXITSTATUS(status));
}

/** test_kill() - kill -9 a child; it must be gone soon, whatever it waits for. */
void test_kill(pid_t pid)
{
	int status;

	CHECK_EQ(kill(pid, SIGKILL), 0);
	if (!test_reap(pid, &status, TEST_WAIT_S)) {
		test_dump_group(getpgrp());
		FAIL("process %d survives SIGKILL, state %c", pid, test_state(pid));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status))
		FAIL("process %d had ended with %d", pid, WEXITSTATUS(status));
}

/** test_thread() - start a thread. */
pthread_t test_thread(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, fn, arg), 0);
	return thread;
}

/** test_thread_join() - wait for a thread that must end by itself. */
void test_thread_join(pthread_t thread)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += TEST_WAIT_S;
	if (pthread_timedjoin_np(thread, NULL, &ts)) {
		test_dump_group(getpgrp());
		FAIL("a thread does not end");
	}
}

/** test_post() - add one to a shared counter and wake who waits for it. */
void test_post(atomic_int *counter)
{
	atomic_fetch_add(counter, 1);
	syscall(SYS_futex, counter, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/** test_set() - set a shared number and wake who waits for it. */
void test_set(atomic_int *number, int value)
{
	atomic_store(number, value);
	syscall(SYS_futex, number, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/** test_await_at() - wait until a shared counter reaches @min; see test_await(). */
void test_await_at(const char *file, int line, const char *what, atomic_int *counter, int min)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;
	struct timespec slice = { 0, 50 * 1000000L };
	int seen;

	while ((seen = atomic_load(counter)) < min) {
		if (test_failed())
			_exit(1);
		if (test_now_ms() > end) {
			test_dump_group(getpgrp());
			test_fail(file, line, "%s stays at %d, wanted %d", what, seen, min);
		}
		syscall(SYS_futex, counter, FUTEX_WAIT, seen, &slice, NULL, 0);
	}
}

/** test_eventually_at() - poll until @fn returns true; see test_eventually(). */
void test_eventually_at(const char *file, int line, const char *what, bool (*fn)(void *arg),
			void *arg)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;

	while (!fn(arg)) {
		if (test_failed())
			_exit(1);
		if (test_now_ms() > end)
			test_fail(file, line, "%s does not become true", what);
		test_sleep_ms(2);
	}
}

/** test_state() - the state letter of a task, '?' if there is no such task. */
char test_state(pid_t tid)
{
	char path[64], *text, *p, state = '?';

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	text = test_read_file(path);
	if (!text)
		return '?';
	p = strrchr(text, ')');
	if (p && p[1] == ' ')
		state = p[2];
	free(text);
	return state;
}

/* Asleep in BINDER_WRITE_READ? Kernels without /proc/TID/syscall: asleep at all. */
static bool task_in_binder(pid_t tid)
{
	unsigned long fd, cmd;
	char path[64], *text;
	bool in = false;
	long nr;

	if (test_state(tid) != 'S')
		return false;
	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	text = test_read_file(path);
	if (!text)
		return true;
	if (sscanf(text, "%ld %lx %lx", &nr, &fd, &cmd) == 3)
		in = nr == SYS_ioctl && (unsigned int)cmd == (unsigned int)BINDER_WRITE_READ;
	free(text);
	return in;
}

/**
 * test_await_blocked() - wait until a task sleeps in BINDER_WRITE_READ
 * Asleep in several looks one after the other, so that a task that only
 * passes through is not taken for one that waits.
 */
void test_await_blocked(pid_t tid)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;
	int seen = 0;

	while (seen < 4) {
		seen = task_in_binder(tid) ? seen + 1 : 0;
		if (test_failed())
			_exit(1);
		if (test_now_ms() > end) {
			test_dump_group(getpgrp());
			FAIL("task %d does not come to wait in the driver", tid);
		}
		test_sleep_ms(3);
	}
}

static void dump_file(int pid, const char *tid, const char *name)
{
	char path[128], *text;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", pid, tid, name);
	text = test_read_file(path);
	fprintf(stderr, "    %-8s %s%s", name, text && *text ? text : "-",
		text && strchr(text, '\n') ? "" : "\n");
	free(text);
}

static void dump_process(int pid)
{
	struct dirent *de;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (de = readdir(dir))) {
		if (de->d_name[0] == '.')
			continue;
		fprintf(stderr, "  process %d task %s state %c%s\n", pid, de->d_name,
			test_state(atoi(de->d_name)),
			test_state(atoi(de->d_name)) == 'D' ? " (uninterruptible)" : "");
		dump_file(pid, de->d_name, "wchan");
		dump_file(pid, de->d_name, "syscall");
		dump_file(pid, de->d_name, "stack");
	}
	if (dir)
		closedir(dir);
}

/** test_dump_group() - print where every task of a process group is. */
void test_dump_group(pid_t pgid)
{
	struct dirent *de;
	DIR *dir = opendir("/proc");

	while (dir && (de = readdir(dir))) {
		pid_t pid = atoi(de->d_name);

		if (pid > 0 && getpgid(pid) == pgid)
			dump_process(pid);
	}
	if (dir)
		closedir(dir);
}
