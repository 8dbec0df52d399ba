/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filesystems whose files live in the dentry cache only. Where a kernel lacks
 * what a newer one has, it gets it here by the newer one's name.
 */
#ifndef KMOD_COMPAT_FS_H
#define KMOD_COMPAT_FS_H

#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/string.h>

/* 6.3: how a mount maps users is told by a type of its own. */
#ifdef HAVE_MNT_IDMAP
typedef struct mnt_idmap binder_idmap;
#else
typedef struct user_namespace binder_idmap;
#endif

/* Not needed from 6.7 on. */
#ifndef HAVE_SIMPLE_INODE_INIT_TS
static inline void simple_inode_init_ts(struct inode *inode)
{
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
}
#endif

/* Not needed from 6.17 on. Returns with the directory locked, unless an error. */
#ifndef HAVE_SIMPLE_START_CREATING
static inline struct dentry *simple_start_creating(struct dentry *parent, const char *name)
{
	struct inode *dir = d_inode(parent);
	struct dentry *dentry;

	inode_lock_nested(dir, I_MUTEX_PARENT);
#ifdef HAVE_LOOKUP_NOPERM
	dentry = lookup_noperm(&QSTR(name), parent);
#else
	dentry = lookup_one_len(name, parent, strlen(name));
#endif
	if (!IS_ERR(dentry) && d_really_is_positive(dentry)) {
		dput(dentry);
		dentry = ERR_PTR(-EEXIST);
	}
	if (IS_ERR(dentry))
		inode_unlock(dir);
	return dentry;
}
#endif

/* Not needed from 6.19 on. */
#ifndef HAVE_SIMPLE_DONE_CREATING
static inline void simple_done_creating(struct dentry *child)
{
	inode_unlock(d_inode(child->d_parent));
	dput(child);
}
#endif

/*
 * 6.19: the cache knows which entries are kept by nothing but a reference of
 * their own, and drops those itself at the end of the filesystem.
 */
#ifdef HAVE_D_MAKE_PERSISTENT
static inline void binder_kill_super(struct super_block *sb)
{
	kill_anon_super(sb);
}
#else
static inline struct dentry *d_make_persistent(struct dentry *dentry, struct inode *inode)
{
	d_instantiate(dentry, inode);
	return dget(dentry);
}

static inline void binder_kill_super(struct super_block *sb)
{
	kill_litter_super(sb);
}
#endif

#endif
