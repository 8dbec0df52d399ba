// SPDX-License-Identifier: GPL-2.0-only
#include "kmod/host/names.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "uapi/binderfs.h"

/* What every binderfs has beside its devices. */
static const char *const reserved[] = { "binder-control", "binder_logs", "features" };

/**
 * binder_name_is_sound() - can a file be called that?
 * Context: any. Return: false for "", ".", ".." and what has a slash or is too long.
 */
bool binder_name_is_sound(const char *name)
{
	return *name && strlen(name) <= BINDERFS_MAX_NAME && !strchr(name, '/') &&
	       strcmp(name, ".") && strcmp(name, "..");
}

/**
 * binder_names_each() - call a function for each name of a list
 * @names: empty names in it are passed over; binder_names_check() found it good
 * @fn: gets a name, good for the call only
 * @arg: for @fn
 * Context: as @fn. Return: the first result of @fn that is not 0, else 0.
 */
int binder_names_each(const char *names, int (*fn)(const char *name, void *arg), void *arg)
{
	char name[BINDERFS_MAX_NAME + 1];
	size_t len;
	int ret;

	for (; *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		if (!len)
			continue;
		if (len >= sizeof(name))
			return -E2BIG;
		memcpy(name, names, len);
		name[len] = '\0';
		ret = fn(name, arg);
		if (ret)
			return ret;
	}
	return 0;
}

struct check {
	const char *parameter;
	const char *wanted;
	int seen;
};

static int count_equal(const char *name, void *arg)
{
	struct check *check = arg;

	check->seen += !strcmp(name, check->wanted);
	return 0;
}

static int check_one(const char *name, void *arg)
{
	struct check *check = arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reserved); i++)
		if (!strcmp(name, reserved[i])) {
			pr_err("%s=: no device can be called %s\n", check->parameter, name);
			return -EEXIST;
		}
	if (binder_name_is_sound(name))
		return 0;
	pr_err("%s=: \"%s\" cannot be the name of a device\n", check->parameter, name);
	return -EINVAL;
}

static int check_twice(const char *name, void *arg)
{
	struct check *check = arg;
	struct check count = { .wanted = name };

	binder_names_each(check->wanted, count_equal, &count);
	if (count.seen == 1)
		return 0;
	pr_err("%s=: %s is there %d times\n", check->parameter, name, count.seen);
	return -EEXIST;
}

/**
 * binder_names_check() - are the names of a list good for devices, and different?
 * @names: the list
 * @parameter: the module parameter it came from, for the kernel log
 * Context: may sleep.
 * Return: 0; -E2BIG for a name that is too long; -EINVAL for one no file can have; -EEXIST for one
 * that is there twice or that a binderfs needs for itself. The kernel log has the reason.
 */
int binder_names_check(const char *names, const char *parameter)
{
	struct check check = { .parameter = parameter, .wanted = names };
	int ret = binder_names_each(names, check_one, &check);

	if (ret == -E2BIG)
		pr_err("%s=: a name has more than %d bytes\n", parameter, BINDERFS_MAX_NAME);
	return ret ?: binder_names_each(names, check_twice, &check);
}
