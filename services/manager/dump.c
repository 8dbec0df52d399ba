// SPDX-License-Identifier: MIT
/*
 * The manager's state, for people. Whoever asks sends a descriptor, and may not read
 * from its other end: writing to it must not stop the manager for long.
 */
#include "manager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

/* How long in all a reader may make us wait. */
#define WRITE_MS 500

static size_t length(const struct sm_list *list)
{
	const struct sm_list *item;
	size_t nr = 0;

	sm_list_each(item, list)
		nr++;
	return nr;
}

static void head_print(FILE *out, const struct sm_manager *m)
{
	const struct sm_policy *policy = m->policy;

	fprintf(out, "service manager of %s, Android %s, pid %d, uid %u, for %llu s\n", m->device,
		ab_variant_name(m->variant), (int)getpid(), (unsigned int)geteuid(),
		(unsigned long long)(sm_now_ms() - m->started_ms) / 1000);
	if (policy->builtin)
		fprintf(out, "policy: built in; there is no %s\n", policy->path);
	else
		fprintf(out, "policy: %s, %zu rules, %zu names declared\n", policy->path,
			policy->nr_rules, policy->nr_declared);
	fprintf(out, "there are: %u names, %u watches, %u client callbacks\n", m->totals[SM_NAMES],
		m->totals[SM_WATCHES], m->totals[SM_CLIENTS]);
	fprintf(out, "a uid may have: %u names, %u watches, %u client callbacks; all together %u\n",
		policy->limits[SM_NAMES], policy->limits[SM_WATCHES], policy->limits[SM_CLIENTS],
		policy->limits[SM_TOTAL]);
}

static void service_print(FILE *out, const struct sm_name *name)
{
	const struct sm_service *service = &name->service;
	uint32_t clients;

	fprintf(out, "  %s: uid %u, pid %d, dump %#x", name->text,
		(unsigned int)service->user->uid, (int)service->pid, service->dump_flags);
	if (service->isolated)
		fprintf(out, ", also for isolated");
	if (!sm_clients_count(name, &clients))
		fprintf(out, ", clients %u", clients);
	if (!sm_list_empty(&name->watches))
		fprintf(out, ", watches %zu", length(&name->watches));
	if (!sm_list_empty(&name->callbacks))
		fprintf(out, ", client callbacks %zu", length(&name->callbacks));
	fprintf(out, "\n");
}

static void names_print(FILE *out, struct sm_manager *m)
{
	struct sm_node *node = NULL;
	const struct sm_name **names;
	size_t nr;

	if (sm_names_sorted(m, &names, &nr))
		return;
	fprintf(out, "\nnames:\n");
	for (size_t i = 0; i < nr; i++)
		service_print(out, names[i]);
	fprintf(out, "\nwaited for:\n");
	while ((node = sm_table_next(&m->names, node))) {
		const struct sm_name *name = sm_container(node, struct sm_name, node);

		if (!sm_name_taken(name))
			fprintf(out, "  %s: watches %zu\n", name->text, length(&name->watches));
	}
}

static void user_print(FILE *out, const struct sm_user *user)
{
	fprintf(out, "  %u %s: %u names, %u watches, %u client callbacks", (unsigned int)user->uid,
		*user->name ? user->name : "-", user->counts[SM_NAMES], user->counts[SM_WATCHES],
		user->counts[SM_CLIENTS]);
	for (int i = 0; i < SM_NR_REASONS; i++) {
		if (user->refused[i])
			fprintf(out, "; refused: %s %llu", sm_reason_name((enum sm_reason)i),
				(unsigned long long)user->refused[i]);
	}
	fprintf(out, "\n");
}

static void users_print(FILE *out, const struct sm_manager *m)
{
	struct sm_node *node = NULL;

	fprintf(out, "\nuids:\n");
	while ((node = sm_table_next(&m->users, node)))
		user_print(out, sm_container(node, struct sm_user, node));
}

static void calls_print(FILE *out, const struct sm_manager *m)
{
	static const char *const names[AB_SM_NR + 1] = {
		"getService", "getService2", "checkService", "checkService2", "addService",
		"listServices", "registerForNotifications", "unregisterForNotifications",
		"isDeclared", "getDeclaredInstances", "updatableViaApex", "getUpdatableNames",
		"getConnectionInfo", "registerClientCallback", "tryUnregisterService",
		"getServiceDebugInfo", "unknown",
	};

	fprintf(out, "\ncalls:\n");
	for (int i = 0; i <= AB_SM_NR; i++) {
		if (m->calls[i])
			fprintf(out, "  %s: %llu\n", names[i], (unsigned long long)m->calls[i]);
	}
}

static int text_make(struct sm_manager *m, char **text, size_t *size)
{
	FILE *out = open_memstream(text, size);

	if (!out)
		return -ENOMEM;
	head_print(out, m);
	names_print(out, m);
	users_print(out, m);
	calls_print(out, m);
	return fclose(out) ? -ENOMEM : 0;
}

/* ---- writing ---------------------------------------------------------------------------- */

/*
 * The same file, opened anew, so that not to wait for it is ours alone. What cannot
 * be opened again is a socket.
 */
static int reopen(int fd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_APPEND | O_NOCTTY);
}

static int write_patient(int fd, bool is_socket, const char *text, size_t size)
{
	uint64_t until = sm_now_ms() + WRITE_MS;
	struct pollfd out = { .fd = fd, .events = POLLOUT };

	while (size) {
		ssize_t got = is_socket ? send(fd, text, size, MSG_DONTWAIT | MSG_NOSIGNAL)
					: write(fd, text, size);
		uint64_t now = sm_now_ms();

		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (got > 0) {
			text += got;
			size -= (size_t)got;
		} else if (now >= until) {
			return -ETIMEDOUT;
		} else {
			poll(&out, 1, (int)(until - now));
		}
	}
	return 0;
}

static int text_write(int fd, const char *text, size_t size)
{
	struct stat st;
	int again, ret;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISSOCK(st.st_mode))
		return write_patient(fd, true, text, size);
	if (S_ISREG(st.st_mode))
		return write_patient(fd, false, text, size);
	again = reopen(fd);
	if (again < 0)
		return -errno;
	ret = write_patient(again, false, text, size);
	close(again);
	return ret;
}

/** sm_dump() - print all that there is; an ab_dump_fn() with a struct sm_manager */
int sm_dump(void *data, const struct ab_call_info *info, int fd, const char *const *args,
	    size_t nr_args)
{
	struct sm_manager *m = data;
	struct sm_user *user = sm_user_get(m, info->euid);
	struct sm_verdict verdict;
	char line[500], why[400], *text = NULL;
	size_t size = 0;
	int ret;

	if (!user)
		return -ENOMEM;
	verdict = sm_user_ask(m, user, SM_DUMP, NULL);
	if (verdict.allow) {
		ret = text_make(m, &text, &size);
		if (!ret)
			ret = text_write(fd, text, size);
		free(text);
	} else {
		sm_policy_why(m->policy, verdict, why, sizeof(why));
		snprintf(line, sizeof(line), "dump: %s", why);
		sm_user_line(m, user, SM_NOT_ALLOWED + SM_DUMP, info->pid, line);
		ret = -EPERM;
	}
	sm_user_put(m, user);
	return ret;
}
