// SPDX-License-Identifier: MIT
/*
 * Parcels against random input. Most rounds write a random parcel, receive it as it
 * is and read it back equal; then damage it and read it with readers in random order,
 * which must stay inside, keep their place when they fail, and hold nothing
 * afterwards. Others receive what nobody wrote.
 *
 *   lib_fuzz [--seed=N] [--rounds=N] [--seconds=N]
 *
 * The same seed makes the same rounds. --seconds is instead of --rounds.
 */
#include "lib_fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <time.h>
#include <unistd.h>

#define STEPS_MAX 24
#define SIZE_MAX_RANDOM 600
#define OFFSETS_MAX 12

ab_conn *conn;
ab_object *ours;
int null_fd;

/* ---- randomness ------------------------------------------------------------------------- */

static uint64_t state;

/** rnd() - 31 random bits */
uint32_t rnd(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

/** below() - a random number less than @n */
uint32_t below(uint32_t n)
{
	return n ? rnd() % n : 0;
}

static enum ab_variant any_variant(void)
{
	return (enum ab_variant)(AB_ANDROID_8 + below(AB_ANDROID_16 - AB_ANDROID_8 + 1));
}

static const uint32_t types[] = {
	BINDER_TYPE_BINDER, BINDER_TYPE_HANDLE, BINDER_TYPE_WEAK_BINDER, BINDER_TYPE_WEAK_HANDLE,
	BINDER_TYPE_FD, BINDER_TYPE_FDA, BINDER_TYPE_PTR,
};

/* Words that mean something somewhere: counts, sizes, types, headers. */
static uint32_t any_word(void)
{
	static const uint32_t words[] = {
		0, 1, UINT32_MAX, INT32_MAX, 0x80000000, 0x40000000, 0x20000000, 2, 3, 4, 5, 8, 16,
		0xffff, 0xd800, 0xdc00d800, 0x53595354, (uint32_t)-128, (uint32_t)-8, (uint32_t)-9,
	};

	switch (below(4)) {
	case 0: return rnd() << 1 | below(2);
	case 1: return types[below(ARRAY_SIZE(types))];
	case 2: return below(64);
	default: return words[below(ARRAY_SIZE(words))];
	}
}

static uint64_t any_offset(size_t size)
{
	switch (below(8)) {
	case 0: return (uint64_t)rnd() << below(33);
	case 1: return below((uint32_t)size + 8);
	case 2: return size - below(48);
	default: return below((uint32_t)size / 4 + 2) * 4;
	}
}

/* ---- damage ----------------------------------------------------------------------------- */

/** struct message - what is delivered */
struct message {
	uint8_t *data;
	size_t size;
	binder_size_t *offsets;
	size_t nr;
};

static struct message message_of(const ab_parcel *parcel)
{
	struct message m = {
		.data = malloc(parcel->size + 4), .size = parcel->size,
		.offsets = calloc(parcel->nr_offsets + 1, sizeof(*m.offsets)),
		.nr = parcel->nr_offsets,
	};

	CHECK(m.data && m.offsets);
	if (m.size)
		memcpy(m.data, parcel->data, m.size);
	if (m.nr)
		memcpy(m.offsets, parcel->offsets, m.nr * sizeof(*m.offsets));
	return m;
}

static void message_free(struct message *m)
{
	free(m->data);
	free(m->offsets);
}

static void put_word(struct message *m, uint64_t at, uint32_t word)
{
	if (at <= m->size && m->size - at >= sizeof(word))
		memcpy(m->data + at, &word, sizeof(word));
}

static void damage_once(struct message *m)
{
	switch (below(10)) {
	case 0:
		m->size = below((uint32_t)m->size + 1);
		break;
	case 1:
		m->nr = below((uint32_t)m->nr + 1);
		break;
	case 2:
	case 3:
		m->offsets[below((uint32_t)m->nr)] = any_offset(m->size);
		break;
	case 4:
		put_word(m, m->offsets[below((uint32_t)m->nr)], types[below(ARRAY_SIZE(types))]);
		break;
	case 5:
		if (m->size)
			m->data[below((uint32_t)m->size)] ^= (uint8_t)(1 << below(8));
		break;
	default:
		put_word(m, below((uint32_t)m->size / 4) * 4, any_word());
	}
}

/* ---- rounds ----------------------------------------------------------------------------- */

static void deliver_and_read(const struct message *m)
{
	ab_parcel in;

	driver_receive(&in, m->data, m->size, m->offsets, m->nr);
	in.variant = any_variant();
	read_any(&in);
	ab_parcel_fini(&in);
	driver_check_idle();
}

static void read_back(ab_parcel *parcel, const struct step *steps, uint32_t nr_steps)
{
	for (uint32_t i = 0; i < nr_steps; i++)
		read_step(parcel, &steps[i]);
	CHECK_EQ(ab_parcel_left(parcel), 0);
}

static void round_written(void)
{
	struct step steps[STEPS_MAX];
	uint32_t nr_steps = below(STEPS_MAX + 1);
	struct message m;
	ab_parcel out, in;

	ab_parcel_init(&out, conn);
	out.variant = any_variant();
	for (uint32_t i = 0; i < nr_steps; i++) {
		steps[i] = (struct step){ below(nr_what), (int32_t)(rnd() << 1), below(ARRAY_MAX) };
		steps[i].value |= (int32_t)below(2);
		write_step(&out, &steps[i]);
	}
	CHECK_EQ(ab_parcel_error(&out), 0);
	CHECK_EQ(ab_flush(conn), 0);
	driver_receive(&in, out.data, out.size, out.offsets, out.nr_offsets);
	CHECK_EQ(in.nr_offsets, out.nr_offsets);
	in.variant = out.variant;
	read_back(&out, steps, nr_steps);
	read_back(&in, steps, nr_steps);
	m = message_of(&out);
	read_any(&out);
	ab_parcel_fini(&out);
	ab_parcel_fini(&in);
	driver_check_idle();
	for (uint32_t i = 1 + below(6); i; i--)
		damage_once(&m);
	deliver_and_read(&m);
	message_free(&m);
}

static int by_size(const void *a, const void *b)
{
	const binder_size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void round_unwritten(void)
{
	uint8_t data[SIZE_MAX_RANDOM + 4];
	binder_size_t offsets[OFFSETS_MAX];
	struct message m = {
		.data = data, .offsets = offsets,
		.size = below(SIZE_MAX_RANDOM + 1), .nr = below(OFFSETS_MAX + 1),
	};

	for (size_t at = 0; at < m.size; at += 4) {
		uint32_t word = any_word();

		memcpy(data + at, &word, sizeof(word));
	}
	for (size_t i = 0; i < m.nr; i++) {
		offsets[i] = any_offset(m.size);
		if (below(4))
			put_word(&m, offsets[i], types[below(ARRAY_SIZE(types))]);
	}
	if (below(4))
		qsort(offsets, m.nr, sizeof(*offsets), by_size);
	deliver_and_read(&m);
}

/* ---- the program ------------------------------------------------------------------------ */

static int transact(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	return 0;
}

static const struct ab_class fuzz_class = { .interface = "fuzz", .transact = transact };

static uint64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

static uint64_t run(uint64_t rounds, uint64_t limit)
{
	uint64_t begin = seconds(), done = 0;

	while (limit ? seconds() - begin < limit : done < rounds) {
		if (below(4))
			round_written();
		else
			round_unwritten();
		done++;
	}
	return done;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 't' },
		{ 0 },
	};
	uint64_t seed = (uint64_t)time(NULL), rounds = 50000, limit = 0, done;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint64_t value = optarg ? strtoull(optarg, NULL, 0) : 0;

		if (c == '?')
			return 2;
		if (c == 's')
			seed = value;
		else if (c == 'r')
			rounds = value;
		else
			limit = value;
	}
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	state = seed;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	CHECK_EQ(ab_open(&conn, "a", NULL), 0);
	ours = ab_object_new(conn, &fuzz_class, NULL);
	CHECK(ours && null_fd >= 0);
	driver_check_idle();
	done = run(rounds, limit);
	ab_object_put(ours);
	ab_close(conn);
	close(null_fd);
	printf("ok: %llu rounds\n", (unsigned long long)done);
	return 0;
}
