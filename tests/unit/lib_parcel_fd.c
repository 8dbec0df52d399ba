// SPDX-License-Identifier: MIT
/* Descriptors in parcels. */
#include "lib_parcel.h"

#include <fcntl.h>
#include <unistd.h>

static void test_descriptors(void)
{
	int fds[2], open_before = open("/dev/null", O_RDONLY | O_CLOEXEC), fd;
	ab_parcel *parcel = ab_parcel_new(conn);
	ab_object *object;
	char c;

	CHECK_EQ(pipe(fds), 0);
	CHECK_EQ(ab_write_parcel_fd(parcel, fds[1]), 0);
	close(fds[1]);
	CHECK_EQ(ab_parcel_size(parcel), 8 + 24);
	CHECK_EQ(parcel->nr_offsets, 1);
	ab_parcel_seek(parcel, 8);
	CHECK_EQ(ab_read_object(parcel, &object), AB_BAD_TYPE);
	ab_parcel_seek(parcel, 0);
	CHECK_EQ(ab_read_parcel_fd(parcel, &fd), 0);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(write(fd, "x", 1), 1);
	close(fd);
	CHECK_EQ(ab_read_fd(parcel, &fd), -ENODATA);
	CHECK_EQ(fd, -1);
	/* The parcel's is the last one. */
	ab_parcel_free(parcel);
	CHECK_EQ(read(fds[0], &c, 1), 1);
	CHECK_EQ(read(fds[0], &c, 1), 0);
	close(fds[0]);
	parcel = ab_parcel_new(conn);
	CHECK_EQ(ab_write_fd(parcel, -1), -EBADF);
	ab_parcel_free(parcel);
	/* Nothing is left open. */
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK_EQ(fd, open_before + 1);
	close(fd);
	close(open_before);
}

static void test_parcel_file_descriptors(void)
{
	static const char head[] = "\1\0\0\0" "\0\0\0\0" "\x85*df" "\0\0\0\0";
	ab_parcel *parcel = ab_parcel_new(conn);
	struct binder_fd_object object;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;

	CHECK_EQ(ab_write_parcel_fd(parcel, null), 0);
	CHECK_EQ(ab_parcel_size(parcel), 32);
	CHECK(!memcmp(ab_parcel_data(parcel), head, sizeof(head) - 1));
	CHECK_EQ(parcel->nr_offsets, 1);
	CHECK_EQ(parcel->offsets[0], 8);
	memcpy(&object, parcel->data + 8, sizeof(object));
	CHECK(object.fd != (uint32_t)null && !object.pad_flags && !object.cookie);
	ab_parcel_reset(parcel);
	/* Null; one with a channel beside it; and none where one should be. */
	ab_write_int32(parcel, 0);
	CHECK_EQ(ab_read_parcel_fd(parcel, &fd), AB_UNEXPECTED_NULL);
	ab_parcel_reset(parcel);
	ab_write_int32(parcel, 1);
	ab_write_int32(parcel, 1);
	ab_write_fd(parcel, null);
	CHECK_EQ(ab_read_parcel_fd(parcel, &fd), AB_BAD_TYPE);
	ab_parcel_reset(parcel);
	ab_write_int32(parcel, 1);
	ab_write_int32(parcel, 0);
	CHECK_EQ(ab_read_parcel_fd(parcel, &fd), -ENODATA);
	ab_write_raw(parcel, &object, sizeof(object));
	CHECK_EQ(ab_read_parcel_fd(parcel, &fd), AB_BAD_TYPE);
	CHECK_EQ(fd, -1);
	CHECK_EQ(ab_parcel_position(parcel), 0);
	ab_parcel_free(parcel);
	close(null);
}

/* The driver makes descriptors of what it delivers: all are closed, read or not. */
static void test_received_descriptors_are_closed(void)
{
	ab_parcel *parcel = ab_parcel_new(conn), *in;
	int fds[2], first, got;
	char c;

	CHECK_EQ(pipe(fds), 0);
	for (int i = 0; i < 3; i++) {
		struct binder_fd_object object;

		CHECK_EQ(ab_write_fd(parcel, fds[1]), 0);
		memcpy(&object, parcel->data + parcel->offsets[i], sizeof(object));
		object.fd = (uint32_t)dup(fds[1]);
		memcpy(parcel->data + parcel->offsets[i], &object, sizeof(object));
	}
	close(fds[1]);
	in = receive(parcel);
	ab_parcel_free(parcel);
	CHECK_EQ(ab_read_fd(in, &first), 0);
	CHECK_EQ(ab_read_fd(in, &got), 0);
	close(got);
	ab_parcel_free(in);
	/* One was read and is ours. */
	CHECK_EQ(write(first, "x", 1), 1);
	CHECK_EQ(read(fds[0], &c, 1), 1);
	close(first);
	CHECK_EQ(read(fds[0], &c, 1), 0);
	close(fds[0]);
}

static const struct fake_case cases[] = {
	FAKE_CASE(test_descriptors),
	FAKE_CASE(test_parcel_file_descriptors),
	FAKE_CASE(test_received_descriptors_are_closed),
};

PARCEL_MAIN(cases)
