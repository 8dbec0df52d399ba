// SPDX-License-Identifier: MIT
/* Objects of others, each known once, with one link to its process's death. */
#include "manager.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t hash_of(const ab_object *object)
{
	return sm_hash(&object, sizeof(object));
}

static struct sm_peer *peer_find(const struct sm_manager *m, const ab_object *object)
{
	struct sm_node *node = sm_table_find(&m->peers, hash_of(object));

	for (; node; node = sm_table_find_next(node)) {
		struct sm_peer *peer = sm_container(node, struct sm_peer, node);

		if (peer->object == object)
			return peer;
	}
	return NULL;
}

static void peer_free(struct sm_peer *peer)
{
	ab_death_unlink(peer->link);
	ab_object_put(peer->object);
	free(peer);
}

/* It stays away from newcomers while its uses end: the dead do not come back. */
static void peer_died(void *data, ab_object *object)
{
	struct sm_peer *peer = data;

	peer->dying = true;
	while (!sm_list_empty(&peer->uses)) {
		struct sm_use *use = sm_container(peer->uses.next, struct sm_use, list);

		sm_list_del(&use->list);
		use->peer = NULL;
		use->gone(peer->manager, use);
	}
	sm_table_del(&peer->manager->peers, &peer->node);
	peer_free(peer);
}

static int peer_new(struct sm_manager *m, ab_object *object, struct sm_peer **peerp)
{
	struct sm_peer *peer = calloc(1, sizeof(*peer));
	int ret = 0;

	if (!peer)
		return -ENOMEM;
	peer->manager = m;
	peer->object = ab_object_get(object);
	sm_list_init(&peer->uses);
	if (ab_object_is_remote(object))
		ret = ab_death_link(object, peer_died, peer, &peer->link);
	if (ret) {
		peer_free(peer);
		return ret;
	}
	sm_table_add(&m->peers, &peer->node, hash_of(object));
	*peerp = peer;
	return 0;
}

/**
 * sm_use_begin() - use an object, and hear when its process dies
 * @m: the manager
 * @use: not in use
 * @object: a reference is taken
 * @gone: called then, with @use out of use
 *
 * Return: 0; -EPIPE: it is dead already; -ENOMEM.
 */
int sm_use_begin(struct sm_manager *m, struct sm_use *use, ab_object *object,
		 void (*gone)(struct sm_manager *m, struct sm_use *use))
{
	struct sm_peer *peer = peer_find(m, object);
	int ret = peer ? (peer->dying ? -EPIPE : 0) : peer_new(m, object, &peer);

	if (ret)
		return ret;
	use->peer = peer;
	use->gone = gone;
	sm_list_add_tail(&peer->uses, &use->list);
	return 0;
}

/** sm_use_end() - let go of the object. A @use that is out of use is fine. */
void sm_use_end(struct sm_use *use)
{
	struct sm_peer *peer = use->peer;

	if (!peer)
		return;
	use->peer = NULL;
	sm_list_del(&use->list);
	if (peer->dying || !sm_list_empty(&peer->uses))
		return;
	sm_table_del(&peer->manager->peers, &peer->node);
	peer_free(peer);
}
