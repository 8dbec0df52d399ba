/* SPDX-License-Identifier: MIT */
/*
 * The processes and threads of a case: starting, joining, killing, meeting
 * points in shared memory, and seeing where a task is stuck.
 */
#ifndef TESTS_PROCESS_CHILD_H
#define TESTS_PROCESS_CHILD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

long long test_now_ms(void);
void test_sleep_ms(int ms);
pid_t test_gettid(void);
char *test_read_file(const char *path);
long test_status_kb(pid_t pid, const char *name);

void *test_share(size_t size);

pid_t test_spawn(void (*fn)(void *arg), void *arg);
void test_join(pid_t pid);
void test_kill(pid_t pid);
bool test_reap(pid_t pid, int *status, int timeout_s);
void test_dump_group(pid_t pgid);

pthread_t test_thread(void *(*fn)(void *arg), void *arg);
void test_thread_join(pthread_t thread);

void test_post(atomic_int *counter);
void test_set(atomic_int *number, int value);
void test_await_at(const char *file, int line, const char *what, atomic_int *counter, int min);
#define test_await(counter, min) test_await_at(__FILE__, __LINE__, #counter, counter, min)

void test_eventually_at(const char *file, int line, const char *what, bool (*fn)(void *arg),
			void *arg);
#define test_eventually(fn, arg) test_eventually_at(__FILE__, __LINE__, #fn, fn, arg)

void test_await_blocked(pid_t tid);
char test_state(pid_t tid);

#endif
