// SPDX-License-Identifier: MIT
#include "tools/target.h"

#include <stdio.h>

const char *target_text(const char *name)
{
	return name ? name : "the context manager";
}

int target_find(const struct common *common, ab_conn *conn, const char *name, ab_object **object)
{
	int ret = name ? ab_service_check(conn, name, object) : ab_manager(conn, object);

	if (!ret)
		return EXIT_OK;
	if (ret == -ENOENT) {
		fprintf(stderr, "anybinder: there is no service \"%s\"; `anybinder ls` lists those "
			"there are, `anybinder wait %s` waits for it\n", name, name);
		return EXIT_FAILED;
	}
	if (ret == -EPIPE) {
		fprintf(stderr, "anybinder: %s: there is no service manager; start "
			"anybinder-servicemanager --device=%s\n", common->device, common->device);
		return EXIT_FAILED;
	}
	return common_error(common, conn, ret, "find \"%s\"", target_text(name));
}
