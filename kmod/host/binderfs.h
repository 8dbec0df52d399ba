/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filesystem. Each mount is an instance of its own:
 *
 *   /            binder-control, devices, features/, binder_logs/
 *   features/    one file for each feature of the driver
 *   binder_logs/ with stats=global: logs.h
 *
 * binderfs.c has the super block and the mount options, binderfs_device.c the
 * devices and binder-control, binderfs_tree.c what makes files.
 */
#ifndef KMOD_HOST_BINDERFS_H
#define KMOD_HOST_BINDERFS_H

#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/* Device numbers there are, and kept back for mounts in the first ipc namespace. */
#define BINDERFS_MINORS (1U << MINORBITS)
#define BINDERFS_MINORS_RESERVED 4

/* Inode numbers. Devices have theirs from BINDERFS_INO_DEVICE on, by minor number. */
enum {
	BINDERFS_INO_ROOT = 1,
	BINDERFS_INO_CONTROL = 2,
	BINDERFS_INO_DEVICE = 3,
	BINDERFS_INO_OTHER = BINDERFS_INO_DEVICE + BINDERFS_MINORS,
	BINDERFS_INO_PROC = 1 << 24, /* and a pid, which has up to 22 bits */
};

/**
 * struct binderfs_info - an instance
 * @lock: a leaf
 * @max: devices there may be
 * @devices: that there are, also those removed and still open
 * @next_ino: for what is neither device nor process; while mounting only
 * @minor_last: the highest device number for this instance
 * @stats: has binder_logs
 * @uid: owner of all files: root of the mounter's user namespace
 */
struct binderfs_info {
	spinlock_t lock;
	unsigned int max __guarded_by(&lock);
	unsigned int devices __guarded_by(&lock);
	unsigned long next_ino;
	/* immutable after mount: */
	unsigned int minor_last;
	bool stats;
	kuid_t uid;
	kgid_t gid;
};

static inline struct binderfs_info *binderfs_info(struct super_block *sb)
{
	return sb->s_fs_info;
}

int binderfs_init(const char *names);
void binderfs_exit(void);

/* binderfs_device.c */
int binderfs_minors_init(void);
void binderfs_minors_exit(void);
int binderfs_control_add(struct super_block *sb);
int binderfs_default_device_add(const char *name, void *sb);
void binderfs_device_evict(struct inode *inode);
extern const struct inode_operations binderfs_root_operations;

/* binderfs_tree.c */
struct inode *binderfs_inode_new(struct super_block *sb, umode_t mode, unsigned long ino);
struct dentry *binderfs_entry_add(struct dentry *parent, const char *name, struct inode *inode);
struct dentry *binderfs_dir_add(struct dentry *parent, const char *name,
				const struct inode_operations *iop,
				const struct file_operations *fop);
int binderfs_file_add(struct dentry *parent, const char *name, const struct file_operations *fop,
		      const void *data);
int binderfs_features_add(struct dentry *root);

#endif
