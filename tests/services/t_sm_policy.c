// SPDX-License-Identifier: MIT
/* Who may do what, said by the policy, and in words when he may not. */
#include "fixture.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME "org.example.a"

/*
 * Run @fn as another uid, in a process of its own, with a connection that serves. The
 * process that starts it has no threads: what they hold would stay held in the child.
 */
struct other {
	uid_t uid;
	void (*fn)(ab_conn *conn);
};

static void other_run(void *arg)
{
	const struct other *other = arg;
	ab_conn *conn;

	become_uid(other->uid);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	other->fn(conn);
	ab_close(conn);
}

static void as_uid(uid_t uid, void (*fn)(ab_conn *conn))
{
	struct other other = { uid, fn };

	test_join(test_spawn(other_run, &other));
}

/* Add @name. Return: as ab_service_add(), and the words of a refusal must have @words. */
static int try_add(ab_conn *conn, const char *name, const char *words)
{
	ab_object *object = echo_new(conn);
	int ret = ab_service_add(conn, name, object, AB_DUMP_DEFAULT);
	char text[500];

	if (words && !strstr(ab_error_text(conn, ret, text, sizeof(text)), words))
		FAIL("\"%s\" is not in \"%s\"", words, text);
	ab_object_put(object);
	return ret;
}

static int try_find(ab_conn *conn, const char *name)
{
	ab_object *object;
	int ret = ab_service_check(conn, name, &object);

	ab_object_put(object);
	return ret;
}

/* Who had it has ended, but the manager may hear of that later. */
static void await_gone(ab_conn *conn, const char *name)
{
	long long end = test_now_ms() + TEST_WAIT_S * 1000LL;

	while (try_find(conn, name) != -ENOENT) {
		CHECK_OP(test_now_ms(), <, end);
		test_sleep_ms(1);
	}
}

static size_t count_list(ab_conn *conn)
{
	char **names;
	size_t nr;

	CHECK_OK(ab_service_list(conn, AB_DUMP_ALL, &names, &nr));
	ab_strings_free(names, nr);
	return nr;
}

static void ignore(void *data, const char *name, ab_object *object)
{
}

static int try_watch(ab_conn *conn, const char *name)
{
	ab_watch *watch;
	int ret = ab_service_watch(conn, name, ignore, NULL, &watch);

	ab_service_unwatch(watch);
	return ret;
}

/* ---- without a file --------------------------------------------------------------------- */

static void builtin_stranger(ab_conn *conn)
{
	CHECK_EQ(try_add(conn, NAME, "add \"" NAME "\": the built-in policy allows it to root"),
		 -EACCES);
	CHECK_EQ(try_add(conn, "org.example.root", "the built-in policy"), -EACCES);
	CHECK_OK(try_find(conn, "org.example.root"));
	CHECK_EQ(try_find(conn, NAME), -ENOENT);
	CHECK_EQ(count_list(conn), 2);
	CHECK_OK(try_watch(conn, NAME));
}

static void test_without_a_policy_only_root_adds(void)
{
	struct manager m = { 0 };
	char line[200];
	ab_conn *conn;

	manager_start(&m);
	conn = connect_as(AB_VARIANT_DEFAULT);
	CHECK_OK(try_add(conn, "org.example.root", NULL));
	as_uid(54321, builtin_stranger);
	snprintf(line, sizeof(line), "refused: uid 54321, pid ");
	CHECK_EQ(manager_lines(&m, line), 2);
	CHECK_EQ(manager_lines(&m, "(t_sm_policy): add \"" NAME "\": the built-in policy"), 1);
	ab_close(conn);
	manager_stop(&m);
}

/* ---- rules ------------------------------------------------------------------------------ */

static const char rules[] = "deny  find,watch,list uid=1002 name=secret.*\n"
			    "allow add uid=1001-1003 name=app.*   # a range\n"
			    "allow find list watch uid=*\n"
			    "allow all uid=@self\n";

static void rules_1001(ab_conn *conn)
{
	CHECK_OK(try_add(conn, "app.one", NULL));
	CHECK_EQ(try_add(conn, "system.one", "no rule allows it (/proc/self/fd/"), -EACCES);
	CHECK_OK(try_find(conn, "secret.one"));
	CHECK_EQ(count_list(conn), 3);
}

static void rules_1002(ab_conn *conn)
{
	CHECK_EQ(try_find(conn, "secret.one"), -EACCES);
	/* As for one that there is not. */
	CHECK_EQ(try_find(conn, "secret.none"), -EACCES);
	CHECK_EQ(try_watch(conn, "secret.one"), -EACCES);
	CHECK_EQ(count_list(conn), 1);
}

static void test_rules_go_by_uid_and_name(void)
{
	struct manager m = { .policy = rules };
	ab_conn *conn;

	manager_start(&m);
	conn = connect_as(AB_VARIANT_DEFAULT);
	CHECK_OK(try_add(conn, "secret.one", NULL));
	as_uid(1001, rules_1001);
	await_gone(conn, "app.one");
	as_uid(1002, rules_1002);
	CHECK_EQ(manager_lines(&m, "find \"secret.one\": the policy denies it (/proc/self/fd/"), 0);
	CHECK_EQ(manager_lines(&m, "check \"secret.one\": the policy denies it (" POLICY_FILE ":1)"),
		 1);
	CHECK_EQ(manager_lines(&m, "list: 1 of 2 names are left out: the policy denies it"), 1);
	ab_close(conn);
	manager_stop(&m);
}

static void member_adds(ab_conn *conn)
{
	CHECK_OK(try_add(conn, NAME, NULL));
}

static void stranger_adds(ab_conn *conn)
{
	CHECK_EQ(try_add(conn, NAME, "no rule allows it"), -EACCES);
}

/* The process has dropped its groups: only its uid counts, and what its account says. */
static void test_rules_go_by_groups_of_the_account(void)
{
	const struct passwd *account = getpwnam("daemon");
	char policy[100];
	struct manager m = { .policy = policy };

	if (!account || !account->pw_uid)
		test_skip("there is no account daemon here");
	snprintf(policy, sizeof(policy), "allow add gid=%u\n", (unsigned int)account->pw_gid);
	manager_start(&m);
	as_uid(account->pw_uid, member_adds);
	as_uid(54321, stranger_adds);
	manager_stop(&m);
}

/* ---- names of others -------------------------------------------------------------------- */

static void taker_refused(ab_conn *conn)
{
	CHECK_EQ(try_add(conn, NAME, "uid 0 has that name"), -EACCES);
}

static void taker(ab_conn *conn)
{
	CHECK_OK(try_add(conn, NAME, NULL));
}

static void test_a_name_of_another_uid_needs_the_right_to_replace(void)
{
	struct manager m = { .policy = "allow add uid=*\nallow replace uid=1002\n"
				       "allow find uid=*\n" };
	ab_conn *conn;

	manager_start(&m);
	conn = connect_as(AB_VARIANT_DEFAULT);
	CHECK_OK(try_add(conn, NAME, NULL));
	as_uid(1001, taker_refused);
	CHECK_OK(try_find(conn, NAME));
	as_uid(1002, taker);
	ab_close(conn);
	manager_stop(&m);
}

/* ---- limits ----------------------------------------------------------------------------- */

static void limits_met(ab_conn *conn)
{
	CHECK_OK(try_add(conn, "a", NULL));
	CHECK_OK(try_add(conn, "b", NULL));
	CHECK_EQ(try_add(conn, "c", "that user has 2 already, the most there may be (limit names in"),
		 -EBUSY);
	/* Again and another object for the same name are not one more. */
	CHECK_OK(try_add(conn, "b", NULL));
}

static void watches_met(ab_conn *conn)
{
	ab_watch *watch, *other;

	CHECK_OK(ab_service_watch(conn, "a", ignore, NULL, &watch));
	CHECK_EQ(ab_service_watch(conn, "b", ignore, NULL, &other), -EBUSY);
	ab_service_unwatch(watch);
	CHECK_OK(ab_service_watch(conn, "b", ignore, NULL, &watch));
	ab_service_unwatch(watch);
}

static void total_met(ab_conn *conn)
{
	CHECK_OK(try_add(conn, "a", NULL));
	CHECK_EQ(try_add(conn, "b", "everybody together has 3 already"), -EBUSY);
}

static void test_one_uid_cannot_have_everything(void)
{
	struct manager m = { .policy = "allow all uid=*\nlimit names 2\nlimit watches 1\n" };

	manager_start(&m);
	/* What the first had is gone with it. */
	as_uid(1001, limits_met);
	as_uid(1001, limits_met);
	as_uid(1001, watches_met);
	manager_stop(&m);
}

static void test_all_together_cannot_have_more_than_there_is(void)
{
	struct manager m = { .policy = "allow all uid=*\nlimit total 3\n" };
	ab_conn *conn;

	manager_start(&m);
	conn = connect_as(AB_VARIANT_DEFAULT);
	CHECK_OK(try_add(conn, "root", NULL)); /* "manager" is the first */
	as_uid(1001, total_met);
	ab_close(conn);
	manager_stop(&m);
}

/* ---- reading it ------------------------------------------------------------------------- */

static void told(void *data, const char *name, ab_object *object)
{
	test_post(data);
}

static void test_sighup_reads_it_again_and_keeps_it_if_it_is_bad(void)
{
	struct manager m = { .policy = "allow all uid=0\n" };
	atomic_int count = 0;
	ab_watch *watch;
	ab_conn *conn;

	manager_start(&m);
	conn = connect_serving(AB_VARIANT_DEFAULT);
	CHECK_OK(try_add(conn, "a", NULL));
	CHECK_OK(ab_service_watch(conn, "w", told, &count, &watch));
	manager_policy(&m, "allow all uid=0\nalow find uid=*\n");
	CHECK_EQ(kill(m.pid, SIGHUP), 0);
	manager_await_log(&m, POLICY_FILE ":2: alow is no word for the beginning of a line");
	manager_await_log(&m, "the policy stays as it was");
	CHECK_OK(try_add(conn, "b", NULL));
	CHECK_OK(try_add(conn, "w", NULL));
	test_await(&count, 1);
	manager_policy(&m, "allow find uid=0\nallow add uid=0 name=w\n");
	CHECK_EQ(kill(m.pid, SIGHUP), 0);
	manager_await_log(&m, "read again: policy");
	CHECK_EQ(try_add(conn, "c", "no rule allows it"), -EACCES);
	/* What was there stays, but who waits must still be allowed to. */
	CHECK_OK(try_find(conn, "b"));
	CHECK_OK(try_add(conn, "w", NULL));
	CHECK_OK(try_find(conn, "w"));
	CHECK_EQ(atomic_load(&count), 1);
	ab_service_unwatch(watch);
	ab_close(conn);
	manager_stop(&m);
}

static void test_a_bad_policy_does_not_start(void)
{
	struct manager m = { .policy = "# first\nallow all uid=0\nallow add name=x\n" };

	CHECK_EQ(manager_try(&m), 1);
	CHECK_EQ(manager_lines(&m, POLICY_FILE ":3: whom? say uid= or gid=; uid=* is everybody"),
		 1);
}

/* ---- lines ------------------------------------------------------------------------------ */

static void insist(ab_conn *conn)
{
	for (int i = 0; i < 1500; i++)
		CHECK_EQ(try_add(conn, NAME, NULL), -EACCES);
}

static void insist_otherwise(ab_conn *conn)
{
	CHECK_EQ(try_add(conn, NAME, NULL), -EACCES);
}

static void test_lines_about_refusals_are_few(void)
{
	struct manager m = { 0 };

	manager_start(&m);
	as_uid(1001, insist);
	/* Whose own are not lost among the other's. */
	as_uid(1003, insist_otherwise);
	CHECK_EQ(manager_lines(&m, "refused: uid 1003"), 1);
	manager_await_log(&m, "more like this (add)");
	/* The clock may have begun another window meanwhile, on a slow machine. */
	CHECK_LE(manager_lines(&m, "add \"" NAME "\""), 5 + 1 + 5);
	if (manager_lines(&m, "add \"" NAME "\"") == 5 + 1)
		CHECK_EQ(manager_lines(&m, ": and 1,495 more like this (add)"), 1);
	manager_stop(&m);
}

static void dump_refused(ab_conn *conn)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);
	ab_object *manager;

	CHECK_OK(ab_manager(conn, &manager));
	CHECK_EQ(ab_dump(manager, fd, NULL, 0), -EPERM);
	CHECK_EQ(lseek(fd, 0, SEEK_END), 0);
	ab_object_put(manager);
	close(fd);
}

static void test_the_dump_is_for_those_who_may(void)
{
	struct manager m = { 0 };

	manager_start(&m);
	as_uid(1001, dump_refused);
	CHECK_EQ(manager_lines(&m, ": dump: the built-in policy allows it"), 1);
	manager_stop(&m);
}

static void odd_name(ab_conn *conn)
{
	CHECK_EQ(try_find(conn, "a\nrefused: \x1b[31mroot"), -ENOENT);
	CHECK_EQ(try_add(conn, "a\nrefused: \x1b[31mroot", NULL), -EINVAL);
}

static void test_names_cannot_forge_lines(void)
{
	struct manager m = { .policy = "allow all uid=*\n" };

	manager_start(&m);
	as_uid(1001, odd_name);
	CHECK_EQ(manager_lines(&m, "add \"a\\x0arefused: \\x1b[31mroot\": a name is 1 to 127"), 1);
	CHECK_EQ(manager_lines(&m, "\x1b"), 0);
	manager_stop(&m);
}

static const struct test_case cases[] = {
	QUICK(test_without_a_policy_only_root_adds),
	QUICK(test_rules_go_by_uid_and_name),
	CASE(test_rules_go_by_groups_of_the_account),
	CASE(test_a_name_of_another_uid_needs_the_right_to_replace),
	CASE(test_one_uid_cannot_have_everything),
	CASE(test_all_together_cannot_have_more_than_there_is),
	QUICK(test_sighup_reads_it_again_and_keeps_it_if_it_is_bad),
	CASE(test_a_bad_policy_does_not_start),
	CASE_FLAGS(test_lines_about_refusals_are_few, TEST_LONG),
	CASE(test_the_dump_is_for_those_who_may),
	CASE(test_names_cannot_forge_lines),
};

TEST_MAIN(cases)
