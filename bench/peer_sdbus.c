// SPDX-License-Identifier: MIT
/* Method calls with sd-bus over a bus, dbus-daemon or dbus-broker. */
#include "bench/bus.h"
#include "bench/peer.h"

#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define MEET_NAMED 0
#define MEET_START 1

#define OBJECT "/org/anybinder/Echo"
#define INTERFACE "org.anybinder.Echo"

struct bus_call {
	struct member *me;
	sd_bus *bus;
	char name[64];
	size_t size;
	uint8_t bytes[PAYLOAD_MAX];
};

static const struct load *the_load;
static struct bus_call call;

static void name_of(char *name, size_t size, int pair)
{
	snprintf(name, size, "org.anybinder.Echo%d", pair);
}

static sd_bus *bus_connect(struct member *me)
{
	sd_bus *bus = NULL;
	int err = sd_bus_new(&bus);

	if (err >= 0)
		err = sd_bus_set_address(bus, bus_address());
	if (err >= 0)
		err = sd_bus_set_bus_client(bus, true);
	if (err >= 0)
		err = sd_bus_start(bus);
	if (err < 0)
		crew_fail(me, "sd-bus: connect: %s", strerror(-err));
	return bus;
}

/* Return: as sd-bus wants it, so the caller gets an error reply when something fails. */
static int on_echo(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	sd_bus_message *reply = NULL;
	const void *bytes;
	size_t size;
	int err = sd_bus_message_read_array(m, 'y', &bytes, &size);

	if (err >= 0)
		err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_append_array(reply, 'y', bytes, size);
	if (err >= 0)
		err = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return err;
}

static const sd_bus_vtable echo_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Echo", "ay", "ay", on_echo, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static void server_main(struct crew *crew, struct member *me, void *arg)
{
	sd_bus *bus = bus_connect(me);
	char name[64];
	int err;

	name_of(name, sizeof(name), *(int *)arg);
	err = sd_bus_add_object_vtable(bus, NULL, OBJECT, INTERFACE, echo_vtable, NULL);
	if (err >= 0)
		err = sd_bus_request_name(bus, name, 0);
	if (err < 0)
		crew_fail(me, "sd-bus: offer %s: %s", name, strerror(-err));
	crew_meet(crew, MEET_NAMED, the_load->workers);
	crew_meet(crew, MEET_START, the_load->workers);
	for (;;) {
		err = sd_bus_process(bus, NULL);
		if (!err)
			err = sd_bus_wait(bus, UINT64_MAX);
		if (err < 0)
			crew_fail(me, "sd-bus: serve: %s", strerror(-err));
	}
}

static void exchange(void *state, bool check)
{
	struct bus_call *c = state;
	sd_bus_message *m = NULL, *reply = NULL;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	const void *bytes;
	size_t size;
	int err;

	err = sd_bus_message_new_method_call(c->bus, &m, c->name, OBJECT, INTERFACE, "Echo");
	if (err >= 0)
		err = sd_bus_message_append_array(m, 'y', c->bytes, c->size);
	if (err >= 0)
		err = sd_bus_call(c->bus, m, 0, &error, &reply);
	if (err >= 0)
		err = sd_bus_message_read_array(reply, 'y', &bytes, &size);
	if (err < 0)
		crew_fail(c->me, "sd-bus: call: %s", error.message ? error.message : strerror(-err));
	if (size != c->size || (check && memcmp(bytes, c->bytes, size)))
		crew_fail(c->me, "sd-bus: another payload came back");
	sd_bus_message_unref(m);
	sd_bus_message_unref(reply);
}

static void client_main(struct crew *crew, struct member *me, void *arg)
{
	call.me = me;
	call.bus = bus_connect(me);
	call.size = the_load->payload;
	name_of(call.name, sizeof(call.name), *(int *)arg);
	payload_fill(call.bytes, call.size);
	crew_meet(crew, MEET_NAMED, the_load->workers);
	crew_meet(crew, MEET_START, the_load->workers);
	client_run(me, the_load, exchange, &call);
}

static int start_pairs(struct crew *crew, const struct load *load)
{
	the_load = load;
	for (int i = 0; i < load->workers / 2; i++) {
		if (!crew_start(crew, true, client_main, &i) ||
		    !crew_start(crew, false, server_main, &i))
			return -1;
	}
	return 0;
}

static int start_over_daemon(struct crew *crew, const struct load *load)
{
	return bus_daemon_start(crew) ? -1 : start_pairs(crew, load);
}

static int start_over_broker(struct crew *crew, const struct load *load)
{
	return bus_broker_start(crew) ? -1 : start_pairs(crew, load);
}

static void end_broker(void)
{
	bus_broker_end();
	bus_remove();
}

static const char *missing_daemon(void)
{
	return bus_program_missing("dbus-daemon");
}

static const char *missing_broker(void)
{
	return bus_program_missing("dbus-broker");
}

const struct peer peer_sdbus = {
	.version = "sd-bus " PEER_VERSION,
	.missing = missing_daemon,
	.start = start_over_daemon,
	.end = bus_remove,
};

const struct peer peer_sdbus_broker = {
	.version = "sd-bus " PEER_VERSION,
	.missing = missing_broker,
	.start = start_over_broker,
	.end = end_broker,
};
