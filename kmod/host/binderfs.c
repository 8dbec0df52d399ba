// SPDX-License-Identifier: GPL-2.0-only
#include "kmod/host/binderfs.h"

#include <linux/cred.h>
#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include <linux/ipc_namespace.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/printk.h>
#include <linux/proc_ns.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "kmod/compat/fs.h"
#include "kmod/host/logs.h"
#include "kmod/host/names.h"

MODULE_ALIAS_FS("anybinder");

static const char *default_devices; /* immutable after init */

/* The options of a mount, on their way to a struct binderfs_info. */
struct mount_options {
	u32 max;
	bool stats;
};

enum { OPTION_MAX, OPTION_STATS };
enum { STATS_GLOBAL };

static const struct constant_table stats_values[] = {
	{ "global", STATS_GLOBAL },
	{}
};

static const struct fs_parameter_spec mount_parameters[] = {
	fsparam_u32("max", OPTION_MAX),
	fsparam_enum("stats", OPTION_STATS, stats_values),
	{}
};

static int options_parse(struct fs_context *fc, struct fs_parameter *param)
{
	struct mount_options *options = fc->fs_private;
	struct fs_parse_result result;
	int option = fs_parse(fc, mount_parameters, param, &result);

	switch (option) {
	case OPTION_MAX:
		if (result.uint_32 > BINDERFS_MINORS)
			return invalfc(fc, "max= is at most %u", BINDERFS_MINORS);
		options->max = result.uint_32;
		return 0;
	case OPTION_STATS:
		/* They show processes of all instances, by their pids in the first namespace. */
		if (!capable(CAP_SYS_ADMIN))
			return -EPERM;
		options->stats = true;
		return 0;
	default:
		return option;
	}
}

static void options_free(struct fs_context *fc)
{
	kfree(fc->fs_private);
}

static void inode_evict(struct inode *inode)
{
	clear_inode(inode);
	binderfs_device_evict(inode);
}

static int options_show(struct seq_file *seq, struct dentry *root)
{
	struct binderfs_info *info = binderfs_info(root->d_sb);
	unsigned int max;

	spin_lock(&info->lock);
	max = info->max;
	spin_unlock(&info->lock);
	if (max != BINDERFS_MINORS)
		seq_printf(seq, ",max=%u", max);
	if (info->stats)
		seq_puts(seq, ",stats=global");
	return 0;
}

static const struct super_operations super_operations = {
	.evict_inode = inode_evict,
	.show_options = options_show,
	.statfs = simple_statfs,
};

/* init_ipc_ns is not exported; its number is part of the interface. */
static bool in_first_ipc_ns(void)
{
	return current->nsproxy->ipc_ns->ns.inum == PROC_IPC_INIT_INO;
}

static struct binderfs_info *info_new(const struct super_block *sb,
				      const struct mount_options *options)
{
	struct binderfs_info *info = kzalloc(sizeof(*info), GFP_KERNEL);

	if (!info)
		return NULL;
	spin_lock_init(&info->lock);
	info->max = options->max;
	info->next_ino = BINDERFS_INO_OTHER;
	info->minor_last = BINDERFS_MINORS - 1;
	if (!in_first_ipc_ns())
		info->minor_last -= BINDERFS_MINORS_RESERVED;
	info->stats = options->stats;
	info->uid = make_kuid(sb->s_user_ns, 0);
	if (!uid_valid(info->uid))
		info->uid = GLOBAL_ROOT_UID;
	info->gid = make_kgid(sb->s_user_ns, 0);
	if (!gid_valid(info->gid))
		info->gid = GLOBAL_ROOT_GID;
	return info;
}

static struct dentry *root_new(struct super_block *sb)
{
	struct inode *inode = binderfs_inode_new(sb, S_IFDIR | 0755, BINDERFS_INO_ROOT);

	if (!inode)
		return NULL;
	inode->i_op = &binderfs_root_operations;
	inode->i_fop = &simple_dir_operations;
	return d_make_root(inode);
}

/* What it made before it failed, super_kill() undoes. */
static int super_fill(struct super_block *sb, struct fs_context *fc)
{
	int ret;

	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_magic = BINDERFS_SUPER_MAGIC;
	sb->s_op = &super_operations;
	sb->s_time_gran = 1;
	/* No mounter can make nodes here but by binder-control, so devices may be opened also
	 * where the mounter has no say over devices. */
	sb->s_iflags &= ~SB_I_NODEV;
	sb->s_iflags |= SB_I_NOEXEC;

	sb->s_fs_info = info_new(sb, fc->fs_private);
	if (!sb->s_fs_info)
		return -ENOMEM;
	sb->s_root = root_new(sb);
	if (!sb->s_root)
		return -ENOMEM;
	ret = binderfs_control_add(sb);
	ret = ret ?: binderfs_features_add(sb->s_root);
	if (!ret && binderfs_info(sb)->stats)
		ret = binder_logs_add(sb->s_root);
	return ret ?: binder_names_each(default_devices, binderfs_default_device_add, sb);
}

static int tree_get(struct fs_context *fc)
{
	return get_tree_nodev(fc, super_fill);
}

static int super_reconfigure(struct fs_context *fc)
{
	const struct mount_options *options = fc->fs_private;
	struct binderfs_info *info = binderfs_info(fc->root->d_sb);

	if (options->stats != info->stats)
		return invalfc(fc, "stats= cannot be changed by a remount");
	spin_lock(&info->lock);
	info->max = options->max;
	spin_unlock(&info->lock);
	return 0;
}

static const struct fs_context_operations context_operations = {
	.free = options_free,
	.parse_param = options_parse,
	.get_tree = tree_get,
	.reconfigure = super_reconfigure,
};

/* A remount keeps what it does not name. */
static int context_init(struct fs_context *fc)
{
	struct mount_options *options = kzalloc(sizeof(*options), GFP_KERNEL);
	struct binderfs_info *info;

	if (!options)
		return -ENOMEM;
	options->max = BINDERFS_MINORS;
	if (fc->purpose == FS_CONTEXT_FOR_RECONFIGURE) {
		info = binderfs_info(fc->root->d_sb);
		spin_lock(&info->lock);
		options->max = info->max;
		spin_unlock(&info->lock);
		options->stats = info->stats;
	}
	fc->fs_private = options;
	fc->ops = &context_operations;
	return 0;
}

/* Inodes need the info to the last. */
static void super_kill(struct super_block *sb)
{
	struct binderfs_info *info = binderfs_info(sb);

	binder_kill_super(sb);
	kfree(info);
}

static struct file_system_type binderfs_type = {
	.name = "binder",
	.owner = THIS_MODULE,
	.init_fs_context = context_init,
	.parameters = mount_parameters,
	.kill_sb = super_kill,
	.fs_flags = FS_USERNS_MOUNT,
};

static int type_register(void)
{
	int ret = register_filesystem(&binderfs_type);

	if (ret != -EBUSY) {
		if (!ret)
			pr_info("filesystem type \"binder\": mount -t binder binder DIRECTORY\n");
		return ret;
	}
	binderfs_type.name = "anybinder";
	ret = register_filesystem(&binderfs_type);
	if (ret)
		pr_err("filesystem types \"binder\" and \"anybinder\" are both taken\n");
	else
		pr_info("filesystem type \"binder\" is another driver's, ours is \"anybinder\": mount -t anybinder binder DIRECTORY\n");
	return ret;
}

/**
 * binderfs_init() - make the filesystem known
 * @names: devices of every mount, separated by commas; not copied
 * Context: sleeps.
 * Return: 0; -EBUSY when both its names are taken; as binder_names_check(); other -errno.
 */
int binderfs_init(const char *names)
{
	int ret = binder_names_check(names, "devices");

	if (ret)
		return ret;
	default_devices = names;
	ret = binderfs_minors_init();
	if (ret)
		return ret;
	ret = type_register();
	if (ret)
		binderfs_minors_exit();
	return ret;
}

/** binderfs_exit() - undo binderfs_init(). Nothing is mounted. Context: sleeps. */
void binderfs_exit(void)
{
	unregister_filesystem(&binderfs_type);
	binderfs_minors_exit();
}
