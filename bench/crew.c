// SPDX-License-Identifier: MIT
#include "bench/crew.h"

#include "bench/pin.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

/** crew_catch_signals() - let SIGINT and SIGTERM end a measurement in good order. */
void crew_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

/** crew_interrupted() - Return: the signal that asked us to end, or 0. */
int crew_interrupted(void)
{
	return interrupted;
}

/** clock_ns() - monotonic time. */
uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/**
 * crew_new() - an empty crew
 * @pin: all its processes are to run on one CPU
 * Return: for crew_free(); NULL, with a message, when out of memory.
 */
struct crew *crew_new(bool pin)
{
	struct crew *crew = mmap(NULL, sizeof(*crew), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (crew == MAP_FAILED) {
		fprintf(stderr, "anybinder: memory for the measurement: %s\n", strerror(errno));
		return NULL;
	}
	crew->cpu = pin ? pin_cpu() : -1;
	return crew;
}

static void child_run(struct crew *crew, struct member *me, pid_t parent, crew_fn *fn, void *arg)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (crew->cpu >= 0 && pin_self(crew->cpu))
		crew_fail(me, "pin to CPU %d: %s", crew->cpu, strerror(errno));
	fn(crew, me, arg);
	_exit(0);
}

/**
 * crew_start() - fork a member
 * @client: the measurement lasts until it ends
 * @fn: runs in the new process, pinned if the crew is
 * Return: its place, or NULL with a message.
 */
struct member *crew_start(struct crew *crew, bool client, crew_fn *fn, void *arg)
{
	struct member *m = &crew->members[crew->count];
	pid_t parent = getpid(), pid;

	if (crew->count == CREW_MAX) {
		fprintf(stderr, "anybinder: more than %d processes\n", CREW_MAX);
		return NULL;
	}
	m->client = client;
	/* buffered output must not leave twice */
	fflush(NULL);
	/* not m->pid = fork(): the child would write there too */
	pid = fork();
	if (!pid)
		child_run(crew, m, parent, fn, arg);
	if (pid < 0) {
		fprintf(stderr, "anybinder: fork: %s\n", strerror(errno));
		return NULL;
	}
	m->pid = pid;
	m->pidfd = pidfd_open(pid, 0);
	crew->count++;
	return m;
}

static void member_reap(struct member *m, int *status)
{
	while (waitpid(m->pid, status, 0) < 0 && errno == EINTR)
		;
	if (m->pidfd >= 0)
		close(m->pidfd);
	m->pid = 0;
}

/* The words of the first member that has some, or how this one ended. */
static void report_end(struct crew *crew, const struct member *m, int status)
{
	for (int i = 0; i < crew->count; i++) {
		if (crew->members[i].error[0]) {
			fprintf(stderr, "anybinder: %.*s\n", (int)sizeof(m->error),
				crew->members[i].error);
			return;
		}
	}
	if (WIFSIGNALED(status))
		fprintf(stderr, "anybinder: a process of the measurement died: %s\n",
			strsignal(WTERMSIG(status)));
	else
		fprintf(stderr, "anybinder: a process of the measurement ended early, status %d\n",
			WEXITSTATUS(status));
}

/* Wait for any member to end. Return: it; NULL on time-out or signal. */
static struct member *wait_any(struct crew *crew, uint64_t deadline_ns)
{
	struct pollfd fds[CREW_MAX];
	struct member *who[CREW_MAX];
	int n = 0, ready;
	uint64_t now = clock_ns();

	for (int i = 0; i < crew->count; i++) {
		if (!crew->members[i].pid)
			continue;
		fds[n] = (struct pollfd){ crew->members[i].pidfd, POLLIN, 0 };
		who[n++] = &crew->members[i];
	}
	ready = now < deadline_ns ? poll(fds, n, (deadline_ns - now) / 1000000 + 1) : 0;
	for (int i = 0; i < n && ready > 0; i++) {
		if (fds[i].revents)
			return who[i];
	}
	if (!interrupted)
		fprintf(stderr, "anybinder: the measurement does not end: %s\n",
			ready < 0 ? strerror(errno) : "time is up");
	return NULL;
}

static int clients_left(const struct crew *crew)
{
	int n = 0;

	for (int i = 0; i < crew->count; i++)
		n += crew->members[i].client && crew->members[i].pid;
	return n;
}

static void kill_all(struct crew *crew)
{
	int status;

	for (int i = 0; i < crew->count; i++) {
		if (crew->members[i].pid)
			kill(crew->members[i].pid, SIGKILL);
	}
	for (int i = 0; i < crew->count; i++) {
		if (crew->members[i].pid)
			member_reap(&crew->members[i], &status);
	}
}

/**
 * crew_wait() - until all clients ended, then kill the others
 * Return: 0; -1, with a message unless a signal interrupted us. No member lives afterwards.
 */
int crew_wait(struct crew *crew, int timeout_s)
{
	uint64_t deadline = clock_ns() + (uint64_t)timeout_s * 1000000000;
	int status = 0, err = 0;

	while (!err && clients_left(crew)) {
		struct member *m = interrupted ? NULL : wait_any(crew, deadline);

		if (!m) {
			err = -1;
			break;
		}
		member_reap(m, &status);
		if (!m->client || status) {
			report_end(crew, m, status);
			err = -1;
		}
	}
	kill_all(crew);
	return err;
}

/** crew_free() - also kills what was started and not waited for. */
void crew_free(struct crew *crew)
{
	kill_all(crew);
	munmap(crew, sizeof(*crew));
}

/**
 * crew_meet() - wait until @parties members are at @point
 * Each point is used once. A member that fails instead ends the measurement.
 */
void crew_meet(struct crew *crew, int point, int parties)
{
	uint32_t *word = &crew->arrived[point];
	uint32_t seen = __atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);

	if (seen >= (uint32_t)parties)
		syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	while (seen < (uint32_t)parties) {
		syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
		seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
	}
}

/** crew_fail() - end this process, with words for the parent to print. */
void crew_fail(struct member *me, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(me->error, sizeof(me->error), format, ap);
	va_end(ap);
	_exit(1);
}
