/* SPDX-License-Identifier: MIT */
/*
 * `anybinder doctor`: checks, each of which finds something and says how to mend it.
 * What a device does is found by using it; files only explain why it does not.
 *
 *   doctor_run      the list of checks, run so that one that hangs stops no other
 *   doctor_device   the device: there, opens, speaks, maps
 *   doctor_mount    where it lies: whose mount, whose permissions, other binderfs
 *   doctor_manager  who is context manager
 *   doctor_kernel   the kernel's drivers, modules, Secure Boot
 *   doctor_daemon   what anybinderd needs
 *   doctor_place    namespaces, containers, security modules
 *   doctor_way      how this machine best comes by a device
 *   doctor_read     reading files, below another root for tests
 */
#ifndef TOOLS_DOCTOR_H
#define TOOLS_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define DOCTOR_PATH 512
#define DOCTOR_LINE 1024

/**
 * enum outcome - how a check came out
 * @OUTCOME_NONE: does not apply here
 * @OUTCOME_WARNING: does not hinder now, but will hurt somebody, or later
 * @OUTCOME_PROBLEM: why it does not work
 */
enum outcome { OUTCOME_NONE, OUTCOME_OK, OUTCOME_WARNING, OUTCOME_PROBLEM };

/** struct finding - what was found, and what to type about it ("": nothing) */
struct finding {
	enum outcome outcome;
	char found[600], mend[600];
};

/** enum server - what is behind the device */
enum server { SERVER_UNKNOWN, SERVER_DAEMON, SERVER_BINDERFS, SERVER_NODE };

/**
 * struct mount - of which a file is part
 * @root: the part of its filesystem that is mounted
 * @point: where
 * @type: of the filesystem
 */
struct mount {
	char root[256], point[256], type[64];
};

/**
 * struct doctor - the patient
 * @root: put before every path of the system's; "" but in tests
 * @device: that is looked at; NULL: there is none
 * @given: the user named it
 * @timeout_s: of a check
 * @fd: of it; negative: it does not open
 * @speaks: it opens and has our protocol
 * @works: and can be mapped and used
 * @silent: its context manager does not answer
 * @foreign: its context manager is no service manager of the kind that we ask for lists
 * @server: what is behind it
 * @mount: that it is on
 * @place: memory of @device, when it was found
 */
struct doctor {
	const char *root;
	const char *device;
	bool given;
	int timeout_s;
	int fd;
	bool speaks, works, silent, foreign;
	enum server server;
	struct mount mount;
	char place[DOCTOR_PATH];
};

/** find() - say what was found. */
void find(struct finding *f, enum outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** mend() - say what to type about it. */
void mend(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- doctor_run.c ---------------------------------------------------------------------------- */

typedef void finding_fn(void *data, const char *check, const struct finding *f);

/**
 * doctor_run() - make all checks
 * @d: the patient; changed
 * @fn: called for each in turn
 * @data: for @fn
 *
 * Return: 0; -errno when no process can be made.
 */
int doctor_run(struct doctor *d, finding_fn *fn, void *data);

/* ---- doctor_read.c ---------------------------------------------------------------- */

/** doctor_path() - a path of the system's, below @d->root. Return: @buf. */
const char *doctor_path(const struct doctor *d, const char *path, char buf[DOCTOR_PATH]);
bool doctor_exists(const struct doctor *d, const char *path);
/** doctor_read() - the first line of a file without its newline. Return: whether there is one. */
bool doctor_read(const struct doctor *d, const char *path, char line[DOCTOR_LINE]);
/** doctor_grep() - the first line of a file (or a packed one) that has @text in it */
bool doctor_grep(const struct doctor *d, const char *path, const char *text,
		 char line[DOCTOR_LINE]);
/** doctor_release() - of the running kernel, as uname -r */
void doctor_release(const struct doctor *d, char release[DOCTOR_LINE]);
/** doctor_config() - the value of a kernel option: 'y', 'm', 'n'; 0 when nobody tells */
char doctor_config(const struct doctor *d, const char *option);
/** doctor_filesystem() - does the kernel know a type of filesystem now? */
bool doctor_filesystem(const struct doctor *d, const char *type);
/** doctor_link() - what a symbolic link says. Return: whether it is one. */
bool doctor_link(const struct doctor *d, const char *path, char target[DOCTOR_LINE]);
/** doctor_next_mount() - the next line of mountinfo. Return: whether there was one. */
bool doctor_next_mount(FILE *file, struct mount *mount);
FILE *doctor_open_mounts(const struct doctor *d);
/**
 * doctor_follow() - a path without symbolic links, as mountinfo has them
 *
 * Also where realpath() fails because what it leads to cannot be looked at: a dead daemon's.
 *
 * Return: false when it leads nowhere.
 */
bool doctor_follow(const struct doctor *d, const char *path, char whole[DOCTOR_PATH]);
/** doctor_is_binderfs() - is it a type of ours or of a kernel's? */
bool doctor_is_binderfs(const char *type);
/**
 * doctor_find_process() - a process by its name
 * Return: its pid, 0: there is none that we see.
 */
long doctor_find_process(const struct doctor *d, const char *comm);

/* ---- doctor_mount.c ---------------------------------------------------------------- */

/* What BINDER_CTL_ADD takes from a shell: struct binderfs_device is 264 bytes. */
#define ADD_DEVICE "python3 -c 'import fcntl, os; fcntl.ioctl(os.open(\"%.256s/binder-control\", " \
	"0), 0xc1086201, b\"binder\".ljust(264, b\"\\0\"))'"

/** doctor_bare() - a binderfs that has a control and no device. Return: is there one? */
bool doctor_bare(const struct doctor *d, char point[DOCTOR_LINE]);

/* ---- doctor_way.c ---------------------------------------------------------------- */

/** enum way - how this machine comes by a device */
enum way { WAY_MOUNT, WAY_MODPROBE, WAY_DAEMON, WAY_BUILD };

/**
 * doctor_way() - what to type for a device
 * @text: receives it
 */
enum way doctor_way(const struct doctor *d, char text[DOCTOR_LINE]);

/** doctor_container() - the kind of container that we are in, or NULL */
const char *doctor_container(const struct doctor *d);

/** doctor_old_module() - a kernel for which anybinder.ko is there, while it is not for this */
bool doctor_old_module(const struct doctor *d, char release[DOCTOR_LINE]);

/* ---- doctor_daemon.c: also what the way asks --------------------------------------------- */

/* Where it cannot be started as we are. */
#define DAEMON_GIVE "# give the container that runs anybinderd --cap-add=SYS_ADMIN " \
	"--cap-add=SYS_PTRACE --device=/dev/fuse --security-opt=apparmor=unconfined; or run " \
	"anybinderd on the host and bind its folder into the container"
#define DAEMON_PTRACE "echo kernel.yama.ptrace_scope=2 >/etc/sysctl.d/50-ptrace.conf && reboot  " \
	"# 3 cannot be undone before"

/** daemon_no_ptrace() - is nobody, not even root, allowed to reach another's memory? */
bool daemon_no_ptrace(const struct doctor *d);
bool daemon_has_passthrough(const struct doctor *d, char why[DOCTOR_LINE]);
/** daemon_timeout() - the setting that forbids it to start, and its value. Return: is there one? */
bool daemon_timeout(const struct doctor *d, char name[DOCTOR_LINE], char value[DOCTOR_LINE]);
/** daemon_lacks() - words for capabilities that not even root has here; NULL: none */
const char *daemon_lacks(const struct doctor *d);

/* ---- checks ---------------------------------------------------------------- */

typedef void check_fn(struct doctor *d, struct finding *f);

check_fn check_device, check_open, check_protocol, check_mapping, check_self_test, check_errors;
check_fn check_driver, check_bind_mount, check_permissions, check_binderfs, check_logs;
check_fn check_manager, check_variant;
check_fn check_kernel_driver, check_modules, check_secure_boot;
check_fn check_fuse, check_passthrough, check_timeouts, check_ptrace, check_capabilities;
check_fn check_namespaces, check_container, check_security, check_wsl;

#endif
