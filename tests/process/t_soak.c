// SPDX-License-Identifier: MIT
/*
 * Everything at once, for as long as one likes: actors that call, nest, send
 * one way, give each other objects, ask for deaths, hold buffers, open and
 * close; a supervisor that kills, stops and replaces them and has memory
 * reclaimed. It goes in rounds, and after each the driver must hold what it
 * held before, and the daemon's memory be where it was after the first.
 *
 *   t_soak [--minutes=M] [--seed=N]
 *
 * Or SOAK_MINUTES, TEST_SEED. The seed is printed. It repeats who does what and
 * when somebody is killed, though not how the threads of a run interleave.
 */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"
#include "soak.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUND_S 15
#define NOTE_S 10
/* Beside a quarter of what it is: what an allocator keeps varies. */
#define MEMORY_SLACK_KB 1024

struct soak_shared *soak;

/* ---- the cast ------------------------------------------------------------------- */

static struct cast {
	struct server manager;
	struct soak_actor actor[SOAK_ACTORS];
	unsigned int seed; /* the supervisor's */
	unsigned int incarnations;
	unsigned int base_seed;
} cast;

static void actor_start(int i)
{
	struct soak_actor *a = &cast.actor[i];

	a->id = i + 1;
	a->seed = cast.base_seed + 7919 * ++cast.incarnations;
	a->doomed = false;
	a->pid = test_spawn(soak_actor_main, a);
}

/* Replace it if it has ended, which it may do by itself, or because it was killed. */
static void actor_look(int i)
{
	struct soak_actor *a = &cast.actor[i];
	int status;

	if (waitpid(a->pid, &status, WNOHANG) != a->pid)
		return;
	if (WIFSIGNALED(status) && !(a->doomed && WTERMSIG(status) == SIGKILL))
		FAIL("actor %u (seed %u) died of signal %d", a->id, a->seed, WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		FAIL("actor %u (seed %u) ended with %d", a->id, a->seed, WEXITSTATUS(status));
	actor_start(i);
}

static void disturb(void)
{
	struct soak_actor *a = &cast.actor[rand_r(&cast.seed) % SOAK_ACTORS];
	static const char *const what[] = { "1", "2", "3" };

	switch (rand_r(&cast.seed) % 8) {
	case 0 ... 2:
		a->doomed = true;
		kill(a->pid, SIGKILL);
		soak_count(SOAK_KILLS, 1);
		break;
	case 3:
		kill(a->pid, SIGSTOP);
		test_sleep_ms(rand_r(&cast.seed) % 30);
		kill(a->pid, SIGCONT);
		break;
	default:
		if (!driver_reclaim(what[rand_r(&cast.seed) % ARRAY_SIZE(what)]))
			soak_count(SOAK_RECLAIMS, 1);
	}
}

/* ---- telling ---------------------------------------------------------------------- */

static void say(long long now, long long start, long long end, const char *stop)
{
	static const char *const names[SOAK_COUNTS] = {
		[SOAK_CALLS] = "calls", [SOAK_ONEWAYS] = "one-way", [SOAK_OBJECTS] = "objects",
		[SOAK_DEATHS] = "deaths", [SOAK_REFUSED] = "refused", [SOAK_OPENS] = "opens",
		[SOAK_KILLS] = "kills", [SOAK_RECLAIMS] = "reclaims",
	};

	fprintf(stderr, "soak: %lld of %lld s", (now - start) / 1000, (end - start) / 1000);
	for (int i = 0; i < SOAK_COUNTS; i++)
		fprintf(stderr, ", %lld %s", (long long)atomic_load(&soak->count[i]), names[i]);
	fprintf(stderr, "%s", stop);
	fflush(stderr);
}

/* At a terminal one line that changes, elsewhere a line now and then. */
static void tell(long long now, long long start, long long end)
{
	static long long next;
	bool terminal = isatty(STDERR_FILENO);

	if (now < next)
		return;
	next = now + (terminal ? 1000 : NOTE_S * 1000);
	say(now, start, end, terminal ? "\x1b[K\r" : "\n");
}

/* ---- rounds ------------------------------------------------------------------------- */

/* Calls go on, whoever is killed: or somebody waits for what never comes. */
static void progress_check(long long now)
{
	static long long calls, since;

	if (atomic_load(&soak->count[SOAK_CALLS]) != calls) {
		calls = atomic_load(&soak->count[SOAK_CALLS]);
		since = now;
	} else if (since && now - since > TEST_WAIT_S * 1000LL) {
		test_dump_group(getpgrp());
		FAIL("no call has come back for %d s", TEST_WAIT_S);
	}
}

static void round_run(long long start, long long end, long long until)
{
	long long now;

	atomic_store(&soak->stop, 0);
	cast.manager = (struct server){ .map_size = 1 << 20, .shared = cast.manager.shared };
	server_start(&cast.manager);
	for (int i = 0; i < SOAK_ACTORS; i++)
		actor_start(i);
	while ((now = test_now_ms()) < until) {
		test_sleep_ms(5 + rand_r(&cast.seed) % 40);
		for (int i = 0; i < SOAK_ACTORS; i++)
			actor_look(i);
		disturb();
		progress_check(now);
		tell(now, start, end);
	}
	test_set(&soak->stop, 1);
	for (int i = 0; i < SOAK_ACTORS; i++)
		if (cast.actor[i].doomed)
			test_kill(cast.actor[i].pid);
		else
			test_join(cast.actor[i].pid);
	server_stop(&cast.manager);
}

/* Private memory, in kB; what is behind mappings has to be gone. */
static long memory_at_rest(void)
{
	if (!driver_is_own() || driver_is_sanitized())
		return 0;
	CHECK_EQ(driver_reclaim("3"), 0);
	return test_status_kb(driver_own_pid(), "RssAnon");
}

static double minutes(void)
{
	const char *given = getenv("SOAK_MINUTES");

	if (!driver_is_own() && !given)
		test_skip("takes minutes: with another's driver only if SOAK_MINUTES says how many");
	return given ? atof(given) : 2;
}

static void test_everything_at_once_leaves_nothing(void)
{
	long long start = test_now_ms(), end = start + (long long)(minutes() * 60000);
	int rounds = (end - start) / (ROUND_S * 1000) > 2 ? (end - start) / (ROUND_S * 1000) : 2;
	long first = 0, last = 0;

	soak = test_share(sizeof(*soak));
	cast.base_seed = strtoul(getenv("TEST_SEED"), NULL, 0);
	cast.seed = cast.base_seed;
	fprintf(stderr, "  --seed=%u\n", cast.base_seed);
	for (int i = 1; i <= rounds; i++) {
		round_run(start, end, start + (end - start) * i / rounds);
		if (!driver_settles())
			FAIL("the driver holds more than before, after round %d", i);
		last = memory_at_rest();
		first = i == 1 ? last : first;
	}
	say(test_now_ms(), start, end, "\n");
	fprintf(stderr, "soak: %d rounds; the daemon's memory %ld kB after the first, %ld after the last\n",
		rounds, first, last);
	CHECK_LE(last, first + first / 4 + MEMORY_SLACK_KB);
	/* it was about something */
	for (int i = 0; i < SOAK_COUNTS; i++)
		CHECK(atomic_load(&soak->count[i]) || (i == SOAK_RECLAIMS && !driver_is_own()));
}

static const struct test_case cases[] = {
	CASE_FLAGS(test_everything_at_once_leaves_nothing, TEST_ENDLESS),
};

int main(int argc, char **argv)
{
	char seed[16];
	int kept = 1;

	snprintf(seed, sizeof(seed), "%u", (unsigned int)(time(NULL) * 31 + getpid()));
	setenv("TEST_SEED", seed, 0);
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--minutes=", 10))
			setenv("SOAK_MINUTES", argv[i] + 10, 1);
		else if (!strncmp(argv[i], "--seed=", 7))
			setenv("TEST_SEED", argv[i] + 7, 1);
		else
			argv[kept++] = argv[i];
	}
	return test_main(kept, argv, cases, ARRAY_SIZE(cases));
}
