// SPDX-License-Identifier: MIT
/* Calls the sample service once each way and says what came back. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "anybinder.h"
#include "sample.h"

static int call(ab_conn *conn, uint32_t code, ab_parcel *in, ab_parcel **out)
{
	char text[200];
	int ret = ab_call(conn, 0, code, in, out);

	if (ret)
		fprintf(stderr, "sample-client: call %u: %s%s\n", code,
			ab_error_text(conn, ret, text, sizeof(text)),
			ret == -EPIPE ? "; is sample-service running on this device?" : "");
	ab_parcel_free(in);
	return ret;
}

static int call_echo(ab_conn *conn)
{
	ab_parcel *in = ab_parcel_new(), *out;
	char *text = NULL;
	int ret;

	ab_write_string16(in, "h\xc3\xa9llo, binder");
	ret = call(conn, SAMPLE_ECHO, in, &out);
	if (!ret)
		ret = ab_read_string16(out, &text);
	if (!ret)
		printf("echo:       %s\n", text);
	free(text);
	ab_parcel_free(out);
	return ret;
}

static int call_add(ab_conn *conn)
{
	ab_parcel *in = ab_parcel_new(), *out;
	int32_t sum = 0;
	int ret;

	ab_write_int32(in, 40);
	ab_write_int32(in, 2);
	ret = call(conn, SAMPLE_ADD, in, &out);
	if (!ret)
		ret = ab_read_int32(out, &sum);
	if (!ret)
		printf("40 + 2:     %d\n", sum);
	ab_parcel_free(out);
	return ret ? ret : sum == 42 ? 0 : -EBADMSG;
}

static int call_who(ab_conn *conn)
{
	ab_parcel *out;
	int32_t pid = 0, euid = 0;
	int ret = call(conn, SAMPLE_WHO, ab_parcel_new(), &out);

	if (!ret)
		ret = ab_read_int32(out, &pid);
	if (!ret)
		ret = ab_read_int32(out, &euid);
	if (!ret)
		printf("I am:       pid %d, euid %d, says the driver; I say pid %d, euid %d\n",
		       pid, euid, getpid(), (int)geteuid());
	ab_parcel_free(out);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *device = "/dev/binderfs/binder";
	ab_conn *conn;
	int c, ret;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'd') {
			device = optarg;
			continue;
		}
		fprintf(c == 'h' ? stdout : stderr, "usage: sample-client [--device=PATH]\n");
		return c == 'h' ? 0 : 2;
	}
	if (optind < argc) {
		fprintf(stderr, "usage: sample-client [--device=PATH]\n");
		return 2;
	}
	ret = ab_open(&conn, device, NULL);
	if (ret) {
		fprintf(stderr, "sample-client: %s: %s; start anybinderd, or name a device\n",
			device, ab_strerror(ret));
		return 1;
	}
	ret = call_echo(conn);
	if (!ret)
		ret = call_add(conn);
	if (!ret)
		ret = call_who(conn);
	if (ret == -EBADMSG || ret == -ENODATA)
		fprintf(stderr, "sample-client: the answer makes no sense: %s\n", ab_strerror(ret));
	ab_close(conn);
	return ret ? 1 : 0;
}
