// SPDX-License-Identifier: MIT
/* Names, and the services that have them. */
#include "manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** sm_name_find() - Return: what is known of a name, or NULL. */
struct sm_name *sm_name_find(struct sm_manager *m, const char *text)
{
	struct sm_node *node = sm_table_find(&m->names, sm_hash(text, strlen(text)));

	for (; node; node = sm_table_find_next(node)) {
		struct sm_name *name = sm_container(node, struct sm_name, node);

		if (!strcmp(name->text, text))
			return name;
	}
	return NULL;
}

/** sm_name_get() - a name to be filled, for sm_name_tidy(). Return: NULL when out of memory. */
struct sm_name *sm_name_get(struct sm_manager *m, const char *text)
{
	struct sm_name *name = sm_name_find(m, text);
	size_t size = strlen(text) + 1;

	if (name)
		return name;
	name = calloc(1, sizeof(*name) + size);
	if (!name)
		return NULL;
	memcpy(name->text, text, size);
	sm_list_init(&name->watches);
	sm_list_init(&name->callbacks);
	sm_list_init(&name->polled);
	sm_table_add(&m->names, &name->node, sm_hash(text, size - 1));
	return name;
}

/** sm_name_tidy() - forget a name of which nothing is known any more */
void sm_name_tidy(struct sm_manager *m, struct sm_name *name)
{
	if (sm_name_taken(name) || !sm_list_empty(&name->watches))
		return;
	sm_table_del(&m->names, &name->node);
	free(name);
}

/** sm_name_taken() - has a service this name? */
bool sm_name_taken(const struct sm_name *name)
{
	return name->service.user;
}

/* ---- services --------------------------------------------------------------------------- */

/** sm_names_stale() - lists must be made again: names, or who may see them, have changed */
void sm_names_stale(struct sm_manager *m)
{
	free(m->sorted);
	free(m->listed.names);
	m->sorted = NULL;
	m->listed.names = NULL;
}

/* The name has no service any more, however that came. */
static void service_drop(struct sm_manager *m, struct sm_name *name)
{
	sm_callbacks_end(m, name);
	sm_use_end(&name->service.use);
	sm_user_uncharge(m, name->service.user, SM_NAMES);
	memset(&name->service, 0, sizeof(name->service));
	sm_names_stale(m);
}

static void service_gone(struct sm_manager *m, struct sm_use *use)
{
	sm_service_clear(m, sm_container(use, struct sm_name, service.use));
}

/** sm_service_clear() - take a name from its service; the name may be gone afterwards */
void sm_service_clear(struct sm_manager *m, struct sm_name *name)
{
	service_drop(m, name);
	sm_name_tidy(m, name);
}

/**
 * sm_service_set() - give a name to an object, whoever has it
 * @m: the manager
 * @name: the name
 * @object: the service; a reference is taken
 * @how: who adds it and what is to be known about it
 *
 * Whoever has the name keeps it if this fails. The same object again keeps its
 * client callbacks, another loses them.
 *
 * Return: 0; -EPIPE: the object is dead; -EDQUOT: the user has too many; -ENOMEM.
 */
int sm_service_set(struct sm_manager *m, struct sm_name *name, ab_object *object,
		   const struct sm_service *how)
{
	struct sm_use *use = &name->service.use;
	struct sm_use next = { 0 };
	bool own = sm_name_taken(name) && name->service.user == how->user;
	int ret;

	if (own && use->peer->object == object) {
		name->service.pid = how->pid;
		name->service.dump_flags = how->dump_flags;
		name->service.isolated = how->isolated;
		sm_names_stale(m);
		return 0;
	}
	if (!own && !sm_user_has_room(m, how->user, SM_NAMES))
		return -EDQUOT;
	/* Held from here on, so that beginning its use again cannot fail. */
	ret = sm_use_begin(m, &next, object, service_gone);
	if (ret)
		return ret;
	if (sm_name_taken(name))
		service_drop(m, name);
	name->service = *how;
	sm_use_begin(m, use, object, service_gone);
	sm_use_end(&next);
	sm_user_charge(m, how->user, SM_NAMES);
	sm_names_stale(m);
	return 0;
}

/* ---- in order --------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct sm_name *const *left = a, *const *right = b;

	return strcmp((*left)->text, (*right)->text);
}

/**
 * sm_names_sorted() - the names that have services
 * @m: the manager
 * @names: receives them, valid until one comes or goes
 * @nr: receives their number
 *
 * Return: 0; -ENOMEM.
 */
int sm_names_sorted(struct sm_manager *m, const struct sm_name ***names, size_t *nr)
{
	struct sm_node *node = NULL;

	if (!m->sorted) {
		m->sorted = calloc(m->totals[SM_NAMES] + 1, sizeof(*m->sorted));
		if (!m->sorted)
			return -ENOMEM;
		m->nr_sorted = 0;
		while ((node = sm_table_next(&m->names, node))) {
			const struct sm_name *name = sm_container(node, struct sm_name, node);

			if (sm_name_taken(name))
				m->sorted[m->nr_sorted++] = name;
		}
		qsort(m->sorted, m->nr_sorted, sizeof(*m->sorted), compare);
	}
	*names = m->sorted;
	*nr = m->nr_sorted;
	return 0;
}
