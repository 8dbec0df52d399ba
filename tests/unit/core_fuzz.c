// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three processes of two threads each do at random what they may and what
 * they may not: calls with objects, replies, counts, notices, nonsense, exits,
 * deaths; memory and copies fail; and while one of them is in the middle of a
 * copy, another does something too. After each step the core must be sound
 * (core_check()), and what arrives must be what was sent: once, whole, in
 * order per node and sender, and naming the nodes that were meant.
 *
 *   core_fuzz [SEEDS [STEPS [FIRST_SEED]]]
 *
 * The same in every run. CORE_FUZZ_TRACE=1 prints each step.
 */
#include <unistd.h>

#include "core_test.h"

#include "core/alloc.h"
#include "core/context.h"
#include "core/pages.h"
#include "core/proc.h"
#include "core/ref.h"
#include "core/node.h"
#include "core/thread.h"

#define NR_PROCS 3
#define NR_THREADS 2
#define NR_PTRS 6
#define NR_HANDLES 8
#define LIST_MAX 64
#define SENT_MAX 4096
#define OBJECTS_MAX 4
#define DATA_MAX 8192
#define TIMEOUT_S 3000

/* What an object of a payload means, however it is named. */
struct meaning {
	pid_t owner;	/* 0: not to be checked */
	u64 ptr;
	bool strong;
};

/* A payload that is on its way. */
struct sent {
	u32 id;
	u32 size;
	u32 nr;
	struct meaning objects[OBJECTS_MAX];
	bool arrived;
};

/* Its beginning, as it stands in memory; the rest is filled from the id. */
struct head {
	u32 magic;
	u32 id;
	u32 sender;	/* slot of the sending thread */
	u32 reply_to;	/* id of the call, or 0 */
};

#define MAGIC 0x5eed5eed

struct u64s {
	u64 v[LIST_MAX];
	unsigned int nr;
};

struct fuzz_thread {
	struct sim_thread *sim;
	u8 *data;		/* DATA_MAX bytes of user memory, then the offsets */
	struct u64s serving;	/* ids of calls to answer, innermost last */
	bool calling;
};

struct fuzz_proc {
	struct sim_proc *sim;	/* NULL: dead */
	struct fuzz_thread threads[NR_THREADS];
	struct u64s buffers;	/* delivered, not freed */
	struct u64s increfs, acquires, deaths;	/* to be acknowledged */
	bool sloppy;		/* gave back counts it did not have */
	u32 last_oneway[NR_PTRS][NR_PROCS * NR_THREADS];
};

static struct fuzz_proc fuzz_procs[NR_PROCS];
static struct sent sents[SENT_MAX];
static u32 last_id;
static u64 random_state, seed;
static unsigned long step;
static unsigned int depth;
static u32 life; /* how seldom they die in this run */
static bool trace;

#define TRACE(...) do { if (trace) fprintf(stderr, __VA_ARGS__); } while (0)

#define CHECK(cond) do {							\
	if (!(cond))								\
		binder_kapi_fatal("%s: %s", BINDER_SITE, #cond);		\
} while (0)

/* core_test.h's, which core_check.c's header asks for. */
void core_expect(bool ok, const char *file, int line, const char *text)
{
	if (!ok)
		binder_kapi_fatal("%s:%d: %s", file, line, text);
}

void core_expect_eq(long long got, long long want, const char *file, int line, const char *text)
{
	core_expect(got == want, file, line, text);
}

static u64 rnd(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dULL;
}

static u32 below(u32 n)
{
	return (u32)((rnd() >> 16) % n);
}

static bool one_in(u32 n)
{
	return !below(n);
}

static void u64s_add(struct u64s *list, u64 value)
{
	if (list->nr < LIST_MAX)
		list->v[list->nr++] = value;
}

/* One of them, which is taken out; or something it does not have. */
static u64 u64s_pick(struct u64s *list)
{
	unsigned int i;
	u64 value;

	if (!list->nr || one_in(20))
		return rnd() >> below(64);
	i = below(list->nr);
	value = list->v[i];
	list->v[i] = list->v[--list->nr];
	return value;
}

static u64 ptr_name(u32 i)
{
	return 0x1000 + 0x10 * i;
}

/* ---- processes ------------------------------------------------------------------ */

static u32 slot_of(const struct fuzz_proc *p, const struct fuzz_thread *t)
{
	return (u32)(p - fuzz_procs) * NR_THREADS + (u32)(t - p->threads);
}

static void proc_start(struct fuzz_proc *p)
{
	u32 n = (u32)(p - fuzz_procs);
	static pid_t incarnation;
	pid_t pid;

	/* It is to be there at all, and nobody is to see half of it. */
	sim_fault_arm(0);
	sim_at(SIM_ALLOC, 0, NULL, NULL);
	/* Never the same pid again, so that a name is one process's. */
	pid = 1000 * (++incarnation) + n;
	*p = (struct fuzz_proc){ .sim = sim_open(device, pid, UID) };
	CHECK(p->sim);
	if (!one_in(20))
		CHECK(!sim_mmap(p->sim, (8 + below(24)) * PAGE_SIZE));
	for (u32 i = 0; i < NR_THREADS; i++) {
		p->threads[i].sim = sim_thread(p->sim, pid + 100 * ((pid_t)i + 1));
		p->threads[i].data = sim_user_alloc(p->sim, DATA_MAX + 256);
	}
	TRACE("  process %u is %d\n", n, pid);
}

static bool thread_busy(const struct fuzz_thread *t)
{
	/* In the core, below us: by a call of its own, or because it was woken. */
	return t->calling || (t->sim->record && t->sim->record->park == BINDER_RUNNING);
}

static bool proc_busy(const struct fuzz_proc *p)
{
	for (u32 i = 0; i < NR_THREADS; i++)
		if (thread_busy(&p->threads[i]))
			return true;
	return false;
}

static void proc_stop(struct fuzz_proc *p, void (*how)(struct sim_proc *proc))
{
	struct sim_proc *sim = p->sim;

	/* What it has sent may still arrive. */
	p->sim = NULL;
	how(sim);
}

/* ---- payloads --------------------------------------------------------------------- */

static u8 byte_of(u32 id, u32 at)
{
	return (u8)(id * 31 + at * 7);
}

static struct binder_ref *ref_of(struct fuzz_proc *p, u32 handle)
{
	struct binder_proc *proc = p->sim->proc;
	struct binder_ref *ref;

	spin_lock(&proc->refs_lock);
	ref = binder_ref_find_locked(proc, handle);
	spin_unlock(&proc->refs_lock);
	return ref;
}

/* Mostly one that there is; if there is none, the manager's. */
static u32 random_handle(struct fuzz_proc *p)
{
	u32 first = below(NR_HANDLES);

	if (one_in(20))
		return first;
	for (u32 i = 0; i < NR_HANDLES; i++)
		if (ref_of(p, (first + i) % NR_HANDLES))
			return (first + i) % NR_HANDLES;
	return 0;
}

static void object_fill(struct fuzz_proc *p, struct flat_binder_object *object,
			struct meaning *meaning)
{
	bool strong = !one_in(3);
	struct binder_ref *ref;

	*object = (struct flat_binder_object){ .flags = (u32)rnd() };
	*meaning = (struct meaning){ .strong = strong };
	if (one_in(60)) {
		object->hdr.type = one_in(2) ? BINDER_TYPE_FD : (u32)rnd();
		object->binder = rnd();
	} else if (one_in(2) || !rb_first(&p->sim->proc->refs_by_handle)) {
		u32 i = below(NR_PTRS);

		object->hdr.type = strong ? BINDER_TYPE_BINDER : BINDER_TYPE_WEAK_BINDER;
		object->binder = ptr_name(i);
		object->cookie = one_in(50) ? rnd() : COOKIE(object->binder);
		object->flags &= ~(u32)FLAT_BINDER_FLAG_TXN_SECURITY_CTX;
		meaning->owner = p->sim->pid;
		meaning->ptr = object->binder;
	} else {
		object->hdr.type = strong ? BINDER_TYPE_HANDLE : BINDER_TYPE_WEAK_HANDLE;
		object->handle = random_handle(p);
		ref = ref_of(p, object->handle);
		if (ref) {
			meaning->owner = ref->node->proc->pid;
			meaning->ptr = ref->node->ptr;
		}
	}
}

/* A payload in the thread's memory, and what it is to arrive as. */
static struct binder_transaction_data payload(struct fuzz_proc *p, struct fuzz_thread *t,
					      u32 reply_to)
{
	struct head head = { MAGIC, ++last_id, slot_of(p, t), reply_to };
	struct sent *sent = &sents[head.id % SENT_MAX];
	binder_size_t *offsets = (void *)(t->data + DATA_MAX);
	struct binder_transaction_data tr = { .code = head.id };
	u32 at = sizeof(head);

	*sent = (struct sent){ .id = head.id, .nr = one_in(2) ? 0 : below(OBJECTS_MAX + 1) };
	memcpy(t->data, &head, sizeof(head));
	for (u32 i = 0; i < sent->nr; i++) {
		struct flat_binder_object object;

		for (u32 gap = 4 * below(5); gap; gap--, at++)
			t->data[at] = byte_of(head.id, at);
		object_fill(p, &object, &sent->objects[i]);
		memcpy(t->data + at, &object, sizeof(object));
		offsets[i] = at;
		at += sizeof(object);
	}
	for (u32 end = at + (one_in(8) ? below(DATA_MAX - at) : below(32)); at < end; at++)
		t->data[at] = byte_of(head.id, at);
	sent->size = at;
	tr.data_size = at;
	tr.offsets_size = sent->nr * sizeof(*offsets);
	tr.data.ptr.buffer = (uintptr_t)t->data;
	tr.data.ptr.offsets = (uintptr_t)offsets;
	if (one_in(60))
		tr.data_size = rnd() >> below(64);
	if (one_in(60))
		tr.offsets_size = rnd() >> below(64);
	if (one_in(60))
		tr.data.ptr.buffer = rnd() >> below(64);
	if (one_in(60) && sent->nr)
		offsets[below(sent->nr)] += below(64);
	return tr;
}

/* A handle that arrived: it must be for the node that was meant, if it is still held. */
static void object_arrived(struct fuzz_proc *p, const struct flat_binder_object *object,
			   const struct meaning *meaning)
{
	struct binder_node *node;
	struct binder_ref *ref;

	switch (object->hdr.type) {
	case BINDER_TYPE_BINDER:
	case BINDER_TYPE_WEAK_BINDER:
		CHECK(meaning->strong == (object->hdr.type == BINDER_TYPE_BINDER));
		CHECK(!meaning->owner || meaning->owner == p->sim->pid);
		CHECK(!meaning->owner || meaning->ptr == object->binder);
		spin_lock(&p->sim->proc->lock);
		node = binder_node_find_locked(p->sim->proc, object->binder);
		spin_unlock(&p->sim->proc->lock);
		CHECK(node && node->cookie == object->cookie);
		break;
	case BINDER_TYPE_HANDLE:
	case BINDER_TYPE_WEAK_HANDLE:
		CHECK(meaning->strong == (object->hdr.type == BINDER_TYPE_HANDLE));
		CHECK(!object->cookie && !(object->binder >> 32));
		ref = ref_of(p, object->handle);
		if (p->sloppy || !meaning->owner)
			break;
		CHECK(ref && ref->node->ptr == meaning->ptr);
		CHECK(ref->node->proc->pid == meaning->owner);
		CHECK(!meaning->strong || ref->strong);
		break;
	default:
		CHECK(!"an object of a type that is not delivered");
	}
}

static const struct head *payload_arrived(struct fuzz_proc *p,
					  const struct binder_transaction_data *tr)
{
	const u8 *data = (const u8 *)(uintptr_t)tr->data.ptr.buffer;
	const binder_size_t *offsets = (const void *)(uintptr_t)tr->data.ptr.offsets;
	const struct head *head = (const void *)data;
	struct flat_binder_object object;
	struct sent *sent;
	u32 at = sizeof(*head);

	u64s_add(&p->buffers, tr->data.ptr.buffer);
	TRACE("    buffer %llx of %u\n", (unsigned long long)tr->data.ptr.buffer, tr->code);
	if (p->sim->proc->alloc->host.gone)
		return NULL;
	/* Sent with sizes that happen to be possible. */
	if (tr->data_size < sizeof(*head) || head->magic != MAGIC)
		return NULL;
	sent = &sents[head->id % SENT_MAX];
	CHECK(tr->code == head->id);
	if (sent->id != head->id || sent->size != tr->data_size ||
	    sent->nr != tr->offsets_size / sizeof(*offsets))
		return NULL;
	CHECK(!sent->arrived);
	sent->arrived = true;
	for (u32 i = 0; i < sent->nr; i++) {
		if (offsets[i] < at)
			return NULL; /* sent with a changed offset */
		for (; at < offsets[i]; at++)
			if (data[at] != byte_of(head->id, at))
				return NULL;
		memcpy(&object, data + at, sizeof(object));
		object_arrived(p, &object, &sent->objects[i]);
		at += sizeof(object);
	}
	for (; at < sent->size; at++)
		CHECK(data[at] == byte_of(head->id, at));
	return head;
}

/* ---- returns ------------------------------------------------------------------------- */

static void call_arrived(struct fuzz_proc *p, struct fuzz_thread *t,
			 const struct binder_transaction_data *tr)
{
	const struct head *head = payload_arrived(p, tr);
	u32 ptr = (u32)(tr->target.ptr - ptr_name(0)) / 0x10;

	if (!(tr->flags & TF_ONE_WAY)) {
		u64s_add(&t->serving, head ? head->id : 0);
		return;
	}
	CHECK(!tr->sender_pid);
	if (!head || ptr >= NR_PTRS)
		return;
	CHECK(head->sender < NR_PROCS * NR_THREADS);
	CHECK(head->id > p->last_oneway[ptr][head->sender]);
	p->last_oneway[ptr][head->sender] = head->id;
}

static void return_arrived(struct fuzz_proc *p, struct fuzz_thread *t, u32 cmd, const void *payload)
{
	struct binder_transaction_data tr;
	struct binder_ptr_cookie name;
	const struct head *head;
	u64 cookie;

	switch (cmd) {
	case BR_TRANSACTION:
		memcpy(&tr, payload, sizeof(tr));
		call_arrived(p, t, &tr);
		break;
	case BR_REPLY:
		memcpy(&tr, payload, sizeof(tr));
		head = payload_arrived(p, &tr);
		/* To a call that this very thread has sent. */
		if (head && head->reply_to && sents[head->reply_to % SENT_MAX].id == head->reply_to)
			CHECK(sents[head->reply_to % SENT_MAX].arrived);
		break;
	case BR_INCREFS:
	case BR_ACQUIRE:
	case BR_RELEASE:
	case BR_DECREFS:
		memcpy(&name, payload, sizeof(name));
		if (cmd == BR_INCREFS)
			u64s_add(&p->increfs, name.ptr);
		if (cmd == BR_ACQUIRE)
			u64s_add(&p->acquires, name.ptr);
		break;
	case BR_DEAD_BINDER:
		memcpy(&cookie, payload, sizeof(cookie));
		u64s_add(&p->deaths, cookie);
		break;
	case BR_NOOP:
	case BR_SPAWN_LOOPER:
	case BR_ERROR:
	case BR_TRANSACTION_COMPLETE:
	case BR_DEAD_REPLY:
	case BR_FAILED_REPLY:
	case BR_CLEAR_DEATH_NOTIFICATION_DONE:
		break;
	default:
		CHECK(!"a return there is not");
	}
}

/* Whatever has come back, to whomever. */
static void returns_arrived(void)
{
	for (u32 i = 0; i < NR_PROCS; i++) {
		struct fuzz_proc *p = &fuzz_procs[i];

		for (u32 j = 0; p->sim && j < NR_THREADS; j++) {
			struct fuzz_thread *t = &p->threads[j];
			u8 any[256];
			u32 cmd;

			if (t->sim->parked || thread_busy(t))
				continue;
			while ((cmd = sim_next(t->sim, any))) {
				TRACE("    %d:%d gets %x\n", p->sim->pid, t->sim->tid, cmd);
				return_arrived(p, t, cmd, any);
			}
		}
	}
}

/* ---- commands --------------------------------------------------------------------------- */

static const u32 call_flags[] = {
	0, 0, 0, TF_ONE_WAY, TF_ONE_WAY, TF_CLEAR_BUF, TF_ONE_WAY | TF_CLEAR_BUF,
	TF_DEFER_COMPLETE | TF_ACCEPT_FDS,
};

static void put_random_call(struct fuzz_proc *p, struct fuzz_thread *t)
{
	struct binder_transaction_data_sg sg = {
		.transaction_data = payload(p, t, 0),
		.buffers_size = 8 * below(20),
	};

	sg.transaction_data.target.handle = random_handle(p);
	sg.transaction_data.flags = call_flags[below(ARRAY_SIZE(call_flags))];
	TRACE("    call %u to %u, flags %x\n", sg.transaction_data.code,
	      sg.transaction_data.target.handle, sg.transaction_data.flags);
	if (one_in(10))
		sim_put(t->sim, BC_TRANSACTION_SG, &sg);
	else
		sim_put(t->sim, BC_TRANSACTION, &sg.transaction_data);
}

static void put_random_reply(struct fuzz_proc *p, struct fuzz_thread *t)
{
	u32 to = t->serving.nr ? (u32)t->serving.v[--t->serving.nr] : 0;
	struct binder_transaction_data tr = payload(p, t, to);

	tr.flags = one_in(2) ? TF_DEFER_COMPLETE : one_in(4) ? (u32)rnd() : 0;
	TRACE("    reply %u to call %u, flags %x\n", tr.code, to, tr.flags);
	sim_put(t->sim, BC_REPLY, &tr);
}

static void put_random_count(struct fuzz_proc *p, struct fuzz_thread *t)
{
	static const u32 cmds[] = { BC_INCREFS, BC_ACQUIRE, BC_ACQUIRE, BC_RELEASE, BC_DECREFS };
	u32 handle = random_handle(p), cmd = cmds[below(ARRAY_SIZE(cmds))];

	/* What it gives back may be a buffer's. */
	if (cmd == BC_RELEASE || cmd == BC_DECREFS)
		p->sloppy = true;
	TRACE("    count %x of %u\n", cmd, handle);
	sim_put(t->sim, cmd, &handle);
}

static void put_random_done(struct fuzz_proc *p, struct fuzz_thread *t)
{
	bool acquire = one_in(2);
	struct binder_ptr_cookie name;

	name.ptr = u64s_pick(acquire ? &p->acquires : &p->increfs);
	name.cookie = one_in(30) ? rnd() : name.ptr ? COOKIE(name.ptr) : 0;
	sim_put(t->sim, acquire ? BC_ACQUIRE_DONE : BC_INCREFS_DONE, &name);
}

static void put_random_death(struct fuzz_proc *p, struct fuzz_thread *t)
{
	struct binder_handle_cookie death = { .handle = random_handle(p) };
	u64 cookie;

	death.cookie = one_in(10) ? 7 : death.handle;
	switch (below(3)) {
	case 0:
		sim_put(t->sim, BC_REQUEST_DEATH_NOTIFICATION, &death);
		break;
	case 1:
		sim_put(t->sim, BC_CLEAR_DEATH_NOTIFICATION, &death);
		break;
	default:
		cookie = u64s_pick(&p->deaths);
		sim_put(t->sim, BC_DEAD_BINDER_DONE, &cookie);
	}
}

static void put_random(struct fuzz_proc *p, struct fuzz_thread *t)
{
	u32 word;
	u64 addr;

	if (t->serving.nr && one_in(2)) {
		put_random_reply(p, t);
		return;
	}
	switch (below(32)) {
	case 0 ... 13:
		put_random_call(p, t);
		break;
	case 14:
		put_random_reply(p, t);
		break;
	case 15 ... 21:
		addr = u64s_pick(&p->buffers);
		TRACE("    frees %llx\n", (unsigned long long)addr);
		sim_put(t->sim, BC_FREE_BUFFER, &addr);
		break;
	case 22 ... 24:
		put_random_count(p, t);
		break;
	case 25 ... 27:
		put_random_done(p, t);
		break;
	case 28 ... 29:
		put_random_death(p, t);
		break;
	case 30:
		sim_put(t->sim, one_in(2) ? BC_ENTER_LOOPER : one_in(2) ? BC_REGISTER_LOOPER :
			BC_EXIT_LOOPER, NULL);
		break;
	default:
		word = one_in(2) ? (u32)rnd() : _IOW('c', below(24), u64);
		sim_put_raw(t->sim, &word, one_in(4) ? below(4) : 4);
	}
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void do_write_read(struct fuzz_proc *p, struct fuzz_thread *t)
{
	struct binder_write_read bwr = {
		.read_buffer = (uintptr_t)t->sim->in,
		.read_size = one_in(4) ? 0 : one_in(6) ? below(200) : SIM_STREAM_SIZE,
		.write_buffer = (uintptr_t)t->sim->out,
	};
	bool nonblock = one_in(2);
	int ret;

	t->sim->put_pos = 0;
	/* Nonsense may reach behind what is put, but not find an old command there. */
	memset(t->sim->out, 0, 256);
	/* One call at most, so that what it means is known when it is made. */
	if (!one_in(4))
		put_random(p, t);
	bwr.write_size = t->sim->put_pos;
	t->sim->put_pos = 0;
	if (one_in(40))
		bwr.read_buffer = rnd() >> below(64);
	if (one_in(40))
		bwr.write_size += below(64);
	if (one_in(40))
		bwr.read_consumed = below(128);
	ret = sim_write_read(t->sim, &bwr, nonblock);
	/* If it was not even begun, nothing came back. */
	t->sim->next_pos = bwr.read_consumed;
	if (t->sim->bwr.read_consumed < bwr.read_consumed)
		t->sim->next_pos = t->sim->bwr.read_consumed;
	TRACE("    returns %d\n", ret);
}

static void become_manager(struct fuzz_thread *t)
{
	struct flat_binder_object node = { .binder = ptr_name(below(NR_PTRS)) };

	node.cookie = COOKIE(node.binder);
	if (!sim_ioctl(t->sim, BINDER_SET_CONTEXT_MGR_EXT, &node))
		TRACE("    becomes manager\n");
}

/* All of one's nodes, by ptr; and who holds one, if one may know. */
static void ask_about_nodes(struct fuzz_proc *p, struct fuzz_thread *t)
{
	struct binder_node_info_for_ref info = {};
	struct binder_node_debug_info node = {};
	struct binder_version version;
	bool strong, manages;
	struct rb_node *n;
	int ret;

	/* Makes the thread's record, if that can be; while it does, others may call. */
	if (sim_ioctl(t->sim, BINDER_VERSION, &version))
		return;
	n = rb_first(&p->sim->proc->nodes);
	manages = device->manager && device->manager->proc == p->sim->proc;
	info.handle = random_handle(p);
	strong = ref_of(p, info.handle) && ref_of(p, info.handle)->strong;
	if (one_in(10))
		info.weak_count = (u32)rnd();
	ret = sim_ioctl(t->sim, BINDER_GET_NODE_INFO_FOR_REF, &info);
	CHECK(ret != -EPERM || !manages);
	CHECK(ret || (manages && strong && info.strong_count));
	for (; n; n = rb_next(n)) {
		CHECK(!sim_ioctl(t->sim, BINDER_GET_NODE_DEBUG_INFO, &node));
		CHECK(node.ptr == rb_entry(n, struct binder_node, rb_node)->ptr);
	}
	CHECK(!sim_ioctl(t->sim, BINDER_GET_NODE_DEBUG_INFO, &node));
	CHECK(!node.ptr && !node.cookie);
}

static void do_ioctl(struct fuzz_proc *p, struct fuzz_thread *t)
{
	u8 arg[64] = { (u8)below(4) };

	switch (below(7)) {
	case 0:
		if (one_in(4)) {
			sim_ioctl(t->sim, BINDER_THREAD_EXIT, arg);
			t->serving.nr = 0;
			TRACE("    exits\n");
		}
		break;
	case 1:
		become_manager(t);
		break;
	case 2:
		sim_ioctl(t->sim, BINDER_SET_MAX_THREADS, arg);
		break;
	case 3:
		sim_ioctl(t->sim, BINDER_GET_EXTENDED_ERROR, arg);
		break;
	case 4:
		ask_about_nodes(p, t);
		break;
	default:
		sim_poll(t->sim);
	}
}

/* Its task ended. Even its process may go before all is cleared up. */
static void do_reap(struct fuzz_proc *p, struct fuzz_thread *t)
{
	struct binder_thread *record;

	t->calling = true;
	record = binder_thread_lookup(p->sim->proc, t->sim->tid);
	t->calling = false;
	if (!record)
		return;
	TRACE("    is reaped\n");
	binder_thread_get(record);
	binder_thread_done(record);
	t->serving.nr = 0;
	binder_thread_reap(record);
	binder_thread_put(record);
}

static void do_thread(struct fuzz_proc *p)
{
	struct fuzz_thread *t = &p->threads[below(NR_THREADS)];

	/* Seldom one that waits. */
	for (u32 tries = 0; t->sim->parked && tries < 4; tries++)
		t = &p->threads[below(NR_THREADS)];
	if (thread_busy(t))
		return;
	returns_arrived();
	TRACE("  %d:%d%s\n", p->sim->pid, t->sim->tid, t->sim->parked ? " waits" : "");
	if (!t->sim->parked && one_in(100)) {
		do_reap(p, t);
		return;
	}
	t->calling = true;
	if (t->sim->parked)
		sim_interrupt(t->sim);
	else if (!device->manager && one_in(3))
		become_manager(t);
	else if (one_in(10))
		do_ioctl(p, t);
	else
		do_write_read(p, t);
	t->calling = false;
}

static void do_end(struct fuzz_proc *p)
{
	if (proc_busy(p) || !one_in(life))
		return;
	TRACE("  %d ends\n", p->sim->pid);
	if (one_in(3))
		proc_stop(p, sim_close);
	else
		proc_stop(p, sim_kill);
}

static void do_something(void)
{
	struct fuzz_proc *p = &fuzz_procs[below(NR_PROCS)];

	if (!p->sim) {
		if (one_in(3))
			proc_start(p);
		return;
	}
	switch (below(64)) {
	case 0:
		do_end(p);
		break;
	case 1:
		if (one_in(4))
			sim_munmap(p->sim);
		break;
	case 2:
		binder_pages_shrink(below(20));
		break;
	case 3:
		binder_proc_flush(p->sim->proc);
		break;
	case 4 ... 7:
		sim_run();
		break;
	default:
		do_thread(p);
	}
}

/* In the middle of somebody's host call. */
static void do_between(void *arg)
{
	(void)arg;
	depth++;
	TRACE("  in between:\n");
	for (u32 n = 1 + below(3); n; n--)
		do_something();
	depth--;
}

static void arm(void)
{
	static const enum sim_point points[] = {
		SIM_ALLOC, SIM_ALLOC, SIM_READ_USER, SIM_WRITE_USER, SIM_COPY_PAYLOAD,
		SIM_WRITE_BUFFER, SIM_ZERO_BUFFER, SIM_PAGE_ALLOC,
	};

	if (one_in(6))
		sim_fault_arm(1 + below(12));
	if (one_in(12))
		sim_user_fail(1 + below(5));
	if (one_in(5))
		sim_at(points[below(ARRAY_SIZE(points))], 1 + below(5), do_between, NULL);
	sim_reclaim(one_in(8) ? below(4) : 0);
}

static void fuzz_step(void)
{
	TRACE("step %lu\n", step);
	arm();
	do_something();
	returns_arrived();
	if (one_in(4))
		return; /* some stay woken for a while */
	sim_run();
	sim_fault_arm(0);
	sim_user_fail(0);
	returns_arrived();
	core_check();
}

static void fuzz_run(unsigned long steps)
{
	struct binder_context *context;

	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	memset(sents, 0, sizeof(sents));
	life = 1 + 5 * below(3);
	sim_start();
	sim_seed(rnd() | 1);
	context = sim_context("fuzz");
	CHECK(context);
	device = context;
	for (u32 i = 0; i < NR_PROCS; i++)
		proc_start(&fuzz_procs[i]);
	for (step = 0; step < steps; step++)
		fuzz_step();
	sim_at(SIM_ALLOC, 0, NULL, NULL);
	sim_end();
}

static void fatal_hook(const char *text)
{
	fprintf(stderr, "step %lu of seed %llu%s: %s\nagain: CORE_FUZZ_TRACE=1 core_fuzz 1 %lu %llu\n",
		step, (unsigned long long)seed, depth ? ", in between" : "", text, step + 1,
		(unsigned long long)seed);
}

int main(int argc, char **argv)
{
	unsigned long seeds = argc > 1 ? strtoul(argv[1], NULL, 0) : 20;
	unsigned long steps = argc > 2 ? strtoul(argv[2], NULL, 0) : 2000;

	alarm(TIMEOUT_S);
	trace = getenv("CORE_FUZZ_TRACE");
	binder_kapi_fatal_hook = fatal_hook;
	seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	for (; seeds; seeds--, seed++)
		fuzz_run(steps);
	printf("ok core_fuzz\n");
	return 0;
}
