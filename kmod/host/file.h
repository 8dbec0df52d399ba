/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One open of a device, from open() to the deferred release. Whoever makes
 * device nodes (binderfs.c, devices.c) supplies its own open(), which knows
 * the context, and takes the rest from here.
 */
#ifndef KMOD_HOST_FILE_H
#define KMOD_HOST_FILE_H

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>

struct binder_context;

int binder_files_init(void);
void binder_files_exit(void);

int binder_file_open(struct file *file, struct binder_context *context);
int binder_file_flush(struct file *file, fl_owner_t id);
int binder_file_release(struct inode *inode, struct file *file);
int binder_file_mmap(struct file *file, struct vm_area_struct *vma);
__poll_t binder_file_poll(struct file *file, struct poll_table_struct *table);
long binder_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* The file operations of a device node. Protocol 8 looks the same to 32-bit programs. */
#define BINDER_FILE_OPERATIONS(open_function)		\
	{						\
		.owner = THIS_MODULE,			\
		.open = (open_function),		\
		.flush = binder_file_flush,		\
		.release = binder_file_release,		\
		.mmap = binder_file_mmap,		\
		.poll = binder_file_poll,		\
		.unlocked_ioctl = binder_file_ioctl,	\
		.compat_ioctl = compat_ptr_ioctl,	\
	}

#endif
