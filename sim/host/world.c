// SPDX-License-Identifier: GPL-2.0-only
/* Processes, identities, time; the beginning of a world and its end. */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"
#include "core/context.h"
#include "core/log.h"
#include "core/pages.h"
#include "core/proc.h"
#include "core/thread.h"

/* What binder_host_report_failure() got last. */
static struct binder_log_entry reported;

/* The kernel's answer for a uid that a user namespace does not map. */
#define UID_OVERFLOW 65534

struct sim_device {
	struct list_head entry;
	struct binder_context *context;
};

static LIST_HEAD(devices);
static LIST_HEAD(procs);
static bool core_ready;
static unsigned long live_at_start;
static int objects_at_start[BINDER_OBJ_COUNT];

static char log_last[256];
static unsigned int log_count;

u64 sim_now_ms;

static void log_keep(int level, const char *text)
{
	strscpy(log_last, text, sizeof(log_last));
	log_count++;
	if (getenv("SIM_LOG"))
		fputs(text, stderr);
}

const char *sim_log_last(void)
{
	return log_last;
}

unsigned int sim_log_count(void)
{
	return log_count;
}

static u64 clock_ms(void)
{
	return sim_now_ms;
}

static int objects_live(int kind)
{
	return atomic_read(&binder_obj_created[kind]) - atomic_read(&binder_obj_deleted[kind]);
}

void sim_start(void)
{
	memset(&reported, 0, sizeof(reported));
	if (!list_empty(&procs) || !list_empty(&devices))
		binder_kapi_fatal("sim_start: the last world was not ended");
	sim_fault_arm(0);
	sim_trylock_fail(SIM_ANY_RANK, 0);
	sim_user_reset();
	sim_point_reset();
	sim_call_reset();
	sim_now_ms = 0;
	log_last[0] = '\0';
	log_count = 0;
	binder_kapi_warnings = 0;
	binder_kapi_clock_ms = clock_ms;
	binder_kapi_log_hook = log_keep;
	if (!core_ready)
		binder_core_init();
	core_ready = true;
	live_at_start = sim_alloc_live();
	for (int i = 0; i < BINDER_OBJ_COUNT; i++)
		objects_at_start[i] = objects_live(i);
}

struct binder_context *sim_context(const char *name)
{
	struct binder_context *context = binder_context_alloc(name);
	struct sim_device *device;

	if (!context)
		return NULL;
	device = calloc(1, sizeof(*device));
	if (!device)
		abort();
	device->context = context;
	list_add_tail(&device->entry, &devices);
	return context;
}

struct sim_proc *sim_open(struct binder_context *context, pid_t pid, u32 uid)
{
	struct binder_proc *proc = binder_proc_open(context, pid);
	struct sim_proc *sim;

	if (!proc)
		return NULL;
	sim = calloc(1, sizeof(*sim));
	if (!sim)
		abort();
	sim->proc = proc;
	sim->pid = pid;
	sim->uid = uid;
	INIT_LIST_HEAD(&sim->threads);
	INIT_LIST_HEAD(&sim->ranges);
	list_add_tail(&sim->entry, &procs);
	proc->host.sim = sim;
	return sim;
}

void sim_close(struct sim_proc *sim)
{
	struct binder_proc *proc = sim->proc;

	binder_proc_flush(proc);
	sim_call_drain(sim);
	sim->proc = NULL;
	binder_proc_release(proc);
	binder_witness_assert_none(BINDER_SITE);
}

void sim_kill(struct sim_proc *sim)
{
	struct sim_thread *thread;

	list_for_each_entry(thread, &sim->threads, entry)
		sim_interrupt(thread);
	sim_munmap(sim);
	sim_close(sim);
}

struct sim_thread *sim_thread(struct sim_proc *proc, pid_t tid)
{
	struct sim_thread *thread;

	list_for_each_entry(thread, &proc->threads, entry)
		if (thread->tid == tid)
			return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		abort();
	thread->proc = proc;
	thread->tid = tid;
	thread->out = sim_user_alloc(proc, SIM_STREAM_SIZE);
	thread->in = sim_user_alloc(proc, SIM_STREAM_SIZE);
	INIT_LIST_HEAD(&thread->ready_entry);
	list_add_tail(&thread->entry, &proc->threads);
	return thread;
}

static void world_free(void)
{
	struct sim_device *device, *next_device;
	struct sim_proc *proc, *next_proc;
	struct sim_thread *thread, *next_thread;

	list_for_each_entry_safe(device, next_device, &devices, entry) {
		binder_context_put(device->context);
		list_del(&device->entry);
		free(device);
	}
	list_for_each_entry_safe(proc, next_proc, &procs, entry) {
		if (!proc->fini)
			binder_kapi_fatal("process %d was closed and is still referred to",
					  proc->pid);
		list_for_each_entry_safe(thread, next_thread, &proc->threads, entry)
			free(thread);
		sim_user_release(proc);
		list_del(&proc->entry);
		free(proc);
	}
}

static void world_check(void)
{
	if (!sim_call_idle())
		binder_kapi_fatal("a thread of no process is ready");
	for (int i = 0; i < BINDER_OBJ_COUNT; i++)
		if (objects_live(i) != objects_at_start[i])
			binder_kapi_fatal("%d objects of kind %d were not given back",
					  objects_live(i) - objects_at_start[i], i);
	if (binder_pages_idle_count())
		binder_kapi_fatal("%lu idle pages of no allocator", binder_pages_idle_count());
	if (sim_alloc_live() != live_at_start) {
		sim_alloc_dump();
		binder_kapi_fatal("%lu allocations were not given back",
				  sim_alloc_live() - live_at_start);
	}
	sim_alloc_check_freed();
	if (binder_kapi_warnings)
		binder_kapi_fatal("%d warnings, the last message: %s", binder_kapi_warnings,
				  log_last);
}

void sim_end(void)
{
	struct sim_proc *proc;

	/* Only the core is to be tested for running out, not its end. */
	sim_fault_arm(0);
	sim_user_fail(0);
	list_for_each_entry(proc, &procs, entry)
		if (proc->proc)
			sim_kill(proc);
	world_free();
	world_check();
}

void sim_advance(u64 ms)
{
	sim_now_ms += ms;
}

/* ---- what the core asks ------------------------------------------------ */

u64 binder_host_now_ms(void)
{
	return sim_now_ms;
}

binder_uid_t binder_host_uid(struct binder_thread *thread)
{
	return (binder_uid_t){ thread->proc->host.sim->uid };
}

int binder_host_nice(struct binder_thread *thread)
{
	return thread->host.sim->nice;
}

/* Everybody may: limits are a real kernel's. */
void binder_host_set_nice(struct binder_thread *thread, int nice)
{
	thread->host.sim->nice = nice;
}

const struct binder_log_entry *sim_reported(void)
{
	return &reported;
}

void binder_host_report_failure(const struct binder_log_entry *entry)
{
	binder_witness_assert_none(BINDER_SITE);
	reported = *entry;
}

static int forbidden(struct binder_proc *proc)
{
	return proc->host.sim ? proc->host.sim->forbidden : 0;
}

int binder_host_may_manage(struct binder_proc *proc)
{
	return forbidden(proc);
}

int binder_host_may_call(struct binder_proc *from, struct binder_proc *to)
{
	return forbidden(from);
}

int binder_host_may_transfer(struct binder_proc *from, struct binder_proc *to)
{
	return forbidden(from);
}

bool binder_host_uid_eq(binder_uid_t a, binder_uid_t b)
{
	return a.value == b.value;
}

/* Namespaces: 0 is the first one and sees all; any other sees only its own. */
u32 binder_host_uid_seen(struct binder_proc *by, binder_uid_t uid)
{
	binder_might_sleep(BINDER_SITE);
	sim_point(SIM_UID_SEEN);
	return by->host.sim->ns && by->host.sim->uid != uid.value ? UID_OVERFLOW : uid.value;
}

pid_t binder_host_pid_seen(struct binder_proc *by, struct binder_proc *of)
{
	const struct sim_proc *sees = by->host.sim, *seen = of->host.sim;

	return sees->ns && sees->ns != seen->ns ? 0 : seen->pid;
}

void binder_host_poll_wake(struct binder_proc *proc)
{
	lockdep_assert_held(&proc->lock);
	proc->host.sim->poll_wakes++;
}

void binder_host_thread_init(struct binder_thread *thread)
{
	thread->host.sim = sim_thread(thread->proc->host.sim, thread->tid);
}

void binder_host_thread_fini(struct binder_thread *thread)
{
	binder_might_sleep(BINDER_SITE);
	if (thread->host.sim->record == thread)
		binder_kapi_fatal("thread %d goes while it is in a call", thread->tid);
}

void binder_host_proc_fini(struct binder_proc *proc)
{
	binder_might_sleep(BINDER_SITE);
	if (proc->host.sim)
		proc->host.sim->fini = true;
}
