// SPDX-License-Identifier: MIT
/* `anybinder bench`: choose the benchmark. */
#include "tools/command.h"

#include "bench/crew.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
"Usage: anybinder bench NAME [OPTIONS]\n"
"\n"
"  throughput  one kind of call: how many a second, and their times\n"
"  compare     ours and its peers in turns, medians and ratios\n"
"  bystander   times of a pair's calls beside 8 processes that behave, and 8 that do not\n"
"  inversion   how long processes of low priority delay a real-time one\n"
"  roundtrip   the parts of a call, without a library\n"
"  sendvec     what a payload costs, by its size\n"
"\n"
"Each has a --help of its own.\n";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} benches[] = {
	{ "throughput", bench_throughput },
	{ "compare", bench_compare },
	{ "bystander", bench_bystander },
	{ "inversion", bench_inversion },
	{ "roundtrip", bench_roundtrip },
	{ "sendvec", bench_sendvec },
};

/* All is cleaned up; now end as whoever sent the signal expects. */
static int end_by_signal(int code)
{
	int sig = crew_interrupted();

	if (sig) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	return code;
}

/** command_bench() - run the benchmark that argv[1] names. */
int command_bench(int argc, char **argv)
{
	static char name[] = "anybinder";
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word)
		return usage_error("bench ", "which benchmark?");
	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		fputs(help, stdout);
		return finish_output(EXIT_OK);
	}
	for (size_t i = 0; i < sizeof(benches) / sizeof(*benches); i++) {
		if (strcmp(word, benches[i].name))
			continue;
		/* what getopt puts before its messages */
		argv[1] = name;
		crew_catch_signals();
		return end_by_signal(finish_output(benches[i].run(argc - 1, argv + 1)));
	}
	return usage_error("bench ", "there is no benchmark \"%s\"", word);
}
