// SPDX-License-Identifier: MIT
/* A sample service: it has a name with the service manager, and answers sample.h's calls. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "anybinder.h"
#include "sample.h"

static const char usage[] =
"Usage: sample-service [--device=PATH] [--android=VERSION] [--name=NAME] [--ready-fd=N]\n";

struct request {
	const char *device, *name;
	enum ab_variant variant;
	int ready_fd;
};

static int echo(ab_parcel *in, ab_parcel *out)
{
	char *text;
	int ret = ab_read_string16(in, &text);

	if (ret)
		return ret;
	ab_write_status(out, AB_EX_NONE, 0, NULL);
	ret = ab_write_string16(out, text);
	free(text);
	return ret;
}

static int add(ab_parcel *in, ab_parcel *out)
{
	int32_t a, b, sum;
	int ret = ab_read_int32(in, &a);

	if (!ret)
		ret = ab_read_int32(in, &b);
	if (ret)
		return ret;
	if (__builtin_add_overflow(a, b, &sum))
		return ab_write_status(out, AB_EX_ILLEGAL_ARGUMENT, 0, "the sum is too large");
	ab_write_status(out, AB_EX_NONE, 0, NULL);
	return ab_write_int32(out, sum);
}

static int call_back(ab_object *service, ab_parcel *in, ab_parcel *out)
{
	ab_object *listener;
	ab_parcel *hello;
	int ret = ab_read_object(in, &listener);

	if (ret)
		return ret;
	hello = ab_parcel_new(ab_object_conn(service));
	ab_write_token(hello, SAMPLE_LISTENER_INTERFACE);
	ab_write_string16(hello, "hello from the sample service");
	ret = ab_call_oneway(listener, SAMPLE_HELLO, hello);
	ab_parcel_free(hello);
	ab_object_put(listener);
	return ret ? ret : ab_write_status(out, AB_EX_NONE, 0, NULL);
}

static int serve(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	switch (info->code) {
	case SAMPLE_ECHO:
		return echo(in, out);
	case SAMPLE_ADD:
		return add(in, out);
	case SAMPLE_WHO:
		ab_write_status(out, AB_EX_NONE, 0, NULL);
		ab_write_int32(out, info->pid);
		return ab_write_int32(out, (int32_t)info->euid);
	case SAMPLE_CALL_BACK:
		return call_back(info->object, in, out);
	default:
		return AB_UNKNOWN_TRANSACTION;
	}
}

static int dump(void *data, const struct ab_call_info *info, int fd, const char *const *args,
		size_t nr_args)
{
	return dprintf(fd, "the sample service, pid %d\n", getpid()) < 0 ? -errno : 0;
}

static const struct ab_class sample_class = {
	.interface = SAMPLE_INTERFACE,
	.transact = serve,
	.dump = dump,
};

static int run(const struct request *r)
{
	struct ab_options options = { .max_threads = 4, .variant = r->variant };
	ab_publication *publication = NULL;
	ab_object *object;
	ab_conn *conn;
	char text[300];
	int ret;

	ret = ab_open(&conn, r->device, &options);
	if (ret) {
		fprintf(stderr, "sample-service: %s: %s; start anybinderd, or name a device\n",
			r->device, ab_strerror(ret));
		return 1;
	}
	object = ab_object_new(conn, &sample_class, NULL);
	ret = object ? ab_service_publish(conn, r->name, object, AB_DUMP_DEFAULT, &publication)
		     : -ENOMEM;
	if (ret) {
		fprintf(stderr, "sample-service: cannot be \"%s\" on %s: %s%s\n", r->name, r->device,
			ab_error_text(conn, ret, text, sizeof(text)),
			ret == -EPIPE ? "; start anybinder-servicemanager first" : "");
	} else {
		if (r->ready_fd >= 0 && dprintf(r->ready_fd, "READY\n") < 0)
			perror("sample-service: --ready-fd");
		ret = ab_loop(conn);
		if (ret)
			fprintf(stderr, "sample-service: %s\n", ab_strerror(ret));
	}
	ab_service_unpublish(publication);
	ab_object_put(object);
	ab_close(conn);
	return ret ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "android", required_argument, NULL, 'a' },
		{ "name", required_argument, NULL, 'n' },
		{ "ready-fd", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct request r = { .device = "/dev/binderfs/binder", .name = SAMPLE_NAME,
			     .ready_fd = -1 };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'd') {
			r.device = optarg;
		} else if (c == 'n') {
			r.name = optarg;
		} else if (c == 'r') {
			r.ready_fd = atoi(optarg);
		} else if (c != 'a' || ab_variant_parse(optarg, &r.variant)) {
			fputs(usage, c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind < argc) {
		fputs(usage, stderr);
		return 2;
	}
	return run(&r);
}
