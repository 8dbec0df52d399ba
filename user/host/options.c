// SPDX-License-Identifier: GPL-2.0-only
#include "user/host/options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/fuse/device.h"
#include "user/host/say.h"
#include "user/host/worker.h"

static const char help[] =
"Usage: anybinderd [OPTIONS] MOUNTPOINT\n"
"\n"
"Serve binder devices in user space: mounts a binderfs on MOUNTPOINT, whose\n"
"devices unmodified binder programs open, mmap and ioctl. Runs in the\n"
"foreground until SIGTERM or SIGINT, then unmounts.\n"
"\n"
"  --devices=NAME,...  devices to begin with (default: binder,hwbinder,vndbinder)\n"
"  --max-devices=N     most devices at once, also of those added later by\n"
"                      BINDER_CTL_ADD (default and limit: 1048576)\n"
"  --mode=OCTAL        permissions of devices (default: 0666)\n"
"  --workers=N         threads that serve requests (default: one for each CPU\n"
"                      it may use, up to 8; limit: 64); more are started while\n"
"                      some hang in client memory\n"
"  --idle-reclaim=S    give memory back that was not used for S seconds (default:\n"
"                      30; 0: only when memory is short, or when asked by\n"
"                      binder_logs/reclaim)\n"
"  --mapping=HOW       how clients get to see what they receive: passthrough (they\n"
"                      map the daemon's memory: Linux 6.9, CAP_SYS_ADMIN), store\n"
"                      (it is copied into their page cache) or auto (the default:\n"
"                      passthrough if it can be had)\n"
"  --ready-fd=N        write \"READY\\n\" to descriptor N once clients are served\n"
"  --verbose           report also what clients do wrong\n"
"  --version           print the version\n"
"  --help              print this text\n"
"\n"
"Best run as root on Linux 6.9 or newer. Without privilege it serves processes\n"
"of its own user, or of its user namespace. Also tells systemd when it is ready\n"
"(Type=notify).\n";

enum {
	OPT_DEVICES = 256,
	OPT_MAX_DEVICES,
	OPT_MODE,
	OPT_MAPPING,
	OPT_WORKERS,
	OPT_IDLE_RECLAIM,
	OPT_READY_FD,
	OPT_VERBOSE,
	OPT_VERSION,
	OPT_HELP,
};

static const struct option long_options[] = {
	{ "devices", required_argument, NULL, OPT_DEVICES },
	{ "max-devices", required_argument, NULL, OPT_MAX_DEVICES },
	{ "mapping", required_argument, NULL, OPT_MAPPING },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "workers", required_argument, NULL, OPT_WORKERS },
	{ "idle-reclaim", required_argument, NULL, OPT_IDLE_RECLAIM },
	{ "ready-fd", required_argument, NULL, OPT_READY_FD },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static int number(const char *name, const char *text, int base, unsigned long min,
		  unsigned long max, u32 *value)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, base);
	if (errno || end == text || *end || *text == '-' || n < min || n > max) {
		binder_say(base == 8 ? "--%s=%s: want an octal number from %lo to %lo\n" :
				       "--%s=%s: want a number from %lu to %lu\n",
			   name, text, min, max);
		return -EINVAL;
	}
	*value = (u32)n;
	return 0;
}

static int ready_fd(struct binder_options *o, const char *text)
{
	u32 fd;
	int ret = number("ready-fd", text, 10, 0, 1 << 20, &fd);

	if (ret)
		return ret;
	if (fcntl((int)fd, F_GETFD) < 0) {
		binder_say("--ready-fd=%u: that descriptor is not open\n", fd);
		return -EINVAL;
	}
	o->ready_fd = (int)fd;
	return 0;
}

static int mapping(struct binder_options *o, const char *text)
{
	static const char *const names[] = {
		[BINDER_MAPPING_AUTO] = "auto",
		[BINDER_MAPPING_PASSTHROUGH] = "passthrough",
		[BINDER_MAPPING_STORE] = "store",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]))
			continue;
		o->mapping = (enum binder_mapping)i;
		return 0;
	}
	binder_say("--mapping=%s: want auto, passthrough or store\n", text);
	return -EINVAL;
}

static int option(struct binder_options *o, int opt)
{
	switch (opt) {
	case OPT_DEVICES:
		o->devices = optarg;
		return 0;
	case OPT_MAX_DEVICES:
		return number("max-devices", optarg, 10, 0, BINDER_DEVICES_MAX, &o->max_devices);
	case OPT_MAPPING:
		return mapping(o, optarg);
	case OPT_MODE:
		return number("mode", optarg, 8, 0, 0777, &o->mode);
	case OPT_WORKERS:
		return number("workers", optarg, 10, 1, BINDER_WORKERS_MAX, &o->workers);
	case OPT_IDLE_RECLAIM:
		return number("idle-reclaim", optarg, 10, 0, 86400, &o->idle_reclaim_s);
	case OPT_READY_FD:
		return ready_fd(o, optarg);
	case OPT_VERBOSE:
		o->verbose = true;
		return 0;
	case OPT_VERSION:
		printf("anybinderd %s\n", BINDER_VERSION_TEXT);
		exit(0);
	case OPT_HELP:
		fputs(help, stdout);
		exit(0);
	default:
		binder_say("see anybinderd --help\n");
		return -EINVAL;
	}
}

/**
 * binder_options_parse() - read the command line
 * Answers --help and --version itself, and exits.
 * Return: 0, or -EINVAL after saying what is wrong.
 */
int binder_options_parse(struct binder_options *o, int argc, char **argv)
{
	int opt, ret;

	*o = (struct binder_options){
		.devices = "binder,hwbinder,vndbinder",
		.max_devices = BINDER_DEVICES_MAX,
		.mode = 0666,
		.idle_reclaim_s = 30,
		.ready_fd = -1,
	};
	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		ret = option(o, opt);
		if (ret)
			return ret;
	}
	if (optind != argc - 1) {
		binder_say("%s; see anybinderd --help\n",
			   optind == argc ? "no mount point given" : "more than one mount point given");
		return -EINVAL;
	}
	o->mountpoint = argv[optind];
	return 0;
}
