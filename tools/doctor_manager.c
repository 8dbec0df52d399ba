// SPDX-License-Identifier: MIT
/* Checks of the context manager: it is called. */
#include "tools/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "anybinder.h"

static int connect_as(const struct doctor *d, enum ab_variant variant, ab_conn **conn)
{
	struct ab_options options = { .variant = variant };
	char path[DOCTOR_PATH];

	return ab_open(conn, doctor_path(d, d->device, path), &options);
}

/* What the checks before did one by one; now as programs do it. */
static void connect_failed(struct doctor *d, struct finding *f, int error)
{
	d->works = false;
	find(f, OUTCOME_PROBLEM, "the library cannot use the device, so nobody was asked: %s",
	     strerror(-error));
	mend(f, "%s", d->server == SERVER_DAEMON ? "journalctl -u anybinderd  # or what it printed" :
	     "dmesg | grep -i binder");
}

/* The first call failed: what says that of the manager? */
static void call_failed(struct doctor *d, struct finding *f, ab_conn *conn, int error)
{
	char text[300];

	ab_error_text(conn, error, text, sizeof(text));
	if (error == -EPIPE) {
		find(f, OUTCOME_PROBLEM, "nobody is: calls are answered BR_DEAD_REPLY, which logs spell "
		     "29189");
		mend(f, "anybinder-servicemanager --device=%s &  # or start the container that has "
		     "Android's", d->device);
	} else if (error == -ECOMM) {
		find(f, OUTCOME_PROBLEM, "somebody is, but the driver refuses calls to it: %s", text);
		mend(f, "%s", d->server == SERVER_DAEMON ? "journalctl -u anybinderd" :
		     "dmesg | anybinder decode -");
	} else {
		find(f, OUTCOME_PROBLEM, "the call to it failed: %s", text);
		mend(f, "%s", d->server == SERVER_DAEMON ? "journalctl -u anybinderd" :
		     "dmesg | grep -i binder");
	}
}

static void name_manager(struct doctor *d, struct finding *f, const char *interface)
{
	d->foreign = strcmp(interface, AB_MANAGER_INTERFACE);
	if (!d->foreign)
		return find(f, OUTCOME_OK, "a service manager (%s)", interface);
	if (strstr(interface, "IServiceManager"))
		return find(f, OUTCOME_OK, "a service manager of another kind (\"%s\"), that "
			    "`anybinder ls` does not speak to", interface);
	find(f, OUTCOME_WARNING, "somebody is, but no service manager: its interface is \"%s\"",
	     interface);
	mend(f, "# end that program, and start anybinder-servicemanager, if names are wanted");
}

/** check_manager() - is somebody context manager, and answers? */
void check_manager(struct doctor *d, struct finding *f)
{
	ab_object *manager = NULL;
	char *interface = NULL, text[300];
	ab_conn *conn;
	int ret;

	if (!d->works)
		return find(f, OUTCOME_NONE, "the device cannot be used");
	ret = connect_as(d, AB_VARIANT_DEFAULT, &conn);
	if (ret)
		return connect_failed(d, f, ret);
	ret = ab_manager(conn, &manager);
	if (!ret)
		ret = ab_ping(manager);
	if (ret) {
		call_failed(d, f, conn, ret);
	} else if ((ret = ab_interface(manager, &interface))) {
		find(f, OUTCOME_WARNING, "somebody is, but does not say of what interface: %s",
		     ab_error_text(conn, ret, text, sizeof(text)));
		mend(f, "anybinder call --device=%s --reply=s16 - _NTF", d->device);
	} else {
		name_manager(d, f, interface);
	}
	free(interface);
	ab_object_put(manager);
	ab_close(conn);
}

/* ---- which Android ---------------------------------------------------------------- */

/* Return: of its list; -EACCES: understood, but refused. */
static int list_as(const struct doctor *d, enum ab_variant variant, size_t *nr)
{
	ab_conn *conn;
	char **names = NULL;
	int ret = connect_as(d, variant, &conn);

	*nr = 0;
	if (ret)
		return ret == -EACCES ? -EIO : ret;
	ret = ab_service_list(conn, AB_DUMP_ALL, &names, nr);
	ab_strings_free(names, *nr);
	ab_close(conn);
	return ret;
}

static void answers_as(const struct doctor *d, struct finding *f, enum ab_variant variant,
		       size_t nr, int ret)
{
	const char *what = ret ? "it refuses us its list" : "it lists";
	char count[40] = "";

	if (!ret)
		snprintf(count, sizeof(count), " %zu services", nr);
	if (variant == AB_ANDROID_13)
		return find(f, OUTCOME_OK, "%s%s, like Android 11, 13 and 14", what, count);
	find(f, OUTCOME_OK, "%s%s, like Android %s", what, count, ab_variant_name(variant));
	mend(f, "anybinder ls --device=%s --android=%s  # and so for all commands and clients", d->device,
	     ab_variant_name(variant));
}

/** check_variant() - which Android release does the service manager speak like? */
void check_variant(struct doctor *d, struct finding *f)
{
	/* Where two would do, the one that is nearer to the default. */
	static const enum ab_variant variants[] = {
		AB_ANDROID_13, AB_ANDROID_12, AB_ANDROID_16, AB_ANDROID_15, AB_ANDROID_10,
		AB_ANDROID_9, AB_ANDROID_8,
	};
	size_t nr;

	if (!d->works || d->silent)
		return find(f, OUTCOME_NONE, "there is no context manager that answers");
	/* The code of a list may mean anything to others. */
	if (d->foreign)
		return find(f, OUTCOME_NONE, "the context manager is not one of Android's services");
	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++) {
		int ret = list_as(d, variants[i], &nr);

		if (!ret || ret == -EACCES)
			return answers_as(d, f, variants[i], nr, ret);
		if (ret == -EPIPE)
			return find(f, OUTCOME_NONE, "there is no service manager");
	}
	find(f, OUTCOME_WARNING, "the context manager lists no services in any way that we know");
	mend(f, "anybinder call --device=%s --reply=s16 - _NTF  # what is it?", d->device);
}
