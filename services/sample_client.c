// SPDX-License-Identifier: MIT
/* Finds the sample service by its name, calls it each way and says what came back. */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "anybinder.h"
#include "sample.h"

#define WAIT_MS 5000

static const char usage[] =
"Usage: sample-client [--device=PATH] [--android=VERSION] [--name=NAME] [--stay]\n"
"--stay: wait until the service dies, then for the next one, and so on\n";

/* What the listener heard, and whether the service has died. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t heard = PTHREAD_COND_INITIALIZER;
static char *hello;
static bool died;

static ab_parcel *request(ab_object *service)
{
	ab_parcel *in = ab_parcel_new(ab_object_conn(service));

	ab_write_token(in, SAMPLE_INTERFACE);
	return in;
}

/* Call and read the status. Takes @in. */
static int call(ab_object *service, uint32_t code, ab_parcel *in, ab_parcel **out)
{
	struct ab_status status = { 0 };
	char text[200];
	int ret = ab_call(service, code, in, out);

	if (ret)
		fprintf(stderr, "sample-client: call %u: %s\n", code,
			ab_error_text(ab_object_conn(service), ret, text, sizeof(text)));
	else
		ret = ab_read_status(*out, &status);
	if (status.exception)
		fprintf(stderr, "sample-client: call %u: %s: %s\n", code,
			ab_exception_name(status.exception), status.message);
	ab_status_fini(&status);
	ab_parcel_free(in);
	return ret;
}

static int call_echo(ab_object *service)
{
	ab_parcel *in = request(service), *out;
	char *text = NULL;
	int ret;

	ab_write_string16(in, "h\xc3\xa9llo, binder");
	ret = call(service, SAMPLE_ECHO, in, &out);
	if (!ret)
		ret = ab_read_string16(out, &text);
	if (!ret)
		printf("echo:       %s\n", text);
	free(text);
	ab_parcel_free(out);
	return ret;
}

static int call_add(ab_object *service)
{
	ab_parcel *in = request(service), *out;
	int32_t sum = 0;
	int ret;

	ab_write_int32(in, 40);
	ab_write_int32(in, 2);
	ret = call(service, SAMPLE_ADD, in, &out);
	if (!ret)
		ret = ab_read_int32(out, &sum);
	if (!ret)
		printf("40 + 2:     %d\n", sum);
	ab_parcel_free(out);
	return ret ? ret : sum == 42 ? 0 : AB_BAD_TYPE;
}

static int call_who(ab_object *service)
{
	ab_parcel *out;
	int32_t pid = 0, euid = 0;
	int ret = call(service, SAMPLE_WHO, request(service), &out);

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

/* ---- being called back ------------------------------------------------------------------ */

static int listen(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	char *text;
	int ret = info->code == SAMPLE_HELLO ? ab_read_string16(in, &text) : AB_UNKNOWN_TRANSACTION;

	if (ret)
		return ret;
	pthread_mutex_lock(&lock);
	free(hello);
	hello = text;
	pthread_cond_signal(&heard);
	pthread_mutex_unlock(&lock);
	return 0;
}

static const struct ab_class listener_class = {
	.interface = SAMPLE_LISTENER_INTERFACE,
	.transact = listen,
};

static int wait_hello(void)
{
	struct timespec until;
	int ret = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_MS / 1000;
	pthread_mutex_lock(&lock);
	while (!hello && !ret)
		ret = -pthread_cond_timedwait(&heard, &lock, &until);
	if (hello)
		printf("called back: %s\n", hello);
	free(hello);
	hello = NULL;
	pthread_mutex_unlock(&lock);
	return ret;
}

/* An object of ours goes out, and is called by the service. */
static int call_back(ab_object *service)
{
	ab_object *listener = ab_object_new(ab_object_conn(service), &listener_class, NULL);
	ab_parcel *in, *out;
	int ret;

	if (!listener)
		return -ENOMEM;
	in = request(service);
	ab_write_object(in, listener);
	ret = call(service, SAMPLE_CALL_BACK, in, &out);
	ab_parcel_free(out);
	ab_object_put(listener); /* the service holds it as long as it wants */
	return ret ? ret : wait_hello();
}

/* ---- hearing of the service's end ------------------------------------------------------- */

static void service_died(void *data, ab_object *service)
{
	pthread_mutex_lock(&lock);
	died = true;
	pthread_cond_signal(&heard);
	pthread_mutex_unlock(&lock);
}

static int wait_death(ab_object *service)
{
	ab_death *link;
	int ret;

	died = false;
	ret = ab_death_link(service, service_died, NULL, &link);
	if (ret == -EPIPE)
		return 0; /* already */
	if (ret)
		return ret;
	pthread_mutex_lock(&lock);
	while (!died)
		pthread_cond_wait(&heard, &lock);
	pthread_mutex_unlock(&lock);
	ab_death_unlink(link);
	printf("it died\n");
	return 0;
}

/* ---- all of it -------------------------------------------------------------------------- */

static int call_all(ab_conn *conn, const char *name, bool stay)
{
	ab_object *service;
	char text[300];
	int ret;

	ret = ab_service_wait(conn, name, stay ? -1 : WAIT_MS, &service);
	if (ret) {
		fprintf(stderr, "sample-client: find \"%s\": %s%s\n", name,
			ab_error_text(conn, ret, text, sizeof(text)),
			ret == -ETIMEDOUT ? "; are anybinder-servicemanager and sample-service "
					    "running on this device?" : "");
		return ret;
	}
	ret = call_echo(service);
	if (!ret)
		ret = call_add(service);
	if (!ret)
		ret = call_who(service);
	if (!ret)
		ret = call_back(service);
	if (!ret && stay)
		ret = wait_death(service);
	if (ret)
		fprintf(stderr, "sample-client: %s\n", ab_strerror(ret));
	ab_object_put(service);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "android", required_argument, NULL, 'a' },
		{ "name", required_argument, NULL, 'n' },
		{ "stay", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *device = "/dev/binderfs/binder", *name = SAMPLE_NAME;
	struct ab_options how = { 0 };
	bool stay = false;
	ab_conn *conn;
	int c, ret;

	setvbuf(stdout, NULL, _IOLBF, 0);

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'd') {
			device = optarg;
		} else if (c == 'n') {
			name = optarg;
		} else if (c == 's') {
			stay = true;
		} else if (c != 'a' || ab_variant_parse(optarg, &how.variant)) {
			fputs(usage, c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind < argc) {
		fputs(usage, stderr);
		return 2;
	}
	ret = ab_open(&conn, device, &how);
	if (ret) {
		fprintf(stderr, "sample-client: %s: %s; start anybinderd, or name a device\n",
			device, ab_strerror(ret));
		return 1;
	}
	ret = ab_pool_start(conn); /* somebody must be there to be called back */
	if (!ret) {
		do
			ret = call_all(conn, name, stay);
		while (!ret && stay);
	}
	ab_close(conn);
	return ret ? 1 : 0;
}
