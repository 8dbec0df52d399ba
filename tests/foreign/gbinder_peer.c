// SPDX-License-Identifier: MIT
/*
 * A client and a service over libgbinder, another project's binder library. What it does is
 * chosen on the command line, what came of it is said a line each; test-gbinder judges that.
 * It has to know nothing of this project but the sample service's calls.
 *
 * gbinder_peer_serve.c is the service, gbinder_peer_use.c the client; here is what waits.
 */
#include <glib-unix.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gbinder_peer.h"

static const char usage[] =
"Usage: gbinder-peer DEVICE serve NAME           be a service\n"
"       gbinder-peer DEVICE use NAME STEP...     call one\n"
"       gbinder-peer DEVICE list                 names\n"
"       gbinder-peer DEVICE wait NAME            say when it is registered, until told to end\n"
"       gbinder-peer DEVICE watch NAME           say when it dies, and end\n"
"       gbinder-peer DEVICE presence             say when managers come and go\n";

void peer_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

static gboolean told_to_end(gpointer data)
{
	struct peer *p = data;

	g_main_loop_quit(p->loop);
	return G_SOURCE_CONTINUE;
}

static int list(struct peer *p)
{
	char **names = gbinder_servicemanager_list_sync(p->manager);
	char **name;

	if (!names)
		return 1;
	for (name = names; *name; name++)
		peer_say("%s", *name);
	g_strfreev(names);
	return 0;
}

/* ---- registrations ---------------------------------------------------------------------- */

static void registered(GBinderServiceManager *manager, const char *name, void *data)
{
	peer_say("registered %s", name);
}

static int wait_registrations(struct peer *p)
{
	gulong id = gbinder_servicemanager_add_registration_handler(p->manager, p->name,
								    registered, p);

	peer_say("waiting %s", id ? "yes" : "no");
	g_main_loop_run(p->loop);
	gbinder_servicemanager_remove_handler(p->manager, id);
	return 0;
}

/* ---- deaths ----------------------------------------------------------------------------- */

static void died(GBinderRemoteObject *object, void *data)
{
	struct peer *p = data;

	peer_say("died %s", gbinder_remote_object_is_dead(object) ? "yes" : "no");
	g_main_loop_quit(p->loop);
}

static int watch_death(struct peer *p)
{
	GBinderRemoteObject *object;
	int status = 0;
	gulong id;

	object = gbinder_servicemanager_get_service_sync(p->manager, p->name, &status);
	if (!object) {
		peer_say("no such service, status %d", status);
		return 1;
	}
	gbinder_remote_object_ref(object);
	id = gbinder_remote_object_add_death_handler(object, died, p);
	peer_say("linked");
	g_main_loop_run(p->loop);
	gbinder_remote_object_remove_handler(object, id);
	gbinder_remote_object_unref(object);
	return 0;
}

/* ---- managers --------------------------------------------------------------------------- */

static void presence(GBinderServiceManager *manager, void *data)
{
	peer_say("%s", gbinder_servicemanager_is_present(manager) ? "present" : "absent");
}

static int watch_presence(struct peer *p)
{
	gulong id = gbinder_servicemanager_add_presence_handler(p->manager, presence, p);

	presence(p->manager, p);
	g_main_loop_run(p->loop);
	gbinder_servicemanager_remove_handler(p->manager, id);
	return 0;
}

/* ---- all of it -------------------------------------------------------------------------- */

static int run(struct peer *p, const char *what, char **rest)
{
	if (!strcmp(what, "presence"))
		return watch_presence(p);
	if (!strcmp(what, "serve") && p->name)
		return peer_serve(p);
	/* Who is the manager is not known at once. */
	if (!gbinder_servicemanager_wait(p->manager, PEER_WAIT_SECONDS * 1000)) {
		peer_say("no service manager");
		return 1;
	}
	if (!strcmp(what, "list"))
		return list(p);
	if (!strcmp(what, "wait") && p->name)
		return wait_registrations(p);
	if (!strcmp(what, "watch") && p->name)
		return watch_death(p);
	if (!strcmp(what, "use") && p->name)
		return peer_use(p, rest);
	fputs(usage, stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct peer p = { 0 };
	int ret;

	if (argc < 3) {
		fputs(usage, stderr);
		return 2;
	}
	p.name = argv[3];
	p.loop = g_main_loop_new(NULL, FALSE);
	p.manager = gbinder_servicemanager_new(argv[1]);
	if (!p.manager) {
		peer_say("cannot open %s", argv[1]);
		return 1;
	}
	g_unix_signal_add(SIGTERM, told_to_end, &p);
	ret = run(&p, argv[2], argc > 4 ? argv + 4 : argv + argc);
	gbinder_servicemanager_unref(p.manager);
	g_main_loop_unref(p.loop);
	return ret;
}
