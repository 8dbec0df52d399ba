// SPDX-License-Identifier: MIT
/* `anybinder doctor`: its options, and what is printed of the checks. */
#include "tools/doctor.h"
#include "tools/options.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_DEFAULT 10
#define TIMEOUT_MAX 600

static const char help[] =
"Usage: anybinder doctor [OPTIONS]\n"
"\n"
"Use a binder device as a program would, and say what is wrong and what to type\n"
"about it. Without --device the first that there is.\n"
"\n"
"      --device=PATH      binder device\n"
"      --timeout=SECONDS  how long a check may take (default 10, limit 600)\n"
"      --all              also checks that do not apply here\n"
"      --json             one JSON object a line\n"
"      --help             print this text\n"
"\n"
"Exit status: 0 ready, 1 not ready, 2 used wrongly.\n";

static const char *const outcomes[] = {
	[OUTCOME_NONE] = "not applicable", [OUTCOME_OK] = "ok", [OUTCOME_WARNING] = "warning",
	[OUTCOME_PROBLEM] = "problem",
};

/** struct request - what is wanted; @first: what hinders most, if anything does */
struct request {
	struct doctor doctor;
	bool json, all, ready;
	struct finding first;
};

void find(struct finding *f, enum outcome outcome, const char *format, ...)
{
	va_list args;

	f->outcome = outcome;
	va_start(args, format);
	vsnprintf(f->found, sizeof(f->found), format, args);
	va_end(args);
}

void mend(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->mend, sizeof(f->mend), format, args);
	va_end(args);
}

/* ---- printing ---------------------------------------------------------------- */

static struct json_object *json_text(const char *text)
{
	return text && text[0] ? json_object_new_string(text) : NULL;
}

static void print_finding(const struct request *r, const char *name, const struct finding *f)
{
	struct json_object *object;

	if (r->json) {
		object = json_object_new_object();
		json_object_object_add(object, "check", json_text(name));
		json_object_object_add(object, "outcome", json_text(outcomes[f->outcome]));
		json_object_object_add(object, "found", json_text(f->found));
		json_object_object_add(object, "mend", json_text(f->mend));
		json_line(object);
	} else if (f->outcome != OUTCOME_NONE || r->all) {
		printf("%-8s %-16s %s\n", f->outcome == OUTCOME_NONE ? "-" : outcomes[f->outcome],
		       name, f->found);
		if (f->mend[0])
			printf("%-8s %-16s -> %s\n", "", "", f->mend);
	}
}

static void print_verdict(const struct request *r, bool ready)
{
	struct json_object *object;

	if (r->json) {
		object = json_object_new_object();
		json_object_object_add(object, "ready", json_object_new_boolean(ready));
		json_object_object_add(object, "device", json_text(r->doctor.device));
		json_object_object_add(object, "first", json_text(r->first.mend));
		json_line(object);
	} else if (ready) {
		printf("READY: %s\n", r->doctor.device);
	} else {
		printf("NOT READY. First: %s\n", r->first.mend);
	}
}

static void take_finding(void *data, const char *name, const struct finding *f)
{
	struct request *r = data;

	print_finding(r, name, f);
	if (f->outcome == OUTCOME_PROBLEM && r->ready) {
		r->ready = false;
		r->first = *f;
	}
}

static int examine(struct request *r)
{
	int ret;

	r->ready = true;
	ret = doctor_run(&r->doctor, take_finding, r);
	if (ret) {
		fprintf(stderr, "anybinder: doctor: %s\n", strerror(-ret));
		return EXIT_FAILED;
	}
	print_verdict(r, r->ready);
	return r->ready ? EXIT_OK : EXIT_FAILED;
}

/* Return: COMMON_NEXT, or an exit code. */
static int parse(struct request *r, int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'D' },
		{ "timeout", required_argument, NULL, 't' },
		{ "all", no_argument, NULL, 'a' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{ "root", required_argument, NULL, 'r' }, /* for tests: another /proc, /sys, /dev */
		{ 0 },
	};
	unsigned long long seconds;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'D') {
			r->doctor.device = optarg;
			r->doctor.given = true;
		} else if (opt == 'J') {
			r->json = true;
		} else if (opt == 'a') {
			r->all = true;
		} else if (opt == 't') {
			if (!parse_number(optarg, 1, TIMEOUT_MAX, &seconds))
				return usage_error("doctor ", "--timeout=%s: 1 to %d seconds",
						   optarg, TIMEOUT_MAX);
			r->doctor.timeout_s = (int)seconds;
		} else if (opt == 'r') {
			r->doctor.root = optarg;
		} else if (opt == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		} else {
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		return usage_error("doctor ", "what is \"%s\"?", argv[optind]);
	return COMMON_NEXT;
}

/** command_doctor() - look for what is wrong. */
int command_doctor(int argc, char **argv)
{
	struct request r = { .doctor = { .root = "", .fd = -1,
					  .timeout_s = TIMEOUT_DEFAULT } };
	int code = parse(&r, argc, argv);
	char *whole = NULL;

	if (code != COMMON_NEXT)
		return code;
	/* Mounts are known by whole paths. */
	if (r.doctor.given && r.doctor.device[0] != '/') {
		char *here = get_current_dir_name();

		if (asprintf(&whole, "%s/%s", here ? here : "", r.doctor.device) < 0)
			whole = NULL;
		free(here);
		r.doctor.device = whole ? whole : r.doctor.device;
	}
	code = examine(&r);
	free(whole);
	return code;
}
