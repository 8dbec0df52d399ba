/* SPDX-License-Identifier: MIT */
/* The `anybinder` command: its parts, and what they share. */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes. */
#define EXIT_OK 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2

#define DEVICE_DEFAULT "/dev/binderfs/binder"

/* Each returns an exit code; argv[0] is its own name. */
int command_bench(int argc, char **argv);
int command_call(int argc, char **argv);
int command_decode(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_ls(int argc, char **argv);
int command_ping(int argc, char **argv);
int command_stats(int argc, char **argv);
int command_wait(int argc, char **argv);
int bench_throughput(int argc, char **argv);
int bench_compare(int argc, char **argv);
int bench_bystander(int argc, char **argv);
int bench_inversion(int argc, char **argv);
int bench_roundtrip(int argc, char **argv);
int bench_sendvec(int argc, char **argv);

int usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool parse_number(const char *text, unsigned long long min, unsigned long long max,
		  unsigned long long *value);
bool device_usable(const char *device);
int finish_output(int code);

#endif
