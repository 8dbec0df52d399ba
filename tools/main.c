// SPDX-License-Identifier: MIT
/* The `anybinder` command: choose the subcommand. */
#include "tools/command.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
"Usage: anybinder COMMAND [OPTIONS]\n"
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
	if (!strcmp(word, "bench"))
		return command_bench(argc - 1, argv + 1);
	return usage_error("", "there is no command \"%s\"", word);
}
