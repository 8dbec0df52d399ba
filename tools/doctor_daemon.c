// SPDX-License-Identifier: MIT
/* Checks of what anybinderd needs. They matter where it serves, or where nothing else could. */
#include "tools/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys.h"

#define CAP_SYS_PTRACE_BIT 19
#define CAP_SYS_ADMIN_BIT 21
#define PASSTHROUGH_MAJOR 6
#define PASSTHROUGH_MINOR 9

/* How bad it is when the daemon lacks something. */
static enum outcome daemon_outcome(const struct doctor *d)
{
	char text[DOCTOR_LINE];

	if (d->works)
		return d->server == SERVER_DAEMON ? OUTCOME_WARNING : OUTCOME_NONE;
	return d->server == SERVER_DAEMON || doctor_way(d, text) == WAY_DAEMON ? OUTCOME_PROBLEM
									       : OUTCOME_WARNING;
}

static bool not_needed(const struct doctor *d, struct finding *f)
{
	if (daemon_outcome(d) != OUTCOME_NONE)
		return false;
	find(f, OUTCOME_NONE, "the device is not anybinderd's");
	return true;
}

/** check_fuse() - /dev/fuse, which the daemon serves through */
void check_fuse(struct doctor *d, struct finding *f)
{
	char path[DOCTOR_PATH];
	int fd;

	if (not_needed(d, f))
		return;
	fd = ab_sys_open(doctor_path(d, "/dev/fuse", path));
	if (fd >= 0) {
		ab_sys_close(fd);
		find(f, OUTCOME_OK, "/dev/fuse opens");
		return;
	}
	find(f, daemon_outcome(d), "/dev/fuse, which anybinderd serves through, does not open: %s",
	     strerror(-fd));
	if (fd == -ENOENT || fd == -ENODEV || fd == -ENXIO)
		mend(f, "%s", doctor_container(d) ? "modprobe fuse  # on the host; and give the "
		     "container --device=/dev/fuse" : "modprobe fuse");
	else
		mend(f, "%s", doctor_container(d) ? "# give the container --device=/dev/fuse" :
		     "sudo anybinderd DIRECTORY &  # as root");
}

bool daemon_has_passthrough(const struct doctor *d, char why[DOCTOR_LINE])
{
	char release[DOCTOR_LINE];
	int major = 0, minor = 0;

	doctor_release(d, release);
	if (sscanf(release, "%d.%d", &major, &minor) != 2 || major < PASSTHROUGH_MAJOR ||
	    (major == PASSTHROUGH_MAJOR && minor < PASSTHROUGH_MINOR)) {
		snprintf(why, DOCTOR_LINE, "Linux %.100s is older than %d.%d", release,
			 PASSTHROUGH_MAJOR, PASSTHROUGH_MINOR);
		return false;
	}
	if (doctor_config(d, "FUSE_FS") == 'n' || doctor_config(d, "FUSE_PASSTHROUGH") == 'n') {
		snprintf(why, DOCTOR_LINE, "Linux %.100s is built without CONFIG_FUSE_PASSTHROUGH",
			 release);
		return false;
	}
	snprintf(why, DOCTOR_LINE, "Linux %.100s has it%s", release,
		 doctor_config(d, "FUSE_PASSTHROUGH") ? "" : ", if its configuration does");
	return true;
}

/** check_passthrough() - does the daemon spare clients a copy? It works without. */
void check_passthrough(struct doctor *d, struct finding *f)
{
	char why[DOCTOR_LINE], text[DOCTOR_LINE];

	if (not_needed(d, f))
		return;
	if (daemon_has_passthrough(d, why))
		return find(f, OUTCOME_OK, "%s", why);
	find(f, d->works ? OUTCOME_OK : OUTCOME_WARNING, "%s: anybinderd stores each message in the "
	     "page cache instead, which is slower", why);
	if (!d->works)
		mend(f, "%s", (doctor_way(d, text), text));
}

bool daemon_no_ptrace(const struct doctor *d)
{
	char line[DOCTOR_LINE];

	return doctor_read(d, "/proc/sys/kernel/yama/ptrace_scope", line) && line[0] == '3';
}

/** check_ptrace() - the daemon reads and writes its clients' memory */
void check_ptrace(struct doctor *d, struct finding *f)
{
	char line[DOCTOR_LINE];

	if (not_needed(d, f))
		return;
	if (!doctor_read(d, "/proc/sys/kernel/yama/ptrace_scope", line)) {
		find(f, OUTCOME_OK, "no Yama that restricts it");
	} else if (daemon_no_ptrace(d)) {
		find(f, daemon_outcome(d), "kernel.yama.ptrace_scope is 3: anybinderd cannot reach its "
		     "clients' memory");
		mend(f, DAEMON_PTRACE);
	} else if (line[0] == '0') {
		find(f, OUTCOME_OK, "kernel.yama.ptrace_scope is 0");
	} else {
		find(f, OUTCOME_OK, "kernel.yama.ptrace_scope is %.10s: anybinderd needs "
		     "CAP_SYS_PTRACE, which root has, also in a user namespace (unshare -Urm)", line);
	}
}

const char *daemon_lacks(const struct doctor *d)
{
	unsigned long long bounds;
	char line[DOCTOR_LINE];
	bool admin, trace;

	if (!doctor_grep(d, "/proc/self/status", "CapBnd:", line))
		return NULL;
	bounds = strtoull(line + strlen("CapBnd:"), NULL, 16);
	admin = bounds >> CAP_SYS_ADMIN_BIT & 1;
	trace = bounds >> CAP_SYS_PTRACE_BIT & 1;
	if (admin && trace)
		return NULL;
	return admin ? "CAP_SYS_PTRACE" : trace ? "CAP_SYS_ADMIN"
						: "CAP_SYS_ADMIN and CAP_SYS_PTRACE";
}

/** check_capabilities() - may a daemon that we start have what it needs? */
void check_capabilities(struct doctor *d, struct finding *f)
{
	const char *lacks = daemon_lacks(d);

	if (d->works || not_needed(d, f)) {
		find(f, OUTCOME_NONE, "there is a device that works");
		return;
	}
	if (!lacks) {
		find(f, OUTCOME_OK, "root can have CAP_SYS_ADMIN and CAP_SYS_PTRACE here");
		return;
	}
	find(f, daemon_outcome(d), "not even root has %s here, which anybinderd needs", lacks);
	mend(f, DAEMON_GIVE);
}

bool daemon_timeout(const struct doctor *d, char name[DOCTOR_LINE], char value[DOCTOR_LINE])
{
	static const char *const names[] = { "default_request_timeout", "max_request_timeout" };
	char path[100];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/sys/fs/fuse/%s", names[i]);
		if (!doctor_read(d, path, value) || !strcmp(value, "0"))
			continue;
		snprintf(name, DOCTOR_LINE, "%s", names[i]);
		return true;
	}
	return false;
}

/** check_timeouts() - the kernel must not end calls that wait */
void check_timeouts(struct doctor *d, struct finding *f)
{
	char name[DOCTOR_LINE], value[DOCTOR_LINE];

	if (not_needed(d, f))
		return;
	if (!daemon_timeout(d, name, value)) {
		find(f, OUTCOME_OK, "the kernel lets FUSE requests wait");
		return;
	}
	find(f, daemon_outcome(d), "fs.fuse.%.60s is %.20s: the kernel would end the device when a "
	     "client waits that many seconds, so anybinderd does not start", name, value);
	mend(f, "sysctl fs.fuse.%.60s=0; echo fs.fuse.%.60s=0 >/etc/sysctl.d/50-fuse.conf  # now, and "
	     "at each boot", name, name);
}
