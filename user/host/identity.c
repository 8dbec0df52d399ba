// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/proc.h"
#include "core/thread.h"
#include "user/host/say.h"

/* What the kernel shows for an id that a namespace has no number for. */
#define OVERFLOW_ID 65534

/* Namespaces nest at most this deep. */
#define PID_LEVELS_MAX 33

struct ns_id {
	dev_t dev;
	ino_t ino;
};

/* A process's pid namespaces, the daemon's first, and its number in each. */
struct binder_pid_chain {
	unsigned int nr;
	struct {
		struct ns_id ns;
		pid_t pid;
	} level[];
};

struct uid_range {
	u32 inside;
	u32 outside; /* as the daemon counts */
	u32 count;
};

struct binder_uid_map {
	unsigned int nr;
	struct uid_range range[];
};

static struct ns_id own_user_ns, own_pid_ns;

static bool ns_equal(struct ns_id a, struct ns_id b)
{
	return a.dev == b.dev && a.ino == b.ino;
}

static int ns_stat(pid_t pid, const char *kind, struct ns_id *id)
{
	char path[48];
	struct stat st;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, kind);
	else
		snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (stat(path, &st))
		return -errno;
	*id = (struct ns_id){ .dev = st.st_dev, .ino = st.st_ino };
	return 0;
}

/**
 * binder_identity_init() - learn the daemon's own namespaces
 * Return: 0, or -errno after saying what is missing.
 */
int binder_identity_init(void)
{
	int ret = ns_stat(0, "user", &own_user_ns);

	if (!ret)
		ret = ns_stat(0, "pid", &own_pid_ns);
	if (ret)
		binder_say("cannot read /proc/self/ns: %s\n  mount /proc first\n", strerror(-ret));
	return ret;
}

/* All of a small file, terminated. Return: its length or -errno. */
static ssize_t file_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	else
		buf[n] = '\0';
	close(fd);
	return n;
}

/* The value of a field of /proc/PID/status, up to the end of @buf. */
static const char *status_field(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[32];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (file_read(path, buf, size) <= 0)
		return NULL;
	at = strstr(buf, name);
	return at ? at + strlen(name) : NULL;
}

/** binder_identity_tgid() - thread group of a thread. May sleep. Return: 0 when there is none. */
pid_t binder_identity_tgid(pid_t tid)
{
	char buf[1024];
	const char *value = status_field(tid, "\nTgid:", buf, sizeof(buf));

	return value ? (pid_t)strtol(value, NULL, 10) : 0;
}

/* Note the namespace of @fd. Return: its parent's descriptor, or -errno; @fd is closed. */
static int level_name(struct ns_id *ns, int fd)
{
	struct stat st;
	int parent = -1;

	if (!fstat(fd, &st)) {
		*ns = (struct ns_id){ .dev = st.st_dev, .ino = st.st_ino };
		parent = ioctl(fd, NS_GET_PARENT);
	}
	if (parent < 0)
		parent = -errno;
	close(fd);
	return parent;
}

/* Fill in which namespaces they are, from the innermost outwards to the daemon's. */
static int chain_name(struct binder_pid_chain *chain, pid_t tgid)
{
	char path[48];
	unsigned int i;
	int fd;

	chain->level[0].ns = own_pid_ns;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (i = chain->nr - 1; i > 0; i--) {
		fd = level_name(&chain->level[i].ns, fd);
		if (fd < 0)
			return fd;
	}
	close(fd);
	return 0;
}

static int pids_read(struct binder_host_proc *host, pid_t tgid)
{
	char buf[4096];
	const char *at = status_field(tgid, "\nNStgid:", buf, sizeof(buf));
	struct binder_pid_chain *chain;
	int ret;

	if (!at)
		return -ESRCH;
	chain = kzalloc(sizeof(*chain) + PID_LEVELS_MAX * sizeof(chain->level[0]), GFP_KERNEL);
	if (!chain)
		return -ENOMEM;
	while (chain->nr < PID_LEVELS_MAX && *at == '\t') {
		char *end;

		chain->level[chain->nr++].pid = (pid_t)strtol(at, &end, 10);
		at = end;
	}
	ret = chain->nr ? chain_name(chain, tgid) : -ESRCH;
	if (ret)
		kfree(chain);
	else
		host->pids = chain;
	return ret;
}

/**
 * binder_identity_read() - learn a client's namespaces
 * @host: of the open under way
 * @tgid: thread group of the client
 *
 * A client that changes its namespaces after open() keeps the identity it had.
 *
 * Context: may sleep.
 * Return: 0; -ESRCH; -EPERM when the daemon may not look, and so could not
 * copy the client's messages either; other -errno.
 */
int binder_identity_read(struct binder_host_proc *host, pid_t tgid)
{
	struct ns_id user, pid;
	int ret = ns_stat(tgid, "user", &user);

	if (!ret)
		ret = ns_stat(tgid, "pid", &pid);
	if (ret)
		return ret == -EACCES ? -EPERM : ret == -ENOENT ? -ESRCH : ret;
	host->foreign_user_ns = !ns_equal(user, own_user_ns);
	return ns_equal(pid, own_pid_ns) ? 0 : pids_read(host, tgid);
}

/** binder_identity_free() - undo binder_identity_read() */
void binder_identity_free(struct binder_host_proc *host)
{
	kfree(host->pids);
	kfree(host->uids);
	host->pids = NULL;
	host->uids = NULL;
}

/* ---- uids ------------------------------------------------------------------ */

binder_uid_t binder_host_uid(struct binder_thread *thread)
{
	return thread->host.uid;
}

bool binder_host_uid_eq(binder_uid_t a, binder_uid_t b)
{
	return a.value == b.value;
}

static struct binder_uid_map *uids_read(pid_t tgid)
{
	struct binder_uid_map *map;
	struct uid_range range;
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", tgid);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	/* The kernel allows 340 lines. */
	map = kzalloc(sizeof(*map) + 340 * sizeof(map->range[0]), GFP_KERNEL);
	while (map && map->nr < 340 &&
	       fscanf(f, "%u %u %u", &range.inside, &range.outside, &range.count) == 3)
		map->range[map->nr++] = range;
	fclose(f);
	if (map && map->nr)
		return map;
	kfree(map);
	return NULL;
}

/* The map is written some time after the namespace is made, and then never again. */
static const struct binder_uid_map *uids_get(struct binder_proc *proc)
{
	struct binder_uid_map *map = __atomic_load_n(&proc->host.uids, __ATOMIC_ACQUIRE);
	struct binder_uid_map *other = NULL;

	if (map)
		return map;
	map = uids_read(proc->pid);
	if (!map)
		return NULL;
	/* Release pairs with the acquire above. */
	if (__atomic_compare_exchange_n(&proc->host.uids, &other, map, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return map;
	kfree(map);
	return other;
}

u32 binder_host_uid_seen(struct binder_proc *by, binder_uid_t uid)
{
	const struct binder_uid_map *map;
	unsigned int i;

	if (!by->host.foreign_user_ns)
		return uid.value;
	map = uids_get(by);
	for (i = 0; map && i < map->nr; i++) {
		const struct uid_range *r = &map->range[i];

		if (uid.value >= r->outside && uid.value - r->outside < r->count)
			return r->inside + (uid.value - r->outside);
	}
	return OVERFLOW_ID;
}

/* ---- pids ------------------------------------------------------------------ */

pid_t binder_host_pid_seen(struct binder_proc *by, struct binder_proc *of)
{
	const struct binder_pid_chain *b = by->host.pids;
	const struct binder_pid_chain *o = of->host.pids;
	unsigned int depth;

	if (!b)
		return of->pid;
	depth = b->nr - 1;
	if (!o || o->nr <= depth || !ns_equal(o->level[depth].ns, b->level[depth].ns))
		return 0;
	return o->level[depth].pid;
}

/* ---- what a daemon has no part in --------------------------------------------- */

/* Clients run at what their callers think is right; no daemon changes that. */
int binder_host_nice(struct binder_thread *thread)
{
	return 0;
}

void binder_host_set_nice(struct binder_thread *thread, int nice)
{
}

/* There are the logs. */
void binder_host_report_failure(const struct binder_log_entry *entry)
{
}

/* No security module has a say here but over the files themselves. */
int binder_host_may_manage(struct binder_proc *proc)
{
	return 0;
}

int binder_host_may_call(struct binder_proc *from, struct binder_proc *to)
{
	return 0;
}

int binder_host_may_transfer(struct binder_proc *from, struct binder_proc *to)
{
	return 0;
}
