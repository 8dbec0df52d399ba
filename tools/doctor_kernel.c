// SPDX-License-Identifier: MIT
/* Checks of the kernel: which drivers it has, and whether modules can be loaded. */
#include "tools/doctor.h"

#include <dirent.h>
#include <string.h>

/* In the variable, behind 4 bytes of attributes. */
#define SECURE_BOOT_BYTE 4

/* What a driver in the kernel needs besides itself. */
static void built_in(struct doctor *d, struct finding *f, bool rust)
{
	char line[DOCTOR_LINE];

	if (doctor_filesystem(d, "binder"))
		return find(f, OUTCOME_OK, "built in%s, with binderfs", rust ? ", in Rust" : "");
	if (doctor_exists(d, "/dev/binder"))
		return find(f, OUTCOME_OK, "built in, without binderfs: devices are in /dev");
	if (!doctor_grep(d, "/proc/cmdline", "binder.devices=", line)) {
		find(f, d->works ? OUTCOME_WARNING : OUTCOME_PROBLEM, "built in, without binderfs, and "
		     "with CONFIG_ANDROID_BINDER_DEVICES empty: there can be no device");
		mend(f, "update-grub && reboot  # after adding binder.devices=binder,hwbinder,vndbinder to "
		     "GRUB_CMDLINE_LINUX in /etc/default/grub");
		return;
	}
	find(f, OUTCOME_WARNING, "built in, its devices named on the command line, but there is no "
	     "/dev/binder");
	mend(f, "dmesg | grep -i binder");
}

/** check_kernel_driver() - built in, as a module, in C or Rust? */
void check_kernel_driver(struct doctor *d, struct finding *f)
{
	char c = doctor_config(d, "ANDROID_BINDER_IPC");
	char rust = doctor_config(d, "ANDROID_BINDER_IPC_RUST"), text[DOCTOR_LINE];

	if (c == 'y' || rust == 'y')
		return built_in(d, f, rust == 'y' && c != 'y');
	if (c == 'm' || rust == 'm') {
		find(f, OUTCOME_OK, "a module of the kernel's own: %s", c == 'm' ? "binder_linux" :
		     "rust_binder");
		if (!d->works && (doctor_way(d, text) == WAY_MODPROBE))
			mend(f, "%s", text);
		return;
	}
	if (doctor_filesystem(d, "binder"))
		return find(f, OUTCOME_OK, "there is one: binderfs can be mounted");
	find(f, OUTCOME_OK, "%s", c ? "this kernel has none of its own" :
	     "no binderfs; the kernel's configuration is not to be found");
}

/** check_modules() - which are loaded, and is ours there for this kernel? */
void check_modules(struct doctor *d, struct finding *f)
{
	static const char *const names[] = { "binder_linux", "anybinder", "rust_binder" };
	char path[64], all[100] = "", other[DOCTOR_LINE], running[DOCTOR_LINE];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t len = strlen(all);

		snprintf(path, sizeof(path), "/sys/module/%s", names[i]);
		if (doctor_exists(d, path))
			snprintf(all + len, sizeof(all) - len, "%s%s", len ? ", " : "", names[i]);
	}
	if (!d->works && doctor_old_module(d, other)) {
		doctor_release(d, running);
		find(f, OUTCOME_WARNING, "anybinder.ko is there for Linux %.100s, but not for %.100s, "
		     "which runs", other, running);
		mend(f, "apt-get install linux-headers-%.100s && dkms autoinstall && modprobe anybinder",
		     running);
	} else if (all[0]) {
		find(f, OUTCOME_OK, "loaded: %s", all);
	} else {
		find(f, OUTCOME_OK, "no binder module is loaded");
	}
}

static bool secure_boot(const struct doctor *d)
{
	static const char dir_name[] = "/sys/firmware/efi/efivars";
	char path[DOCTOR_PATH], value[SECURE_BOOT_BYTE + 1];
	struct dirent *entry;
	bool on = false;
	DIR *dir = opendir(doctor_path(d, dir_name, path));

	while (dir && (entry = readdir(dir))) {
		FILE *file;

		if (strncmp(entry->d_name, "SecureBoot-", strlen("SecureBoot-")))
			continue;
		snprintf(path, sizeof(path), "%.150s%s/%.255s", d->root, dir_name, entry->d_name);
		file = fopen(path, "re");
		on = file && fread(value, 1, sizeof(value), file) == sizeof(value) &&
		     value[SECURE_BOOT_BYTE] == 1;
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return on;
}

/** check_secure_boot() - must modules be signed? */
void check_secure_boot(struct doctor *d, struct finding *f)
{
	char line[DOCTOR_LINE], text[DOCTOR_LINE];
	bool boot = secure_boot(d);
	bool locked = doctor_read(d, "/sys/kernel/security/lockdown", line) &&
		      !strstr(line, "[none]");
	const char *what = boot && locked ? "Secure Boot is on and the kernel locked down" :
			   boot ? "Secure Boot is on" : "the kernel is locked down";

	if (!boot && !locked)
		return find(f, OUTCOME_OK, "not on: modules need no signature");
	if (d->works)
		return find(f, OUTCOME_OK, "%s, and there is a device that works", what);
	if (doctor_way(d, text) == WAY_DAEMON)
		return find(f, OUTCOME_OK, "%s: modules must be signed, but anybinderd is none", what);
	find(f, OUTCOME_WARNING, "%s: only modules that are signed with an enrolled key can be loaded",
	     what);
	mend(f, "mokutil --import /var/lib/dkms/mok.pub && reboot  # and enroll it there: docs/kmod.md");
}
