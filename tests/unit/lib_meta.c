// SPDX-License-Identifier: MIT
/* What the library itself answers to calls, and checks of them; over a scripted driver. */
#include "lib_fake.h"

#include <errno.h>
#include <unistd.h>

#include "lib/objects.h"

static ab_conn *conn;
static struct fake *fake;
static ab_object *target; /* handle 5 */
static unsigned int served;

static void stop(void)
{
	ab_stop(conn);
}

static void setup(void)
{
	fake = fake_at("a");
	CHECK_EQ(ab_open(&conn, "a", NULL), 0);
	target = fake_proxy(conn, FAKE_TARGET);
	served = 0;
}

static void teardown(void)
{
	ab_object_put(target);
	ab_close(conn);
}

/* Serve one call; the log is of what came of it. */
static void serve(ab_object *object, uint32_t code, uint32_t flags, const ab_parcel *in)
{
	struct fake_step *step = fake_step(fake);
	size_t at = step->len + sizeof(uint32_t);

	fake_incoming(step, BR_TRANSACTION, object, flags, in);
	memcpy(step->in + at + offsetof(struct binder_transaction_data, code), &code, sizeof(code));
	fake_complete(fake);
	fake_step(fake)->hook = stop;
	atomic_store(&conn->stopping, false);
	CHECK_EQ(ab_loop(conn), 0);
	fake->next_step = fake->nr_steps = 0;
	memset(fake->steps, 0, sizeof(fake->steps));
}

static int on_call(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	int32_t value = 0;

	served++;
	ab_read_int32(in, &value);
	return ab_write_int32(out, value + 1);
}

static int on_dump(void *data, const struct ab_call_info *info, int fd, const char *const *args,
		   size_t nr_args)
{
	static const char line[] = "0123456789abcde\n";

	CHECK_EQ(info->pid, 77);
	for (size_t i = 0; i < nr_args; i++)
		CHECK(dprintf(fd, "<%s>", args[i]) > 0);
	for (int i = 0; i < *(int *)data; i++)
		CHECK_EQ(write(fd, line, 16), 16);
	return *(int *)data < 0 ? -EDOM : 0;
}

static const struct ab_class plain = { .interface = "org.example.IPlain", .transact = on_call };
static const struct ab_class dumps = { .interface = "d", .dump = on_dump };

static void test_calls_begin_with_the_interfaces_token(void)
{
	ab_object *object;
	ab_parcel *in;

	setup();
	object = ab_object_new(conn, &plain, NULL);
	in = ab_parcel_new(conn);
	ab_write_token(in, "org.example.IPlain");
	ab_write_int32(in, 41);
	serve(object, 1, 0, in);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(0) REPLY(4 42 defer)\nrw:\nw:EXIT\n");
	serve(object, AB_CALL_LAST, 0, in);
	CHECK_EQ(served, 2);
	fake->log_len = 0;
	ab_parcel_reset(in);
	ab_write_token(in, "org.example.IOther");
	serve(object, 1, 0, in);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(2) REPLY(status AB_BAD_TYPE defer)\nrw:\nw:EXIT\n");
	serve(object, 1, 0, NULL);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(3) REPLY(status AB_BAD_TYPE defer)\nrw:\nw:EXIT\n");
	serve(object, 1, TF_ONE_WAY, in);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(4)\nrw:\nw:EXIT\n");
	CHECK_EQ(served, 2);
	ab_parcel_free(in);
	ab_object_put(object);
	teardown();
}

static void test_the_library_answers_meta_calls(void)
{
	static const struct {
		uint32_t code;
		const char *reply;
	} cases[] = {
		{ AB_META_PING, "0 0" },
		{ AB_META_INTERFACE, "44 18" },
		{ AB_META_EXTENSION, "28 1935813253" },
		{ AB_META_DUMP, "8 0" },
		{ AB_META_SHELL, "status -74" },
		{ AB_META_SYSPROPS, "status -74" },
		{ 0, "status -74" },
		{ AB_CALL_LAST + 1, "status -74" },
	};
	ab_parcel *as_text = fake_parcel(-1);
	ab_object *object;
	char want[100];

	setup();
	object = ab_object_new(conn, &plain, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		serve(object, cases[i].code, 0, cases[i].code == AB_META_DUMP ? as_text : NULL);
		snprintf(want, sizeof(want), "rw:ENTER\nrw:FREE(%zu) REPLY(%s defer)\nrw:\nw:EXIT\n",
			 i, cases[i].reply);
		CHECK_LOG(fake, want);
	}
	serve(object, AB_META_DEBUG_PID, 0, NULL);
	snprintf(want, sizeof(want), "rw:ENTER\nrw:FREE(%zu) REPLY(4 %d defer)\nrw:\nw:EXIT\n",
		 ARRAY_SIZE(cases), getpid());
	CHECK_LOG(fake, want);
	CHECK_EQ(served, 0);
	ab_parcel_free(as_text);
	ab_object_put(object);
	teardown();
}

static void test_a_raw_object_answers_all_itself(void)
{
	static const struct ab_class raw = { .interface = "x", .transact = on_call,
					     .flags = AB_CLASS_RAW };
	static const struct ab_class mute = { .flags = AB_CLASS_RAW };
	ab_object *object;

	setup();
	object = ab_object_new(conn, &raw, NULL);
	serve(object, AB_META_PING, 0, NULL);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(0) REPLY(4 1 defer)\nrw:\nw:EXIT\n");
	serve(object, 1, 0, NULL);
	CHECK_EQ(served, 2);
	ab_object_put(object);
	fake->log_len = 0;
	object = ab_object_new(conn, &mute, NULL);
	serve(object, 1, 0, NULL);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(2) REPLY(status -74 defer)\nrw:\nw:EXIT\n");
	ab_object_put(object);
	teardown();
}

static ab_parcel *dump_request(const char *const *args, size_t nr_args)
{
	ab_parcel *in = ab_parcel_new(conn);

	ab_write_int32(in, -1);
	ab_write_string16_array(in, args, nr_args);
	CHECK_EQ(ab_parcel_error(in), 0);
	return in;
}

/* As text, for a driver that passes no descriptors. What is too long is cut. */
static void test_a_dump_comes_as_text_when_it_must(void)
{
	static const char *const args[] = { "-a", "x" };
	ab_object *object;
	ab_parcel *in;
	int lines = 1;

	setup();
	object = ab_object_new(conn, &dumps, &lines);
	in = dump_request(args, 2);
	serve(object, AB_META_DUMP, 0, in);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(0) REPLY(28 23 defer)\nrw:\nw:EXIT\n");
	lines = 100000;
	serve(object, AB_META_DUMP, 0, in);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(1) REPLY(524344 524337 defer)\nrw:\nw:EXIT\n");
	lines = -1;
	serve(object, AB_META_DUMP, 0, in);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(2) REPLY(status -33 defer)\nrw:\nw:EXIT\n");
	/* Neither a descriptor nor the mark for text. */
	ab_parcel_reset(in);
	ab_write_int32(in, 0);
	serve(object, AB_META_DUMP, 0, in);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(3) REPLY(status AB_BAD_TYPE defer)\nrw:\nw:EXIT\n");
	serve(object, AB_META_DUMP, 0, NULL);
	CHECK_LOG(fake, "rw:ENTER\nrw:FREE(4) REPLY(status -61 defer)\nrw:\nw:EXIT\n");
	ab_parcel_free(in);
	ab_object_put(object);
	teardown();
}

static void test_a_refused_descriptor_is_asked_for_as_text(void)
{
	static const char *const args[] = { "-a" };
	ab_parcel *reply = ab_parcel_new(NULL);
	char text[100] = "";
	int fds[2];

	setup();
	CHECK_EQ(pipe(fds), 0);
	ab_write_string8(reply, "what it says\n");
	fake_return(fake_step(fake), BR_FAILED_REPLY, NULL);
	fake_step_reply(fake, reply);
	CHECK_EQ(ab_dump(target, fds[1], args, 1), 0);
	CHECK_EQ(read(fds[0], text, sizeof(text) - 1), 13);
	CHECK_STR(text, "what it says\n");
	CHECK_LOG(fake, "rw:CALL(5 _DMP: 40 1717840517 1 objects fds)\n"
			"rw:CALL(5 _DMP: 20 -1 fds)\n");
	/* The descriptor was taken: that is all. */
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_dump(target, fds[1], NULL, 0), 0);
	/* Nobody is there. */
	fake_return(fake_step(fake), BR_DEAD_REPLY, NULL);
	CHECK_EQ(ab_dump(target, fds[1], NULL, 0), -EPIPE);
	/* A reply of another kind. */
	fake_return(fake_step(fake), BR_FAILED_REPLY, NULL);
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_dump(target, fds[1], NULL, 0), -ENODATA);
	CHECK_EQ(ab_flush(conn), 0);
	close(fds[0]);
	close(fds[1]);
	ab_parcel_free(reply);
	teardown();
}

static char context[100];

static int on_context(void *data, const struct ab_call_info *info, ab_parcel *in, ab_parcel *out)
{
	served++;
	snprintf(context, sizeof(context), "%s", info->security_context);
	CHECK_EQ(info->code, 7);
	CHECK_EQ(info->euid, 1077);
	return 0;
}

static void test_the_security_context_is_shown(void)
{
	static const struct ab_class secctx = { .transact = on_context,
						.flags = AB_CLASS_RAW | AB_CLASS_SECURITY_CONTEXT };
	struct binder_transaction_data_secctx tr;
	struct fake_step *step, source;
	ab_object *object;

	setup();
	object = ab_object_new(conn, &secctx, NULL);
	memset(&source, 0, sizeof(source));
	fake_incoming(&source, BR_TRANSACTION, object, 0, NULL);
	memcpy(&tr.transaction_data, source.in + sizeof(uint32_t), sizeof(tr.transaction_data));
	tr.secctx = (uintptr_t)"u:r:example:s0";
	step = fake_step(fake);
	fake_return(step, BR_TRANSACTION_SEC_CTX, &tr);
	fake_step(fake)->hook = stop;
	CHECK_EQ(ab_loop(conn), 0);
	CHECK_EQ(served, 1);
	CHECK_STR(context, "u:r:example:s0");
	ab_object_put(object);
	teardown();
}

static const struct fake_case tests[] = {
	FAKE_CASE(test_calls_begin_with_the_interfaces_token),
	FAKE_CASE(test_the_library_answers_meta_calls),
	FAKE_CASE(test_a_raw_object_answers_all_itself),
	FAKE_CASE(test_a_dump_comes_as_text_when_it_must),
	FAKE_CASE(test_a_refused_descriptor_is_asked_for_as_text),
	FAKE_CASE(test_the_security_context_is_shown),
};

FAKE_MAIN(tests)
