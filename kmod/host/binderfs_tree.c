// SPDX-License-Identifier: GPL-2.0-only
#include "kmod/host/binderfs.h"

#include <linux/fsnotify.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "kmod/compat/fs.h"

/* What the core can do, and clients may ask for: a file each. */
static const char *const features[] = {
	"extended_error",
};

/**
 * binderfs_inode_new() - an inode that nothing refers to yet
 * Context: may sleep. Return: the inode, for binderfs_entry_add() or iput(); NULL: no memory.
 */
struct inode *binderfs_inode_new(struct super_block *sb, umode_t mode, unsigned long ino)
{
	const struct binderfs_info *info = binderfs_info(sb);
	struct inode *inode = new_inode(sb);

	if (!inode)
		return NULL;
	inode->i_ino = ino;
	inode->i_mode = mode;
	inode->i_uid = info->uid;
	inode->i_gid = info->gid;
	simple_inode_init_ts(inode);
	if (S_ISDIR(mode))
		set_nlink(inode, 2);
	return inode;
}

/**
 * binderfs_entry_add() - give an inode a name
 * @parent: a directory
 * @name: what to call it
 * @inode: may be NULL, which is out of memory; the reference is taken over, also on failure
 * Context: sleeps; takes the directory's lock.
 * Return: the entry, good for as long as nobody can remove it; -EEXIST, -ENOMEM.
 */
struct dentry *binderfs_entry_add(struct dentry *parent, const char *name, struct inode *inode)
{
	struct inode *dir = d_inode(parent);
	struct dentry *dentry;

	if (!inode)
		return ERR_PTR(-ENOMEM);
	dentry = simple_start_creating(parent, name);
	if (IS_ERR(dentry)) {
		iput(inode);
		return dentry;
	}
	d_make_persistent(dentry, inode);
	simple_inode_init_ts(dir);
	if (S_ISDIR(inode->i_mode)) {
		inc_nlink(dir);
		fsnotify_mkdir(dir, dentry);
	} else {
		fsnotify_create(dir, dentry);
	}
	simple_done_creating(dentry);
	return dentry;
}

static unsigned long ino_next(struct super_block *sb)
{
	return binderfs_info(sb)->next_ino++;
}

/**
 * binderfs_dir_add() - a directory, while mounting
 * @parent: where
 * @name: what to call it
 * @iop: NULL for one that has what was put there and that nobody can change
 * @fop: with @iop
 * Context: sleeps. Return: as binderfs_entry_add().
 */
struct dentry *binderfs_dir_add(struct dentry *parent, const char *name,
				const struct inode_operations *iop,
				const struct file_operations *fop)
{
	struct super_block *sb = parent->d_sb;
	struct inode *inode = binderfs_inode_new(sb, S_IFDIR | 0755, ino_next(sb));

	if (inode) {
		inode->i_op = iop ?: &simple_dir_inode_operations;
		inode->i_fop = fop ?: &simple_dir_operations;
	}
	return binderfs_entry_add(parent, name, inode);
}

/**
 * binderfs_file_add() - a file that all may read, while mounting
 * @parent: where
 * @name: what to call it
 * @fop: how to read it
 * @data: for i_private; outlives the mount
 * Context: sleeps. Return: 0, -EEXIST, -ENOMEM.
 */
int binderfs_file_add(struct dentry *parent, const char *name, const struct file_operations *fop,
		      const void *data)
{
	struct super_block *sb = parent->d_sb;
	struct inode *inode = binderfs_inode_new(sb, S_IFREG | 0444, ino_next(sb));

	if (inode) {
		inode->i_fop = fop;
		inode->i_private = (void *)data;
	}
	return PTR_ERR_OR_ZERO(binderfs_entry_add(parent, name, inode));
}

static ssize_t feature_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	return simple_read_from_buffer(buf, count, pos, "1\n", 2);
}

static const struct file_operations feature_operations = {
	.owner = THIS_MODULE,
	.read = feature_read,
	.llseek = generic_file_llseek,
};

/** binderfs_features_add() - features/ of a mount. Context: sleeps. Return: 0 or -ENOMEM. */
int binderfs_features_add(struct dentry *root)
{
	struct dentry *dir = binderfs_dir_add(root, "features", NULL, NULL);
	size_t i;
	int ret;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	for (i = 0; i < ARRAY_SIZE(features); i++) {
		ret = binderfs_file_add(dir, features[i], &feature_operations, NULL);
		if (ret)
			return ret;
	}
	return 0;
}
