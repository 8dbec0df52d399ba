// SPDX-License-Identifier: MIT
/*
 * anybinder-servicemanager: the context manager of a binder device. This file is
 * its life in order; what the pieces are:
 *
 *   options   the command line
 *   policy    who may do what; policy_file and policy_parse read it
 *   manager   beginning and end; manager.h has all that it knows
 *   calls     android.os.IServiceManager on the wire; call_find, call_add: its calls
 *   names     names, and the services that have them
 *   watches   who wants to hear of a name
 *   clients   who wants to hear of a service's clients
 *   peers     objects of others, and their deaths
 *   outbox    calls to others
 *   users     uids: limits, groups, and lines about what they were refused
 *   dump      all of it in words
 *   limit, list, table, say, notify
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "manager.h"
#include "notify.h"
#include "options.h"
#include "say.h"

/* Many may ask at once, and what they ask is small. */
#define MAP_SIZE (4u << 20)

/* ---- the policy ------------------------------------------------------------------------- */

/* Only the usual file may be missing. */
static int policy_load(const struct sm_options *options, struct sm_policy **policy)
{
	const char *path = options->policy ? options->policy : SM_POLICY_FILE;
	char error[SM_POLICY_ERROR_MAX];
	int ret = sm_policy_read(policy, path, error);

	if (ret == -ENOENT && !options->policy)
		return sm_policy_builtin(policy, path);
	if (ret)
		sm_say(SM_ERROR, "%s", error);
	return ret;
}

static void policy_say(const struct sm_manager *m, const char *what)
{
	const struct sm_policy *policy = m->policy;

	char self[32] = "";

	if (geteuid())
		snprintf(self, sizeof(self), " and uid %u", (unsigned int)geteuid());
	if (policy->builtin)
		sm_say(SM_INFO,
		       "%s: there is no policy in %s: root%s may add names, everybody may find, list and watch them, nobody else may add any",
		       what, policy->path, self);
	else
		sm_say(SM_INFO, "%s: policy %s, %zu rules", what, policy->path, policy->nr_rules);
}

/* All of it or nothing. */
static void policy_reload(struct sm_manager *m, const struct sm_options *options)
{
	struct sm_policy *policy;

	sm_notify_reloading();
	if (policy_load(options, &policy)) {
		sm_say(SM_ERROR, "the policy stays as it was; mend the file and send SIGHUP again");
	} else {
		sm_policy_free(m->policy);
		m->policy = policy;
		sm_users_forget_groups(m);
		sm_names_stale(m);
		policy_say(m, "read again");
	}
	sm_notify("READY=1");
}

static int policy_check(const struct sm_options *options)
{
	struct sm_policy *policy;

	if (policy_load(options, &policy))
		return 1;
	printf("%s: %s, %zu rules, %zu names declared\n", policy->path,
	       policy->builtin ? "not there; the built-in policy holds" : "fine",
	       policy->nr_rules, policy->nr_declared);
	sm_policy_free(policy);
	return 0;
}

/* ---- the loop --------------------------------------------------------------------------- */

static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Return: whether to go on. */
static bool signals_read(struct sm_manager *m, const struct sm_options *options, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGHUP)
			return false;
		policy_reload(m, options);
	}
	return true;
}

/**
 * struct timers - what is to be done in time; 0: nothing
 * @alive_at_ms: tell systemd that we live, every @alive_ms
 * @lines_at_ms: tell of lines that were held back
 */
struct timers {
	uint64_t alive_ms, alive_at_ms, lines_at_ms;
};

static void timers_run(struct sm_manager *m, struct timers *timers)
{
	uint64_t now = sm_now_ms();

	if (timers->alive_at_ms && now >= timers->alive_at_ms) {
		timers->alive_at_ms = now + timers->alive_ms;
		sm_notify("WATCHDOG=1");
	}
	if (timers->lines_at_ms && now >= timers->lines_at_ms) {
		timers->lines_at_ms = 0;
		sm_users_summarize(m);
	}
	if (!timers->lines_at_ms && !sm_list_empty(&m->limited_users))
		timers->lines_at_ms = now + SM_LIMIT_WINDOW_MS;
	if (m->poll_at_ms && now >= m->poll_at_ms)
		sm_clients_poll(m);
}

/* Return: ms until a timer is due; -1: there is none. */
static int timers_wait(const struct sm_manager *m, const struct timers *timers)
{
	const uint64_t due[] = { timers->alive_at_ms, timers->lines_at_ms, m->poll_at_ms };
	uint64_t now = sm_now_ms(), first = UINT64_MAX;

	for (size_t i = 0; i < sizeof(due) / sizeof(due[0]); i++) {
		if (due[i] && due[i] < first)
			first = due[i];
	}
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)(first - now);
}

static int loop(struct sm_manager *m, const struct sm_options *options, int signals)
{
	struct pollfd fds[] = { { .fd = ab_fd(m->conn), .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	struct timers timers = { .alive_ms = sm_notify_watchdog_ms() };
	int ret = ab_dispatch(m->conn);

	timers.alive_at_ms = timers.alive_ms ? sm_now_ms() : 0;
	while (!ret) {
		sm_outbox_send(m);
		timers_run(m, &timers);
		if (!sm_list_empty(&m->outbox))
			continue;
		if (poll(fds, 2, timers_wait(m, &timers)) < 0)
			ret = errno == EINTR ? 0 : -errno;
		else if (fds[1].revents && !signals_read(m, options, signals))
			return 0;
		else if (fds[0].revents)
			ret = ab_dispatch(m->conn);
	}
	sm_say(SM_ERROR, "%s: %s", options->device, ab_strerror(ret));
	return ret;
}

/* ---- life ------------------------------------------------------------------------------- */

static int open_device(struct sm_manager *m, const struct sm_options *options)
{
	struct ab_options how = { .map_size = MAP_SIZE, .variant = options->variant };
	int ret = ab_open(&m->conn, options->device, &how);

	if (ret) {
		sm_say(SM_ERROR,
		       "%s: %s; start anybinderd or mount a binderfs, or name a device with --device; `anybinder doctor` says more",
		       options->device, ab_strerror(ret));
		return ret;
	}
	m->device = options->device;
	m->variant = ab_conn_variant(m->conn);
	return 0;
}

static int become_manager(struct sm_manager *m)
{
	int ret = sm_manager_init(m);

	if (ret) {
		sm_say(SM_ERROR, "cannot begin: %s",
		       ret == -EDQUOT ? "the policy limits names to none at all" : ab_strerror(ret));
		return ret;
	}
	ret = ab_become_manager(m->conn, m->self);
	if (ret == -EBUSY)
		sm_say(SM_ERROR,
		       "%s has a context manager already, and there can be one only: end that, or name another device with --device",
		       m->device);
	else if (ret == -EPERM)
		sm_say(SM_ERROR,
		       "%s had a context manager of another uid, and only that uid may be it again: run as that one, not as uid %u, or make the device anew",
		       m->device, (unsigned int)geteuid());
	else if (ret)
		sm_say(SM_ERROR, "cannot be the context manager of %s: %s", m->device,
		       ab_strerror(ret));
	return ret;
}

static int run(struct sm_manager *m, const struct sm_options *options)
{
	int signals = signals_open();
	char what[200];
	int ret;

	ret = signals < 0 ? -errno : policy_load(options, &m->policy);
	if (!ret)
		ret = open_device(m, options);
	if (!ret)
		ret = become_manager(m);
	if (!ret) {
		snprintf(what, sizeof(what), "context manager of %s, Android %s", m->device,
			 ab_variant_name(m->variant));
		policy_say(m, what);
		sm_notify_ready(options->ready_fd);
		ret = loop(m, options, signals);
		sm_notify("STOPPING=1");
	}
	/* First, so that the next manager need not wait for what follows. */
	ab_close(m->conn);
	sm_manager_fini(m);
	sm_policy_free(m->policy);
	if (signals >= 0)
		close(signals);
	return ret;
}

int main(int argc, char **argv)
{
	static struct sm_manager manager;
	struct sm_options options;

	sm_say_init();
	if (sm_options_parse(&options, argc, argv))
		return 2;
	if (options.check)
		return policy_check(&options);
	return run(&manager, &options) ? 1 : 0;
}
