// SPDX-License-Identifier: MIT
#include "lib_fake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include "lib/threads.h"
#include "lib/sys.h"

#define NR_DEVICES 2
#define FIRST_FD 1000
#define NR_BUFFERS 64
#define WAIT_S 60

static struct fake devices[NR_DEVICES];
static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;
/* What the library knows it by, and what malloc() does. */
static struct {
	void *name, *memory;
} buffers[NR_BUFFERS];
static unsigned int nr_buffers, live_buffers;
static _Thread_local unsigned int kicks_seen[NR_DEVICES];

/** fake_reset() - new devices without a script; all received buffers must be back */
void fake_reset(void)
{
	CHECK_EQ(live_buffers, 0);
	nr_buffers = 0;
	for (size_t i = 0; i < NR_DEVICES; i++) {
		struct fake *fake = &devices[i];

		CHECK_EQ(fake->opened, fake->closed);
		CHECK_EQ(fake->mapped, fake->unmapped);
		CHECK_EQ(fake->next_step, fake->nr_steps);
		memset(fake, 0, sizeof(*fake));
		pthread_mutex_init(&fake->lock, NULL);
		pthread_cond_init(&fake->changed, NULL);
		fake->version = BINDER_CURRENT_PROTOCOL_VERSION;
		kicks_seen[i] = 0;
	}
}

struct fake *fake_at(const char *path)
{
	unsigned int i = (unsigned int)(path[0] - 'a');

	CHECK(i < NR_DEVICES && !path[1]);
	return &devices[i];
}

unsigned int fake_buffers_live(void)
{
	return live_buffers;
}

/** fake_forget_buffers() - those that the driver takes back when a connection closes */
void fake_forget_buffers(void)
{
	for (unsigned int i = 0; i < nr_buffers; i++) {
		if (buffers[i].name)
			free(buffers[i].memory);
	}
	nr_buffers = live_buffers = 0;
}

static struct fake *fake_of(int fd)
{
	CHECK(fd >= FIRST_FD && fd < FIRST_FD + NR_DEVICES);
	return &devices[fd - FIRST_FD];
}

/* ---- writing the script ----------------------------------------------------- */

struct fake_step *fake_step(struct fake *fake)
{
	struct fake_step *step = &fake->steps[fake->nr_steps++];

	CHECK(fake->nr_steps <= ARRAY_SIZE(fake->steps));
	step->take = -1;
	return step;
}

void fake_return(struct fake_step *step, uint32_t cmd, const void *payload)
{
	size_t len = _IOC_SIZE(cmd);

	CHECK(step->len + sizeof(cmd) + len <= sizeof(step->in));
	memcpy(step->in + step->len, &cmd, sizeof(cmd));
	if (len)
		memcpy(step->in + step->len + sizeof(cmd), payload, len);
	step->len += sizeof(cmd) + len;
}

/** fake_incoming() - a call to @object, or a reply, with what @parcel holds */
unsigned int fake_incoming(struct fake_step *step, uint32_t cmd, ab_object *object,
			   uint32_t flags, const ab_parcel *parcel)
{
	size_t size = parcel ? parcel->size : 0, nr = parcel ? parcel->nr_offsets : 0;
	binder_size_t *buffer = malloc(nr * sizeof(*buffer) + size);
	struct binder_transaction_data tr = {
		.target.ptr = (uintptr_t)object, .cookie = (uintptr_t)object, .code = 7,
		.flags = flags, .sender_pid = 77, .sender_euid = 1077,
		.data_size = size, .offsets_size = nr * sizeof(*buffer),
	};

	/* Nothing but the data at the end, where the sanitizer sees a step too far. */
	CHECK((buffer || !size) && nr_buffers < NR_BUFFERS);
	if (nr)
		memcpy(buffer, parcel->offsets, nr * sizeof(*buffer));
	if (size)
		memcpy(buffer + nr, parcel->data, size);
	tr.data.ptr.offsets = (uintptr_t)buffer;
	tr.data.ptr.buffer = (uintptr_t)(buffer + nr);
	fake_return(step, cmd, &tr);
	pthread_mutex_lock(&buffers_lock);
	buffers[nr_buffers].name = buffer + nr;
	buffers[nr_buffers].memory = buffer;
	live_buffers++;
	pthread_mutex_unlock(&buffers_lock);
	return nr_buffers++;
}

/** fake_complete() - a step with a completion and nothing else */
void fake_complete(struct fake *fake)
{
	fake_return(fake_step(fake), BR_TRANSACTION_COMPLETE, NULL);
}

/** fake_step_reply() - a step that answers the call it carries */
struct fake_step *fake_step_reply(struct fake *fake, const ab_parcel *reply)
{
	struct fake_step *step = fake_step(fake);

	fake_return(step, BR_NOOP, NULL);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	fake_incoming(step, BR_REPLY, NULL, 0, reply);
	return step;
}

/** fake_return_death() - the end of the process of @handle, of which notice was requested */
void fake_return_death(struct fake_step *step, struct fake *fake, uint32_t handle)
{
	binder_uintptr_t cookie = fake->cookies[handle];

	CHECK(cookie);
	fake_return(step, BR_DEAD_BINDER, &cookie);
}

void fake_return_reference(struct fake_step *step, uint32_t cmd, ab_object *object)
{
	struct binder_ptr_cookie name = { (uintptr_t)object, (uintptr_t)object };

	fake_return(step, cmd, &name);
}

/** fake_write_handle() - an object of somebody else's, as the driver would deliver it */
void fake_write_handle(ab_parcel *parcel, uint32_t type, uint32_t handle)
{
	struct flat_binder_object fbo = { .hdr.type = type, .handle = handle };
	struct ab_pin none = { .fd = -1 };

	CHECK_EQ(ab_parcel_add_object(parcel, &fbo, sizeof(fbo), &none), 0);
	CHECK_EQ(ab_write_int32(parcel, 0x0c), 0); /* its stability */
}

/** fake_parcel() - with an int32, of no connection */
ab_parcel *fake_parcel(int32_t value)
{
	ab_parcel *parcel = ab_parcel_new(NULL);

	CHECK(parcel);
	CHECK_EQ(ab_write_int32(parcel, value), 0);
	return parcel;
}

/** fake_proxy() - a proxy that the library has told the driver all about; the log is empty */
ab_object *fake_proxy(ab_conn *conn, uint32_t handle)
{
	struct flat_binder_object fbo = { .hdr.type = BINDER_TYPE_HANDLE, .handle = handle };
	struct fake *fake = fake_of(conn->fd);
	char want[64];
	ab_object *object;

	CHECK_EQ(ab_flush(conn), 0);
	fake->log_len = 0;
	fake->log[0] = '\0';
	CHECK_EQ(ab_object_unflatten(conn, &fbo, &object), 0);
	CHECK_EQ(ab_flush(conn), 0);
	snprintf(want, sizeof(want), "w:ACQUIRE(%u)\n", handle);
	CHECK_LOG(fake, want);
	return object;
}

static int buffer_free(binder_uintptr_t name)
{
	int found = -1;

	pthread_mutex_lock(&buffers_lock);
	for (unsigned int i = 0; i < nr_buffers; i++) {
		if (buffers[i].name != (void *)(uintptr_t)name)
			continue;
		found = (int)i;
		buffers[i].name = NULL;
		live_buffers--;
		free(buffers[i].memory);
		break;
	}
	pthread_mutex_unlock(&buffers_lock);
	CHECK(found >= 0);
	return found;
}

/* ---- reading what the library says --------------------------------------------- */

static __attribute__((format(printf, 2, 3))) void log_put(struct fake *fake, const char *fmt, ...)
{
	size_t room = sizeof(fake->log) - fake->log_len;
	va_list args;
	int len;

	if (fake->quiet)
		return;
	va_start(args, fmt);
	len = vsnprintf(fake->log + fake->log_len, room, fmt, args);
	va_end(args);
	CHECK(len >= 0 && (size_t)len < room);
	fake->log_len += (size_t)len;
}

/* CALL(handle flags: size word) or REPLY(size word): the word is the payload's first. */
static void log_transaction(struct fake *fake, uint32_t cmd, const void *payload)
{
	struct binder_transaction_data tr;
	int32_t word = 0;

	memcpy(&tr, payload, sizeof(tr));
	if (tr.data_size >= sizeof(word))
		memcpy(&word, (void *)(uintptr_t)tr.data.ptr.buffer, sizeof(word));
	if (cmd == BC_TRANSACTION && tr.code == AB_META_PING)
		log_put(fake, "PING(%u", tr.target.handle);
	else if (cmd == BC_TRANSACTION && tr.code > AB_CALL_LAST)
		log_put(fake, "CALL(%u %.4s: ", tr.target.handle,
			(char *)&(uint32_t){ htonl(tr.code) });
	else if (cmd == BC_TRANSACTION)
		log_put(fake, "CALL(%u %u: ", tr.target.handle, tr.code);
	else
		log_put(fake, "REPLY(");
	if (tr.flags & TF_STATUS_CODE && word < -4095)
		log_put(fake, "status %s", ab_error_name(word));
	else if (tr.flags & TF_STATUS_CODE)
		log_put(fake, "status %d", word);
	else if (cmd != BC_TRANSACTION || tr.code != AB_META_PING)
		log_put(fake, "%u %d", (unsigned int)tr.data_size, word);
	if (tr.offsets_size)
		log_put(fake, " %u objects",
			(unsigned int)(tr.offsets_size / sizeof(binder_size_t)));
	log_put(fake, "%s%s%s%s)", tr.flags & TF_ONE_WAY ? " oneway" : "",
		tr.flags & TF_ACCEPT_FDS ? " fds" : "", tr.flags & TF_CLEAR_BUF ? " clear" : "",
		tr.flags & TF_DEFER_COMPLETE ? " defer" : "");
}

/* Never may more be given back than was taken. */
static void reference(struct fake *fake, uint32_t cmd, const void *payload, bool taken)
{
	bool strong = cmd == BC_ACQUIRE || cmd == BC_RELEASE;
	bool more = cmd == BC_ACQUIRE || cmd == BC_INCREFS;
	uint32_t handle;
	int *count;

	memcpy(&handle, payload, sizeof(handle));
	log_put(fake, "%s(%u)", strong ? more ? "ACQUIRE" : "RELEASE" : more ? "INCREFS" : "DECREFS",
		handle);
	if (!taken || handle >= FAKE_HANDLES)
		return;
	count = strong ? &fake->strong[handle] : &fake->weak[handle];
	*count += more ? 1 : -1;
	CHECK(*count >= 0);
}

static void log_death(struct fake *fake, const char *name, const void *payload, bool taken)
{
	struct binder_handle_cookie request;

	memcpy(&request, payload, sizeof(request));
	log_put(fake, "%s(%u)", name, request.handle);
	CHECK(request.handle < FAKE_HANDLES && request.cookie);
	if (taken && *name == 'D')
		fake->cookies[request.handle] = request.cookie;
	else if (taken)
		CHECK_EQ(request.cookie, fake->cookies[request.handle]);
}

/* One command. Only what is @taken has an effect. */
static void command(struct fake *fake, uint32_t cmd, const void *payload, bool taken)
{
	binder_uintptr_t name;

	switch (cmd) {
	case BC_TRANSACTION:
	case BC_REPLY:
		log_transaction(fake, cmd, payload);
		break;
	case BC_FREE_BUFFER:
		memcpy(&name, payload, sizeof(name));
		log_put(fake, "FREE(%d)", taken ? buffer_free(name) : -1);
		break;
	case BC_ACQUIRE:
	case BC_RELEASE:
	case BC_INCREFS:
	case BC_DECREFS:
		reference(fake, cmd, payload, taken);
		break;
	case BC_INCREFS_DONE:
		log_put(fake, "INCREFS_DONE");
		break;
	case BC_ACQUIRE_DONE:
		log_put(fake, "ACQUIRE_DONE");
		break;
	case BC_ENTER_LOOPER:
		log_put(fake, "ENTER");
		break;
	case BC_REGISTER_LOOPER:
		log_put(fake, "REGISTER");
		fake->registered++;
		pthread_cond_broadcast(&fake->changed);
		break;
	case BC_EXIT_LOOPER:
		log_put(fake, "EXIT");
		fake->exited++;
		break;
	case BC_REQUEST_DEATH_NOTIFICATION:
		log_death(fake, "DEATH", payload, taken);
		break;
	case BC_CLEAR_DEATH_NOTIFICATION:
		log_death(fake, "CLEAR", payload, taken);
		break;
	case BC_DEAD_BINDER_DONE:
		log_put(fake, "DEATH_DONE");
		break;
	default:
		log_put(fake, "%#x", cmd);
	}
}

static void commands(struct fake *fake, struct binder_write_read *bwr, int take)
{
	const uint8_t *out = (const uint8_t *)(uintptr_t)bwr->write_buffer;
	size_t pos = 0;

	while (pos < bwr->write_size) {
		uint32_t cmd;
		bool taken = take-- != 0;

		memcpy(&cmd, out + pos, sizeof(cmd));
		if (pos)
			log_put(fake, " ");
		if (!taken) {
			log_put(fake, "~");
			take = 0;
		}
		command(fake, cmd, out + pos + sizeof(cmd), taken);
		pos += sizeof(cmd) + _IOC_SIZE(cmd);
		CHECK(pos <= bwr->write_size);
		if (taken)
			bwr->write_consumed = pos;
	}
	log_put(fake, "\n");
}

/* The script is at its end: until a kick. */
static void wait_kick(struct fake *fake)
{
	unsigned int *seen = &kicks_seen[fake - devices];
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	fake->asleep++;
	pthread_cond_broadcast(&fake->changed);
	while (fake->kicks == *seen) {
		if (pthread_cond_timedwait(&fake->changed, &fake->lock, &until) == ETIMEDOUT) {
			fprintf(stderr, "the script is at its end. Last words:\n%s", fake->log);
			exit(1);
		}
	}
	*seen = fake->kicks;
	fake->asleep--;
}

static int write_read(struct fake *fake, struct binder_write_read *bwr)
{
	struct fake_step *step = NULL;
	int ret = 0;

	pthread_mutex_lock(&fake->lock);
	if (bwr->read_size && fake->next_step < fake->nr_steps)
		step = &fake->steps[fake->next_step++];
	log_put(fake, bwr->read_size ? "rw:" : "w:");
	if (!bwr->read_size && fake->write_error) {
		ret = fake->write_error;
		fake->write_error = 0;
		commands(fake, bwr, 0);
	} else {
		commands(fake, bwr, step ? step->take : -1);
	}
	if (step) {
		CHECK(step->len <= bwr->read_size);
		memcpy((void *)(uintptr_t)bwr->read_buffer, step->in, step->len);
		bwr->read_consumed = step->len;
		ret = step->ret;
	} else if (bwr->read_size) {
		wait_kick(fake);
	}
	pthread_mutex_unlock(&fake->lock);
	if (step && step->hook)
		step->hook();
	return ret;
}

/** fake_wait_registered() - until @nr threads have said BC_REGISTER_LOOPER */
void fake_wait_registered(struct fake *fake, unsigned int nr)
{
	pthread_mutex_lock(&fake->lock);
	while (fake->registered < nr)
		pthread_cond_wait(&fake->changed, &fake->lock);
	pthread_mutex_unlock(&fake->lock);
}

/** fake_wait_log() - until what was written since the last time is @want; forget it */
void fake_wait_log(struct fake *fake, const char *want)
{
	pthread_mutex_lock(&fake->lock);
	while (strcmp(fake->log, want))
		pthread_cond_wait(&fake->changed, &fake->lock);
	fake->log_len = 0;
	fake->log[0] = '\0';
	pthread_mutex_unlock(&fake->lock);
}

/** fake_wait_asleep() - until @nr threads read where there is nothing to read */
void fake_wait_asleep(struct fake *fake, unsigned int nr)
{
	pthread_mutex_lock(&fake->lock);
	while (fake->asleep < nr)
		pthread_cond_wait(&fake->changed, &fake->lock);
	pthread_mutex_unlock(&fake->lock);
}

/* ---- lib/sys.h -------------------------------------------------------------------- */

int ab_sys_open(const char *path)
{
	struct fake *fake = fake_at(path);

	if (fake->open_error)
		return fake->open_error;
	fake->opened++;
	return FIRST_FD + (int)(fake - devices);
}

int ab_sys_close(int fd)
{
	fake_of(fd)->closed++;
	return 0;
}

void *ab_sys_map(int fd, size_t size, int *error)
{
	static uint8_t mapping[8];
	struct fake *fake = fake_of(fd);

	fake->map_size = size;
	if (fake->map_error) {
		*error = fake->map_error;
		return NULL;
	}
	fake->mapped++;
	return mapping;
}

void ab_sys_unmap(void *addr, size_t size)
{
	for (size_t i = 0; i < NR_DEVICES; i++) {
		if (devices[i].mapped > devices[i].unmapped && devices[i].map_size == size) {
			devices[i].unmapped++;
			return;
		}
	}
	CHECK(!"mapped");
}

int ab_sys_ioctl(int fd, unsigned int cmd, void *arg)
{
	struct fake *fake = fake_of(fd);

	switch (cmd) {
	case BINDER_WRITE_READ:
		return write_read(fake, arg);
	case BINDER_VERSION:
		((struct binder_version *)arg)->protocol_version = fake->version;
		return fake->version_error;
	case BINDER_SET_MAX_THREADS:
		memcpy(&fake->max_threads, arg, sizeof(fake->max_threads));
		return fake->max_threads_error;
	case BINDER_SET_CONTEXT_MGR_EXT:
		return fake->manager_error;
	case BINDER_GET_EXTENDED_ERROR:
		memcpy(arg, &fake->extended, sizeof(fake->extended));
		return 0;
	case BINDER_GET_NODE_INFO_FOR_REF:
		CHECK_EQ(((struct binder_node_info_for_ref *)arg)->handle, fake->node_info.handle);
		memcpy(arg, &fake->node_info, sizeof(fake->node_info));
		return fake->node_info_error;
	case BINDER_THREAD_EXIT:
		pthread_mutex_lock(&fake->lock);
		fake->threads_gone++;
		pthread_mutex_unlock(&fake->lock);
		return 0;
	default:
		return -EINVAL;
	}
}

void ab_sys_kick(int fd)
{
	struct fake *fake = fake_of(fd);

	pthread_mutex_lock(&fake->lock);
	fake->kicks++;
	pthread_cond_broadcast(&fake->changed);
	pthread_mutex_unlock(&fake->lock);
}

bool ab_sys_readable(int fd)
{
	struct fake *fake = fake_of(fd);
	bool readable;

	pthread_mutex_lock(&fake->lock);
	readable = fake->next_step < fake->nr_steps || fake->kicks != kicks_seen[fake - devices];
	pthread_mutex_unlock(&fake->lock);
	return readable;
}
