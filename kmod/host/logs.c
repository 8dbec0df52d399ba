// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader sees the driver as it was when it opened the file, however slowly
 * it reads: open makes the whole text.
 *
 * In a binderfs, proc/ looks at the list of processes whenever it is asked:
 * nothing is kept, so nothing dangles. debugfs has no such directories; there
 * the files come and go with the processes.
 */
#include "kmod/host/logs.h"

#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "core/log.h"
#include "core/proc.h"
#include "core/report.h"
#include "core/text.h"
#include "kmod/compat/fs.h"
#include "kmod/host/binderfs.h"

#define SNAPSHOT_MIN (16 * 1024)
#define SNAPSHOT_MAX (64 * 1024 * 1024)

struct snapshot {
	size_t len;
	char text[];
};

struct log_file {
	const char *name;
	void (*report)(struct binder_text *text);
};

static void report_log(struct binder_text *text)
{
	binder_report_log(text, &binder_log_all);
}

static void report_failed_log(struct binder_text *text)
{
	binder_report_log(text, &binder_log_failed);
}

static const struct log_file log_files[] = {
	{ "state", binder_report_state },
	{ "stats", binder_report_stats },
	{ "transactions", binder_report_transactions },
	{ "transaction_log", report_log },
	{ "failed_transaction_log", report_failed_log },
};

/* @log or, without it, of the process @pid. */
static void report(struct binder_text *text, const struct log_file *log, pid_t pid)
{
	if (log)
		log->report(text);
	else
		binder_report_proc(text, pid);
}

/*
 * Nobody knows how long a report gets: try with more room until it fits. It is
 * charged to the reader, who can hold as many as it has descriptors.
 */
static int snapshot_make(struct file *file, const struct log_file *log, pid_t pid)
{
	struct binder_text text;
	struct snapshot *s;
	size_t size;

	for (size = SNAPSHOT_MIN;; size *= 4) {
		s = kvmalloc(sizeof(*s) + size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!s)
			return -ENOMEM;
		binder_text_init(&text, s->text, size);
		report(&text, log, pid);
		s->len = text.len;
		if (!text.truncated || size >= SNAPSHOT_MAX)
			break;
		kvfree(s);
	}
	file->private_data = s;
	return 0;
}

static int log_open(struct inode *inode, struct file *file)
{
	return snapshot_make(file, inode->i_private, 0);
}

static ssize_t snapshot_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	const struct snapshot *s = file->private_data;

	return simple_read_from_buffer(buf, count, pos, s->text, s->len);
}

static int snapshot_release(struct inode *inode, struct file *file)
{
	kvfree(file->private_data);
	return 0;
}

static const struct file_operations log_operations = {
	.owner = THIS_MODULE,
	.open = log_open,
	.read = snapshot_read,
	.llseek = generic_file_llseek,
	.release = snapshot_release,
};

static bool proc_exists(pid_t pid)
{
	struct binder_proc *proc;
	bool found = false;

	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry)
		found |= proc->pid == pid;
	binder_procs_unlock();
	return found;
}

/* The lowest pid above @after that has a device open, or 0. */
static pid_t proc_next(pid_t after)
{
	struct binder_proc *proc;
	pid_t next = 0;

	binder_procs_lock();
	list_for_each_entry(proc, &binder_procs, entry)
		if (proc->pid > after && (!next || proc->pid < next))
			next = proc->pid;
	binder_procs_unlock();
	return next;
}

static int proc_open(struct inode *inode, struct file *file)
{
	pid_t pid = (uintptr_t)inode->i_private;

	if (!proc_exists(pid))
		return -ENOENT;
	return snapshot_make(file, NULL, pid);
}

static const struct file_operations proc_operations = {
	.owner = THIS_MODULE,
	.open = proc_open,
	.read = snapshot_read,
	.llseek = generic_file_llseek,
	.release = snapshot_release,
};

/* ---- in a binderfs ---------------------------------------------------- */

static pid_t pid_parse(const char *name)
{
	char canonical[16];
	pid_t pid;

	if (kstrtoint(name, 10, &pid) || pid <= 0)
		return 0;
	snprintf(canonical, sizeof(canonical), "%d", pid);
	return strcmp(name, canonical) ? 0 : pid;
}

static struct dentry *procs_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	pid_t pid = pid_parse(dentry->d_name.name);
	struct inode *inode;

	if (!pid || !proc_exists(pid))
		return ERR_PTR(-ENOENT);
	inode = binderfs_inode_new(dir->i_sb, S_IFREG | 0444, BINDERFS_INO_PROC + pid);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	inode->i_fop = &proc_operations;
	inode->i_private = (void *)(uintptr_t)pid;
	d_add(dentry, inode);
	/* Not to be found by the next who asks, also while it is open: the process may be gone. */
	d_drop(dentry);
	return NULL;
}

/* The position of a process is its pid, so those that come and go move no other. */
static int procs_iterate(struct file *file, struct dir_context *ctx)
{
	char name[16];
	pid_t pid;
	int len;

	if (!dir_emit_dots(file, ctx))
		return 0;
	while ((pid = proc_next(ctx->pos - 2))) {
		len = scnprintf(name, sizeof(name), "%d", pid);
		if (!dir_emit(ctx, name, len, BINDERFS_INO_PROC + pid, DT_REG))
			return 0;
		ctx->pos = 2 + (loff_t)pid;
	}
	return 0;
}

static const struct inode_operations procs_inode_operations = {
	.lookup = procs_lookup,
};

static const struct file_operations procs_operations = {
	.owner = THIS_MODULE,
	.read = generic_read_dir,
	.iterate_shared = procs_iterate,
	.llseek = generic_file_llseek,
};

/** binder_logs_add() - binder_logs/ of a mount. Context: sleeps. Return: 0 or -ENOMEM. */
int binder_logs_add(struct dentry *root)
{
	struct dentry *dir = binderfs_dir_add(root, "binder_logs", NULL, NULL);
	size_t i;
	int ret;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	for (i = 0; i < ARRAY_SIZE(log_files); i++) {
		ret = binderfs_file_add(dir, log_files[i].name, &log_operations, &log_files[i]);
		if (ret)
			return ret;
	}
	return PTR_ERR_OR_ZERO(binderfs_dir_add(dir, "proc", &procs_inode_operations,
						&procs_operations));
}

/* ---- in debugfs ------------------------------------------------------- */

static struct dentry *debug_dir, *debug_procs; /* immutable after init */

struct pid_file {
	struct dentry *file;
	unsigned int opens;
};

/* struct pid_file by pid. The mutex is taken before any lock of the core's or of debugfs. */
static DEFINE_XARRAY(pid_files);
static DEFINE_MUTEX(pid_files_lock);

/*
 * Not the kind of file whose removal waits for readers: a release must not
 * wait for the memory that somebody reads into. They can do without, because
 * what an open file uses is its own.
 */
static struct dentry *debug_file(const char *name, struct dentry *dir, void *data,
				 const struct file_operations *fop)
{
	return debugfs_create_file_unsafe(name, 0444, dir, data, fop);
}

/**
 * binder_logs_proc_add() - a process opened a device
 * Without memory there is no file for it in debugfs, which is no reason to refuse the open.
 * Context: sleeps; no locks held.
 */
void binder_logs_proc_add(pid_t pid)
{
	struct pid_file *p;
	char name[16];

	if (!debug_procs)
		return;
	mutex_lock(&pid_files_lock);
	p = xa_load(&pid_files, pid);
	if (p) {
		p->opens++;
		goto unlock;
	}
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p || xa_err(xa_store(&pid_files, pid, p, GFP_KERNEL))) {
		kfree(p);
		goto unlock;
	}
	p->opens = 1;
	snprintf(name, sizeof(name), "%d", pid);
	p->file = debug_file(name, debug_procs, (void *)(uintptr_t)pid, &proc_operations);
unlock:
	mutex_unlock(&pid_files_lock);
}

/** binder_logs_proc_del() - the release of what it opened begins. Context: as above. */
void binder_logs_proc_del(pid_t pid)
{
	struct pid_file *p;

	if (!debug_procs)
		return;
	mutex_lock(&pid_files_lock);
	p = xa_load(&pid_files, pid);
	if (p && !--p->opens) {
		xa_erase(&pid_files, pid);
		debugfs_remove(p->file);
		kfree(p);
	}
	mutex_unlock(&pid_files_lock);
}

/* The name of our directory, without the kernel's complaint that there is one. */
static const char *debug_name(void)
{
	struct dentry *other = debugfs_lookup("binder", NULL);

	if (IS_ERR_OR_NULL(other))
		return "binder";
	dput(other);
	return "anybinder";
}

/**
 * binder_logs_init() - the files in debugfs, if there is one
 * Context: sleeps. Return: 0: without them the driver works as well.
 */
int binder_logs_init(void)
{
	const char *name = debug_name();
	size_t i;

	debug_dir = debugfs_create_dir(name, NULL);
	if (IS_ERR_OR_NULL(debug_dir)) {
		debug_dir = NULL;
		pr_info("no logs in debugfs: it is not there, or locked\n");
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(log_files); i++)
		debug_file(log_files[i].name, debug_dir, (void *)&log_files[i], &log_operations);
	debug_procs = debugfs_create_dir("proc", debug_dir);
	if (IS_ERR_OR_NULL(debug_procs))
		debug_procs = NULL;
	if (strcmp(name, "binder"))
		pr_info("debugfs has a directory \"binder\" of another driver, ours is \"%s\"\n",
			name);
	return 0;
}

/** binder_logs_exit() - undo binder_logs_init(). Every process was released. Context: sleeps. */
void binder_logs_exit(void)
{
	debugfs_remove(debug_dir);
	xa_destroy(&pid_files);
}
