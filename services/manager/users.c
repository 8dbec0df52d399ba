// SPDX-License-Identifier: MIT
/*
 * Users: what each uid has, may do, and was refused. Those that have nothing are
 * remembered for a while, so that lines about them stay few.
 */
#include "manager.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

#define IDLE_MAX 1024
#define GROUPS_MAX 65536
/* Lines in SM_LIMIT_WINDOW_MS: about one user for one reason, and in all. */
#define BURST_USER 5
#define BURST_ALL 100

static const char *const reason_names[SM_NR_REASONS] = {
	[SM_BAD_NAME] = "bad name",	 [SM_TOO_MANY] = "too many",
	[SM_BAD_STATE] = "bad state",	 [SM_BAD_CALL] = "bad call",
	[SM_NOT_TOLD] = "not told",	 [SM_TOO_LONG] = "reply too long",
};

/** sm_reason_name() - Return: a constant. */
const char *sm_reason_name(enum sm_reason reason)
{
	return reason < SM_BAD_NAME ? sm_right_name((enum sm_right)reason) : reason_names[reason];
}

static uint64_t hash_of(uid_t uid)
{
	return sm_hash(&uid, sizeof(uid));
}

static void summarize(struct sm_user *user, uint64_t held, enum sm_reason reason)
{
	char text[32];

	sm_say(SM_NOTICE, "uid %u%s%s%s: and %s more like this (%s)", (unsigned int)user->uid,
	       *user->name ? " (" : "", user->name, *user->name ? ")" : "",
	       sm_number(held, text), sm_reason_name(reason));
}

/** sm_user_free() - forget a user who has nothing */
void sm_user_free(struct sm_manager *m, struct sm_user *user)
{
	for (int i = 0; i < SM_NR_REASONS; i++) {
		if (user->limits[i].held)
			summarize(user, user->limits[i].held, (enum sm_reason)i);
	}
	if (!sm_list_empty(&user->idle))
		m->nr_idle--;
	sm_list_del(&user->idle);
	sm_list_del(&user->limited);
	sm_table_del(&m->users, &user->node);
	free(user->groups);
	free(user);
}

static struct sm_user *user_new(struct sm_manager *m, uid_t uid)
{
	struct sm_user *user = calloc(1, sizeof(*user));
	const struct passwd *account;

	if (!user)
		return NULL;
	user->uid = uid;
	account = getpwuid(uid);
	if (account)
		sm_quote(account->pw_name, user->name, sizeof(user->name));
	sm_list_init(&user->idle);
	sm_list_init(&user->limited);
	sm_table_add(&m->users, &user->node, hash_of(uid));
	return user;
}

/**
 * sm_user_get() - a user, for sm_user_put()
 * Return: NULL when out of memory.
 */
struct sm_user *sm_user_get(struct sm_manager *m, uid_t uid)
{
	struct sm_node *node = sm_table_find(&m->users, hash_of(uid));
	struct sm_user *user;

	while (node && sm_container(node, struct sm_user, node)->uid != uid)
		node = sm_table_find_next(node);
	user = node ? sm_container(node, struct sm_user, node) : user_new(m, uid);
	if (!user)
		return NULL;
	if (!sm_list_empty(&user->idle)) {
		sm_list_del(&user->idle);
		m->nr_idle--;
	}
	user->refs++;
	return user;
}

/** sm_user_put() - the call, or what the user had, is gone */
void sm_user_put(struct sm_manager *m, struct sm_user *user)
{
	if (--user->refs)
		return;
	sm_list_add_tail(&m->idle_users, &user->idle);
	if (++m->nr_idle > IDLE_MAX)
		sm_user_free(m, sm_container(m->idle_users.next, struct sm_user, idle));
}

/* ---- what he has ------------------------------------------------------------------------ */

/** sm_user_has_room() - may the user have one more? */
bool sm_user_has_room(const struct sm_manager *m, const struct sm_user *user,
		      enum sm_resource resource)
{
	uint64_t total = 0;

	for (int i = 0; i < SM_TOTAL; i++)
		total += m->totals[i];
	return user->counts[resource] < m->policy->limits[resource] &&
	       total < m->policy->limits[SM_TOTAL];
}

/** sm_user_charge() - the user has one more */
void sm_user_charge(struct sm_manager *m, struct sm_user *user, enum sm_resource resource)
{
	user->refs++;
	user->counts[resource]++;
	m->totals[resource]++;
}

/** sm_user_uncharge() - the user has one less; it may be gone after this */
void sm_user_uncharge(struct sm_manager *m, struct sm_user *user, enum sm_resource resource)
{
	user->counts[resource]--;
	m->totals[resource]--;
	sm_user_put(m, user);
}

/* ---- what he may ------------------------------------------------------------------------ */

/* Without an account there are no groups: the driver vouches for the uid only. */
static void groups_look_up(struct sm_user *user)
{
	const struct passwd *account = getpwuid(user->uid);
	int room = 64, nr;

	user->grouped = true;
	while (account && room <= GROUPS_MAX) {
		nr = room;
		free(user->groups);
		user->groups = calloc((size_t)room, sizeof(*user->groups));
		if (!user->groups)
			return;
		if (getgrouplist(account->pw_name, account->pw_gid, user->groups, &nr) >= 0) {
			user->nr_groups = (size_t)nr;
			return;
		}
		room = nr > room ? nr : 2 * room;
	}
}

static const gid_t *groups(void *data, size_t *nr)
{
	struct sm_user *user = data;

	if (!user->grouped)
		groups_look_up(user);
	*nr = user->nr_groups;
	return user->groups;
}

/** sm_user_ask() - ask the policy about a user. Return: its verdict. */
struct sm_verdict sm_user_ask(struct sm_manager *m, struct sm_user *user, enum sm_right right,
			      const char *name)
{
	struct sm_subject subject = { .uid = user->uid, .groups = groups, .data = user };

	return sm_policy_ask(m->policy, &subject, right, name);
}

/** sm_users_forget_groups() - look them up again, when they are needed again */
void sm_users_forget_groups(struct sm_manager *m)
{
	struct sm_node *node = NULL;

	while ((node = sm_table_next(&m->users, node))) {
		struct sm_user *user = sm_container(node, struct sm_user, node);

		free(user->groups);
		user->groups = NULL;
		user->nr_groups = 0;
		user->grouped = false;
	}
}

/* ---- what he was refused ---------------------------------------------------------------- */

/* For people: who it is may have changed by the time that they read it. */
static const char *command_of(pid_t pid, char *buf, size_t size)
{
	char path[64], raw[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = pid > 0 ? fopen(path, "re") : NULL;
	if (file) {
		if (!fgets(raw, sizeof(raw), file))
			raw[0] = '\0';
		fclose(file);
	}
	raw[strcspn(raw, "\n")] = '\0';
	return sm_quote(raw, buf, size);
}

static void line_print(const struct sm_user *user, pid_t pid, const char *text)
{
	char command[64], process[128] = "";

	command_of(pid, command, sizeof(command));
	if (pid > 0)
		snprintf(process, sizeof(process), ", pid %d%s%s%s", (int)pid,
			 *command ? " (" : "", command, *command ? ")" : "");
	sm_say(SM_NOTICE, "refused: uid %u%s%s%s%s: %s", (unsigned int)user->uid,
	       *user->name ? " (" : "", user->name, *user->name ? ")" : "", process, text);
}

/**
 * sm_user_line() - say what a user was refused, if not too often
 * @m: the manager
 * @user: who
 * @reason: counted; lines are limited for each
 * @pid: of his process, or 0
 * @text: what and why
 */
void sm_user_line(struct sm_manager *m, struct sm_user *user, enum sm_reason reason, pid_t pid,
		  const char *text)
{
	struct sm_limit *limit = &user->limits[reason];
	uint64_t now = sm_now_ms();

	user->refused[reason]++;
	if (sm_limit_say(limit, BURST_USER, now)) {
		if (sm_limit_say(&m->all_lines, BURST_ALL, now)) {
			line_print(user, pid, text);
			return;
		}
		sm_limit_hold(limit);
	}
	if (sm_list_empty(&user->limited))
		sm_list_add_tail(&m->limited_users, &user->limited);
}

/** sm_users_summarize() - tell of lines that were held back, of each kind after a while */
void sm_users_summarize(struct sm_manager *m)
{
	struct sm_list *item, *next;
	uint64_t now = sm_now_ms();

	sm_limit_due(&m->all_lines, BURST_ALL, now);
	for (item = m->limited_users.next; item != &m->limited_users; item = next) {
		struct sm_user *user = sm_container(item, struct sm_user, limited);
		bool held = false;

		next = item->next;
		for (int i = 0; i < SM_NR_REASONS; i++) {
			uint64_t due = sm_limit_due(&user->limits[i], BURST_USER, now);

			if (due)
				summarize(user, due, (enum sm_reason)i);
			held = held || user->limits[i].held;
		}
		if (!held)
			sm_list_del(&user->limited);
	}
}
