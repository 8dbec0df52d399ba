// SPDX-License-Identifier: MIT
/* Many at once: clients, servers, threads; every answer is checked. */
#include "bc.h"
#include "child.h"
#include "driver.h"
#include "harness.h"
#include "server.h"

#include <stdlib.h>
#include <unistd.h>

enum { N = 32 };

/* Sizes and contents that differ by client and by round. */
static void echo_rounds(struct bt *t, uint32_t h, unsigned int who, unsigned int rounds,
			size_t most)
{
	uint8_t *data = malloc(most + 1);
	unsigned int seed = who;

	for (unsigned int r = 0; r < rounds; r++) {
		size_t size = rand_r(&seed) % most;
		struct binder_transaction_data reply;
		struct msg m;

		memset(data, who * 31 + r, size);
		msg_init(&m);
		msg_ext(&m, data, size);
		bt_call_ok(t, h, CODE_ECHO, &m, &reply);
		CHECK_EQ(reply.data_size, size);
		CHECK_MEM(tr_data(&reply), data, size);
		bt_free(t, reply.data.ptr.buffer);
	}
	bt_flush(t);
	free(data);
}

struct job {
	unsigned int who;
	unsigned int rounds;
	unsigned int first; /* object numbers to call; 0: the manager */
	unsigned int last;
	size_t most;
	struct bc *b;
};

static void client_main(void *arg)
{
	const struct job *j = arg;
	struct client *c = client_open();

	if (!j->first) {
		echo_rounds(&c->t, 0, j->who, j->rounds, j->most);
		return;
	}
	for (unsigned int i = j->first; i <= j->last; i++)
		echo_rounds(&c->t, registry_get(&c->t, i), j->who * 100 + i, j->rounds, j->most);
}

static void clients_run(unsigned int n, struct job like)
{
	pid_t pids[N];

	for (unsigned int i = 0; i < n; i++) {
		struct job *j = malloc(sizeof(*j));

		*j = like;
		j->who = i + 1;
		pids[i] = test_spawn(client_main, j);
	}
	for (unsigned int i = 0; i < n; i++)
		test_join(pids[i]);
}

static void test_32_clients_of_one_thread_are_served(void)
{
	struct server s = { .map_size = 1 << 20 };

	server_start(&s);
	clients_run(N, (struct job){ .rounds = 60, .most = 3000 });
	CHECK_EQ(atomic_load(&s.shared->served), N * 60);
	server_stop(&s);
}

static void test_32_clients_of_eight_threads_are_served(void)
{
	struct server s = { .threads = 7, .map_size = 1 << 20 };

	server_start(&s);
	clients_run(N, (struct job){ .rounds = 100, .most = 9000 });
	CHECK_EQ(atomic_load(&s.shared->served), N * 100);
	server_stop(&s);
}

static void test_deferred_replies_under_load_are_all_sent(void)
{
	struct server s = { .threads = 3, .map_size = 1 << 20, .reply_flags = TF_DEFER_COMPLETE };

	server_start(&s);
	clients_run(N, (struct job){ .rounds = 100, .most = 2000 });
	CHECK_EQ(atomic_load(&s.shared->served), N * 100);
	server_stop(&s);
}

static void test_one_client_of_32_servers_reaches_each(void)
{
	struct server m = { 0 }, s[N];
	struct client *c;
	uint32_t h[N];

	server_start(&m);
	memset(s, 0, sizeof(s));
	for (int i = 0; i < N; i++) {
		s[i].id = i + 1;
		server_start(&s[i]);
	}
	c = client_open();
	for (int i = 0; i < N; i++)
		h[i] = registry_get(&c->t, i + 1);
	for (int r = 0; r < 20; r++)
		for (int i = 0; i < N; i++) {
			struct binder_transaction_data reply;

			bt_call_ok(&c->t, h[i], CODE_WHO, NULL, &reply);
			CHECK_EQ(tr_u32(&reply, 0), getpid());
			CHECK_EQ(tr_u32(&reply, 2), s[i].pid);
			bt_free(&c->t, reply.data.ptr.buffer);
		}
	bt_flush(&c->t);
	for (int i = 0; i < N; i++)
		CHECK_EQ(atomic_load(&s[i].shared->served), 20);
}

static void test_8_clients_of_8_servers_all_reach_all(void)
{
	struct server m = { .threads = 2 }, s[8];

	server_start(&m);
	memset(s, 0, sizeof(s));
	for (int i = 0; i < 8; i++) {
		s[i].id = i + 1;
		s[i].threads = 1;
		server_start(&s[i]);
	}
	clients_run(8, (struct job){ .rounds = 25, .most = 5000, .first = 1, .last = 8 });
	for (int i = 0; i < 8; i++)
		CHECK_EQ(atomic_load(&s[i].shared->served), 8 * 25);
}

static void *client_thread(void *arg)
{
	struct job *j = arg;
	struct bt *t = malloc(sizeof(*t));

	bt_init(t, j->b);
	echo_rounds(t, 0, j->who, j->rounds, j->most);
	free(t);
	return NULL;
}

/* One open device, sixteen threads: replies go to the thread that called. */
static void test_16_threads_of_one_client_get_their_own_replies(void)
{
	struct server s = { .threads = 3, .map_size = 1 << 20 };
	pthread_t threads[16];
	struct job jobs[16];
	struct bc b;

	server_start(&s);
	bc_open(&b, 1 << 20);
	for (int i = 0; i < 16; i++) {
		jobs[i] = (struct job){ .who = i, .rounds = 100, .most = 4000, .b = &b };
		threads[i] = test_thread(client_thread, &jobs[i]);
	}
	for (int i = 0; i < 16; i++)
		test_thread_join(threads[i]);
	server_stop(&s);
}

static const struct test_case cases[] = {
	QUICK(test_32_clients_of_one_thread_are_served),
	CASE(test_32_clients_of_eight_threads_are_served),
	CASE(test_deferred_replies_under_load_are_all_sent),
	QUICK(test_one_client_of_32_servers_reaches_each),
	CASE(test_8_clients_of_8_servers_all_reach_all),
	QUICK(test_16_threads_of_one_client_get_their_own_replies),
};

TEST_MAIN(cases)
