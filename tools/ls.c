// SPDX-License-Identifier: MIT
/* `anybinder ls`: the names that the service manager knows. */
#include "tools/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void find_comm(struct row *row)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)row->pid);
	file = row->pid > 0 ? fopen(path, "re") : NULL;
	if (!file || !fgets(row->comm, sizeof(row->comm), file))
		row->comm[0] = '\0';
	row->comm[strcspn(row->comm, "\n")] = '\0';
	if (file)
		fclose(file);
}

static void ask(ab_conn *conn, struct row *row)
{
	ab_object *object;
	int ret = ab_service_check(conn, row->name, &object);

	if (!ret)
		ret = ab_interface(object, &row->interface);
	ab_object_put(object);
	row->state = !ret ? "answers" : ret == -ENOENT || ret == -EPIPE ? "gone" : ab_strerror(ret);
}

static pid_t pid_of(const struct ab_service_info *infos, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(infos[i].name, name))
			return infos[i].pid;
	}
	return 0;
}

static void print_row(const struct common *common, const struct row *row, bool whole)
{
	struct json_object *json;

	if (!common->json && !whole) {
		puts(row->name);
		return;
	}
	if (!common->json) {
		printf("%-40s %7d  %-16s %-8s %s\n", row->name, (int)row->pid,
		       row->comm[0] ? row->comm : "-", row->state,
		       row->interface && row->interface[0] ? row->interface : "-");
		return;
	}
	json = json_object_new_object();
	json_object_object_add(json, "name", json_object_new_string(row->name));
	if (whole) {
		json_object_object_add(json, "pid", json_object_new_int((int)row->pid));
		json_object_object_add(json, "program", json_object_new_string(row->comm));
		json_object_object_add(json, "state", json_object_new_string(row->state));
		json_object_object_add(json, "interface", row->interface ?
				       json_object_new_string(row->interface) : NULL);
	}
	json_line(json);
}

static int list(const struct common *common, ab_conn *conn, bool whole)
{
	struct ab_service_info *infos = NULL;
	size_t nr, nr_infos = 0;
	char **names;
	int ret = ab_service_list(conn, AB_DUMP_ALL, &names, &nr);

	if (ret == -EPIPE) {
		fprintf(stderr, "anybinder: %s: there is no service manager; start "
			"anybinder-servicemanager --device=%s\n", common->device, common->device);
		return EXIT_FAILED;
	}
	if (ret)
		return common_error(common, conn, ret, "list the services of %s", common->device);
	/* Older managers do not tell whose a name is. */
	if (whole && ab_service_info(conn, &infos, &nr_infos))
		nr_infos = 0;
	if (whole && !common->json)
		printf("%-40s %7s  %-16s %-8s %s\n", "NAME", "PID", "PROGRAM", "STATE", "INTERFACE");
	for (size_t i = 0; i < nr; i++) {
		struct row row = { .name = names[i] ? names[i] : "" };

		if (whole) {
			row.pid = pid_of(infos, nr_infos, row.name);
			find_comm(&row);
			ask(conn, &row);
		}
		print_row(common, &row, whole);
		free(row.interface);
	}
	ab_service_info_free(infos, nr_infos);
	ab_strings_free(names, nr);
	return EXIT_OK;
}

/** command_ls() - list services. */
int command_ls(int argc, char **argv)
{
	static const struct option options[] = { COMMON_OPTIONS, { 0 } };
	struct common common = { .name = "ls", .device = DEVICE_DEFAULT };
	bool whole = false;
	int opt, code;
	ab_conn *conn;

	while ((opt = getopt_long(argc, argv, "l", options, NULL)) != -1) {
		if (opt == 'l') {
			whole = true;
			continue;
		}
		code = common_option(&common, opt, help);
		if (code != COMMON_NEXT)
			return code;
	}
	if (optind < argc)
		return usage_error("ls ", "what is \"%s\"?", argv[optind]);
	code = common_open(&common, &conn);
	if (code)
		return code;
	code = list(&common, conn, whole);
	ab_close(conn);
	return code;
}
