// SPDX-License-Identifier: MIT
/*
 * Publications: names that are registered with every service manager there will be.
 *
 * A connection that has any has one publisher: a link to the manager's death, and
 * a thread that registers all of them again with the next. Managers are numbered;
 * a publication knows the number of the one that has it.
 */
#include "service_internal.h"

#include <stdlib.h>
#include <string.h>

/* The next try while there is no manager. */
#define RETRY_FIRST_MS 50
#define RETRY_MOST_MS 500
/* The next try after a refusal. */
#define REFUSED_MS 1000
/* Nothing to do. Look all the same: a death is told only if some thread serves. */
#define IDLE_MS 5000

/**
 * struct ab_publication - a name and its object
 * @manager: number of the manager that has it; under the publisher's lock
 * @busy: the thread registers it just now; under the publisher's lock
 */
struct ab_publication {
	ab_publication *next;
	struct ab_publisher *publisher;
	ab_object *object;
	uint32_t dump_flags;
	uint64_t manager;
	bool busy;
	char name[];
};

/**
 * struct ab_publisher - a connection's
 * @refs: the connection's, and one for each link to a death
 * @users: publications; under the connection's lock
 * @linking: held while linking to a manager, calls included
 * @proxy: of the present manager, and @death, the link to it; under @linking
 * @number: of the present manager
 * @lost: it has died
 * @wake: there is something to do
 * @ended: the thread is to end; whoever sets this joins it
 */
struct ab_publisher {
	ab_conn *conn; /* counted */
	atomic_uint refs;
	unsigned int users;
	pthread_t thread;
	pthread_mutex_t linking;
	ab_object *proxy;
	ab_death *death;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* guarded by lock: */
	ab_publication *list;
	uint64_t number;
	bool lost, wake, ended;
};

/* ---- the manager ------------------------------------------------------------------------ */

static void publisher_unref(struct ab_publisher *p)
{
	ab_conn *conn = p->conn;

	if (atomic_fetch_sub(&p->refs, 1) != 1)
		return;
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	pthread_mutex_destroy(&p->linking);
	free(p);
	ab_conn_put(conn);
}

static void manager_died(void *data, ab_object *object)
{
	struct ab_publisher *p = data;

	pthread_mutex_lock(&p->lock);
	p->lost = p->wake = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	publisher_unref(p);
}

/* Under p->linking. */
static void unlink_manager(struct ab_publisher *p)
{
	if (p->death && !ab_death_unlink(p->death))
		publisher_unref(p); /* the link's, which will not be called */
	p->death = NULL;
	ab_object_put(p->proxy);
	p->proxy = NULL;
}

static int link_next(struct ab_publisher *p)
{
	int ret;

	unlink_manager(p);
	pthread_mutex_lock(&p->lock);
	p->lost = false;
	pthread_mutex_unlock(&p->lock);
	ret = ab_manager(p->conn, &p->proxy);
	if (ret)
		return ret;
	atomic_fetch_add(&p->refs, 1);
	ret = ab_death_link(p->proxy, manager_died, p, &p->death);
	if (ret) {
		p->death = NULL;
		publisher_unref(p);
		unlink_manager(p);
		return ret;
	}
	pthread_mutex_lock(&p->lock);
	p->number++;
	pthread_mutex_unlock(&p->lock);
	return 0;
}

/*
 * See to it that there is a link to the present manager. It comes before names are
 * registered, so that no death between the two goes unnoticed.
 */
static int publisher_link(struct ab_publisher *p, uint64_t *number)
{
	bool lost;
	int ret = 0;

	pthread_mutex_lock(&p->linking);
	pthread_mutex_lock(&p->lock);
	lost = p->lost;
	pthread_mutex_unlock(&p->lock);
	if (lost || !p->death)
		ret = link_next(p);
	pthread_mutex_lock(&p->lock);
	*number = p->number;
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_unlock(&p->linking);
	return ret;
}

/* ---- the thread ------------------------------------------------------------------------- */

/* Wait for something to do, at most @ms. Return: false: it is to end. */
static bool publisher_sleep(struct ab_publisher *p, int64_t ms)
{
	struct timespec until = ab_time_in(ms);
	bool ended;

	pthread_mutex_lock(&p->lock);
	while (!p->wake && !p->ended &&
	       !pthread_cond_timedwait(&p->changed, &p->lock, &until))
		;
	p->wake = false;
	ended = p->ended;
	pthread_mutex_unlock(&p->lock);
	return !ended;
}

static void look_at_manager(struct ab_publisher *p)
{
	ab_object *proxy;

	pthread_mutex_lock(&p->linking);
	proxy = p->proxy ? ab_object_get(p->proxy) : NULL;
	pthread_mutex_unlock(&p->linking);
	if (!proxy)
		return;
	if (ab_ping(proxy) == -EPIPE) {
		pthread_mutex_lock(&p->lock);
		p->lost = true;
		pthread_mutex_unlock(&p->lock);
	}
	ab_object_put(proxy);
}

/* Register what manager @number does not have. Return: 0, or the last error. */
static int register_all(struct ab_publisher *p, uint64_t number)
{
	int ret = 0, last = 0;

	pthread_mutex_lock(&p->lock);
	for (ab_publication *at = p->list; at && !p->ended && last != -EPIPE; at = at->next) {
		if (at->manager == number)
			continue;
		at->busy = true; /* so that it stays */
		pthread_mutex_unlock(&p->lock);
		ret = ab_service_add(p->conn, at->name, at->object, at->dump_flags);
		pthread_mutex_lock(&p->lock);
		at->busy = false;
		if (ret)
			last = ret;
		else
			at->manager = number;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return last;
}

/* Return: how long to wait before the next time. */
static int64_t publisher_work(struct ab_publisher *p, int64_t waited)
{
	int64_t next = waited >= RETRY_MOST_MS ? RETRY_FIRST_MS : 2 * waited;
	uint64_t number;
	int ret;

	if (waited == IDLE_MS)
		look_at_manager(p);
	ret = publisher_link(p, &number);
	if (ret)
		return waited == RETRY_MOST_MS ? RETRY_MOST_MS :
		       next < RETRY_MOST_MS ? next : RETRY_MOST_MS;
	ret = register_all(p, number);
	if (!ret)
		return IDLE_MS;
	return ret == -EPIPE ? RETRY_FIRST_MS : REFUSED_MS;
}

static void *publisher_run(void *data)
{
	struct ab_publisher *p = data;
	int64_t ms = IDLE_MS;

	while (publisher_sleep(p, ms))
		ms = publisher_work(p, ms);
	return NULL;
}

/* ---- the publisher's life --------------------------------------------------------------- */

static int publisher_new(ab_conn *conn, struct ab_publisher **publisher)
{
	struct ab_publisher *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return -ENOMEM;
	p->conn = ab_conn_get(conn);
	atomic_init(&p->refs, 1);
	pthread_mutex_init(&p->linking, NULL);
	pthread_mutex_init(&p->lock, NULL);
	ab_cond_init(&p->changed);
	ret = -pthread_create(&p->thread, NULL, publisher_run, p);
	if (ret)
		publisher_unref(p);
	else
		*publisher = p;
	return ret;
}

/* The connection's, for one publication more. */
static int publisher_get(ab_conn *conn, struct ab_publisher **publisher)
{
	int ret = 0;

	pthread_mutex_lock(&conn->lock);
	if (!conn->publisher)
		ret = publisher_new(conn, &conn->publisher);
	if (!ret) {
		conn->publisher->users++;
		*publisher = conn->publisher;
	}
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

static void publisher_stop(struct ab_publisher *p)
{
	bool ended;

	pthread_mutex_lock(&p->lock);
	ended = p->ended;
	p->ended = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	if (!ended)
		pthread_join(p->thread, NULL);
}

/* One publication less. */
static void publisher_put(struct ab_publisher *p)
{
	ab_conn *conn = p->conn;
	bool last;

	pthread_mutex_lock(&conn->lock);
	last = !--p->users;
	if (last)
		conn->publisher = NULL;
	pthread_mutex_unlock(&conn->lock);
	if (!last)
		return;
	publisher_stop(p);
	pthread_mutex_lock(&p->linking);
	unlink_manager(p);
	pthread_mutex_unlock(&p->linking);
	publisher_unref(p);
}

/** ab_publisher_close() - the connection is about to close: nothing is registered any more */
void ab_publisher_close(ab_conn *conn)
{
	struct ab_publisher *p;

	pthread_mutex_lock(&conn->lock);
	p = conn->publisher;
	pthread_mutex_unlock(&conn->lock);
	if (p)
		publisher_stop(p);
}

/* ---- publications ----------------------------------------------------------------------- */

static ab_publication *publication_new(const char *name, ab_object *object, uint32_t dump_flags)
{
	size_t size = strlen(name) + 1;
	ab_publication *publication = calloc(1, sizeof(*publication) + size);

	if (!publication)
		return NULL;
	memcpy(publication->name, name, size);
	publication->object = ab_object_get(object);
	publication->dump_flags = dump_flags;
	return publication;
}

static void publication_free(ab_publication *publication)
{
	ab_object_put(publication->object);
	free(publication);
}

/* The first time, by the caller, so that he hears why not. */
static int register_first(ab_conn *conn, ab_publication *publication)
{
	struct ab_publisher *p = publication->publisher;
	uint64_t number;
	int ret = publisher_link(p, &number);

	if (!ret)
		ret = ab_service_add(conn, publication->name, publication->object,
				     publication->dump_flags);
	if (ret)
		return ret;
	pthread_mutex_lock(&p->lock);
	publication->manager = number;
	publication->next = p->list;
	p->list = publication;
	/* The manager may have died in between, and the thread have been through. */
	if (p->lost || p->number != number) {
		p->wake = true;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return 0;
}

int ab_service_publish(ab_conn *conn, const char *name, ab_object *object, uint32_t dump_flags,
		       ab_publication **publicationp)
{
	ab_publication *publication = publication_new(name, object, dump_flags);
	int ret;

	*publicationp = NULL;
	if (!publication)
		return -ENOMEM;
	ret = ab_conn_usable(conn);
	if (!ret)
		ret = publisher_get(conn, &publication->publisher);
	if (ret) {
		publication_free(publication);
		return ret;
	}
	ret = register_first(conn, publication);
	if (ret) {
		publisher_put(publication->publisher);
		publication_free(publication);
		return ret;
	}
	*publicationp = publication;
	return 0;
}

void ab_service_unpublish(ab_publication *publication)
{
	ab_publication **at;
	struct ab_publisher *p;

	/* In a child of fork() there is no thread, and the locks are as they were. */
	if (!publication ||
	    publication->publisher->conn->forks != atomic_load(&ab_forks))
		return;
	p = publication->publisher;
	pthread_mutex_lock(&p->lock);
	while (publication->busy)
		pthread_cond_wait(&p->changed, &p->lock);
	for (at = &p->list; *at != publication; at = &(*at)->next)
		;
	*at = publication->next;
	pthread_mutex_unlock(&p->lock);
	publisher_put(p);
	publication_free(publication);
}
