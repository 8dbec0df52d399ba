// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core under real threads: three processes of three threads each call one
 * another, one-way and with replies and objects, count, watch for deaths,
 * exit, are reaped, and die as processes with everything under way and come
 * back; meanwhile idle pages are reclaimed and the printers run. What arrives
 * must be what was sent, in order; in the end all is given back.
 *
 * Most meaningful under ThreadSanitizer and AddressSanitizer. A wait ends
 * after a moment with an interrupt, so nobody waits for somebody who waits.
 *
 * usage: core_threads [GENERATIONS [STEPS [SEED]]]
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <binder_kapi.h>

#include "core/alloc.h"
#include "core/command.h"
#include "core/context.h"
#include "core/ioctl.h"
#include "core/node.h"
#include "core/proc.h"
#include "core/report.h"
#include "core/return.h"
#include "core/text.h"
#include "core/thread.h"

#define NR_PROCS 3
#define NR_WORKERS 3		/* threads of each */
#define NR_PTRS 3
#define NR_HANDLES 6
#define LIST_MAX 32
#define DATA_MAX 6000
#define MAGIC 0x7eadbeef
#define WAIT_NS 2000000
#define TIMEOUT_S 1700

#define CHECK(cond) do {							\
	if (!(cond))								\
		binder_kapi_fatal("%s: check failed: %s", BINDER_SITE, #cond);	\
} while (0)

struct page {
	struct binder_alloc *alloc;
	size_t index;
};

struct list {
	u64 v[LIST_MAX];
	unsigned int nr;
};

struct group;

/* One thread of one process. */
struct worker {
	struct group *group;
	pthread_t pthread;
	pid_t tid;
	u32 slot;
	u64 random;
	u32 last_id;
	struct list buffers, increfs, acquires, deaths;
	unsigned int serving;	/* calls to answer */
	u8 out[512];
	size_t out_len;
	u8 in[1024];
	u8 data[DATA_MAX] __attribute__((aligned(8)));
	binder_size_t offsets[2];
};

/* One process, time and again. */
struct group {
	pthread_t pthread;
	u32 nr;
	u64 random;
	struct binder_proc *proc;
	struct worker workers[NR_WORKERS];
	/* No lock: the core lets in one one-way call of a node at a time. */
	u32 last_oneway[NR_PTRS][NR_PROCS * NR_WORKERS];
};

/* The beginning of each payload; the rest follows from the id. */
struct head {
	u32 magic;
	u32 id;
	u32 sender;
	u32 nr_objects;
};

static struct binder_context *context;
static struct group groups[NR_PROCS];
static unsigned long generations = 4, steps = 600, seed = 1;
static bool stop;			/* atomic */
static unsigned long nr_calls, nr_replies, nr_oneways, nr_reclaimed;	/* atomic */

static u64 rnd(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static u32 below(u64 *state, u32 n)
{
	return (u32)((rnd(state) >> 16) % n);
}

static void count(unsigned long *counter, unsigned long more)
{
	__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

/* ---- host ---------------------------------------------------------------------- */

size_t binder_host_read_user(struct binder_thread *thread, void *dst, u64 uaddr, size_t len)
{
	binder_witness_assert_none(BINDER_SITE);
	memcpy(dst, (const void *)(uintptr_t)uaddr, len);
	return len;
}

int binder_host_write_user(struct binder_thread *thread, u64 uaddr, const void *src, size_t len)
{
	binder_witness_assert_none(BINDER_SITE);
	memcpy((void *)(uintptr_t)uaddr, src, len);
	return 0;
}

static u8 *arena_at(struct binder_alloc *alloc, size_t offset, size_t len)
{
	for (size_t i = offset / PAGE_SIZE; i < DIV_ROUND_UP(offset + len, PAGE_SIZE); i++)
		CHECK(READ_ONCE(alloc->host.table[i]));
	return alloc->host.arena + offset;
}

int binder_host_copy_payload(struct binder_thread *thread, u64 uaddr, struct binder_alloc *alloc,
			     const struct binder_segment *segs, unsigned int nr)
{
	binder_witness_assert_none(BINDER_SITE);
	for (unsigned int i = 0; i < nr; uaddr += segs[i++].len)
		memcpy(segs[i].mem ? segs[i].mem : arena_at(alloc, segs[i].offset, segs[i].len),
		       (const void *)(uintptr_t)uaddr, segs[i].len);
	return 0;
}

void binder_host_write_buffer(struct binder_alloc *alloc, size_t offset, const void *src,
			      size_t len)
{
	binder_might_sleep(BINDER_SITE);
	memcpy(arena_at(alloc, offset, len), src, len);
}

void binder_host_buffer_ready(struct binder_alloc *alloc, size_t offset, size_t len)
{
}

void binder_host_zero_buffer(struct binder_alloc *alloc, size_t offset, size_t len)
{
	binder_might_sleep(BINDER_SITE);
	memset(arena_at(alloc, offset, len), 0, len);
}

void binder_host_map_find(struct binder_proc *proc)
{
}

struct page *binder_host_page_alloc(struct binder_alloc *alloc, size_t index)
{
	struct page *page = calloc(1, sizeof(*page));

	binder_witness_assert_none(BINDER_SITE);
	CHECK(page);
	page->alloc = alloc;
	page->index = index;
	count(&alloc->host.live, 1);
	return page;
}

void binder_host_page_free(struct binder_alloc *alloc, size_t index, struct page *page)
{
	binder_might_sleep(BINDER_SITE);
	CHECK(page->alloc == alloc && page->index == index);
	count(&alloc->host.live, -1UL);
	free(page);
}

int binder_host_page_insert(struct binder_alloc *alloc, size_t index, struct page *page)
{
	struct binder_host_map *map = &alloc->host;
	int ret = 0;

	lockdep_assert_held(&alloc->install_mutex);
	mutex_lock(&map->mm_lock);
	if (map->gone) {
		ret = -ESRCH;
	} else {
		CHECK(!__atomic_exchange_n(&map->table[index], page, __ATOMIC_RELAXED));
		memset(map->arena + index * PAGE_SIZE, 0, PAGE_SIZE);
	}
	mutex_unlock(&map->mm_lock);
	return ret;
}

void binder_host_page_zap(struct binder_alloc *alloc, size_t index, struct page *page)
{
	struct binder_host_map *map = &alloc->host;

	lockdep_assert_held(&alloc->install_mutex);
	CHECK(__atomic_exchange_n(&map->table[index], NULL, __ATOMIC_RELAXED) == page);
	memset(map->arena + index * PAGE_SIZE, 0xee, PAGE_SIZE);
}

void binder_host_map_fini(struct binder_alloc *alloc)
{
	CHECK(!alloc->host.live);
	free(alloc->host.arena);
}

void binder_host_wake(struct binder_thread *thread, bool sync)
{
	lockdep_assert_held(&thread->proc->lock);
	sem_post(&thread->host.wake);
}

void binder_host_poll_wake(struct binder_proc *proc)
{
	lockdep_assert_held(&proc->lock);
}

binder_uid_t binder_host_uid(struct binder_thread *thread)
{
	return (binder_uid_t){ 1000 };
}

int binder_host_nice(struct binder_thread *thread)
{
	return 0;
}

void binder_host_set_nice(struct binder_thread *thread, int nice)
{
}

void binder_host_report_failure(const struct binder_log_entry *entry)
{
}

int binder_host_may_manage(struct binder_proc *proc)
{
	return 0;
}

int binder_host_may_call(struct binder_proc *from, struct binder_proc *to)
{
	return 0;
}

int binder_host_may_transfer(struct binder_proc *from, struct binder_proc *to)
{
	return 0;
}

bool binder_host_uid_eq(binder_uid_t a, binder_uid_t b)
{
	return a.value == b.value;
}

u32 binder_host_uid_seen(struct binder_proc *by, binder_uid_t uid)
{
	return uid.value;
}

pid_t binder_host_pid_seen(struct binder_proc *by, struct binder_proc *of)
{
	return of->pid;
}

u64 binder_host_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

void binder_host_thread_init(struct binder_thread *thread)
{
	sem_init(&thread->host.wake, 0, 0);
}

void binder_host_thread_fini(struct binder_thread *thread)
{
	binder_might_sleep(BINDER_SITE);
	sem_destroy(&thread->host.wake);
}

void binder_host_proc_fini(struct binder_proc *proc)
{
	binder_might_sleep(BINDER_SITE);
}

/* ---- payloads -------------------------------------------------------------------- */

static u64 ptr_name(u32 i)
{
	return 0x1000 + 0x10 * i;
}

static u8 byte_of(u32 id, u32 at)
{
	return (u8)(id * 31 + at * 7);
}

static struct binder_transaction_data payload(struct worker *w)
{
	struct head head = { MAGIC, w->slot << 24 | ++w->last_id, w->slot, below(&w->random, 3) };
	struct binder_transaction_data tr = { .code = head.id };
	u32 at = sizeof(head), end;

	memcpy(w->data, &head, sizeof(head));
	for (u32 i = 0; i < head.nr_objects; i++, at += sizeof(struct flat_binder_object)) {
		struct flat_binder_object object = { .hdr.type = BINDER_TYPE_BINDER };
		bool weak = !below(&w->random, 4);

		if (below(&w->random, 3)) {
			object.hdr.type = weak ? BINDER_TYPE_WEAK_BINDER : BINDER_TYPE_BINDER;
			object.binder = object.cookie = ptr_name(below(&w->random, NR_PTRS));
		} else {
			object.hdr.type = weak ? BINDER_TYPE_WEAK_HANDLE : BINDER_TYPE_HANDLE;
			object.handle = below(&w->random, NR_HANDLES);
		}
		memcpy(w->data + at, &object, sizeof(object));
		w->offsets[i] = at;
	}
	end = at + below(&w->random, below(&w->random, 8) ? 64 : DATA_MAX - at);
	for (; at < end; at++)
		w->data[at] = byte_of(head.id, at);
	tr.data_size = at;
	tr.offsets_size = head.nr_objects * sizeof(w->offsets[0]);
	tr.data.ptr.buffer = (uintptr_t)w->data;
	tr.data.ptr.offsets = (uintptr_t)w->offsets;
	return tr;
}

static void list_add_value(struct list *list, u64 value)
{
	if (list->nr < LIST_MAX)
		list->v[list->nr++] = value;
}

static void payload_arrived(struct worker *w, const struct binder_transaction_data *tr)
{
	const u8 *data = (const u8 *)(uintptr_t)tr->data.ptr.buffer;
	const struct head *head = (const void *)data;
	u32 at = sizeof(*head);

	list_add_value(&w->buffers, tr->data.ptr.buffer);
	CHECK(head->magic == MAGIC && head->id == tr->code);
	CHECK(head->nr_objects * sizeof(binder_size_t) == tr->offsets_size);
	for (u32 i = 0; i < head->nr_objects; i++, at += sizeof(struct flat_binder_object)) {
		const struct flat_binder_object *object = (const void *)(data + at);
		bool handle = object->hdr.type == BINDER_TYPE_HANDLE ||
			      object->hdr.type == BINDER_TYPE_WEAK_HANDLE;

		CHECK(handle ? !object->cookie : object->binder == object->cookie);
	}
	for (; at < tr->data_size; at++)
		CHECK(data[at] == byte_of(head->id, at));
	if (tr->flags & TF_ONE_WAY && tr->target.ptr) {
		u32 *last = &w->group->last_oneway[(tr->target.ptr - ptr_name(0)) / 0x10]
						  [head->sender];

		CHECK(head->id > *last);
		*last = head->id;
	}
}

/* ---- one ioctl ---------------------------------------------------------------------- */

static void put(struct worker *w, u32 cmd, const void *arg)
{
	CHECK(w->out_len + sizeof(cmd) + _IOC_SIZE(cmd) <= sizeof(w->out));
	memcpy(w->out + w->out_len, &cmd, sizeof(cmd));
	if (_IOC_SIZE(cmd))
		memcpy(w->out + w->out_len + sizeof(cmd), arg, _IOC_SIZE(cmd));
	w->out_len += sizeof(cmd) + _IOC_SIZE(cmd);
}

static void return_arrived(struct worker *w, u32 cmd, const void *arg)
{
	struct binder_transaction_data tr;
	struct binder_ptr_cookie name;
	u64 cookie;

	switch (cmd) {
	case BR_TRANSACTION:
	case BR_REPLY:
		memcpy(&tr, arg, sizeof(tr));
		payload_arrived(w, &tr);
		if (cmd == BR_REPLY)
			count(&nr_replies, 1);
		else if (tr.flags & TF_ONE_WAY)
			count(&nr_oneways, 1);
		else
			count(&nr_calls, 1);
		w->serving += cmd == BR_TRANSACTION && !(tr.flags & TF_ONE_WAY);
		break;
	case BR_INCREFS:
	case BR_ACQUIRE:
		memcpy(&name, arg, sizeof(name));
		list_add_value(cmd == BR_INCREFS ? &w->increfs : &w->acquires, name.ptr);
		break;
	case BR_DEAD_BINDER:
		memcpy(&cookie, arg, sizeof(cookie));
		list_add_value(&w->deaths, cookie);
		break;
	default:
		break;
	}
}

/* Wait a moment; the read goes on when it is woken, and is given up when it is not. */
static int wait_parked(struct binder_thread *record, struct binder_write_read *bwr)
{
	struct timespec until;
	int ret;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	do
		ret = sem_timedwait(&record->host.wake, &until);
	while (ret && errno == EINTR);
	if (ret && binder_thread_unpark(record))
		return -EINTR;
	if (ret) /* somebody was faster */
		CHECK(!sem_wait(&record->host.wake));
	return binder_read(record, bwr, false);
}

static void write_read(struct worker *w, bool read, bool nonblock)
{
	struct binder_thread *record = binder_thread_lookup(w->group->proc, w->tid);
	struct binder_write_read bwr = {
		.write_buffer = (uintptr_t)w->out,
		.write_size = w->out_len,
		.read_buffer = (uintptr_t)w->in,
		.read_size = sizeof(w->in),
	};
	size_t at = 0;
	int ret;

	CHECK(record);
	w->out_len = 0;
	ret = binder_write(record, &bwr);
	if (!ret && read)
		ret = binder_read(record, &bwr, nonblock);
	while (ret == BINDER_PARK)
		ret = wait_parked(record, &bwr);
	binder_ioctl_end(record);
	binder_witness_assert_none(BINDER_SITE);
	while (at < bwr.read_consumed) {
		u32 cmd;

		memcpy(&cmd, w->in + at, sizeof(cmd));
		return_arrived(w, cmd, w->in + at + sizeof(cmd));
		at += sizeof(cmd) + _IOC_SIZE(cmd);
	}
	CHECK(at == bwr.read_consumed);
}

static int ioctl_other(struct worker *w, unsigned int cmd, void *arg)
{
	struct binder_thread *record = binder_thread_lookup(w->group->proc, w->tid);
	int ret;

	CHECK(record);
	ret = binder_ioctl(record, cmd, arg);
	binder_ioctl_end(record);
	return ret;
}

static void ask_about_nodes(struct worker *w)
{
	struct binder_node_info_for_ref info = { .handle = below(&w->random, NR_HANDLES) };
	struct binder_node_debug_info node = {};
	u64 last;

	if (!ioctl_other(w, BINDER_GET_NODE_INFO_FOR_REF, &info))
		CHECK(info.strong_count && info.strong_count < 10000);
	do {
		last = node.ptr;
		CHECK(!ioctl_other(w, BINDER_GET_NODE_DEBUG_INFO, &node));
		CHECK(node.ptr > last || !node.ptr);
	} while (node.ptr);
}

/* ---- what they do ---------------------------------------------------------------------- */

static void put_done(struct worker *w, struct list *list, u32 cmd)
{
	while (list->nr) {
		u64 ptr = list->v[--list->nr];
		struct binder_ptr_cookie name = { ptr, ptr };

		if (w->out_len > 400)
			write_read(w, false, true);
		put(w, cmd, &name);
	}
}

/* What is owed for earlier returns. */
static void put_debts(struct worker *w, bool all)
{
	if (w->buffers.nr && (all || below(&w->random, 2)))
		put(w, BC_FREE_BUFFER, &w->buffers.v[--w->buffers.nr]);
	put_done(w, &w->increfs, BC_INCREFS_DONE);
	put_done(w, &w->acquires, BC_ACQUIRE_DONE);
	if (w->deaths.nr)
		put(w, BC_DEAD_BINDER_DONE, &w->deaths.v[--w->deaths.nr]);
}

static void put_something(struct worker *w)
{
	static const u32 counts[] = { BC_INCREFS, BC_ACQUIRE, BC_RELEASE, BC_DECREFS };
	static const u32 flags[] = {
		0, 0, TF_ONE_WAY, TF_ONE_WAY, TF_CLEAR_BUF, TF_DEFER_COMPLETE,
	};
	struct binder_handle_cookie death = { .handle = below(&w->random, NR_HANDLES) };
	struct binder_transaction_data tr;
	u32 handle = below(&w->random, 3) ? below(&w->random, NR_HANDLES) : 0;

	if (w->serving && below(&w->random, 3)) {
		w->serving--;
		tr = payload(w);
		tr.flags = below(&w->random, 2) ? TF_DEFER_COMPLETE : 0;
		put(w, BC_REPLY, &tr);
		return;
	}
	death.cookie = death.handle;
	switch (below(&w->random, 12)) {
	case 0 ... 6:
		tr = payload(w);
		tr.target.handle = handle;
		tr.flags = flags[below(&w->random, ARRAY_SIZE(flags))];
		put(w, BC_TRANSACTION, &tr);
		break;
	case 7 ... 8:
		put(w, counts[below(&w->random, ARRAY_SIZE(counts))], &handle);
		break;
	case 9:
		put(w, below(&w->random, 2) ? BC_REQUEST_DEATH_NOTIFICATION :
		    BC_CLEAR_DEATH_NOTIFICATION, &death);
		break;
	case 10:
		put(w, BC_ENTER_LOOPER, NULL);
		break;
	default:
		break;
	}
}

static void step(struct worker *w)
{
	struct flat_binder_object node = { .binder = ptr_name(0), .cookie = ptr_name(0) };
	struct binder_extended_error ee;

	switch (below(&w->random, 40)) {
	case 0:
		while (w->buffers.nr || w->increfs.nr || w->acquires.nr || w->deaths.nr) {
			put_debts(w, true);
			write_read(w, false, true);
		}
		ioctl_other(w, BINDER_THREAD_EXIT, &(s32){ 0 });
		w->serving = 0;
		break;
	case 1:
		ioctl_other(w, BINDER_SET_CONTEXT_MGR_EXT, &node);
		break;
	case 2:
		ioctl_other(w, BINDER_GET_EXTENDED_ERROR, &ee);
		break;
	case 3:
		ask_about_nodes(w);
		break;
	default:
		put_debts(w, false);
		put_something(w);
		write_read(w, below(&w->random, 5), below(&w->random, 2));
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	for (unsigned long i = 0; i < steps; i++)
		step(w);
	return NULL;
}

static void group_map(struct group *g)
{
	struct binder_host_map *map = &g->proc->alloc->host;

	binder_mutex_init(&map->mm_lock, BINDER_RANK_MM);
	map->arena = aligned_alloc(PAGE_SIZE, HOST_MAP_PAGES * PAGE_SIZE);
	CHECK(map->arena);
	mutex_lock(&map->mm_lock);
	CHECK(!binder_alloc_map(g->proc->alloc, (uintptr_t)map->arena,
				HOST_MAP_PAGES * PAGE_SIZE));
	mutex_unlock(&map->mm_lock);
}

static void group_unmap(struct group *g)
{
	struct binder_host_map *map = &g->proc->alloc->host;

	mutex_lock(&map->mm_lock);
	map->gone = true;
	binder_alloc_unmap(g->proc->alloc);
	mutex_unlock(&map->mm_lock);
}

/* A thread of it has ended, the others go on. */
static void group_reap(struct group *g, struct worker *w)
{
	struct binder_thread *record = binder_thread_lookup(g->proc, w->tid);

	CHECK(record);
	binder_thread_get(record);
	binder_thread_done(record);
	binder_thread_reap(record);
	binder_thread_put(record);
}

static void group_life(struct group *g, pid_t pid)
{
	g->proc = binder_proc_open(context, pid);
	CHECK(g->proc);
	group_map(g);
	memset(g->last_oneway, 0, sizeof(g->last_oneway));
	for (u32 i = 0; i < NR_WORKERS; i++) {
		struct worker *w = &g->workers[i];

		/* Ids go on, so that what it sent in an earlier life is older. */
		*w = (struct worker){ .group = g, .tid = pid + 1 + (pid_t)i,
			.slot = g->nr * NR_WORKERS + i, .random = rnd(&g->random) | 1,
			.last_id = w->last_id };
		CHECK(!pthread_create(&w->pthread, NULL, worker_main, w));
	}
	for (u32 i = 0; i < NR_WORKERS; i++) {
		CHECK(!pthread_join(g->workers[i].pthread, NULL));
		if (below(&g->random, 2))
			group_reap(g, &g->workers[i]);
		if (i && !below(&g->random, 4))
			group_unmap(g);
	}
	binder_proc_flush(g->proc);
	if (below(&g->random, 2))
		group_unmap(g);
	binder_proc_release(g->proc);
}

static void *group_main(void *arg)
{
	struct group *g = arg;

	for (unsigned long n = 0; n < generations; n++)
		group_life(g, (pid_t)(1000 * (g->nr + 1) + 10 * n));
	return NULL;
}

/* The shrinker, and somebody who reads binder_logs. */
static void *visitor_main(void *arg)
{
	static char buf[1 << 20];
	struct binder_text text;
	struct timespec pause = { .tv_nsec = 300000 };

	while (!READ_ONCE(stop)) {
		count(&nr_reclaimed, binder_pages_shrink(8));
		binder_text_init(&text, buf, sizeof(buf));
		binder_report_state(&text);
		binder_report_stats(&text);
		binder_report_log(&text, &binder_log_failed);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void quiet(int level, const char *text)
{
}

int main(int argc, char **argv)
{
	pthread_t visitor;

	alarm(TIMEOUT_S);
	if (argc > 1)
		generations = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		steps = strtoul(argv[2], NULL, 0);
	if (argc > 3)
		seed = strtoul(argv[3], NULL, 0);
	binder_kapi_log_hook = quiet;
	binder_core_init();
	context = binder_context_alloc("threads");
	CHECK(context);
	CHECK(!pthread_create(&visitor, NULL, visitor_main, NULL));
	for (u32 i = 0; i < NR_PROCS; i++) {
		groups[i].nr = i;
		groups[i].random = (seed + i) * 0x9e3779b97f4a7c15ULL | 1;
		CHECK(!pthread_create(&groups[i].pthread, NULL, group_main, &groups[i]));
	}
	for (u32 i = 0; i < NR_PROCS; i++)
		CHECK(!pthread_join(groups[i].pthread, NULL));
	WRITE_ONCE(stop, true);
	CHECK(!pthread_join(visitor, NULL));
	binder_context_put(context);
	for (int i = 0; i < BINDER_OBJ_COUNT; i++)
		CHECK(atomic_read(&binder_obj_created[i]) == atomic_read(&binder_obj_deleted[i]));
	CHECK(!binder_pages_idle_count() && !binder_kapi_warnings);
	printf("%lu calls, %lu replies, %lu one-way, %lu pages reclaimed (seed %lu)\n", nr_calls,
	       nr_replies, nr_oneways, nr_reclaimed, seed);
	CHECK(nr_calls && nr_replies && nr_oneways);
	printf("ok core_threads\n");
	return 0;
}
