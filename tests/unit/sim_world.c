// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulator itself: one call through it from end to end, its knobs, and
 * that the model of a mapping refuses what a real one could not survive.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "kapi_check.h"
#include "sim.h"
#include "core/alloc.h"
#include "core/proc.h"

#define MAP_SIZE (16 * PAGE_SIZE)

/* ---- a call from end to end ---------------------------------------------- */

static struct sim_proc *server_proc, *client_proc;
static struct sim_thread *server, *client;

static void start(void)
{
	struct binder_context *context;

	sim_start();
	context = sim_context("binder");
	CHECK(context);
	server_proc = sim_open(context, 100, 1000);
	client_proc = sim_open(context, 200, 2000);
	CHECK(server_proc && client_proc);
	CHECK(!sim_mmap(server_proc, MAP_SIZE) && !sim_mmap(client_proc, MAP_SIZE));
	server = sim_thread(server_proc, 101);
	client = sim_thread(client_proc, 201);
	CHECK(!sim_ioctl(server, BINDER_SET_CONTEXT_MGR, &(s32){ 0 }));
	sim_put(server, BC_ENTER_LOOPER, NULL);
	CHECK(!sim_write(server));
	CHECK(sim_submit(server) == BINDER_PARK);
}

static void put_data(struct sim_thread *thread, u32 cmd, const char *text)
{
	struct binder_transaction_data tr = {
		.code = 7,
		.data_size = strlen(text) + 1,
	};

	tr.data.ptr.buffer = (uintptr_t)sim_user_dup(thread->proc, text, tr.data_size);
	sim_put(thread, cmd, &tr);
}

/* Take returns until @cmd; what comes before is not looked at. */
static bool next_is(struct sim_thread *thread, u32 cmd, void *payload)
{
	u8 any[256];
	u32 got;

	while ((got = sim_next(thread, any))) {
		if (got != cmd)
			continue;
		if (payload)
			memcpy(payload, any, _IOC_SIZE(cmd));
		return true;
	}
	return false;
}

static void test_world_one_call(void)
{
	struct binder_transaction_data tr;
	const char *text;

	start();
	put_data(client, BC_TRANSACTION, "question");
	/* A new thread's first read does not wait. */
	CHECK(!sim_submit(client));
	CHECK(next_is(client, BR_TRANSACTION_COMPLETE, NULL));
	CHECK(sim_submit(client) == BINDER_PARK);

	CHECK(sim_run() == 1);
	CHECK(server->ret == 0 && next_is(server, BR_TRANSACTION, &tr));
	text = (const char *)(uintptr_t)tr.data.ptr.buffer;
	CHECK(tr.code == 7 && tr.sender_pid == 200 && tr.sender_euid == 2000);
	CHECK(!strcmp(text, "question"));
	CHECK(sim_page_present(server_proc->proc->alloc, 0));

	put_data(server, BC_REPLY, "answer");
	sim_put(server, BC_FREE_BUFFER, &tr.data.ptr.buffer);
	CHECK(!sim_submit(server) && next_is(server, BR_TRANSACTION_COMPLETE, NULL));
	CHECK(sim_run() == 1);
	CHECK(next_is(client, BR_REPLY, &tr));
	text = (const char *)(uintptr_t)tr.data.ptr.buffer;
	CHECK(!strcmp(text, "answer"));
	sim_end();
}

static void test_world_interrupt_and_kill(void)
{
	start();
	CHECK(sim_interrupt(server) && server->ret == -EINTR);
	CHECK(!sim_interrupt(server));
	CHECK(sim_submit(server) == BINDER_PARK);
	sim_kill(server_proc);
	CHECK(server->ret == -EINTR);
	put_data(client, BC_TRANSACTION, "anybody?");
	CHECK(!sim_submit(client) && next_is(client, BR_DEAD_REPLY, NULL));
	sim_end();
}

static void test_world_bad_user_memory(void)
{
	struct binder_write_read bwr = { .write_buffer = 16, .write_size = 4 };
	u32 *command;

	start();
	CHECK(sim_write_read(client, &bwr, true) == -EFAULT);
	command = sim_user_alloc(client_proc, 4);
	*command = BC_ENTER_LOOPER;
	bwr.write_buffer = (uintptr_t)command;
	sim_user_fail(1);
	CHECK(sim_write_read(client, &bwr, true) == -EFAULT && sim_user_failed());
	CHECK(!sim_write_read(client, &bwr, true) && client->bwr.write_consumed == 4);
	/* Its last byte is the last that may be read. */
	bwr.write_size = 8;
	bwr.write_consumed = 4;
	CHECK(sim_write_read(client, &bwr, true) == -EFAULT);
	sim_end();
}

static void ran(void *arg)
{
	*(bool *)arg = true;
}

static void test_world_runs_in_between(void)
{
	bool in_between = false;

	start();
	sim_at(SIM_COPY_PAYLOAD, 1, ran, &in_between);
	CHECK(sim_at_pending());
	put_data(client, BC_TRANSACTION, "x");
	CHECK(!sim_submit(client));
	CHECK(in_between && !sim_at_pending());
	sim_end();
}

/* ---- allocation failing everywhere ----------------------------------------- */

static void test_world_each_allocation_fails_once(void)
{
	unsigned long n;

	for (n = 1;; n++) {
		start();
		put_data(client, BC_TRANSACTION, "x");
		sim_fault_arm(n);
		sim_submit(client);
		sim_run();
		if (!sim_fault_fired())
			break;
		sim_end();
	}
	sim_end();
	/* At least: record, transaction, buffer, page, page table. */
	CHECK(n > 5);
}

/* ---- the model of a mapping -------------------------------------------------- */

static struct binder_alloc *alloc;
static struct page *page;

static void map_one(void)
{
	sim_start();
	alloc = binder_alloc_new(NULL, 1);
	CHECK(alloc && !sim_alloc_mmap(alloc, MAP_SIZE));
	page = binder_host_page_alloc(alloc, 3);
	CHECK(page && !sim_page_present(alloc, 3));
	mutex_lock(&alloc->install_mutex);
	CHECK(!binder_host_page_insert(alloc, 3, page) && sim_page_present(alloc, 3));
	mutex_unlock(&alloc->install_mutex);
}

static void test_map_insert_write_zap(void)
{
	const u8 *seen;

	map_one();
	seen = (const u8 *)(uintptr_t)alloc->user_addr + 3 * PAGE_SIZE;
	CHECK(!seen[0] && !seen[PAGE_SIZE - 1]);
	binder_host_write_buffer(alloc, 3 * PAGE_SIZE + 1, "ab", 2);
	CHECK(!seen[0] && seen[1] == 'a' && seen[2] == 'b' && !seen[3]);
	binder_host_zero_buffer(alloc, 3 * PAGE_SIZE, 2);
	CHECK(!seen[1] && seen[2] == 'b');
	CHECK(sim_pages_live(alloc) == 1);
	mutex_lock(&alloc->install_mutex);
	binder_host_page_zap(alloc, 3, page);
	CHECK(!sim_page_present(alloc, 3));
	mutex_unlock(&alloc->install_mutex);
	binder_host_page_free(alloc, 3, page);
	CHECK(sim_pages_live(alloc) == 0);
	binder_alloc_release(alloc);
	binder_alloc_put(alloc);
	sim_end();
}

static void test_map_gone_still_takes_writes(void)
{
	struct page *late;

	map_one();
	sim_alloc_munmap(alloc);
	CHECK(!sim_page_present(alloc, 3));
	binder_host_write_buffer(alloc, 3 * PAGE_SIZE, "ab", 2);
	late = binder_host_page_alloc(alloc, 4);
	CHECK(late);
	mutex_lock(&alloc->install_mutex);
	CHECK(binder_host_page_insert(alloc, 4, late) == -ESRCH);
	mutex_unlock(&alloc->install_mutex);
	binder_host_page_free(alloc, 4, late);
	binder_host_page_free(alloc, 3, page);
	binder_alloc_release(alloc);
	binder_alloc_put(alloc);
	sim_end();
}

static void insert_over_another(void)
{
	struct page *second;

	map_one();
	second = binder_host_page_alloc(alloc, 3);
	mutex_lock(&alloc->install_mutex);
	binder_host_page_insert(alloc, 3, second);
}

static void insert_without_mutex(void)
{
	map_one();
	binder_host_page_insert(alloc, 4, binder_host_page_alloc(alloc, 4));
}

static void write_past_page(void)
{
	map_one();
	binder_host_write_buffer(alloc, 4 * PAGE_SIZE - 1, "ab", 2);
}

static void zero_absent(void)
{
	map_one();
	binder_host_zero_buffer(alloc, 0, 1);
}

static void zap_absent(void)
{
	map_one();
	mutex_lock(&alloc->install_mutex);
	binder_host_page_zap(alloc, 3, page);
	binder_host_page_zap(alloc, 3, page);
}

static void zap_wrong_slot(void)
{
	map_one();
	mutex_lock(&alloc->install_mutex);
	binder_host_page_zap(alloc, 4, page);
}

static void free_inserted(void)
{
	map_one();
	binder_host_page_free(alloc, 3, page);
}

static void leave_pages(void)
{
	map_one();
	binder_host_map_fini(alloc);
}

static void unmap_blocks_on_install(void)
{
	map_one();
	mutex_lock(&alloc->host.mm_lock);
	mutex_lock(&alloc->install_mutex);
}

static void insert_under_spinlock(void)
{
	map_one();
	mutex_lock(&alloc->install_mutex);
	spin_lock(&alloc->lock);
	binder_host_page_insert(alloc, 4, page);
}

static void user_copy_under_lock(void)
{
	map_one();
	mutex_lock(&alloc->install_mutex);
	binder_host_read_user(NULL, NULL, 0, 0);
}

static void leak_memory(void)
{
	void *volatile lost;

	sim_start();
	lost = kmalloc(8, GFP_KERNEL);
	(void)lost;
	sim_end();
}

static void leave_warning(void)
{
	sim_start();
	WARN_ON(1);
	sim_end();
}

/* ---- all of it ----------------------------------------------------------------- */

static void (*const must_pass[])(void) = {
	test_world_one_call,
	test_world_interrupt_and_kill,
	test_world_bad_user_memory,
	test_world_runs_in_between,
	test_world_each_allocation_fails_once,
	test_map_insert_write_zap,
	test_map_gone_still_takes_writes,
};

static const struct {
	const char *name;
	void (*fn)(void);
	const char *words;
} must_die[] = {
#define DIES(fn, words) { #fn, fn, words }
	DIES(insert_over_another, "page insert: slot 3 has a page"),
	DIES(insert_without_mutex, "install_mutex"),
	DIES(insert_under_spinlock, "sleeps while spinlock"),
	DIES(write_past_page, "page 4 is not inserted"),
	DIES(zero_absent, "page 0 is not inserted"),
	DIES(zap_absent, "the page is not in slot 3"),
	DIES(zap_wrong_slot, "not the page that was allocated for slot 4"),
	DIES(free_inserted, "slot 3 still has it inserted"),
	DIES(leave_pages, "leaves 1 pages"),
	DIES(unmap_blocks_on_install, "wrong lock order: BINDER_RANK_INSTALL"),
	DIES(user_copy_under_lock, "BINDER_RANK_INSTALL is held here"),
	DIES(leak_memory, "1 allocations were not given back"),
	DIES(leave_warning, "1 warnings"),
};

int main(void)
{
	int failures = 0;

	for (size_t i = 0; i < ARRAY_SIZE(must_pass); i++)
		must_pass[i]();
	for (size_t i = 0; i < ARRAY_SIZE(must_die); i++) {
		int status;
		/* Each stops half way: the world it leaves is no use to the next. */
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child)
			_exit(!kapi_must_die(must_die[i].fn, must_die[i].name, must_die[i].words));
		CHECK(waitpid(child, &status, 0) == child);
		failures += status != 0;
	}
	return failures != 0;
}
