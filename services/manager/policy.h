/* SPDX-License-Identifier: MIT */
/*
 * Who may do what: rules from a file, by uid, group and name. This file knows no
 * binder. The format is documented in anybinder-servicemanager.conf(5).
 */
#ifndef SM_POLICY_H
#define SM_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * enum sm_right - what rules are about
 * @SM_ADD: to take a name that is free, or that the same uid has; also to ask about clients
 * @SM_REPLACE: to take a name over from another uid
 * @SM_FIND: to get the service of a name
 * @SM_LIST: to have a name in a list
 * @SM_WATCH: to be told when a name is added
 * @SM_DUMP: to read the manager's state; rules for it have no name
 */
enum sm_right { SM_ADD, SM_REPLACE, SM_FIND, SM_LIST, SM_WATCH, SM_DUMP, SM_NR_RIGHTS };

/* What is limited: for each uid, and SM_TOTAL for all together. */
enum sm_resource { SM_NAMES, SM_WATCHES, SM_CLIENTS, SM_TOTAL, SM_NR_RESOURCES };

struct sm_range {
	uint32_t first, last;
};

/** struct sm_rule - one line; a list that is NULL matches everybody or everything */
struct sm_rule {
	bool allow;
	unsigned int rights; /* bits 1 << SM_... */
	unsigned int line;
	struct sm_range *uids, *gids;
	size_t nr_uids, nr_gids;
	char **names;
	size_t nr_names;
};

/**
 * struct sm_policy - a policy
 * @path: of its file, for messages
 * @builtin: there is no file
 * @defaults: what holds when no rule matches; @default_line is 0 where no line says so
 */
struct sm_policy {
	char *path;
	bool builtin;
	struct sm_rule *rules;
	size_t nr_rules, rules_capacity;
	bool defaults[SM_NR_RIGHTS];
	unsigned int default_line[SM_NR_RIGHTS];
	unsigned int limits[SM_NR_RESOURCES];
	bool limited[SM_NR_RESOURCES]; /* by a line */
	char **declared;
	size_t nr_declared, declared_capacity;
};

/** struct sm_verdict - what a policy says; @line is 0 when no line does */
struct sm_verdict {
	bool allow;
	bool is_default;
	unsigned int line;
};

/**
 * struct sm_subject - about whom
 * @groups: those that the uid is a member of; asked only when a rule needs to know. NULL: none
 * @data: for @groups
 */
struct sm_subject {
	uid_t uid;
	const gid_t *(*groups)(void *data, size_t *nr);
	void *data;
};

#define SM_POLICY_ERROR_MAX 512

int sm_policy_read(struct sm_policy **policy, const char *path, char error[SM_POLICY_ERROR_MAX]);
int sm_policy_parse(struct sm_policy **policy, const char *path, const char *text,
		    char error[SM_POLICY_ERROR_MAX]);
int sm_policy_builtin(struct sm_policy **policy, const char *path);
void sm_policy_free(struct sm_policy *policy);

struct sm_verdict sm_policy_ask(const struct sm_policy *policy, const struct sm_subject *subject,
				enum sm_right right, const char *name);
const char *sm_policy_why(const struct sm_policy *policy, struct sm_verdict verdict, char *buf,
			  size_t size);
bool sm_policy_declares(const struct sm_policy *policy, const char *name);

const char *sm_right_name(enum sm_right right);
const char *sm_resource_name(enum sm_resource resource);
bool sm_name_valid(const char *name);

#endif
