// SPDX-License-Identifier: MIT
/* Starting and ending a daemon of our own. */
#include "child.h"
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Long enough for a sanitizer build on a loaded machine. */
#define READY_MS 30000
#define STOP_MS 20000

/**
 * daemon_prepare() - make the private directory
 * Return: false, with a message, if that is impossible.
 */
bool daemon_prepare(struct daemon *d)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(d->base, sizeof(d->base), "%s/binder-test-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(d->base)) {
		perror(d->base);
		return false;
	}
	/* other users must be able to reach the devices */
	chmod(d->base, 0755);
	snprintf(d->mount, sizeof(d->mount), "%s/mnt", d->base);
	snprintf(d->device, sizeof(d->device), "%s/binder", d->mount);
	snprintf(d->log, sizeof(d->log), "%s/log", d->base);
	return !mkdir(d->mount, 0755);
}

/* Further options, separated by spaces; they stay where they are until the exec. */
static int options_add(char **argv, int nr, int max)
{
	const char *more = getenv("ANYBINDERD_OPTIONS");
	char *copy = more ? strdup(more) : NULL;
	char *word = copy ? strtok(copy, " ") : NULL;

	for (; word && nr < max; word = strtok(NULL, " "))
		argv[nr++] = word;
	return nr;
}

static void daemon_exec(const struct daemon *d, int ready)
{
	char *path = getenv("ANYBINDERD");
	char option[32], *argv[16] = { path, (char *)d->mount, option };
	int log, nr = 3;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	log = open(d->log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	close(log);
	snprintf(option, sizeof(option), "--ready-fd=%d", ready);
	if (d->option)
		argv[nr++] = (char *)d->option;
	options_add(argv, nr, 15);
	execv(path, argv);
	dprintf(STDERR_FILENO, "exec %s: %s\n", path, strerror(errno));
	_exit(127);
}

static bool read_ready(int fd)
{
	long long end = test_now_ms() + READY_MS;
	struct pollfd pfd = { fd, POLLIN, 0 };
	char text[16] = "";
	size_t len = 0;

	while (len < 6 && test_now_ms() < end) {
		ssize_t n;

		if (poll(&pfd, 1, 100) <= 0)
			continue;
		n = read(fd, text + len, 6 - len);
		if (n <= 0)
			return false;
		len += n;
	}
	return !strcmp(text, "READY\n");
}

/**
 * daemon_start() - start the daemon and wait until it says it is ready
 * Return: false, with a message, if it does not.
 */
bool daemon_start(struct daemon *d)
{
	int fds[2];
	bool ready;
	char *log;

	if (pipe(fds))
		return false;
	fflush(NULL);
	d->pid = fork();
	if (!d->pid) {
		close(fds[0]);
		daemon_exec(d, fds[1]);
	}
	close(fds[1]);
	ready = read_ready(fds[0]);
	close(fds[0]);
	if (ready)
		return true;
	log = daemon_log(d);
	fprintf(stderr, "the daemon does not get ready; its log:\n%s\n", log ? log : "");
	free(log);
	daemon_discard(d);
	return false;
}

/** daemon_alive() - is it still running? Prints how it ended if not. */
bool daemon_alive(struct daemon *d)
{
	int status;

	if (!d->pid)
		return false;
	if (waitpid(d->pid, &status, WNOHANG) == 0)
		return true;
	fprintf(stderr, "the daemon is dead: %s %d\n", WIFSIGNALED(status) ? "signal" : "exit",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	d->pid = 0;
	return false;
}

/** daemon_mounted() - is its mount point a mount (dead or alive)? */
bool daemon_mounted(const struct daemon *d)
{
	char *text = test_read_file("/proc/self/mountinfo");
	bool found = text && strstr(text, d->mount);

	free(text);
	return found;
}

/**
 * daemon_stop() - SIGTERM; it must end with 0 and leave no mount
 * Return: false, with a message, if not.
 */
bool daemon_stop(struct daemon *d)
{
	int status;
	bool ok = true;

	if (!daemon_alive(d))
		return false;
	kill(d->pid, SIGTERM);
	if (!test_reap(d->pid, &status, STOP_MS / 1000)) {
		fprintf(stderr, "the daemon does not end on SIGTERM\n");
		test_dump_group(d->pid);
		return false;
	}
	d->pid = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "the daemon ended with status %#x\n", status);
		ok = false;
	}
	if (daemon_mounted(d)) {
		fprintf(stderr, "the daemon left its mount at %s\n", d->mount);
		ok = false;
	}
	return ok;
}

/** daemon_discard() - kill it, if it runs, and undo its mount. */
void daemon_discard(struct daemon *d)
{
	int status;

	if (d->pid > 0) {
		kill(d->pid, SIGKILL);
		waitpid(d->pid, &status, 0);
		d->pid = 0;
	}
	if (daemon_mounted(d))
		umount2(d->mount, MNT_DETACH);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	if (remove(path)) {
		umount2(path, MNT_DETACH);
		if (remove(path))
			fprintf(stderr, "%s: %s\n", path, strerror(errno));
	}
	return 0;
}

/** daemon_remove() - remove the private directory and all in it. */
void daemon_remove(struct daemon *d)
{
	nftw(d->base, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/** daemon_log() - all it has printed so far; the caller frees it. */
char *daemon_log(const struct daemon *d)
{
	return test_read_file(d->log);
}
