/* SPDX-License-Identifier: MIT */
/*
 * The service manager: names for objects, and who wants to hear of them.
 *
 * One thread does everything, so there are no locks. While it sends, however, it
 * may hear of deaths and be called again; so only the outbox sends, and nothing
 * that goes through a list does.
 *
 * Words. A *name* is what services are known by; it exists while something is
 * known about it. A *service* is the object that has a name. A *watch* waits for a
 * service to get a name, a *client callback* for the clients of one to come and
 * go. A *peer* is an object of somebody else's, in *use* as any of these. A *user*
 * is a uid.
 */
#ifndef SM_MANAGER_H
#define SM_MANAGER_H

#include "anybinder.h"

#include "limit.h"
#include "list.h"
#include "policy.h"
#include "table.h"

#define SM_NAME "anybinder-servicemanager"
/* How soon client callbacks hear of a change. */
#define SM_POLL_MS 5000

/* What lines and counters of refusals are kept apart by. */
enum sm_reason {
	SM_NOT_ALLOWED, /* SM_NOT_ALLOWED + right */
	SM_BAD_NAME = SM_NOT_ALLOWED + SM_NR_RIGHTS,
	SM_TOO_MANY,
	SM_BAD_STATE,
	SM_BAD_CALL,
	SM_NOT_TOLD,
	SM_TOO_LONG,
	SM_NR_REASONS,
};

/**
 * struct sm_user - a uid, and what it has here
 * @node: manager->users
 * @refs: of what it has, and of calls; without any it is idle, and may be forgotten
 * @idle: manager->idle_users
 * @limited: manager->limited_users, while lines are held back
 * @name: of the account, or ""
 * @groups: of the account; @grouped: they have been looked up
 * @counts: what it has, by resource
 * @refused: how often, and @limits: lines about that, by reason
 */
struct sm_user {
	struct sm_node node;
	uid_t uid;
	unsigned int refs;
	struct sm_list idle, limited;
	char name[33];
	gid_t *groups;
	size_t nr_groups;
	bool grouped;
	unsigned int counts[SM_TOTAL];
	uint64_t refused[SM_NR_REASONS];
	struct sm_limit limits[SM_NR_REASONS];
};

/**
 * struct sm_peer - an object, and what it is used for
 * @node: manager->peers
 * @object: counted
 * @link: to its process's death; NULL for one of our own
 * @uses: of struct sm_use
 * @dying: its uses are being ended
 */
struct sm_peer {
	struct sm_node node;
	struct sm_manager *manager;
	ab_object *object;
	ab_death *link;
	struct sm_list uses;
	bool dying;
};

/** struct sm_use - one of the uses of a peer; @gone is called when its process has died */
struct sm_use {
	struct sm_list list;
	struct sm_peer *peer;
	void (*gone)(struct sm_manager *m, struct sm_use *use);
};

/**
 * struct sm_service - the object that has a name
 * @use: of the object; its peer is NULL when nobody has the name
 * @user: who added it; counted
 * @pid: for people only; 0 if not known
 * @has_clients: as its callbacks were told last
 * @handed_out: to somebody, since clients were counted last
 */
struct sm_service {
	struct sm_use use;
	struct sm_user *user;
	pid_t pid;
	uint32_t dump_flags;
	bool isolated;
	bool has_clients, handed_out;
};

/**
 * struct sm_name - a name of which something is known
 * @node: manager->names
 * @watches: of struct sm_watch
 * @callbacks: of struct sm_callback, of the service
 * @polled: manager->polled_names, while there are callbacks
 */
struct sm_name {
	struct sm_node node;
	struct sm_service service;
	struct sm_list watches, callbacks, polled;
	char text[];
};

/** struct sm_watch - a callback for a name */
struct sm_watch {
	struct sm_list list;
	struct sm_use use;
	struct sm_user *user;
	struct sm_name *name;
};

/** struct sm_callback - a callback for a service's clients */
struct sm_callback {
	struct sm_list list;
	struct sm_use use;
	struct sm_user *user;
	struct sm_name *name;
};

/**
 * struct sm_manager - all there is
 * @self: our object
 * @sorted: the names with services; valid unless NULL; @nr_sorted of them
 * @listed: the last list for somebody, for those who take it one by one
 * @poll_at_ms: when clients are counted next; 0: nobody wants to know
 * @poll_left: names to be looked at in this round
 * @outbox: of calls to be made
 * @all_lines: no more lines than this about all users together
 * @calls: served, by call; the last is of unknown ones
 */
struct sm_manager {
	ab_conn *conn;
	ab_object *self;
	enum ab_variant variant;
	const char *device, *policy_path;
	struct sm_policy *policy;
	struct sm_table names, peers, users;
	unsigned int totals[SM_TOTAL];
	const struct sm_name **sorted;
	size_t nr_sorted;
	struct {
		const struct sm_name **names;
		size_t nr;
		uid_t uid;
		uint32_t dump_flags;
	} listed;
	struct sm_list polled_names;
	uint64_t poll_at_ms;
	size_t poll_left;
	struct sm_list outbox;
	size_t nr_outbox;
	bool sending;
	struct sm_list idle_users, limited_users;
	size_t nr_idle;
	struct sm_limit all_lines;
	uint64_t calls[AB_SM_NR + 1];
	uint64_t started_ms;
};

int sm_manager_init(struct sm_manager *m);
void sm_manager_fini(struct sm_manager *m);

/* ---- users.c ---- */
struct sm_user *sm_user_get(struct sm_manager *m, uid_t uid);
void sm_user_put(struct sm_manager *m, struct sm_user *user);
void sm_user_free(struct sm_manager *m, struct sm_user *user);
bool sm_user_has_room(const struct sm_manager *m, const struct sm_user *user,
		      enum sm_resource resource);
void sm_user_charge(struct sm_manager *m, struct sm_user *user, enum sm_resource resource);
void sm_user_uncharge(struct sm_manager *m, struct sm_user *user, enum sm_resource resource);
struct sm_verdict sm_user_ask(struct sm_manager *m, struct sm_user *user, enum sm_right right,
			      const char *name);
void sm_user_line(struct sm_manager *m, struct sm_user *user, enum sm_reason reason, pid_t pid,
		  const char *text);
void sm_users_summarize(struct sm_manager *m);
void sm_users_forget_groups(struct sm_manager *m);
const char *sm_reason_name(enum sm_reason reason);

/* ---- peers.c ---- */
int sm_use_begin(struct sm_manager *m, struct sm_use *use, ab_object *object,
		 void (*gone)(struct sm_manager *m, struct sm_use *use));
void sm_use_end(struct sm_use *use);

/* ---- names.c ---- */
struct sm_name *sm_name_find(struct sm_manager *m, const char *text);
struct sm_name *sm_name_get(struct sm_manager *m, const char *text);
void sm_name_tidy(struct sm_manager *m, struct sm_name *name);
bool sm_name_taken(const struct sm_name *name);
int sm_service_set(struct sm_manager *m, struct sm_name *name, ab_object *object,
		   const struct sm_service *how);
void sm_service_clear(struct sm_manager *m, struct sm_name *name);
void sm_names_stale(struct sm_manager *m);
int sm_names_sorted(struct sm_manager *m, const struct sm_name ***names, size_t *nr);

/* ---- watches.c ---- */
int sm_watch_add(struct sm_manager *m, struct sm_name *name, struct sm_user *user,
		 ab_object *object);
struct sm_watch *sm_watch_find(struct sm_name *name, const struct sm_user *user,
			       const ab_object *object);
void sm_watch_end(struct sm_manager *m, struct sm_watch *watch);
void sm_watches_tell(struct sm_manager *m, struct sm_name *name, const ab_object *only);

/* ---- clients.c ---- */
int sm_callback_add(struct sm_manager *m, struct sm_name *name, struct sm_user *user,
		    ab_object *object);
void sm_callback_end(struct sm_manager *m, struct sm_callback *callback);
void sm_callbacks_end(struct sm_manager *m, struct sm_name *name);
int sm_clients_count(const struct sm_name *name, uint32_t *clients);
void sm_clients_poll(struct sm_manager *m);

/* ---- outbox.c ---- */
void sm_outbox_put(struct sm_manager *m, ab_object *target, struct sm_user *user,
		   ab_parcel *parcel, const char *what);
void sm_outbox_send(struct sm_manager *m);
void sm_outbox_drop(struct sm_manager *m);

/* ---- calls.c, dump.c ---- */
int sm_transact(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out);
int sm_dump(void *data, const struct ab_call_info *info, int fd, const char *const *args,
	    size_t nr_args);

#endif
