// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the cases of the core (core_test.h).
 *
 *   core [GROUP...]           each case as it is
 *   core --allocs [GROUP...]  each case with each of its allocations failing once
 *   core --copies [GROUP...]  each case with each of its user copies failing once
 *   core --one NAME           one case, as it is and with every fault
 *
 * Without a group, all of them.
 */
#include <setjmp.h>
#include <unistd.h>

#include "core_test.h"

/* A hung test is a failed test. */
#define TIMEOUT_S 600

static const struct core_group *const groups[] = {
	&core_group_call, &core_group_oneway, &core_group_context, &core_group_looper,
	&core_group_defer, &core_group_node, &core_group_object, &core_group_death,
	&core_group_exit, &core_group_nested, &core_group_between, &core_group_stream,
	&core_group_report, &core_group_rights, &core_group_nodeinfo,
};

enum fault { FAULT_NONE, FAULT_ALLOC, FAULT_COPY };

static const struct core_case *running;
static enum fault fault;
static unsigned long fault_nth;
static jmp_buf ended;

static bool fault_struck(void)
{
	return fault == FAULT_ALLOC ? sim_fault_fired() :
	       fault == FAULT_COPY ? sim_user_failed() : false;
}

static void fault_arm(unsigned long nth)
{
	sim_fault_arm(fault == FAULT_ALLOC ? nth : 0);
	sim_user_fail(fault == FAULT_COPY ? nth : 0);
}

static void where(const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s", file, line, running->name);
	if (fault)
		fprintf(stderr, " with %s %lu failing (%s)",
			fault == FAULT_ALLOC ? "allocation" : "copy", fault_nth,
			sim_fault_site() ? sim_fault_site() : "-");
	fprintf(stderr, ": ");
}

void core_expect(bool ok, const char *file, int line, const char *text)
{
	if (ok)
		return;
	if (fault_struck())
		longjmp(ended, 1);
	where(file, line);
	fprintf(stderr, "expected: %s\n", text);
	exit(1);
}

void core_expect_eq(long long got, long long want, const char *file, int line, const char *text)
{
	if (got == want)
		return;
	if (fault_struck())
		longjmp(ended, 1);
	where(file, line);
	fprintf(stderr, "%s is %lld (%llx), expected %lld (%llx)\n", text, got,
		(unsigned long long)got, want, (unsigned long long)want);
	exit(1);
}

static void check_and_close(void)
{
	sim_fault_arm(0);
	sim_user_fail(0);
	sim_run();
	core_check();
	close_all();
	core_check();
}

/* Return: whether the nth fault was met. */
static bool run_once(const struct core_case *c, enum fault kind, unsigned long nth)
{
	static u64 now;
	bool struck;

	running = c;
	sim_start();
	/* Rate limits outlive the world: time must not go back. */
	sim_advance(now);
	device = sim_context("binder");
	EXPECT(device);
	logged();
	fault = kind;
	fault_nth = nth;
	fault_arm(nth);
	if (!setjmp(ended))
		c->run();
	struck = fault_struck();
	check_and_close();
	fault = FAULT_NONE;
	if (struck) {
		logged();
		c->run();
		check_and_close();
	}
	now = binder_host_now_ms();
	sim_end();
	return struck;
}

static void run_faults(const struct core_case *c, enum fault kind)
{
	unsigned long nth = 1;

	if (c->flags & CASE_NO_FAULTS)
		return;
	while (run_once(c, kind, nth))
		nth++;
	printf("ok %s (%s: %lu)\n", c->name, kind == FAULT_ALLOC ? "allocations" : "copies",
	       nth - 1);
}

static void run_plain(const struct core_case *c)
{
	run_once(c, FAULT_NONE, 0);
	printf("ok %s\n", c->name);
}

static bool wanted(const struct core_group *group, char **names, int nr)
{
	for (int i = 0; i < nr; i++)
		if (!strcmp(names[i], group->name))
			return true;
	return !nr;
}

static int run_named(const char *name)
{
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		for (size_t i = 0; i < groups[g]->nr; i++) {
			const struct core_case *c = &groups[g]->cases[i];

			if (strcmp(c->name, name))
				continue;
			run_plain(c);
			run_faults(c, FAULT_ALLOC);
			run_faults(c, FAULT_COPY);
			return 0;
		}
	}
	fprintf(stderr, "there is no case %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	enum fault kind = FAULT_NONE;
	bool any = false;
	int first = 1;

	alarm(TIMEOUT_S);
	if (argc == 3 && !strcmp(argv[1], "--one"))
		return run_named(argv[2]);
	if (argc > 1 && !strncmp(argv[1], "--", 2)) {
		kind = !strcmp(argv[1], "--allocs") ? FAULT_ALLOC : FAULT_COPY;
		first = 2;
	}
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		if (!wanted(groups[g], argv + first, argc - first))
			continue;
		any = true;
		for (size_t i = 0; i < groups[g]->nr; i++) {
			if (kind)
				run_faults(&groups[g]->cases[i], kind);
			else
				run_plain(&groups[g]->cases[i]);
		}
	}
	if (!any)
		fprintf(stderr, "there is no such group\n");
	return any ? 0 : 2;
}
