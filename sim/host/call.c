// SPDX-License-Identifier: GPL-2.0-only
/* Calls into the core: ioctls, waits, and what continues them. */
#include "sim.h"
#include "core/command.h"
#include "core/ioctl.h"
#include "core/proc.h"
#include "core/thread.h"

static LIST_HEAD(ready);
static u64 shuffle;

void sim_call_reset(void)
{
	shuffle = 0;
}

bool sim_call_idle(void)
{
	return list_empty(&ready);
}

void sim_seed(u64 seed)
{
	shuffle = seed;
}

/* xorshift: the same numbers for a seed everywhere. */
static u64 shuffle_next(void)
{
	shuffle ^= shuffle << 13;
	shuffle ^= shuffle >> 7;
	shuffle ^= shuffle << 17;
	return shuffle;
}

static int call_enter(struct sim_thread *thread)
{
	if (thread->parked)
		binder_kapi_fatal("thread %d calls while it waits in a call", thread->tid);
	if (!thread->proc->proc)
		binder_kapi_fatal("thread %d calls on a closed device", thread->tid);
	thread->record = binder_thread_lookup(thread->proc->proc, thread->tid);
	return thread->record ? 0 : -ENOMEM;
}

static void call_leave(struct sim_thread *thread)
{
	struct binder_thread *record = thread->record;

	thread->record = NULL;
	binder_ioctl_end(record);
	binder_witness_assert_none(BINDER_SITE);
}

int sim_ioctl(struct sim_thread *thread, unsigned int cmd, void *arg)
{
	int ret = call_enter(thread);

	if (ret)
		return ret;
	ret = binder_ioctl(thread->record, cmd, arg);
	call_leave(thread);
	return ret;
}

bool sim_poll(struct sim_thread *thread)
{
	bool readable;

	/* As the kernel does: no memory for a record is an error event. */
	if (call_enter(thread))
		return true;
	readable = binder_thread_poll(thread->record);
	binder_thread_done(thread->record);
	thread->record = NULL;
	return readable;
}

/* Return: BINDER_PARK when it goes on waiting. */
static int call_read(struct sim_thread *thread, bool nonblock)
{
	int ret = binder_read(thread->record, &thread->bwr, nonblock);

	binder_witness_assert_none(BINDER_SITE);
	thread->parked = ret == BINDER_PARK;
	if (thread->parked)
		return ret;
	thread->ret = ret;
	call_leave(thread);
	return ret;
}

int sim_write_read(struct sim_thread *thread, const struct binder_write_read *bwr, bool nonblock)
{
	int ret = call_enter(thread);

	thread->bwr = *bwr;
	thread->next_pos = 0;
	thread->ret = ret;
	if (ret)
		return ret;
	if (bwr->write_size > bwr->write_consumed)
		ret = binder_write(thread->record, &thread->bwr);
	if (ret)
		thread->bwr.read_consumed = 0;
	else if (bwr->read_size)
		return call_read(thread, nonblock);
	thread->ret = ret;
	call_leave(thread);
	return ret;
}

void binder_host_wake(struct binder_thread *record, bool sync)
{
	struct sim_thread *thread = record->host.sim;

	lockdep_assert_held(&record->proc->lock);
	if (!thread->parked || thread->record != record)
		binder_kapi_fatal("thread %d is woken and does not wait", thread->tid);
	if (thread->woken)
		binder_kapi_fatal("thread %d is woken twice", thread->tid);
	thread->woken = true;
	list_add_tail(&thread->ready_entry, &ready);
}

static struct sim_thread *ready_take(void)
{
	struct sim_thread *thread, *pick = NULL;
	u64 seen = 0;

	/* Each of those seen is kept with equal chance; unshuffled, the first. */
	list_for_each_entry(thread, &ready, ready_entry)
		if (!seen++ || (shuffle && !(shuffle_next() % seen)))
			pick = thread;
	if (pick) {
		list_del_init(&pick->ready_entry);
		pick->woken = false;
	}
	return pick;
}

unsigned int sim_run(void)
{
	struct sim_thread *thread;
	unsigned int returned = 0;

	while ((thread = ready_take()))
		if (call_read(thread, false) != BINDER_PARK)
			returned++;
	return returned;
}

bool sim_interrupt(struct sim_thread *thread)
{
	if (!thread->parked || !binder_thread_unpark(thread->record))
		return false;
	thread->parked = false;
	thread->ret = -EINTR;
	call_leave(thread);
	return true;
}

/* Nothing of @proc is in a call any more. */
void sim_call_drain(struct sim_proc *proc)
{
	struct sim_thread *thread;

	sim_run();
	list_for_each_entry(thread, &proc->threads, entry)
		if (thread->parked)
			binder_kapi_fatal("thread %d still waits though its device is closed",
					  thread->tid);
}

void sim_put_raw(struct sim_thread *thread, const void *bytes, size_t len)
{
	if (len > SIM_STREAM_SIZE - thread->put_pos)
		binder_kapi_fatal("thread %d puts more than its buffer holds", thread->tid);
	if (len)
		memcpy(thread->out + thread->put_pos, bytes, len);
	thread->put_pos += len;
}

void sim_put(struct sim_thread *thread, u32 cmd, const void *payload)
{
	sim_put_raw(thread, &cmd, sizeof(cmd));
	if (payload)
		sim_put_raw(thread, payload, _IOC_SIZE(cmd));
	else if (_IOC_SIZE(cmd))
		binder_kapi_fatal("command %x without its payload", cmd);
}

static int stream_call(struct sim_thread *thread, bool read, bool nonblock)
{
	struct binder_write_read bwr = {
		.write_buffer = (binder_uintptr_t)(uintptr_t)thread->out,
		.write_size = thread->put_pos,
		.read_buffer = (binder_uintptr_t)(uintptr_t)thread->in,
		.read_size = read ? SIM_STREAM_SIZE : 0,
	};

	thread->put_pos = 0;
	return sim_write_read(thread, &bwr, nonblock);
}

int sim_submit(struct sim_thread *thread)
{
	return stream_call(thread, true, false);
}

int sim_write(struct sim_thread *thread)
{
	return stream_call(thread, false, false);
}

int sim_read(struct sim_thread *thread)
{
	if (thread->put_pos)
		binder_kapi_fatal("thread %d reads only, and has commands put", thread->tid);
	return stream_call(thread, true, true);
}

u32 sim_next(struct sim_thread *thread, void *payload)
{
	const u8 *in = (const u8 *)(uintptr_t)thread->bwr.read_buffer;
	size_t left = (size_t)thread->bwr.read_consumed - thread->next_pos;
	u32 cmd;

	if (thread->parked || !left)
		return 0;
	memcpy(&cmd, in + thread->next_pos, sizeof(cmd));
	if (left < sizeof(cmd) + _IOC_SIZE(cmd))
		binder_kapi_fatal("return %x is cut short", cmd);
	if (payload)
		memcpy(payload, in + thread->next_pos + sizeof(cmd), _IOC_SIZE(cmd));
	thread->next_pos += sizeof(cmd) + _IOC_SIZE(cmd);
	return cmd;
}
