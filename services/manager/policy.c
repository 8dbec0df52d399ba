// SPDX-License-Identifier: MIT
/* What a policy says. How it is read is in policy_file.c and policy_parse.c. */
#include "policy.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_BYTES 127

static const char *const right_names[SM_NR_RIGHTS] = {
	[SM_ADD] = "add",   [SM_REPLACE] = "replace", [SM_FIND] = "find",
	[SM_LIST] = "list", [SM_WATCH] = "watch",     [SM_DUMP] = "dump",
};

static const char *const resource_names[SM_NR_RESOURCES] = {
	[SM_NAMES] = "names",
	[SM_WATCHES] = "watches",
	[SM_CLIENTS] = "clients",
	[SM_TOTAL] = "total",
};

/** sm_right_name() - as the file calls it. Return: a constant. */
const char *sm_right_name(enum sm_right right)
{
	return right_names[right];
}

/** sm_resource_name() - as the file calls it. Return: a constant. */
const char *sm_resource_name(enum sm_resource resource)
{
	return resource_names[resource];
}

/**
 * sm_name_valid() - may a service have this name?
 *
 * What Android takes, and the + @ : of names with versions and packages. Nothing
 * that would have to be quoted in a line or a policy.
 */
bool sm_name_valid(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_-./+@:");

	return len && len <= NAME_MAX_BYTES && !name[len];
}

/* ---- asking ----------------------------------------------------------------------------- */

static bool in_ranges(const struct sm_range *ranges, size_t nr, uint32_t id)
{
	for (size_t i = 0; i < nr; i++) {
		if (id >= ranges[i].first && id <= ranges[i].last)
			return true;
	}
	return false;
}

static bool in_groups(const struct sm_rule *rule, const struct sm_subject *subject)
{
	const gid_t *groups;
	size_t nr = 0;

	groups = subject->groups ? subject->groups(subject->data, &nr) : NULL;
	for (size_t i = 0; i < nr; i++) {
		if (in_ranges(rule->gids, rule->nr_gids, groups[i]))
			return true;
	}
	return false;
}

static bool in_names(const struct sm_rule *rule, const char *name)
{
	for (size_t i = 0; i < rule->nr_names; i++) {
		if (!fnmatch(rule->names[i], name, 0))
			return true;
	}
	return false;
}

static bool matches(const struct sm_rule *rule, const struct sm_subject *subject,
		    enum sm_right right, const char *name)
{
	if (!(rule->rights & 1u << right))
		return false;
	if (rule->uids && !in_ranges(rule->uids, rule->nr_uids, subject->uid))
		return false;
	if (rule->names && !(name && in_names(rule, name)))
		return false;
	return !rule->gids || in_groups(rule, subject);
}

/**
 * sm_policy_ask() - may somebody do something? The first rule that matches says it.
 * @policy: the policy
 * @subject: who
 * @right: what
 * @name: with which name; NULL with SM_DUMP
 *
 * Return: yes or no, and which line says so.
 */
struct sm_verdict sm_policy_ask(const struct sm_policy *policy, const struct sm_subject *subject,
				enum sm_right right, const char *name)
{
	for (size_t i = 0; i < policy->nr_rules; i++) {
		const struct sm_rule *rule = &policy->rules[i];

		if (matches(rule, subject, right, name))
			return (struct sm_verdict){ .allow = rule->allow, .line = rule->line };
	}
	return (struct sm_verdict){ .allow = policy->defaults[right], .is_default = true,
				    .line = policy->default_line[right] };
}

/**
 * sm_policy_why() - a refusal in words
 * @policy: whose verdict it is
 * @verdict: a no
 * @buf: receives the words
 * @size: of @buf
 *
 * Return: @buf.
 */
const char *sm_policy_why(const struct sm_policy *policy, struct sm_verdict verdict, char *buf,
			  size_t size)
{
	char self[32] = "";

	if (geteuid())
		snprintf(self, sizeof(self), " and uid %u", (unsigned int)geteuid());
	if (policy->builtin)
		snprintf(buf, size,
			 "the built-in policy allows it to root%s only; %s can allow more", self,
			 policy->path);
	else if (!verdict.is_default)
		snprintf(buf, size, "the policy denies it (%s:%u)", policy->path, verdict.line);
	else if (verdict.line)
		snprintf(buf, size, "no rule allows it, and the default is no (%s:%u)",
			 policy->path, verdict.line);
	else
		snprintf(buf, size, "no rule allows it (%s)", policy->path);
	return buf;
}

/** sm_policy_declares() - does a line declare this name? */
bool sm_policy_declares(const struct sm_policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->nr_declared; i++) {
		if (!strcmp(policy->declared[i], name))
			return true;
	}
	return false;
}

static void strings_free(char **strings, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(strings[i]);
	free(strings);
}

/** sm_policy_free() - free a policy. NULL is fine. */
void sm_policy_free(struct sm_policy *policy)
{
	if (!policy)
		return;
	for (size_t i = 0; i < policy->nr_rules; i++) {
		free(policy->rules[i].uids);
		free(policy->rules[i].gids);
		strings_free(policy->rules[i].names, policy->rules[i].nr_names);
	}
	free(policy->rules);
	strings_free(policy->declared, policy->nr_declared);
	free(policy->path);
	free(policy);
}
