// SPDX-License-Identifier: GPL-2.0-only
#include "kmod/host/devices.h"

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/context.h"
#include "kmod/host/file.h"
#include "kmod/host/names.h"

struct plain_device {
	struct list_head entry;
	struct miscdevice misc;
	struct binder_context *context; /* holds a reference; owns the name, too */
};

/* Only at load and at unload. */
static LIST_HEAD(plain_devices);

static int plain_device_open(struct inode *inode, struct file *file)
{
	struct plain_device *device;

	device = container_of(file->private_data, struct plain_device, misc);
	return binder_file_open(file, device->context);
}

static const struct file_operations plain_device_operations =
	BINDER_FILE_OPERATIONS(plain_device_open);

static bool file_exists(const char *folder, const char *name)
{
	char *file = kasprintf(GFP_KERNEL, "%s/%s", folder, name);
	struct path path;
	bool exists;

	exists = file && !kern_path(file, 0, &path);
	if (exists)
		path_put(&path);
	kfree(file);
	return exists;
}

/*
 * Registering would find out about the first, too, but not without a stack dump in the log; and
 * behind the second there would be no device file, without a word.
 */
static bool name_is_taken(const char *name)
{
	return file_exists("/sys/class/misc", name) || file_exists("/dev", name);
}

static void plain_device_free(struct plain_device *device)
{
	binder_context_put(device->context);
	kfree(device);
}

static int plain_device_add(const char *name, void *arg)
{
	struct plain_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	int ret;

	if (!device)
		return -ENOMEM;
	device->context = binder_context_alloc(name);
	if (!device->context) {
		kfree(device);
		return -ENOMEM;
	}
	device->misc.minor = MISC_DYNAMIC_MINOR;
	device->misc.name = device->context->name;
	device->misc.fops = &plain_device_operations;
	ret = name_is_taken(name) ? -EEXIST : misc_register(&device->misc);
	if (!ret) {
		list_add(&device->entry, &plain_devices);
		return 0;
	}
	if (ret == -EEXIST)
		pr_err("device /dev/%s exists: another driver, or a link, has the name. Load with nodes= of other names or of none, and mount a binderfs\n",
		       name);
	else
		pr_err("device /dev/%s cannot be registered: error %d\n", name, ret);
	plain_device_free(device);
	return ret;
}

/**
 * binder_devices_init() - make a device in /dev for each name
 * @names: separated by commas; may be empty
 * Context: sleeps.
 * Return: 0; -EEXIST when a name is taken; as binder_names_check(); -ENOMEM. The kernel log has the
 * reason, and no device is left.
 */
int binder_devices_init(const char *names)
{
	int ret = binder_names_check(names, "nodes");

	ret = ret ?: binder_names_each(names, plain_device_add, NULL);
	if (ret)
		binder_devices_exit();
	return ret;
}

/** binder_devices_exit() - undo binder_devices_init(). None is open. Context: sleeps. */
void binder_devices_exit(void)
{
	struct plain_device *device, *next;

	list_for_each_entry_safe(device, next, &plain_devices, entry) {
		list_del(&device->entry);
		misc_deregister(&device->misc);
		plain_device_free(device);
	}
}
