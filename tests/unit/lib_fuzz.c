// SPDX-License-Identifier: MIT
/*
 * Parcels against random input. Each round writes a random parcel, receives it as
 * it is and reads it back equal; then damages it and reads it with readers in
 * random order, which must stay inside, keep their place when they fail, and hold
 * nothing afterwards.
 *
 *   lib_fuzz [--seed=N] [--rounds=N] [--seconds=N]
 */
#include <errno.h>
#include <getopt.h>
#include <time.h>
#include <unistd.h>

#include "lib/sys.h"
#include "lib/objects.h"
#include "tests/unit/lib_fake.h"

#define STEPS_MAX 24
#define NR_HANDLES 8
#define ARRAY_MAX 20

/* ---- a driver that only counts ---------------------------------------------------------- */

static int strong[NR_HANDLES], weak[NR_HANDLES];
static unsigned int buffers_live;
static uint8_t map;

static void count(int *counts, const void *payload, int change)
{
	uint32_t handle;

	memcpy(&handle, payload, sizeof(handle));
	CHECK(handle < NR_HANDLES);
	counts[handle] += change;
	CHECK(counts[handle] >= 0);
}


/* The one buffer there is at a time. */
static void *buffer_of_name;

static void command(uint32_t cmd, const void *payload)
{
	switch (cmd) {
	case BC_ACQUIRE:
		count(strong, payload, 1);
		break;
	case BC_RELEASE:
		count(strong, payload, -1);
		break;
	case BC_INCREFS:
		count(weak, payload, 1);
		break;
	case BC_DECREFS:
		count(weak, payload, -1);
		break;
	case BC_FREE_BUFFER:
		CHECK(buffer_of_name);
		free(buffer_of_name);
		buffer_of_name = NULL;
		buffers_live--;
		break;
	default:
		fprintf(stderr, "an unexpected command %#x\n", cmd);
		exit(1);
	}
}

int ab_sys_open(const char *path)
{
	return 3;
}

int ab_sys_close(int fd)
{
	return 0;
}

void *ab_sys_map(int fd, size_t size, int *error)
{
	return &map;
}

void ab_sys_unmap(void *addr, size_t size)
{
}

void ab_sys_kick(int fd)
{
}

bool ab_sys_readable(int fd)
{
	return false;
}

int ab_sys_ioctl(int fd, unsigned int cmd, void *arg)
{
	struct binder_write_read *bwr = arg;
	const uint8_t *out;
	size_t pos = 0;

	if (cmd == BINDER_VERSION)
		((struct binder_version *)arg)->protocol_version = BINDER_CURRENT_PROTOCOL_VERSION;
	if (cmd != BINDER_WRITE_READ)
		return 0;
	CHECK(!bwr->read_size);
	for (out = (void *)(uintptr_t)bwr->write_buffer; pos < bwr->write_size;) {
		uint32_t what;

		memcpy(&what, out + pos, sizeof(what));
		command(what, out + pos + sizeof(what));
		pos += sizeof(what) + _IOC_SIZE(what);
	}
	bwr->write_consumed = pos;
	return 0;
}

/* ---- randomness ------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t rnd(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

static uint32_t below(uint32_t n)
{
	return rnd() % n;
}

static ab_conn *conn;
static ab_object *ours;

static int transact(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	return 0;
}

static const struct ab_class fuzz_class = { .interface = "fuzz", .transact = transact };

/* ---- what is written is read back ------------------------------------------------------- */

enum what {
	BOOL, BYTE, CHAR16, INT32, INT64, FLOAT, DOUBLE, STRING16, STRING8, NULL_STRING, BYTES,
	BOOLS, CHARS, INT32S, INT64S, FLOATS, DOUBLES, STRINGS, NULL_ARRAY, RAW, PARCELABLE,
	NO_PARCELABLE, OBJECT, NO_OBJECT, WEAK, OBJECTS, TOKEN, STATUS, EXCEPTION, NR_WHAT
};

/** struct step - one thing written; arrays hold @value, @value + 1 ... */
struct step {
	enum what what;
	int32_t value;
	size_t count;
};

static const char *const texts[] = {
	"", "a", "ab", "abc", "h\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "text \xf0\x90\x80\x80 end",
};

static const char *text_of(const struct step *step)
{
	return texts[(uint32_t)step->value % ARRAY_SIZE(texts)];
}

static void fill(const struct step *step, int32_t *ints, int64_t *longs, float *floats,
		 double *doubles, uint16_t *chars, bool *bools, const char **strings)
{
	for (size_t i = 0; i < step->count; i++) {
		ints[i] = (int32_t)((uint32_t)step->value + i);
		longs[i] = (int64_t)ints[i] * 4294967311;
		floats[i] = (float)ints[i] / 3;
		doubles[i] = (double)ints[i] / 7;
		chars[i] = (uint16_t)ints[i];
		bools[i] = ints[i] & 1;
		strings[i] = ints[i] % 5 ? texts[(uint32_t)ints[i] % ARRAY_SIZE(texts)] : NULL;
	}
}

static void write_array(ab_parcel *parcel, const struct step *step)
{
	int32_t ints[ARRAY_MAX];
	int64_t longs[ARRAY_MAX];
	float floats[ARRAY_MAX];
	double doubles[ARRAY_MAX];
	uint16_t chars[ARRAY_MAX];
	bool bools[ARRAY_MAX];
	const char *strings[ARRAY_MAX];
	ab_object *objects[ARRAY_MAX];

	fill(step, ints, longs, floats, doubles, chars, bools, strings);
	for (size_t i = 0; i < step->count; i++)
		objects[i] = ints[i] & 1 ? ours : NULL;
	switch (step->what) {
	case BYTES: ab_write_bytes(parcel, ints, step->count); break;
	case RAW: ab_write_raw(parcel, ints, step->count); break;
	case BOOLS: ab_write_bool_array(parcel, bools, step->count); break;
	case CHARS: ab_write_char16_array(parcel, chars, step->count); break;
	case INT32S: ab_write_int32_array(parcel, ints, step->count); break;
	case INT64S: ab_write_int64_array(parcel, longs, step->count); break;
	case FLOATS: ab_write_float_array(parcel, floats, step->count); break;
	case DOUBLES: ab_write_double_array(parcel, doubles, step->count); break;
	case STRINGS: ab_write_string16_array(parcel, strings, step->count); break;
	case OBJECTS: ab_write_object_array(parcel, objects, step->count); break;
	default: CHECK(!"an array");
	}
}

static void write_step(ab_parcel *parcel, const struct step *step)
{
	size_t mark;

	switch (step->what) {
	case BOOL: ab_write_bool(parcel, step->value & 1); break;
	case BYTE: ab_write_byte(parcel, (int8_t)step->value); break;
	case CHAR16: ab_write_char16(parcel, (uint16_t)step->value); break;
	case INT32: ab_write_int32(parcel, step->value); break;
	case INT64: ab_write_int64(parcel, (int64_t)step->value << 20); break;
	case FLOAT: ab_write_float(parcel, (float)step->value); break;
	case DOUBLE: ab_write_double(parcel, step->value); break;
	case STRING16: ab_write_string16(parcel, text_of(step)); break;
	case STRING8: ab_write_string8(parcel, text_of(step)); break;
	case NULL_STRING: ab_write_string16(parcel, NULL); break;
	case NULL_ARRAY: ab_write_int32_array(parcel, NULL, 0); break;
	case PARCELABLE:
		ab_write_parcelable_begin(parcel, &mark);
		ab_write_int32(parcel, step->value);
		ab_write_string16(parcel, text_of(step));
		ab_write_parcelable_end(parcel, mark);
		break;
	case NO_PARCELABLE: ab_write_null_parcelable(parcel); break;
	case OBJECT: ab_write_object(parcel, ours); break;
	case NO_OBJECT: ab_write_object(parcel, NULL); break;
	case WEAK: ab_write_weak(parcel, ours); break;
	case TOKEN: ab_write_token(parcel, text_of(step)); break;
	case STATUS: ab_write_status(parcel, AB_EX_NONE, 0, NULL); break;
	case EXCEPTION:
		ab_write_status(parcel, AB_EX_SERVICE_SPECIFIC, step->value, text_of(step));
		break;
	default: write_array(parcel, step);
	}
}

#define READ_BACK(type, reader, want) do {						\
	type value_;									\
	CHECK_EQ(reader(parcel, &value_), 0);						\
	CHECK(value_ == (type)(want));							\
} while (0)

#define READ_ARRAY(type, reader, want) do {						\
	type *values_;									\
	size_t count_;									\
	CHECK_EQ(reader(parcel, &values_, &count_), 0);					\
	CHECK_EQ(count_, step->count);							\
	CHECK(!memcmp(values_, want, count_ * sizeof(type)));				\
	free(values_);									\
} while (0)

static void read_strings(ab_parcel *parcel, const struct step *step, const char **want)
{
	char **strings;
	size_t nr;

	CHECK_EQ(ab_read_string16_array(parcel, &strings, &nr), 0);
	CHECK_EQ(nr, step->count);
	for (size_t i = 0; i < nr; i++) {
		CHECK(!strings[i] == !want[i]);
		if (want[i])
			CHECK_STR(strings[i], want[i]);
	}
	ab_strings_free(strings, nr);
}

static void read_objects(ab_parcel *parcel, const struct step *step, const int32_t *ints)
{
	ab_object **objects;
	size_t nr;

	CHECK_EQ(ab_read_object_array(parcel, &objects, &nr), 0);
	CHECK_EQ(nr, step->count);
	for (size_t i = 0; i < nr; i++) {
		CHECK(objects[i] == (ints[i] & 1 ? ours : NULL));
		ab_object_put(objects[i]);
	}
	free(objects);
}

static void read_array(ab_parcel *parcel, const struct step *step)
{
	int32_t ints[ARRAY_MAX];
	int64_t longs[ARRAY_MAX];
	float floats[ARRAY_MAX];
	double doubles[ARRAY_MAX];
	uint16_t chars[ARRAY_MAX];
	bool bools[ARRAY_MAX];
	const char *strings[ARRAY_MAX];
	const void *bytes;
	size_t nr = step->count;

	fill(step, ints, longs, floats, doubles, chars, bools, strings);
	switch (step->what) {
	case BYTES:
	case RAW:
		CHECK_EQ(step->what == RAW ? ab_read_raw(parcel, &bytes, nr)
					   : ab_read_bytes(parcel, &bytes, &nr), 0);
		CHECK_EQ(nr, step->count);
		CHECK(!memcmp(bytes, ints, nr));
		break;
	case BOOLS: READ_ARRAY(bool, ab_read_bool_array, bools); break;
	case CHARS: READ_ARRAY(uint16_t, ab_read_char16_array, chars); break;
	case INT32S: READ_ARRAY(int32_t, ab_read_int32_array, ints); break;
	case INT64S: READ_ARRAY(int64_t, ab_read_int64_array, longs); break;
	case FLOATS: READ_ARRAY(float, ab_read_float_array, floats); break;
	case DOUBLES: READ_ARRAY(double, ab_read_double_array, doubles); break;
	case STRINGS: read_strings(parcel, step, strings); break;
	case OBJECTS: read_objects(parcel, step, ints); break;
	default: CHECK(!"an array");
	}
}

static void read_text(ab_parcel *parcel, const struct step *step,
		      int (*reader)(ab_parcel *parcel, char **utf8))
{
	char *text;

	CHECK_EQ(reader(parcel, &text), 0);
	CHECK_STR(text, text_of(step));
	free(text);
}

static void read_object(ab_parcel *parcel, const struct step *step)
{
	ab_object *object;
	ab_weak *reference;

	if (step->what == WEAK) {
		CHECK_EQ(ab_read_weak(parcel, &reference), 0);
		CHECK_EQ(ab_weak_lock(reference, &object), 0);
		ab_weak_put(reference);
	} else {
		CHECK_EQ(ab_read_nullable_object(parcel, &object), 0);
	}
	CHECK(object == (step->what == NO_OBJECT ? NULL : ours));
	ab_object_put(object);
}

static void read_struct(ab_parcel *parcel, const struct step *step)
{
	struct ab_status status;
	size_t end;

	switch (step->what) {
	case PARCELABLE:
		CHECK_EQ(ab_read_parcelable_begin(parcel, &end), 0);
		READ_BACK(int32_t, ab_read_int32, step->value);
		if (step->value & 1)
			read_text(parcel, step, ab_read_string16);
		CHECK_EQ(ab_read_parcelable_end(parcel, end), 0);
		break;
	case NO_PARCELABLE:
		CHECK_EQ(ab_read_parcelable_begin(parcel, &end), AB_UNEXPECTED_NULL);
		CHECK_EQ(ab_read_nullable_parcelable_begin(parcel, &end), 0);
		CHECK_EQ(end, 0);
		break;
	case TOKEN:
		CHECK_EQ(ab_read_token(parcel, "not this"), AB_BAD_TYPE);
		CHECK_EQ(ab_read_token(parcel, text_of(step)), 0);
		break;
	case STATUS:
		CHECK_EQ(ab_read_status(parcel, NULL), 0);
		break;
	case EXCEPTION:
		CHECK_EQ(ab_read_status(parcel, &status), -EREMOTEIO);
		CHECK_EQ(status.service_error, step->value);
		CHECK_STR(status.message, text_of(step));
		ab_status_fini(&status);
		break;
	default:
		read_array(parcel, step);
	}
}

static void read_step(ab_parcel *parcel, const struct step *step)
{
	char *text;

	switch (step->what) {
	case BOOL: READ_BACK(bool, ab_read_bool, step->value & 1); break;
	case BYTE: READ_BACK(int8_t, ab_read_byte, step->value); break;
	case CHAR16: READ_BACK(uint16_t, ab_read_char16, step->value); break;
	case INT32: READ_BACK(int32_t, ab_read_int32, step->value); break;
	case INT64: READ_BACK(int64_t, ab_read_int64, (int64_t)step->value << 20); break;
	case FLOAT: READ_BACK(float, ab_read_float, step->value); break;
	case DOUBLE: READ_BACK(double, ab_read_double, step->value); break;
	case STRING16: read_text(parcel, step, ab_read_string16); break;
	case STRING8: read_text(parcel, step, ab_read_string8); break;
	case NULL_STRING:
		CHECK_EQ(ab_read_string16(parcel, &text), AB_UNEXPECTED_NULL);
		CHECK_EQ(ab_read_nullable_string16(parcel, &text), 0);
		CHECK(!text);
		break;
	case NULL_ARRAY: CHECK(ab_read_null(parcel)); break;
	case OBJECT:
	case NO_OBJECT:
	case WEAK: read_object(parcel, step); break;
	default: read_struct(parcel, step);
	}
}

/* ---- any reader, on anything ------------------------------------------------------------ */

/* Call a reader; what it gives is let go of at once. Return: what it returned. */
static int read_scalar_any(ab_parcel *parcel, uint32_t which)
{
	union {
		bool b;
		int8_t byte;
		uint16_t c;
		int32_t i;
		uint32_t u;
		int64_t l;
		uint64_t ul;
		float f;
		double d;
	} v;

	switch (which) {
	case 0: return ab_read_bool(parcel, &v.b);
	case 1: return ab_read_byte(parcel, &v.byte);
	case 2: return ab_read_char16(parcel, &v.c);
	case 3: return ab_read_int32(parcel, &v.i);
	case 4: return ab_read_uint32(parcel, &v.u);
	case 5: return ab_read_int64(parcel, &v.l);
	case 6: return ab_read_uint64(parcel, &v.ul);
	case 7: return ab_read_float(parcel, &v.f);
	default: return ab_read_double(parcel, &v.d);
	}
}

static volatile unsigned int sink;

/* Every byte that is said to be there can be looked at. */
static void look(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sink += ((const uint8_t *)bytes)[i];
}

static int read_text_any(ab_parcel *parcel, uint32_t which)
{
	const uint16_t *units;
	const void *bytes;
	char *text = NULL;
	size_t nr = 0;
	int ret;

	switch (which) {
	case 0: ret = ab_read_string16(parcel, &text); break;
	case 1: ret = ab_read_nullable_string16(parcel, &text); break;
	case 2: ret = ab_read_string8(parcel, &text); break;
	case 3: ret = ab_read_nullable_string8(parcel, &text); break;
	case 4:
		ret = ab_read_utf16(parcel, &units, &nr);
		look(units, nr * sizeof(*units));
		break;
	case 5:
		ret = ab_read_bytes(parcel, &bytes, &nr);
		look(bytes, nr);
		break;
	default:
		nr = below(100);
		ret = ab_read_raw(parcel, &bytes, nr);
		look(bytes, ret ? 0 : nr);
	}
	if (text)
		look(text, strlen(text));
	CHECK(!ret || !text);
	free(text);
	return ret;
}

static int read_array_any(ab_parcel *parcel, uint32_t which)
{
	void *values = NULL;
	ab_object **objects;
	char **strings;
	size_t nr;
	int ret;

	switch (which) {
	case 0: ret = ab_read_bool_array(parcel, (bool **)&values, &nr); break;
	case 1: ret = ab_read_char16_array(parcel, (uint16_t **)&values, &nr); break;
	case 2: ret = ab_read_int32_array(parcel, (int32_t **)&values, &nr); break;
	case 3: ret = ab_read_int64_array(parcel, (int64_t **)&values, &nr); break;
	case 4: ret = ab_read_float_array(parcel, (float **)&values, &nr); break;
	case 5: ret = ab_read_double_array(parcel, (double **)&values, &nr); break;
	case 6:
		ret = ab_read_string16_array(parcel, &strings, &nr);
		ab_strings_free(strings, nr);
		CHECK(!ret || !strings);
		return ret;
	default:
		ret = ab_read_object_array(parcel, &objects, &nr);
		CHECK(!ret || !objects);
		for (size_t i = 0; i < nr; i++)
			ab_object_put(objects[i]);
		free(objects);
		return ret;
	}
	CHECK(!ret == !!values);
	CHECK(!ret || !nr);
	free(values);
	return ret;
}

static int read_other_any(ab_parcel *parcel, uint32_t which)
{
	struct ab_status status;
	ab_object *object = NULL;
	ab_weak *reference;
	size_t end;
	int ret, fd;

	switch (which) {
	case 0: return ab_read_token(parcel, "text");
	case 1:
		ret = ab_read_status(parcel, &status);
		CHECK(!ret == !status.exception || (ret && !status.message));
		ab_status_fini(&status);
		return ret == -EREMOTEIO ? 0 : ret;
	case 2: return ab_read_parcelable_begin(parcel, &end);
	case 3: return ab_read_nullable_parcelable_begin(parcel, &end);
	case 4: ret = ab_read_object(parcel, &object); break;
	case 5: ret = ab_read_nullable_object(parcel, &object); break;
	case 6:
		ret = ab_read_weak(parcel, &reference);
		CHECK(!ret == !!reference);
		ab_weak_put(reference);
		return ret == AB_UNEXPECTED_NULL ? 0 : ret;
	case 7:
		ret = ab_read_fd(parcel, &fd);
		break;
	default:
		ret = ab_read_parcel_fd(parcel, &fd);
	}
	if (which >= 7 && !ret)
		close(fd);
	CHECK(!ret || !object);
	ab_object_put(object);
	return ret;
}

static int (*const any[])(ab_parcel *parcel, uint32_t which) = {
	read_scalar_any, read_text_any, read_array_any, read_other_any,
};

#define NR_PLAIN 3 /* the first of any[]; but for the last reader of arrays, of objects */

/* Plain data that was read is no object. */
static void check_plain(const ab_parcel *parcel, size_t before)
{
	for (size_t i = 0; i < parcel->nr_offsets; i++)
		CHECK(parcel->offsets[i] < before || parcel->offsets[i] >= parcel->pos);
}

static void read_any(ab_parcel *parcel)
{
	for (int i = 0; i < 40; i++) {
		size_t before = ab_parcel_position(parcel);
		uint32_t family = below(ARRAY_SIZE(any)), which = below(9);
		int ret = any[family](parcel, which);

		CHECK(ab_parcel_position(parcel) <= ab_parcel_size(parcel));
		if (ret)
			CHECK_EQ(ab_parcel_position(parcel), before);
		else if (family < NR_PLAIN && !(any[family] == read_array_any && which > 6))
			check_plain(parcel, before);
		if (below(4) == 0)
			ab_read_null(parcel);
		if (below(6) == 0)
			ab_parcel_seek(parcel, below((uint32_t)ab_parcel_size(parcel) + 8));
	}
}

/* ---- a round ---------------------------------------------------------------------------- */

/* What the driver would deliver: the bytes end where the memory does. */
static void receive(ab_parcel *to, const uint8_t *data, size_t size, const binder_size_t *offsets,
		    size_t nr)
{
	binder_size_t *memory = malloc(nr * sizeof(*memory) + size + !(nr + size));
	struct binder_transaction_data tr = {
		.data_size = size, .offsets_size = nr * sizeof(*memory),
		.data.ptr.offsets = (uintptr_t)memory,
		.data.ptr.buffer = (uintptr_t)(memory + nr),
	};

	CHECK(memory);
	if (nr)
		memcpy(memory, offsets, nr * sizeof(*memory));
	if (size)
		memcpy(memory + nr, data, size);
	buffer_of_name = memory;
	buffers_live++;
	ab_parcel_received(to, conn, &tr);
}

static void give_back(ab_parcel *parcel)
{
	ab_parcel_fini(parcel);
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_EQ(buffers_live, 0);
	for (int i = 0; i < NR_HANDLES; i++) {
		CHECK_EQ(strong[i], 0);
		CHECK_EQ(weak[i], 0);
	}
	CHECK_EQ(atomic_load(&ours->strong), 1);
}

/* No damage may make a pointer of ours, or a descriptor: those the driver vouches for. */
static void disarm(uint8_t *data, size_t size, const binder_size_t *offsets, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct flat_binder_object fbo;
		uint32_t type;

		if (offsets[i] > size || size - offsets[i] < sizeof(fbo))
			continue;
		memcpy(&fbo, data + offsets[i], sizeof(fbo));
		type = fbo.hdr.type;
		if (type == BINDER_TYPE_BINDER || type == BINDER_TYPE_WEAK_BINDER) {
			fbo.binder = fbo.cookie = (uintptr_t)ours;
		} else if (type == BINDER_TYPE_HANDLE || type == BINDER_TYPE_WEAK_HANDLE) {
			fbo.handle = 1 + fbo.handle % (NR_HANDLES - 1);
		} else if (type == BINDER_TYPE_FD) {
			fbo.handle = UINT32_MAX;
		}
		memcpy(data + offsets[i], &fbo, sizeof(fbo));
	}
}

static const uint32_t types[] = {
	BINDER_TYPE_BINDER, BINDER_TYPE_HANDLE, BINDER_TYPE_WEAK_BINDER, BINDER_TYPE_WEAK_HANDLE,
	BINDER_TYPE_FD, BINDER_TYPE_FDA, BINDER_TYPE_PTR,
};

static void put_word(uint8_t *data, size_t at, uint32_t word)
{
	memcpy(data + at, &word, sizeof(word));
}

static void damage(uint8_t *data, size_t *size, binder_size_t *offsets, size_t *nr)
{
	static const uint32_t words[] = { 0, 1, UINT32_MAX, INT32_MAX, 0x80000000, 0x40000000, 4, 3,
					  0xffff, 0x53595354, (uint32_t)-128, (uint32_t)-8 };

	for (uint32_t i = 1 + below(6); i; i--) {
		size_t at = *size >= 4 ? below((uint32_t)(*size / 4)) * 4 : 0;

		if (below(8) == 0)
			*size = below((uint32_t)*size + 1);
		else if (below(8) == 0 && *nr)
			offsets[below((uint32_t)*nr)] = below(2) ? below(64) * 4 : rnd();
		else if (below(8) == 0 && *nr)
			(*nr)--;
		else if (below(4) == 0 && *nr && offsets[0] + 4 <= *size)
			put_word(data, offsets[0], types[below(ARRAY_SIZE(types))]);
		else if (*size >= 4 && at + 4 <= *size)
			put_word(data, at, below(2) ? words[below(ARRAY_SIZE(words))] : rnd());
	}
	/* A driver lists no object in two places, or with its end outside. */
	disarm(data, *size, offsets, *nr);
}

static void round_once(void)
{
	struct step steps[STEPS_MAX];
	uint32_t nr_steps = 1 + below(STEPS_MAX);
	ab_parcel out, in;
	binder_size_t *offsets;
	size_t size, nr;
	uint8_t *data;

	ab_parcel_init(&out, conn);
	out.variant = AB_ANDROID_8 + below(AB_ANDROID_16);
	for (uint32_t i = 0; i < nr_steps; i++) {
		steps[i] = (struct step){ below(NR_WHAT), (int32_t)rnd(), below(ARRAY_MAX) };
		write_step(&out, &steps[i]);
	}
	CHECK_EQ(ab_parcel_error(&out), 0);
	for (int received = 0; received < 2; received++) {
		if (received) {
			receive(&in, out.data, out.size, out.offsets, out.nr_offsets);
			in.variant = out.variant;
		}
		for (uint32_t i = 0; i < nr_steps; i++)
			read_step(received ? &in : &out, &steps[i]);
		CHECK_EQ(ab_parcel_left(received ? &in : &out), 0);
	}
	size = out.size;
	nr = out.nr_offsets;
	data = malloc(size);
	offsets = calloc(nr + 1, sizeof(*offsets));
	CHECK(data && offsets);
	memcpy(data, out.data, size);
	if (nr)
		memcpy(offsets, out.offsets, nr * sizeof(*offsets));
	ab_parcel_fini(&out);
	give_back(&in);
	damage(data, &size, offsets, &nr);
	receive(&in, data, size, offsets, nr);
	in.variant = AB_ANDROID_8 + below(AB_ANDROID_16);
	read_any(&in);
	give_back(&in);
	free(offsets);
	free(data);
}

static uint64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 't' },
		{ 0 },
	};
	uint64_t seed = (uint64_t)time(NULL), rounds = 20000, limit = 0, done = 0;
	uint64_t begin = seconds();
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
	CHECK_EQ(ab_open(&conn, "a", NULL), 0);
	ours = ab_object_new(conn, &fuzz_class, NULL);
	CHECK(ours);
	while (limit ? seconds() - begin < limit : done < rounds) {
		round_once();
		done++;
	}
	ab_object_put(ours);
	ab_close(conn);
	printf("ok: %llu rounds\n", (unsigned long long)done);
	return 0;
}
