// SPDX-License-Identifier: MIT
/* The `anybinder` command: choose the subcommand. */
#include "tools/command.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
"Usage: anybinder COMMAND [OPTIONS]\n"
"\n"
"  doctor            what is wrong with binder on this machine, and how to mend it\n"
"  ls                the services that are registered\n"
"  ping              does a service answer, and how fast?\n"
"  call              call a service\n"
"  dump              ask a service to print its state\n"
"  wait              until a service is there\n"
"  stats             the driver's counters\n"
"  decode            what the numbers in logs mean, such as 29189\n"
"\n"
"  bench throughput  what a call costs, ours or another way to make one\n"
"  bench compare     ours and its peers side by side, with ratios\n"
"  bench bystander   what a call costs while other processes misbehave\n"
"  bench inversion   how long processes of low priority delay a real-time one\n"
"  bench roundtrip   the parts of a call, without a library\n"
"  bench sendvec     what a payload costs, by its size\n"
"\n"
"  --version         print the version\n"
"  --help            print this text; after a command, more about it\n"
"\n"
"Exit status: 0 done, 1 failed, 2 used wrongly.\n";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "bench", command_bench },   { "call", command_call },	{ "decode", command_decode },
	{ "doctor", command_doctor }, { "dump", command_dump },	{ "ls", command_ls },
	{ "ping", command_ping },     { "stats", command_stats }, { "wait", command_wait },
};

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word)
		return usage_error("", "which command?");
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
		fputs(help, stdout);
		return finish_output(EXIT_OK);
	}
	if (!strcmp(word, "--version")) {
		puts("anybinder " VERSION);
		return finish_output(EXIT_OK);
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!strcmp(word, commands[i].name))
			return finish_output(commands[i].run(argc - 1, argv + 1));
	}
	return usage_error("", "there is no command \"%s\"", word);
}
