// SPDX-License-Identifier: MIT
/* Where a policy comes from: a file that only those can write who may do anything anyway. */
#include "policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES (1u << 20)

static const char builtin[] = "allow all uid=0,@self\n"
			      "allow find list watch uid=*\n";

/**
 * sm_policy_builtin() - the policy that holds when there is no file
 * @policy: receives it
 * @path: of the file that there might be
 *
 * Return: 0; -ENOMEM.
 */
int sm_policy_builtin(struct sm_policy **policy, const char *path)
{
	char error[SM_POLICY_ERROR_MAX];
	int ret = sm_policy_parse(policy, path, builtin, error);

	if (!ret)
		(*policy)->builtin = true;
	return ret;
}

/* Who can write the file can give himself every name. */
static int trust_check(int fd, const char *path, char *error)
{
	struct stat st;

	if (fstat(fd, &st)) {
		snprintf(error, SM_POLICY_ERROR_MAX, "%s: %s", path, strerror(errno));
		return -EIO;
	}
	if (!S_ISREG(st.st_mode))
		snprintf(error, SM_POLICY_ERROR_MAX, "%s: not a file", path);
	else if (st.st_uid && st.st_uid != geteuid())
		snprintf(error, SM_POLICY_ERROR_MAX,
			 "%s: belongs to uid %u, who could change it; chown root %s", path,
			 (unsigned int)st.st_uid, path);
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		snprintf(error, SM_POLICY_ERROR_MAX,
			 "%s: others than its owner can write it; chmod go-w %s", path, path);
	else if (st.st_size > FILE_MAX_BYTES)
		snprintf(error, SM_POLICY_ERROR_MAX, "%s: larger than %u bytes", path,
			 FILE_MAX_BYTES);
	else
		return 0;
	return -EINVAL;
}

static int text_read(int fd, const char *path, char *text, char *error)
{
	size_t len = 0;
	ssize_t got;

	do {
		got = read(fd, text + len, FILE_MAX_BYTES - len);
		if (got > 0)
			len += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	text[len] = '\0';
	if (got < 0)
		snprintf(error, SM_POLICY_ERROR_MAX, "%s: %s", path, strerror(errno));
	else if (strlen(text) != len)
		snprintf(error, SM_POLICY_ERROR_MAX, "%s: has zero bytes, so it is no text", path);
	else
		return 0;
	return -EINVAL;
}

/**
 * sm_policy_read() - a policy from a file
 * @policy: receives it, for sm_policy_free()
 * @path: the file; root's or our own, and nobody else can write it
 * @error: receives words for what is wrong, with the line where it is
 *
 * Return: 0; -ENOENT: there is no such file; another negative error.
 */
int sm_policy_read(struct sm_policy **policy, const char *path, char error[SM_POLICY_ERROR_MAX])
{
	char *text = malloc(FILE_MAX_BYTES + 1);
	int fd, ret;

	*policy = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (!text || fd < 0) {
		ret = text ? -errno : -ENOMEM;
		snprintf(error, SM_POLICY_ERROR_MAX, "%s: %s", path, strerror(-ret));
	} else {
		ret = trust_check(fd, path, error);
		if (!ret)
			ret = text_read(fd, path, text, error);
		if (!ret)
			ret = sm_policy_parse(policy, path, text, error);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return ret;
}
