// SPDX-License-Identifier: MIT
#include "mapping.h"

#include "child.h"
#include "harness.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/** pattern_fill() - @n bytes that differ with the place and with @seed. */
void pattern_fill(uint8_t *p, size_t n, unsigned int seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (i * 7 + (i >> 12) * 13 + seed * 31) & 0xff;
}

/** pattern_new() - the same in memory that the caller frees. */
uint8_t *pattern_new(size_t n, unsigned int seed)
{
	uint8_t *p = malloc(n);

	CHECK(p);
	pattern_fill(p, n, seed);
	return p;
}

static sigjmp_buf touched;

static void on_fault(int sig)
{
	siglongjmp(touched, sig);
}

/** mapping_touch() - read a byte. Return: 0 or the signal that this gives. */
int mapping_touch(const volatile uint8_t *p)
{
	struct sigaction sa = { .sa_handler = on_fault };
	int sig;

	sigaction(SIGBUS, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sig = sigsetjmp(touched, 1);
	if (!sig)
		(void)*p;
	signal(SIGBUS, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	return sig;
}

/** mapping_send() - the client of a pair calls with @n bytes of a pattern. */
void mapping_send(struct pair *p, size_t n, unsigned int seed)
{
	uint8_t *data = pattern_new(n, seed);
	struct msg m;

	msg_init(&m);
	msg_ext(&m, data, n);
	bt_send(&p->c, BC_TRANSACTION, p->h, 1, 0, &m);
	bt_flush(&p->c);
	free(data);
}

/** mapping_receive() - and the serving end receives them, and has not touched them. */
void mapping_receive(struct pair *p, size_t n, unsigned int seed, struct bt_ret *ret)
{
	mapping_send(p, n, seed);
	CHECK_EQ(bt_event(&p->s, ret), BR_TRANSACTION);
	CHECK_EQ(ret->tr.data_size, n);
}

/** pattern_check() - it must be that pattern. */
void pattern_check(const void *got, size_t n, unsigned int seed)
{
	uint8_t *data = pattern_new(n, seed);

	CHECK_MEM(got, data, n);
	free(data);
}

/** mapping_answer() - the serving end answers, the client gets it. */
void mapping_answer(struct pair *p, const struct bt_ret *ret)
{
	reply_to(&p->s, ret, 9, NULL);
	CHECK_EQ(take_reply(&p->c), 9);
}

/** mapping_round_trip() - a call, checked, and its answer. */
void mapping_round_trip(struct pair *p, size_t n, unsigned int seed)
{
	struct bt_ret ret;

	mapping_receive(p, n, seed, &ret);
	pattern_check(tr_data(&ret.tr), n, seed);
	mapping_answer(p, &ret);
}

/** mapping_unmap() - munmap all of it. */
void mapping_unmap(struct bc *b)
{
	CHECK_EQ(munmap((void *)b->map, b->map_size), 0);
	b->map = NULL;
}

/** mapping_is_dead() - a call gets what a sender to a process without a mapping gets. */
void mapping_is_dead(struct pair *p)
{
	struct bt_ret ret;

	send_to(&p->c, p->h, 1);
	bt_quiet(&p->s);
	CHECK_EQ(bt_event(&p->c, &ret), BR_DEAD_REPLY);
}

/** pair_open_unmapped() - a pair whose serving end the case maps: pair_map(). */
struct pair *pair_open_unmapped(void)
{
	struct pair *p = pair_open();

	bc_close(&p->sb);
	CHECK_EQ(bc_try_open(&p->sb, "binder", O_NONBLOCK, 0), 0);
	bt_init(&p->s, &p->sb);
	return p;
}

/* The same end, mapped now, gets an object that the client knows. */
static void pair_join(struct pair *p)
{
	registry_put(&p->s, 2, PAIR_PTR, PAIR_COOKIE);
	p->h = registry_get(&p->c, 2);
	bt_enter(&p->s);
	bt_settle(&p->s);
}

/** pair_map() - map the serving end, give the client an object of its. */
void pair_map(struct pair *p, size_t size, int flags, off_t offset)
{
	void *at = mmap(NULL, size, PROT_READ, flags, p->sb.fd, offset);

	CHECK(at != MAP_FAILED);
	p->sb.map = at;
	p->sb.map_size = size;
	pair_join(p);
}

/** mapping_has_page() - is there a page in this process's page table? */
bool mapping_has_page(const void *at)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	if (fd < 0 || pread(fd, &entry, 8, (uintptr_t)at / PAGE * 8) != 8)
		test_skip("no /proc/self/pagemap");
	close(fd);
	return entry >> 63;
}

/** mapping_resident() - pages of the file behind a mapping that are in memory. */
size_t mapping_resident(const void *at, size_t size)
{
	unsigned char in[BC_MAP_MAX / PAGE];
	size_t nr = 0;

	CHECK_LE(size, BC_MAP_MAX);
	CHECK_EQ(mincore((void *)at, size, in), 0);
	for (size_t i = 0; i < size / PAGE; i++)
		nr += in[i] & 1;
	return nr;
}

/** drop_caches() - have the kernel take back all that is idle, or skip the case. */
void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "2", 1) != 1)
		test_skip("no /proc/sys/vm/drop_caches");
	close(fd);
}
