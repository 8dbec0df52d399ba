/* SPDX-License-Identifier: MIT */
/* What the tests of parcels share. Each of their cases has a connection of its own. */
#ifndef TESTS_UNIT_LIB_PARCEL_H
#define TESTS_UNIT_LIB_PARCEL_H

#include "lib_fake.h"

#include <errno.h>

#include "lib/internal.h"

static ab_conn *conn;

static inline void expect_bytes(const ab_parcel *parcel, const char *want, size_t len)
{
	CHECK_EQ(ab_parcel_size(parcel), len);
	CHECK(!memcmp(ab_parcel_data(parcel), want, len));
}

#define EXPECT_BYTES(parcel, bytes) expect_bytes(parcel, bytes, sizeof(bytes) - 1)

/** receive() - have @parcel sent here, as the reply to a call */
static inline ab_parcel *receive(const ab_parcel *parcel)
{
	ab_object *target = fake_proxy(conn, FAKE_TARGET);
	ab_parcel *reply;

	fake_step_reply(fake_at("a"), parcel);
	CHECK_EQ(ab_call(target, 1, NULL, &reply), 0);
	ab_object_put(target);
	CHECK_EQ(ab_flush(conn), 0);
	fake_at("a")->log_len = 0;
	fake_at("a")->log[0] = '\0';
	return reply;
}

static inline void run_cases(const struct fake_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		fake_reset();
		CHECK_EQ(ab_open(&conn, "a", NULL), 0);
		cases[i].run();
		CHECK_EQ(ab_flush(conn), 0);
		ab_close(conn);
		fake_reset();
		printf("ok %s\n", cases[i].name);
		fflush(stdout);
	}
}

#define PARCEL_MAIN(cases)								\
	int main(void)									\
	{										\
		run_cases(cases, ARRAY_SIZE(cases));					\
		return 0;								\
	}

#endif
