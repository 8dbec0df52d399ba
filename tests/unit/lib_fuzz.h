/* SPDX-License-Identifier: MIT */
/* What the parts of lib_fuzz share. */
#ifndef TESTS_UNIT_LIB_FUZZ_H
#define TESTS_UNIT_LIB_FUZZ_H

#include "lib/objects.h"
#include "tests/unit/lib_fake.h"

#define ARRAY_MAX 20

extern ab_conn *conn;
extern ab_object *ours;
extern int null_fd; /* /dev/null, which all descriptors that are passed are */

uint32_t rnd(void);
uint32_t below(uint32_t n); /* 0 for no n at all */

/* ---- lib_fuzz_driver.c: a driver that only counts ---- */

#define NR_HANDLES 8

void driver_receive(ab_parcel *to, const uint8_t *data, size_t size, const binder_size_t *offsets,
		    size_t nr);
void driver_check_idle(void);
size_t object_size_at(const uint8_t *data, binder_size_t offset);

/* ---- lib_fuzz_steps.c: what is written is read back equal ---- */

/** struct step - one thing written; arrays hold @value, @value + 1 ... */
struct step {
	unsigned int what;
	int32_t value;
	size_t count;
	const void *object; /* of somebody else's */
};

extern const unsigned int nr_what;
void write_step(ab_parcel *parcel, struct step *step);
void read_step(ab_parcel *parcel, const struct step *step);

/* ---- lib_fuzz_any.c: any reader, on anything ---- */

void read_any(ab_parcel *parcel);

#endif
