// SPDX-License-Identifier: MIT
#include "bench/outside.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

/**
 * struct outside - a peer, and where it is
 * @peer: its name and title; the rest once it is loaded
 * @module: beside the command in the build directory, or where modules are installed
 * @symbol: the struct peer in it
 */
static struct outside {
	struct peer peer;
	const char *module;
	const char *symbol;
} peers[] = {
	{ { "sd-bus", "sd-bus, dbus-daemon" }, "anybinder-bench-sdbus.so", "peer_sdbus" },
	{ { "sd-bus-broker", "sd-bus, dbus-broker" }, "anybinder-bench-sdbus.so",
	  "peer_sdbus_broker" },
	{ { "grpc", "gRPC" }, "anybinder-bench-grpc.so", "peer_grpc" },
	{ { "capnp", "Cap'n Proto RPC" }, "anybinder-bench-capnp.so", "peer_capnp" },
	{ { "nng", "nng" }, "anybinder-bench-nng.so", "peer_nng" },
};

/** outside_at() - these peers in order, loaded or not; NULL after the last. */
const struct peer *outside_at(int index)
{
	return index < (int)(sizeof(peers) / sizeof(*peers)) ? &peers[index].peer : NULL;
}

static struct outside *find(const struct peer *peer)
{
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++) {
		if (peer == &peers[i].peer)
			return &peers[i];
	}
	return NULL;
}

/**
 * outside_load() - get the functions of @peer, one of outside_at()'s
 * Return: NULL, or why not, in words that hold until the next call.
 */
const char *outside_load(const struct peer *peer)
{
	static char words[300];
	struct outside *outside = find(peer);
	const struct peer *found = NULL;
	void *module;

	/* stays: its libraries would not all survive being unloaded */
	module = dlopen(outside->module, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (module)
		found = dlsym(module, outside->symbol);
	if (!found) {
		snprintf(words, sizeof(words), "not built, or not installed: %s", dlerror());
		return words;
	}
	outside->peer.version = found->version;
	outside->peer.missing = found->missing;
	outside->peer.start = found->start;
	outside->peer.end = found->end;
	return NULL;
}
