// SPDX-License-Identifier: MIT
/* Checks of where we run: namespaces, containers, security modules, WSL. */
#include "tools/doctor.h"

#include <string.h>
#include <unistd.h>

/* Namespaces of ours that a process does not share, as words. Return: whether any was seen. */
static bool differing(const struct doctor *d, long pid, char text[100])
{
	static const char *const kinds[] = { "mnt", "ipc", "pid", "user" };
	char path[64], own[DOCTOR_LINE], its[DOCTOR_LINE];
	bool seen = false;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t len = strlen(text);

		snprintf(path, sizeof(path), "/proc/self/ns/%s", kinds[i]);
		if (!doctor_link(d, path, own))
			continue;
		snprintf(path, sizeof(path), "/proc/%ld/ns/%s", pid, kinds[i]);
		if (!doctor_link(d, path, its))
			continue;
		seen = true;
		if (strcmp(own, its))
			snprintf(text + len, 100 - len, "%s%s", len ? ", " : "", kinds[i]);
	}
	return seen;
}

/** check_namespaces() - do we see the same as the daemon and process 1? */
void check_namespaces(struct doctor *d, struct finding *f)
{
	long daemon = doctor_find_process(d, "anybinderd");
	char text[100];

	if (!differing(d, daemon ? daemon : 1, text))
		return find(f, OUTCOME_NONE, "uid %u may not see those of %s", (unsigned int)geteuid(),
			    daemon ? "anybinderd" : "process 1");
	if (!text[0])
		return find(f, OUTCOME_OK, "the same as those of %s", daemon ? "anybinderd" :
			    "process 1");
	if (d->works || !daemon || !strstr(text, "mnt"))
		return find(f, OUTCOME_OK, "others than those of %s: %s; pids and uids of callers are "
			    "as each receiver's namespaces see them", daemon ? "anybinderd" :
			    "process 1", text);
	find(f, OUTCOME_WARNING, "anybinderd (pid %ld) has another mount namespace: its devices are "
	     "not to be seen here", daemon);
	mend(f, "nsenter -t %ld -m anybinder doctor  # or mount --bind its folder into this namespace",
	     daemon);
}

/** check_container() - are we in one? */
void check_container(struct doctor *d, struct finding *f)
{
	const char *kind = doctor_container(d);
	char text[DOCTOR_LINE];

	if (!kind)
		return find(f, OUTCOME_NONE, "no sign of one");
	if (d->works)
		return find(f, OUTCOME_OK, "%s; a device that two containers share has one context "
			    "manager: give each a binderfs of its own", kind);
	find(f, OUTCOME_WARNING, "%s: devices of the host are not seen in it by themselves", kind);
	if (doctor_way(d, text) == WAY_DAEMON)
		mend(f, "# run it with --device=/dev/fuse --cap-add=SYS_ADMIN --cap-add=SYS_PTRACE "
		     "--security-opt=apparmor=unconfined and start anybinderd in it; or start "
		     "anybinderd on the host and add --volume=/dev/binderfs:/dev/binderfs:rslave");
	else
		mend(f, "# mount a binderfs on the host, one for each container, and add "
		     "--volume=/dev/binderfs:/dev/binderfs:rslave");
}

/** check_security() - who else may refuse */
void check_security(struct doctor *d, struct finding *f)
{
	char enforce[DOCTOR_LINE], label[DOCTOR_LINE];
	bool selinux = doctor_read(d, "/sys/fs/selinux/enforce", enforce) && enforce[0] == '1';

	if (!doctor_read(d, "/proc/self/attr/current", label))
		label[0] = '\0';
	if (selinux && !d->works) {
		find(f, OUTCOME_WARNING, "SELinux enforces, and this is %.100s", label);
		mend(f, "ausearch -m avc -ts recent  # for containers: setsebool -P "
		     "container_use_devices on, or --security-opt=label=disable");
	} else if (strstr(label, "(enforce)") && !d->works) {
		find(f, OUTCOME_WARNING, "AppArmor's profile %.100s forbids mounts and much of ptrace, "
		     "which anybinderd needs", label);
		mend(f, "# start the container with --security-opt=apparmor=unconfined");
	} else if (selinux || strstr(label, "(enforce)")) {
		find(f, OUTCOME_OK, "%s enforces, and lets this process use the device", selinux ?
		     "SELinux" : "AppArmor");
	} else {
		find(f, OUTCOME_OK, "neither SELinux nor AppArmor confines this process");
	}
}

/** check_wsl() - Microsoft's kernels have no binder */
void check_wsl(struct doctor *d, struct finding *f)
{
	char release[DOCTOR_LINE], text[DOCTOR_LINE];

	doctor_release(d, release);
	if (!strstr(release, "icrosoft") && !strstr(release, "WSL"))
		return find(f, OUTCOME_NONE, "this is not WSL");
	if (d->works)
		return find(f, OUTCOME_OK, "WSL, and a device works");
	if (doctor_way(d, text) == WAY_DAEMON)
		return find(f, OUTCOME_OK, "WSL: its kernel has no binder, but anybinderd can run");
	find(f, OUTCOME_WARNING, "WSL: its kernel %.100s has no binder and is too old for anybinderd",
	     release);
	mend(f, "wsl.exe --update; wsl.exe --shutdown  # until uname -r is 6.9 or newer");
}
