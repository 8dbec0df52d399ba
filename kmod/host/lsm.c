// SPDX-License-Identifier: GPL-2.0-only
/*
 * The security hooks of binder. Mainline does not export them to modules, some
 * distributions do; the build finds out (BINDER_LSM_HOOKS in probed.h). What
 * they are asked about is the opener's credentials, not the task's, which an
 * exec may have changed since.
 */
#include "kmod/host/lsm.h"

#include <linux/security.h>

#include "core/host.h"
#include "core/proc.h"

#ifdef BINDER_LSM_HOOKS

/** binder_lsm_announce() - say at load whether security modules are asked. Context: any. */
void binder_lsm_announce(void)
{
	pr_info("security modules are asked before each transaction and transfer\n");
}

int binder_host_may_manage(struct binder_proc *proc)
{
	return security_binder_set_context_mgr(proc->host.cred);
}

int binder_host_may_call(struct binder_proc *from, struct binder_proc *to)
{
	return security_binder_transaction(from->host.cred, to->host.cred);
}

int binder_host_may_transfer(struct binder_proc *from, struct binder_proc *to)
{
	return security_binder_transfer_binder(from->host.cred, to->host.cred);
}

#else

/** binder_lsm_announce() - say at load whether security modules are asked. Context: any. */
void binder_lsm_announce(void)
{
	pr_info("this kernel does not export security_binder_*: security modules (SELinux, Smack) are NOT asked about binder calls\n");
}

int binder_host_may_manage(struct binder_proc *proc)
{
	return 0;
}

int binder_host_may_call(struct binder_proc *from, struct binder_proc *to)
{
	return 0;
}

int binder_host_may_transfer(struct binder_proc *from, struct binder_proc *to)
{
	return 0;
}

#endif
