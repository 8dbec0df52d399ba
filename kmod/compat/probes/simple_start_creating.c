// SPDX-License-Identifier: GPL-2.0-only
/* 6.17: lock a directory and find a free name in it. */
#include <linux/fs.h>

struct dentry *probe(struct dentry *parent);
struct dentry *probe(struct dentry *parent)
{
	return simple_start_creating(parent, "probe");
}
