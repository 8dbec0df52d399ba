// SPDX-License-Identifier: GPL-2.0-only
#include "user/fuse/device.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "core/kapi.h"
#include "user/host/say.h"

#define NAME_BUCKETS 1024

struct binder_device {
	struct list_head entry; /* in its bucket */
	u32 index;
	u32 mode;
	u32 uid;
	u32 gid;
	struct binder_context *context; /* holds a reference */
	char name[]; /* immutable */
};

static struct {
	struct mutex lock; /* guards everything below; a leaf */
	struct list_head buckets[NAME_BUCKETS];
	struct binder_device **by_index; /* size entries */
	u32 size;
	u32 next_index;
	u32 nr;
	u32 max;
	u32 mode; /* of new devices */
} devices;

/* Names that the filesystem itself uses. */
static const char *const reserved[] = { "binder-control", "features", "binder_logs" };

static struct list_head *bucket_of(const char *name)
{
	u32 hash = 5381;

	while (*name)
		hash = hash * 33 + (u8)*name++;
	return &devices.buckets[hash % NAME_BUCKETS];
}

static struct binder_device *find_locked(const char *name)
{
	struct list_head *bucket = bucket_of(name);
	struct binder_device *dev;

	lockdep_assert_held(&devices.lock);
	list_for_each_entry(dev, bucket, entry)
		if (!strcmp(dev->name, name))
			return dev;
	return NULL;
}

static int name_check(const char *name)
{
	size_t len = strlen(name);
	size_t i;

	if (!len || len > BINDERFS_MAX_NAME || strchr(name, '/') || !strcmp(name, ".") ||
	    !strcmp(name, ".."))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(reserved); i++)
		if (!strcmp(name, reserved[i]))
			return -EEXIST;
	return 0;
}

static int index_grow_locked(void)
{
	u32 size = devices.size ? devices.size * 2 : 16;
	struct binder_device **by_index;

	lockdep_assert_held(&devices.lock);
	by_index = kvcalloc(size, sizeof(struct binder_device *), GFP_KERNEL);
	if (!by_index)
		return -ENOMEM;
	if (devices.size)
		memcpy(by_index, devices.by_index,
		       devices.size * sizeof(struct binder_device *));
	kvfree(devices.by_index);
	devices.by_index = by_index;
	devices.size = size;
	return 0;
}

/* Indexes go round, so that one is not reused while somebody still looks it up. */
static int index_take_locked(u32 *index)
{
	u32 i;

	lockdep_assert_held(&devices.lock);
	if (devices.next_index == devices.size && devices.size < BINDER_DEVICES_MAX) {
		int ret = index_grow_locked();

		if (ret)
			return ret;
	}
	for (i = 0; i < devices.size; i++) {
		u32 at = (devices.next_index + i) % devices.size;

		if (!devices.by_index[at]) {
			devices.next_index = at + 1;
			*index = at;
			return 0;
		}
	}
	return -ENOSPC;
}

static struct binder_device *device_alloc(const char *name)
{
	struct binder_device *dev = kzalloc(sizeof(*dev) + strlen(name) + 1, GFP_KERNEL);

	if (!dev)
		return NULL;
	strcpy(dev->name, name);
	dev->context = binder_context_alloc(name);
	if (!dev->context) {
		kfree(dev);
		return NULL;
	}
	dev->uid = geteuid();
	dev->gid = getegid();
	return dev;
}

static void device_free(struct binder_device *dev)
{
	binder_context_put(dev->context);
	kfree(dev);
}

static int insert_locked(struct binder_device *dev)
{
	int ret;

	lockdep_assert_held(&devices.lock);
	if (find_locked(dev->name))
		return -EEXIST;
	if (devices.nr >= devices.max)
		return -ENOSPC;
	ret = index_take_locked(&dev->index);
	if (ret)
		return ret;
	dev->mode = devices.mode;
	devices.by_index[dev->index] = dev;
	list_add_tail(&dev->entry, bucket_of(dev->name));
	devices.nr++;
	return 0;
}

/**
 * binder_device_add() - make a device
 * @index: set to its index
 * Context: may sleep.
 * Return: 0; -EINVAL for a name that cannot be a file's, -EEXIST, -ENOSPC at
 * the limit, -ENOMEM.
 */
int binder_device_add(const char *name, u32 *index)
{
	struct binder_device *dev;
	int ret = name_check(name);

	if (ret)
		return ret;
	dev = device_alloc(name);
	if (!dev)
		return -ENOMEM;
	mutex_lock(&devices.lock);
	ret = insert_locked(dev);
	if (!ret)
		*index = dev->index;
	mutex_unlock(&devices.lock);
	if (ret)
		device_free(dev);
	return ret;
}

/** binder_device_del() - unlink a device; who has it open keeps it. Return: 0 or -ENOENT. */
int binder_device_del(const char *name)
{
	struct binder_device *dev;

	mutex_lock(&devices.lock);
	dev = find_locked(name);
	if (dev) {
		list_del(&dev->entry);
		devices.by_index[dev->index] = NULL;
		devices.nr--;
	}
	mutex_unlock(&devices.lock);
	if (!dev)
		return -ENOENT;
	device_free(dev);
	return 0;
}

static void attr_fill(const struct binder_device *dev, struct binder_device_attr *attr)
{
	attr->index = dev->index;
	attr->mode = dev->mode;
	attr->uid = dev->uid;
	attr->gid = dev->gid;
	attr->gone = false;
}

/** binder_device_find() - look a device up by name. Return: 0 with @attr filled, or -ENOENT. */
int binder_device_find(const char *name, struct binder_device_attr *attr)
{
	struct binder_device *dev;

	mutex_lock(&devices.lock);
	dev = find_locked(name);
	if (dev)
		attr_fill(dev, attr);
	mutex_unlock(&devices.lock);
	return dev ? 0 : -ENOENT;
}

static struct binder_device *by_index_locked(u32 index)
{
	lockdep_assert_held(&devices.lock);
	return index < devices.size ? devices.by_index[index] : NULL;
}

/** binder_device_attr() - what stat shows of a device, also of one that is gone */
void binder_device_attr(u32 index, struct binder_device_attr *attr)
{
	struct binder_device *dev;

	mutex_lock(&devices.lock);
	dev = by_index_locked(index);
	if (dev) {
		attr_fill(dev, attr);
	} else {
		attr->index = index;
		attr->mode = devices.mode;
		attr->uid = geteuid();
		attr->gid = getegid();
		attr->gone = true;
	}
	mutex_unlock(&devices.lock);
}

/** binder_device_set_attr() - chmod and chown; NULL leaves as is. Return: 0 or -ENOENT. */
int binder_device_set_attr(u32 index, const u32 *mode, const u32 *uid, const u32 *gid)
{
	struct binder_device *dev;

	mutex_lock(&devices.lock);
	dev = by_index_locked(index);
	if (dev) {
		dev->mode = mode ? *mode & 0777 : dev->mode;
		dev->uid = uid ? *uid : dev->uid;
		dev->gid = gid ? *gid : dev->gid;
	}
	mutex_unlock(&devices.lock);
	return dev ? 0 : -ENOENT;
}

/** binder_device_next() - the first device with index @from or above. Return: is there one? */
bool binder_device_next(u32 from, struct binder_device_attr *attr)
{
	bool found = false;
	u32 i;

	mutex_lock(&devices.lock);
	for (i = from; i < devices.size && !found; i++) {
		if (!devices.by_index[i])
			continue;
		attr_fill(devices.by_index[i], attr);
		strcpy(attr->name, devices.by_index[i]->name);
		found = true;
	}
	mutex_unlock(&devices.lock);
	return found;
}

/** binder_device_context() - a device's context with a reference, or NULL when it is gone */
struct binder_context *binder_device_context(u32 index)
{
	struct binder_context *context = NULL;
	struct binder_device *dev;

	mutex_lock(&devices.lock);
	dev = by_index_locked(index);
	if (dev)
		context = binder_context_get(dev->context);
	mutex_unlock(&devices.lock);
	return context;
}

/**
 * binder_devices_init() - make the default devices
 * @names: separated by commas
 * @max: most devices there may ever be at once, these included
 * @mode: permission bits of every new device
 * Context: once, before requests are served.
 * Return: 0, or -errno after saying which device is the problem.
 */
int binder_devices_init(const char *names, u32 max, u32 mode)
{
	char *list, *name, *rest;
	int ret = 0;
	u32 index, i;

	mutex_init(&devices.lock);
	for (i = 0; i < NAME_BUCKETS; i++)
		INIT_LIST_HEAD(&devices.buckets[i]);
	devices.max = max;
	devices.mode = mode;
	list = kstrdup(names, GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	for (rest = list; !ret && (name = strsep(&rest, ",")) != NULL;) {
		if (!*name)
			continue;
		ret = binder_device_add(name, &index);
		if (ret)
			binder_say("cannot make device \"%s\": %s\n", name,
				   ret == -ENOSPC ? "more devices than --max-devices allows" :
						    strerror(-ret));
	}
	kfree(list);
	return ret;
}
