// SPDX-License-Identifier: MIT
/* Ping-pong in shared memory, with a futex to sleep on: the least two processes can do. */
#include "bench/peer.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEET 0

/**
 * struct board - shared by a pair
 * @turn: odd while the server is to answer
 */
struct board {
	uint32_t turn;
	uint8_t request[PAYLOAD_MAX];
	uint8_t reply[PAYLOAD_MAX];
};

struct futex_call {
	struct member *me;
	struct board *board;
	size_t size;
	uint32_t turn;
	uint8_t out[PAYLOAD_MAX];
	uint8_t in[PAYLOAD_MAX];
};

static const struct load *the_load;
static struct futex_call call;

static void await(struct board *board, uint32_t turn)
{
	uint32_t now;

	while ((now = __atomic_load_n(&board->turn, __ATOMIC_ACQUIRE)) != turn)
		syscall(SYS_futex, &board->turn, FUTEX_WAIT, now, NULL, NULL, 0);
}

static void pass(struct board *board, uint32_t turn)
{
	/* pairs with the load in await(): the payload is there before the turn */
	__atomic_store_n(&board->turn, turn, __ATOMIC_RELEASE);
	syscall(SYS_futex, &board->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void server_main(struct crew *crew, struct member *me, void *arg)
{
	struct board *board = arg;

	crew_meet(crew, MEET, the_load->workers);
	for (uint32_t turn = 1;; turn += 2) {
		await(board, turn);
		memcpy(call.in, board->request, the_load->payload);
		memcpy(board->reply, call.in, the_load->payload);
		pass(board, turn + 1);
	}
}

static void exchange(void *state, bool check)
{
	struct futex_call *c = state;

	memcpy(c->board->request, c->out, c->size);
	pass(c->board, c->turn + 1);
	await(c->board, c->turn + 2);
	memcpy(c->in, c->board->reply, c->size);
	c->turn += 2;
	if (check && memcmp(c->in, c->out, c->size))
		crew_fail(c->me, "futex: another payload came back");
}

static void client_main(struct crew *crew, struct member *me, void *arg)
{
	call.me = me;
	call.board = arg;
	call.size = the_load->payload;
	payload_fill(call.out, call.size);
	crew_meet(crew, MEET, the_load->workers);
	client_run(me, the_load, exchange, &call);
}

static int futex_start(struct crew *crew, const struct load *load)
{
	the_load = load;
	for (int i = 0; i < load->workers / 2; i++) {
		struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		bool ok;

		if (board == MAP_FAILED) {
			perror("anybinder: shared memory");
			return -1;
		}
		ok = crew_start(crew, true, client_main, board) &&
		     crew_start(crew, false, server_main, board);
		munmap(board, sizeof(*board));
		if (!ok)
			return -1;
	}
	return 0;
}

const struct peer peer_futex = {
	.name = "futex",
	.title = "shared memory, futex",
	.start = futex_start,
};
