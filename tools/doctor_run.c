// SPDX-License-Identifier: MIT
/*
 * The checks, in a process of their own. A device may hang for ever, with the daemon behind it or
 * with the context manager: then the process is killed, the check has found that, and the others
 * go on in the next process.
 */
#include "tools/doctor.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In an order in which the first problem is the one to mend first. */
static const struct {
	const char *name;
	check_fn *run;
} checks[] = {
	{ "device", check_device },
	{ "bind mount", check_bind_mount },
	{ "open", check_open },
	{ "protocol", check_protocol },
	{ "mapping", check_mapping },
	{ "self test", check_self_test },
	{ "context manager", check_manager },
	{ "Android", check_variant },
	{ "driver", check_driver },
	{ "permissions", check_permissions },
	{ "extended errors", check_errors },
	{ "logs", check_logs },
	{ "binderfs", check_binderfs },
	{ "kernel driver", check_kernel_driver },
	{ "modules", check_modules },
	{ "Secure Boot", check_secure_boot },
	{ "FUSE", check_fuse },
	{ "passthrough", check_passthrough },
	{ "FUSE timeouts", check_timeouts },
	{ "ptrace", check_ptrace },
	{ "capabilities", check_capabilities },
	{ "namespaces", check_namespaces },
	{ "container", check_container },
	{ "security module", check_security },
	{ "WSL", check_wsl },
};

#define NR_CHECKS (sizeof(checks) / sizeof(*checks))

/** struct report - of a check: what it found, and what is known of the patient now */
struct report {
	struct finding finding;
	struct doctor doctor;
};

_Static_assert(sizeof(struct report) <= PIPE_BUF, "written as a whole");

/* The child. What it leaves open ends with it. */
static void report_all(struct doctor *d, size_t next, int fd)
{
	struct report report;

	for (; next < NR_CHECKS; next++) {
		memset(&report, 0, sizeof(report));
		checks[next].run(d, &report.finding);
		report.doctor = *d;
		if (write(fd, &report, sizeof(report)) != (ssize_t)sizeof(report))
			_exit(1);
	}
	_exit(0);
}

/* Return: 0; -ETIMEDOUT: it hangs; -EPIPE: the child has ended. */
static int next_report(const struct doctor *d, int fd, struct report *report)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	int ret = poll(&poll_fd, 1, d->timeout_s * 1000);

	if (ret < 0)
		return -errno;
	if (!ret)
		return -ETIMEDOUT;
	return read(fd, report, sizeof(*report)) == (ssize_t)sizeof(*report) ? 0 : -EPIPE;
}

static void found_nothing(struct doctor *d, size_t check, int error, struct finding *f)
{
	bool manager = checks[check].run == check_manager;

	*f = (struct finding){ .outcome = OUTCOME_PROBLEM };
	if (error != -ETIMEDOUT) {
		find(f, OUTCOME_PROBLEM, "the check itself ended: a mistake in anybinder doctor");
		mend(f, "anybinder --version  # and report it");
	} else if (manager) {
		find(f, OUTCOME_PROBLEM, "it does not answer within %d seconds: it hangs, or its "
		     "threads are all busy", d->timeout_s);
		mend(f, "systemctl restart anybinder-servicemanager@binder  # or end it, and start it "
		     "again");
	} else {
		find(f, OUTCOME_PROBLEM, "no answer within %d seconds: whoever serves it hangs",
		     d->timeout_s);
		mend(f, "systemctl restart anybinderd  # or kill -9 its process, and start it again");
	}
	/* What would hang again is left out. */
	d->silent = manager;
	if (!manager) {
		d->speaks = d->works = false;
		d->device = NULL;
	}
}

/* In one process, up to a check that says nothing. Return: the next check; negative: -errno. */
static int run_some(struct doctor *d, size_t next, finding_fn *fn, void *data)
{
	struct report report;
	int ret, fds[2];
	pid_t child;

	if (pipe(fds))
		return -errno;
	child = fork();
	if (child < 0) {
		ret = -errno;
		close(fds[0]);
		close(fds[1]);
		return ret;
	}
	if (!child)
		report_all(d, next, fds[1]);
	close(fds[1]);
	for (ret = 0; next < NR_CHECKS && !ret; next++) {
		ret = next_report(d, fds[0], &report);
		if (!ret)
			*d = report.doctor;
		else
			found_nothing(d, next, ret, &report.finding);
		fn(data, checks[next].name, &report.finding);
	}
	close(fds[0]);
	/* Where it waits even that may not end it at once. */
	kill(child, SIGKILL);
	waitpid(child, NULL, ret ? WNOHANG : 0);
	d->fd = -1;
	return (int)next;
}

int doctor_run(struct doctor *d, finding_fn *fn, void *data)
{
	int next = 0;

	fflush(stdout);
	while (next >= 0 && next < (int)NR_CHECKS)
		next = run_some(d, (size_t)next, fn, data);
	return next < 0 ? next : 0;
}
