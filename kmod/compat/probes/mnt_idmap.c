// SPDX-License-Identifier: GPL-2.0-only
/* 6.3: inode operations get a struct mnt_idmap. */
#include <linux/fs.h>

static int rename(struct mnt_idmap *idmap, struct inode *old_dir, struct dentry *old_dentry,
		  struct inode *new_dir, struct dentry *new_dentry, unsigned int flags)
{
	return simple_rename(idmap, old_dir, old_dentry, new_dir, new_dentry, flags);
}

extern const struct inode_operations probe;
const struct inode_operations probe = { .rename = rename };
