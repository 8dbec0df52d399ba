// SPDX-License-Identifier: MIT
#include "tools/target.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *target_text(const char *name)
{
	return name ? name : "the context manager";
}

int target_lost(const struct common *common)
{
	fprintf(stderr, "anybinder: %s: nobody is context manager; start anybinder-servicemanager "
		"--device=%s, or wait for one: anybinder wait --device=%s\n", common->device,
		common->device, common->device);
	return EXIT_FAILED;
}

int target_find(const struct common *common, ab_conn *conn, const char *name, ab_object **object)
{
	int ret;

	*object = NULL;
	ret = name ? ab_service_check(conn, name, object) : ab_manager(conn, object);
	if (!ret)
		return EXIT_OK;
	if (ret == -EPIPE)
		return target_lost(common);
	if (ret != -ENOENT)
		return common_error(common, conn, ret, "find %s", target_text(name));
	fprintf(stderr, "anybinder: there is no service \"%s\"; `anybinder ls` lists those there "
		"are, `anybinder wait %s` waits for it\n", name, name);
	return EXIT_FAILED;
}

/* ---- deadlines ---------------------------------------------------------------- */

static char late_text[300];

/* In a signal handler: no more than to say so and go. */
static void on_late(int sig)
{
	if (write(STDERR_FILENO, late_text, strlen(late_text)) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_FAILED);
}

void target_deadline(const char *name, unsigned int seconds)
{
	struct sigaction action = { .sa_handler = on_late };

	if (seconds) {
		snprintf(late_text, sizeof(late_text), "anybinder: %.127s has not answered for %u "
			 "seconds: its threads are busy or hang; binder_logs/transactions shows where\n",
			 target_text(name), seconds);
		sigaction(SIGALRM, &action, NULL);
	}
	alarm(seconds);
}
