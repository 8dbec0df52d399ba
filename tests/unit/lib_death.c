// SPDX-License-Identifier: MIT
/* Death links, over a scripted driver. */
#include "lib_fake.h"

#include <errno.h>

#include "lib/objects.h"

static ab_conn *conn;
static struct fake *fake;
static ab_object *target, *object; /* handles 5 and 9 */
static unsigned int deaths;
static ab_death *links[4];

static void setup(void)
{
	fake = fake_at("a");
	CHECK_EQ(ab_open(&conn, "a", NULL), 0);
	target = fake_proxy(conn, FAKE_TARGET);
	object = fake_proxy(conn, 9);
	deaths = 0;
	memset(links, 0, sizeof(links));
}

static void teardown(void)
{
	ab_object_put(object);
	ab_close(conn);
	ab_object_put(target);
}

static void on_death(void *data, ab_object *dead)
{
	CHECK(data == &deaths);
	CHECK(dead == object);
	CHECK(ab_object_is_dead(dead));
	deaths++;
}

static void link_to(ab_death **link)
{
	CHECK_EQ(ab_death_link(object, on_death, &deaths, link), 0);
}

/* The news comes with the completion of a one-way call. */
static void hear_of_death(void)
{
	struct fake_step *step = fake_step(fake);

	fake_return_death(step, fake, 9);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(ab_call_oneway(target, 7, NULL), 0);
}

static void test_a_death_is_told_once(void)
{
	struct fake_step *step;

	setup();
	link_to(&links[0]);
	CHECK_LOG(fake, "w:DEATH(9)\n");
	link_to(NULL);
	CHECK_LOG(fake, "");
	CHECK(!ab_object_is_dead(object));
	hear_of_death();
	CHECK_EQ(deaths, 2);
	CHECK_LOG(fake, "rw:CALL(5 7: 0 0 oneway)\nw:DEATH_DONE\n");
	CHECK(ab_object_is_dead(object));
	/* Once more by mistake: acknowledged, and no more. */
	step = fake_step(fake);
	memcpy(step, &fake->steps[0], sizeof(*step));
	CHECK_EQ(ab_call_oneway(target, 7, NULL), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 0 0 oneway)\nw:DEATH_DONE\n");
	CHECK_EQ(deaths, 2);
	CHECK_EQ(ab_death_unlink(links[0]), -EALREADY);
	CHECK_LOG(fake, "");
	teardown();
}

/* Nobody needs to ask the driver about the dead. */
static void test_the_dead_answer_no_more(void)
{
	ab_parcel *out;

	setup();
	link_to(NULL);
	hear_of_death();
	fake->log_len = 0;
	fake->log[0] = '\0';
	CHECK_EQ(ab_call(object, 7, NULL, &out), -EPIPE);
	CHECK_EQ(ab_call_oneway(object, 7, NULL), -EPIPE);
	CHECK_EQ(ab_ping(object), -EPIPE);
	CHECK_EQ(ab_death_link(object, on_death, &deaths, &links[0]), -EPIPE);
	CHECK(!links[0]);
	CHECK_LOG(fake, "");
	CHECK_EQ(deaths, 1);
	ab_object_put(object);
	CHECK_LOG(fake, "w:RELEASE(9)\n");
	object = NULL;
	teardown();
}

static void test_an_unlinked_function_is_not_called(void)
{
	setup();
	link_to(&links[0]);
	link_to(&links[1]);
	CHECK_LOG(fake, "w:DEATH(9)\n");
	CHECK_EQ(ab_death_unlink(links[0]), 0);
	CHECK_LOG(fake, "");
	hear_of_death();
	CHECK_EQ(deaths, 1);
	CHECK_EQ(ab_death_unlink(links[1]), -EALREADY);
	CHECK_EQ(ab_death_unlink(NULL), 0);
	teardown();
}

static void test_the_last_link_takes_the_request_along(void)
{
	struct fake_step *step;
	uint64_t cookie;

	setup();
	for (int i = 0; i < 2; i++) {
		link_to(&links[0]);
		CHECK_EQ(ab_death_unlink(links[0]), 0);
		CHECK_LOG(fake, "w:DEATH(9)\nw:CLEAR(9)\n");
	}
	/* What was under way then finds nobody, and a new link not the old news. */
	cookie = fake->cookies[9];
	link_to(&links[0]);
	CHECK_LOG(fake, "w:DEATH(9)\n");
	CHECK(fake->cookies[9] != cookie);
	step = fake_step(fake);
	fake_return(step, BR_DEAD_BINDER, &cookie);
	fake_return(step, BR_CLEAR_DEATH_NOTIFICATION_DONE, &cookie);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(ab_call_oneway(target, 7, NULL), 0);
	CHECK_LOG(fake, "rw:CALL(5 7: 0 0 oneway)\nw:DEATH_DONE\n");
	CHECK_EQ(deaths, 0);
	hear_of_death();
	CHECK_EQ(deaths, 1);
	CHECK_EQ(ab_death_unlink(links[0]), -EALREADY);
	teardown();
}

static void test_a_link_holds_its_object(void)
{
	ab_object *held;

	setup();
	held = object;
	link_to(&links[0]);
	ab_object_put(object);
	CHECK_LOG(fake, "w:DEATH(9)\n");
	object = held;
	hear_of_death();
	CHECK_EQ(deaths, 1);
	CHECK_LOG(fake, "rw:CALL(5 7: 0 0 oneway)\nw:DEATH_DONE RELEASE(9)\n");
	CHECK_EQ(ab_death_unlink(links[0]), -EALREADY);
	object = fake_proxy(conn, 9);
	link_to(&links[0]);
	ab_object_put(object);
	fake->log_len = 0;
	CHECK_EQ(ab_death_unlink(links[0]), 0);
	CHECK_LOG(fake, "w:CLEAR(9)\nw:RELEASE(9)\n");
	object = NULL;
	teardown();
}

static void unlink_others(void *data, ab_object *dead)
{
	deaths++;
	/* Itself: too late. The others: in time. */
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		int want = data == &links[i] ? -EALREADY : 0;

		CHECK_EQ(ab_death_unlink(links[i]), want);
	}
}

static void test_a_function_may_unlink_others_and_itself(void)
{
	setup();
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		CHECK_EQ(ab_death_link(object, unlink_others, &links[i], &links[i]), 0);
	hear_of_death();
	CHECK_EQ(deaths, 1);
	teardown();
}

static void call_out(void *data, ab_object *dead)
{
	CHECK_EQ(ab_ping(target), 0);
	deaths++;
}

/* A thread that waits for a reply may not call: so the news waits, but not the dead. */
static void test_a_function_may_make_calls(void)
{
	struct fake_step *step;

	setup();
	CHECK_EQ(ab_death_link(object, call_out, NULL, NULL), 0);
	step = fake_step(fake);
	fake_return_death(step, fake, 9);
	fake_step_reply(fake, NULL);
	fake_step_reply(fake, NULL);
	CHECK_EQ(ab_call(target, 7, NULL, NULL), 0);
	CHECK_EQ(deaths, 1);
	CHECK_EQ(ab_flush(conn), 0);
	CHECK_LOG(fake, "w:DEATH(9)\n"
			"rw:CALL(5 7: 0 0 fds)\n"
			"rw:DEATH_DONE\n"
			"rw:FREE(0) PING(5 fds)\n"
			"w:FREE(1)\n");
	teardown();
}

static void close_it(void *data, ab_object *dead)
{
	deaths++;
	ab_close(conn);
}

static void test_a_function_may_close_the_connection(void)
{
	struct fake_step *step;
	unsigned int others = 0;

	setup();
	CHECK_EQ(ab_death_link(object, on_death, &others, &links[0]), 0);
	CHECK_EQ(ab_death_link(object, close_it, NULL, &links[1]), 0);
	step = fake_step(fake);
	fake_return_death(step, fake, 9);
	fake_return(step, BR_TRANSACTION_COMPLETE, NULL);
	CHECK_EQ(ab_call_oneway(target, 7, NULL), 0);
	CHECK_EQ(deaths, 1);
	CHECK_EQ(fake->closed, 1);
	CHECK_EQ(ab_death_unlink(links[0]), 0);
	CHECK_EQ(ab_death_unlink(links[1]), -EALREADY);
	ab_object_put(object);
	ab_object_put(target);
}

static void test_links_end_with_the_connection(void)
{
	setup();
	link_to(&links[0]);
	link_to(NULL);
	ab_close(conn);
	CHECK_EQ(ab_death_unlink(links[0]), 0);
	CHECK_EQ(ab_death_link(object, on_death, &deaths, NULL), -EBADF);
	CHECK_EQ(deaths, 0);
	ab_object_put(object);
	ab_object_put(target);
}

static void test_what_cannot_be_linked_is_refused(void)
{
	static const struct ab_class cls;
	ab_object *local;

	setup();
	local = ab_object_new(conn, &cls, NULL);
	CHECK_EQ(ab_death_link(local, on_death, &deaths, &links[0]), -EINVAL);
	CHECK(!links[0]);
	ab_object_put(local);
	fake->write_error = -ENOTCONN;
	CHECK_EQ(ab_death_link(object, on_death, &deaths, &links[0]), -ENOTCONN);
	CHECK(!links[0]);
	teardown();
}

static const struct fake_case tests[] = {
	FAKE_CASE(test_a_death_is_told_once),
	FAKE_CASE(test_the_dead_answer_no_more),
	FAKE_CASE(test_an_unlinked_function_is_not_called),
	FAKE_CASE(test_the_last_link_takes_the_request_along),
	FAKE_CASE(test_a_link_holds_its_object),
	FAKE_CASE(test_a_function_may_unlink_others_and_itself),
	FAKE_CASE(test_a_function_may_make_calls),
	FAKE_CASE(test_a_function_may_close_the_connection),
	FAKE_CASE(test_links_end_with_the_connection),
	FAKE_CASE(test_what_cannot_be_linked_is_refused),
};

FAKE_MAIN(tests)
