// SPDX-License-Identifier: MIT
/* The program: options, what it tells systemd, its end. */
#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Run it with one option. Return: its exit status; @text: all that it printed. */
static int run(const char *option, char *text, size_t size)
{
	const char *program = getenv("SERVICEMANAGER");
	int fd = memfd_create("output", MFD_CLOEXEC), status;
	pid_t pid = fork();

	if (!pid) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execl(program, program, option, NULL);
		_exit(127);
	}
	CHECK(test_reap(pid, &status, TEST_WAIT_S));
	CHECK(WIFEXITED(status));
	memset(text, 0, size);
	CHECK_OP(pread(fd, text, size - 1, 0), >=, 0);
	close(fd);
	return WEXITSTATUS(status);
}

static void test_options_are_checked(void)
{
	static const char *const wrong[] = { "--android=7", "--android=x", "--ready-fd=-1",
					     "--ready-fd=77", "--no-such-option", "what" };
	char text[8192];

	CHECK_EQ(run("--help", text, sizeof(text)), 0);
	CHECK(strstr(text, "Usage: anybinder-servicemanager [OPTIONS]\n"));
	CHECK_EQ(run("--version", text, sizeof(text)), 0);
	CHECK(!strncmp(text, "anybinder-servicemanager ", 25));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		if (run(wrong[i], text, sizeof(text)) != 2)
			FAIL("%s: %s", wrong[i], text);
		CHECK(strstr(text, "anybinder-servicemanager: "));
	}
	CHECK_EQ(run("--device=/dev/null", text, sizeof(text)), 1);
	CHECK(strstr(text, "/dev/null: not a binder device; start anybinderd"));
	CHECK_EQ(run("--device=/no/such/device", text, sizeof(text)), 1);
	CHECK(strstr(text, "/no/such/device: No such file or directory; start anybinderd"));
	CHECK_EQ(run("--policy=/no/such/policy", text, sizeof(text)), 1);
	CHECK(strstr(text, "/no/such/policy: No such file"));
}

static int check_policy(const char *policy, char *text, size_t size)
{
	const char *program = getenv("SERVICEMANAGER");
	int fd = memfd_create("output", MFD_CLOEXEC), file = memfd_create("policy", 0), status;
	char option[60];
	pid_t pid;

	CHECK_EQ(fchmod(file, 0600), 0);
	CHECK_EQ(write(file, policy, strlen(policy)), strlen(policy));
	snprintf(option, sizeof(option), "--policy=/proc/self/fd/%d", file);
	pid = fork();
	if (!pid) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execl(program, program, "--check", option, NULL);
		_exit(127);
	}
	CHECK(test_reap(pid, &status, TEST_WAIT_S));
	CHECK(WIFEXITED(status));
	memset(text, 0, size);
	CHECK_OP(pread(fd, text, size - 1, 0), >, 0);
	close(fd);
	close(file);
	return WEXITSTATUS(status);
}

static void test_a_policy_can_be_checked_without_a_device(void)
{
	char text[1024];

	CHECK_EQ(check_policy("allow all uid=0\ndeclare a b\n", text, sizeof(text)), 0);
	CHECK(strstr(text, ": fine, 1 rules, 2 names declared\n"));
	CHECK_EQ(check_policy("allow all uid=0\n\nallow every uid=0\n", text, sizeof(text)), 1);
	CHECK(strstr(text, ":3: there is no right every; "));
}

/* ---- systemd ---------------------------------------------------------------------------- */

static int notify_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[40];
	size_t len;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK_OP(fd, >=, 0);
	snprintf(name, sizeof(name), "@anybinder-test-%d", getpid());
	len = strlen(name);
	memcpy(address.sun_path, name, len);
	address.sun_path[0] = '\0';
	CHECK_EQ(bind(fd, (struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)), 0);
	CHECK_EQ(setenv("NOTIFY_SOCKET", name, 1), 0);
	return fd;
}

/* The next message that is none of its signs of life. */
static void await_message(int fd, const char *wanted)
{
	char text[200];
	ssize_t got;

	do {
		struct timeval time = { .tv_sec = TEST_WAIT_S };

		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
		got = recv(fd, text, sizeof(text) - 1, 0);
		if (got < 0)
			FAIL("%s does not come: %s", wanted, strerror(errno));
		text[got] = '\0';
	} while (!strcmp(text, "WATCHDOG=1") && strcmp(wanted, "WATCHDOG=1"));
	if (strncmp(text, wanted, strlen(wanted)))
		FAIL("\"%s\", wanted \"%s\"", text, wanted);
}

static void test_systemd_is_told_how_it_is(void)
{
	struct manager m = { .policy = "allow all uid=0\n" };
	int fd = notify_socket();

	CHECK_EQ(setenv("WATCHDOG_USEC", "200000", 1), 0);
	unsetenv("WATCHDOG_PID");
	manager_start(&m);
	await_message(fd, "READY=1");
	for (int i = 0; i < 5; i++)
		await_message(fd, "WATCHDOG=1");
	CHECK_EQ(kill(m.pid, SIGHUP), 0);
	await_message(fd, "RELOADING=1\nMONOTONIC_USEC=");
	await_message(fd, "READY=1");
	CHECK_EQ(kill(m.pid, SIGTERM), 0);
	await_message(fd, "STOPPING=1");
	manager_stop(&m);
	close(fd);
}

/* Only if it is the journal that reads standard error, not if somebody once had it so. */
static void test_the_journal_gets_priorities(void)
{
	struct manager m = { .log = memfd_create("log", MFD_CLOEXEC) };
	char stream[60];
	struct stat st;

	CHECK_EQ(fstat(m.log, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	CHECK_EQ(setenv("JOURNAL_STREAM", stream, 1), 0);
	manager_start(&m);
	CHECK_EQ(manager_lines(&m, "<6>context manager of "), 1);
	CHECK_EQ(manager_lines(&m, "anybinder-servicemanager: "), 0);
	manager_stop(&m);
	manager_start(&m);
	CHECK_EQ(manager_lines(&m, "<6>"), 0);
	CHECK_EQ(manager_lines(&m, "anybinder-servicemanager: context manager of "), 1);
	manager_stop(&m);
}

/* ---- its end ---------------------------------------------------------------------------- */

/* With a daemon of its own: the harness wants to keep the other. */
static void test_it_ends_when_the_driver_does(void)
{
	const char *program = getenv("SERVICEMANAGER");
	struct manager m = { .log = memfd_create("log", MFD_CLOEXEC) };
	struct daemon d = { 0 };
	char device[240];
	int status;

	CHECK(daemon_prepare(&d));
	CHECK(daemon_start(&d));
	snprintf(device, sizeof(device), "--device=%s/binder", d.mount);
	m.pid = fork();
	if (!m.pid) {
		dup2(m.log, STDERR_FILENO);
		execl(program, program, device, NULL);
		_exit(127);
	}
	manager_await_log(&m, "context manager of ");
	daemon_discard(&d);
	CHECK(test_reap(m.pid, &status, TEST_WAIT_S));
	daemon_remove(&d);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 1);
	CHECK_EQ(manager_lines(&m, "was it a daemon that ended?"), 1);
}

static void test_it_ends_on_sigint_too(void)
{
	struct manager m = { 0 };
	int status;

	manager_start(&m);
	CHECK_EQ(kill(m.pid, SIGINT), 0);
	CHECK(test_reap(m.pid, &status, TEST_WAIT_S));
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- the sample pair ---------------------------------------------------------------------- */

static pid_t sample_start(const char *which, const char *option, int out)
{
	const char *program = getenv(which);
	char device[240];
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	snprintf(device, sizeof(device), "--device=%s", device_path());
	execl(program ? program : "", which, device, option, NULL);
	_exit(127);
}

static void sample_await(const struct manager *out, const char *text, unsigned int lines)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;

	while (manager_lines(out, text) < lines) {
		if (test_now_ms() > end)
			FAIL("\"%s\" does not come: %s", text, manager_log(out));
		test_sleep_ms(10);
	}
}

static void test_the_sample_pair_finds_each_other(void)
{
	struct manager m = { 0 }, out = { .log = memfd_create("out", MFD_CLOEXEC) };
	pid_t service, client, other;
	int status;

	manager_start(&m);
	service = sample_start("SAMPLE_SERVICE", NULL, out.log);
	other = sample_start("SAMPLE_CLIENT", NULL, out.log);
	CHECK(test_reap(other, &status, TEST_WAIT_S));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		FAIL("the client failed: %s", manager_log(&out));
	CHECK_EQ(manager_lines(&out, "called back: hello from the sample service"), 1);
	client = sample_start("SAMPLE_CLIENT", "--stay", out.log);
	sample_await(&out, "called back: ", 2);
	/* A new manager is told of the service, a new service told to the client. */
	manager_kill(&m);
	manager_start(&m);
	test_kill(service);
	sample_await(&out, "it died", 1);
	service = sample_start("SAMPLE_SERVICE", NULL, out.log);
	sample_await(&out, "called back: ", 3);
	test_kill(client);
	test_kill(service);
	manager_stop(&m);
}

static const struct test_case cases[] = {
	QUICK(test_options_are_checked),
	QUICK(test_a_policy_can_be_checked_without_a_device),
	QUICK(test_systemd_is_told_how_it_is),
	CASE(test_the_journal_gets_priorities),
	QUICK(test_the_sample_pair_finds_each_other),
	CASE(test_it_ends_on_sigint_too),
	CASE_FLAGS(test_it_ends_when_the_driver_does, TEST_OWN_DAEMON),
};

TEST_MAIN(cases)
