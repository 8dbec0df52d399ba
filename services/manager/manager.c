// SPDX-License-Identifier: MIT
/* The manager's beginning and end. */
#include "manager.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "say.h"

static const struct ab_class manager_class = {
	.interface = AB_MANAGER_INTERFACE,
	.transact = sm_transact,
	.dump = sm_dump,
};

/* Under its own name, as Android's does. */
static int add_self(struct sm_manager *m)
{
	struct sm_service how = { .pid = getpid(), .dump_flags = AB_DUMP_DEFAULT };
	struct sm_name *name = sm_name_get(m, "manager");
	int ret = -ENOMEM;

	how.user = sm_user_get(m, geteuid());
	if (how.user && name)
		ret = sm_service_set(m, name, m->self, &how);
	if (how.user)
		sm_user_put(m, how.user);
	return ret;
}

/**
 * sm_manager_init() - a manager that knows itself only
 * @m: zeroed, but for connection, variant, device and policy
 *
 * Return: 0; -ENOMEM; -EDQUOT: the policy's limits are too low even for its own name.
 */
int sm_manager_init(struct sm_manager *m)
{
	int ret;

	sm_list_init(&m->polled_names);
	sm_list_init(&m->outbox);
	sm_list_init(&m->idle_users);
	sm_list_init(&m->limited_users);
	m->started_ms = sm_now_ms();
	ret = sm_table_init(&m->names);
	if (!ret)
		ret = sm_table_init(&m->peers);
	if (!ret)
		ret = sm_table_init(&m->users);
	if (!ret) {
		m->self = ab_object_new(m->conn, &manager_class, m);
		ret = m->self ? add_self(m) : -ENOMEM;
	}
	return ret;
}

/** sm_manager_fini() - forget everything; its connection has been closed. Zeroed is fine. */
void sm_manager_fini(struct sm_manager *m)
{
	struct sm_node *node;

	if (!m->outbox.next)
		return; /* nothing has begun */
	sm_outbox_drop(m);
	while (m->names.buckets && (node = sm_table_next(&m->names, NULL))) {
		struct sm_name *name = sm_container(node, struct sm_name, node);

		if (sm_name_taken(name))
			sm_service_clear(m, name);
		else if (!sm_list_empty(&name->watches))
			sm_watch_end(m, sm_container(name->watches.next, struct sm_watch, list));
		else
			sm_name_tidy(m, name);
	}
	while (m->users.buckets && (node = sm_table_next(&m->users, NULL)))
		sm_user_free(m, sm_container(node, struct sm_user, node));
	sm_table_fini(&m->names);
	sm_table_fini(&m->peers);
	sm_table_fini(&m->users);
	free(m->sorted);
	free(m->listed.names);
	ab_object_put(m->self);
}
