// SPDX-License-Identifier: MIT
/* A sample service: context manager of a device, answers sample.h's calls. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "anybinder.h"
#include "sample.h"

static int echo(ab_parcel *in, ab_parcel *out)
{
	char *text;
	int ret = ab_read_string16(in, &text);

	if (ret)
		return ret;
	ret = ab_write_string16(out, text);
	free(text);
	return ret;
}

static int add(ab_parcel *in, ab_parcel *out)
{
	int32_t a, b;
	int ret = ab_read_int32(in, &a);

	if (!ret)
		ret = ab_read_int32(in, &b);
	return ret ? ret : ab_write_int32(out, (int32_t)((uint32_t)a + (uint32_t)b));
}

static int serve(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	if (info->oneway)
		return 0;
	switch (info->code) {
	case SAMPLE_ECHO:
		return echo(in, out);
	case SAMPLE_ADD:
		return add(in, out);
	case SAMPLE_WHO:
		ab_write_int32(out, info->pid);
		return ab_write_int32(out, (int32_t)info->euid);
	default:
		return -EBADRQC;
	}
}

static int run(const char *device, int ready_fd)
{
	struct ab_options options = { .max_threads = 4 };
	ab_object *object;
	ab_conn *conn;
	int ret;

	ret = ab_open(&conn, device, &options);
	if (ret) {
		fprintf(stderr, "sample-service: %s: %s; start anybinderd, or name a device\n",
			device, ab_strerror(ret));
		return 1;
	}
	object = ab_object_new(conn, serve, NULL);
	ret = object ? ab_become_manager(conn, object) : -ENOMEM;
	if (ret) {
		fprintf(stderr, "sample-service: cannot be context manager of %s: %s\n", device,
			ret == -EBUSY ? "somebody else is" : ab_strerror(ret));
	} else {
		if (ready_fd >= 0 && dprintf(ready_fd, "READY\n") < 0)
			perror("sample-service: --ready-fd");
		ret = ab_loop(conn);
		if (ret)
			fprintf(stderr, "sample-service: %s\n", ab_strerror(ret));
	}
	ab_close(conn);
	ab_object_unref(object);
	return ret ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "ready-fd", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *device = "/dev/binderfs/binder";
	int c, ready_fd = -1;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'd')
			device = optarg;
		else if (c == 'r')
			ready_fd = atoi(optarg);
		else {
			fprintf(c == 'h' ? stdout : stderr,
				"usage: sample-service [--device=PATH] [--ready-fd=N]\n");
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "usage: sample-service [--device=PATH] [--ready-fd=N]\n");
		return 2;
	}
	return run(device, ready_fd);
}
