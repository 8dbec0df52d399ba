// SPDX-License-Identifier: GPL-2.0-only
#include "kmod/host/netlink.h"

#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "core/host.h"
#include "core/log.h"
#include "uapi/binder_netlink.h"

static const struct genl_multicast_group groups[] = {
	{ .name = BINDER_MCGRP_REPORT },
};

static struct genl_family family = {
	.name = BINDER_FAMILY_NAME,
	.version = BINDER_FAMILY_VERSION,
	.maxattr = BINDER_A_REPORT_MAX,
	.netnsok = true,
	.module = THIS_MODULE,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

/**
 * binder_netlink_init() - register the family, under its own name if another driver has "binder"
 * Context: may sleep. Return: 0 or -errno.
 */
int binder_netlink_init(void)
{
	int ret = genl_register_family(&family);

	if (ret != -EEXIST)
		return ret;
	pr_info("netlink family \"binder\" is another driver's, ours is \"anybinder\"\n");
	strscpy(family.name, "anybinder", sizeof(family.name));
	ret = genl_register_family(&family);
	if (ret)
		pr_err("netlink family \"anybinder\" cannot be registered either: error %d\n", ret);
	return ret;
}

/** binder_netlink_exit() - undo binder_netlink_init(). Context: may sleep. */
void binder_netlink_exit(void)
{
	genl_unregister_family(&family);
}

/* Return: 0 or -EMSGSIZE. */
static int report_fill(struct sk_buff *skb, const struct binder_log_entry *entry)
{
	int ret = nla_put_u32(skb, BINDER_A_REPORT_ERROR, entry->return_error);

	ret = ret ?: nla_put_string(skb, BINDER_A_REPORT_CONTEXT, entry->context);
	ret = ret ?: nla_put_u32(skb, BINDER_A_REPORT_FROM_PID, entry->from_pid);
	ret = ret ?: nla_put_u32(skb, BINDER_A_REPORT_FROM_TID, entry->from_tid);
	if (entry->to_pid)
		ret = ret ?: nla_put_u32(skb, BINDER_A_REPORT_TO_PID, entry->to_pid);
	if (entry->to_tid)
		ret = ret ?: nla_put_u32(skb, BINDER_A_REPORT_TO_TID, entry->to_tid);
	if (entry->kind == BINDER_LOG_REPLY)
		ret = ret ?: nla_put_flag(skb, BINDER_A_REPORT_IS_REPLY);
	ret = ret ?: nla_put_u32(skb, BINDER_A_REPORT_FLAGS, entry->flags);
	ret = ret ?: nla_put_u32(skb, BINDER_A_REPORT_CODE, entry->code);
	return ret ?: nla_put_u32(skb, BINDER_A_REPORT_DATA_SIZE, entry->data_size);
}

/* Nothing is lost that is not in failed_transaction_log too. */
void binder_host_report_failure(const struct binder_log_entry *entry)
{
	struct sk_buff *skb;
	void *header;

	if (!genl_has_listeners(&family, &init_net, 0))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	header = genlmsg_put(skb, 0, 0, &family, 0, BINDER_CMD_REPORT);
	if (!header || report_fill(skb, entry)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	genlmsg_multicast(&family, skb, 0, 0, GFP_KERNEL);
}
