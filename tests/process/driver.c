// SPDX-License-Identifier: MIT
/*
 * What must be true of the driver between two cases: it runs, it has not
 * complained about itself, and it holds what it held before: no process, the
 * same number of objects of each kind, of descriptors and of mappings.
 */
#include "driver.h"

#include "child.h"
#include "harness.h"
#include "uapi/binder.h"
#include "uapi/binderfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_KINDS 16
#define SETTLE_MS 15000

/**
 * struct census - what the driver holds
 * @kind: object kinds of binder_logs/stats and how many are active
 * @fds: descriptors of our daemon
 * @maps: memory files our daemon has mapped
 */
struct census {
	struct {
		char name[32];
		int active;
	} kind[MAX_KINDS];
	int kinds;
	int procs;
	int fds;
	int maps;
};

static struct daemon own;
static bool external;
static char dir[PATH_MAX];
static struct census before;
static size_t log_seen; /* where the case's part of the log begins */
static size_t log_checked; /* how far the log was looked at */
static int kmsg = -1;

/** driver_is_own() - is the driver a daemon that we started? */
bool driver_is_own(void)
{
	return !external;
}

/** driver_is_sanitized() - is it a daemon whose memory is mostly a sanitizer's? */
bool driver_is_sanitized(void)
{
	char path[64], *maps;
	bool is;

	if (external)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/maps", own.pid);
	maps = test_read_file(path);
	is = maps && (strstr(maps, "/libasan.") || strstr(maps, "/libtsan."));
	free(maps);
	return is;
}

/** driver_dir() - the directory of the devices. */
const char *driver_dir(void)
{
	return dir;
}

/** driver_own_log() - what our daemon printed since the case began, or NULL. */
char *driver_own_log(void)
{
	char *log = external ? NULL : daemon_log(&own);

	if (log && strlen(log) >= log_seen)
		memmove(log, log + log_seen, strlen(log) - log_seen + 1);
	return log;
}

/** driver_own_pid() - our daemon's process id, 0 for another driver. */
pid_t driver_own_pid(void)
{
	return external ? 0 : own.pid;
}

/**
 * driver_read() - one of the driver's log files ("state", "stats", "proc/1")
 * Return: text the caller frees, or NULL if this driver has no such file.
 */
char *driver_read(const char *name)
{
	char path[PATH_MAX + 64], *text;

	snprintf(path, sizeof(path), "%s/binder_logs/%s", dir, name);
	text = test_read_file(path);
	if (text || !external)
		return text;
	snprintf(path, sizeof(path), "/sys/kernel/debug/binder/%s", name);
	return test_read_file(path);
}

/** driver_has_logs() - can the driver's state be read at all? */
bool driver_has_logs(void)
{
	char *text = driver_read("state");
	bool has = text;

	free(text);
	return has;
}

/**
 * driver_device_add() - make a device by binder-control
 * Return: false if the driver has no binder-control; other failures fail the case.
 */
bool driver_device_add(const char *name)
{
	struct binderfs_device device = { 0 };
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/binder-control", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	snprintf(device.name, sizeof(device.name), "%s", name);
	if (ioctl(fd, BINDER_CTL_ADD, &device) && errno != EEXIST)
		FAIL("BINDER_CTL_ADD %s: %s", name, strerror(errno));
	close(fd);
	return true;
}

/**
 * driver_reclaim() - have the driver give back what nobody uses
 * @what: for our daemon: "1" idle pages, "2" what clients put there, "3" both
 * Return: 0 when it is done; -errno, also without the right or with another driver.
 */
int driver_reclaim(const char *what)
{
	char path[PATH_MAX + 64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/binder_logs/reclaim", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, what, strlen(what)) != (ssize_t)strlen(what))
		err = -errno;
	close(fd);
	return err;
}

static int count_dir(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static int count_text(const char *text, const char *what)
{
	int n = 0;

	for (; text && (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void census_objects(struct census *c)
{
	char *text = driver_read("stats");
	char *line, *rest = text;

	while (text && (line = strsep(&rest, "\n")) && c->kinds < MAX_KINDS) {
		char name[32];
		int active;

		if (sscanf(line, "%31[^: ]: active %d total", name, &active) != 2)
			continue;
		strcpy(c->kind[c->kinds].name, name);
		c->kind[c->kinds++].active = active;
	}
	free(text);
}

static void census_take(struct census *c)
{
	char path[64], *text;

	memset(c, 0, sizeof(*c));
	census_objects(c);
	text = driver_read("state");
	c->procs = count_text(text, "\nproc ");
	free(text);
	if (external)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd", own.pid);
	c->fds = count_dir(path);
	snprintf(path, sizeof(path), "/proc/%d/maps", own.pid);
	text = test_read_file(path);
	c->maps = count_text(text, "memfd:");
	free(text);
}

static int census_active(const struct census *c, const char *name)
{
	for (int i = 0; i < c->kinds; i++)
		if (!strcmp(c->kind[i].name, name))
			return c->kind[i].active;
	return 0;
}

/* Says what @now has more of than @before; 0 if nothing. */
static int census_excess(const struct census *now, bool say)
{
	int excess = 0;

	for (int i = 0; i < now->kinds; i++) {
		int was = census_active(&before, now->kind[i].name);

		if (now->kind[i].active == was)
			continue;
		excess++;
		if (say)
			fprintf(stderr, "  left behind: %s: %d active, was %d\n",
				now->kind[i].name, now->kind[i].active, was);
	}
	if (now->procs != before.procs) {
		excess++;
		if (say)
			fprintf(stderr, "  left behind: %d processes in state, was %d\n",
				now->procs, before.procs);
	}
	if (now->fds > before.fds || now->maps > before.maps) {
		excess++;
		if (say)
			fprintf(stderr, "  left behind: %d descriptors, was %d; %d mappings, was %d\n",
				now->fds, before.fds, now->maps, before.maps);
	}
	return excess;
}

static const char *const bad_words[] = {
	"WARN", "BUG", "Sanitizer", "runtime error:", "assertion", "Assertion",
};

/* @word, but not as the tail of another ("DEBUG"). */
static bool has_word(const char *line, const char *word)
{
	const char *p = line;

	while ((p = strstr(p, word))) {
		if (p == line || !isalpha((unsigned char)p[-1]))
			return true;
		p++;
	}
	return strstr(line, "Sanitizer") && !strcmp(word, "Sanitizer");
}

static bool daemon_log_clean(void)
{
	char *log = driver_own_log(), *line, *rest = log;
	bool clean = true;

	log_checked = log_seen + (log ? strlen(log) : 0);
	while (log && (line = strsep(&rest, "\n")))
		for (size_t i = 0; i < ARRAY_SIZE(bad_words); i++)
			if (has_word(line, bad_words[i])) {
				fprintf(stderr, "  daemon log: %s\n", line);
				clean = false;
				break;
			}
	if (!clean) {
		free(log);
		log = driver_own_log();
		fprintf(stderr, "  the daemon's log of this case:\n%.8000s\n", log ? log : "");
	}
	free(log);
	return clean;
}

static const char *const bad_kernel_words[] = {
	"BUG:", "WARNING:", "Oops", "KASAN", "INFO: task", "circular locking", "recursive locking",
	"general protection", "kmemleak:",
};

static bool kernel_log_clean(void)
{
	bool clean = true;
	char line[2048];
	ssize_t n;

	while (kmsg >= 0 && ((n = read(kmsg, line, sizeof(line) - 1)) > 0 || errno == EPIPE)) {
		line[n > 0 ? n : 0] = '\0';
		for (size_t i = 0; n > 0 && i < ARRAY_SIZE(bad_kernel_words); i++)
			if (strstr(line, bad_kernel_words[i])) {
				fprintf(stderr, "  kernel log: %s", line);
				clean = false;
			}
	}
	return clean;
}

/** driver_snapshot() - remember what the driver holds, before a case. */
void driver_snapshot(void)
{
	census_take(&before);
	/* The end of whoever used our daemon last may still be under way. */
	for (int i = 0; !external && i < 500 && census_active(&before, "proc"); i++) {
		usleep(10000);
		census_take(&before);
	}
	/* what came after the last look is this case's to answer for */
	log_seen = log_checked;
}

/**
 * driver_settles() - does it come to hold what it held at the last snapshot?
 * Return: false, with messages, if not.
 */
bool driver_settles(void)
{
	long long end = test_now_ms() + SETTLE_MS;
	struct census now;

	do {
		census_take(&now);
		if (!census_excess(&now, false))
			return true;
		test_sleep_ms(5);
	} while (test_now_ms() < end);
	census_excess(&now, true);
	return false;
}

/**
 * driver_check() - after a case: is the driver as it was?
 * Return: false, with messages, if not.
 */
bool driver_check(void)
{
	bool ok = true;

	if (external)
		ok = kernel_log_clean();
	else if (!daemon_alive(&own))
		ok = false;
	if (!external && !daemon_log_clean())
		ok = false;
	if (!external && !own.pid)
		return false;
	if (!external && !driver_has_logs()) {
		fprintf(stderr, "  binder_logs/state cannot be read\n");
		return false;
	}
	return driver_settles() && ok;
}

/* The first open makes the daemon allocate what it keeps: not a leak. */
static void warm_up(void)
{
	char path[PATH_MAX + 32];
	void *map;
	int fd;

	snprintf(path, sizeof(path), "%s/binder", dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	map = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map != MAP_FAILED)
		munmap(map, 65536);
	close(fd);
	free(driver_read("stats"));
}

/* The close of the warm-up is over when its process is gone. */
static void warm_up_settle(void)
{
	long long end = test_now_ms() + SETTLE_MS;
	struct census c;

	do
		census_take(&c);
	while ((c.procs || census_active(&c, "proc")) && test_now_ms() < end);
}

/* The same where others may use the driver too. */
static void settle_as_before(void)
{
	long long end = test_now_ms() + SETTLE_MS;
	struct census now;

	do
		census_take(&now);
	while (census_excess(&now, false) && test_now_ms() < end);
}

static bool own_up(void)
{
	if (!daemon_start(&own))
		return false;
	snprintf(dir, sizeof(dir), "%s", own.mount);
	warm_up();
	warm_up_settle();
	return true;
}

/**
 * driver_open() - find or start the driver
 * Return: false, with a message, if there is none.
 */
bool driver_open(void)
{
	const char *given = getenv("BINDER_DIR");

	if (given && *given) {
		external = true;
		snprintf(dir, sizeof(dir), "%s", given);
		kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (kmsg >= 0)
			lseek(kmsg, 0, SEEK_END);
		census_take(&before);
		warm_up();
		settle_as_before();
		return true;
	}
	if (!getenv("ANYBINDERD")) {
		fprintf(stderr, "set BINDER_DIR (a directory with binder devices) or ANYBINDERD "
				"(the daemon to start)\n");
		return false;
	}
	if (!daemon_prepare(&own))
		return false;
	/* what cases make goes with it */
	setenv("TMPDIR", own.base, 1);
	if (own_up())
		return true;
	daemon_remove(&own);
	return false;
}

/** driver_restart_after_crash() - replace a daemon that died or hangs. */
bool driver_restart_after_crash(void)
{
	if (external)
		return true;
	daemon_discard(&own);
	return own_up();
}

/**
 * driver_close() - end our daemon, remove the private directory
 * Return: false, with a message, if the daemon did not end well.
 */
bool driver_close(void)
{
	bool ok;

	if (external) {
		close(kmsg);
		return true;
	}
	driver_snapshot();
	ok = daemon_stop(&own);
	ok = daemon_log_clean() && ok;
	daemon_discard(&own);
	if (getenv("TEST_KEEP"))
		fprintf(stderr, "kept: %s\n", own.base);
	else
		daemon_remove(&own);
	return ok;
}
