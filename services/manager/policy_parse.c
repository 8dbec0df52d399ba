// SPDX-License-Identifier: MIT
/*
 * Understanding a policy. It is taken as a whole or not at all, and what is wrong is
 * said with file and line: a rule that is misread may open what it was to close.
 */
#include "policy.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_DEFAULT 20000
#define TOTAL_DEFAULT 200000
#define BLANKS " \t\r"

/** struct reader - a policy being read; @rest is what is left of the line */
struct reader {
	struct sm_policy *policy;
	unsigned int line;
	char *rest;
	char *error;
};

static int bad(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Say what is wrong with a line. Return: -EINVAL. */
static int bad(struct reader *r, const char *fmt, ...)
{
	int len = snprintf(r->error, SM_POLICY_ERROR_MAX, "%s:%u: ", r->policy->path, r->line);
	va_list args;

	if (len < 0 || len >= SM_POLICY_ERROR_MAX)
		return -EINVAL;
	va_start(args, fmt);
	vsnprintf(r->error + len, SM_POLICY_ERROR_MAX - (size_t)len, fmt, args);
	va_end(args);
	return -EINVAL;
}

static int no_memory(struct reader *r)
{
	bad(r, "out of memory");
	return -ENOMEM;
}

/* The line's next word. Return: NULL at its end. */
static char *word(struct reader *r)
{
	char *start = r->rest + strspn(r->rest, BLANKS);
	size_t len = strcspn(start, BLANKS);

	if (!*start || *start == '#')
		return NULL;
	r->rest = start + len;
	if (*r->rest)
		*r->rest++ = '\0';
	return start;
}

/* Room for one more. */
static void *grown(void *array, size_t nr, size_t *capacity, size_t size)
{
	void *more;

	if (nr < *capacity)
		return array;
	more = realloc(array, (*capacity ? 2 * *capacity : 8) * size);
	if (more)
		*capacity = *capacity ? 2 * *capacity : 8;
	return more;
}

/* ---- who -------------------------------------------------------------------------------- */

/* A number at the start of @text, at most the last uid there is. Return: what follows, or NULL. */
static const char *number(const char *text, uint32_t *value)
{
	unsigned long long n;
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	n = strtoull(text, &end, 10);
	*value = (uint32_t)n;
	return end - text <= 10 && n < UINT32_MAX ? end : NULL;
}

static int range_read(struct reader *r, const char *text, struct sm_range *range)
{
	const char *rest = number(text, &range->first);

	range->last = range->first;
	if (rest && *rest == '-')
		rest = number(rest + 1, &range->last);
	if (!rest || *rest || range->last < range->first)
		return bad(r, "%s is no number, nor a range such as 1000-1999", text);
	return 0;
}

static int user_read(struct reader *r, const char *text, struct sm_range *range)
{
	const struct passwd *user;

	if (!strcmp(text, "@self")) {
		range->first = range->last = geteuid();
		return 0;
	}
	if (isdigit((unsigned char)*text))
		return range_read(r, text, range);
	user = getpwnam(text);
	if (!user)
		return bad(r, "there is no user %s; name one, a number, a range, @self or *", text);
	range->first = range->last = user->pw_uid;
	return 0;
}

static int group_read(struct reader *r, const char *text, struct sm_range *range)
{
	const struct group *group;

	if (isdigit((unsigned char)*text))
		return range_read(r, text, range);
	group = getgrnam(text);
	if (!group)
		return bad(r, "there is no group %s; name one, a number, a range or *", text);
	range->first = range->last = group->gr_gid;
	return 0;
}

static int ranges_read(struct reader *r, char *list, bool users, struct sm_range **ranges,
		       size_t *nr)
{
	size_t capacity = *nr;
	char *item;
	int ret = 0;

	while (!ret && (item = strsep(&list, ","))) {
		struct sm_range range = { 0, UINT32_MAX }, *more;

		if (strcmp(item, "*"))
			ret = users ? user_read(r, item, &range) : group_read(r, item, &range);
		if (ret)
			break;
		more = grown(*ranges, *nr, &capacity, sizeof(range));
		if (!more)
			return no_memory(r);
		*ranges = more;
		more[(*nr)++] = range;
	}
	return ret;
}

static int names_read(struct reader *r, char *list, struct sm_rule *rule)
{
	size_t capacity = rule->nr_names;
	char *item;

	while ((item = strsep(&list, ","))) {
		char **more = grown(rule->names, rule->nr_names, &capacity, sizeof(*more));

		if (!more)
			return no_memory(r);
		rule->names = more;
		if (!*item)
			return bad(r, "name= wants a pattern such as org.example.*");
		more[rule->nr_names] = strdup(item);
		if (!more[rule->nr_names])
			return no_memory(r);
		rule->nr_names++;
	}
	return 0;
}

/* ---- lines ------------------------------------------------------------------------------ */

static int rights_read(struct reader *r, char *list, unsigned int *rights)
{
	char *item;

	while ((item = strsep(&list, ","))) {
		enum sm_right right = 0;

		if (!strcmp(item, "all")) {
			*rights |= (1u << SM_NR_RIGHTS) - 1;
			continue;
		}
		while (right < SM_NR_RIGHTS && strcmp(item, sm_right_name(right)))
			right++;
		if (right == SM_NR_RIGHTS)
			return bad(r, "there is no right %s; there are add, replace, find, list, watch, dump and all",
				   item);
		*rights |= 1u << right;
	}
	return 0;
}

static int condition_read(struct reader *r, char *text, struct sm_rule *rule)
{
	char *value = strchr(text, '=') + 1;

	if (!strncmp(text, "uid=", 4))
		return ranges_read(r, value, true, &rule->uids, &rule->nr_uids);
	if (!strncmp(text, "gid=", 4))
		return ranges_read(r, value, false, &rule->gids, &rule->nr_gids);
	if (!strncmp(text, "name=", 5))
		return names_read(r, value, rule);
	return bad(r, "%.*s is unknown here; uid=, gid= and name= are known",
		   (int)(value - text), text);
}

static int rule_check(struct reader *r, const struct sm_rule *rule)
{
	if (!rule->rights)
		return bad(r, "allow or deny what? add, replace, find, list, watch, dump or all");
	if (!rule->uids && !rule->gids)
		return bad(r, "whom? say uid= or gid=; uid=* is everybody");
	if (rule->names && rule->rights == 1u << SM_DUMP)
		return bad(r, "dump has nothing to do with names: leave name= out");
	return 0;
}

static int rule_read(struct reader *r, bool allow)
{
	struct sm_policy *policy = r->policy;
	struct sm_rule *rule;
	char *text;
	int ret = 0;

	rule = grown(policy->rules, policy->nr_rules, &policy->rules_capacity, sizeof(*rule));
	if (!rule)
		return no_memory(r);
	policy->rules = rule;
	rule += policy->nr_rules++;
	*rule = (struct sm_rule){ .allow = allow, .line = r->line };
	while (!ret && (text = word(r))) {
		if (strchr(text, '='))
			ret = condition_read(r, text, rule);
		else
			ret = rights_read(r, text, &rule->rights);
	}
	return ret ? ret : rule_check(r, rule);
}

static int default_read(struct reader *r)
{
	struct sm_policy *policy = r->policy;
	const char *what = word(r);
	unsigned int rights = 0;
	char *text;
	int ret = 0;

	if (!what || (strcmp(what, "allow") && strcmp(what, "deny")))
		return bad(r, "default wants allow or deny, then which rights");
	while (!ret && (text = word(r)))
		ret = rights_read(r, text, &rights);
	if (ret)
		return ret;
	if (!rights)
		rights = (1u << SM_NR_RIGHTS) - 1;
	for (enum sm_right right = 0; right < SM_NR_RIGHTS; right++) {
		if (!(rights & 1u << right))
			continue;
		if (policy->default_line[right])
			return bad(r, "line %u says already what is the default for %s",
				   policy->default_line[right], sm_right_name(right));
		policy->defaults[right] = !strcmp(what, "allow");
		policy->default_line[right] = r->line;
	}
	return 0;
}

static int limit_read(struct reader *r)
{
	const char *what = word(r), *text = word(r), *rest;
	enum sm_resource resource = 0;
	uint32_t value = 0;

	while (what && resource < SM_NR_RESOURCES && strcmp(what, sm_resource_name(resource)))
		resource++;
	if (!what || resource == SM_NR_RESOURCES)
		return bad(r, "limit wants names, watches, clients or total, then a number");
	rest = text ? number(text, &value) : NULL;
	if (!rest || *rest || word(r))
		return bad(r, "limit %s wants one number", what);
	if (r->policy->limited[resource])
		return bad(r, "there is a limit of %s in a line above", what);
	r->policy->limited[resource] = true;
	r->policy->limits[resource] = value;
	return 0;
}

static int declare_read(struct reader *r)
{
	struct sm_policy *policy = r->policy;
	const char *name = word(r);
	char **more;

	if (!name)
		return bad(r, "declare wants names of services");
	for (; name; name = word(r)) {
		if (!sm_name_valid(name))
			return bad(r, "%s cannot be the name of a service", name);
		more = grown(policy->declared, policy->nr_declared, &policy->declared_capacity,
			     sizeof(*more));
		if (!more)
			return no_memory(r);
		policy->declared = more;
		more[policy->nr_declared] = strdup(name);
		if (!more[policy->nr_declared])
			return no_memory(r);
		policy->nr_declared++;
	}
	return 0;
}

static int line_read(struct reader *r)
{
	const char *first = word(r);

	if (!first)
		return 0;
	if (!strcmp(first, "allow") || !strcmp(first, "deny"))
		return rule_read(r, *first == 'a');
	if (!strcmp(first, "default"))
		return default_read(r);
	if (!strcmp(first, "limit"))
		return limit_read(r);
	if (!strcmp(first, "declare"))
		return declare_read(r);
	return bad(r, "%s is no word for the beginning of a line; there are allow, deny, default, limit, declare",
		   first);
}

/* ---- texts ------------------------------------------------------------------------------ */

static struct sm_policy *policy_new(const char *path)
{
	struct sm_policy *policy = calloc(1, sizeof(*policy));

	if (!policy)
		return NULL;
	policy->path = strdup(path);
	for (int i = 0; i < SM_TOTAL; i++)
		policy->limits[i] = LIMIT_DEFAULT;
	policy->limits[SM_TOTAL] = TOTAL_DEFAULT;
	return policy;
}

/**
 * sm_policy_parse() - a policy from a text
 * @policyp: receives it, for sm_policy_free()
 * @path: what to call it in messages
 * @text: the lines
 * @error: receives words for what is wrong
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int sm_policy_parse(struct sm_policy **policyp, const char *path, const char *text,
		    char error[SM_POLICY_ERROR_MAX])
{
	struct reader r = { .policy = policy_new(path), .error = error };
	char *copy = strdup(text), *next = copy;
	int ret = 0;

	*policyp = NULL;
	snprintf(error, SM_POLICY_ERROR_MAX, "%s: out of memory", path);
	if (!r.policy || !r.policy->path || !copy)
		ret = -ENOMEM;
	while (!ret && (r.rest = strsep(&next, "\n"))) {
		r.line++;
		ret = line_read(&r);
	}
	free(copy);
	if (ret)
		sm_policy_free(r.policy);
	else
		*policyp = r.policy;
	return ret;
}
