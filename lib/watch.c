// SPDX-License-Identifier: MIT
/* What the service manager calls back: registrations, and clients that come and go. */
#include "service_internal.h"

#include <stdlib.h>
#include <string.h>

#define ON_REGISTRATION 1
#define ON_CLIENTS 1

/* ---- registrations ------------------------------------------------------------------------ */

/**
 * struct ab_watch - somebody wants to hear of a name
 * @object: what the manager calls; its data is the watch, its memory the object's
 * @destroy: for @data; may be NULL
 * @ended: the program no longer cares
 */
struct ab_watch {
	ab_object *object;
	ab_watch_fn *fn;
	void *data;
	void (*destroy)(void *data);
	char *name;
	atomic_bool ended;
};

static int watch_transact(void *data, const struct ab_call_info *info, ab_parcel *in,
			  ab_parcel *out)
{
	ab_watch *watch = data;
	ab_object *object;
	char *name;
	int ret;

	if (info->code != ON_REGISTRATION)
		return AB_UNKNOWN_TRANSACTION;
	ret = ab_read_string16(in, &name);
	if (ret)
		return ret;
	ret = ab_read_object(in, &object);
	if (!ret && !atomic_load(&watch->ended) && !strcmp(name, watch->name))
		watch->fn(watch->data, name, object);
	ab_object_put(object);
	free(name);
	return ret;
}

static void watch_destroy(void *data)
{
	ab_watch *watch = data;

	if (watch->destroy)
		watch->destroy(watch->data);
	free(watch->name);
	free(watch);
}

static const struct ab_class watch_class = {
	.interface = "android.os.IServiceCallback",
	.transact = watch_transact,
	.destroy = watch_destroy,
};

static int watch_call(ab_watch *watch, enum ab_manager_call call)
{
	ab_conn *conn = ab_object_conn(watch->object);
	ab_parcel *in = ab_manager_request(conn);

	ab_write_string16(in, watch->name);
	ab_write_object(in, watch->object);
	return ab_manager_call(conn, call, in, NULL);
}

/**
 * ab_watch_new() - ab_service_watch(), with a function that frees @data
 * @conn: some thread must serve on it
 * @name: the name
 * @fn: to be called, with @data
 * @data: for @fn
 * @destroy: called with @data once, when @fn will not be called any more, also if this fails
 * @watchp: receives the watch, or NULL
 *
 * Return: as ab_service_watch().
 */
int ab_watch_new(ab_conn *conn, const char *name, ab_watch_fn *fn, void *data,
		 void (*destroy)(void *data), ab_watch **watchp)
{
	ab_watch *watch = calloc(1, sizeof(*watch));
	int ret;

	*watchp = NULL;
	if (!watch) {
		if (destroy)
			destroy(data);
		return -ENOMEM;
	}
	watch->fn = fn;
	watch->data = data;
	watch->destroy = destroy;
	watch->name = strdup(name);
	watch->object = watch->name ? ab_object_new(conn, &watch_class, watch) : NULL;
	if (!watch->object) {
		watch_destroy(watch);
		return -ENOMEM;
	}
	ret = watch_call(watch, AB_SM_REGISTER_FOR_NOTIFICATIONS);
	if (ret) {
		atomic_store(&watch->ended, true);
		ab_object_put(watch->object);
		return ret;
	}
	*watchp = watch;
	return 0;
}

int ab_service_watch(ab_conn *conn, const char *name, ab_watch_fn *fn, void *data,
		     ab_watch **watch)
{
	return ab_watch_new(conn, name, fn, data, NULL, watch);
}

void ab_service_unwatch(ab_watch *watch)
{
	if (!watch)
		return;
	atomic_store(&watch->ended, true);
	/* A manager that has died meanwhile knows nothing of it, which is as good. */
	watch_call(watch, AB_SM_UNREGISTER_FOR_NOTIFICATIONS);
	ab_object_put(watch->object);
}

/* ---- clients ------------------------------------------------------------------------------ */

/** struct clients - somebody wants to hear of the clients of a service of his */
struct clients {
	ab_clients_fn *fn;
	void *data;
};

static int clients_transact(void *data, const struct ab_call_info *info, ab_parcel *in,
			    ab_parcel *out)
{
	struct clients *clients = data;
	ab_object *object;
	bool has_clients;
	int ret;

	if (info->code != ON_CLIENTS)
		return AB_UNKNOWN_TRANSACTION;
	ret = ab_read_object(in, &object);
	if (ret)
		return ret;
	ret = ab_read_bool(in, &has_clients);
	/* The message itself holds the object: back with it, so that nobody finds a client left. */
	ab_parcel_fini(in);
	ab_flush(ab_object_conn(object));
	if (!ret)
		clients->fn(clients->data, object, has_clients);
	ab_object_put(object);
	return ret;
}

static const struct ab_class clients_class = {
	.interface = "android.os.IClientCallback",
	.transact = clients_transact,
	.destroy = free,
};

int ab_service_watch_clients(ab_conn *conn, const char *name, ab_object *object,
			     ab_clients_fn *fn, void *data)
{
	struct clients *clients = malloc(sizeof(*clients));
	ab_object *callback;
	ab_parcel *in;
	int ret;

	if (!clients)
		return -ENOMEM;
	clients->fn = fn;
	clients->data = data;
	callback = ab_object_new(conn, &clients_class, clients);
	if (!callback) {
		free(clients);
		return -ENOMEM;
	}
	in = ab_manager_request(conn);
	ab_write_string16(in, name);
	ab_write_object(in, object);
	ab_write_object(in, callback);
	ret = ab_manager_call(conn, AB_SM_REGISTER_CLIENT_CALLBACK, in, NULL);
	/* The manager holds it now, if it wants it. */
	ab_object_put(callback);
	return ret;
}
