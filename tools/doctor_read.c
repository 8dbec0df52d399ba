// SPDX-License-Identifier: MIT
#include "tools/doctor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

const char *doctor_path(const struct doctor *d, const char *path, char buf[DOCTOR_PATH])
{
	snprintf(buf, DOCTOR_PATH, "%s%s", d->root, path);
	return buf;
}

bool doctor_exists(const struct doctor *d, const char *path)
{
	char buf[DOCTOR_PATH];

	return !access(doctor_path(d, path, buf), F_OK);
}

/* A line, or a string that a zero ends as in /proc/PID/environ. Return: whether there was one. */
static bool next_line(gzFile file, char line[DOCTOR_LINE])
{
	size_t len = 0;
	int c;

	while ((c = gzgetc(file)) >= 0 && c && c != '\n') {
		if (len < DOCTOR_LINE - 1)
			line[len++] = (char)c;
	}
	line[len] = '\0';
	return c >= 0 || len;
}

bool doctor_grep(const struct doctor *d, const char *path, const char *text,
		 char line[DOCTOR_LINE])
{
	char buf[DOCTOR_PATH];
	/* Reads what is not packed as it is. */
	gzFile file = gzopen(doctor_path(d, path, buf), "re");
	bool found = false;

	while (file && !found && next_line(file, line))
		found = strstr(line, text);
	if (file)
		gzclose(file);
	if (!found)
		line[0] = '\0';
	return found;
}

bool doctor_read(const struct doctor *d, const char *path, char line[DOCTOR_LINE])
{
	return doctor_grep(d, path, "", line);
}

void doctor_release(const struct doctor *d, char release[DOCTOR_LINE])
{
	struct utsname name;

	if (doctor_read(d, "/proc/sys/kernel/osrelease", release))
		return;
	uname(&name);
	snprintf(release, DOCTOR_LINE, "%s", name.release);
}

char doctor_config(const struct doctor *d, const char *option)
{
	char release[DOCTOR_LINE], line[DOCTOR_LINE], path[DOCTOR_PATH], want[80];

	doctor_release(d, release);
	snprintf(path, sizeof(path), "/proc/config.gz");
	if (!doctor_exists(d, path))
		snprintf(path, sizeof(path), "/boot/config-%.200s", release);
	if (!doctor_exists(d, path))
		snprintf(path, sizeof(path), "/lib/modules/%.200s/config", release);
	if (!doctor_exists(d, path))
		return 0;
	snprintf(want, sizeof(want), "CONFIG_%s=", option);
	return doctor_grep(d, path, want, line) && line[0] == 'C' ? line[strlen(want)] : 'n';
}

bool doctor_filesystem(const struct doctor *d, const char *type)
{
	char line[DOCTOR_LINE], want[80];

	snprintf(want, sizeof(want), "\t%s", type);
	return doctor_grep(d, "/proc/filesystems", want, line) &&
	       !strcmp(strchr(line, '\t') + 1, type);
}

bool doctor_link(const struct doctor *d, const char *path, char target[DOCTOR_LINE])
{
	char buf[DOCTOR_PATH];
	ssize_t len = readlink(doctor_path(d, path, buf), target, DOCTOR_LINE - 1);

	target[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* Put what a link at @whole says in its place, in front of the rest of the path. */
static void take_link(char whole[DOCTOR_PATH], const char *target, char rest[PATH_MAX])
{
	char old[PATH_MAX];

	snprintf(old, sizeof(old), "%s", rest);
	snprintf(rest, PATH_MAX, "%.1023s/%.3000s", target, old);
	if (target[0] == '/')
		whole[0] = '\0';
	else
		*strrchr(whole, '/') = '\0';
}

/* By words alone, as nothing there can be looked at. */
static bool follow_words(const struct doctor *d, const char *path, char whole[DOCTOR_PATH])
{
	char rest[PATH_MAX], target[DOCTOR_LINE];
	size_t len, links = 0;

	snprintf(rest, sizeof(rest), "%s", path);
	whole[0] = '\0';
	for (;;) {
		char *word = rest + strspn(rest, "/"), *slash = strrchr(whole, '/');
		size_t at = strlen(whole);

		len = strcspn(word, "/");
		if (!len)
			return whole[0];
		if (at + len + 2 > DOCTOR_PATH)
			return false;
		if (len == 2 && !strncmp(word, "..", 2))
			whole[slash ? slash - whole : 0] = '\0';
		else if (len != 1 || word[0] != '.')
			snprintf(whole + at, DOCTOR_PATH - at, "/%.*s", (int)len, word);
		memmove(rest, word + len, strlen(word + len) + 1);
		if (!whole[0] || !doctor_link(d, whole, target))
			continue;
		if (++links > 40)
			return false;
		take_link(whole, target, rest);
	}
}

bool doctor_follow(const struct doctor *d, const char *path, char whole[DOCTOR_PATH])
{
	char *real = d->root[0] ? NULL : realpath(path, NULL);
	bool found = real && strlen(real) < DOCTOR_PATH;

	if (found)
		snprintf(whole, DOCTOR_PATH, "%s", real);
	else if (d->root[0] || errno != ENOENT)
		found = follow_words(d, path, whole);
	free(real);
	return found;
}

/* ---- mounts ---------------------------------------------------------------- */

FILE *doctor_open_mounts(const struct doctor *d)
{
	char buf[DOCTOR_PATH];

	return fopen(doctor_path(d, "/proc/self/mountinfo", buf), "re");
}

/* Undo the octal escapes of mountinfo, in place. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; to++) {
		if (text[0] == '\\' && text[1] && text[2] && text[3]) {
			*to = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = '\0';
}

/* "ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER" */
static bool parse_mount(const char *line, struct mount *mount)
{
	const char *dash = strstr(line, " - ");

	if (!dash || sscanf(line, "%*s %*s %*s %255s %255s", mount->root, mount->point) != 2 ||
	    sscanf(dash + 3, "%63s", mount->type) != 1)
		return false;
	unescape(mount->root);
	unescape(mount->point);
	return true;
}

bool doctor_next_mount(FILE *file, struct mount *mount)
{
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (file && !found && getline(&line, &size, file) > 0)
		found = parse_mount(line, mount);
	free(line);
	return found;
}

bool doctor_is_binderfs(const char *type)
{
	return !strcmp(type, "binder") || !strcmp(type, "anybinder") || !strcmp(type, "fuse.binder");
}

/* ---- processes ---------------------------------------------------------------- */

/* Has ended, and its parent has not asked. */
static bool is_zombie(const struct doctor *d, const char *pid)
{
	char path[64], line[DOCTOR_LINE];

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	return doctor_grep(d, path, "State:\tZ", line);
}

long doctor_find_process(const struct doctor *d, const char *comm)
{
	char buf[DOCTOR_PATH], path[64], line[DOCTOR_LINE];
	DIR *dir = opendir(doctor_path(d, "/proc", buf));
	struct dirent *entry;
	long pid = 0;

	while (dir && !pid && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		if (doctor_read(d, path, line) && !strcmp(line, comm) &&
		    !is_zombie(d, entry->d_name))
			pid = atol(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return pid;
}
