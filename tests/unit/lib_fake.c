// SPDX-License-Identifier: MIT
#include "lib_fake.h"

#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include "lib/internal.h"
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
	if (cmd == BC_TRANSACTION)
		log_put(fake, "CALL(%u %u: ", tr.target.handle, tr.code);
	else
		log_put(fake, "REPLY(");
	if (tr.flags & TF_STATUS_CODE)
		log_put(fake, "status %d", word);
	else
		log_put(fake, "%u %d", (unsigned int)tr.data_size, word);
	if (tr.offsets_size)
		log_put(fake, " %u objects",
			(unsigned int)(tr.offsets_size / sizeof(binder_size_t)));
	log_put(fake, "%s%s%s)", tr.flags & TF_ONE_WAY ? " oneway" : "",
		tr.flags & TF_ACCEPT_FDS ? " fds" : "",
		tr.flags & TF_DEFER_COMPLETE ? " defer" : "");
}

static void log_u32(struct fake *fake, const char *name, const void *payload)
{
	uint32_t value;

	memcpy(&value, payload, sizeof(value));
	log_put(fake, "%s(%u)", name, value);
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
		log_u32(fake, "ACQUIRE", payload);
		break;
	case BC_RELEASE:
		log_u32(fake, "RELEASE", payload);
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
		log_u32(fake, "DEATH", payload);
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

/* The script is at its end: until ab_stop(). */
static void wait_kick(struct fake *fake)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	while (!fake->kicked) {
		if (pthread_cond_timedwait(&fake->changed, &fake->lock, &until) == ETIMEDOUT) {
			fprintf(stderr, "the script is at its end. Last words:\n%s", fake->log);
			exit(1);
		}
	}
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

/* ---- lib/sys.h -------------------------------------------------------------------- */

static struct fake *fake_of(int fd)
{
	CHECK(fd >= FIRST_FD && fd < FIRST_FD + NR_DEVICES);
	return &devices[fd - FIRST_FD];
}

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
	fake->kicked = true;
	pthread_cond_broadcast(&fake->changed);
	pthread_mutex_unlock(&fake->lock);
}
