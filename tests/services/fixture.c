// SPDX-License-Identifier: MIT
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Beyond what the test itself has open, as POLICY_FILE is. */
#define FD_READY (FD_POLICY + 1)

/** device_path() - of the device that the manager serves. Return: a constant. */
const char *device_path(void)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/binder", driver_dir());
	return path;
}

/* ---- the manager ------------------------------------------------------------------------ */

static int file_new(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	CHECK_OP(fd, >=, 0);
	CHECK_EQ(fchmod(fd, 0600), 0);
	return fd;
}

static void manager_exec(const struct manager *m, int ready)
{
	const char *program = getenv("SERVICEMANAGER");
	char device[240], android[40], ready_fd[40];
	char *argv[8] = { "anybinder-servicemanager", device, ready_fd };
	int argc = 3;

	snprintf(device, sizeof(device), "--device=%s", device_path());
	snprintf(ready_fd, sizeof(ready_fd), "--ready-fd=%d", FD_READY);
	if (m->android) {
		snprintf(android, sizeof(android), "--android=%s", m->android);
		argv[argc++] = android;
	}
	if (m->policy) {
		argv[argc++] = "--policy=" POLICY_FILE;
		dup2(m->file, FD_POLICY);
	}
	dup2(ready, FD_READY);
	dup2(m->log, STDERR_FILENO);
	execv(program ? program : "", argv);
	dprintf(STDERR_FILENO, "exec SERVICEMANAGER=%s: %s\n", program ? program : "(not set)",
		strerror(errno));
	_exit(127);
}

/* Fork it. Return: the descriptor on which it says READY. */
static int manager_fork(struct manager *m)
{
	int fds[2];

	/* A kernel's binderfs has it for root alone, and some clients are others. */
	CHECK_EQ(chmod(device_path(), 0666), 0);
	if (!m->log)
		m->log = file_new("manager-log");
	if (m->policy && !m->file) {
		m->file = file_new("manager-policy");
		manager_policy(m, m->policy);
	}
	CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
	m->pid = fork();
	CHECK_OP(m->pid, >=, 0);
	if (!m->pid)
		manager_exec(m, fds[1]);
	close(fds[1]);
	return fds[0];
}

/* Return: whether it says that it is ready. */
static bool read_ready(int fd)
{
	struct pollfd in = { fd, POLLIN, 0 };
	char text[8] = "";
	size_t len = 0;
	ssize_t got = 1;

	while (got > 0 && len < 6) {
		if (poll(&in, 1, TEST_WAIT_S * 1000) <= 0)
			break;
		got = read(fd, text + len, 6 - len);
		len += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return !strcmp(text, "READY\n");
}

/** manager_start() - start it, and wait until it serves */
void manager_start(struct manager *m)
{
	if (!read_ready(manager_fork(m)))
		FAIL("the service manager does not get ready: %s", manager_log(m));
}

/** manager_try() - start one that is not to get ready. Return: its exit status. */
int manager_try(struct manager *m)
{
	int status;

	if (read_ready(manager_fork(m)))
		FAIL("the service manager got ready: %s", manager_log(m));
	CHECK(test_reap(m->pid, &status, TEST_WAIT_S));
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/** manager_stop() - SIGTERM; it must end with 0 */
void manager_stop(struct manager *m)
{
	int status;

	CHECK_EQ(kill(m->pid, SIGTERM), 0);
	CHECK(test_reap(m->pid, &status, TEST_WAIT_S));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		FAIL("the service manager ended with status %#x: %s", status, manager_log(m));
	if (m->file)
		close(m->file);
	close(m->log);
	m->log = m->file = 0;
}

/** manager_kill() - SIGKILL */
void manager_kill(struct manager *m)
{
	int status;

	CHECK_EQ(kill(m->pid, SIGKILL), 0);
	CHECK(test_reap(m->pid, &status, TEST_WAIT_S));
	CHECK(WIFSIGNALED(status));
}

/** manager_policy() - write its policy file; it is not told */
void manager_policy(struct manager *m, const char *text)
{
	size_t len = strlen(text);

	CHECK_EQ(ftruncate(m->file, 0), 0);
	CHECK_EQ(pwrite(m->file, text, len, 0), len);
}

/** manager_log() - all that it said. Return: for free(). */
char *manager_log(const struct manager *m)
{
	struct stat st;
	char *text;

	CHECK_EQ(fstat(m->log, &st), 0);
	text = calloc(1, (size_t)st.st_size + 1);
	CHECK(text);
	CHECK_OP(pread(m->log, text, (size_t)st.st_size, 0), >=, 0);
	return text;
}

/** manager_lines() - how many lines with @text it said */
unsigned int manager_lines(const struct manager *m, const char *text)
{
	char *log = manager_log(m), *rest = log, *line;
	unsigned int nr = 0;

	while ((line = strsep(&rest, "\n")))
		nr += strstr(line, text) != NULL;
	free(log);
	return nr;
}

/** manager_await_log() - wait until it said @text */
void manager_await_log(const struct manager *m, const char *text)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;

	while (!manager_lines(m, text)) {
		if (test_now_ms() > end)
			FAIL("\"%s\" is not in the log: %s", text, manager_log(m));
		test_sleep_ms(10);
	}
}

/* ---- clients ---------------------------------------------------------------------------- */

/** connect_as() - a connection that speaks a variant */
ab_conn *connect_as(enum ab_variant variant)
{
	struct ab_options options = { .variant = variant };
	ab_conn *conn;

	CHECK_OK(ab_open(&conn, device_path(), &options));
	return conn;
}

/** connect_serving() - the same, with a thread that serves */
ab_conn *connect_serving(enum ab_variant variant)
{
	ab_conn *conn = connect_as(variant);

	CHECK_OK(ab_pool_start(conn));
	return conn;
}

/** become_uid() - be somebody else, with all three uids, and in no group */
void become_uid(uid_t uid)
{
	CHECK_EQ(setgroups(0, NULL), 0);
	CHECK_EQ(setresgid(uid, uid, uid), 0);
	CHECK_EQ(setresuid(uid, uid, uid), 0);
}

/** request() - a request with token and name; NULL for no name */
ab_parcel *request(ab_conn *conn, const char *name)
{
	ab_parcel *in = ab_parcel_new(conn);

	CHECK_OK(ab_write_token(in, AB_MANAGER_INTERFACE));
	if (name)
		CHECK_OK(ab_write_string16(in, name));
	return in;
}

/** call_manager() - a call as it is, past the library's own functions for it. @in is freed. */
int call_manager(ab_conn *conn, enum ab_manager_call call, ab_parcel *in, ab_parcel **out)
{
	uint32_t code = ab_variant_code(ab_conn_variant(conn), call);
	ab_object *manager;
	int ret;

	CHECK(code);
	CHECK_OK(ab_manager(conn, &manager));
	ret = ab_call(manager, code, in, out);
	ab_object_put(manager);
	ab_parcel_free(in);
	return ret;
}

/* ---- a service -------------------------------------------------------------------------- */

static int echo(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t value;
	int ret = ab_read_int32(in, &value);

	if (info->code != 1)
		return AB_UNKNOWN_TRANSACTION;
	return ret ? ret : ab_write_int32(out, value);
}

const struct ab_class echo_class = { .interface = "org.anybinder.test.IEcho", .transact = echo };

/** echo_new() - a service that answers what it is sent */
ab_object *echo_new(ab_conn *conn)
{
	ab_object *object = ab_object_new(conn, &echo_class, NULL);

	CHECK(object);
	return object;
}

/** echo_call() - ask it. Return: 0: it answered right; as ab_call(). */
int echo_call(ab_object *object, int32_t value)
{
	ab_parcel *in = ab_parcel_new(ab_object_conn(object)), *out;
	int32_t got = 0;
	int ret;

	ab_write_token(in, echo_class.interface);
	ab_write_int32(in, value);
	ret = ab_call(object, 1, in, &out);
	if (!ret)
		ret = ab_read_int32(out, &got);
	if (!ret)
		CHECK_EQ(got, value);
	ab_parcel_free(out);
	ab_parcel_free(in);
	return ret;
}
