// SPDX-License-Identifier: MIT
/* `anybinder ls`: the names that the service manager knows. */
#include "tools/target.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ANSWER_S 5

static const char help[] =
"Usage: anybinder ls [OPTIONS]\n"
"\n"
"List the services that are registered with the service manager.\n"
"\n"
"  -l                     also process, program, interface, and whether each answers\n"
COMMON_HELP
"\n"
"Exit status: 0 listed, 1 failed, 2 used wrongly.\n";

/** struct row - what is known of a service; NULL and 0 for what is not */
struct row {
	const char *name;
	pid_t pid;
	char comm[32];
	char *interface;
	const char *state;
};

/** struct listing - of a device; @left: a thread is still asking, so the connection stays */
struct listing {
	struct common common;
	ab_conn *conn;
	bool whole, left;
	struct ab_service_info *infos;
	size_t nr_infos;
};

/* ---- whether it answers ---------------------------------------------------------------- */

/**
 * struct question - to a service, in a thread of its own, as it may never answer
 * @done: by the thread
 * @given_up: by who waits for it; then the thread frees this
 */
struct question {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool done, given_up;
	ab_conn *conn;
	char *name, *interface;
	int ret;
};

static void question_free(struct question *q)
{
	pthread_cond_destroy(&q->answered);
	pthread_mutex_destroy(&q->lock);
	free(q->interface);
	free(q->name);
	free(q);
}

static void *put_question(void *data)
{
	struct question *q = data;
	ab_object *object;
	bool given_up;

	q->ret = ab_service_check(q->conn, q->name, &object);
	if (!q->ret)
		q->ret = ab_interface(object, &q->interface);
	ab_object_put(object);
	pthread_mutex_lock(&q->lock);
	q->done = true;
	given_up = q->given_up;
	pthread_cond_signal(&q->answered);
	pthread_mutex_unlock(&q->lock);
	if (given_up)
		question_free(q);
	return NULL;
}

static struct question *question_new(ab_conn *conn, const char *name)
{
	struct question *q = calloc(1, sizeof(*q));
	pthread_t thread;

	if (!q)
		return NULL;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->answered, NULL);
	q->conn = conn;
	q->name = strdup(name);
	if (q->name && !pthread_create(&thread, NULL, put_question, q)) {
		pthread_detach(thread);
		return q;
	}
	question_free(q);
	return NULL;
}

static void ask(struct listing *l, struct row *row)
{
	struct question *q = question_new(l->conn, row->name);
	struct timespec until;
	int late = 0;

	row->state = "?";
	if (!q)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ANSWER_S;
	pthread_mutex_lock(&q->lock);
	while (!q->done && !late)
		late = pthread_cond_timedwait(&q->answered, &q->lock, &until);
	q->given_up = !q->done;
	if (q->given_up) {
		l->left = true;
		row->state = "hangs";
		pthread_mutex_unlock(&q->lock);
		return;
	}
	pthread_mutex_unlock(&q->lock);
	row->interface = q->interface;
	q->interface = NULL;
	row->state = !q->ret ? "answers" : q->ret == -ENOENT || q->ret == -EPIPE ? "gone"
									   : ab_strerror(q->ret);
	question_free(q);
}

/* ---- whose it is ---------------------------------------------------------------- */

static void find_process(const struct listing *l, struct row *row)
{
	char path[64];
	FILE *file;

	for (size_t i = 0; i < l->nr_infos; i++) {
		if (!strcmp(l->infos[i].name, row->name))
			row->pid = l->infos[i].pid;
	}
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)row->pid);
	file = row->pid > 0 ? fopen(path, "re") : NULL;
	if (!file || !fgets(row->comm, sizeof(row->comm), file))
		row->comm[0] = '\0';
	row->comm[strcspn(row->comm, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* ---- all of them ---------------------------------------------------------------- */

static struct json_object *json_text(const char *text)
{
	return text && text[0] ? json_object_new_string(text) : NULL;
}

static void print_row(const struct listing *l, const struct row *row)
{
	struct json_object *json;

	if (!l->common.json && !l->whole) {
		puts(row->name);
		return;
	}
	if (!l->common.json) {
		printf("%-40s %7d  %-16s %-8s %s\n", row->name, (int)row->pid,
		       row->comm[0] ? row->comm : "-", row->state,
		       row->interface && row->interface[0] ? row->interface : "-");
		return;
	}
	json = json_object_new_object();
	json_object_object_add(json, "name", json_object_new_string(row->name));
	if (l->whole) {
		json_object_object_add(json, "pid", json_object_new_int((int)row->pid));
		json_object_object_add(json, "program", json_text(row->comm));
		json_object_object_add(json, "state", json_text(row->state));
		json_object_object_add(json, "interface", json_text(row->interface));
	}
	json_line(json);
}

static int list(struct listing *l)
{
	size_t nr;
	char **names;
	int ret = ab_service_list(l->conn, AB_DUMP_ALL, &names, &nr);

	if (ret == -EPIPE)
		return target_lost(&l->common);
	if (ret)
		return common_error(&l->common, l->conn, ret, "list the services of %s",
				    l->common.device);
	/* Older managers do not tell whose a name is. */
	if (l->whole && ab_service_infos(l->conn, &l->infos, &l->nr_infos))
		l->nr_infos = 0;
	if (l->whole && !l->common.json)
		printf("%-40s %7s  %-16s %-8s %s\n", "NAME", "PID", "PROGRAM", "STATE", "INTERFACE");
	for (size_t i = 0; i < nr; i++) {
		struct row row = { .name = names[i] ? names[i] : "" };

		if (l->whole) {
			find_process(l, &row);
			ask(l, &row);
		}
		print_row(l, &row);
		free(row.interface);
	}
	ab_service_info_free(l->infos, l->nr_infos);
	ab_strings_free(names, nr);
	return EXIT_OK;
}

/** command_ls() - list services. */
int command_ls(int argc, char **argv)
{
	static const struct option options[] = { COMMON_OPTIONS, { 0 } };
	struct listing l = { .common = { .name = "ls", .device = DEVICE_DEFAULT } };
	int opt, code;

	while ((opt = getopt_long(argc, argv, "l", options, NULL)) != -1) {
		if (opt == 'l') {
			l.whole = true;
			continue;
		}
		code = common_option(&l.common, opt, help);
		if (code != COMMON_NEXT)
			return code;
	}
	if (optind < argc)
		return usage_error("ls ", "what is \"%s\"?", argv[optind]);
	code = common_open(&l.common, &l.conn);
	if (code)
		return code;
	code = list(&l);
	if (!l.left)
		ab_close(l.conn);
	return code;
}
