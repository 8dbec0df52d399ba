// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: what it is made of, in the order in which it comes up. It goes
 * down the other way round.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "core/context.h"
#include "core/proc.h"
#include "kmod/host/binderfs.h"
#include "kmod/host/devices.h"
#include "kmod/host/file.h"
#include "kmod/host/logs.h"
#include "kmod/host/lsm.h"
#include "kmod/host/mapping.h"
#include "kmod/host/netlink.h"

struct lock_class_key binder_lock_keys[BINDER_RANK_COUNT];

static char *devices = "binder,hwbinder,vndbinder";
module_param(devices, charp, 0444);
MODULE_PARM_DESC(devices, "devices of every new binderfs mount, separated by commas");

static char *nodes = "";
module_param(nodes, charp, 0444);
MODULE_PARM_DESC(nodes, "devices to make in /dev, separated by commas");

module_param_named(debug_mask, binder_debug_mask, uint, 0644);
MODULE_PARM_DESC(debug_mask, "kernel log, a bit each: 0 user errors, 1 failed transactions");

static int __init anybinder_init(void)
{
	int ret;

	binder_core_init();
	binder_lsm_announce();
	ret = binder_shrinker_init();
	if (ret)
		return ret;
	ret = binder_netlink_init();
	if (ret)
		goto err_shrinker;
	ret = binder_logs_init();
	if (ret)
		goto err_netlink;
	ret = binder_files_init();
	if (ret)
		goto err_logs;
	ret = binder_devices_init(nodes);
	if (ret)
		goto err_files;
	ret = binderfs_init(devices);
	if (ret)
		goto err_devices;
	return 0;

err_devices:
	binder_devices_exit();
err_files:
	binder_files_exit();
err_logs:
	binder_logs_exit();
err_netlink:
	binder_netlink_exit();
err_shrinker:
	binder_shrinker_exit();
	return ret;
}

static void __exit anybinder_exit(void)
{
	binderfs_exit();
	binder_devices_exit();
	binder_files_exit();
	binder_logs_exit();
	binder_netlink_exit();
	binder_shrinker_exit();
}

module_init(anybinder_init);
module_exit(anybinder_exit);

MODULE_DESCRIPTION("Binder IPC driver, independent of the one in the kernel");
MODULE_VERSION(BINDER_VERSION_TEXT);
MODULE_LICENSE("GPL v2");
