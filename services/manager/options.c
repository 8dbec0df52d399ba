// SPDX-License-Identifier: MIT
#include "options.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager.h"
#include "say.h"

static const char help[] =
"Usage: anybinder-servicemanager [OPTIONS]\n"
"\n"
"Be the context manager of a binder device: give names to objects, as Android's\n"
"service manager does. Runs in the foreground until SIGTERM or SIGINT; SIGHUP\n"
"reads the policy again.\n"
"\n"
"  --device=PATH      the device (default: /dev/binderfs/binder)\n"
"  --android=VERSION  speak as this Android does: 8 to 16, or an API level\n"
"                     (default: 13)\n"
"  --policy=FILE      who may do what (default: " SM_POLICY_FILE ";\n"
"                     if that does not exist root and the user it runs as may do\n"
"                     anything, others may find, list and watch)\n"
"  --check            only read the policy, and say what is wrong with it\n"
"  --foreground       accepted, and the only way to run\n"
"  --ready-fd=N       write \"READY\\n\" to descriptor N once calls are served\n"
"  --version          print the version\n"
"  --help             print this text\n"
"\n"
"Tells systemd when it is ready (Type=notify) and that it lives (WatchdogSec=).\n"
"Exit status: 0 when told to end, 1 when it failed, 2 when the options are wrong.\n"
"See anybinder-servicemanager(8) and anybinder-servicemanager.conf(5).\n";

static const struct option long_options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "android", required_argument, NULL, 'a' },
	{ "policy", required_argument, NULL, 'p' },
	{ "check", no_argument, NULL, 'c' },
	{ "foreground", no_argument, NULL, 'f' },
	{ "ready-fd", required_argument, NULL, 'r' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int ready_fd(struct sm_options *options, const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);

	if (end == text || *end || fd < 0 || fd > 1 << 20 || fcntl((int)fd, F_GETFD) < 0) {
		sm_say(SM_ERROR, "--ready-fd=%s: that is no open descriptor", text);
		return -EINVAL;
	}
	options->ready_fd = (int)fd;
	return 0;
}

static int option(struct sm_options *options, int opt)
{
	switch (opt) {
	case 'd':
		options->device = optarg;
		return 0;
	case 'a':
		if (!ab_variant_parse(optarg, &options->variant))
			return 0;
		sm_say(SM_ERROR, "--android=%s: want 8 to 16, or an API level", optarg);
		return -EINVAL;
	case 'p':
		options->policy = optarg;
		return 0;
	case 'c':
		options->check = true;
		return 0;
	case 'f':
		return 0;
	case 'r':
		return ready_fd(options, optarg);
	case 'V':
		printf(SM_NAME " " SM_VERSION "\n");
		exit(0);
	case 'h':
		fputs(help, stdout);
		exit(0);
	default:
		sm_say(SM_ERROR, "see " SM_NAME " --help");
		return -EINVAL;
	}
}

/**
 * sm_options_parse() - read the command line
 * @options: receives it
 * @argc: of main()
 * @argv: of main()
 *
 * Answers --help and --version itself, and exits.
 *
 * Return: 0, or -EINVAL after saying what is wrong.
 */
int sm_options_parse(struct sm_options *options, int argc, char **argv)
{
	int opt, ret = 0;

	*options = (struct sm_options){ .device = "/dev/binderfs/binder", .ready_fd = -1 };
	while (!ret && (opt = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		ret = option(options, opt);
	if (!ret && optind < argc) {
		sm_say(SM_ERROR, "what is %s for? See " SM_NAME " --help", argv[optind]);
		ret = -EINVAL;
	}
	return ret;
}
