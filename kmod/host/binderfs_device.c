// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices of a binderfs, and binder-control, which makes them.
 *
 * A device is its inode: i_private holds a reference to the context, i_rdev
 * has the number, both until the inode is evicted. An open file keeps its
 * inode, so a device that was unlinked goes on serving whoever has it open;
 * processes hold references of their own to the context. There is no list of
 * devices that could go stale.
 *
 * The inode's own file operations are the driver's: an open never asks which
 * driver has that number, so a node of the same number elsewhere opens nothing.
 */
#include "kmod/host/binderfs.h"

#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core/context.h"
#include "kmod/compat/fs.h"
#include "kmod/host/file.h"
#include "kmod/host/names.h"
#include "uapi/binderfs.h"

static dev_t first_number;	/* immutable after init */
static DEFINE_IDA(minors);	/* has its own lock; of all instances */

/**
 * binderfs_minors_init() - get the device numbers of all instances
 * Context: sleeps. Return: 0 or -errno.
 */
int binderfs_minors_init(void)
{
	return alloc_chrdev_region(&first_number, 0, BINDERFS_MINORS, "binder");
}

/** binderfs_minors_exit() - undo binderfs_minors_init(). Context: sleeps. */
void binderfs_minors_exit(void)
{
	unregister_chrdev_region(first_number, BINDERFS_MINORS);
	ida_destroy(&minors);
}

static void device_uncount(struct binderfs_info *info)
{
	spin_lock(&info->lock);
	info->devices--;
	spin_unlock(&info->lock);
}

/* Return: a free number, -ENOSPC, -ENOMEM. */
static int device_count(struct binderfs_info *info)
{
	bool room;
	int minor;

	spin_lock(&info->lock);
	room = info->devices < info->max;
	info->devices += room;
	spin_unlock(&info->lock);
	if (!room)
		return -ENOSPC;
	minor = ida_alloc_max(&minors, info->minor_last, GFP_KERNEL);
	if (minor < 0)
		device_uncount(info);
	return minor;
}

static int device_open(struct inode *inode, struct file *file)
{
	return binder_file_open(file, inode->i_private);
}

static const struct file_operations device_operations = BINDER_FILE_OPERATIONS(device_open);

static struct inode *special_inode_new(struct super_block *sb, unsigned long ino, int minor,
				       const struct file_operations *fop)
{
	struct inode *inode = binderfs_inode_new(sb, S_IFCHR | 0600, ino);

	if (!inode)
		return NULL;
	init_special_inode(inode, S_IFCHR | 0600, MKDEV(MAJOR(first_number), minor));
	inode->i_fop = fop;
	return inode;
}

/* A device without a name. iput() undoes it. */
static struct inode *device_new(struct super_block *sb, const char *name)
{
	struct binder_context *context = binder_context_alloc(name);
	struct inode *inode;
	int minor;

	if (!context)
		return ERR_PTR(-ENOMEM);
	minor = device_count(binderfs_info(sb));
	if (minor < 0) {
		binder_context_put(context);
		return ERR_PTR(minor);
	}
	inode = special_inode_new(sb, BINDERFS_INO_DEVICE + minor, minor, &device_operations);
	if (!inode) {
		ida_free(&minors, minor);
		device_uncount(binderfs_info(sb));
		binder_context_put(context);
		return ERR_PTR(-ENOMEM);
	}
	inode->i_private = context;
	return inode;
}

/* binder-control is a character device without a context. */
static bool inode_is_device(const struct inode *inode)
{
	return S_ISCHR(inode->i_mode) && inode->i_private;
}

/**
 * binderfs_device_evict() - an inode goes, and with it its number and its context if it has those
 * Context: may sleep.
 */
void binderfs_device_evict(struct inode *inode)
{
	if (!S_ISCHR(inode->i_mode))
		return;
	ida_free(&minors, iminor(inode));
	if (!inode_is_device(inode))
		return;
	device_uncount(binderfs_info(inode->i_sb));
	binder_context_put(inode->i_private);
}

/**
 * binderfs_default_device_add() - a device that every mount has, for binder_names_each()
 * @name: of the device
 * @sb: the super block, while mounting
 * Context: sleeps. Return: 0, -ENOSPC, -EEXIST, -ENOMEM.
 */
int binderfs_default_device_add(const char *name, void *sb)
{
	struct dentry *root = ((struct super_block *)sb)->s_root;
	struct inode *inode = device_new(sb, name);

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	return PTR_ERR_OR_ZERO(binderfs_entry_add(root, name, inode));
}

/* The numbers are told first: a device whose maker got an error is not there. */
static int control_add_device(struct super_block *sb, struct binderfs_device __user *user)
{
	struct binderfs_device *request = memdup_user(user, sizeof(*request));
	struct inode *inode;
	int ret = -EINVAL;

	if (IS_ERR(request))
		return PTR_ERR(request);
	request->name[BINDERFS_MAX_NAME] = '\0';
	if (!binder_name_is_sound(request->name))
		goto out;
	inode = device_new(sb, request->name);
	ret = PTR_ERR_OR_ZERO(inode);
	if (ret)
		goto out;
	request->major = imajor(inode);
	request->minor = iminor(inode);
	if (copy_to_user(user, request, sizeof(*request))) {
		iput(inode);
		ret = -EFAULT;
		goto out;
	}
	ret = PTR_ERR_OR_ZERO(binderfs_entry_add(sb->s_root, request->name, inode));
out:
	kfree(request);
	return ret;
}

static long control_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	if (cmd != BINDER_CTL_ADD)
		return -EINVAL;
	return control_add_device(file_inode(file)->i_sb, (void __user *)arg);
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.unlocked_ioctl = control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

/**
 * binderfs_control_add() - binder-control of a mount
 * It has a number of its own, so that rules for device numbers can tell it from devices, but does
 * not count as one.
 * Context: sleeps. Return: 0, -ENOSPC, -ENOMEM.
 */
int binderfs_control_add(struct super_block *sb)
{
	int minor = ida_alloc_max(&minors, binderfs_info(sb)->minor_last, GFP_KERNEL);
	struct inode *inode;

	if (minor < 0)
		return minor;
	inode = special_inode_new(sb, BINDERFS_INO_CONTROL, minor, &control_operations);
	if (!inode) {
		ida_free(&minors, minor);
		return -ENOMEM;
	}
	return PTR_ERR_OR_ZERO(binderfs_entry_add(sb->s_root, "binder-control", inode));
}

static int root_unlink(struct inode *dir, struct dentry *dentry)
{
	if (!inode_is_device(d_inode(dentry)))
		return -EPERM;
	return simple_unlink(dir, dentry);
}

/* Only devices get other names, and only in place of no entry or of a device. */
static int root_rename(binder_idmap *idmap, struct inode *old_dir, struct dentry *old_dentry,
		       struct inode *new_dir, struct dentry *new_dentry, unsigned int flags)
{
	if (new_dir != old_dir || !inode_is_device(d_inode(old_dentry)) ||
	    (d_really_is_positive(new_dentry) && !inode_is_device(d_inode(new_dentry))))
		return -EPERM;
	return simple_rename(idmap, old_dir, old_dentry, new_dir, new_dentry, flags);
}

const struct inode_operations binderfs_root_operations = {
	.lookup = simple_lookup,
	.unlink = root_unlink,
	.rename = root_rename,
};
