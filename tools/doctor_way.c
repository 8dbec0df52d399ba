// SPDX-License-Identifier: MIT
/* How this machine best comes by a device: the kernel's driver, the daemon, or our module. */
#include "tools/doctor.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOUNT "mkdir -p /dev/binderfs && mount -t %s binder /dev/binderfs"

const char *doctor_container(const struct doctor *d)
{
	static const struct {
		const char *path, *text, *kind;
	} signs[] = {
		{ "/run/.containerenv", "", "podman" },
		{ "/.dockerenv", NULL, "docker" },
		{ "/proc/1/cgroup", "kubepods", "kubernetes" },
		{ "/proc/1/cgroup", "/docker", "docker" },
		{ "/proc/1/cgroup", "/lxc", "lxc" },
		{ "/proc/1/environ", "container=lxc", "lxc" },
		{ "/proc/1/environ", "container=systemd-nspawn", "systemd-nspawn" },
		{ "/proc/1/environ", "container=oci", "a container" },
		/* With cgroup v2 the cgroup has no name in there. */
		{ "/var/run/secrets/kubernetes.io", NULL, "kubernetes" },
		{ "/run/host/container-manager", NULL, "a container" },
	};
	char line[DOCTOR_LINE];

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (!signs[i].text || !signs[i].text[0]) {
			if (doctor_exists(d, signs[i].path))
				return signs[i].kind;
		} else if (doctor_grep(d, signs[i].path, signs[i].text, line)) {
			return signs[i].kind;
		}
	}
	return NULL;
}

/* Is there a module of that name for a kernel? */
static bool has_module(const struct doctor *d, const char *release, const char *name)
{
	char path[DOCTOR_PATH], want[80], line[DOCTOR_LINE];

	snprintf(path, sizeof(path), "/lib/modules/%.200s/modules.dep", release);
	snprintf(want, sizeof(want), "/%s.ko", name);
	return doctor_grep(d, path, want, line) && strcspn(line, ":") > 0;
}

bool doctor_old_module(const struct doctor *d, char release[DOCTOR_LINE])
{
	char running[DOCTOR_LINE], path[DOCTOR_PATH];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	doctor_release(d, running);
	if (has_module(d, running, "anybinder"))
		return false;
	dir = opendir(doctor_path(d, "/lib/modules", path));
	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !has_module(d, entry->d_name, "anybinder"))
			continue;
		snprintf(release, DOCTOR_LINE, "%s", entry->d_name);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* The kernel's own module, or ours, waits to be loaded. */
static bool modprobe(const struct doctor *d, char text[DOCTOR_LINE])
{
	char release[DOCTOR_LINE], fs = doctor_config(d, "ANDROID_BINDERFS");

	doctor_release(d, release);
	if (has_module(d, release, "anybinder"))
		snprintf(text, DOCTOR_LINE, "modprobe anybinder && " MOUNT, "binder");
	else if (doctor_config(d, "ANDROID_BINDER_IPC_RUST") == 'm' ||
		 has_module(d, release, "rust_binder"))
		snprintf(text, DOCTOR_LINE, "modprobe rust_binder && " MOUNT, "binder");
	else if (doctor_config(d, "ANDROID_BINDER_IPC") != 'm' &&
		 !has_module(d, release, "binder_linux"))
		return false;
	else if (fs == 'y' || fs == 'm')
		snprintf(text, DOCTOR_LINE, "modprobe binder_linux && " MOUNT, "binder");
	else
		snprintf(text, DOCTOR_LINE, "modprobe binder_linux "
			 "devices=binder,hwbinder,vndbinder  # they are in /dev");
	return true;
}

/* A container that was not given what the daemon needs: it cannot be had from inside. */
static bool confined(const struct doctor *d)
{
	char label[DOCTOR_LINE];

	return daemon_lacks(d) ||
	       (doctor_container(d) &&
		(!doctor_exists(d, "/dev/fuse") ||
		 doctor_grep(d, "/proc/self/attr/current", "(enforce)", label)));
}

/* The daemon, and what it wants before. */
static void daemon_start(const struct doctor *d, char text[DOCTOR_LINE])
{
	char name[DOCTOR_LINE], value[DOCTOR_LINE], before[2 * DOCTOR_LINE] = "";
	bool unit = doctor_exists(d, "/run/systemd/system") &&
		    (doctor_exists(d, "/lib/systemd/system/anybinderd.service") ||
		     doctor_exists(d, "/usr/local/lib/systemd/system/anybinderd.service"));

	if (daemon_no_ptrace(d) || confined(d)) {
		snprintf(text, DOCTOR_LINE, "%s", daemon_no_ptrace(d) ? DAEMON_PTRACE : DAEMON_GIVE);
		return;
	}
	if (!doctor_exists(d, "/dev/fuse"))
		snprintf(before, sizeof(before), "modprobe fuse && ");
	if (daemon_timeout(d, name, value))
		snprintf(before + strlen(before), DOCTOR_LINE, "sysctl fs.fuse.%.60s=0 && ",
			 name);
	snprintf(text, DOCTOR_LINE, "%.500s%s", before, unit ?
		 "systemctl enable --now anybinderd anybinder-servicemanager@binder" :
		 "mkdir -p /dev/binderfs && anybinderd /dev/binderfs &");
}

enum way doctor_way(const struct doctor *d, char text[DOCTOR_LINE])
{
	const char *host = doctor_container(d) ? "  # on the host" : "";
	char command[DOCTOR_LINE];

	if (doctor_filesystem(d, "binder") || doctor_filesystem(d, "anybinder")) {
		snprintf(text, DOCTOR_LINE, MOUNT, doctor_filesystem(d, "binder") ? "binder"
										  : "anybinder");
		return WAY_MOUNT;
	}
	if (modprobe(d, command)) {
		snprintf(text, DOCTOR_LINE, "%.900s%s", command, host);
		return WAY_MODPROBE;
	}
	if (daemon_has_passthrough(d, command)) {
		daemon_start(d, text);
		return WAY_DAEMON;
	}
	if (doctor_old_module(d, command))
		snprintf(text, DOCTOR_LINE, "dkms autoinstall && modprobe anybinder && " MOUNT "%s",
			 "binder", host);
	else
		snprintf(text, DOCTOR_LINE, "apt-get install anybinder-dkms && modprobe anybinder && "
			 MOUNT "  # or make -C kmod dkms-install: docs/kmod.md%s; or, slower, "
			 "anybinderd /dev/binderfs &", "binder", host[0] ? "; on the host" : "");
	return WAY_BUILD;
}
