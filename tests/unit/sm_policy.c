// SPDX-License-Identifier: MIT
/* Policies: what is read, what is refused with which words, and what they say. */
#include "services/manager/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned int cases;

#define FAIL(...)                                                   \
	do {                                                        \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);     \
		fprintf(stderr, __VA_ARGS__);                       \
		fprintf(stderr, "\n");                              \
		exit(1);                                            \
	} while (0)

#define CHECK(cond)                                     \
	do {                                            \
		if (!(cond))                            \
			FAIL("not true: %s", #cond);    \
	} while (0)

static struct sm_policy *parse(const char *text)
{
	char error[SM_POLICY_ERROR_MAX];
	struct sm_policy *policy;

	if (sm_policy_parse(&policy, "p", text, error))
		FAIL("%s\nof:\n%s", error, text);
	return policy;
}

/* ---- what is wrong ---------------------------------------------------------------------- */

static const struct {
	const char *text, *error;
} wrong[] = {
	{ "alow all uid=0", "p:1: alow is no word for the beginning of a line" },
	{ "\n\n  # x\nallow", "p:4: allow or deny what?" },
	{ "allow add", "p:1: whom? say uid= or gid=; uid=* is everybody" },
	{ "allow uid=0", "p:1: allow or deny what?" },
	{ "allow ad uid=0", "p:1: there is no right ad; there are add, replace" },
	{ "allow add,,find uid=0", "p:1: there is no right ;" },
	{ "allow add uid=", "p:1: there is no user ;" },
	{ "allow add uid=no-such-user", "p:1: there is no user no-such-user" },
	{ "allow add gid=no-such-group", "p:1: there is no group no-such-group" },
	{ "allow add uid=12x", "p:1: 12x is no number" },
	{ "allow add uid=5-3", "p:1: 5-3 is no number, nor a range" },
	{ "allow add uid=5-", "p:1: 5- is no number, nor a range" },
	{ "allow add uid=1-2-3", "p:1: 1-2-3 is no number, nor a range" },
	{ "allow add uid=4294967295", "p:1: 4294967295 is no number" },
	{ "allow add uid=99999999999999999999", "p:1: 99999999999999999999 is no number" },
	{ "allow add uid=-1", "p:1: there is no user -1" },
	{ "allow add uid=0 nam=x", "p:1: nam= is unknown here" },
	{ "allow add uid=0 pid=1", "p:1: pid= is unknown here" },
	{ "allow add uid=0 name=", "p:1: name= wants a pattern" },
	{ "allow add uid=0 name=a,,b", "p:1: name= wants a pattern" },
	{ "allow dump uid=0 name=a", "p:1: dump has nothing to do with names" },
	{ "default", "p:1: default wants allow or deny" },
	{ "default maybe", "p:1: default wants allow or deny" },
	{ "default deny\ndefault allow find", "p:2: line 1 says already what is the default for find" },
	{ "limit", "p:1: limit wants names, watches" },
	{ "limit apples 3", "p:1: limit wants names, watches" },
	{ "limit names", "p:1: limit names wants one number" },
	{ "limit names 3 4", "p:1: limit names wants one number" },
	{ "limit names -3", "p:1: limit names wants one number" },
	{ "limit names 3\nlimit names 4", "p:2: there is a limit of names in a line above" },
	{ "declare", "p:1: declare wants names" },
	{ "declare a b,c", "p:1: b,c cannot be the name of a service" },
};

static void test_what_is_wrong_is_said_with_its_line(void)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char error[SM_POLICY_ERROR_MAX] = "";
		struct sm_policy *policy;

		if (sm_policy_parse(&policy, "p", wrong[i].text, error) != -EINVAL || policy)
			FAIL("no error: %s", wrong[i].text);
		if (strncmp(error, wrong[i].error, strlen(wrong[i].error)))
			FAIL("\"%s\", wanted \"%s\"", error, wrong[i].error);
		cases++;
	}
}

/* ---- what they say ---------------------------------------------------------------------- */

static const gid_t *three_groups(void *data, size_t *nr)
{
	static const gid_t groups[] = { 100, 27, 1000 };

	++*(int *)data;
	*nr = 3;
	return groups;
}

struct question {
	uid_t uid;
	enum sm_right right;
	const char *name;
	bool allow;
	unsigned int line;
};

static void ask_all(const char *text, const struct question *questions, size_t nr)
{
	struct sm_policy *policy = parse(text);
	int asked = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct question *q = &questions[i];
		struct sm_subject subject = { q->uid, three_groups, &asked };
		struct sm_verdict verdict = sm_policy_ask(policy, &subject, q->right, q->name);

		if (verdict.allow != q->allow || verdict.line != q->line)
			FAIL("question %zu: %d by line %u, wanted %d by line %u, of:\n%s", i,
			     verdict.allow, verdict.line, q->allow, q->line, text);
		cases++;
	}
	sm_policy_free(policy);
}

#define ASK(text, ...)                                                                       \
	do {                                                                                 \
		static const struct question questions_[] = { __VA_ARGS__ };                 \
		ask_all(text, questions_, sizeof(questions_) / sizeof(questions_[0]));       \
	} while (0)

static void test_the_first_rule_that_matches_holds(void)
{
	ASK("deny add uid=5 name=a.*\n"
	    "allow add,find uid=5-7,9\n"
	    "deny find uid=*\n",
	    { 5, SM_ADD, "a.b", false, 1 }, { 5, SM_ADD, "a", true, 2 },
	    { 5, SM_ADD, "b.a.b", true, 2 }, { 6, SM_ADD, "a.b", true, 2 },
	    { 8, SM_ADD, "x", false, 0 }, { 9, SM_FIND, "x", true, 2 },
	    { 10, SM_FIND, "x", false, 3 }, { 5, SM_LIST, "x", false, 0 },
	    { 0, SM_ADD, "x", false, 0 });
}

static void test_an_empty_policy_allows_nothing(void)
{
	ASK("", { 0, SM_ADD, "x", false, 0 }, { 0, SM_FIND, "x", false, 0 },
	    { 0, SM_DUMP, NULL, false, 0 });
}

static void test_defaults_hold_when_no_rule_does(void)
{
	ASK("default allow find watch\n"
	    "default deny list\n"
	    "deny find uid=3\n",
	    { 1, SM_FIND, "x", true, 1 }, { 1, SM_WATCH, "x", true, 1 },
	    { 1, SM_LIST, "x", false, 2 }, { 1, SM_ADD, "x", false, 0 },
	    { 3, SM_FIND, "x", false, 3 });
	ASK("default allow\n", { 1, SM_ADD, "x", true, 1 }, { 1, SM_DUMP, NULL, true, 1 });
}

static void test_groups_are_those_of_the_subject(void)
{
	ASK("allow add gid=27\n"
	    "allow find gid=28-99\n"
	    "allow list gid=900-1100\n"
	    "allow watch uid=1 gid=100\n",
	    { 1, SM_ADD, "x", true, 1 }, { 1, SM_FIND, "x", false, 0 },
	    { 1, SM_LIST, "x", true, 3 }, { 1, SM_WATCH, "x", true, 4 },
	    { 2, SM_WATCH, "x", false, 0 });
}

static void test_groups_are_asked_for_when_they_matter(void)
{
	struct sm_policy *policy = parse("allow add uid=1\nallow find gid=27\n");
	int asked = 0;
	struct sm_subject subject = { 1, three_groups, &asked };

	CHECK(sm_policy_ask(policy, &subject, SM_ADD, "x").allow && !asked);
	CHECK(sm_policy_ask(policy, &subject, SM_FIND, "x").allow && asked == 1);
	/* Without an account there are none. */
	subject.groups = NULL;
	CHECK(!sm_policy_ask(policy, &subject, SM_FIND, "x").allow);
	sm_policy_free(policy);
	cases++;
}

static void test_patterns_are_the_shells(void)
{
	ASK("allow add uid=* name=a?c,[xy]*,*/default\n",
	    { 1, SM_ADD, "abc", true, 1 }, { 1, SM_ADD, "abbc", false, 0 },
	    { 1, SM_ADD, "y.z/w", true, 1 }, { 1, SM_ADD, "z", false, 0 },
	    { 1, SM_ADD, "z.q/default", true, 1 }, { 1, SM_ADD, "z.q/defaults", false, 0 });
}

static void test_users_may_be_named(void)
{
	ASK("allow add uid=root\n"
	    "allow find uid=@self gid=*\n",
	    { 0, SM_ADD, "x", true, 1 }, { 1, SM_ADD, "x", false, 0 });
	ASK("allow add uid=@self,54321\n", { 54321, SM_ADD, "x", true, 1 },
	    { 54322, SM_ADD, "x", false, 0 });
}

static void test_words_may_stand_in_many_ways(void)
{
	ASK("\tallow  add\tfind  name=x uid=1 uid=2   # why not\r\n"
	    "   # only a comment\n"
	    "deny uid=* all",
	    { 1, SM_ADD, "x", true, 1 }, { 2, SM_FIND, "x", true, 1 },
	    { 2, SM_FIND, "y", false, 3 }, { 2, SM_DUMP, NULL, false, 3 });
}

static void test_the_builtin_policy_is_safe(void)
{
	struct sm_policy *policy;
	struct sm_subject root = { 0, NULL, NULL }, other = { 54321, NULL, NULL };
	char why[300];

	CHECK(!sm_policy_builtin(&policy, "/etc/x"));
	for (enum sm_right right = 0; right < SM_NR_RIGHTS; right++)
		CHECK(sm_policy_ask(policy, &root, right, "x").allow);
	CHECK(sm_policy_ask(policy, &other, SM_FIND, "x").allow);
	CHECK(sm_policy_ask(policy, &other, SM_LIST, "x").allow);
	CHECK(sm_policy_ask(policy, &other, SM_WATCH, "x").allow);
	CHECK(!sm_policy_ask(policy, &other, SM_ADD, "x").allow);
	CHECK(!sm_policy_ask(policy, &other, SM_REPLACE, "x").allow);
	CHECK(!sm_policy_ask(policy, &other, SM_DUMP, NULL).allow);
	sm_policy_why(policy, sm_policy_ask(policy, &other, SM_ADD, "x"), why, sizeof(why));
	CHECK(strstr(why, "the built-in policy") && strstr(why, "/etc/x"));
	sm_policy_free(policy);
	cases++;
}

/* ---- the rest of the file --------------------------------------------------------------- */

static void test_limits_and_declarations_are_read(void)
{
	struct sm_policy *policy = parse("limit names 7\nlimit total 0\n"
					 "declare a.I/x a.I/y\ndeclare b\n");

	CHECK(policy->limits[SM_NAMES] == 7 && policy->limits[SM_TOTAL] == 0);
	CHECK(policy->limits[SM_WATCHES] == 20000 && policy->limits[SM_CLIENTS] == 20000);
	CHECK(policy->nr_declared == 3);
	CHECK(sm_policy_declares(policy, "a.I/y") && !sm_policy_declares(policy, "a.I"));
	sm_policy_free(policy);
	cases++;
}

static void test_names_are_checked(void)
{
	char name[130];

	memset(name, 'x', sizeof(name));
	name[128] = '\0';
	CHECK(!sm_name_valid(name));
	name[127] = '\0';
	CHECK(sm_name_valid(name));
	CHECK(sm_name_valid("a.B-9_c/d+e@1.0::f"));
	CHECK(!sm_name_valid("") && !sm_name_valid("a b") && !sm_name_valid("\xc3\xa4"));
	CHECK(!sm_name_valid("a\n") && !sm_name_valid("a\"b") && !sm_name_valid("a,b"));
	cases++;
}

/* ---- files ------------------------------------------------------------------------------ */

static void read_wrong(const char *path, int error, const char *words)
{
	char text[SM_POLICY_ERROR_MAX] = "";
	struct sm_policy *policy;
	int ret = sm_policy_read(&policy, path, text);

	if (ret != error || policy)
		FAIL("%s: %d, wanted %d", path, ret, error);
	if (!strstr(text, words))
		FAIL("\"%s\" is not in \"%s\"", words, text);
	cases++;
}

static void file_write(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, text, len) == (ssize_t)len && !close(fd));
}

static void test_files_that_others_can_write_are_refused(void)
{
	char dir[] = "/tmp/sm-policy-XXXXXX", path[64], error[SM_POLICY_ERROR_MAX];
	struct sm_policy *policy;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/policy", dir);
	read_wrong(path, -ENOENT, "No such file");
	file_write(path, "allow all uid=0\n", 16);
	CHECK(!sm_policy_read(&policy, path, error) && policy->nr_rules == 1);
	sm_policy_free(policy);
	CHECK(!chmod(path, 0620));
	read_wrong(path, -EINVAL, "others than its owner can write it; chmod go-w");
	CHECK(!chmod(path, 0600));
	if (!geteuid()) {
		CHECK(!chown(path, 54321, 0));
		read_wrong(path, -EINVAL, "belongs to uid 54321, who could change it");
		CHECK(!chown(path, 0, 0));
	}
	file_write(path, "allow\0all", 9);
	read_wrong(path, -EINVAL, "zero bytes");
	read_wrong(dir, -EINVAL, "not a file");
	CHECK(!unlink(path) && !rmdir(dir));
}

/* Whatever is in it, reading it ends, and nothing is lost: run it under a sanitizer. */
static void test_garbage_is_refused_or_means_something(void)
{
	static const char alphabet[] = "allow deny default add find uid= gid=* name= -,*#0127\n\n";
	uint64_t state = 88172645463325252u;
	char text[200], error[SM_POLICY_ERROR_MAX];

	for (int i = 0; i < 20000; i++) {
		struct sm_policy *policy;
		size_t len = 0;

		while (len < sizeof(text) - 1) {
			size_t from, nr;

			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			from = (state >> 8) % (sizeof(alphabet) - 1);
			nr = (state >> 40) % 12;
			while (nr-- && len < sizeof(text) - 1 && alphabet[from])
				text[len++] = alphabet[from++];
			if (!(state >> 56))
				break;
		}
		text[len] = '\0';
		if (sm_policy_parse(&policy, "p", text, error))
			CHECK(*error && !policy);
		sm_policy_free(policy);
	}
	cases++;
}

int main(void)
{
	test_what_is_wrong_is_said_with_its_line();
	test_the_first_rule_that_matches_holds();
	test_an_empty_policy_allows_nothing();
	test_defaults_hold_when_no_rule_does();
	test_groups_are_those_of_the_subject();
	test_groups_are_asked_for_when_they_matter();
	test_patterns_are_the_shells();
	test_users_may_be_named();
	test_words_may_stand_in_many_ways();
	test_the_builtin_policy_is_safe();
	test_limits_and_declarations_are_read();
	test_names_are_checked();
	test_files_that_others_can_write_are_refused();
	test_garbage_is_refused_or_means_something();
	printf("%u passed, 0 failed, 0 skipped\n", cases);
	return 0;
}
